"""Sentences of the stored findings of studies, without Sphinx."""

import json
from pathlib import Path

_DOCS = Path(__file__).parent
# Results at full size, and those of studies that the build runs at their quick size.
_FOLDERS = (_DOCS / "full_size", _DOCS / "_build" / "studies")


def file_of(study: str) -> Path | None:
    """Return the file of the findings of a study, or None if there are no results."""
    files = (folder / study / "findings.json" for folder in _FOLDERS)
    return next((file for file in files if file.is_file()), None)


def sentences(study: str) -> dict[str, str]:
    """Return the sentences of the findings of a study by their names, the title first."""
    file = file_of(study)
    found = json.loads(file.read_text(encoding="utf-8")) if file else {}
    return {name: one["sentence"] for name, one in found.items()}
