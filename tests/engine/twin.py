"""NumPy twin of the engine, with the same random streams."""

from dataclasses import replace
from typing import Any

import numpy as np

from fedtheory.engine.play import after_round, play_round
from fedtheory.federation.client_data import FederatedData
from tests.engine.plain import in_plain_python


class Twin:
    """One replicate in plain NumPy, on the streams of the engine."""

    def __init__(self, fed, seed):
        self.fed, self.has_samples = fed, hasattr(fed, "data")
        self.order = np.arange(fed.data.num_samples if self.has_samples else 0)
        self.selection, self.training = (
            np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(1)[0].spawn(2)
        )

    def batch(self, k, size, seen=0):
        start, stop = self.fed.data.offsets[k : k + 2]
        if size == 0:
            return np.arange(start, stop)
        size = min(size, stop - start)
        start += seen
        for i in range(size):
            j = i + int(self.training.random() * (stop - start - i))
            self.order[[start + i, start + j]] = self.order[[start + j, start + i]]
        return self.order[start : start + size].copy()

    def on_batch(self, w, rows):
        samples = FederatedData.from_clients(
            [(self.fed.data.features[rows], self.fed.data.labels[rows])], num_classes=self.fed.data.num_classes
        )
        batch = replace(self.fed, data=samples, weights=None)
        return batch.loss(w), batch.gradient(w)

    def in_training(self, w, rows):
        """Loss and gradient of a step, with dropout by the definition: sample by sample in loops."""
        if not any(getattr(self.fed, "dropout", ())):
            return self.on_batch(w, rows)
        matrices, gradient, loss = self.fed._matrices(w), np.zeros(w.size), 0.0
        # The engine takes 64 samples at a time through all layers.
        for block in np.array_split(rows, range(64, rows.size, 64)):
            values = [[np.append(self.fed.data.features[i], 1.0) for i in block]]
            kept = []
            for matrix, rate in zip(matrices[:-1], self.fed.dropout, strict=True):
                scales = [[self._scale(rate) for _ in matrix] for _ in block]
                kept.append(scales)
                outputs = [np.maximum(matrix @ x, 0.0) * np.array(s) for x, s in zip(values[-1], scales, strict=True)]
                values.append([np.append(x, 1.0) for x in outputs])
            for i, row in enumerate(block):
                logits = matrices[-1] @ values[-1][i]
                powers = np.exp(logits - logits.max())
                slope = powers / powers.sum()
                loss -= np.log(slope[self.fed.data.labels[row]])
                slope[self.fed.data.labels[row]] -= 1.0
                parts = [np.outer(slope, values[-1][i]).ravel()]
                for depth in range(len(matrices) - 1, 0, -1):
                    passed = np.array(kept[depth - 1][i]) * (values[depth][i][:-1] > 0)
                    slope = (slope @ matrices[depth][:, :-1]) * passed
                    parts.insert(0, np.outer(slope, values[depth - 1][i]).ravel())
                gradient += np.concatenate(parts)
        ridge = 0.5 * self.fed.l2 * w @ w
        return loss / rows.size + ridge, gradient / rows.size + self.fed.l2 * w

    def _scale(self, rate):
        return 1.0 if rate == 0 else (1 / (1 - rate) if self.training.random() >= rate else 0.0)

    def train(
        self, k, w, etas, batch_size, batches="step", gradient_noise=0.0, relative_noise=0.0, proximal_weight=0.0,
        momentum=0.0,
    ):  # fmt: skip
        """Run local steps line by line as in the papers; return the update and the mean loss where steps begin."""
        local, velocity, losses = w.copy(), np.zeros(w.size), []
        per_epoch = max(1, self.fed.sample_counts[k] // batch_size) if batches == "epoch" else 1
        for s, eta in enumerate(etas):
            if self.has_samples:
                loss, gradient = self.in_training(local, self.batch(k, batch_size, s % per_epoch * batch_size))
            else:
                loss, gradient = self.fed.losses(local)[k], self.fed.gradients(local)[k]
            losses.append(loss)
            variance = gradient_noise + relative_noise * gradient @ gradient
            if variance:
                gradient = gradient + np.sqrt(variance / w.size) * self.training.standard_normal(w.size)
            velocity = momentum * velocity + gradient + proximal_weight * (local - w)
            local -= eta * velocity
        return local - w, np.mean(losses)


def run_twin(fed, strategy, *, num_rounds, etas, seed, initial, batch_size=None, server_step_size=1.0, **local):
    """Return the losses of all rounds, the last model and the strategy's memory."""
    batch_size = batch_size or 0
    twin, w, rules = Twin(fed, seed), initial.copy(), in_plain_python(strategy.rules(np.array(fed.weights), num_rounds))
    memory, losses_seen, steps = rules.memory.copy(), [fed.loss(w)], len(etas) // num_rounds
    for t in range(num_rounds):
        state = (rules, memory, fed.weights, t, twin.selection)
        trained: list[Any] = []

        def losses_of(candidates, w=w):
            if rules.candidate_loss == "minibatch":
                return np.array([twin.on_batch(w, twin.batch(k, batch_size))[0] for k in candidates])
            return fed.losses(w)[candidates]

        def updates_of(chosen, w=w, t=t, trained=trained):
            trained += [twin.train(k, w, etas[t * steps : (t + 1) * steps], batch_size, **local) for k in chosen]
            return np.array([update for update, _ in trained]).reshape(-1, w.size)

        played = play_round(*state, losses_of, updates_of)
        after_round(*state, played, mean_losses=np.array([loss for _, loss in trained]))
        w = w + server_step_size * played.coefficients @ played.updates
        losses_seen.append(fed.loss(w))
    return np.array(losses_seen), w, memory
