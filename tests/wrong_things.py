"""Wrong arguments for public functions, and valid calls of all of them.

The valid calls are those of the doctests and of ``EXAMPLES``. Each is repeated with one argument replaced.
"""

import ast
import doctest
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from numbers import Number
from types import ModuleType
from typing import Any

import numpy as np

import fedtheory


class Nothing:
    """A value that has no use for anything."""

    def __repr__(self) -> str:
        return "Nothing()"


# What is no number, no array of numbers, no flag and no function.
NEVER: dict[str, Callable[[], Any]] = {
    "bytes": lambda: b"1",
    "a word": lambda: "1",
    "a bytearray": lambda: bytearray(b"1"),
    "memory": lambda: memoryview(b"1"),
    "None": lambda: None,
    "True": lambda: True,
    "nan": lambda: float("nan"),
    "a complex number": lambda: 1 + 1j,
    "Decimal": lambda: Decimal("0.5"),
    "a ragged list": lambda: [[1.0], [1.0, 2.0]],
    "an object": Nothing,
    "an object array": lambda: np.array([Nothing()]),
    "a set": lambda: {1},
    "a dict": lambda: {1: 1},
    "a generator": lambda: (number for number in (1,)),
    "a function": lambda: len,
    "a class": lambda: int,
    "a date": lambda: np.datetime64("2020-01-01"),
    "an array of words": lambda: np.array(["1"]),
    "a masked array": lambda: np.ma.array([1.0], mask=[True]),
    "an array of nan": lambda: np.array([np.nan]),
}
# What may be a number or an array, depending on the argument: a result comes soon and is no nan.
PERHAPS: dict[str, Callable[[], Any]] = {
    "infinity": lambda: float("inf"),
    "minus infinity": lambda: float("-inf"),
    "-1": lambda: -1,
    "0": lambda: 0,
    "1": lambda: 1,
    "a half": lambda: 0.5,
    "10^30": lambda: 10**30,
    "10^400": lambda: 10**400,
    "1e308": lambda: 1e308,
    "2^63": lambda: 2**63,
    "an array of one": lambda: np.array([1.0]),
    "a matrix": lambda: np.array([[1.0, 2.0], [3.0, 4.0]]),
    "an array of 3 dimensions": lambda: np.zeros((2, 2, 2)),
    "an empty list": list,
    "an empty word": str,
}
WRONG = {**NEVER, **PERHAPS}
# For each kind of argument, what it never is; everything else may be right, and must be answered, too.
REFUSED = {
    "number": set(NEVER),
    "flag": set(WRONG) - {"True"},
    "word": set(WRONG) - {"a word", "an empty word"},
    "function": set(WRONG) - {"a function", "a class"},
    "thing": {"an object"},
    "optional": {"an object"},
}
# Calls of what no doctest shows, as far as users make them.
EXAMPLES = {
    "selection": """
    >>> import numpy as np
    >>> import fedtheory.selection as s
    >>> weights, losses = np.array([0.5, 0.25, 0.25]), np.array([1.0, 2.0, 3.0])
    >>> _ = s.PowerOfChoice(2, 3, "exact"), s.PowerOfChoice(1, s.HalvingCandidates(2))
    >>> _ = s.Uniform(2, "mean"), s.Proportional(2), s.Full(), s.Independent(2.0, "optimal", 4, 3)
    >>> _ = s.ActiveFederated(2, [10, 20, 30], 0.5, 0.01, 0.1), s.ActiveFederatedByReports(2, 0.5, 0.01, 0.1)
    >>> _ = s.GreedyShapley(2, "mean", "exact"), s.UpperConfidenceShapley(2, 0.01, "gtg")
    >>> _ = s.SoftmaxShapley(2, 0.75, "exact"), s.SizeWeighted(s.Uniform(2))
    >>> _ = s.LossMatching([True, False, False], [1.0, 0.5, 0.5], 0.2, 1, 2, None, "loss")
    >>> _ = s.Available(s.Uniform(2), s.BernoulliAvailability(0.5), "allow")
    >>> _ = s.AlternatingGroups(0.1), s.Scheduled(lambda num_rounds: [])
    >>> _ = s.PowerOfChoice(1, 2).inclusion_probabilities(weights, losses)
    >>> _ = s.Uniform(2).inclusion_probabilities(weights, losses)
    >>> _ = s.Proportional(2).inclusion_probabilities(weights, losses)
    """,
    "federation": """
    >>> import numpy as np
    >>> import fedtheory as ft
    >>> from fedtheory.federation import FederatedData, LossFederation, NonconvexFederation, PerceptronFederation
    >>> data = FederatedData.from_clients([([[0.0], [1.0]], [0, 1]), ([[2.0], [3.0]], [1, 0])], test=([[0.5]], [1]))
    >>> fed = ft.QuadraticFederation([1.0, 2.0], [[0.0], [2.0]], [0.5, 0.5])
    >>> _ = fed.loss([1.0]), fed.gradient([1.0]), fed.gradients([1.0]), fed.excess([1.0]), fed.excesses([1.0])
    >>> soft = ft.SoftmaxFederation(data, 0.1)
    >>> _ = soft.loss(np.zeros(4)), soft.gradient(np.zeros(4)), soft.excess(np.zeros(4))
    >>> _ = soft.accuracy(np.zeros(4), held_out=False)
    >>> _ = soft.minibatch_variance(1), soft.gradient_bound(np.zeros(4)), data.client(0), data.take([0])
    >>> bumps = NonconvexFederation([1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> _ = bumps.loss([1.0]), bumps.excess([1.0])
    >>> layers = PerceptronFederation(data, hidden=(2,))
    >>> start = layers.initial(0)
    >>> _ = layers.loss(start), layers.gradient(start), layers.accuracy(start, held_out=False)
    >>> own = LossFederation(lambda d, k, w: (w * w).sum(), lambda d, k, w: 2 * w, None, [1.0], dim=1, minimizer=[0.0])
    >>> _ = own.losses([1.0]), own.loss([1.0]), own.gradient([1.0])
    """,
    "statistics": """
    >>> from fedtheory.statistics import Law
    >>> _ = Law.certain(1), Law.uniform([1, 2]), Law.proportional({1: 2, 3: 4}), Law.product(Law.certain(1))
    >>> _ = Law.uniform([1, 2]).mean(lambda outcome: outcome)
    """,
    "methods": """
    >>> import numpy as np
    >>> from fedtheory.methods import EF21, Compressed, ErrorFeedback, FedAvgM, FedDyn, MethodRules
    >>> from fedtheory.methods import RandK, Scaffnew, Scaffold, TopK
    >>> _ = Scaffold(np.zeros((2, 1))), Scaffnew(0.5, np.zeros((2, 1))), ErrorFeedback(TopK(1)), EF21(RandK(1, True))
    >>> _ = MethodRules(state_size=1, states=np.zeros((2, 1)), table=np.zeros(1), max_local_steps=1)
    >>> _ = MethodRules(proximal_weight=1.0), FedAvgM(0.5, 0.5, nesterov=True), FedDyn(1.0)
    """,
    "engine": """
    >>> import fedtheory as ft
    >>> fed = ft.QuadraticFederation([1.0, 2.0], [[0.0], [2.0]], [0.5, 0.5])
    >>> run = ft.fedavg(fed, ft.selection.Full(), num_rounds=1, step_size=0.1, num_replicates=2, record=("gap", "loss"))
    >>> _ = run.band("gap", 0.9), run.recorded("loss")
    """,
}


@dataclass(frozen=True)
class Call:
    """A valid call of a public door."""

    door: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    signature: inspect.Signature

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each argument, by the value that is right, also where this is a default."""
        found = {}
        for name, parameter in self.signature.parameters.items():
            value = self.arguments.get(name, parameter.default)
            if value is not parameter.empty and parameter.kind is not parameter.VAR_KEYWORD:
                found[name] = "optional" if parameter.default is None else kind_of(value)
        return found

    def exchanged(self, name: str, wrong: Any) -> Any:
        """Call with another value of one argument."""
        many = self.signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        given = {**self.arguments, name: (wrong,) if many else wrong}
        bound = inspect.BoundArguments(self.signature, given)  # type: ignore[arg-type]
        return self.function(*bound.args, **bound.kwargs)


def kind_of(value: Any) -> str:
    """Say what an argument is."""
    if isinstance(value, bool | np.bool_):
        return "flag"
    if isinstance(value, str):
        return "word"
    if is_numeric(value):
        return "number"
    return "function" if inspect.isroutine(value) else "thing"


def is_numeric(value: Any) -> bool:
    """Whether a value is a number or an array of numbers, in lists, too."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iuf"
    if type(value) in (list, tuple):  # a NamedTuple is a record, not a row of numbers
        return bool(value) and all(map(is_numeric, value))
    return isinstance(value, Number) and not isinstance(value, bool | np.bool_)


def public_modules() -> Iterator[ModuleType]:
    """Yield the public modules of the library that are no packages."""
    for info in pkgutil.walk_packages(fedtheory.__path__, "fedtheory."):
        private = any(part.startswith("_") for part in info.name.split("."))
        if not (private or info.ispkg or info.name.startswith("fedtheory.claims")):
            yield importlib.import_module(info.name)


def doors() -> dict[str, Any]:
    """Return all public callables: those of the modules' ``__all__``, by name, and public methods of their classes.

    A NamedTuple is a record that doors return and checks nothing: a function that takes one does.
    """
    found = {}
    for module in public_modules():
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        for name in getattr(module, "__all__", [name for name in own if not name.startswith("_")]):
            value = getattr(module, name)
            if callable(value) and getattr(value, "__module__", module.__name__) == module.__name__:
                if not hasattr(value, "_fields"):
                    found[f"{module.__name__}.{name}"] = value
                if isinstance(value, type):
                    for part, method in vars(value).items():
                        # a function that stands for a field's default is no method
                        own_method = getattr(method, "__func__", method)
                        is_method = getattr(own_method, "__qualname__", part).startswith((f"{name}.", part))
                        if not part.startswith("_") and callable(own_method) and is_method:
                            found[f"{module.__name__}.{name}.{part}"] = own_method
    return found


def calls(within: str) -> dict[str, Call]:
    """Return of each door of a package the valid call that an example shows, the one with most arguments.

    Kernels, which are called by compiled code only, are no doors.
    """
    known = {door: value for door, value in doors().items() if not hasattr(value, "py_func")}
    names = {id(value): name for name, value in known.items()}
    found: dict[str, Call] = {}
    for test in shown_within(within):
        for call in shown(test, names):
            kept = found.get(call.door)
            if not call.door.startswith(f"fedtheory.{within}."):
                continue
            if kept is None or len(call.arguments) > len(kept.arguments):
                found[call.door] = call
    return found


def shown_within(within: str) -> Iterator[doctest.DocTest]:
    """Yield the examples of a package."""
    if within in EXAMPLES:
        yield doctest.DocTestParser().get_doctest(EXAMPLES[within], {}, within, "doctest", 0)
    for module in public_modules():
        if f"{module.__name__}.".startswith(f"fedtheory.{within}."):
            yield from doctest.DocTestFinder(exclude_empty=True).find(module)


def shown(test: doctest.DocTest, names: dict[int, str]) -> Iterator[Call]:
    """Yield the calls of public doors in one doctest, with the values of their arguments."""
    values = dict(test.globs)
    for example in test.examples:
        if doctest.SKIP in example.options or example.exc_msg:
            continue
        tree = ast.parse(example.source)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                try:
                    function = evaluated(node.func, values)
                    owner = function
                    bound = inspect.ismethod(function)
                    if bound:
                        owner = function.__func__
                    if id(owner) not in names:
                        continue
                    positional = [evaluated(part, values) for part in node.args]
                    keywords: dict[str, Any] = {}
                    for part in node.keywords:
                        value = evaluated(part.value, values)
                        keywords |= value if part.arg is None else {part.arg: value}
                    signature = inspect.signature(function)
                    arguments = signature.bind(*positional, **keywords).arguments
                except Exception:  # a name of a comprehension, or what has no signature
                    continue
                yield Call(names[id(owner)], function, arguments, signature)
        if all(isinstance(statement, ast.Expr) for statement in tree.body):
            continue  # what is only looked at names nothing, and may take long
        try:
            exec(compile(tree, "doctest", "exec"), values)
        except Exception:
            return


def evaluated(node: ast.expr, values: dict[str, Any]) -> Any:
    """Return the value of an expression."""
    return eval(compile(ast.Expression(node), "doctest", "eval"), values)
