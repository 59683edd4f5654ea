"""Every proof step of Power-of-Choice is refuted if one constant, sign or summand is changed.

A mutant is the source of a file of claims with one piece of text replaced, loaded in addition to the original.
"""

import importlib.util
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest

import fedtheory.claims.power_of_choice as folder
from fedtheory.claims._comparisons import step
from fedtheory.claims.catalogue import known_claims
from fedtheory.claims.power_of_choice._situations import Copies, Recursion, short_step
from fedtheory.theorem.claims import Claim
from tests.claims.refutation import broken, refuted

CLAIMS = known_claims()
FOLDER = Path(folder.__path__[0])

# file, claim, honest text, mutant
MUTANTS = [
    ("appendix_b", "equations-10-11", "norm2(grad(k, w) - grad(k, v)) / (2 * L)", "norm2(grad(k, w) - grad(k, v)) / L"),
    ("appendix_b", "equations-13-15", "len(self.at.local) ** 2", "len(self.at.local) ** 3"),
    ("appendix_b", "equation-14-twice", "2 * s.at.drift", "s.at.drift"),
    ("appendix_b", "equations-25-26", '"<=", spread)', '"<=", spread / 2)'),
    ("appendix_b", "equation-16", "slice(s.t)", "slice(None)"),
    ("appendix_b", "equation-17", "return self.eta[0] ** 2 * self.run.local_steps *", "return self.eta[0] ** 2 *"),
    ("appendix_b", "equation-18", "2 * self.eta[0] ** 2 * self.run", "self.eta[0] ** 2 * self.run"),
    ("appendix_b", "equations-19-20", "(2 * G2 for _ in pairs", "(G2 for _ in pairs"),
    ("appendix_b", "equations-21-22", "16 * self.eta[-1]", "8 * self.eta[-1]"),
    ("appendix_b", "equation-23", "* self.G2 / self.m", "* self.G2"),
    ("appendix_c", "equations-27-30", "s.A_1() + s.A_2(e)", "s.A_1()"),
    ("appendix_c", "equations-2-3", "run.step_size(t), drawn.instance)", "run.step_size(0), drawn.instance)"),
    ("appendix_c", "equation-72", "run.step_size(t), drawn.instance)", "run.step_size(0), drawn.instance)"),
    ("appendix_c", "equation-30-mean", "s.noises.mean(s.A_2)", "s.noises.mean(s.A_4)"),
    ("appendix_c", "equations-31-32", "- 2 * s.eta * to_best", "+ 2 * s.eta * to_best"),
    ("appendix_c", "equations-33-34", "s.at.drift + s.eta**2 * s.mean", "s.eta**2 * s.mean"),
    ("appendix_c", "equation-35", '"<=", s.eta**2 * poc', '"<=", s.eta**2 / 2 * poc'),
    ("appendix_c", "equation-36", "s.mu / 2 * s.at", "s.mu * s.at"),
    ("appendix_c", "equations-40-42", "s.eta**2 / s.m**2 *", "s.eta**2 / s.m *"),
    ("appendix_c", "equation-37", "s.printed_drift + s.eta**2", "s.eta**2"),
    ("appendix_c", "equations-45-46", "2 * eta * (2 * x - 1)", "2 * eta * (x - 1)"),
    ("appendix_c", "equation-51", "nu / (2 * s.eta) - nu", "nu / s.eta - nu"),
    ("appendix_c", "equation-52", "losses_at_average(s, s.drift)", "losses_at_average(s, Fraction(0))"),
    ("appendix_c", "equation-53", "losses_at_average(s, s.printed_drift)", "losses_at_average(s, -s.printed_drift)"),
    ("appendix_c", "equations-56-59", "s.gap + s.Gamma", "s.gap - s.Gamma"),
    ("appendix_c", "equation-60", "s.mu / 2 * s.Delta", "s.mu * s.Delta"),
    ("appendix_c", "equation-61", "Fraction(3, 4) * s.eta", "Fraction(4, 5) * s.eta"),
    ("appendix_c", "equation-62", "6 * s.eta**2 * s.L", "4 * s.eta**2 * s.L"),
    ("appendix_c", "equation-63", ".rho_bar, s.printed_drift)", ".rho_bar, -s.printed_drift)"),
    ("appendix_c", "equation-67", "s.L / 2 * s.Delta", "s.L / 4 * s.Delta"),
    ("appendix_c", "equations-66-67", "32 * known", "16 * known"),
    ("appendix_d", "equation-68", "(start, **s.known))", "(start, **s.known) / 2)"),
    ("appendix_d", "equations-69-71", "offset / (s.eta * s.mu * B)", "offset / (s.eta * s.mu)"),
    ("appendix_d", "equation-70", '"<=", 2 / s.mu *', '"<=", 1 / s.mu *'),
    ("appendix_d", "small-steps-bias", "longest = 16 *", "longest = 32 *"),
    ("appendix_d", "theorem-a.1-second-condition", "1 / (2 * mu *", "1 / (4 * mu *"),
    ("appendix_e", "equation-73", '"<=", s.printed_weighted_drift', '"<=", s.printed_weighted_drift / 64'),
    ("appendix_e", "equation-74", "len(s.at.chosen) * s.at", "Fraction(1, len(s.at.chosen)) * s.at"),
    ("appendix_e", "equation-74-refined", 's.distance2, "<=", s.at', 's.distance2, "<=", Fraction(9, 10) * s.at'),
    ("appendix_e", "equation-75", "s.Delta + s.M(2 * (1 + s.m))", "s.Delta + s.M(1)"),
    ("appendix_e", "equation-76", "(rho or 0) * total", "(rho or 0)"),
    (
        "appendix_e",
        "equations-77-78",
        "s.observed.skews.rho_tilde, instance",
        "s.observed.skews.rho_tilde / 2, instance",
    ),
    # Either of drift and heterogeneity covers what the other one is for, but not both can go.
    ("appendix_e", "equations-79-80", "bias + drift + heterogeneity", "bias"),
    ("appendix_e", "equation-81", '"<=", poc.weighted', '"<=", Fraction(1, 2) * poc.weighted'),
    ("appendix_e", "equation-84", "s.L / 2 * s.Delta", "s.L / 4 * s.Delta"),
    ("appendix_e", "equations-83-85", "2 * L * (2 + m)", "2 * L * (1 + m)"),
    ("objectives", "equation-1", "samples.mean()", "samples.sum()"),
    ("objectives", "equation-4", "strong_convexity / 2 *", "strong_convexity *"),
    ("skews", "no-bias-without-gap", "(t + gamma - 1)) ** 2", "(t + gamma - 1)) ** 3"),
    ("skews", "no-bias-term-without-gap", '"objective_gap": Fraction(0)', '"objective_gap": Fraction(1)'),
    ("skews", "candidates-equal-selected-repaired", "whole(rng, 1, size) if even else 1", "whole(rng, 1, size)"),
    ("objectives", "equation-86", "- e[k] @ w", "+ e[k] @ w"),
    ("objectives", "equation-87", "w -= eta * (", "w -= 2 * eta * ("),
    ("availability", "availability-without-memory", "gap(T, **known))", "gap(T, **known) / 2)"),
]


def loaded(source: str, path: Path) -> ModuleType:
    """Import a source as a module of its own."""
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def claim_of(module: ModuleType, key: str) -> Claim:
    """Find a claim in a module by its key."""
    return next(value for value in vars(module).values() if isinstance(value, Claim) and value.key == key)


@pytest.mark.parametrize(("file", "name", "honest", "mutant"), MUTANTS, ids=[f"{m[1]}: {m[3][:40]}" for m in MUTANTS])
def test_a_step_is_red_with(file: str, name: str, honest: str, mutant: str, tmp_path: Path) -> None:
    source = (FOLDER / f"{file}.py").read_text(encoding="utf-8")
    assert source.count(honest) == 1
    claim = claim_of(loaded(source.replace(honest, mutant), tmp_path / "mutant.py"), f"power-of-choice:{name}")
    assert refuted(claim)


SHARED = [
    ("bias + heterogeneity + drift", "heterogeneity + drift"),
    ("bias + heterogeneity + drift", "bias + drift"),
    pytest.param("(s.s**2 + conversion) * G2", "conversion * G2", marks=pytest.mark.slow),
    ("rho, G2 = s.observed.skews.rho_diagonal", "rho, G2 = 2 * s.observed.skews.rho_diagonal"),
]


@pytest.mark.parametrize(("honest", "mutant"), SHARED, ids=lambda text: text)
def test_the_repaired_bound_of_a5_needs(honest: str, mutant: str, tmp_path: Path) -> None:
    source = (FOLDER / "_situations.py").read_text(encoding="utf-8")
    assert source.count(honest) == 1
    wrong = loaded(source.replace(honest, mutant), tmp_path / "mutant.py").a5_repaired
    claim = CLAIMS["power-of-choice:equation-63-repaired"]
    assert refuted(replace(claim, check=step(claim.key, claim.statement, short_step)(wrong).check))


@pytest.mark.parametrize("term", ["A_1", "A_2", "A_3", "A_4"])
def test_eq_30_needs_each_of_its_four_terms(term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = getattr(Copies, term)
    monkeypatch.setattr(Copies, term, lambda *args: honest(*args) / 2)
    assert broken(CLAIMS["power-of-choice:equations-27-30"])


@pytest.mark.parametrize("key", ["equation-66", "equation-83"])
def test_the_induction_needs_its_psi(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def smaller(self: Recursion, t: int) -> Fraction:
        return self.beta**2 * self.C / (self.rate - 1) + 0 * t  # without Delta_0 and D

    monkeypatch.setattr(Recursion, "psi", smaller)
    assert broken(CLAIMS[f"power-of-choice:{key}"])
