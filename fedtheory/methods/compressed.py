"""Compressed steps: what clients send is compressed, and nobody remembers what was lost."""

# mypy: allow-untyped-defs, allow-untyped-calls

from dataclasses import dataclass
from typing import final

from fedtheory._support.validate import Array
from fedtheory.methods.compressors import Compressor, checked_compressor
from fedtheory.methods.rules import MethodRules

__all__ = ["Compressed"]


@final
@dataclass(frozen=True)
class Compressed:
    """Send compressed updates; the server adds their weighted sum.

    With one local step and one client this is compressed gradient descent, ``x+ = x - C(eta grad f(x))``, and C of a
    multiple is the multiple of C for the compressors of this package.

    Parameters
    ----------
    compressor
        As ``TopK(3)``.

    Examples
    --------
    >>> import fedtheory as ft
    >>> fed = ft.QuadraticFederation([1.0], [[3.0, 4.0]], [1.0])
    >>> run = {"num_rounds": 2, "step_size": 0.5, "record": ("models", "uplink")}
    >>> run = ft.fedavg(fed, ft.selection.Full(), method=Compressed(ft.methods.TopK(1)), **run)
    >>> run.models[0].tolist(), run.uplink[0].tolist()
    ([[0.0, 0.0], [0.0, 2.0], [1.5, 2.0]], [0.0, 2.0, 4.0])
    """

    compressor: Compressor

    def __post_init__(self) -> None:
        checked_compressor(self.compressor)

    def method_rules(self, weights: Array, initial: Array) -> MethodRules:
        """Return the compiled rules."""
        rule, table, _ = self.compressor.compress(initial.size)
        return MethodRules(compress=rule, compress_table=table)
