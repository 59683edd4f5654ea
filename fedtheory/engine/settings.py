"""Validated arguments of ``fedavg``."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import RNGLike
from fedtheory._support.wording import truncate
from fedtheory.engine.contract import RECORDS, Family, LocalWork
from fedtheory.engine.families import layout, refuse_unknown
from fedtheory.engine.heterogeneity import Stragglers, noise_variances, own_steps
from fedtheory.engine.replicates import Job
from fedtheory.engine.schedule import step_sizes
from fedtheory.federation.client_data import FederatedData, test_samples
from fedtheory.federation.prioritized import unwrapped
from fedtheory.federation.protocol import Federation
from fedtheory.methods.rules import Method, MethodRules, method_rules_of
from fedtheory.selection.rules import Rules, Strategy, checked_strategy, rules_of
from fedtheory.theorem.scheme import Scheme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from fedtheory.engine.schedule import Schedule

__all__ = ["Settings"]

_ALL_CLIENTS = Scheme("all", "weighted")
_COUNTS = ("batch_size", "num_batches")
_NONNEGATIVE = ("gradient_noise", "relative_noise", "proximal_weight")


@final
@dataclass(frozen=True, eq=False)
class Settings:
    """The validated arguments of ``fedavg`` that determine its result; ``fedavg(**vars(settings))`` repeats the run.

    Writable arrays are copied, a selection function becomes a strategy, and the seed is a seed sequence from which
    nothing has been spawned.
    """

    fed: Federation
    strategy: Any
    num_rounds: int
    local_steps: int | npt.ArrayLike | Stragglers
    step_size: float | npt.ArrayLike | Schedule
    initial: Any = None
    num_replicates: int = 1
    rng: RNGLike = 0
    batch_size: int | None = None
    batches: Literal["step", "epoch"] = "step"
    num_batches: int | None = None
    gradient_noise: float = 0.0
    relative_noise: float = 0.0
    server_step_size: float = 1.0
    proximal_weight: float = 0.0
    momentum: float = 0.0
    returned_noise: Any = 0.0
    method: Method | None = None
    validation: Federation | None = None
    test: tuple[npt.ArrayLike, npt.ArrayLike] | None = None
    record: Sequence[str] = ("gap",)
    record_every: int = 1

    def __post_init__(self) -> None:
        for name in ("fed", "validation"):
            object.__setattr__(self, name, unwrapped(getattr(self, name)))
        refuse_unknown(self.fed)
        checked: dict[str, Any] = {
            "strategy": checked_strategy(self.strategy),
            "num_rounds": validate.count("num_rounds", self.num_rounds, 0),
            "local_steps": _kept(self.local_steps),
            "step_size": _kept(self.step_size),
            "initial": np.zeros(self.fed.dim)
            if self.initial is None
            else validate.array("initial", self.initial, shape=(self.fed.dim,)).copy(),
            "num_replicates": validate.size("num_replicates", self.num_replicates),
            "rng": _copied(validate.seed_sequence(self.rng)),
            "batches": validate.choice("batches", self.batches, ("step", "epoch")),
            "server_step_size": validate.double(
                "server_step_size", validate.positive("server_step_size", self.server_step_size)
            ),
            "momentum": validate.fraction("momentum", self.momentum),
            "returned_noise": _kept(self.returned_noise),
            "record": _recorded(self.record),
            "record_every": validate.size("record_every", self.record_every),
        }
        for name in _COUNTS:
            value = getattr(self, name)
            checked[name] = None if value is None else validate.size(name, value)
        for name in _NONNEGATIVE:
            checked[name] = validate.double(name, validate.nonnegative(name, getattr(self, name)))
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def config(self) -> dict[str, Any]:
        """Return the configuration of the run as a JSON-serializable dictionary."""
        given_by_one = isinstance(self.step_size, np.ndarray | list | tuple)
        seed: Any = self.rng
        return {
            "strategy": repr(self.strategy),
            "num_rounds": self.num_rounds,
            "local_steps": _format_steps(self.local_steps),
            "returned_noise": noise_variances(self.returned_noise, self.fed.num_clients).tolist(),
            "step_size": "given one by one" if given_by_one else repr(self.step_size),
            "entropy": str(seed.entropy),
            "spawn_key": list(seed.spawn_key),
            "batches": self.batches,
            **{name: getattr(self, name) for name in (*_NONNEGATIVE, "momentum")},
            **{name: getattr(self, name) or 0 for name in _COUNTS},
            "server_step_size": self.server_step_size,
            **({} if self.method is None else {"method": repr(self.method)}),
            "num_replicates": self.num_replicates,
        }

    def job(self) -> Job:
        """Lay out the federation, make the rules, and reject settings that cannot be combined."""
        fed, strategy, method = self.fed, self.strategy, self.method
        tau, steps_of_clients = own_steps(self.local_steps, fed.num_clients, self.num_rounds)
        rules = rules_of(strategy, fed.weights, self.num_rounds)
        methodical = None if method is None else method_rules_of(method, fed.weights, self.initial)
        work = self._work(rules, methodical)
        if rules.candidate_loss.startswith("minibatch") and not work.batch_size:
            message = f"batch_size must be given for losses estimated on mini-batches, got None with {strategy}"
            raise ValueError(message)
        if methodical is not None:
            self._check_method(methodical, rules, tau)
        family = _asking(layout(fed, work), rules, strategy)
        return Job(
            settings=self,
            family=family if "accuracy" in self.record else replace(family, mistakes=None),
            # Evaluated before the run, since a family may raise an error or need time to compute it.
            minimum=_minimum(fed) if "gap" in self.record else 0.0,
            validation=_valuing(fed, family, self.validation, work, rules),
            test=_testing(fed, family, self.test, work) if "accuracy" in self.record else None,
            rules=rules,
            weights=np.array(fed.weights),
            work=work,
            step_sizes=step_sizes(self.step_size, self.num_rounds, tau),
            local_steps=tau,
            own_steps=steps_of_clients,
            returned_noise=noise_variances(self.returned_noise, fed.num_clients),
            method_rules=methodical,
        )

    def _work(self, rules: Rules, methodical: MethodRules | None) -> LocalWork:
        given = {name: getattr(self, name) for name in (*_NONNEGATIVE, "momentum")}
        if methodical is not None and methodical.proximal_weight:
            given["proximal_weight"] = float(methodical.proximal_weight)
        return LocalWork(
            **given,
            **{name: getattr(self, name) or 0 for name in _COUNTS},
            by_epoch=self.batches == "epoch" or self.num_batches is not None,
            track_losses=rules.observe is not None,
            correction=np.zeros(0 if methodical is None else self.fed.dim),
        )

    def _check_method(self, methodical: MethodRules, rules: Rules, tau: int) -> None:
        """Raise ValueError if the method cannot be combined with the other settings."""
        if methodical.all_clients and getattr(self.strategy, "scheme", None) != _ALL_CLIENTS:
            message = f"strategy must be Full() with {self.method}, in which all clients take part, got {self.strategy}"
            raise ValueError(message)
        most = methodical.max_local_steps
        if most and tau > most:
            message = f"local_steps must be at most {most} with {self.method}, got {tau}"
            raise ValueError(message)
        neutral = {field.name: field.default for field in fields(self)}
        taken = {"server_step_size": methodical.combine, "proximal_weight": methodical.proximal_weight}
        for name in (*methodical.options, *(name for name, replaced in taken.items() if replaced)):
            if np.any(np.asarray(getattr(self, name)) != neutral[name]):
                message = f"{name} must be {neutral[name]} with {self.method}, got {truncate(getattr(self, name))}"
                raise ValueError(message)
        if rules.valuation is not None or rules.value is not None:
            message = (
                f"method must be None with {self.strategy}, which values what federated averaging makes, "
                f"got {self.method}"
            )
            raise ValueError(message)


def _kept(value: Any) -> Any:
    """Copy arrays that the caller can still write to."""
    return copy.deepcopy(value) if isinstance(value, np.ndarray | list | tuple) else value


def _copied(rng: Any) -> np.random.SeedSequence:
    """Copy a seed sequence, which counts the sequences spawned from it."""
    return np.random.SeedSequence(
        entropy=rng.entropy, spawn_key=rng.spawn_key, pool_size=rng.pool_size,
        n_children_spawned=rng.n_children_spawned,
    )  # fmt: skip


def _format_steps(local_steps: Any) -> Any:
    if isinstance(local_steps, Stragglers):
        return repr(local_steps)
    return "given round by round" if np.ndim(local_steps) == 2 else np.asarray(local_steps).tolist()


def _minimum(fed: Federation) -> float:
    try:
        return fed.minimum
    except AttributeError as error:
        message = (
            f"fed must have a minimum, from which the gap is measured, got {truncate(fed)}, which has none: "
            "give it one, or record=('loss',)"
        )
        raise TypeError(message) from error


def _asking(family: Family, rules: Rules, strategy: Strategy) -> Family:
    """Replace the losses of candidates by their classification errors if the rules use these."""
    if not rules.candidate_loss.endswith("mistakes"):
        return family
    if family.mistakes is None:
        message = (
            f"fed must classify samples, since {strategy} asks candidates for their mistakes, got a family of losses"
        )
        raise TypeError(message)
    return replace(family, losses=family.mistakes)


def _recorded(record: Any) -> tuple[str, ...]:
    if isinstance(record, str) or not isinstance(record, Iterable):
        message = f"record must be a sequence of names, as ('gap', 'loss'), got {truncate(record)}"
        raise TypeError(message)
    return tuple(validate.choice("record", name, tuple(RECORDS)) for name in record)


def _valuing(
    fed: Federation, family: Family, validation: Federation | None, work: LocalWork, rules: Rules
) -> Family | None:
    """Lay out the validation federation if clients are valued; it needs no batches."""
    if validation is None:
        return None if rules.valuation is None else family
    if type(validation) is not type(fed):
        message = f"validation must be a {type(fed).__name__} as fed is, got a {type(validation).__name__}"
        raise TypeError(message)
    if rules.valuation is None:
        return None
    found = layout(validation, work._replace(batch_size=0, num_batches=0))
    # Models with equal numbers of parameters may have different shapes.
    wanted, got = _form(fed, family), _form(validation, found)
    if wanted != got:
        message = f"validation must take the models of fed, {wanted}, got {got}"
        raise ValueError(message)
    if found.excess is not family.excess:
        message = "validation must have the losses of fed, got others: other functions, or curvatures of another form"
        raise ValueError(message)
    return found


def _testing(fed: Any, family: Family, test: Any, work: LocalWork) -> Family:
    """Lay out the test samples as those of one client."""
    if family.mistakes is None:
        message = f"record must leave out accuracy, where nothing is classified, got it for a {type(fed).__name__}"
        raise TypeError(message)
    own = fed.data
    pair = (own.test_features, own.test_labels) if test is None else test_samples(test, own.num_features)
    if not len(pair[1]):
        message = f"test must hold samples where accuracy is recorded and fed holds none out, got {truncate(test)}"
        raise ValueError(message)
    data = FederatedData.from_clients([pair], num_classes=own.num_classes)
    return layout(replace(fed, data=data, weights=None), work._replace(batch_size=0, num_batches=0))


def _form(fed: Federation, family: Family) -> str:
    arranged = f" in matrices of shapes {family.shapes}" if family.shapes else ""
    return f"{fed.dim} parameters{arranged}"
