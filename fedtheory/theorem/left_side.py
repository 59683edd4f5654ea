"""What a bound bounds: the quantity, the model, the time and the randomness of its left-hand side."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fedtheory._support.validate import boolean, choice

QUANTITIES: Mapping[str, str] = MappingProxyType(
    {
        "gap": "gap of the loss, F(w) - F*",
        "loss": "loss F(w)",
        "loss change": "change of the loss F(w) in a round",
        "client gap": "gap of a client's loss, F_k(w) - F_k*",
        "squared distance": "squared distance from the minimizer, |w - w*|^2",
        "squared distance from the limit": "squared distance from the limit of the method, |w - w_inf|^2",
        "squared gradient": "squared norm of a gradient",
        "potential": "potential, which adds errors of states to the squared distance or the gap",
        "drift": "client drift, the mean squared distance of the clients' models from a common model",
        "variance": "variance of a model, gradient or update",
        "second moment": "second moment of the update",
        "inner product": "inner product of a gradient and a step",
    }
)
"""Quantities of left-hand sides, with their descriptions."""
MODELS: Mapping[str, str] = MappingProxyType(
    {
        "last": "the last model",
        "average": "a weighted average of models",
        "all": "the mean over the models of all rounds",
        "clients": "the clients' models",
        "any": "any model",
        "none": "no model",
    }
)
"""Models at which the quantity is taken."""
TIMES: Mapping[str, str] = MappingProxyType(
    {"run": "after the whole run", "round": "after one round", "step": "after one step", "any time": "at any time"}
)
"""Times at which the quantity is taken."""
COMPARABLE: Mapping[str, str] = MappingProxyType(
    {"gap": "run.gap", "squared distance": "((run.models - fed.minimizer) ** 2).sum(-1)"}
)
"""Quantities that a run records, with the expression that is compared with a bound on them."""
RANDOMNESS = ("selection", "noise")
"""What an expectation may be over: the selection of clients (and coins of a method), the noise of gradients."""

# Plain text to LaTeX, in this order; | becomes a double bar, since all norms here are Euclidean.
_LATEX = (
    (r"(?<=_\{k) in S(?=\})", r"\\in S"),
    (r"\bsum_(\{.*?\}|\w)", r"\\sum_\1"),
    (r"\bmean (?=\S)", r"\\operatorname{mean}\\,"),
    (r"\bE (?!\+|-)", r"\\mathbb E\\,"),
    (r"(?<!\w)1/(\w)", r"\\frac1\1"),
    (r"^<(.*)>$", r"\\langle \1\\rangle"),
    (r"\|", r"\\|"),
    (r"\bgrad ", r"\\nabla "),
    (r"\bw~", r"\\tilde w"),
    (r"\bw_bar_t", r"\\bar w_t"),
    (r"\bw_k_t", r"w_{k,t}"),
    (r"_inf\b", r"_\\infty"),
    (r"\bstep_size\b", "eta"),
    (r"\b(eta|tau|omega|gamma)\b", r"\\\1"),
    (r"(?<=[wxFhk])\*", r"^*"),
)


@dataclass(frozen=True)
class LeftSide:
    r"""The left-hand side of a bound.

    ``quantity``, ``model`` and ``after`` are keys of ``QUANTITIES``, ``MODELS`` and ``TIMES``; the expectation is over
    some of ``RANDOMNESS``. ``average`` are the weights of an average of models. ``is_equal`` is whether the right-hand
    side is the exact value.

    >>> left = LeftSide("gap", "E F(w_T) - F*", over=("noise",))
    >>> print(left.description)
    gap of the last model after the whole run, expected over noise
    >>> print(left.latex)
    \mathbb E\,F(w_T) - F^*
    """

    quantity: str
    text: str
    model: str = "last"
    after: str = "run"
    over: tuple[str, ...] = ()
    average: str = ""
    is_equal: bool = False

    def __post_init__(self) -> None:
        choice("quantity", self.quantity, tuple(QUANTITIES))
        choice("model", self.model, tuple(MODELS))
        choice("after", self.after, tuple(TIMES))
        for source in self.over:
            choice("over", source, RANDOMNESS)
        boolean("is_equal", self.is_equal)

    @property
    def description(self) -> str:
        """The left-hand side in words."""
        weights = f" ({self.average})" if self.average else ""
        model = "" if self.model == "none" else f" of {MODELS[self.model]}{weights}"
        expected = f", expected over {' and '.join(self.over)}" if self.over else ""
        return f"{self.quantity}{model} {TIMES[self.after]}{expected}"

    @property
    def latex(self) -> str:
        """The formula in LaTeX."""
        text = self.text
        for pattern, replacement in _LATEX:
            text = re.sub(pattern, replacement, text)
        return text

    @property
    def is_of_last_model(self) -> bool:
        """Whether it is about the last model of a whole run, so that records of a run can be compared with it."""
        return (self.model, self.after) == ("last", "run")

    @property
    def measured(self) -> str:
        """The expression in terms of a run that can be compared with the bound, or an empty text."""
        return COMPARABLE.get(self.quantity, "") if self.is_of_last_model else ""
