"""Mutation testing: break the library in one place and see whether a test notices.

``--since REVISION`` samples mutants of the files that differ from a revision, ``--package NAME`` of a package (or of
``studies``), ``--files ...`` of files; ``--replay FILE#NUMBER`` shows one mutant and what the tests say about it. They
run in a scratch copy, against the doctests of the file and the tests of its package, until the first failure: those of
``.ci/run`` that take kernels as plain Python come first, because nothing is compiled for them. What survives is a hole
in the tests, or changes nothing.
"""

import argparse
import math
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from pathlib import Path

from tests.mutants import Mutant, mutants
from tests.nearness import checks_of

ROOT = Path(__file__).resolve().parents[1]
PARTS = (
    ".ci", "fedtheory", "studies", "tests", "docs", "README.md", "pyproject.toml", ".pre-commit-config.yaml",
    ".readthedocs.yaml",
)  # fmt: skip
STAGES = (0, 3, 8, 16, None)  # so many of the nearest tests are run first, then so many more
PASSED = (0, 5)  # all tests have passed, or there is none: not every file has doctests
KERNEL = re.compile(r"^@(compiled|compiled_with_reordering|inlined)\b", re.MULTILINE)
MOST_MEMORY = 2**33  # a mutant of a guard against large enumerations must not take the machine down


def of_file(file: str, root: Path = ROOT) -> list[Mutant]:
    """All mutants of a file of the project."""
    return mutants(file, (root / file).read_text(encoding="utf-8"))


def plain_python_tests(root: Path = ROOT) -> list[str]:
    """Return the files of tests that ``.ci/run`` also runs with all kernels as plain Python."""
    script = root / ".ci" / "run"
    named = re.search("^kernels='(.*)'$", script.read_text(encoding="utf-8"), re.MULTILINE) if script.exists() else None
    return named[1].split() if named else []


def sample(files: Iterable[str], number: int, seed: int, root: Path = ROOT) -> list[Mutant]:
    """Draw mutants of each package without repetition: a random kind, and a random one of that kind."""
    packages: dict[str, dict[str, list[Mutant]]] = {}
    for mutant in chain.from_iterable(of_file(file, root) for file in sorted(set(files))):
        packages.setdefault(mutant.package, {}).setdefault(mutant.kind, []).append(mutant)
    drawn = []
    for package, kinds in packages.items():
        rng = random.Random(f"{seed} {package}")
        for _ in range(min(number, sum(map(len, kinds.values())))):
            left = kinds[rng.choice(sorted(kind for kind in kinds if kinds[kind]))]
            drawn.append(left.pop(rng.randrange(len(left))))
    return drawn


class Laboratory:
    """A scratch copy of the project, in which one file at a time is mutated."""

    def __init__(self, scratch: Path, root: Path = ROOT, patience: float = 30) -> None:
        self.folder, self.kernels = scratch / "tree", scratch / "kernels"
        self.patience = patience  # seconds that every run may take beyond three times those of the honest one
        self.seconds: dict[tuple[str, bool], float] = {}
        self.in_plain_python = plain_python_tests(root)
        self.folder.mkdir()
        self.kernels.mkdir()
        made = shutil.ignore_patterns("__pycache__", "_build", "gallery", "generated", ".*")
        for part in PARTS:
            if (root / part).is_dir():
                shutil.copytree(root / part, self.folder / part, ignore=made)
            elif (root / part).exists():
                shutil.copy2(root / part, self.folder)

    def run(self, tests: Iterable[str], kernels: Path, *, plain: bool = False, seconds: float = 36_000) -> list[str]:
        """Run tests until the first failure, for at most so much processor time, and return the report if any fails."""
        # Two mutants may have the same length and second: the bytecode of one must not be taken for the other's.
        own = {"PYTHONPATH": str(self.folder), "NUMBA_CACHE_DIR": str(kernels), "PYTHONDONTWRITEBYTECODE": "1"}
        own |= {"NUMBA_DISABLE_JIT": str(int(plain))}
        command = [sys.executable, "-m", "pytest", "-xq", "-p", "no:cacheprovider", *tests]

        def limit() -> None:
            lower(resource.RLIMIT_CPU, math.ceil(seconds))
            lower(resource.RLIMIT_AS, MOST_MEMORY)

        done = subprocess.run(
            command, cwd=self.folder, env={**os.environ, "CI": "true", **own}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, preexec_fn=limit,
        )  # fmt: skip
        return (
            [*done.stdout.splitlines(), f"ended with code {done.returncode}"] if done.returncode not in PASSED else []
        )

    def judge(self, mutant: Mutant, tests: Sequence[str]) -> list[str]:
        """Return the report of the test that kills a mutant, or nothing.

        First the honest sources have to pass: that compiles the kernels and tells how much time a mutant may take.
        Most mutants die in the nearest tests, and what lies behind is not even run without them. A mutant of a kernel
        has to be compiled with all that calls it, so what is asked first are the tests that take it as plain Python.

        Raises
        ------
        SystemExit
            If the tests fail without any mutant.
        """
        compiles = KERNEL.search((self.folder / mutant.file).read_text(encoding="utf-8"))
        quick = [test for test in tests if compiles and test in self.in_plain_python]
        stages = [([test], True) for test in quick] + [(tests[start:end], False) for start, end in pairwise(STAGES)]
        for stage, plain in stages:
            if stage:
                seconds = self.patience + 3 * self.honest_seconds(stage, plain=plain)
                report = self.run_mutated(mutant, stage, plain=plain, seconds=seconds)
                if report:
                    return report
        return []

    def honest_seconds(self, tests: Sequence[str], *, plain: bool = False) -> float:
        """Return at least the processor time of some tests without any mutant; each is run once only."""
        new = [test for test in tests if (test, plain) not in self.seconds]
        before = processor_seconds()
        report = self.run(new, self.kernels, plain=plain) if new else []
        if report:
            raise SystemExit("\n".join([*report, "these tests fail without any mutant"]))
        self.seconds |= dict.fromkeys(((test, plain) for test in new), processor_seconds() - before)
        return sum({self.seconds[test, plain] for test in tests})

    def run_mutated(self, mutant: Mutant, tests: Iterable[str], *, plain: bool, seconds: float) -> list[str]:
        """Run tests against a mutant and return the report if any fails."""
        path, kernels = self.folder / mutant.file, self.kernels.with_name("kernels-of-the-mutant")
        honest = path.read_text(encoding="utf-8")
        # Kernels that the mutant does not reach are kept. Links will do: numba replaces files and writes into none.
        shutil.copytree(self.kernels, kernels, copy_function=os.link)
        try:
            path.write_text(mutant.apply(honest), encoding="utf-8")
            return self.run(tests, kernels, plain=plain, seconds=seconds)
        finally:
            path.write_text(honest, encoding="utf-8")
            shutil.rmtree(kernels)


def lower(kind: int, most: int) -> None:
    """Lower a limit of this process, which is lower already where its tests are among those that judge a mutant."""
    known = resource.getrlimit(kind)[1]
    most = most if known == resource.RLIM_INFINITY else min(most, known)
    resource.setrlimit(kind, (most, most))


def killer(report: list[str]) -> str:
    """Name the test that failed."""
    named = [line.split(" - ")[0] for line in report if line.startswith(("FAILED", "ERROR"))]
    return (named or report[-1:] or ["SURVIVED"])[0]


def processor_seconds() -> float:
    """Return the processor time of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def chosen(options: argparse.Namespace) -> list[str]:
    """Files that the options name, and that still exist."""
    files = list(options.files)
    for package in options.package:
        folder = ROOT / ("studies" if package == "studies" else f"fedtheory/{package}")
        files += [str(file.relative_to(ROOT)) for file in sorted(folder.rglob("*.py"))]
    if options.since:
        changed = ["git", "diff", "--name-only", "--relative", options.since, "--", "fedtheory", "studies"]
        shown = subprocess.run(changed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        files += [file for file in shown.splitlines() if file.endswith(".py")]
    return [file for file in files if (ROOT / file).exists()]


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__)
    parser.add_argument("--since", metavar="REVISION", help="files that differ from this revision")
    parser.add_argument("--package", action="append", default=[], help="all files of a package; may be repeated")
    parser.add_argument("--files", nargs="+", default=[], help="files by path")
    parser.add_argument("--number", type=int, default=20, help="mutants of each package (20)")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other mutants (0)")
    parser.add_argument("--replay", metavar="FILE#NUMBER", help="one mutant, with the report of the test that kills it")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return how many mutants survived, at most 100."""
    options = parsed(arguments)
    file, _, number = (options.replay or "").partition("#")
    drawn = [of_file(file)[int(number)]] if file else sample(chosen(options), options.number, options.seed)
    survivors, scores = [], dict.fromkeys((mutant.package for mutant in drawn), (0, 0))
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        laboratory = Laboratory(Path(scratch))
        for mutant in drawn:
            report = laboratory.judge(mutant, checks_of(mutant.file))
            print(f"{killer(report):100.100} {mutant.kind:10} {mutant.name}", flush=True)
            if options.replay:
                print(*report, sep="\n")
            survivors += [] if report else [mutant]
            killed, tried = scores[mutant.package]
            scores[mutant.package] = killed + bool(report), tried + 1
    for mutant in survivors:
        print(f"\n{mutant.name} ({mutant.kind})\n{mutant.diff((ROOT / mutant.file).read_text(encoding='utf-8'))}")
    print(f"\n{'package':15} killed")
    for package, (killed, tried) in scores.items():
        print(f"{package:15} {killed:3} of {tried:3}, {killed / tried:.0%}")
    return min(len(survivors), 100)


if __name__ == "__main__":
    sys.exit(main())
