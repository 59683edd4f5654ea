"""Formatting of numbers and other values in messages: short, with their significant digits."""

import difflib
import math
import re
from collections.abc import Iterable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

# Names of arguments in other libraries and papers.
_SYNONYMS = {
    "step_size": ("lr", "learning_rate", "local_lr", "client_lr", "lr_client", "eta", "eta_l", "stepsize"),
    "server_step_size": ("lr_server", "server_lr", "global_lr", "server_learning_rate", "eta_g"),
    "num_rounds": ("rounds", "n_rounds", "nrounds", "comm_rounds", "iterations", "num_iterations", "num_steps", "T"),
    "num_steps": ("steps", "n_steps", "iterations", "num_iterations", "T"),
    "local_steps": ("epochs", "local_epochs", "num_epochs", "n_epochs", "num_local_steps", "tau", "E", "num_steps"),
    "batch_size": ("batch", "batchsize", "minibatch", "minibatch_size", "bs"),
    "rng": ("seed", "random_seed", "random_state", "key", "generator"),
    "initial": ("w0", "x0", "init", "start", "initial_model"),
    "num_replicates": ("n_replicates", "repeats", "num_repeats", "num_seeds", "trials", "num_trials"),
    "proximal_weight": ("mu", "mu_prox", "prox", "proximal"),
    "gradient_noise": ("noise", "sigma2", "variance"),
    "num_threads": ("threads", "n_threads", "n_jobs", "workers", "num_workers"),
    "num_selected": ("m", "num_sampled", "clients_per_round"),
    "num_clients": ("n_clients", "clients", "K"),
}

# Control characters except tabs and new lines, marks that reorder a line, and lone surrogates.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    r"""Escape characters that would control a terminal, since text of a file or a claim is untrusted.

    >>> plain("title\x1b[2J")
    'title\\x1b[2J'
    """
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def format_number(number: Any) -> str:
    """Format a number for a message: long integers and rationals by their order of magnitude."""
    # A subclass, such as a named constant, formats itself.
    if type(number) in (int, Fraction) and max(abs(number.numerator), number.denominator) >= 10**20:
        digits = (abs(number.numerator).bit_length() - number.denominator.bit_length()) * math.log10(2)
        return f"{'-' * (number < 0)}about 10^{digits:.0f}"
    return str(number)


def outward(number: Fraction, digits: int, *, up: bool) -> str:
    """Format a rational with some digits, rounded up or down so that a proved bound remains true.

    >>> outward(Fraction(2, 3), 3, up=False), outward(Fraction(2, 3), 3, up=True), outward(Fraction(1, 4), 3, up=True)
    ('0.666', '0.667', '0.25')
    """
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    context = Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return f"{context.divide(Decimal(number.numerator), Decimal(number.denominator)):g}"


def format_value(value: Any) -> str:
    """Format a value for readers: numbers that are not integers with four digits.

    >>> [format_value(value) for value in (0.25, 1.5e-05, 3.0, 12, "x")]
    ['0.25', '1.5e-5', '3', '12', 'x']
    """
    if isinstance(value, float):
        return short_exponent(f"{value:.4g}")
    return str(value)


def short_exponent(text: str) -> str:
    """Format exponents without plus signs and leading zeros.

    >>> short_exponent("1e-09"), short_exponent("2.5e+20")
    ('1e-9', '2.5e20')
    """
    return re.sub(r"e([+-])0*(\d)", lambda found: f"e{found[1].strip('+')}{found[2]}", text)


def truncate(value: Any) -> str:
    """Format a given value for a message, truncated if it is long."""
    text = format_number(value) if isinstance(value, int | Fraction) else " ".join(repr(value).split())
    return text if len(text) < 60 else f"{text[:50]}..."


def format_pair(left: Any, right: Any) -> tuple[str, str]:
    """Format two numbers with four digits, or with as many more as distinguish them.

    >>> format_pair(0.3333333333, 0.25), format_pair(1.0000012, 1)
    (('0.3333', '0.25'), ('1.000001', '1'))
    """
    rounded = (left, right)
    for digits in range(4, 18):
        rounded = (_rounded(left, digits), _rounded(right, digits))
        if left == right or rounded[0] != rounded[1]:
            break
    return format_number(rounded[0]), format_number(rounded[1])


def _rounded(number: Any, digits: int) -> Any:
    if isinstance(number, int) or (isinstance(number, Fraction) and number.denominator < 1000):
        return number
    try:
        return float(f"{float(number):.{digits}g}")
    except OverflowError:
        return number


def suggest(name: str, known: Iterable[str]) -> str:
    """Suggest at most three known names that are close to an unknown one: they contain it, or differ by a typing error.

    Names of the same thing in other libraries are also close. Dashes of options and a correct paper are ignored.

    >>> suggest("power-of-choice:lema-b1", ["power-of-choice:lemma-b1", "power-of-choice:theorem-31"])
    ' (close: power-of-choice:lemma-b1)'
    >>> suggest("lr", ["num_rounds", "step_size"])
    ' (close: step_size)'
    """
    known = list(known)
    meant = [other for other, names in _SYNONYMS.items() if name in names and other in known]
    if meant:
        return f" (close: {', '.join(meant)})"
    wanted = name.lstrip("-").casefold()
    plain = {other.lstrip("-").casefold(): other for other in known}
    paper = re.match(r".*[:.]|", wanted)[0]  # type: ignore[index]
    start = len(paper) if any(other.startswith(paper) for other in plain) else 0
    tails = {text[start:]: other for text, other in plain.items() if text.startswith(paper[:start])}
    holding = [other for text, other in tails.items() if len(wanted) > 2 and wanted[start:] in text]
    near = [tails[text] for text in difflib.get_close_matches(wanted[start:], list(tails), n=3, cutoff=0.65)]
    found = list(dict.fromkeys([*near, *holding]))[:3]
    return f" (close: {', '.join(found)})" if found else ""
