"""Symbols of constants: meaning, domain, unit and letter.

The domains of a bound's arguments, the section Parameters of its help and the letters of its formula come from this
table. A paper can add or replace rows: ``Paper(..., symbols=...)``.
"""

import functools
import re
from dataclasses import dataclass

from fedtheory.theorem.domains import COUNT, HORIZON, NONNEGATIVE, POSITIVE, Domain

__all__ = ["SYMBOLS", "Symbol"]

CURVATURE, LENGTH, GRADIENT2 = "loss / distance^2", "distance^2 / loss", "(loss / distance)^2"


@dataclass(frozen=True)
class Symbol:
    r"""Symbol of a constant: meaning, domain, unit and letter.

    Attributes
    ----------
    name
        The argument's.
    meaning
        In words, without the full stop at the end. It may be empty where a bound's own docstring explains the argument.
    domain
        What it may be; without one it must be given to ``states``.
    unit
        In loss and distance, as ``loss / distance^2``, or what a count counts; empty for pure numbers.
    letter
        In LaTeX; without one a formula shows the name.

    Examples
    --------
    >>> from dataclasses import replace
    >>> replace(SYMBOLS["local_steps"], letter="E").text, SYMBOLS["mu"].text
    ('``E``: local steps per round.', 'Strong convexity of every client.')
    """

    name: str
    meaning: str = ""
    domain: Domain | None = None
    unit: str = ""
    letter: str = ""

    @property
    def text(self) -> str:
        """The meaning as a sentence, after the letter where that is not the name."""
        letter, word = _plain(self.letter), self.meaning[:2]
        if not self.meaning or letter in ("", self.name):
            return self.meaning and f"{self.meaning}."
        return f"``{letter}``: {word.lower() if word.istitle() else word}{self.meaning[2:]}."

    @property
    def kind(self) -> str:
        """What it may be, and in which unit, in words."""
        domain = "" if self.domain is None else str(self.domain)
        return f"{domain}, in {self.unit}" if self.unit else domain


@functools.cache
def _plain(letter: str) -> str:
    r"""Write a letter as docstrings do.

    >>> [_plain(letter) for letter in (r"\bar\rho", r"\sigma^2", r"\|w_0-w^*\|^2", r"\eta_g")]
    ['rho_bar', 'sigma^2', '|w_0 - w*|^2', 'eta_g']
    """
    beside = re.sub(r"\\(bar|tilde)\s*\\?(\w+)", r"\2_\1", letter)
    return beside.replace("\\", "").replace("^*", "*").replace("-", " - ")


SYMBOLS: dict[str, Symbol] = {
    row.name: row
    for row in (
        Symbol("num_clients", "All clients", COUNT),
        Symbol("num_selected", "Clients per round", COUNT, letter="m"),
        Symbol("num_candidates", "Clients that are asked for their loss before some of them are selected", COUNT),
        Symbol("weights", "Weights of the clients in the objective, of sum 1"),
        Symbol("local_steps", "Local steps per round", COUNT, letter=r"\tau"),
        Symbol(
            "num_steps",
            "Local steps made so far; an array of horizons gives an array of bounds",
            HORIZON,
            "local steps",
            letter="T",
        ),
        Symbol("num_rounds", "Rounds made so far", HORIZON, "rounds"),
        Symbol("mu", "Strong convexity of every client", POSITIVE, CURVATURE, r"\mu"),
        Symbol("L", "Smoothness of every client", POSITIVE, CURVATURE, "L"),
        Symbol("step_size", "Step size of a local step", POSITIVE, LENGTH, r"\eta"),
        Symbol("local_step_size", "Step size of a local step, where the server has its own", POSITIVE, LENGTH),
        Symbol("server_step_size", "Step size of the server, a factor on what the round has moved", POSITIVE),
        Symbol("G2", "Bound on the squared norm of a stochastic gradient", NONNEGATIVE, GRADIENT2, "G^2"),
        Symbol(
            "sigma2",
            "Bound on the variance of a stochastic gradient, the total of its entries",
            NONNEGATIVE,
            GRADIENT2,
            r"\sigma^2",
        ),
        Symbol("objective_gap", "Objective gap ``F* - sum_k p_k F_k*`` of the clients", NONNEGATIVE, "loss", r"\Gamma"),
        Symbol(
            "distance2",
            "Squared distance of the model from w* before the step, or the round; expected if the model is random",
            NONNEGATIVE,
            "distance^2",
            r"\Delta",
        ),
        Symbol(
            "initial_distance2",
            "Squared distance of the first model from w*",
            NONNEGATIVE,
            "distance^2",
            r"\|w_0-w^*\|^2",
        ),
        Symbol("initial_gap", "Gap of the first model, ``F(w_0) - F*``", NONNEGATIVE, "loss"),
        Symbol("rho_bar", "Smallest selection skew, ``inf_{w, w'} rho(S(w), w')``", NONNEGATIVE, letter=r"\bar\rho"),
        Symbol("rho_tilde", "Largest selection skew at w*, ``sup_w rho(S(w), w*)``", NONNEGATIVE, letter=r"\tilde\rho"),
        Symbol(
            "rho_diagonal",
            "Smallest selection skew where the selection is made, ``inf_w rho(S(w), w)``, or any smaller number",
            NONNEGATIVE,
            letter=r"\rho",
        ),
        # Letters that mean something else in every paper: a bound says what, and what they may be.
        Symbol("gamma", letter=r"\gamma"),
        Symbol("rho", letter=r"\rho"),
        Symbol("theta", letter=r"\theta"),
    )
}
"""The symbols that theorems share, by name; ``states`` takes a domain for any other, and its docstring the meaning.

:meta hide-value:
"""
