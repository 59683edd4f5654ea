"""Results of studies at full size, stored small, from which the gallery draws its pages.

``python -m docs.full_size results/NAME ...`` stores what ``python studies/NAME.py`` has written there, with prints of
quick runs. ``python -m docs.full_size --quick NAME ...`` makes the prints of stored results again.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from fedtheory import study
from fedtheory._files import json_writer, netcdf_writer, place, publish
from fedtheory._study_folder import CHECKS, DATA, METADATA, TABLE, plain_config
from tests.other_processors import HASWELL, OLDEST

ROOT = Path(__file__).parent.parent
STORED = ROOT / "docs" / "full_size"
# What is stored must not fill the repository; a study's data are kilobytes.
_LARGEST = 450_000
# A smaller array grows when it is packed.
_SMALL = 20_000
# A tenth of what tests allow.
_AGREEMENT = 1e-7


def prints(data: Any) -> dict[str, list[float]]:
    """Return how many numbers of a variable are finite and the sum of their sizes: by strategy, whole and at first."""
    found = {}
    for name, values in data.data_vars.items():
        if values.dtype.kind in "fiu":
            for label, part in _parts(str(name), values).items():
                finite = part.values[np.isfinite(part.values)]
                found[label] = [float(finite.size), float(np.abs(finite).sum())]
    return found


def _parts(name: str, values: Any) -> dict[str, Any]:
    # Of long runs, which amplify rounding until another client is selected, the first rounds are the same everywhere.
    parts = {name: values}
    for dim in ("strategy", "algorithm"):
        if dim in values.dims:
            parts = {f"{name} of {label}": values.isel({dim: i}) for i, label in enumerate(values[dim].values)}
    early = {f"{label}, at first": part.isel(round=slice(3)) for label, part in parts.items() if "round" in part.dims}
    return parts | early


def quick_prints(name: str) -> dict[str, list[float]]:
    """Return the prints of quick runs of a study, where these agree whatever processor they are made on.

    Times differ, and so may what a solver finds of a solution that is not determined, and who is selected of clients
    whose losses differ by rounding.
    """
    here, again, *others = (_prints_on(processor, name) for processor in ("", "", "haswell", "oldest"))
    return {
        variable: print_
        for variable, print_ in here.items()
        if again.get(variable) == print_
        and all(np.allclose(other[variable], print_, rtol=_AGREEMENT, atol=0) for other in others)
    }


def _prints_on(processor: str, name: str) -> dict[str, list[float]]:
    """Return the prints of one quick run in a process that takes this processor for another one."""
    code = f"import json; from docs.full_size import *; quick = loaded({name!r}).STUDY; "
    code += "print(json.dumps(prints(quick.run(quick.quick, study.silent))))"
    kernels = {"NUMBA_CACHE_DIR": str(ROOT / ".pytest_cache" / "d" / f"kernels-{processor}")}
    own = {"": {}, "haswell": HASWELL | kernels, "oldest": OLDEST | kernels}[processor]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **own}, check=True, capture_output=True, text=True
    )
    made: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return made


def refresh(name: str) -> Path:
    """Make the prints of a stored study again."""
    file = STORED / name / METADATA
    metadata = json.loads(file.read_text(encoding="utf-8"))
    place(file, json_writer({**metadata, "quick": quick_prints(name)}))
    return file


def store(folder: Path) -> Path:
    """Store the results in a folder, with the prints of quick runs."""
    found = study.load(folder)
    name = found.metadata["study"]
    asked = loaded(name).STUDY
    if found.metadata["config"] != plain_config(asked.config):
        message = f"{folder} must hold {name} at its full size, got other parameters"
        raise ValueError(message)
    metadata = {key: value for key, value in found.metadata.items() if key != "files"}
    target = STORED / name
    target.mkdir(parents=True, exist_ok=True)
    publish(
        target,
        {
            DATA: netcdf_writer(found.data, encoding=_packed(found.data)),
            TABLE: json_writer(found.table._asdict()),
            CHECKS: json_writer({check: held._asdict() for check, held in found.checks.items()}),
        },
        METADATA,
        {**metadata, "quick": quick_prints(name)},
    )
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
    """Store the results in each folder, or make prints again."""
    for folder in folders:
        if folder != "--quick":
            print(refresh(folder) if "--quick" in folders else store(Path(folder)))


if __name__ == "__main__":
    main(sys.argv[1:])
