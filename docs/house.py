"""What these pages need beyond ready-made extensions: verdicts, and studies at their small size."""

from pathlib import Path

import sphinx.application


def quick_size(_: object, script: dict[str, str]) -> list[str]:
    """Return the command line under which the gallery runs a study: small, and away from the user's results."""
    output = Path(__file__).parent / "_build" / "studies" / Path(script["src_file"]).stem
    return ["--quick", "--force", "--output", str(output)]


def write_verdicts(app: sphinx.application.Sphinx) -> None:
    """Verify the claims of every paper that has a theory page, and write one table for each."""
    from fedtheory.verification.verdicts import known_claims, verdicts_of

    folder = Path(app.srcdir) / "theory"
    (folder / "generated").mkdir(exist_ok=True)
    for page in sorted(folder.glob("[!i]*.md")):
        prefix = page.stem.replace("_", "-") + ":"
        claims = {key: claim for key, claim in known_claims().items() if key.startswith(prefix)}
        lines = [
            "| Claim | What it says | Verdict | Expected | Instances | Ratio |",
            "| --- | --- | --- | --- | --: | --: |",
        ]
        for verdict in verdicts_of(claims.values()):
            title = claims[verdict.key].title.replace("|", r"\|")
            lines.append(
                f"| `{verdict.key.removeprefix(prefix)}` | {title} | {verdict.verdict} | {verdict.expected} "
                f"| {verdict.num_applicable} | {verdict.worst_ratio:.3g} |"
            )
        (folder / "generated" / page.name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def setup(app: sphinx.application.Sphinx) -> None:
    """Connect the hook."""
    app.connect("builder-inited", write_verdicts)
