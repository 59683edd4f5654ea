"""Forty errors planted into the library, one after the other, and the first test that fails for each.

``python -m tests.planted_errors draw`` draws the errors with a fixed seed and writes them to ``planted_errors.json``;
``run`` plants each into a copy of the tree and runs README's test command, the tests of its package first, until a test
fails. ``replace`` draws a new error of the same kind and package for each error whose code is gone.
"""

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "tests" / "planted_errors.json"
NUMBER, SEED = 40, 20261129
# Text for people, and machinery whose only purpose is a message, can be wrong without a wrong number.
_EXCLUDED = ("cli", "formal")
# Packages with compiled functions.
_COMPILED = ("_support", "engine", "exact", "federation", "methods", "sampling", "selection", "valuation", "worst_case")
_SYMMETRIC = ("isinstance", "max", "min", "zip", "contextlib.suppress")
_CLIENTS = ("i", "j", "k", "client")


@dataclass(frozen=True)
class Error:
    """An error: the function that it is planted into, and the line of code before and after.

    ``replaces`` names the file and the function of an earlier error whose code is gone.
    """

    kind: str
    file: str
    function: str
    before: str
    after: str
    caught_by: str = ""
    replaces: str = ""


def main() -> None:
    """Draw the errors, replace those whose code is gone, or run them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["draw", "replace", "run"])
    parser.add_argument("--only", type=int, nargs="*", help="numbers of the errors to run")
    parser.add_argument("--workers", default="auto")
    options = parser.parse_args()
    if options.what == "draw":
        _write(drawn())
        return
    errors = [Error(**one) for one in json.loads(LIST.read_text(encoding="utf-8"))]
    if options.what == "replace":
        _write(replaced(errors))
        return
    run(errors, list(range(len(errors))) if options.only is None else options.only, options.workers)
    print(f"{sum(bool(error.caught_by) for error in errors)} of {len(errors)} are caught")


def run(errors: list[Error], numbers: list[int], workers: str) -> None:
    """Find the first test that fails for each error: first among the tests of its package, then among all tests.

    The errors that the tests of their packages do not catch are planted together, and all tests run once. What fails
    runs again for each of them alone. So an error counts as not caught only if README's command passes with it.
    """
    for number in numbers:
        found = _first_failure(errors[number], _own_tests(errors[number]), workers)
        errors[number] = replace(errors[number], caught_by=found)
        _write(errors)
        print(number, errors[number].file, errors[number].kind, "->", found or "not by the tests of its package")
    left = [number for number in numbers if not errors[number].caught_by]
    failed = _failures([errors[number] for number in left], [], workers) if left else []
    print("with the others together:", *failed, sep="\n  ")
    for number in left if failed else []:
        errors[number] = replace(errors[number], caught_by=_first_failure(errors[number], failed, workers))
        _write(errors)
        print(number, errors[number].file, errors[number].kind, "->", errors[number].caught_by or "NOT CAUGHT")


def drawn() -> list[Error]:
    """Draw errors, at least one for each package."""
    rng = random.Random(SEED)
    folders = sorted({path.relative_to(ROOT / "fedtheory").parts[0] for path in (ROOT / "fedtheory").rglob("*.py")})
    packages = [name.removesuffix(".py") for name in folders]
    sites = {name: _sites_of(name) for name in packages if name not in _EXCLUDED and not name.startswith("__")}
    sites = {name: found for name, found in sites.items() if found}
    names = sorted(sites) + rng.choices(sorted(sites), [len(sites[name]) for name in sorted(sites)], k=NUMBER)
    kinds = sorted({site.kind for found in sites.values() for site in found})
    chosen: list[Error] = []
    for place, name in enumerate(names[:NUMBER]):
        chosen.append(_choice(rng, sites[name], kinds[place % len(kinds)], chosen))
    return chosen


def replaced(errors: list[Error]) -> list[Error]:
    """Draw a new error for each error whose code is gone: of its package, and of its kind where there is one."""
    errors = list(errors)
    for number, error in enumerate(errors):
        if _planted(ROOT, error) is None:
            rng = random.Random(SEED + number + 1)
            new = _choice(rng, _sites_of(Path(error.file).parts[1].removesuffix(".py")), error.kind, errors)
            errors[number] = replace(new, replaces=error.replaces or f"{error.file} {error.function}")
            print(f"{number}: {error.file} {error.function} is gone, {new.file} {new.function} takes its place")
    return errors


def _choice(rng: random.Random, sites: list[Error], kind: str, taken: list[Error]) -> Error:
    known = [(error.file, error.before, error.after) for error in taken]
    left = [site for site in sites if (site.file, site.before, site.after) not in known]
    return rng.choice([site for site in left if site.kind == kind] or left)


def _write(errors: list[Error]) -> None:
    rows = [{name: value for name, value in asdict(error).items() if value or name != "replaces"} for error in errors]
    LIST.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


@cache
def _sites_of(package: str) -> list[Error]:
    """Return every error that can be planted into a package, or into a module of the top level."""
    place = ROOT / "fedtheory" / package
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    return [site for path in files for site in _sites(path)]


def _sites(path: Path) -> Iterator[Error]:
    """Yield every error of one line that can be planted into the functions of a file."""
    text = path.read_text(encoding="utf-8")
    lines, file = text.splitlines(), path.relative_to(ROOT).as_posix()
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        for statement in function.body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue  # a docstring
            for node in ast.walk(statement):
                line = getattr(node, "lineno", 0)
                if not line or node.end_lineno != line or "message" in lines[line - 1]:  # type: ignore[attr-defined]
                    continue
                for kind, new in _changes(node, text):
                    old = lines[line - 1].encode()
                    start, end = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
                    changed = (old[:start] + new.encode() + old[end:]).decode()
                    if lines.count(old.decode()) == 1:
                        yield Error(kind, file, function.name, old.decode(), changed)


def _changes(node: ast.AST, text: str) -> Iterator[tuple[str, str]]:
    def source(part: ast.AST) -> str:
        return ast.get_source_segment(text, part) or ""

    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        signs = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
        sign = signs.get(type(node.ops[0]))  # type: ignore[call-overload]
        if sign:
            yield "off by one", f"{source(node.left)} {sign} {source(node.comparators[0])}"
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "range"
        and len(node.args) == 1
    ):
        yield "off by one", f"range({source(node.args[0])} - 1)"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        sign = "-" if isinstance(node.op, ast.Add) else "+"
        yield "sign", f"{source(node.left)} {sign} {source(node.right)}"
        yield "dropped term", source(node.left)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) and node.slice.id in _CLIENTS:
        yield "wrong client", f"{source(node.value)}[{node.slice.id} - 1]"
    if isinstance(node, ast.Call) and len(node.args) >= 2 and all(isinstance(one, ast.Name) for one in node.args[:2]):
        first, second, *rest = map(source, [*node.args, *node.keywords])
        if first != second and source(node.func) not in _SYMMETRIC:
            yield "swapped argument", f"{source(node.func)}({', '.join([second, first, *rest])})"


def _planted(tree: Path, error: Error) -> str | None:
    """Return the text of the file with the error; None if its line is gone or no longer unique."""
    file = tree / error.file
    if not file.is_file():
        return None
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if line.rstrip("\n") == error.before]
    if len(places) != 1:
        return None
    lines[places[0]] = error.after + "\n"
    return "".join(lines)


def _own_tests(error: Error) -> list[str]:
    package = Path(error.file).parts[1].removesuffix(".py")
    own = [f"tests/{package}", f"fedtheory/{package}", f"tests/test_{package}.py"]
    return [part for part in own if (ROOT / part).exists()]


def _first_failure(error: Error, tests: list[str], workers: str) -> str:
    failed = _failures([error], ["-x", *tests], workers) if tests else []
    return failed[0] if failed else ""


def _failures(errors: list[Error], arguments: list[str], workers: str) -> list[str]:
    """Plant errors into a copy of the tree, and return the test functions that fail."""
    folder = Path(tempfile.gettempdir(), "fedtheory-planted-errors")
    tree = folder / "tree"  # always the same, so that compiled code is found again
    _copy(tree)
    for error in errors:
        changed = _planted(tree, error)
        assert changed is not None
        (tree / error.file).write_text(changed, encoding="utf-8")
    # Numba's cache looks at one file only: where a function of another file may be compiled in, it starts empty.
    compiled = any(Path(error.file).parts[1] in _COMPILED for error in errors)
    paths = {"PYTHONPATH": str(tree), "NUMBA_CACHE_DIR": str((tree if compiled else folder) / "kernels")}
    command = [sys.executable, "-m", "pytest", "-q", "-n", workers, "-p", "no:cacheprovider", *arguments]
    ran = subprocess.run(command, cwd=tree, env={**os.environ, **paths}, capture_output=True, text=True, check=False)
    if ran.returncode in (0, 5):  # 5: no tests in these places
        return []
    found = re.findall(r"^(?:FAILED|ERROR) ([^\s\[]+)", ran.stdout, re.MULTILINE)
    return list(dict.fromkeys(found)) or [f"exit code {ran.returncode}"]


def _copy(tree: Path) -> None:
    """Copy the files that git knows, with their times, by which numba finds compiled code."""
    shutil.rmtree(tree, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name)


if __name__ == "__main__":
    main()
