"""Every claim reaches its expected verdict, and the counterexamples equal those derived by hand."""

import json
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from docs import verdicts as pages
from fedtheory.claims.catalogue import known_claims
from fedtheory.claims.power_of_choice import appendix_e
from fedtheory.instances.federations import opposite_clients
from fedtheory.instances.runs import gap
from fedtheory.theorem.claims import REFUTED, Claim
from fedtheory.verification._trials import Effort, Trials, tried
from fedtheory.verification.instances import EXAMPLE
from fedtheory.verification.records import number_of
from fedtheory.verification.verdicts import Verdict, examine, verdict_on
from fedtheory.worst_case.proofs import NARROW

CLAIMS = known_claims()
SEED = np.random.SeedSequence(1)
LIST = pytest.mark.parametrize("key", CLAIMS)
# One instance takes more than a tenth of a second: a worst case, an enumeration, a simulation or a compilation.
COSTLY = {
    "error-feedback:cgd-distance", "exact-quadratics:small-step-bias", "fedprox:loss-change-worst-case",
    "power-of-choice:equation-85-derived", "power-of-choice:figure-3-diagonal-skew", "power-of-choice:figure-3-rho-bar",
}  # fmt: skip
CHEAP = [key for key in CLAIMS if key not in COSTLY]


# The other claims of the papers draw their instances from their hypotheses.
PARTLY_APPLICABLE = {
    "optimal-client-sampling:improvement-one",
    "optimal-client-sampling:improvement-shorthand",
    "optimal-client-sampling:improvement-zero",
    "power-of-choice:equations-77-78",
    "power-of-choice:skew-order",
}


def varies(word: str, claim: Claim, trials: Trials) -> bool:
    """Whether instances differ in something that the claim speaks about, where they tell it."""
    told = {str(finding.instance[word]) for finding in trials.findings.values() if word in finding.instance}
    return len(told) != 1 or claim.is_single or not any(word in text for text in (claim.title, *claim.hypotheses))


def room(key: str) -> float:
    """How far equal strains may differ: the proved side of a worst case is as far from it as enclosures are wide."""
    return 10 * NARROW if key.endswith("worst-case") else 2e-9


@pytest.mark.parametrize("key", CHEAP)
def test_one_instance_and_the_stored_one_lead_to_the_expected_verdict(key: str) -> None:
    claim, effort = CLAIMS[key], Effort(1)
    verdict = verdict_on(claim, SEED, effort, tried(claim, effort, seeds=SEED))
    assert verdict.as_expected, (verdict.worst, verdict.worst_index)
    assert verdict.side == "exact" or not claim.is_single or claim.kind not in REFUTED


def check_shown(verdict: Verdict) -> None:
    """Compare a verdict with the stored one, which pages show as long as its digest is that of the sources."""
    row, shown = pages.stored_row(verdict), pages.stored().get(verdict.key, {})
    if shown.get("digest") != row["digest"]:
        pytest.skip("the library has changed since the verdicts were stored, so that pages verify all claims again")
    for name in ("verdict", "as_expected", "num_instances", "num_applicable", "relation"):
        assert shown[name] == row[name], name
    assert number_of(shown["worst_ratio"]) == pytest.approx(number_of(row["worst_ratio"]), rel=1e-6)
    if verdict.claim.kind in REFUTED and verdict.side == "exact":
        assert shown["instance"] == row["instance"]


@pytest.mark.slow
@pytest.mark.parametrize("key", sorted(CLAIMS)[::10])
def test_a_tenth_of_the_verdicts_that_pages_show_is_reached_again(key: str) -> None:
    check_shown(examine(CLAIMS[key]))


@pytest.mark.slow
@pytest.mark.long
@LIST
def test_all_verdicts_that_pages_show_are_reached_again(key: str) -> None:
    check_shown(examine(CLAIMS[key]))


@pytest.mark.slow  # one instance of each is checked at every run
@LIST
def test_the_verdict_is_the_expected_one(key: str) -> None:
    claim = CLAIMS[key]
    effort = Effort(claim.num_instances("quick"))
    trials = tried(claim, effort, seeds=SEED)
    verdict = verdict_on(claim, SEED, effort, trials)
    assert verdict.as_expected, (verdict.worst, verdict.worst_index)
    assert claim.expected == "fails" or varies("noise", claim, trials)
    if EXAMPLE in trials.findings and claim.expected == "holds":
        strains = {number: finding.strain for number, finding in trials.findings.items() if finding.applicable}
        assert max(strains.values()) <= strains[EXAMPLE] * (1 + room(key)), "the stored instance is not the worst"
    if verdict.num_applicable < verdict.num_instances and key not in PARTLY_APPLICABLE:
        pytest.skip(f"{key} applies to {verdict.num_applicable} of the {verdict.num_instances} instances that it draws")
    if verdict.risk:
        pytest.skip(f"{key} rests on a confidence limit, which may raise a false alarm")


def test_an_erratum_is_about_what_is_printed_and_a_refuted_conjecture_about_what_is_not() -> None:
    forms = {kind: {claim.statement.form for claim in CLAIMS.values() if claim.kind == kind} for kind in REFUTED}
    assert forms["erratum"] == {"printed"}
    assert "printed" not in forms["refuted conjecture"]


@pytest.mark.parametrize(("num_steps", "rounds"), [(10, 1), (10, 2), (20, 1)])
def test_the_error_of_a_single_opposite_client_telescopes(num_steps: int, rounds: int) -> None:
    """With steps 1/(t + 8) a round of tau steps from s moves w to its client by tau/(s + tau + 7) of the way.

    So (T + 7) w_T is a sum of T/tau independent signs times tau, and E F(w_T) - F* = tau T / (2 (T + 7)^2).
    """
    tau, total = num_steps // rounds, num_steps
    drawn = appendix_e._one_uniform_client(opposite_clients(), 0, tau, total)
    assert gap(drawn.run, total) == Fraction(tau * total, 2 * (total + 7) ** 2)


TWO = ("power-of-choice:lemma-b1", "fedalign:theta-one")


def test_pages_show_stored_verdicts_until_the_sources_of_the_library_change(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = {key: pages.stored_row(examine(CLAIMS[key], 1)) | {"reason": "stored"} for key in TWO}
    rows[TWO[1]]["digest"] = "of other sources"
    (tmp_path / "verdicts.json").write_text(json.dumps(rows), encoding="utf-8")
    monkeypatch.setattr(pages, "FILE", tmp_path / "verdicts.json")
    monkeypatch.setattr(pages, "known_claims", lambda: {key: CLAIMS[key] for key in TWO})
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert [row["reason"] for row in pages.verdicts.__wrapped__().values()] == ["stored", ""]


def test_a_change_of_any_source_of_the_library_changes_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Path.read_bytes
    found = {pages.digest.__wrapped__()}
    for folder in ("bounds", "instances", "checker"):
        changed = lambda file, folder=folder: read(file) + b"#" * (folder in file.parts)  # noqa: E731
        monkeypatch.setattr(Path, "read_bytes", changed)
        found.add(pages.digest.__wrapped__())
    assert len(found) == 4
