"""Results of studies at full size, stored small, from which the gallery draws its pages.

``python -m docs.full_size results/NAME ...`` stores what ``python studies/NAME.py`` has written there, and the two
pictures of README.
"""

import importlib.util
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from fedtheory import study
from fedtheory.study._folder import DATA, Folder
from fedtheory.study.scripts import plain_config

ROOT = Path(__file__).parent.parent
STORED = ROOT / "docs" / "full_size"
# What is stored must not fill the repository; a study's data are kilobytes.
_LARGEST = 750_000
# A larger array is kept in single precision: the last digits of random numbers say nothing.
_LARGE_ARRAY = 450_000


def store(folder: Path) -> Path:
    """Store the results in a folder."""
    found = study.load(folder)
    name = found.metadata["study"]
    asked = loaded(name).STUDY
    if found.metadata["config"] != plain_config(asked.config):
        message = f"{folder} must hold {name} at its full size, got other parameters"
        raise ValueError(message)
    metadata = {key: value for key, value in found.metadata.items() if key != "files"}
    target = STORED / name
    target.mkdir(parents=True, exist_ok=True)
    Folder(target).write(found._replace(metadata=metadata, data=_shortened(found.data)), {})
    size = (target / DATA).stat().st_size
    if size > _LARGEST:
        shutil.rmtree(target)
        message = f"stored results must be at most {_LARGEST} bytes, got {size} of {name}"
        raise ValueError(message)
    return target


def _shortened(data: Any) -> Any:
    large = [name for name, one in data.variables.items() if one.dtype == "float64" and one.nbytes > _LARGE_ARRAY]
    return data.assign({name: data[name].astype("float32", keep_attrs=True) for name in large})


def loaded(name: str) -> ModuleType:
    """Return the module of a study."""
    folder = ROOT / "studies"
    sys.path.insert(0, str(folder))
    specification = importlib.util.spec_from_file_location(f"studies.{name}", folder / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # where a dataclass looks for the module that it is made in
    specification.loader.exec_module(module)
    return module


def draw_map(picture: Path) -> None:
    """Draw the map of the published rates for README, as wide as its numbers are readable in a column of text."""
    figure = loaded("published_rates").STUDY.figures["published_rates"](study.load(STORED / "published_rates").data)
    figure.set_size_inches(11, 5.6)
    figure.savefig(picture, dpi=120)


def main(folders: Sequence[str]) -> None:
    """Store the results in each folder, and the two pictures of README."""
    pictures = ROOT / "docs" / "_static"
    for folder in map(Path, folders):
        print(store(folder))
        if (folder / "bound_versus_error.png").exists():
            shutil.copy(folder / "bound_versus_error.png", pictures)
    draw_map(pictures / "published_rates.png")


if __name__ == "__main__":
    main(sys.argv[1:])
