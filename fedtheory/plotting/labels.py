"""Names as figures write them, in the letters of the papers."""

from fedtheory.theorem.paper import Paper
from fedtheory.theorem.symbols import SYMBOLS

__all__ = ["label_of"]

# Expressions, which would need brackets within a formula.
_RECORDED = {"gap": "F(w) - F^*", "loss": "F(w)"}


def label_of(name: str, paper: Paper | None = None) -> str:
    r"""Return a name as figures write it: its letter in the glossary, as formulas have it, or the words it is made of.

    Parameters
    ----------
    name
        Of a parameter or a record, as ``rho_bar`` or ``gap``.
    paper
        The paper whose letter is wanted, as ``fedtheory.bounds.fedavg.PAPER``; otherwise what most of them write.

    Returns
    -------
    str
        Mathematics between dollars, or words.

    Examples
    --------
    >>> from fedtheory.bounds.fedavg import PAPER
    >>> label_of("rho_bar"), label_of("local_steps", PAPER), label_of("num_clients"), label_of("gap")
    ('$\\bar\\rho$', '$E$', 'num clients', '$F(w) - F^*$')
    """
    row = (SYMBOLS if paper is None else paper.glossary).get(name)
    letter = _RECORDED.get(name, row.letter if row else "")
    return f"${letter}$" if letter else name.replace("_", " ")
