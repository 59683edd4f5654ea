"""The picture of the README is the figure of the main study."""

from io import BytesIO

import numpy as np
import pytest

from fedtheory import study
from fedtheory.study._figures import figure_bytes, titled
from tests.environment import ROOT
from tests.quick_studies import loaded


def test_the_picture_of_the_readme_is_drawn_from_the_stored_results() -> None:
    """``python studies/bound_versus_error.py --show docs/full_size/bound_versus_error --out docs/_static`` draws it."""
    import matplotlib.pyplot as plt

    figure = loaded("bound_versus_error").figures["bound_versus_error"]
    stored = study.load(ROOT / "docs" / "full_size" / "bound_versus_error")
    drawn = titled(figure(stored.data), next(iter(stored.findings.values())).sentence)
    again = plt.imread(BytesIO(figure_bytes(drawn, "png")["png"]))
    texts = [text.get_text() for text in drawn.axes[0].texts]
    plt.close(drawn)
    # The figure shows pow-d with d = 9 and decaying steps, and says how far the bounds are above the error.
    for power, name in ((5.2, "as printed"), (4.3, "corrected"), (2.6, "one-step"), (2.1, "round lemma")):
        assert [text for text in texts if name in text] == [text for text in texts if f"10^{{{power}}}" in text] != []
    shown = plt.imread(ROOT / "docs/_static/bound_versus_error.png")
    # Other versions of fonts move letters by a pixel: other curves change far more.
    if again.shape != shown.shape:
        pytest.skip(f"drawn as {again.shape} here, {shown.shape} where the picture was made: fonts differ")
    assert float(np.abs(again - shown).mean()) < 0.01
