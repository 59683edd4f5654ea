"""What a value displays in a console and in a notebook is short, escaped and true."""

from fractions import Fraction as Q

import fedtheory as ft
from fedtheory.exact.skew_intervals import SelectionSkew
from fedtheory.statistics.interval import Interval
from fedtheory.study import Table


def descent(num_steps=1):
    p = ft.worst_case.Problem()
    f = p.function(L=3)
    best, x = f.minimizer(), p.point("start")
    p.at_most((x - best).square, 1, name="distance2")
    for _ in range(num_steps):
        x = x - Q(1, 3) * f.gradient(x)
    return p, f, best, x


def test_vectors_and_forms_display_how_they_were_made():
    p, f, best, x = descent()
    assert repr(best) == "<vector x*>"
    assert repr(x) == "<vector start - 1/3 f0'(start)>"
    assert repr(f.value(x) - f.value(best)) == "<form f0(x1) - f0(x*)>"
    assert repr(f.value(x)) == "<form f0(x1)>"
    assert repr((x - best).square) == "<form |x1 - x*|^2>"
    assert repr(p.origin) == "<vector 0>"
    assert repr(p.clients(4, L=1).sample(2)) == "<sample of 2 of the 4 clients of f1>"


def test_a_problem_displays_functions_constraints_and_objective():
    p, f, best, x = descent(4)
    assert repr(ft.worst_case.Problem()) == "Problem"
    p.maximize(f.value(x) - f.value(best))
    assert repr(p).splitlines() == [
        "Problem",
        "  functions    f0: convex and 3-smooth",
        "  constraints  |start - x*|^2 <= 1",
        "  maximizes    f0(x4) - f0(x*)",
    ]
    assert "|start - x*|^2 &lt;= 1" in p._repr_html_()


def test_a_table_displays_its_rows_and_is_escaped_in_a_notebook():
    table = Table([{"d": 3, "<gap>": 1 / 3}, {"d": 9, "<gap>": 0.25}], "a < b", "c\x1b[2J & d")
    assert repr(table) == "a < b\nd   <gap>\n3  0.3333\n9    0.25\nc\\x1b[2J & d"
    html = table._repr_html_()
    assert html.startswith("<table><caption>a &lt; b</caption><tr><th>d</th><th>&lt;gap&gt;</th></tr><tr><td>3</td>")
    assert html.endswith("<p>c\\x1b[2J &amp; d</p>")


def test_a_skew_is_rounded_outward():
    third = Interval(1 / 3, 2 / 3, "rankings", "search")
    exact = Interval.exact(1 / 3, "fixed")
    found = SelectionSkew(third, Interval(0.0, float("inf"), "0/0", "0/0"), exact)
    assert repr(found).splitlines() == [
        "SelectionSkew",
        "  rho_bar       [0.333333, 0.666667] (rankings; search)",
        "  rho_tilde     [0, inf] (0/0)",
        "  rho_diagonal  [0.333333, 0.333334] (fixed)",
    ]
    assert "<th>rho_bar</th>" in found._repr_html_()
