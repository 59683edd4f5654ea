"""Pages of the API: one for each package, and one for each module that defines a public name."""

import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import fedtheory

if TYPE_CHECKING:
    import sphinx.application


def pages() -> dict[str, str]:
    """Return the text of each page, by the name of its package or module."""
    homes = (getattr(fedtheory, name) for name in fedtheory.__all__)
    return {name: text for home in homes if inspect.ismodule(home) for name, text in _pages_of(home).items()}


def _pages_of(home: ModuleType) -> dict[str, str]:
    if not hasattr(home, "__path__"):
        return {home.__name__: _module_page(home, _defined(home))}
    names = _exported(home)
    # A package that exports no names, such as ``bounds``, consists of the packages and modules that it exports.
    parts = [] if names else [part for _, part in inspect.getmembers(home, inspect.ismodule) if _lies_in(part, home)]
    found = {home.__name__: _package_page(home, parts, names)}
    for part in parts:
        found |= _pages_of(part)
    places = set(names.values())
    for module in {import_module(module) for module, _ in places if not _is_private(module)}:
        # Classes are documented even if they are not exported, since public functions return them.
        own = _defined(module)
        public = [name for name in own if (module.__name__, name) in places or inspect.isclass(getattr(module, name))]
        found[module.__name__] = _module_page(module, public)
    return found


def _lies_in(part: ModuleType, home: ModuleType) -> bool:
    return part.__name__.rpartition(".")[0] == home.__name__ and not _is_private(part.__name__)


def _is_private(module: str) -> bool:
    return module.rpartition(".")[2].startswith("_")


def _exported(home: ModuleType) -> dict[str, tuple[str, str]]:
    """Return the module and the name of each function and class that a package exports."""
    values = {name: getattr(home, name) for name in dir(home) if not name.startswith("_")}
    found = {name: (value.__module__, value.__name__) for name, value in values.items() if _is_documented(value)}
    return {name: place for name, place in found.items() if place[0].startswith("fedtheory.")}


def _defined(module: ModuleType) -> list[str]:
    own = {name: one for name, one in vars(module).items() if getattr(one, "__module__", "") == module.__name__}
    return [name for name, one in own.items() if not name.startswith("_") and _is_documented(one)]


def _is_documented(value: Any) -> bool:
    """Whether this is a function or a class with a docstring; named tuples made at run time have none of their own."""
    text = (value.__doc__ or "") if inspect.isclass(value) or inspect.isroutine(value) else ""
    return text != "" and not text.startswith(f"{value.__name__}(")


def _package_page(home: ModuleType, parts: list[ModuleType], names: dict[str, tuple[str, str]]) -> str:
    here = [name for name, (module, _) in names.items() if _is_private(module)]
    listed = [part.__name__ for part in parts]
    listed += [f"{home.__name__ if name in here else module}.{name}" for name, (module, _) in names.items()]
    below = [part.__name__ for part in parts] or sorted(
        {module for module, _ in names.values() if not _is_private(module)}
    )
    lines = [*_head(home), "   :no-members:", ""]
    if listed:
        # Full names are relative to no module.
        lines += [
            ".. currentmodule:: None",
            "",
            ".. autosummary::",
            "   :nosignatures:",
            "",
            *(f"   ~{name}" for name in listed),
            "",
        ]
    if below:
        lines += [".. toctree::", "   :hidden:", "", *(f"   {name.rpartition('.')[2]} <{name}>" for name in below), ""]
    for name in here:
        kind = "autoclass" if inspect.isclass(getattr(home, name)) else "autofunction"
        lines += [f".. {kind}:: {home.__name__}.{name}", ""]
    return "\n".join(lines)


def _module_page(module: ModuleType, names: list[str]) -> str:
    return "\n".join([*_head(module), f"   :members: {', '.join(names)}" if names else "   :no-members:", ""])


def _head(module: ModuleType) -> list[str]:
    return [module.__name__, "=" * len(module.__name__), "", f".. automodule:: {module.__name__}"]


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
