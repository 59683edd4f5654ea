"""Say to type checkers and editors what the open packages offer, which is found by scanning when the code runs.

``python -m tests.stubs`` writes an ``__init__.pyi`` beside the ``__init__.py`` of every open package.
"""

import importlib
from pathlib import Path
from types import ModuleType

import fedtheory
from fedtheory._support.discover import modules, surface
from tests.environment import ROOT

HEAD = '"""What {package} offers; written by ``python -m tests.stubs``."""\n'


def open_packages() -> list[ModuleType]:
    """Packages whose names are found by scanning; claims are asked for by their keys."""
    found = [module for module in modules(fedtheory) if hasattr(module, "__path__")]
    return [package for package in found if not package.__name__.startswith("fedtheory.claims")]


def stub(package: ModuleType) -> str:
    """Return the text of a package's stub: explicit imports of what it offers lazily, and of what it imports itself."""
    name, folder = package.__name__, package.__path__[0]
    rooms = [room for room in dir(package) if isinstance(getattr(package, room), ModuleType)]
    offered = surface(folder) if len(rooms) < len(dir(package)) else {}
    own = [name for name in vars(package) if name.isupper()]
    lines = [f"from {name} import {room} as {room}" for room in rooms]
    lines += [f"from {name}._words import {word} as {word}" for word in own]
    lines += [f"from {name}.{module} import {offer} as {offer}" for offer, module in sorted(offered.items())]
    return "\n".join([HEAD.format(package=name), *sorted(lines)]) + "\n"


def path(package: ModuleType) -> Path:
    """Return where a package's stub stands."""
    return Path(package.__path__[0]) / "__init__.pyi"


if __name__ == "__main__":
    for found in open_packages():
        path(importlib.import_module(found.__name__)).write_text(stub(found), encoding="utf-8")
        print(path(found).relative_to(ROOT))
