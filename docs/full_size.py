"""Results of studies at full size, stored small, from which the gallery draws its pages.

``python -m docs.full_size results/NAME ...`` stores what ``python studies/NAME.py`` has written there.
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
_LARGEST = 450_000
# A smaller array grows when it is packed.
_SMALL = 20_000


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
    Folder(target).write(found._replace(metadata=metadata), {}, _packed(found.data))
    size = (target / DATA).stat().st_size
    if size > _LARGEST:
        shutil.rmtree(target)
        message = f"stored results must be at most {_LARGEST} bytes, got {size} of {name}"
        raise ValueError(message)
    return target


def _packed(data: Any) -> dict[str, dict[str, Any]]:
    # The last digits of random numbers do not pack. What has no room with all of them is kept in single precision.
    large = {name for name, one in data.variables.items() if one.dtype.kind == "f" and one.nbytes > _LARGEST}
    return {
        str(name): {"zlib": True, "complevel": 9, "shuffle": True, **({"dtype": "float32"} if name in large else {})}
        for name, one in data.variables.items()
        if one.dtype.kind in "fiu" and one.nbytes > _SMALL
    }


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


def main(folders: Sequence[str]) -> None:
    """Store the results in each folder."""
    for folder in folders:
        print(store(Path(folder)))


if __name__ == "__main__":
    main(sys.argv[1:])
