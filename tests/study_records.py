"""What the quick studies showed when they were last looked at: words of tables and figures, and the size of numbers.

``python -m tests.study_records [NAME ...]`` writes ``study_records.json``. Checks say whether an answer is right; what
they compare and what else a study shows is told here, with digits left out of words. Numbers are told by a mean of
their signed logarithms. Clocks are not told.
"""

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory import study
from tests.environment import ROOT
from tests.plotting.artists import look, shown_numbers
from tests.quick_studies import SCRIPTS, loaded
from tests.study_spoils import failing

FILE = Path(__file__).with_suffix(".json")
# Most of their numbers are seconds; and a solver chooses which of the images of a worst federation it finds.
UNTOLD = ("optimal_probabilities", "scaling", "worst_federation_picture")
NAMES = [script.stem for script in SCRIPTS if script.stem != "performance"]  # has a row for each library installed
ROUNDING = 1e-2  # a mean of logarithms moves by 1 if its numbers double, by 0.002 if another sample is misclassified
# Where all clients begin with the same loss, rounding decides whom a strategy takes for the worst, and these studies
# show small differences of what follows; so are widths. Without AVX a processor moved them by up to 0.17, all others
# by 0.0015.
MOVED, TIED = 0.3, ("power_of_choice_synthetic", "client_availability")
CLOCKS = ("seconds", "ms per round")
NUMBER = re.compile(r"[-−]?\d[\d.,]*(?:e[-+]?\d+)?")
NOTHING = 1e-9  # a difference that is 0 but for rounding and a solver's tolerance is told as 0


def words(read: study.Result, figures: dict[str, Any]) -> list[str]:
    """Return what stands in the table and in the figures, without digits and places."""
    found = [f"data {name} {variable.dims} {variable.shape}" for name, variable in read.data.variables.items()]
    told = [f"table {read.table.title} {read.table.caption}", f"titles {list(read.table.rows[0])}"]
    told += [f"check {name}: {check.holds}, {check.detail}" for name, check in read.checks.items()]
    cells = [cell for row in read.table.rows for cell in row.values() if isinstance(cell, str)]
    for name, figure in figures.items():
        told += [f"figure {name}", "size of it {:.4g} x {:.4g}".format(*figure.get_size_inches())]
        told += [text for legend in figure.legends for text in _texts(legend)]
        told += [line for axes in figure.axes for line in look(axes)]
    return [*found, f"{len(read.table.rows)} rows", *dict.fromkeys(map(_bare, [*told, *cells]))]


def _texts(legend: Any) -> Iterator[str]:
    return (f"legend {text.get_text()}" for text in legend.get_texts())


def _bare(text: str) -> str:
    """Leave digits out, but not those of colors and widths, which stand outside of quotation marks."""
    if text.startswith(("line ", "bar ", "area ", "size ")):
        return re.sub(r"'.*?'", lambda quoted: _without_digits(quoted[0]), text)
    return _without_digits(text)


def _without_digits(text: str) -> str:
    return NUMBER.sub("0", text)


def _numbers_in(text: str) -> list[float]:
    return [float(number.replace("−", "-").replace(",", "").rstrip(".")) for number in NUMBER.findall(text)]


def sizes(read: study.Result, figures: dict[str, Any]) -> dict[str, float]:
    """Return the size of each variable of numbers, of each column of the table, and of what each figure draws."""
    columns: dict[str, Any] = {f"data {name}": variable.values for name, variable in read.data.variables.items()}
    for row in read.table.rows:
        for title, cell in row.items():
            if isinstance(cell, int | float):
                columns.setdefault(f"table {title}", []).append(cell)
    columns |= {f"check {name}": _numbers_in(check.detail) for name, check in read.checks.items()}
    for name, figure in figures.items():
        # The corners of an area have an order that the last digit decides.
        columns[f"figure {name}"] = sorted(number for axes in figure.axes for number in shown_numbers(axes))
    numbers = {name: np.asarray(values) for name, values in columns.items()}
    return {
        name: _size(values)
        for name, values in numbers.items()
        if values.dtype.kind in "biuf" and values.size and not name.endswith(CLOCKS)
    }


def _size(values: Any) -> float:
    """Return the mean of signed logarithms, the last weighing twice as much as the first: places count."""
    plain = np.nan_to_num(values.ravel().astype(np.float64), posinf=1e290, neginf=-1e290)
    logarithms = np.sign(plain) * np.log(np.maximum(np.abs(plain), NOTHING) / NOTHING)
    return round(float(np.mean(np.linspace(1, 2, plain.size) * logarithms)), 6)


def recorded() -> dict[str, Any]:
    """Return the records by name of the study."""
    known: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return known


def moved(name: str, told: dict[str, float], known: dict[str, float]) -> list[str]:
    """Return the names of sizes that are farther from those on record than another machine's, or on one side only."""
    found = set(told) ^ set(known)
    for key in set(told) & set(known):
        loose = name in TIED or "width" in key
        found |= {key} if abs(told[key] - known[key]) > (MOVED if loose else ROUNDING) else set()
    return sorted(found)


def told(found: study.Study, read: study.Result, figures: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a study."""
    return {
        "words": words(read, figures),
        "sizes": {} if found.name in UNTOLD else sizes(read, figures),
        "spoils": failing(found, read),
    }


def main(names: list[str]) -> None:
    """Write the records of some studies, or of all."""
    import matplotlib.pyplot as plt

    known = recorded()
    sys.path.append(str(ROOT / "studies"))  # where pytest looks, too
    for name in names or NAMES:
        found = loaded(name)
        with tempfile.TemporaryDirectory() as folder:
            study.produce(found, found.quick, Path(folder) / "made")
            read = study.load(Path(folder) / "made")
        known[name] = told(found, read, {figure: draw(read.data) for figure, draw in found.figures.items()})
        plt.close("all")
        FILE.write_text(json.dumps(known, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
