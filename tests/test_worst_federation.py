"""The study of random federations: they are as heterogeneous as they say, and what is compared costs the same."""

import _random_federations as study
import numpy as np
import pytest
import worst_federation
import xarray
from matplotlib.figure import Figure

import fedtheory as ft

SETTING = study.Setting(
    num_clients=4, dim=2, num_selected=1, candidates=(2, 4), predicted=(2,), num_rounds=4, step_share=0.1,
    num_replicates=2, block_size=3,
)  # fmt: skip


def test_a_federation_is_as_heterogeneous_as_it_says():
    rng = np.random.default_rng(3)
    for _ in range(20):
        fed, initial, logarithm = study.federation(SETTING, rng)
        assert study.LEAST <= logarithm <= study.MOST
        assert fed.objective_gap / (float(fed.loss(initial)) - fed.minimum) == pytest.approx(10**logarithm, rel=1e-9)


def test_at_equal_cost_a_way_gets_the_rounds_that_it_can_afford():
    gaps = np.array([8.0, 4.0, 2.0, 1.0, 0.5])
    cost = np.array([0.0, 3.0, 6.0, 9.0, 12.0])
    rand = np.array([8.0, 5.0, 3.0, 2.5, 0.7])
    # After 1, 2 and 4 rounds, which cost 2, 4 and 8: 0, 1 and 2 rounds of the other, with errors 8, 4 and 2.
    found = study._ahead(gaps, cost, rand, [1, 2, 4], 2 * np.array([1, 2, 4]))
    assert found.tolist() == [[True, True, True], [False, False, False]]
    # At the price of a round there is one for one: errors 4, 2 and 0.5.
    found = study._ahead(gaps, cost, rand, [1, 2, 4], 3 * np.array([1, 2, 4]))
    assert found.tolist() == [[True, True, True], [True, True, True]]


def test_every_number_of_local_steps_meets_the_same_federations_and_another_block_others():
    one, two, other = (
        study.block(number, tau, 0, setting=SETTING)["heterogeneity"].values for number, tau in ((5, 1), (5, 3), (6, 1))
    )
    assert one.tolist() == two.tolist()
    assert set(one).isdisjoint(other)


def test_what_candidates_cost_is_what_the_run_says_it_sent():
    # The mean field has no run, and counts by the formula: m v and d losses up, d models down.
    fed, initial, _ = study.federation(SETTING, np.random.default_rng(0))
    for d in (1, 2, 4):
        run = ft.fedavg(
            fed, ft.selection.PowerOfChoice(1, d), num_rounds=3, step_size=0.1, initial=initial,
            record=("uplink", "broadcasts"),
        )  # fmt: skip
        assert (run.uplink + fed.dim * run.records["broadcasts"]).tolist() == [[0, 2 + 3 * d, 4 + 6 * d, 6 + 9 * d]]


def test_the_diagram_has_a_panel_for_every_tau_and_grows_with_their_number():
    taus, candidates = [1, 3, 5], [2, 4]
    dims = ("tau", "counted", "d", "bin", "horizon")
    shape = len(taus), len(study.COUNTED), len(candidates), 2, 2
    counts = {name: (dims, np.ones(shape)) for name in ("field", "floor")}
    ahead = (("strategy", *dims), np.ones((2, *shape)))
    data = xarray.Dataset(
        {**counts, "ahead": ahead, "federations": (dims[:4], np.full(shape[:4], 4.0))},
        coords={
            "tau": taus, "counted": list(study.COUNTED), "d": candidates, "bin": [-2.0, -1.0],
            "horizon": [2, 8], "strategy": [f"pow-d, d = {d}" for d in candidates],
        },
    )  # fmt: skip
    figure = worst_federation.phase_diagram(data)
    rows = len(candidates) * len(study.COUNTED)
    assert figure.get_size_inches() == pytest.approx([2 + 1.8 * 3, 1 + 1.8 * rows])
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    assert len(panels) == 3 * rows
    assert [axes.get_title() for axes in panels[:3]] == [rf"$\tau = {tau}$" for tau in taus]


def test_the_diagram_shows_the_share_of_the_federations_of_a_bin_and_of_an_empty_one_nothing():
    counts = {"ahead": [[3, 1], [0, 5], [0, 0]], "field": [[4, 0], [0, 5], [0, 0]], "floor": [[0, 0]] * 3}
    here = xarray.Dataset(
        {name: (("bin", "horizon"), values) for name, values in counts.items()} | {"federations": ("bin", [4, 5, 0])},
        coords={"bin": [-2.0, -1.0, 0.0], "horizon": [2, 8]},
    )
    here["ahead"] = here["ahead"].expand_dims(strategy=["pow-d, d = 2"])
    axes = Figure().subplots()
    drawn = worst_federation._phase(axes, here.transpose("strategy", "horizon", "bin"), "pow-d, d = 2")
    np.testing.assert_allclose(drawn.get_array(), [[0.75, 0.25], [0.0, 1.0], [0.0, 0.0]])
    assert drawn.get_clim() == (0, 1)
    np.testing.assert_allclose(drawn.get_coordinates()[0, :, 0], [1, 4, 16])
    np.testing.assert_allclose(drawn.get_coordinates()[:, 0, 1], 10.0 ** np.array([-2.5, -1.5, -0.5, 0.5]))
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    # Of the two borders one is crossed: no federation of the other is below.
    assert len(axes.collections) == 2
