"""Names as figures write them, in the letters of the papers."""

from fedtheory.theorem._letters import letters_of

__all__ = ["label_of"]

# Expressions, which would need brackets within a formula.
_RECORDED = {"gap": "F(w) - F^*", "loss": "F(w)"}


def label_of(name: str, paper: str = "") -> str:
    r"""Return a name as figures write it: its letter in the table that formulas use, or the words it is made of.

    Parameters
    ----------
    name
        Of a parameter or a record, as ``rho_bar`` or ``gap``.
    paper
        Key of the paper whose letter is wanted, as ``fedavg``.

    Returns
    -------
    str
        Mathematics between dollars, or words.

    Examples
    --------
    >>> label_of("rho_bar"), label_of("local_steps", "fedavg"), label_of("num_clients"), label_of("gap")
    ('$\\bar\\rho$', '$E$', 'num clients', '$F(w) - F^*$')
    """
    letter = (_RECORDED | letters_of(paper)).get(name)
    return name.replace("_", " ") if letter is None else f"${letter}$"
