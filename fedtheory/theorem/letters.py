r"""Formulas in the letters of the glossary; parameters without a letter keep their names, in upright type."""

import inspect
import re
from typing import Any

_RELATIONS = {"<=": r"\le", ">=": r"\ge", "=": "="}
_LINE = 110
"""Length of LaTeX, in characters, that a column has room for."""
# Letters that SymPy has no name for, in signs.
_ACCENTED = {r"\bar\rho": "ρ\u0304", r"\tilde\rho": "ρ\u0303", r"\bar Z": "Z\u0304"}


def formula(bound: Any) -> str:
    r"""Return the formula of a bound in LaTeX, from its docstring or, if it has none, from its code.

    >>> from fedtheory.bounds import power_of_choice
    >>> formula(power_of_choice.client_drift)
    '4\\eta_t^2(\\tau-1)^2G^2'
    """
    own = re.search(r"\.\. math::\n((?:[ ]+\S.*\n)+)", f"{inspect.getdoc(bound)}\n")
    if own:
        return " ".join(own[1].split())
    return latex(bound, bound.symbolic())


def latex(bound: Any, value: Any) -> str:
    r"""Return an expression in the arguments of a bound in LaTeX.

    >>> from fedtheory.bounds import power_of_choice
    >>> latex(power_of_choice.gradient_norm, power_of_choice.gradient_norm.symbolic())
    '2 L \\mathrm{excess}'
    """
    from sympy import latex as printed
    from sympy import sympify

    value = sympify(value)
    return str(printed(value, symbol_names={symbol: _letter(symbol.name, bound) for symbol in value.free_symbols}))


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


def mathml(bound: Any, value: Any = None) -> str:
    r"""Return the formula of a bound, or another expression in its arguments, in MathML for browsers.

    >>> from fedtheory.bounds import power_of_choice
    >>> mathml(power_of_choice.gradient_norm).replace("<mo>&#xB7;</mo>", " ")
    '<math display="block"><mrow><mn>2</mn> <mi>L</mi> <mi>excess</mi></mrow></math>'
    """
    from sympy import mathml as printed
    from sympy import sympify

    value = bound.symbolic() if value is None else sympify(value)
    signs = {symbol: _sign(symbol.name, bound) for symbol in value.free_symbols}
    return f'<math display="block">{printed(value.xreplace(signs), printer="presentation", mul_symbol="dot")}</math>'


def _letter(name: str, bound: Any) -> str:
    row = bound.statement.topic.glossary.get(name)
    return (row and row.letter) or rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}"


def _sign(name: str, bound: Any) -> Any:
    """Return a letter of the glossary with at most one index as a symbol of SymPy, other arguments by their names."""
    from sympy import Symbol

    letter = _letter(name, bound)
    found = re.fullmatch(r"\\?([^\W_]+[\u0303\u0304]?(?:_\w)?)(\^2)?", _ACCENTED.get(letter, letter))
    found = found or re.fullmatch(r"(.+?)(2)?", name)
    symbol = Symbol(re.sub(r"_(?=\w\w)", " ", found[1]), positive=True)  # type: ignore[index]
    return symbol**2 if found[2] else symbol  # type: ignore[index]
