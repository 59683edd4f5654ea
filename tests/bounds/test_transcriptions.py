"""Every bound equals an independent transcription of the paper, in exact rational arithmetic.

The transcriptions are in the modules ``transcription_*``: one function for every form of every bound, named
``bound__form``. Bounds without a transcription are skipped by name.
"""

import functools
import importlib
import importlib.util
import inspect
import random
from fractions import Fraction as Q

import pytest
import sympy

from fedtheory.bounds import fedalign, fedavg, power_of_choice
from fedtheory.bounds.catalogue import known_bounds
from fedtheory.errors import AssumptionViolated
from tests.bounds import transcription_fedalign, transcription_fedavg, transcription_power_of_choice, worlds

PAPERS = sorted({name.split(".")[0] for name in known_bounds()})
EDGES = ({"local_steps": 1, "num_selected": 1}, {"num_selected": "all"})


def forms():
    """(name, form, bound) of everything that states a right-hand side."""
    stated = [(name, bound.statement.form, bound) for name, bound in known_bounds().items()]
    stated += [(name, "printed", bound.printed) for name, _, bound in stated if bound.printed is not bound]
    return [pytest.param(*found, id=f"{found[0]}-{found[1]}") for found in stated]


def transcription(name, form):
    """The second road to a form of a bound; without one the test is left out."""
    paper, function = name.split(".")
    written = getattr(transcriptions(paper), f"{function}__{form}", None)
    if written is None:
        pytest.skip(f"{name} has no transcription {function}__{form} in tests/bounds/transcription_{paper}.py")
    return written


def transcriptions(paper):
    """The transcriptions of a paper; None if nobody has made one."""
    name = f"tests.bounds.transcription_{paper}"
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


@functools.cache
def letters_of(written):
    """The paper's letters that a transcription wants, by the names of the library."""
    wanted = inspect.signature(written).parameters
    letters = importlib.import_module(written.__module__).LETTERS
    return {key: letter for key, letter in letters.items() if letter in wanted}


def transcribed(name, form, arguments):
    """The transcription's value, asked in the paper's letters."""
    written = transcription(name, form)
    letters = letters_of(written)
    return written(**{letters[key]: value for key, value in arguments.items() if key in letters})


@functools.cache
def drawn(paper, **edge):
    """Worlds of a paper, drawn once for all its bounds."""
    rng = worlds.generator(paper, edge)
    return [worlds.world(paper, rng, **edge) for _ in range(10 if edge else 100)]


def instances(name, bound, count, **edge):
    # Where a second road or constants are missing, the test is left out.
    transcription(name, bound.statement.form if bound is known_bounds()[name] else "printed")
    worlds.draw(name, bound, worlds.generator(0))
    return [worlds.pick(bound, world) for world in drawn(name.split(".")[0], **edge)[:count]]


def on_lists(arguments):
    return any(isinstance(value, list) for value in arguments.values())


@pytest.mark.parametrize(("name", "form", "bound"), forms())
def test_every_form_equals_its_transcription_and_its_summands_add_up_to_it(name, form, bound):
    # Rational functions that differ agree at hardly any of a hundred points drawn at random.
    for number, arguments in enumerate(instances(name, bound, 100)):
        assert all(arguments.values()), "a zero hides a term"
        value = bound(**arguments)
        assert value == transcribed(name, form, arguments)
        assert isinstance(value, Q) or on_lists(arguments)
        if number < 30:
            summands = bound.terms(**arguments).values()
            assert all(summands)
            assert value == sum(summands)


@pytest.mark.parametrize(("name", "form", "bound"), forms())
@pytest.mark.parametrize("edge", EDGES, ids=str)
def test_one_local_step_one_client_or_all_of_them_are_no_exception(name, form, bound, edge):
    if edge.get("num_selected") == "all" and name.startswith(("power_of_choice", "fedalign")):
        edge = {"num_selected": 30}
    for arguments in instances(name, bound, 10, **edge):
        if form == "derived" and "derived_weighted" in name and edge.get("num_selected") == 1:
            with pytest.raises(AssumptionViolated, match="num_selected >= 2"):
                bound(**arguments)
        else:
            assert bound(**arguments) == transcribed(name, form, arguments)


@pytest.mark.parametrize(
    "bound",
    [
        power_of_choice.decaying_steps_gap,
        power_of_choice.refined_decaying_steps_gap,
        power_of_choice.weighted_average_gap,
        power_of_choice.decaying_steps_distance,
    ],
    ids=lambda bound: bound.__name__,
)
def test_of_a_maximum_each_side_is_the_larger_one_somewhere(bound):
    """The start counts where it is far away and curvatures differ, and elsewhere the noise does."""
    name, sides = f"power_of_choice.{bound.__name__}", set()
    far, noisy = {"L": 10**4, "gamma": 10**4, "initial_distance2": 10**6, "G2": 10**6}, {"sigma2": 10**6, "G2": 10**6}
    for arguments in instances(name, bound, 40):
        for changed in (far, noisy):
            world = {key: value * changed.get(key, 1) for key, value in arguments.items()}
            assert bound(**world) == transcribed(name, bound.statement.form, world)
            nearer = world | {"initial_distance2": world["initial_distance2"] * Q(999, 1000)}
            sides.add(bound(**nearer) < bound(**world))
    assert sides == {True, False}


@pytest.mark.parametrize(("name", "form", "bound"), forms())
def test_the_symbolic_form_has_the_transcriptions_value(name, form, bound):
    expression = bound.symbolic()
    for arguments in instances(name, bound, 3):
        assert substituted(expression, arguments) == transcribed(name, form, arguments)


def substituted(expression, arguments):
    """The value of a SymPy expression at rational arguments; a list's length is the upper end of its sum."""
    numbers = {key: rational(value) for key, value in arguments.items() if not isinstance(value, list)}
    lists = {key: value for key, value in arguments.items() if isinstance(value, list)}
    for length in ("num_selected", "num_included"):
        if lists and length not in arguments:
            numbers[length] = sympy.Integer(len(next(iter(lists.values()))))
    by_name = {symbol: numbers[symbol.name] for symbol in expression.free_symbols if symbol.name in numbers}
    result = expression.xreplace(by_name).doit()
    entries = result.atoms(sympy.Indexed)
    first = min((int(entry.indices[0]) for entry in entries), default=0)
    result = result.subs({entry: rational(lists[entry.base.name][int(entry.indices[0]) - first]) for entry in entries})
    assert not result.free_symbols
    return Q(int(result.p), int(result.q))


def rational(value):
    exact = Q(value)
    return sympy.Rational(exact.numerator, exact.denominator)


@pytest.mark.parametrize("paper", PAPERS)
def test_no_transcription_is_left_without_its_bound(paper):
    if transcriptions(paper) is None:
        pytest.skip(f"{paper} has no tests/bounds/transcription_{paper}.py")
    names = vars(transcriptions(paper))
    written = {name for name in names if "__" in name and not name.startswith("_")}
    stated = {
        f"{name}__{form}" for name, form, _ in (param.values for param in forms()) if name.startswith(f"{paper}.")
    }
    assert written - {name.split(".")[1] for name in stated} == set()


@pytest.mark.parametrize(("name", "form", "bound"), forms())
def test_what_may_be_left_out_has_the_transcriptions_default(name, form, bound):
    parameters = inspect.signature(bound).parameters.values()
    optional = [p.name for p in parameters if p.default is not p.empty and p.name != "strict"]
    for arguments in instances(name, bound, 20 * len(optional)):
        kept = {key: value for key, value in arguments.items() if key not in optional}
        assert bound(**kept) == transcribed(name, form, kept)


ROUNDING = 4e-16  # two divisions and an addition, each rounded once


def close(numbers, exact):
    return len(numbers) == len(exact) and all(
        abs(Q(float(number)) - value) <= Q(ROUNDING) * value for number, value in zip(numbers, exact, strict=True)
    )


def test_step_sizes_are_those_of_the_theorems():
    rng = random.Random(0)
    for _ in range(100):
        mu = Q(rng.randint(1, 90), rng.randint(3, 10))
        L, count, m, E = mu * (1 + Q(rng.randint(1, 90), 10)), rng.randint(1, 20), rng.randint(1, 9), rng.randint(1, 99)
        poc, align = transcription_power_of_choice, transcription_fedalign
        assert close(power_of_choice.decaying_step_sizes(count, mu=mu, L=L), poc.decaying_step_sizes(count, mu, L))
        assert close(
            power_of_choice.weighted_step_sizes(count, mu=mu, L=L, num_selected=m),
            poc.weighted_step_sizes(count, mu, L, m),
        )
        for module, written in ((fedalign, align), (fedavg, transcription_fedavg)):
            sizes = module.decaying_step_sizes(count, mu=mu, L=L, local_steps=E)
            assert close(sizes, written.decaying_step_sizes(count, mu, L, E))


@pytest.mark.parametrize("first_step", [0, 1])
def test_theta_and_rho_are_equations_7_and_8(first_step):
    rng = worlds.generator(0)
    for _ in range(100):
        world = worlds.world("fedalign", rng)
        mu, L, E = world["mu"], world["L"], world["local_steps"]
        gamma, a, b = max(8 * L / mu, E), world["priority_weights"][::E], world["included_gaps"][::E]
        heads = range(1, len(a) + 1)
        assert list(fedalign.theta(a, gamma=gamma, local_steps=E, first_step=first_step)) == [
            transcription_fedalign.theta(a[:n], gamma, E, first_step) for n in heads
        ]
        assert list(fedalign.rho(b, mu=mu, L=L, gamma=gamma, local_steps=E, first_step=first_step)) == [
            transcription_fedalign.rho(b[:n], mu, L, gamma, E, first_step) for n in heads
        ]
