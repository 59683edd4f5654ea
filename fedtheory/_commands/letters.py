r"""Formulas in the letters of their papers; a parameter without a letter there keeps its name, in upright type."""

from fedtheory.paper import Bound

__all__ = ["formula"]

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


def formula(bound: Bound) -> str:
    r"""Return the formula of a bound in LaTeX.

    >>> from fedtheory.bounds import power_of_choice
    >>> formula(power_of_choice.client_drift)
    '4 G^2 \\eta^{2} \\left(\\tau - 1\\right)^{2}'
    """
    from sympy import latex

    letters = _COMMON | _OF_PAPER.get(bound.statement.paper.key, {})
    value = bound.symbolic()
    symbols = value.free_symbols
    upright = {symbol.name: rf"\mathrm{{{symbol.name.replace('_', chr(92) + '_')}}}" for symbol in symbols}
    return str(latex(value, symbol_names={symbol: (upright | letters)[symbol.name] for symbol in symbols}))
