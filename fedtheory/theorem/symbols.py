"""Symbols of constants: meaning, domain, unit and letter.

The domains of a bound's arguments, the section Parameters of its help and the letters of its formula come from here. A
paper may add rows, ``Paper(..., symbols=...)``, for symbols that are specific to it or have other letters there.
"""

import functools
import re
from dataclasses import dataclass

from fedtheory.theorem.domains import COUNT, HORIZON, NONNEGATIVE, POSITIVE, Domain

CURVATURE, LENGTH, GRADIENT2 = "loss / distance^2", "distance^2 / loss", "(loss / distance)^2"


@dataclass(frozen=True)
class Symbol:
    r"""Symbol of a constant: meaning, domain, unit and letter.

    ``meaning`` has no final period. ``unit`` is in terms of loss and distance, such as ``loss / distance^2``, or what a
    count counts. ``letter`` is in LaTeX; formulas show the name if it is missing.

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
        """The meaning as a sentence, preceded by the letter if it differs from the name."""
        letter, word = _plain(self.letter), self.meaning[:2]
        if not self.meaning or letter in ("", self.name):
            return self.meaning and f"{self.meaning}."
        return f"``{letter}``: {word.lower() if word.istitle() else word}{self.meaning[2:]}."

    @property
    def kind(self) -> str:
        """The domain and the unit in words."""
        domain = "" if self.domain is None else str(self.domain)
        return f"{domain}, in {self.unit}" if self.unit else domain


@functools.cache
def _plain(letter: str) -> str:
    r"""Write a letter as in docstrings.

    >>> _plain(r"\bar\rho"), _plain(r"\|w_0-w^*\|^2")
    ('rho_bar', '|w_0 - w*|^2')
    """
    plain = re.sub(r"\\(bar|tilde)\s*\\?(\w+)", r"\2_\1", letter)
    return plain.replace("\\", "").replace("^*", "*").replace("-", " - ")


SYMBOLS: dict[str, Symbol] = {
    row.name: row
    for row in (
        Symbol("num_clients", "Number of all clients", COUNT),
        Symbol("num_selected", "Number of clients per round", COUNT, letter="m"),
        Symbol("num_candidates", "Number of candidates, whose losses are compared before clients are selected", COUNT),
        Symbol("weights", "Weights of the clients in the objective, of sum 1"),
        Symbol("local_steps", "Local steps per round", COUNT, letter=r"\tau"),
        Symbol(
            "num_steps",
            "Number of local steps so far; an array of horizons gives an array of bounds",
            HORIZON,
            "local steps",
            letter="T",
        ),
        Symbol("num_rounds", "Number of rounds so far", HORIZON, "rounds"),
        Symbol("mu", "Strong convexity of every client", POSITIVE, CURVATURE, r"\mu"),
        Symbol("L", "Smoothness of every client", POSITIVE, CURVATURE, "L"),
        Symbol("step_size", "Step size of a local step", POSITIVE, LENGTH, r"\eta"),
        Symbol("local_step_size", "Step size of a local step, if the server has its own step size", POSITIVE, LENGTH),
        Symbol("server_step_size", "Step size of the server, which multiplies the update of the round", POSITIVE),
        Symbol("G2", "Bound on the squared norm of a stochastic gradient", NONNEGATIVE, GRADIENT2, "G^2"),
        Symbol(
            "sigma2",
            "Bound on the variance of a stochastic gradient, summed over its entries",
            NONNEGATIVE,
            GRADIENT2,
            r"\sigma^2",
        ),
        Symbol("objective_gap", "Objective gap ``F* - sum_k p_k F_k*`` of the clients", NONNEGATIVE, "loss", r"\Gamma"),
        Symbol(
            "distance2",
            "Squared distance of the model from w* before the step or round, in expectation if the model is random",
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
            "Smallest selection skew at the model of the selection, ``inf_w rho(S(w), w)``, or a lower bound of it",
            NONNEGATIVE,
            letter=r"\rho",
        ),
        # Letters with a different meaning in every paper; a bound states the meaning and the domain.
        Symbol("gamma", letter=r"\gamma"),
        Symbol("rho", letter=r"\rho"),
        Symbol("theta", letter=r"\theta"),
    )
}
"""The symbols that theorems share, by name; any other argument needs a domain in ``states`` and a description.

:meta hide-value:
"""
