r"""Formulas in the letters of their papers; a parameter without a letter there keeps its name, in upright type."""

from typing import Any

__all__ = ["formula", "letters_of", "mathml"]

_COMMON = {
    "G2": "G^2",
    "L": "L",
    "distance2": r"\Delta",
    "gamma": r"\gamma",
    "initial_distance2": r"\|w_0-w^*\|^2",
    "local_steps": r"\tau",
    "mu": r"\mu",
    "num_selected": "m",
    "num_steps": "T",
    "objective_gap": r"\Gamma",
    "rho": r"\rho",
    "rho_bar": r"\bar\rho",
    "rho_diagonal": r"\rho",
    "rho_tilde": r"\tilde\rho",
    "sigma2": r"\sigma^2",
    "step_size": r"\eta",
    "theta": r"\theta",
}
_OF_PAPER = {
    "fedalign": {"local_steps": "E", "num_draws": "K"},
    "fedavg": {"local_steps": "E", "num_clients": "N", "num_selected": "K"},
    "optimal-client-sampling": {
        "dissimilarity": r"\rho",
        "initial_distance2": r"\|x^0-x^*\|^2",
        "local_steps": "R",
        "max_weight": "W",
        "num_rounds": "K",
        "objective_gap": r"\bar Z",
        "relative_noise": "M",
        "server_step_size": r"\eta_g",
        "sum_squared_weights": "S_2",
    },
}


# Spoken and drawn by browsers without help, where LaTeX is not at hand.
_SIGNS = {
    r"\Delta": "Δ",
    r"\gamma": "γ",
    r"\mu": "μ",
    r"\bar\rho": "ρ\u0304",
    r"\tilde\rho": "ρ\u0303",
    r"\rho": "ρ",
    r"\Gamma": "Γ",
    r"\sigma": "σ",
    r"\eta": "η",
    r"\theta": "θ",
    r"\tau": "τ",
    r"\bar Z": "Z\u0304",
    r"\|": "‖",
    r"w^*": "w⋆",
    r"x^*": "x⋆",
    r"x^0": "x₀",
    "w_0": "w₀",
    "_2": "₂",
    "^2": "²",
    "-": " − ",
}


def formula(bound: Any) -> str:
    r"""Return the formula of a bound in LaTeX.

    >>> from fedtheory.bounds import power_of_choice
    >>> formula(power_of_choice.client_drift)
    '4 G^2 \\eta^{2} \\left(\\tau - 1\\right)^{2}'
    """
    from sympy import latex

    value = bound.symbolic()
    return str(latex(value, symbol_names={symbol: _letter(symbol.name, bound) for symbol in value.free_symbols}))


def mathml(bound: Any) -> str:
    r"""Return the formula of a bound in MathML, which browsers draw without a library.

    >>> from fedtheory.bounds import power_of_choice
    >>> mathml(power_of_choice.gradient_norm).replace("<mo>&InvisibleTimes;</mo>", " ")
    '<math display="block"><mrow><mn>2</mn> <mi>L</mi> <mi>excess</mi></mrow></math>'
    """
    from sympy import Symbol
    from sympy.printing.mathml import MathMLPresentationPrinter

    value = bound.symbolic()
    signs = {symbol: Symbol(_in_signs(_letter(symbol.name, bound))) for symbol in value.free_symbols}
    printer = MathMLPresentationPrinter({"mul_symbol": None})
    return f'<math display="block">{printer.doprint(value.xreplace(signs))}</math>'


def letters_of(paper: str) -> dict[str, str]:
    r"""Return the letters of parameters in the paper of that key, in LaTeX.

    >>> letters_of("fedavg")["local_steps"], letters_of("")["local_steps"]
    ('E', '\\tau')
    """
    return _COMMON | _OF_PAPER.get(paper, {})


def _letter(name: str, bound: Any) -> str:
    return letters_of(bound.statement.paper.key).get(name, rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}")


def _in_signs(letter: str) -> str:
    r"""Write a letter of the table without LaTeX.

    >>> _in_signs(r"\|w_0-w^*\|^2"), _in_signs(r"\eta_g"), _in_signs(r"\mathrm{num\_clients}")
    ('‖w₀ − w⋆‖²', 'η_g', 'num clients')
    """
    if letter.startswith(r"\mathrm"):
        return letter.removeprefix(r"\mathrm{").removesuffix("}").replace(r"\_", " ")
    for sign, drawn in _SIGNS.items():
        letter = letter.replace(sign, drawn)
    return letter
