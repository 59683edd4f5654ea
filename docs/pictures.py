"""Pictures of pages: those that the code on a page saves, and the picture of the errata."""

import contextlib
import doctest
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import sphinx.application

MADE = Path("_static", "made")
_BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def draw(app: sphinx.application.Sphinx) -> None:
    """Run the code of each page that shows a picture saved by this code."""
    import matplotlib as mpl

    mpl.use("agg")
    folder = Path(app.srcdir) / MADE
    folder.mkdir(parents=True, exist_ok=True)
    for page in sorted(Path(app.srcdir).rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        wanted = set(re.findall(rf"{MADE.as_posix()}/([\w.]+)", text)) & set(re.findall(r'savefig\("([\w.]+)"', text))
        if any(not (folder / name).is_file() or _older(folder / name, page) for name in wanted):
            _run(text, folder)


def _older(picture: Path, page: Path) -> bool:
    return picture.stat().st_mtime < page.stat().st_mtime


def _run(text: str, folder: Path) -> None:
    namespace: dict[str, Any] = {"__name__": "page"}
    with _inside(folder), contextlib.redirect_stdout(io.StringIO()):
        for source, raises in _statements(text):
            with contextlib.suppress(*([Exception] if raises else [])):
                exec(compile(source, "page", "exec"), namespace)


def _statements(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the statements of a page, and whether the page shows an exception."""
    for language, block in _BLOCK.findall(text):
        if language == "python":
            yield block, False
        else:
            examples = doctest.DocTestParser().get_examples(block)
            yield from ((example.source, example.exc_msg is not None) for example in examples)


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def draw_errata(rows: Sequence[Mapping[str, Any]], picture: Path) -> None:
    """Draw the largest violation of each false printed statement as a bar, colored by paper."""
    import matplotlib.pyplot as plt

    from fedtheory import plotting

    errata = [row for row in rows if row["kind"] == "erratum"]
    papers = dict.fromkeys(row["key"].partition(":")[0] for row in errata)
    colors = dict(zip(papers, plotting.COLORS, strict=False))
    most = 1e4
    with plotting.appearance():
        figure, axes = plt.subplots(figsize=(8, 0.17 * len(errata) + 1))
        for place, row in enumerate(errata):
            paper, _, name = row["key"].partition(":")
            ratio = float(row["worst_ratio"] or 1.0)
            # Of an equality either side may be the larger one.
            ratio = 1 / ratio if row["relation"] == "==" and ratio < 1 else ratio
            shown = min(max(ratio, 1.02), most)
            axes.barh(place, shown - 1, left=1, color=colors[paper], label=paper)
            axes.text(
                shown * 1.08, place, name + (" (printed value 0)" if ratio > most else ""), va="center", fontsize=7
            )
        axes.set(xscale="log", xlim=(1, 4e7), ylim=(len(errata) - 0.4, -0.6), yticks=[])
        axes.set_xticks([1, 10, 100, 1000, 10000], labels=["1", "10", "100", "1,000", "10,000 or more"])
        axes.minorticks_off()
        axes.set_xlabel("true value divided by printed value, worst instance found")
        axes.grid(visible=False, axis="y")
        plotting.legend_below(figure, num_columns=3)
        figure.savefig(picture, dpi=150)
        plt.close(figure)


def setup(app: sphinx.application.Sphinx) -> dict[str, bool]:
    """Connect the hook."""
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True}
