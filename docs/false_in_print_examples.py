"""Five errors in print with their formulas; the numbers are those of the counterexamples."""

from fractions import Fraction

from reference import anchor

from fedtheory.claims.catalogue import known_claims
from fedtheory.verification.verdicts import examine

# Both sides at the counterexample are computed.
EXAMPLES = {
    "power-of-choice:step-54-55": r"""
**A false step of a true proof.** The proof of Theorem 3.1 of Power-of-Choice uses inside a round

$$\mathbb E\,\frac1m \sum_{k \in S_t} \bigl(F_k(\bar w_t) - F_k^*\bigr) \ \ge\ \bar\rho \Bigl(\mathbb E\,F(\bar w_t) -
\sum_k p_k F_k^*\Bigr).$$

For two clients with the losses $\frac12 (w \mp 1)^2$ and $m = 1$ the left side is $MEASURED$ and the right side
$PREDICTED$, because the averaged model depends on the selection. The theorem holds with [another
proof](power_of_choice.md#theorem-31-decreasing-step-sizes).""",
    "power-of-choice:equation-85-single-client": r"""
**A false theorem.** In the bound (85) of Power-of-Choice on $\mathbb E\,F(w_T) - F^*$ the drift term has the factor
$m - 1$. It is 0 for one client per round, although this client moves. For the losses $\frac12 (w \mp 1)^2$ and ten
local steps the error is $MEASURED$ and the bound is $PREDICTED$.""",
    "fedalign:theorem-1-printed-one-step": r"""
**A theorem that needs two local steps.** The sums in Theorem 1 of FedALIGN omit step 0. If the priority client has
the loss $\frac12 w^2$, and the client with the loss $\frac12 (w - 1)^2$ is included in step 0 only, the error
$\mathbb E\,F(w_T) - F^*$ after one local step is $MEASURED$ and the bound is $PREDICTED$. The theorem
[holds](fedalign.md#theorem-1-all-priority-clients) for two or more local steps.""",
    "fedprox:corollary-9": r"""
**A maximum that depends on the draw.** Corollary 9 of FedProx takes the largest inexactness $\gamma_k$ among the
devices that are drawn. With eight draws, of devices that are exact with probability $\frac14$ and take no step
otherwise, the loss $\frac12 w^2$ changes by $MEASURED$ in expectation, and the corollary promises $PREDICTED$. It
[holds](fedprox.md#corollaries-7-and-9) with the maximum over all devices.""",
    "greedyfed:vanishing-values": r"""
**A false sentence.** According to GreedyFed each Shapley value $|\mathrm{SV}_k|$ is bounded by the change of the
validation loss as training converges. If the updates of two clients cancel, the loss changes by $PREDICTED$ in each
round, and the values are $\pm MEASURED$.""",
}


def table() -> str:
    """Return the examples as paragraphs."""
    return "\n\n".join(map(example, EXAMPLES)) + "\n"


def example(key: str) -> str:
    """Return the text of an example with both sides of its counterexample, and a link to the claim."""
    worst = examine(known_claims()[key]).worst
    assert worst is not None
    assert not worst.holds
    filled = (
        EXAMPLES[key].strip().replace("MEASURED", _latex(worst.measured)).replace("PREDICTED", _latex(worst.predicted))
    )
    return f'{filled} <a href="claims.html#{anchor(key)}">Claim</a>'


def _latex(number: object) -> str:
    """Return a short fraction as a fraction, and another number with three digits."""
    exact = Fraction(str(number))
    if exact.denominator == 1:
        return str(exact)
    sign = "-" if exact < 0 else ""
    return (
        rf"{sign}\tfrac{{{abs(exact).numerator}}}{{{exact.denominator}}}"
        if exact.denominator < 1000
        else f"{float(exact):.3g}"
    )
