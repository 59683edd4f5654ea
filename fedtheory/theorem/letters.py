r"""Formulas in the letters of the glossary; parameters without a letter keep their names, in upright type."""

import inspect
import re
from typing import Any

__all__ = ["formula", "inequality", "mathml", "terms"]

_RELATIONS = {"<=": r"\le", ">=": r"\ge", "=": "="}
_LINE = 110
"""Length of LaTeX, in characters, that a column has room for."""
# Unicode signs for browsers and screen readers, where LaTeX is not available.
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
    r"""Return the formula of a bound in LaTeX, from its docstring or, if it has none, from its code.

    >>> from fedtheory.bounds import power_of_choice
    >>> formula(power_of_choice.client_drift)
    '4\\eta_t^2(\\tau-1)^2G^2'
    """
    own = re.search(r"\.\. math::\n((?:[ ]+\S.*\n)+)", f"{inspect.getdoc(bound)}\n")
    if own:
        return " ".join(own[1].split())
    return _in_letters(bound.symbolic(), bound)


def terms(bound: Any) -> dict[str, str]:
    r"""Return the summands of a bound in LaTeX, by name.

    >>> from fedtheory.bounds import power_of_choice
    >>> terms(power_of_choice.gradient_norm)
    {'smoothness': '2 L \\mathrm{excess}'}
    """
    return {name: _in_letters(value, bound) for name, value in bound.symbolic_terms().items()}


def _in_letters(value: Any, bound: Any) -> str:
    from sympy import latex, sympify

    value = sympify(value)
    return str(latex(value, symbol_names={symbol: _letter(symbol.name, bound) for symbol in value.free_symbols}))


def inequality(bound: Any) -> str:
    r"""Return a bound as an inequality in LaTeX, a long one in two lines; without a left-hand side, return the formula.

    >>> from fedtheory.bounds import power_of_choice
    >>> inequality(power_of_choice.gradient_norm)
    '\\|\\nabla F_k(w)\\|^2 \\le 2L(F_k(w)-F_k^*)'
    """
    right = formula(bound)
    if bound.left is None:
        return right
    left = f"{bound.left.latex} {_RELATIONS[bound.relation]}"
    if len(left) + len(right) <= _LINE:
        return f"{left} {right}"
    return rf"\begin{{aligned}} & {left} \\ & \quad {right} \end{{aligned}}"


def mathml(bound: Any) -> str:
    r"""Return the formula of a bound in MathML, which browsers render without a library.

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


def _letter(name: str, bound: Any) -> str:
    row = bound.statement.topic.glossary.get(name)
    return (row and row.letter) or rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}"


def _in_signs(letter: str) -> str:
    r"""Write a letter of the glossary without LaTeX.

    >>> _in_signs(r"\|w_0-w^*\|^2"), _in_signs(r"\eta_g"), _in_signs(r"\mathrm{num\_clients}")
    ('‖w₀ − w⋆‖²', 'η_g', 'num clients')
    """
    if letter.startswith(r"\mathrm"):
        return letter.removeprefix(r"\mathrm{").removesuffix("}").replace(r"\_", " ")
    for sign, drawn in _SIGNS.items():
        letter = letter.replace(sign, drawn)
    return letter
