"""What these pages need beyond ready-made extensions: verdicts, and studies at their small size."""

import re
import types
from pathlib import Path

import sphinx.application


def quick_size(_: object, script: dict[str, str]) -> list[str]:
    """Return the command line under which the gallery runs a study: small, and away from the user's results."""
    # The gallery runs a study in the study's own folder, and prints where the results are.
    return ["--quick", "--force", "--output", f"../docs/_build/studies/{Path(script['src_file']).stem}"]


def write_verdicts(app: sphinx.application.Sphinx) -> None:
    """Verify the claims of every paper that has a theory page, and write one table for each."""
    from fedtheory.verification import known_claims, verdicts_of

    folder = Path(app.srcdir) / "theory"
    (folder / "generated").mkdir(exist_ok=True)
    for page in sorted(folder.glob("[!i]*.md")):
        prefix = page.stem.replace("_", "-") + ":"
        claims = {key: claim for key, claim in known_claims().items() if key.startswith(prefix)}
        lines = ["| Claim | Verdict | Ratio | Instances |", "| --- | --- | --: | --: |"]
        for verdict in verdicts_of(claims.values()):
            expectation = (
                "" if verdict.verdict == "holds" else ", as expected" if verdict.as_expected else ", **unexpected**"
            )
            lines.append(
                f"| `{verdict.key.removeprefix(prefix)}`<br>{plain(claims[verdict.key].title)} "
                f"| {verdict.verdict}{expectation} | {verdict.worst_ratio:.2g} | {verdict.num_applicable} |"
            )
        (folder / "generated" / page.name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def plain(text: str) -> str:
    """Keep Markdown from reading signs of mathematics as markup."""
    return re.sub(r"([|*_<>])", r"\\\1", text)


def is_type_alias(*event: object) -> bool | None:
    """Leave out aliases such as ``tuple[float, ...]``, which autodoc takes for classes with a signature."""
    value = event[3]
    return True if isinstance(value, types.GenericAlias) else None


def setup(app: sphinx.application.Sphinx) -> None:
    """Connect the hooks."""
    app.connect("builder-inited", write_verdicts)
    app.connect("autodoc-skip-member", is_type_alias)
