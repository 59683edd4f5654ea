"""Reading a study from a file."""

import importlib.util
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from fedtheory.study.scripts import Study


@lru_cache(maxsize=8)
def read_study(path: str) -> Study:
    """Run a script as a module and return its ``STUDY``; modules in its folder can be imported.

    It raises ValueError if the script raises or has no study.

    >>> import tempfile
    >>> text = "from fedtheory.study import Study; STUDY = Study('empty', None, None, None, None, None)"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "empty.py").write_text(text)
    ...     read_study(str(Path(folder, "empty.py"))).name
    'empty'
    """
    name, folder = f"study_{Path(path).stem}", str(Path(path).parent)
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None or not Path(path).is_file():
        message = f"a study must be a Python file, got {path}"
        raise ValueError(message)
    module: Any = importlib.util.module_from_spec(specification)
    # A dataclass looks up its module while it is created.
    sys.modules[name] = module
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        specification.loader.exec_module(module)
    except Exception as error:  # the file may raise anything
        why = " ".join(f"{type(error).__name__}: {error}".split())
        message = f"a study must be in a file that runs, got {path}, which raises {why}"
        raise ValueError(message) from error
    study = getattr(module, "STUDY", None)
    if not isinstance(study, Study):
        message = f"a study's file must have a STUDY, got none in {path}"
        raise ValueError(message)
    return study
