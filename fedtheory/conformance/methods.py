"""Checks of methods with control variates, normalized averaging or random communication."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory._support.wording import short
from fedtheory.conformance._checks import (
    FALSE_ALARMS,
    Check,
    Failed,
    ask,
    conformance,
    generator,
    leaves_inputs,
    named,
    same_generator,
    seeds_of,
)
from fedtheory.conformance.results import Conformance
from fedtheory.engine.simulation import fedavg
from fedtheory.exact.runs import for_run
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.methods.compressed import EF21, ErrorFeedback
from fedtheory.methods.compressors import TopK
from fedtheory.methods.fednova import FedNova
from fedtheory.methods.rules import Method
from fedtheory.methods.scaffnew import Scaffnew
from fedtheory.methods.scaffold import Scaffold
from fedtheory.selection.full import Full

__all__ = ["check_method"]

# Models of size 1 to 10 after some hundred operations each.
_ROUNDING = 1e-9
_FIRST = (1, 2, 3, 7)
_LONG = 400


class _Case(NamedTuple):
    """Parabolas, and how many local steps of which size are taken from which model."""

    fed: QuadraticFederation
    initial: Array
    local_steps: tuple[int, ...]
    step_size: float

    @property
    def given(self) -> dict[str, Any]:
        """In numbers, for messages."""
        return {
            "curvatures": self.fed.curvatures, "minimizers": self.fed.centers, "weights": self.fed.weights,
            "initial": self.initial, "local_steps": list(self.local_steps), "step_size": self.step_size,
        }  # fmt: skip

    def arguments(self, num_rounds: int, rng: np.random.Generator) -> dict[str, Any]:
        """Arguments of the function under check, of its own."""
        return {
            "gradients": self.gradients, "weights": self.fed.weights.copy(), "initial": self.initial.copy(),
            "num_rounds": num_rounds, "local_steps": np.array(self.local_steps), "step_size": self.step_size,
            "rng": rng,
        }  # fmt: skip

    @property
    def gradients(self) -> list[Callable[[Array], Array]]:
        """The gradients of the clients, one function each."""
        pairs = zip(self.fed.curvatures, self.fed.centers, strict=True)
        return [partial(_gradient, np.array(h), np.array(a)) for h, a in pairs]


def _gradient(curvature: Array, center: Array, model: npt.ArrayLike) -> Array:
    slope: Array = curvature * (np.asarray(model, dtype=np.float64) - center)
    return slope


def check_method(
    method: Method | Callable[..., Any],
    like: Method | None,
    rng: RNGLike = 0,
    *,
    proximal_weight: float = 0.0,
    exceptions: Mapping[str, str] | None = None,
) -> Conformance:
    r"""Check a method of local steps: a method of fedtheory, or a function that trains all clients.

    Parameters
    ----------
    method
        A function ``(gradients, weights, initial, num_rounds, local_steps, step_size, rng) -> model``: gradients is a
        list of functions of a model, one for each of K clients; weights in the objective and local_steps are theirs,
        too, shape (K,); and what is returned is the server's model after the rounds, shape (v,). Of Scaffnew a round is
        one local step. Or a value with ``method_rules``, as ``fedtheory.methods.Scaffold()``.
    like
        What it should be: ``Scaffold()``, ``Scaffnew(p)``, ``FedNova()``, ``ErrorFeedback(TopK(1))`` or
        ``EF21(TopK(1))`` of ``fedtheory.methods``, or None for federated averaging. Control variates are those that
        ``like`` begins with; memories are empty at first.
    rng
        Seed or SeedSequence.
    proximal_weight
        mu of FedProx: the method should add ``mu (y - x)`` to the gradients, x being the server's model at the start of
        the round. With ``like=None`` only.
    exceptions
        Names of checks to leave out, each with its reason.

    Returns
    -------
    Conformance
        The checks that were run, and the failures with their cases.

    Raises
    ------
    TypeError, ValueError
        If ``like`` is none of these, or an argument makes no sense. What is wrong with ``method`` is a failure.

    Notes
    -----
    The checks, on parabolas with unequal curvatures and unequal weights: ``runs``, ``shape``, ``inputs``, ``same
    generator``, ``no rounds``, ``one local step`` (one round of it is a step of gradient descent, unless messages are
    compressed), ``first rounds`` (of a method without coins, the models of ``like``), ``limit`` (where the gradients
    of the objective vanish, or the known stationary point; error feedback has none) and ``rate`` (Scaffnew, by the
    refined bound: right code fails with probability at most 1e-6).

    Examples
    --------
    A method that adds c_k - c instead of c - c_k to gradients does not converge to the minimizer.

    >>> from fedtheory.methods import Scaffold
    >>> def wrong_sign(gradients, weights, initial, num_rounds, local_steps, step_size, rng):
    ...     x, variates = initial.copy(), [0 * initial for _ in gradients]
    ...     for _ in range(num_rounds):
    ...         c, ends = weights @ np.array(variates), []
    ...         for k, gradient in enumerate(gradients):
    ...             y = x
    ...             for _ in range(local_steps[k]):
    ...                 y = y - step_size * (gradient(y) + variates[k] - c)
    ...             variates[k] = variates[k] - c + (x - y) / (local_steps[k] * step_size)
    ...             ends.append(y)
    ...         x = weights @ np.array(ends)
    ...     return x
    >>> [failure.check for failure in check_method(wrong_sign, Scaffold()).failures]
    ['first rounds', 'limit']
    >>> check_method(Scaffold(), like=Scaffold()).holds
    True
    """
    return conformance(named(method), method_checks(method, like, rng, proximal_weight=proximal_weight), exceptions)


def method_checks(
    method: Method | Callable[..., Any], like: Method | None, rng: RNGLike = 0, *, proximal_weight: float = 0.0
) -> list[Check]:
    """Return the checks of ``check_method``, to be run one by one; the arguments are the same.

    >>> from fedtheory.methods import FedNova
    >>> [check.name for check in method_checks(FedNova(), FedNova())][-2:]
    ['first rounds', 'limit']
    """
    if not (like is None or isinstance(like, Scaffold | Scaffnew | FedNova) or _is_compressed(like)):
        message = (
            "like must be a Scaffold, Scaffnew or FedNova of fedtheory.methods, an ErrorFeedback or EF21 with TopK, or "
            f"None, got {short(like)}"
        )
        raise TypeError(message)
    if isinstance(method, type) or not (callable(method) or callable(getattr(method, "method_rules", None))):
        message = f"method must be a function or a value with method_rules, got {short(method)}"
        raise TypeError(message)
    weight = validate.double("proximal_weight", validate.nonnegative("proximal_weight", proximal_weight))
    if weight and like is not None:
        message = f"proximal_weight must be 0 unless like is None, got {weight} for {short(like)}"
        raise ValueError(message)
    seeds = validate.seed_sequence(rng)
    asked = _Asked(method if callable(method) else partial(_as_function, method), like, weight)
    cases = [_case(like, 2), _case(like, 1)]
    works: dict[str, Callable[[np.random.SeedSequence], Any]] = {
        "runs": lambda seeds: asked.raw(cases[0], 1, generator(seeds)),
        "shape": lambda seeds: asked.model(cases[0], 2, seeds),
        "inputs": lambda seeds: _inputs(asked, cases[0], seeds),
        "same generator": lambda seeds: _same(asked, cases[0], seeds),
        "no rounds": lambda seeds: _no_rounds(asked, cases[0], seeds),
    }
    if not (isinstance(like, Scaffnew) or _is_compressed(like)):
        works["one local step"] = lambda seeds: _one_step(asked, cases[0], seeds)
    if not isinstance(like, Scaffnew):
        works["first rounds"] = lambda seeds: _first_rounds(asked, cases, seeds)
    if not isinstance(like, ErrorFeedback):
        works["limit"] = lambda seeds: _limit(asked, cases, seeds)
    if isinstance(like, Scaffnew):
        works["rate"] = lambda seeds: _rate(asked, cases[0], seeds)
    return [Check(name, partial(_seeded, work, name, seeds)) for name, work in works.items()]


def _is_compressed(like: Method | None) -> bool:
    """Whether this is a method with a memory whose compressor draws nothing, so that its models can be compared."""
    return isinstance(like, ErrorFeedback | EF21) and isinstance(like.compressor, TopK)


def _seeded(work: Callable[[np.random.SeedSequence], Any], name: str, seeds: np.random.SeedSequence) -> None:
    work(seeds_of(seeds, name))


class _Asked(NamedTuple):
    """The method under check, and what it should be."""

    function: Callable[..., Any]
    like: Any
    proximal_weight: float

    def raw(self, case: _Case, num_rounds: int, rng: np.random.Generator) -> Any:
        """Ask for a model, whatever it is."""
        return ask(self.function, *case.arguments(num_rounds, rng).values(), case=case.given)

    def model(self, case: _Case, num_rounds: int, seeds: np.random.SeedSequence) -> Array:
        """Ask for a model, which must be as many finite numbers as there are parameters."""
        answer = self.raw(case, num_rounds, generator(seeds))
        try:
            model = np.asarray(answer, dtype=np.float64)
        except (TypeError, ValueError):
            raise Failed(f"must return a model, got {short(answer)}", **case.given).of("shape") from None
        if model.shape != case.initial.shape:
            raise Failed(f"must return a model of shape {case.initial.shape}, got {model.shape}", **case.given).of(
                "shape"
            )
        return model

    def reference(self, case: _Case, num_rounds: int) -> Array:
        """Return the models of ``like``, a row for each round."""
        return _trained(self.like, case, num_rounds, proximal_weight=self.proximal_weight)


def _trained(method: Method | None, case: _Case, num_rounds: int, rng: RNGLike = 0, **options: Any) -> Array:
    run = fedavg(
        case.fed, Full(), method=method, num_rounds=num_rounds, local_steps=list(case.local_steps),
        step_size=case.step_size, initial=case.initial, record=("models",), rng=rng, **options,
    )  # fmt: skip
    models: Array = run.models[0]
    return models


def _as_function(
    method: Method, gradients: Sequence[Callable[[Array], Array]], weights: Array, initial: Array, num_rounds: int,
    local_steps: Sequence[int], step_size: float, rng: np.random.Generator,
) -> Array:  # fmt: skip
    """Run a method of the engine on parabolas, which are read off their gradients."""
    zero, one = np.zeros_like(initial), np.ones_like(initial)
    at_zero = np.array([gradient(zero) for gradient in gradients])
    curvatures = np.array([gradient(one) for gradient in gradients]) - at_zero
    fed = QuadraticFederation(curvatures, -at_zero / curvatures, weights)
    case = _Case(fed, initial, tuple(map(int, local_steps)), step_size)
    last: Array = _trained(method, case, num_rounds, rng)[-1]
    return last


def _case(like: Method | None, dim: int) -> _Case:
    """Return three clients of unequal curvatures and weights, with steps for which every method converges."""
    curvatures = np.array([[1.0, 4.0], [4.0, 2.0], [2.0, 1.0]])[:, :dim]
    centers = np.array([[0.0, 3.0], [5.0, -1.0], [-2.0, 1.0]])[:, :dim]
    fed = QuadraticFederation(curvatures, centers, [0.5, 0.125, 0.375])
    steps = {Scaffnew: (1, 1, 1), FedNova: (1, 3, 2), ErrorFeedback: (1, 1, 1), EF21: (1, 1, 1)}.get(
        type(like), (3, 3, 3)
    )
    return _Case(fed, np.array([1.0, -1.0])[:dim], steps, 1 / 16)


def _compare(found: Array, wanted: Array, what: str, case: _Case) -> None:
    if not np.allclose(found, wanted, rtol=_ROUNDING, atol=_ROUNDING):
        raise Failed(f"must {what} {_text(wanted)}, got {_text(found)}", **case.given)


def _text(model: Array) -> str:
    return str([float(f"{number:.8g}") for number in model])


def _inputs(asked: _Asked, case: _Case, seeds: np.random.SeedSequence) -> None:
    leaves_inputs(asked.function, case.arguments(2, generator(seeds)), case.given)


def _same(asked: _Asked, case: _Case, seeds: np.random.SeedSequence) -> None:
    same_generator(lambda rng: np.asarray(asked.raw(case, 5, rng)), seeds, case.given)


def _no_rounds(asked: _Asked, case: _Case, seeds: np.random.SeedSequence) -> None:
    _compare(asked.model(case, 0, seeds), case.initial, "return the first model after no rounds,", case)


def _one_step(asked: _Asked, case: _Case, seeds: np.random.SeedSequence) -> None:
    alone = case._replace(local_steps=(1,) * 3)
    slopes = np.array([gradient(case.initial) for gradient in case.gradients])
    wanted = case.initial - case.step_size * case.fed.weights @ slopes
    _compare(asked.model(alone, 1, seeds), wanted, "take a step of gradient descent to", alone)


def _first_rounds(asked: _Asked, cases: Sequence[_Case], seeds: np.random.SeedSequence) -> None:
    for case in cases:
        models = asked.reference(case, _FIRST[-1])
        for number in _FIRST:
            _compare(asked.model(case, number, seeds), models[number], f"come in {number} rounds to", case)


def _limit(asked: _Asked, cases: Sequence[_Case], seeds: np.random.SeedSequence) -> None:
    for case in cases:
        is_controlled = isinstance(asked.like, Scaffold | Scaffnew | EF21)
        wanted = case.fed.minimizer if is_controlled else asked.reference(case, _LONG)[-1]
        # A coin that falls in every hundredth step takes so many more of them.
        rounds = _LONG if not isinstance(asked.like, Scaffnew) else int(_LONG / asked.like.probability**2)
        _compare(asked.model(case, rounds, seeds), wanted, "come to rest at", case)


def _rate(asked: _Asked, case: _Case, seeds: np.random.SeedSequence) -> None:
    """Compare with the bound on the mean, which is exceeded a millionfold with probability one in a million."""
    from fedtheory.bounds.proxskip import refined_fixed_step_potential

    steps = int(200 / asked.like.probability**2)
    known = for_run(
        refined_fixed_step_potential,
        case.fed,
        Full(),
        num_rounds=steps,
        step_size=case.step_size,
        method=asked.like,
        initial=case.initial,
    )
    # The server's model is the mean of the clients' where the coin fell last: half of the steps are ample.
    most = max(refined_fixed_step_potential(**{**known, "num_steps": steps // 2}) / FALSE_ALARMS, _ROUNDING**2)
    found = float(np.sum((asked.model(case, steps, seeds) - case.fed.minimizer) ** 2))
    if not found <= most:
        raise Failed(
            f"must come within {most:.3g} of the minimizer, squared, in {steps} steps, got {found:.3g}", **case.given
        )
