"""All bounds for all options of a run, and for random runs: accepted runs are listed, and the bounds hold."""

# mypy: allow-untyped-defs, allow-untyped-calls

import inspect
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.engine.heterogeneity import Stragglers
from fedtheory.errors import AssumptionViolated
from fedtheory.exact import runs
from fedtheory.selection import ActiveFederated
from tests.bounds.hypotheses_of_the_documents import EXPECTED
from tests.environment import sized
from tests.exact.random_runs import ALL, CHANGES, FORMS, METHOD, NAMED, PROVED, SERVER, Case, draw, samples, truths

# About a function h and three points: there is no run on which its hypotheses could be checked.
WITHOUT_RUNS = {"optimal_client_sampling.perturbed_inner_product"}
# Nor on which the answers of FedProx's clients could be told to be near enough to the minimizers of their problems.
WITHOUT_RUNS |= {"fedprox.loss_change", "fedprox.loss_change.printed"}
# Runs of SCAFFOLD have Option II.
WITHOUT_RUNS |= {"scaffold.option_one_round", "stationary.inconsistency", "stationary.inconsistency.printed"}
# Clients take steps on objectives that are multiplied by their weights.
WITHOUT_RUNS |= {"fedavg.transformed_gap", "fedavg.transformed_gap.printed"}
# Runs have neither FedLin nor FedSplit, and do not know the clients' smoothness that bounds on EF21 have.
WITHOUT_RUNS |= {"fedlin.corrected_round", "fedsplit.split_round", "ef21.average_gradient", "ef21.polyak_gap"}
# How the mean square of the gradients grows with the distance cannot be read off a run.
WITHOUT_RUNS |= {"proxskip.stochastic_potential", "proxskip.corrected_potential"}
NAMES = sorted(set(FORMS) - WITHOUT_RUNS)
# An option that changes nothing about a run's law needs no word.
WITHOUT_EFFECT = {"num_replicates": 3, "rng": 5, "record": ("loss",), "record_every": 2, "num_threads": 1}
WITHOUT_EFFECT |= {"progress": True, "test": ([[1.0]], [0])}
OF_EVERY_RUN = {"fed", "strategy", "num_rounds", "step_size", "initial"}
OPTIONS = {name: change(np.random.default_rng(0), None) for name, change in CHANGES.items() if name != "local_steps"}


@cache
def plain(name):
    """A run with the options as by default that the bound accepts, but for a server's step where it has one."""
    for seed in range(1000):
        case = draw(name, np.random.default_rng([seed, 2]))
        run = {key: case.run[key] for key in ("num_rounds", "initial", "step_size") if key in case.run}
        run |= {SERVER: case.run[SERVER]} if SERVER in FORMS[name].domains and SERVER in case.run else {}
        run |= {METHOD: case.run[METHOD]} if METHOD in case.run and METHOD in NAMED[name] else {}
        found = Case(name, case.fed, case.strategy, run, {})
        found.known = truths(found, np.random.default_rng(0))
        try:
            found.arguments()
        except (ValueError, TypeError):
            continue
        return found
    message = f"{name} accepts none of 1000 random runs"
    raise AssertionError(message)


def changed(case, **options):
    found = Case(case.name, case.fed, case.strategy, case.run | options, {})
    found.known = truths(found, np.random.default_rng(0))
    return found


def refusal(case):
    """Why the bound refuses the run, or None."""
    try:
        case.arguments()
    except AssumptionViolated as error:
        return str(error)
    return None


def test_all_bounds_are_walked_through():
    assert len(FORMS) == len(EXPECTED)
    if set(ALL) - set(FORMS):
        missing = ", ".join(sorted(set(ALL) - set(FORMS)))
        pytest.skip(f"{missing}: no hypotheses in tests/bounds/hypotheses_of_the_documents.py")


def test_every_option_of_fedavg_is_either_walked_through_or_known_to_have_no_effect():
    parameters = set(inspect.signature(ft.fedavg).parameters)
    assert parameters == set(CHANGES) | set(WITHOUT_EFFECT) | OF_EVERY_RUN
    assert not set(CHANGES) & set(WITHOUT_EFFECT)


@pytest.mark.parametrize("name", NAMES)
def test_an_option_that_no_word_of_a_bound_names_is_refused_by_its_name(name):
    case = plain(name)
    K = case.fed.num_clients
    options = [{key: value} for key, value in OPTIONS.items()]
    options += [{"local_steps": 2}, {"local_steps": [1] * (K - 1) + [2]}, {"local_steps": Stragglers(0.5, 3)}]
    for option in options:
        (key,) = option
        other = changed(case, **option)
        if other.run[key] is None or (key == SERVER and key in case.run):
            continue
        reason = refusal(other)
        if other.unnamed:
            assert reason is not None, option
            assert key in reason, (option, reason)
        else:
            assert reason is None or "covers" not in reason, (option, reason)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_bound_says_of_a_run_has_nothing_to_do_with_options_without_effect(name):
    case = plain(name)
    assert str(changed(case, **WITHOUT_EFFECT).arguments()) == str(case.arguments())


@pytest.mark.parametrize("name", NAMES)
def test_who_takes_part_and_how_they_are_averaged_is_named_by_every_bound_but_those_about_any_models(name):
    case, bound = plain(name), FORMS[name]
    case = replace(case, strategy=ActiveFederated(1, (1,) * case.fed.num_clients))
    remembers = {each for each in FORMS if each.startswith("power_of_choice") and "drift" in each}
    remembers |= {"power_of_choice.averaged_distance", "power_of_choice.loss_after_step"}
    remembers |= {"power_of_choice.gradient_norm", "fedalign.gradient_norm"}
    assert bound.statement.accepts(case.strategy.scheme) or name not in remembers
    assert (refusal(case) is None) == (name in remembers)


def test_every_hypothesis_of_every_bound_is_checked_on_a_run_or_on_its_numbers():
    for name in NAMES:
        case = plain(name)
        run = runs.described(case.bound, case.fed, case.strategy, case.run | case.known)
        for hypothesis in case.bound.hypotheses:
            assert hypothesis.violation_by(run) is None, (name, hypothesis.text)


@pytest.mark.parametrize("name", sorted(WITHOUT_RUNS))
def test_a_lemma_about_a_function_that_is_not_the_runs_is_refused(name):
    rng = np.random.default_rng(0)
    assert all(refusal(draw(name, rng)) is not None for _ in range(30))


def violated(num_cases, first_seed, num_replicates=400):
    """Tell, of random runs, how many were accepted and measured, and which are not named or not as promised."""
    num_accepted, num_measured, wrong = 0, 0, []
    for number in range(num_cases):
        name = NAMES[number % len(NAMES)]
        case = draw(name, np.random.default_rng([first_seed, number]))
        try:
            arguments = case.arguments()
        except (ValueError, TypeError):
            continue
        num_accepted += 1
        if case.unnamed:
            wrong.append((number, name, case.unnamed, case.run))
        drawn = samples(case, arguments, num_replicates, number) if name in PROVED else None
        if drawn is None:
            continue
        num_measured += 1
        promise, side = case.bound(**arguments), 1 if case.bound.statement.side == "upper" else -1
        # Six standard errors: none of some thousand confidence limits should fail by chance.
        surely = side * np.mean(drawn) - 6 * np.std(drawn) / np.sqrt(num_replicates)
        if surely > side * promise + 1e-9 * abs(promise) + 1e-14:
            wrong.append((number, name, promise, np.mean(drawn), case.strategy, case.run))
    return num_accepted, num_measured, wrong


@pytest.mark.slow
def test_random_runs_that_are_accepted_keep_their_promises():
    # A replicate takes as long as some thousand rounds; the slow runs below have more of them.
    num_accepted, num_measured, wrong = violated(sized(6 * len(NAMES), 40), 0, num_replicates=150)
    assert wrong == []
    assert num_accepted > sized(100, 8)
    assert num_measured > sized(50, 4)


@pytest.mark.slow
@pytest.mark.long  # the test above checks some hundred
@pytest.mark.parametrize("seed", range(1, 11))
def test_some_thousand_random_runs_that_are_accepted_keep_their_promises(seed):
    num_accepted, num_measured, wrong = violated(10 * len(NAMES), seed)
    assert wrong == []
    assert num_accepted > 150
    assert num_measured > 75
