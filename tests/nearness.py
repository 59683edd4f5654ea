"""Which tests are near a file: its own first, then those that import it, then those that import what imports it."""

import functools
import re
from collections.abc import Iterator
from pathlib import Path

from fedtheory.verification.catalogue import known_claims
from tests.test_layers import imports_of

ROOT = Path(__file__).resolve().parents[1]
# Whose tests also look, beside those of the package itself.
ALSO = {
    "bounds": ("tests/claims", "tests/exact"),  # the last of which asks what a bound promises a run
    "rational": ("tests/claims",),
    "selection": ("tests/exact",),
    "testing": ("tests/bounds", "tests/conformance"),
    "verification": ("tests/conformance",),
}
REFUSALS = ("tests/test_bad_inputs.py", "tests/test_one_wrong_entry.py")  # of all packages
QUICK_STUDY = "test_the_quick_study_keeps_its_checks_and_draws_the_same_figures_from_what_it_stored"
VERDICT = "tests/claims/test_claims.py::test_the_verdict_is_the_expected_one_on_the_instances_on_record"
SHARPENED = (
    "tests/claims/test_looseness.py"
    "::test_the_worst_known_instance_refutes_what_is_sharper_by_the_looseness_and_nothing_less"
)
SURFACE, DRAWS, CLAIMS = "tests/test_surface.py", "tests/test_draws.py", "tests/claims/test_claim_list.py"
VALUES, NUMBERS = "tests/test_values.py", ("engine", "estimates", "exact", "sampling", "selection", "valuation")
PROGRAMS = "tests/worst_case/test_programs.py"
RANDOM = ("conformance", "datasets", "federation", "rational", "testing", "verification")
MOST_NEAR = 3  # tests that are asked before it
MOST_TESTS = 8  # files, for a module beside the packages: half the library imports some of those
MOST_ELSEWHERE = 4  # of the tests of other packages that import a file


def checks_of(file: str, root: Path = ROOT) -> tuple[str, ...]:
    """What to run against the mutants of a file, nearest first."""
    path = Path(file)
    own = [*_own_tests(path, root), *_verdicts(path, root)]
    if path.parts[0] == "studies":
        return *own, *_tests_that_name(path.stem, root)
    package = path.parts[1]
    if not (root / "tests" / package).is_dir():
        nearest = unique([*own, *_by_distance(file, root)])[:MOST_TESTS] or ["tests"]
        return file, *nearest[:1], *_records(path, root), *nearest[1:]
    folders = (f"tests/{package}", *ALSO.get(package, ()))
    # What no import leads to has to come, too: some tests reach a module by scanning for it.
    everything = [
        str(test.relative_to(root)) for folder in folders for test in sorted((root / folder).rglob("test_*.py"))
    ]
    nearest = [test for test in _by_distance(file, root) if test in everything]
    # The package's own before those of others, which take longer.
    tests = sorted(unique([*own, *nearest, *everything]), key=lambda test: not test.startswith(folders[0]))
    elsewhere = [test for test in _that_import(path, root) if test not in everything][:MOST_ELSEWHERE]
    refusals = [test for test in REFUSALS if (root / test).exists()]
    return file, *unique([*tests[:MOST_NEAR], *_records(path, root), *tests, *refusals, *elsewhere])


def unique(names: list[str]) -> list[str]:
    """Keep the first of equals."""
    return list(dict.fromkeys(names))


def _records(path: Path, root: Path) -> Iterator[str]:
    """What was written down of all public modules, of the draws of some and of what others return."""
    if (root / DRAWS).exists() and path.parts[1] in RANDOM:
        yield DRAWS
    if (root / VALUES).exists() and path.parts[1] in NUMBERS:
        yield VALUES
    if (root / PROGRAMS).exists() and path.parts[1] == "worst_case":
        yield PROGRAMS
    if path.parts[1] == "claims":
        yield CLAIMS
    elif (root / SURFACE).exists():
        yield SURFACE


def _own_tests(path: Path, root: Path) -> Iterator[str]:
    """The tests that bear the name of the file."""
    if path.parts[0] == "studies":
        names = _studies_with(path.stem, root) if path.stem.startswith("_") else [path.stem]
        yield from (f"tests/test_studies.py::{QUICK_STUDY}[{name}]" for name in names)
    elif path.parts[1] == "_commands" or path.stem == "__main__":
        yield from ("tests/test_command_line.py", "tests/test_transcripts.py")
    elif path == Path("fedtheory/__init__.py"):  # from which every test imports, and none by name
        yield "tests/test_discover.py"
    else:
        folder, name = root / "tests" / Path(*path.parts[1:-1]), path.stem.strip("_")
        yield from (str(test.relative_to(root)) for test in sorted(folder.glob(f"test_*{name}*.py")))


def _studies_with(part: str, root: Path) -> list[str]:
    """The studies that import a part of theirs, directly or by another part."""
    importing = re.compile(rf"^\s*(?:from|import) {part}\b", re.MULTILINE)
    files = sorted((root / "studies").glob("*.py"))
    users = [file.stem for file in files if importing.search(file.read_text(encoding="utf-8"))]
    return unique([name for user in users for name in (_studies_with(user, root) if user[0] == "_" else [user])])


def _verdicts(path: Path, root: Path) -> Iterator[str]:
    """The verdicts on the claims that a file makes, or of those that import it, and on the same with sharper bounds."""
    if path.parts[1] in {"claims", "rational"}:
        claims, users = known_claims(), sorted(_importers(root).get(path, ()))
        texts = [(root / maker).read_text(encoding="utf-8") for maker in (path, *users) if maker.parts[1] == "claims"]
        made = [[key for key in claims if f'"{key}"' in text] for text in texts]
        keys = (
            made[0] if made and path.parts[1] == "claims" and made[0] else unique([key for own in made for key in own])
        )
        yield from (f"{VERDICT}[{key}]" for key in keys)
        yield from (f"{SHARPENED}[{key}]" for key in keys if claims[key].looseness is not None)


def _tests_that_name(name: str, root: Path) -> Iterator[str]:
    tests = sorted((root / "tests").glob("test_*.py"))
    yield from (str(test.relative_to(root)) for test in tests if name in test.read_text(encoding="utf-8"))


def _that_import(path: Path, root: Path) -> list[str]:
    """Files of tests that name a file as what they import from, those of no package first: they ask the same of all."""
    words = f"from {'.'.join(path.with_suffix('').parts)} import"
    tests = [test for test in (root / "tests").rglob("test_*.py") if words in test.read_text(encoding="utf-8")]
    named = [test.relative_to(root) for test in tests]
    return [str(test) for test in sorted(named, key=lambda test: (len(test.parts), test))]


def _by_distance(file: str, root: Path) -> Iterator[str]:
    """Files of tests by the number of imports between them and the file."""
    seen, ring = {Path(file)}, {Path(file)}
    while ring:
        ring = {importer for near in ring for importer in _importers(root).get(near, ())} - seen
        seen |= ring
        yield from (str(path) for path in sorted(ring) if path.name.startswith("test_"))


@functools.cache
def _importers(root: Path) -> dict[Path, set[Path]]:
    """Who imports a file, directly or by the name of its package."""
    files = [file.relative_to(root) for part in ("fedtheory", "tests") for file in sorted((root / part).rglob("*.py"))]
    found: dict[Path, set[Path]] = {}
    of_package: dict[str, list[Path]] = {}
    for file in (file for file in files if len(file.parts) > 2):
        of_package.setdefault(".".join(file.parent.parts), []).append(file)
    home = {".".join(file.with_suffix("").parts): [file] for file in files} | of_package
    for file in (file for file in files if file.name != "__init__.py"):
        module = ".".join(file.with_suffix("").parts)
        for _, name in imports_of((root / file).read_text(encoding="utf-8"), module):
            for target in home.get(name, home.get(name.rpartition(".")[0], [])):
                found.setdefault(target, set()).add(file)
    return found
