"""Pages of the API: one for each package, and one for each module that defines names which the package exports."""

import importlib
import inspect
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import fedtheory

if TYPE_CHECKING:
    import sphinx.application

Names = list[tuple[str, str]]


def pages() -> dict[str, str]:
    """Return the text of each page, by the name of its package or module."""
    values = (getattr(fedtheory, name) for name in fedtheory.__all__)
    # A function may have the name of its package.
    homes = [one if inspect.ismodule(one) else importlib.import_module(one.__module__) for one in values]
    packages = dict.fromkeys(home for home in homes if home.__name__.count(".") == 1)
    return {name: text for home in packages for name, text in _pages_of(home).items()}


def _pages_of(home: ModuleType) -> dict[str, str]:
    names = _exported(home)
    if not hasattr(home, "__path__"):
        return {home.__name__: _module_page(home.__name__, [name for module, name in names if module == home.__name__])}
    # A package that exports no names, such as ``bounds``, consists of the packages and modules that it exports.
    parts = [] if names else [part for _, part in inspect.getmembers(home, inspect.ismodule) if _lies_in(part, home)]
    found = {home.__name__: _package_page(home, parts, names)}
    for part in parts:
        found |= _pages_of(part)
    for module, group in groupby(sorted(names), key=lambda place: place[0]):
        if _has_page(module, home):
            found[module] = _module_page(module, [name for _, name in group])
    return found


def _exported(home: ModuleType) -> Names:
    """Return the modules and the names of the functions and classes that a package exports."""
    values = [getattr(home, name) for name in dir(home) if not name.startswith("_")]
    documented = [value for value in values if inspect.isclass(value) or inspect.isroutine(value)]
    return [(one.__module__, one.__name__) for one in documented if one.__module__.startswith(home.__name__)]


def _lies_in(part: ModuleType, home: ModuleType) -> bool:
    return part.__name__.rpartition(".")[0] == home.__name__ and not _is_private(part.__name__)


def _has_page(module: str, home: ModuleType) -> bool:
    """Whether a module has a page; names of private modules, and of a package itself, are on the package's page."""
    return not _is_private(module) and module != home.__name__


def _is_private(module: str) -> bool:
    return module.rpartition(".")[2].startswith("_")


def _package_page(home: ModuleType, parts: list[ModuleType], names: Names) -> str:
    here = [name for module, name in names if not _has_page(module, home)]
    listed = [part.__name__ for part in parts]
    listed += [f"{home.__name__ if name in here else module}.{name}" for module, name in names]
    below = [part.__name__ for part in parts] or sorted({module for module, _ in names if _has_page(module, home)})
    lines = [*_head(home.__name__), "   :no-members:", ""]
    if listed:
        # Full names are relative to no module.
        lines += [".. currentmodule:: None", "", ".. autosummary::", "   :nosignatures:", ""]
        lines += [*(f"   ~{name}" for name in listed), ""]
    if below:
        entries = (f"   {name.rpartition('.')[2]} <{name}>" for name in below)
        lines += [".. toctree::", "   :hidden:", "", *entries, ""]
    for name in here:
        kind = "autoclass" if inspect.isclass(getattr(home, name)) else "autofunction"
        lines += [f".. {kind}:: {home.__name__}.{name}", *(["   :members:"] if kind == "autoclass" else []), ""]
    return "\n".join(lines)


def _module_page(module: str, names: list[str]) -> str:
    return "\n".join([*_head(module), f"   :members: {', '.join(names)}", "   :ignore-module-all:", ""])


def _head(module: str) -> list[str]:
    return [module, "=" * len(module), "", f".. automodule:: {module}"]


def write(folder: Path, texts: dict[str, str]) -> None:
    """Write the pages that changed, and delete those of modules that no longer exist."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        if file.stem not in texts:
            file.unlink()
    for name, text in texts.items():
        file = folder / f"{name}.rst"
        # An unchanged page keeps its time, so that Sphinx does not read it again.
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def write_all(app: "sphinx.application.Sphinx") -> None:
    """Write the pages of all public packages and modules."""
    write(Path(app.srcdir, "api", "generated"), pages())


def setup(app: "sphinx.application.Sphinx") -> dict[str, bool]:
    """Connect the hook."""
    app.connect("builder-inited", write_all)
    return {"parallel_read_safe": True}
