"""The command line: ``python -m fedtheory list | show | bound | worst | verify``.

Only ``argparse`` is imported before the arguments are understood, so that ``--help`` answers at once.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from fedtheory.paper import Bound
    from fedtheory.verification.claims import Claim

__all__ = ["main"]

_PROGRAM = "python -m fedtheory"
_USAGE = """\
list                                  the claims and the bounds
show KEY                              a claim with its verdict, or a bound with its formula
bound NAME --PARAMETER VALUE ...      the value of a bound and its summands
worst NAME --PARAMETER VALUE ...      the promise of a bound beside the exact worst case of its class
verify [KEY ...]                      verdicts on the claims that keys, prefixes or patterns (*) name
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return 0, or 1 if a verdict is not the expected one. Wrong usage leaves with 2 and one line."""
    parser = _parser()
    arguments, rest = parser.parse_known_args(argv)
    if rest and arguments.command not in ("bound", "worst"):
        _refuse(f"unknown arguments {' '.join(rest)}")
    try:
        if arguments.command == "list":
            return _list()
        if arguments.command == "show":
            return _show(arguments.key)
        if arguments.command == "bound":
            return _bound(arguments.name, rest, printed=arguments.printed, loose=arguments.loose)
        if arguments.command == "worst":
            return _worst(arguments.name, rest, arguments.instance, force=arguments.force)
        return _verify(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130


def _parser() -> argparse.ArgumentParser:
    # Without a usage text argparse's complaints are one line; the help says the usage in its description.
    parser = argparse.ArgumentParser(
        prog=_PROGRAM,
        usage=argparse.SUPPRESS,
        description=_USAGE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, about: str) -> argparse.ArgumentParser:
        return commands.add_parser(
            name, help=about, description=about, usage=argparse.SUPPRESS, prog=_PROGRAM, allow_abbrev=False
        )

    command("list", "list the claims and the bounds")
    show = command("show", "show a claim with its verdict and worst instance, or a bound with its formula")
    show.add_argument("key", metavar="KEY", help="key of a claim or name of a bound, see list")
    bound = command("bound", "evaluate a bound; its parameters are options, for example --num-steps 1000 --mu 0.5")
    bound.add_argument("name", metavar="NAME", help="name of the bound, for example power_of_choice.decaying_steps_gap")
    bound.add_argument("--printed", action="store_true", help="the form printed in the paper, where it differs")
    bound.add_argument("--loose", action="store_true", help="evaluate even if hypotheses are unmet, and name these")
    _worst_options(command("worst", "compare a bound's promise with the proved worst case of its class"))
    _verify_options(command("verify", "reach verdicts; exit code 1 if one is not the expected one"))
    return parser


def _worst_options(worst: argparse.ArgumentParser) -> None:
    worst.add_argument("name", metavar="NAME", help="name of the bound, for example power_of_choice.one_round")
    worst.add_argument("--instance", type=Path, metavar="FILE", help="also write the federation that attains it")
    worst.add_argument("--force", action="store_true", help="overwrite the file")


def _verify_options(verify: argparse.ArgumentParser) -> None:
    verify.add_argument("keys", nargs="*", metavar="KEY", help="key, prefix or pattern; all claims by default")
    verify.add_argument("--budget", choices=("quick", "thorough"), default="quick", help="how many instances")
    verify.add_argument("--seed", type=int, default=0, help="seed of the instances (default 0)")
    verify.add_argument("--json", type=Path, metavar="FILE", help="also write the verdicts to a file")
    verify.add_argument("--force", action="store_true", help="overwrite the file")


def _refuse(message: str) -> NoReturn:
    sys.stderr.write(f"{_PROGRAM}: error: {' '.join(message.split())}\n")
    raise SystemExit(2)


def _list() -> int:
    from fedtheory._console import show_table
    from fedtheory.verification.catalogue import known_bounds, known_claims

    claims = [
        {"claim": claim.key, "kind": claim.kind, "expected": claim.expected, "title": claim.title}
        for claim in known_claims().values()
    ]
    bounds = [
        {"bound": name, "source": str(bound.statement), "printed form differs": _yes(bound.printed is not bound)}
        for name, bound in known_bounds().items()
    ]
    for rows in filter(None, (claims, bounds)):
        show_table(rows)
    return 0


def _yes(holds: bool) -> str:
    return "yes" if holds else ""


def _show(key: str) -> int:
    from fedtheory.verification.catalogue import close_to, known_bounds, known_claims

    claims, bounds = known_claims(), known_bounds()
    if key in claims:
        return _show_claim(claims[key])
    if key in bounds:
        checked = [claim.key for claim in claims.values() if claim.bound in (bounds[key], bounds[key].printed)]
        _write(
            [
                ("name", key),
                ("source", str(bounds[key].statement)),
                *(("assumes", hypothesis.text) for hypothesis in bounds[key].hypotheses),
                *(("implies", consequence.text) for consequence in bounds[key].consequences),
                *_formulas(bounds[key]),
                *(("checked by", name) for name in checked),
            ]
        )
        return 0
    _refuse(f"KEY must be a claim or a bound, got {key!r}{close_to(key, [*claims, *bounds])}")


def _show_claim(claim: "Claim") -> int:
    from fedtheory.verification.renderings import description, rows
    from fedtheory.verification.verdicts import examine

    verdict = examine(claim)
    [row] = rows([verdict])
    _write(
        [
            ("claim", row["key"]),
            ("title", row["title"]),
            ("kind", row["kind"]),
            ("source", row["source"]),
            *(("assumes", text) for text in row["hypotheses"]),
            *([] if claim.bound is None else _formulas(claim.bound)),
            *([("remark", row["remark"])] if row["remark"] else []),
            *description(row),
        ]
    )
    return 0 if verdict.as_expected else 1


def _formulas(bound: "Bound") -> list[tuple[str, str]]:
    rows = [("bound", str(bound.symbolic()))]
    if bound.printed is not bound:
        rows.append(("printed as", str(bound.printed.symbolic())))
    return rows


def _write(rows: Iterable[tuple[str, str]]) -> None:
    previous = ""
    for name, text in rows:
        sys.stdout.write(f"{'' if name == previous else name:<17} {text}".rstrip() + "\n")
        previous = name


def _bound(name: str, rest: Sequence[str], *, printed: bool, loose: bool) -> int:
    from fedtheory._console import show_table
    from fedtheory.verification.catalogue import close_to, known_bounds

    bounds = known_bounds()
    if name not in bounds:
        _refuse(f"NAME must be a bound, got {name!r}{close_to(name, bounds)}")
    bound = bounds[name].printed if printed else bounds[name]
    given = _given(bound, rest)
    try:
        value, unmet = bound(**given, strict=False)
        if unmet and not loose:
            _refuse(f"{bound.statement.number} needs {unmet[0]}")
        rows = [{"summand": "unmet hypothesis", "value": text} for text in unmet]
        if not unmet:
            rows = [{"summand": part, "value": _number(summand)} for part, summand in bound.terms(**given).items()]
    except (ValueError, TypeError) as error:
        _refuse(str(error))
    _write([("bound", name), ("source", str(bound.statement))])
    show_table([*rows, {"summand": "total", "value": _number(value)}])
    return 0


def _worst(name: str, rest: Sequence[str], target: Path | None, *, force: bool) -> int:
    from fedtheory._console import show_table
    from fedtheory._files import json_writer
    from fedtheory.verification.catalogue import close_to, known_bounds
    from fedtheory.worst_case.promises import CONFRONTED, confront

    bounds = {known: bound for known, bound in known_bounds().items() if any(bound is way for way in CONFRONTED)}
    if name not in bounds:
        _refuse(f"NAME must be a bound whose worst case is known, got {name!r}{close_to(name, bounds)}")
    _writable(target, "--instance", force=force)
    try:
        found = confront(bounds[name], **_given(bounds[name], rest))
        instance = found.worst.instance().as_data() if target is not None else None
    except (ValueError, TypeError) as error:
        _refuse(str(error))
    _write(
        [("bound", name), ("source", str(bounds[name].statement)), ("remark", found.remark)][: 2 + bool(found.remark)]
    )
    show_table(found.rows())
    if target is not None:
        json_writer(instance)(target)
    return 0


def _writable(target: Path | None, option: str, *, force: bool) -> None:
    if target is not None and ((target.exists() and not force) or not target.absolute().parent.is_dir()):
        _refuse(f"{option} must name a new file in an existing folder (--force overwrites), got {target}")


def _number(value: Any) -> str:
    return f"{value} = {float(value):.6g}" if isinstance(value, Fraction) else f"{value:.10g}"


def _given(bound: "Bound", rest: Sequence[str]) -> dict[str, Any]:
    import inspect

    from fedtheory.verification.catalogue import close_to

    parameters = [name for name in inspect.signature(bound).parameters if name != "strict"]
    required = [
        name for name in parameters if inspect.signature(bound).parameters[name].default is inspect.Parameter.empty
    ]
    given: dict[str, Any] = {}
    for option, text in _pairs(rest):
        name = option.removeprefix("--").replace("-", "_")
        if name not in parameters:
            _refuse(f"unknown parameter {option}{close_to(option, map(_option, parameters))}")
        given[name] = _value(name, text, is_count=bound.domains[name].assumptions.get("integer", False))
    missing = [_option(name) for name in required if name not in given]
    if missing:
        _refuse(f"{bound.__name__} needs {' '.join(missing)}")
    return given


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _pairs(rest: Sequence[str]) -> list[tuple[str, str]]:
    words = [part for word in rest for part in (word.split("=", 1) if word.startswith("--") else [word])]
    if len(words) % 2:
        _refuse(f"parameters must come in pairs --NAME VALUE, got {' '.join(rest)}")
    return list(zip(words[::2], words[1::2], strict=True))


def _value(name: str, text: str, *, is_count: bool) -> Any:
    wanted = "a whole number" if is_count else "a number such as 0.5, 1e-3 or 2/3"
    try:
        return int(text) if is_count else Fraction(text) if "/" in text else float(text)
    except (ValueError, ZeroDivisionError):
        _refuse(f"{_option(name)} must be {wanted}, got {text!r}")


def _verify(arguments: argparse.Namespace) -> int:
    from fedtheory._console import live_progress, show_table
    from fedtheory._files import json_writer
    from fedtheory.verification.catalogue import select_claims
    from fedtheory.verification.renderings import console_rows, notes, rows, summary
    from fedtheory.verification.verdicts import examine

    target = arguments.json
    _writable(target, "--json", force=arguments.force)
    if arguments.seed < 0:
        _refuse(f"--seed must be at least 0, got {arguments.seed}")
    try:
        selected = select_claims(arguments.keys or None)
    except ValueError as error:
        _refuse(str(error))
    with live_progress() as wrap:
        verdicts = [
            examine(claim, claim.num_instances(arguments.budget), arguments.seed) for claim in wrap(selected, "claims")
        ]
    found = rows(verdicts)
    show_table(console_rows(found), caption=summary(found))
    sys.stdout.writelines(f"{note}\n" for note in notes(found))
    if target is not None:
        json_writer(found)(target)
    return 0 if all(verdict.as_expected for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
