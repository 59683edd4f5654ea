"""Checks of methods of local steps, with all clients or some of them."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (the selection rule is compiled)

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory import bounds
from fedtheory._support import validate
from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array, RNGLike
from fedtheory._support.wording import truncate
from fedtheory.conformance import _checks
from fedtheory.conformance._checks import FALSE_ALARMS, Check, Failed, Kit, ask, excused, generator, seeded
from fedtheory.engine.simulation import fedavg
from fedtheory.errors import DivergenceWarning
from fedtheory.exact.runs import for_run
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.methods.compressed import EF21, ErrorFeedback
from fedtheory.methods.compressors import TopK
from fedtheory.methods.delayed import Delayed
from fedtheory.methods.fedavgm import FedAvgM
from fedtheory.methods.feddyn import FedDyn
from fedtheory.methods.fednova import FedNova
from fedtheory.methods.fedopt import FedOpt
from fedtheory.methods.rules import Method
from fedtheory.methods.scaffnew import Scaffnew
from fedtheory.methods.scaffold import Scaffold
from fedtheory.selection.full import Full
from fedtheory.selection.rules import Rules

__all__ = ["check_method"]

_PLAIN = (Scaffold, Scaffnew, FedNova, FedAvgM, FedOpt, FedDyn)
_FIRST = (1, 2, 3, 7)
_LONG = 400
_LARGE = 1e3


class _Case(NamedTuple):
    """Parabolas, initial model, the clients' numbers and size of local steps, and how many take part in a round."""

    fed: QuadraticFederation
    initial: Array
    local_steps: tuple[int, ...]
    step_size: float
    num_selected: int | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The case as numbers, for messages."""
        return {
            "curvatures": self.fed.curvatures, "minimizers": self.fed.centers, "weights": self.fed.weights,
            "initial": self.initial, "local_steps": list(self.local_steps), "step_size": self.step_size,
            **({} if self.num_selected is None else {"cohorts": self.cohorts(_FIRST[1]).tolist()}),
        }  # fmt: skip

    def arguments(self, num_rounds: int, rng: np.random.Generator) -> dict[str, Any]:
        """Arguments for one call of the function under check."""
        return {
            "gradients": self.gradients, "weights": self.fed.weights.copy(), "initial": self.initial.copy(),
            "num_rounds": num_rounds, "local_steps": np.array(self.local_steps), "step_size": self.step_size,
            "rng": rng, **({} if self.num_selected is None else {"cohorts": self.cohorts(num_rounds)}),
        }  # fmt: skip

    def cohorts(self, num_rounds: int) -> npt.NDArray[np.int64]:
        """Clients of the rounds, shape (num_rounds, m), the same at every call."""
        clients = np.tile(np.arange(self.fed.num_clients), (num_rounds, 1))
        return np.random.default_rng(1).permuted(clients, axis=1)[:, : self.num_selected].copy()

    @property
    def gradients(self) -> list[Callable[[Array], Array]]:
        """The gradients of the clients, one function per client."""
        pairs = zip(self.fed.curvatures, self.fed.centers, strict=True)
        return [partial(_gradient, np.array(h), np.array(a)) for h, a in pairs]


def _gradient(curvature: Array, center: Array, model: npt.ArrayLike) -> Array:
    slope: Array = curvature * (np.asarray(model, dtype=np.float64) - center)
    return slope


@Kit
def check_method(
    method: Method | Callable[..., Any],
    like: Method | None,
    rng: RNGLike = 0,
    *,
    proximal_weight: float = 0.0,
    momentum: float = 0.0,
    server_step_size: float = 1.0,
    num_selected: int | None = None,
    rtol: float = 1e-9,
    exceptions: Mapping[str, str] | None = None,
) -> list[Check]:
    r"""Check a method of local steps: a method of fedtheory, or a function that trains all clients.

    Errors of ``method`` are failures and do not raise.

    Parameters
    ----------
    method
        A function ``(gradients, weights, initial, num_rounds, local_steps, step_size, rng) -> model``. ``gradients`` is
        a list of functions of a model, one for each of K clients; ``weights`` (in the objective) and ``local_steps``
        have shape (K,). It returns the server's model after the rounds, shape (v,). A round of Scaffnew is one local
        step. Alternatively an object with ``method_rules``, such as ``fedtheory.methods.Scaffold()``.
    like
        The method that is expected: ``Scaffold()``, ``Scaffnew(p)``, ``FedNova()``, ``FedAvgM(beta)``, ``FedOpt(...)``,
        ``FedDyn(alpha)``, ``Delayed(law)`` with a constant delay, ``ErrorFeedback(TopK(1))`` or ``EF21(TopK(1))`` of
        ``fedtheory.methods``, or None for federated averaging. It must not diverge on the parabolas below. Control
        variates must start like those of ``like``, and memories at 0.
    rng
        Seed or SeedSequence.
    proximal_weight
        mu of FedProx: the method should add ``mu (y - x)`` to the gradients, x being the server's model at the start of
        the round. With ``like=None`` only, as are the next two.
    momentum, server_step_size
        Local momentum, which starts at 0 in every round, and factor of the mean update.
    num_selected
        Number m of the three clients that take part in each round, with equal objective weights; None for all. A
        function is then called with an eighth argument ``cohorts``, shape (num_rounds, m), the clients of each round,
        and takes the plain mean of their models. Not with Scaffnew.
    rtol
        Rounding error allowed in a model of size 1; 1e-4 for code in single precision.
    exceptions
        Names of checks to skip, each with the reason.

    Notes
    -----
    The checks use parabolas with unequal curvatures and weights: ``runs``, ``shape``, ``inputs``, ``same generator``,
    ``no rounds``, ``one local step`` (a round with one local step is a step of gradient descent; not for compressed
    messages, FedAvgM, FedOpt and FedDyn), ``first rounds`` (equality with the models of ``like``, for methods without
    coins), ``limit`` (convergence to the minimizer or to the known stationary point; not for error feedback and FedOpt;
    with cohorts, the model of ``like`` after 400 rounds) and ``rate`` (Scaffnew, by the refined bound; correct code
    fails with probability at most 1e-6). If ``like`` is None, a failure names updates that are up to three rounds old,
    and a server step that counts idle clients.

    Examples
    --------
    >>> from fedtheory.methods import Scaffold
    >>> check_method(Scaffold(), like=Scaffold()).holds
    True
    """
    if not (like is None or isinstance(like, _PLAIN) or _has_known_models(like)):
        message = (
            f"like must be a {', '.join(kind.__name__ for kind in _PLAIN)} of fedtheory.methods, an ErrorFeedback or "
            f"EF21 with TopK, a Delayed with a constant delay, or None, got {truncate(like)}"
        )
        raise TypeError(message)
    if isinstance(method, type) or not (callable(method) or callable(getattr(method, "method_rules", None))):
        message = f"method must be a function or a value with method_rules, got {truncate(method)}"
        raise TypeError(message)
    given = {"proximal_weight": proximal_weight, "momentum": momentum, "server_step_size": server_step_size}
    given = {name: validate.double(name, value) for name, value in given.items()}
    options = {name: value for name, value in given.items() if value != (name == "server_step_size")}
    if options and like is not None:
        message = f"{', '.join(options)} must not be given unless like is None, got {options} for {truncate(like)}"
        raise ValueError(message)
    if num_selected is not None:
        validate.count("num_selected", num_selected, 1, 3)
        if isinstance(like, Scaffnew):
            message = f"num_selected must be None with Scaffnew, in which all clients take part, got {num_selected}"
            raise ValueError(message)
    seeds = validate.seed_sequence(rng)
    tolerance = validate.double("rtol", validate.positive("rtol", rtol))
    asked = _Asked(method if callable(method) else partial(_as_function, method), like, options, tolerance)
    cases = [_case(like, 2, num_selected), _case(like, 1, num_selected)]
    if options or isinstance(like, FedAvgM | FedDyn | Delayed):
        largest = max(float(np.abs(asked.reference(case, _LONG)).max()) for case in cases)
        if not largest < _LARGE:
            message = f"like must not diverge on parabolas of curvatures 1 to 4, got {like or options}"
            raise ValueError(message)
    works: dict[str, Callable[[np.random.SeedSequence], Any]] = {
        "runs": lambda seeds: asked.raw(cases[0], 1, generator(seeds)),
        "shape": lambda seeds: asked.model(cases[0], 2, seeds),
        "inputs": lambda seeds: _checks.leaves_inputs(
            asked.function, cases[0].arguments(2, generator(seeds)), cases[0].given
        ),
        "same generator": lambda seeds: _checks.same_generator(
            lambda rng: np.asarray(asked.raw(cases[0], 5, rng)), seeds, cases[0].given
        ),
        "no rounds": lambda seeds: _no_rounds(asked, cases[0], seeds),
    }
    if not isinstance(like, Scaffnew | FedAvgM | FedOpt | FedDyn | ErrorFeedback | EF21):
        works["one local step"] = lambda seeds: _one_step(asked, cases[0], seeds)
    if not isinstance(like, Scaffnew):
        works["first rounds"] = lambda seeds: _first_rounds(asked, cases, seeds)
    if not isinstance(like, ErrorFeedback | FedOpt):
        works["limit"] = lambda seeds: _limit(asked, cases, seeds)
    if isinstance(like, Scaffnew):
        works["rate"] = lambda seeds: _rate(asked, cases[0], seeds)
    return excused(seeded(works, seeds), exceptions)


def _has_known_models(like: Method) -> bool:
    """Whether a deterministic compressor or delay determines the models, so that they can be compared."""
    if isinstance(like, Delayed):
        return like.is_constant
    return isinstance(like, ErrorFeedback | EF21) and isinstance(like.compressor, TopK)


class _Asked(NamedTuple):
    """The method under check, and the expected method."""

    function: Callable[..., Any]
    like: Any
    options: dict[str, Any]
    rtol: float

    def raw(self, case: _Case, num_rounds: int, rng: np.random.Generator) -> Any:
        """Call the method without validation of the model."""
        return ask(self.function, *case.arguments(num_rounds, rng).values(), case=case.given)

    def model(self, case: _Case, num_rounds: int, seeds: np.random.SeedSequence) -> Array:
        """Call the method; the model must have the right shape and be finite."""
        answer = self.raw(case, num_rounds, generator(seeds))
        try:
            model = np.asarray(answer, dtype=np.float64)
        except (TypeError, ValueError):
            raise Failed(f"must return a model, got {truncate(answer)}", **case.given).of("shape") from None
        if model.shape != case.initial.shape:
            raise Failed(f"must return a model of shape {case.initial.shape}, got {model.shape}", **case.given).of(
                "shape"
            )
        return model

    def reference(self, case: _Case, num_rounds: int) -> Array:
        """Return the models of ``like``, a row for each round."""
        return _trained(self.like, case, num_rounds, **self.options)

    def diagnosis(self, case: _Case, seeds: np.random.SeedSequence) -> str:
        """Name the variant of federated averaging that the code runs, if it is one of those that are often meant."""
        if self.like is not None:
            return ""
        found = self.model(case, _FIRST[-1], seeds)
        variants: dict[str, tuple[Method | None, dict[str, Any]]] = {
            f"updates with a delay of {d} round{'s' * (d > 1)}": (Delayed(np.eye(d + 1)[d]), {}) for d in (1, 2, 3)
        }
        if case.num_selected is not None:
            share = case.num_selected / case.fed.num_clients
            name = f"a server step of m/K = {share:.4g}, which counts idle clients"
            variants[name] = None, {"server_step_size": share}
        for name, (method, options) in variants.items():
            model = _trained(method, case, _FIRST[-1], **self.options | options)[-1]
            if _agree(found, model, self.rtol):
                return f"; the models are those of {name}"
        return ""


def _trained(method: Method | None, case: _Case, num_rounds: int, rng: RNGLike = 0, **options: Any) -> Array:
    strategy = Full() if case.num_selected is None else _Cohorts(case.cohorts(num_rounds))
    with warnings.catch_warnings(action="ignore", category=DivergenceWarning):  # the models show it
        run = fedavg(
            case.fed, strategy, method=method, num_rounds=num_rounds, local_steps=list(case.local_steps),
            step_size=case.step_size, initial=case.initial, record=("models",), rng=rng, **options,
        )  # fmt: skip
    models: Array = run.models[0]
    return models


@dataclass(frozen=True, eq=False)
class _Cohorts:
    """A strategy that selects the given clients, a row for each round."""

    cohorts: npt.NDArray[np.int64]

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rule."""
        return Rules(
            select=_select, max_selected=self.cohorts.shape[1], table=self.cohorts.ravel().astype(np.float64)
        )  # fmt: skip


@compiled
def _select(round_index, table, memory, weights, candidates, losses, rng, chosen):
    for i in range(chosen.size):
        chosen[i] = int(table[round_index * chosen.size + i])
    return chosen.size


def _as_function(
    method: Method, gradients: Sequence[Callable[[Array], Array]], weights: Array, initial: Array, num_rounds: int,
    local_steps: Sequence[int], step_size: float, rng: np.random.Generator, cohorts: Any = None,
) -> Array:  # fmt: skip
    """Run a method of the engine on parabolas, which are reconstructed from their gradients."""
    zero, one = np.zeros_like(initial), np.ones_like(initial)
    at_zero = np.array([gradient(zero) for gradient in gradients])
    curvatures = np.array([gradient(one) for gradient in gradients]) - at_zero
    fed = QuadraticFederation(curvatures, -at_zero / curvatures, weights)
    num_selected = None if cohorts is None else np.shape(cohorts)[1]
    case = _Case(fed, initial, tuple(map(int, local_steps)), step_size, num_selected)
    last: Array = _trained(method, case, num_rounds, rng)[-1]
    return last


def _case(like: Method | None, dim: int, num_selected: int | None) -> _Case:
    """Return three clients of unequal curvatures and weights, with step sizes for which every method converges."""
    curvatures = np.array([[1.0, 4.0], [4.0, 2.0], [2.0, 1.0]])[:, :dim]
    centers = np.array([[0.0, 3.0], [5.0, -1.0], [-2.0, 1.0]])[:, :dim]
    weights = [0.5, 0.125, 0.375] if num_selected is None else [1 / 3] * 3
    fed = QuadraticFederation(curvatures, centers, weights)
    if isinstance(like, FedDyn):  # with local problems that are almost solved
        return _Case(
            fed, np.array([1.0, -1.0])[:dim], (12,) * 3, 1 / (4 + like.proximal_weight), num_selected
        )  # fmt: skip
    steps = {Scaffnew: (1, 1, 1), FedNova: (1, 3, 2), ErrorFeedback: (1, 1, 1), EF21: (1, 1, 1)}.get(
        type(like), (3, 3, 3)
    )
    return _Case(fed, np.array([1.0, -1.0])[:dim], steps, 1 / 16, num_selected)


def _compare(found: Array, wanted: Array, what: str, case: _Case, rtol: float, why: str = "") -> None:
    if not _agree(found, wanted, rtol):
        raise Failed(f"must {what} {_text(wanted)}, got {_text(found)}{why}", **case.given)


def _agree(found: Array, wanted: Array, rtol: float) -> bool:
    return np.allclose(found, wanted, rtol=rtol, atol=rtol)


def _text(model: Array) -> str:
    return str([float(f"{number:.8g}") for number in model])


def _no_rounds(asked: _Asked, case: _Case, seeds: np.random.SeedSequence) -> None:
    _compare(asked.model(case, 0, seeds), case.initial, "return, after no rounds, the first model", case, asked.rtol)


def _one_step(asked: _Asked, case: _Case, seeds: np.random.SeedSequence) -> None:
    alone = case._replace(local_steps=(1,) * 3)
    slopes = np.array([gradient(case.initial) for gradient in case.gradients])
    first = slice(None) if case.num_selected is None else case.cohorts(1)[0]
    shares = case.fed.weights[first] / case.fed.weights[first].sum()
    scale = asked.options.get("server_step_size", 1.0)
    wanted = case.initial - scale * case.step_size * shares @ slopes[first]
    _compare(asked.model(alone, 1, seeds), wanted, "take a step of gradient descent to", alone, asked.rtol)


def _first_rounds(asked: _Asked, cases: Sequence[_Case], seeds: np.random.SeedSequence) -> None:
    for case in cases:
        models = asked.reference(case, _FIRST[-1])
        for number in _FIRST:
            what = f"reach, after {number} rounds, the model"
            found = asked.model(case, number, seeds)
            why = "" if _agree(found, models[number], asked.rtol) else asked.diagnosis(case, seeds)
            _compare(found, models[number], what, case, asked.rtol, why)


def _limit(asked: _Asked, cases: Sequence[_Case], seeds: np.random.SeedSequence) -> None:
    for case in cases:
        is_controlled = isinstance(asked.like, Scaffold | Scaffnew | EF21) and case.num_selected is None
        wanted = case.fed.minimizer if is_controlled else asked.reference(case, _LONG)[-1]
        # With a small probability of communication many more steps are needed.
        rounds = _LONG if not isinstance(asked.like, Scaffnew) else int(_LONG / asked.like.probability**2)
        _compare(asked.model(case, rounds, seeds), wanted, "converge to", case, asked.rtol)


def _rate(asked: _Asked, case: _Case, seeds: np.random.SeedSequence) -> None:
    """Compare the distance with 10^6 times the bound on its mean, exceeded with probability at most 10^-6."""
    bound = bounds.proxskip.refined_fixed_step_potential
    steps = int(200 / asked.like.probability**2)
    known = for_run(
        bound, case.fed, Full(), num_rounds=steps, step_size=case.step_size, method=asked.like, initial=case.initial
    )
    # The server's model is the clients' mean at the last communication; half of the steps are more than enough.
    most = max(bound(**{**known, "num_steps": steps // 2}) / FALSE_ALARMS, asked.rtol**2)
    found = float(np.sum((asked.model(case, steps, seeds) - case.fed.minimizer) ** 2))
    if not found <= most:
        raise Failed(
            f"must reach a squared distance of {most:.3g} from the minimizer in {steps} steps, got {found:.3g}",
            **case.given,
        )
