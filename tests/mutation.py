"""Mutation testing of a package with cosmic-ray: ``python -m tests.mutation sampling``.

The tree is copied first, since cosmic-ray changes the files in place.
"""

import argparse
import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# A change of an annotation or of a decorator either ends the import, which any test sees, or changes no value.
CONFIGURATION = """
[cosmic-ray]
module-path = "fedtheory/{package}"
timeout = {timeout}
excluded-modules = []
test-command = "python -m pytest -q -x -n 0 -p no:cacheprovider tests/{package} fedtheory/{package}"
distributor.name = "local"
filters.operators-filter.exclude-operators = ["core/RemoveDecorator", "core/ReplaceBinaryOperator_BitOr_.*"]
"""


def main() -> None:
    """Copy the tree, draw changes, try each one, and show those that no test saw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", help="a folder of fedtheory/ that tests/ has, too")
    parser.add_argument("--sample", type=int, default=25, help="how many changes to try")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--session", type=Path, default="mutation.sqlite", help="what cosmic-ray's own commands read")
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds for each; later it counts as seen")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "results", "_build"))
        Path(tree, "mutation.toml").write_text(CONFIGURATION.format(**vars(options)), encoding="utf-8")
        session = str(options.session.resolve())
        run(tree, "cosmic-ray", "init", "mutation.toml", session, "--force")
        run(tree, "cr-filter-operators", session, "mutation.toml")
        keep(session, options.sample, options.seed)
        run(tree, "cosmic-ray", "exec", "mutation.toml", session)
        run(tree, "cr-report", session, "--show-diff", "--surviving-only")


def keep(session: str, sample: int, seed: int) -> None:
    """Leave a random sample of the changes."""
    from cosmic_ray.work_db import use_db

    with use_db(session) as work:
        # They come in any order, with ids that no other session has.
        changes = sorted(work.pending_work_items, key=lambda item: repr(item.mutations))
        work.clear()
        work.add_work_items(random.Random(seed).sample(changes, min(sample, len(changes))))


def run(tree: Path, *command: str) -> None:
    """Run a command in the copy, whose package comes before an installed one."""
    subprocess.run(command, cwd=tree, env={**os.environ, "PYTHONPATH": str(tree)}, check=True)


if __name__ == "__main__":
    main()
