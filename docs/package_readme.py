"""README as the package index shows it: links and images lead to the documentation once its address is configured."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_RELATIVE = re.compile(r"\]\(docs/([^)#\s]+)")


class PackageReadme(MetadataHookInterface):
    """Hook of the build; the option ``documentation`` in pyproject.toml is the address."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the field ``readme``."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, self.config["documentation"])}


def absolute(text: str, address: str) -> str:
    """Return README with absolute links to the documentation; without an address they stay relative."""
    if not address:
        return text
    return _RELATIVE.sub(lambda link: f"]({address.rstrip('/')}/{re.sub(r'[.]md$', '.html', link[1])}", text)
