"""Of every bound the theorem that Coq has checked, what it assumes beyond the bound, and what holds in print."""

from collections.abc import Iterator
from importlib import import_module

from fedtheory._support.discover import members
from fedtheory.formal import PRINTED, PROVED, REFUTED
from fedtheory.theorem.bound import is_bound
from fedtheory.verification import known_bounds
from fedtheory.verification.renderings import escaped


def rows() -> Iterator[str]:
    """Yield the lines of the table, which names each theorem by its file and its name; bounds without one come last."""
    homes = {bound: name for name, bound in members(import_module("fedtheory.bounds"), is_bound)}
    for name, bound in sorted(known_bounds().items(), key=lambda item: (item[0] not in {**PROVED, **REFUTED}, item[0])):
        linked = f"{{py:func}}`{name} <{homes[bound]}>`" if bound in homes else f"`{name}`"
        theorem = PROVED.get(name) or REFUTED.get(name)
        if theorem is None:
            yield f"| {linked} | not yet | | | | |"
            continue
        verdict = "proved" if name in PROVED else "false"
        print_of = escaped(str(PRINTED[name])) if name in PRINTED else ""
        assumes = escaped(theorem.assumes)
        yield f"| {linked} | {verdict} | `{theorem.file}` | `{theorem.name}` | {assumes} | {print_of} |"


def table() -> str:
    """Return the table of the page."""
    titles = (
        "Bound | Verdict | File | Theorem | Assumed beyond the hypotheses of the bound | Printed form, if it differs"
    )
    return "\n".join([f"| {titles} |", "| --- | --- | --- | --- | --- | --- |", *rows(), ""])
