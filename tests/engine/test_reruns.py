"""A saved run is made again from its file alone, to the same bits; what differs otherwise is said."""

import dataclasses
import json
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory._storage.files import sealed, unsealed
from fedtheory._storage.provenance import provenance
from fedtheory._storage.recipes import recipe_of, restored, serialized
from fedtheory.engine.reruns import differences
from fedtheory.engine.schedule import Halving, InverseTime
from fedtheory.engine.trajectory import Trajectory
from fedtheory.errors import UnsealedWarning
from fedtheory.selection.power_of_choice import HalvingCandidates
from fedtheory.selection.rules import Rules

FED = ft.QuadraticFederation([1.0, 2.0, 3.0], [[0.0], [2.0], [7.0]], [0.5, 0.3, 0.2], minima=[1.0, -1.0, 0.1])
DATA = ft.federation.FederatedData.from_clients(
    [([[0.1], [1.0], [3.0]], [0, 1, 1]), ([[2.0], [0.7]], [1, 0])], test=[([[0.5]], [1]), ([[0.3]], [0])]
)
RNG = np.random.default_rng(5)
FEDERATIONS = [
    FED,
    ft.QuadraticFederation(np.array([[[2.0, 0.3], [0.3, 1.0]]] * 2), [[0.1, 0.2], [0.3, 0.4]], [0.25, 0.75]),
    ft.SoftmaxFederation(DATA, l2=0.1),
    ft.PerceptronFederation(DATA, hidden=(3, 2), weights=[0.4, 0.6]),
    ft.federation.NonconvexFederation(
        RNG.random((7, 3)), RNG.random((7, 3)), RNG.normal(1e6, 1.0, (7, 3)), np.full(7, 1 / 7)
    ),
    ft.federation.prioritize(FED, [True, True, False]).federation,
]


def saved(tmp_path, fed=FED, strategy=None, **changes):
    settings = {"num_rounds": 9, "step_size": 0.1, "num_replicates": 3, "gradient_noise": 0.5, "rng": 7} | changes
    run = ft.fedavg(fed, strategy or ft.selection.PowerOfChoice(1, 2), **settings)
    run.save(tmp_path / "run.nc")
    return run


def unchanged(value):
    """The value after it was written down as JSON, and made again."""
    arrays: dict[str, Any] = {}
    text = json.dumps(serialized(value, arrays))
    return restored(json.loads(text), arrays)


@pytest.mark.parametrize("fed", FEDERATIONS, ids=lambda fed: f"{type(fed).__name__}{fed.dim}")
def test_a_federation_is_written_down_and_made_again_to_the_bit(fed):
    again = unchanged(fed)
    for field in dataclasses.fields(fed):
        one, other = getattr(fed, field.name), getattr(again, field.name)
        if isinstance(one, np.ndarray):
            assert one.tobytes() == other.tobytes()
    digests = {
        recipe_of({"fed": one, "step_size": 1}, np.random.SeedSequence(), 1).digest("fed") for one in (fed, again)
    }
    assert len(digests) == 1


@pytest.mark.parametrize(
    "value",
    [
        ft.selection.PowerOfChoice(2, HalvingCandidates(3)), InverseTime(2.0, 3.0), Halving(0.5, (2, 5)),
        ft.selection.Available(ft.selection.Proportional(2), ft.selection.BernoulliAvailability([0.1] * 20)),
        ft.selection.Independent(1.5), ft.selection.LossMatching([True, False], [1.0, 0.3], threshold=0.5),
        ft.engine.Stragglers(0.5, 3),
        float("inf"), 10**40, (1, (2.5, None)),
    ],
)  # fmt: skip
def test_strategies_schedules_and_numbers_are_made_again_as_they_were(value):
    assert unchanged(value) == value


def test_a_run_is_made_again_from_its_file_alone_by_another_process(tmp_path):
    sequence = np.random.SeedSequence(3**90, spawn_key=(4, 5))
    sequence.spawn(2)  # the replicates come from its third child on
    run = saved(
        tmp_path, step_size=InverseTime(1.0, 9.0), local_steps=[1, 2, 3], initial=[4.0], rng=sequence, momentum=0.3,
        record=("gap", "models", "selected"), returned_noise=[0.0, 0.1, 0.2], record_every=2,
    )  # fmt: skip
    script = (
        "import sys, fedtheory as ft\n"
        "found = ft.rerun(sys.argv[1])\n"
        "assert found.identical and found.changes == (), found\n"
        "sys.stdout.write(found.run.models.tobytes().hex())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "run.nc"], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout == run.models.tobytes().hex()


def test_a_file_with_samples_is_run_again(tmp_path):
    saved(tmp_path, FEDERATIONS[2], gradient_noise=0.0)
    assert ft.rerun(tmp_path / "run.nc").identical


def test_a_run_that_diverged_diverges_again(tmp_path):
    assert (saved(tmp_path, step_size=1e200).status == "diverged").all()
    assert ft.rerun(tmp_path / "run.nc").identical


def test_a_loaded_run_keeps_its_recipe_and_where_it_was_made(tmp_path):
    saved(tmp_path)
    run = Trajectory.load(tmp_path / "run.nc")
    assert run.recipe is not None
    assert run.recipe.made_by is not None
    assert run.recipe.provenance == provenance()
    elsewhere = dataclasses.replace(run.recipe, made_by={**run.recipe.made_by, "numpy": "1.0", "git commit": "abc"})
    dataclasses.replace(run, recipe=elsewhere).save(tmp_path / "moved.nc")
    found = ft.rerun(tmp_path / "moved.nc")
    assert found.identical
    assert f"numpy was 1.0, is {np.__version__}" in found.changes
    assert repr(found).startswith("Rerun: the same bits\n  since then  numpy was 1.0")


def test_bits_that_differ_are_named_with_record_round_and_size(tmp_path):
    run = saved(tmp_path, record=("gap", "loss", "models"))
    gap = run.gap.copy()
    gap[1, 4:] *= 1 + 1e-3
    changed = dataclasses.replace(run, records={**run.records, "gap": gap})
    changed.save(tmp_path / "changed.nc")
    found = ft.rerun(tmp_path / "changed.nc")
    assert not found.identical
    assert found.differences == ("gap differs from round 4 on, by at most 1.0e-03 of its size",)
    assert "Rerun: other bits" in repr(found)
    shorter = ft.fedavg(FED, ft.selection.Full(), num_rounds=2, step_size=0.1, record=("gap", "loss", "models"))
    assert "gap had the shape (3, 10), has (1, 3)" in differences(run, shorter)


def test_a_federation_that_was_left_out_must_be_given_and_be_the_same(tmp_path):
    path = tmp_path / "small.nc"
    run = ft.fedavg(FED, ft.selection.Full(), num_rounds=2, step_size=0.1)
    run.save(path, federation=False)
    with pytest.raises(ValueError, match=r"fed must be given, as .*small.nc holds a digest of it only"):
        ft.rerun(path)
    with pytest.raises(ValueError, match="fed must be that of the saved run, got another one, QuadraticFederation"):
        ft.rerun(path, fed=dataclasses.replace(FED, weights=[0.3, 0.5, 0.2]))
    assert ft.rerun(path, fed=FED).identical
    again = Trajectory.load(path)
    again.save(tmp_path / "again.nc", federation=False)
    assert ft.rerun(tmp_path / "again.nc", fed=FED).identical


@dataclasses.dataclass(frozen=True)
class Second:
    """A strategy from outside: always client 1, or another."""

    client: int = 1

    def rules(self, weights, num_rounds):
        client = self.client

        def select(round_index, table, memory, weights, candidates, losses, rng, chosen):
            chosen[0] = client
            return 1

        return Rules(select, max_selected=1)


@dataclasses.dataclass(frozen=True)
class OwnSchedule:
    def step_sizes(self, num_rounds, local_steps):
        return 0.1 / np.arange(1.0, num_rounds * local_steps + 1)


def test_a_strategy_from_outside_must_be_given_and_a_schedule_is_kept_as_its_step_sizes(tmp_path):
    path = tmp_path / "run.nc"
    saved(tmp_path, strategy=Second(), step_size=OwnSchedule())
    with pytest.raises(ValueError, match=r"strategy must be given, as .*run.nc holds the name .*:Second only"):
        ft.rerun(path)
    with pytest.raises(ValueError, match="strategy must be that of the saved run, got another one"):
        ft.rerun(path, strategy=Second(2))
    assert ft.rerun(path, strategy=Second()).identical


def test_what_else_is_from_outside_is_named_by_what_is_there_instead(tmp_path):
    run = saved(tmp_path)
    known = {**run.recipe.form, "local_steps": {"unknown": "numbers:Own"}}
    dataclasses.replace(run, recipe=dataclasses.replace(run.recipe, form=known)).save(tmp_path / "own.nc")
    with pytest.raises(
        ValueError, match=r"made again from parts of fedtheory, got local_steps as the name numbers:Own"
    ):
        ft.rerun(tmp_path / "own.nc")
    assert type(serialized(np.int64(3), {})) is int


def test_a_recipe_names_classes_of_this_package_only():
    for kind in ("os:system", "fedtheory.engine.simulation:fedavg", "fedtheory.study:Missing", f"{__name__}:Second"):
        with pytest.raises(ValueError, match="a recipe must be made of dataclasses of fedtheory, got"):
            restored({"of": kind, "fields": {}}, {})


@pytest.mark.parametrize("name", ["round", "counts", "diverged_at", "config"])
def test_a_file_says_what_is_missing_in_it(tmp_path, name):
    data = saved(tmp_path).to_xarray().drop_vars(name)
    data.to_netcdf(tmp_path / "part.nc", engine="h5netcdf")
    with pytest.raises(ValueError, match=rf"path must be the file of a run, got .*part.nc, in which {name} is missing"):
        Trajectory.load(tmp_path / "part.nc")


def test_what_is_no_file_of_a_run_is_refused(tmp_path):
    path = tmp_path / "run.nc"
    with pytest.raises(FileNotFoundError, match=r"path must be the file of a run, got .*run.nc, which does not exist"):
        Trajectory.load(path)
    run = saved(tmp_path)
    whole = path.read_bytes()
    for content in (b"words", b"", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"path must be the file of a run, got .*run.nc, which cannot be read"):
            Trajectory.load(path)
    dataclasses.replace(run, recipe=None).save(path, overwrite=True)
    with pytest.raises(
        ValueError, match=r"path must be the file of a run that fedavg made, got .*, which holds no recipe"
    ):
        ft.rerun(path)


def test_a_recipe_whose_arrays_were_changed_is_refused(tmp_path):
    import h5py

    saved(tmp_path)
    with h5py.File(tmp_path / "run.nc", "a") as opened:
        name = next(name for name, found in opened["recipe"].items() if found.shape == (3, 1) and found.dtype == float)
        opened["recipe"][name][0] = 99.0
    with pytest.raises(ValueError, match=r"run\.nc, which has lost its seal: it was damaged or edited"):
        ft.rerun(tmp_path / "run.nc")
    (tmp_path / "run.nc").write_bytes(sealed((tmp_path / "run.nc").read_bytes()))
    with pytest.raises(ValueError, match="whose recipe is not the one that was written"):
        ft.rerun(tmp_path / "run.nc")


def rewritten(path, **said):
    """Write a run whose recipe says something else, sealed as whoever writes files can."""
    run = Trajectory.load(path)
    assert run.recipe is not None
    form = {name: value for name, value in {**run.recipe.form, **said}.items() if value is not LEFT_OUT}
    dataclasses.replace(run, recipe=dataclasses.replace(run.recipe, form=form)).save(path, overwrite=True)
    return path


LEFT_OUT = object()
OTHER_SIZES = r"a recipe must have the sizes of the records, got"
NOTHING_ELSE = "a recipe must hold what a run computes and nothing else, got"
ALONE = {
    "of": f"{type(FED).__module__}:QuadraticFederation",
    "fields": {"curvatures": {"list": [1.0]}, "centers": {"list": [{"list": [0.0]}]}, "weights": {"list": [1.0]}},
}
SLOW = ft.engine.Stragglers(0.5, 10**4, num_batches=10**5)
INJECTED = {
    "a file to write": ({"checkpoint": "written"}, NOTHING_ELSE),
    "how often": ({"checkpoint_every": 1e-9}, NOTHING_ELSE),
    "threads": ({"num_threads": 10**6}, NOTHING_ELSE),
    "progress": ({"progress": True}, NOTHING_ELSE),
    "no argument": ({"\x1b[2J": 1}, NOTHING_ELSE),
    "rounds without end": ({"num_rounds": 10**12}, "whole numbers up to 100000000, got 1000000000000"),
    "other rounds": ({"num_rounds": 10}, OTHER_SIZES),
    "rounds that are none": ({"num_rounds": "9"}, OTHER_SIZES),
    "rounds that are not recorded": ({"num_rounds": 10**8, "record_every": 10**8}, OTHER_SIZES),
    "other replicates": ({"num_replicates": 4}, OTHER_SIZES),
    "other records": ({"record": {"list": ["gap", "models"]}}, OTHER_SIZES),
    "other clients": ({"fed": ALONE}, OTHER_SIZES),
    "local steps without end": ({"local_steps": 10**8}, "as many local steps, got 1 and 9 rounds of 100000000"),
    "stragglers": ({"local_steps": serialized(SLOW, {})}, "got 1 and 9 rounds of 1000000000"),
    "no federation": ({"fed": LEFT_OUT}, "a recipe must hold fed, got none"),
    "another part": ({"strategy": {"of": "fedtheory.study:Study", "fields": {}}}, "got 'fedtheory.study:Study' as"),
    "a part of the wrong kind": ({"momentum": ALONE}, "must be made of dataclasses of fedtheory, got"),
    "fields that are none": ({"strategy": {"of": "fedtheory.selection.full:Full", "fields": {"x": 1}}}, "unexpected"),
    "words in the wrong place": ({"momentum": {"list": 5}}, "a recipe must be one that fedtheory wrote, got"),
    "a seed elsewhere": ({"momentum": {"seed": {}}}, "a recipe must hold one seed, as rng, got"),
    "a seed of gigabytes": (
        {"rng": {"seed": {"entropy": 1, "spawn_key": {"list": []}, "pool_size": 10**9, "n_children_spawned": 0}}},
        "a recipe must hold one seed, as rng, got",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", INJECTED)
def test_a_file_makes_nobody_write_or_compute_more_than_its_records_hold(tmp_path, monkeypatch, what):
    monkeypatch.chdir(tmp_path)
    said, sentence = INJECTED[what]
    saved(tmp_path)
    rewritten(tmp_path / "run.nc", **said)
    with pytest.raises(ValueError, match=sentence) as refused:
        ft.rerun("run.nc")
    assert re.match(r"path must be the file of a run.*, got run\.nc[:,] ", str(refused.value))
    assert not re.search(r"[\x00-\x1f]", str(refused.value))
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


def test_three_hundred_flips_of_a_file_are_told(tmp_path):
    run, rng = saved(tmp_path), np.random.default_rng(0)
    whole = (tmp_path / "run.nc").read_bytes()
    for _ in range(300):
        flipped = bytearray(whole)
        flipped[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
        (tmp_path / "run.nc").write_bytes(flipped)
        with pytest.raises(ValueError, match=r"^path must be the file of a run, got .*run\.nc, which ") as refused:
            Trajectory.load(tmp_path / "run.nc")
        assert "\n" not in str(refused.value)
    (tmp_path / "run.nc").write_bytes(whole)
    assert Trajectory.load(tmp_path / "run.nc").gap.tobytes() == run.gap.tobytes()


def test_flips_that_somebody_has_sealed_are_a_sentence_or_a_run(tmp_path):
    saved(tmp_path)
    content, rng = unsealed((tmp_path / "run.nc").read_bytes()), np.random.default_rng(0)
    said = []
    for _ in range(100):
        flipped = bytearray(content)
        flipped[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        (tmp_path / "run.nc").write_bytes(sealed(bytes(flipped)))
        try:
            Trajectory.load(tmp_path / "run.nc")
        except ValueError as error:
            said.append(str(error))
    assert 0 < len(said) < 100
    sentence = r"path must be the file of a run, got .*run\.nc, (which|in which|whose) .*"
    assert [one for one in said if not re.fullmatch(sentence, one)] == []


def test_a_run_of_before_the_seal_is_read_with_a_warning_and_a_sealed_one_says_which_form_it_has(tmp_path):
    run = saved(tmp_path)
    run.to_xarray().to_netcdf(tmp_path / "old.nc", engine="h5netcdf")
    with pytest.warns(UnsealedWarning, match=r"old\.nc was written before runs were sealed"):
        old = Trajectory.load(tmp_path / "old.nc")
    assert (old.gap.tobytes(), old.config) == (run.gap.tobytes(), run.config)
    run.to_xarray().assign_attrs(form="fedtheory run 3").to_netcdf(tmp_path / "later.nc", engine="h5netcdf")
    with pytest.raises(ValueError, match=r"later\.nc, whose form is fedtheory run 3, and not fedtheory run 2"):
        Trajectory.load(tmp_path / "later.nc")


def test_arrays_that_are_not_in_the_file_are_not_read(tmp_path):
    import h5py

    run = saved(tmp_path)
    (tmp_path / "elsewhere").write_bytes(bytes(24))
    for name, options in (
        ("bomb", {"shape": (2, 10**12), "dtype": "i8", "chunks": (1, 10**6)}),
        ("elsewhere", {"shape": (3, 1), "dtype": "i8", "external": [(str(tmp_path / "elsewhere"), 0, 24)]}),
    ):
        path = tmp_path / f"{name}.nc"
        run.to_xarray().drop_vars("counts").to_netcdf(path, engine="h5netcdf")
        with h5py.File(path, "a") as opened:
            opened.create_dataset("counts", **options)
        with pytest.raises(ValueError, match="in which counts is not an array"):
            Trajectory.load(path)


def test_a_sealed_file_is_read_by_others(tmp_path):
    import xarray

    run = saved(tmp_path)
    with xarray.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as opened:
        assert opened.load().equals(run.to_xarray())
