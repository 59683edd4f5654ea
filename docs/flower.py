"""Table of Flower's strategies and the rules of their papers."""

import json
from pathlib import Path
from typing import Any

STORED = Path(__file__).with_name("flower.json")
HEAD = "| Strategy | Rule | Source | Result |\n| --- | --- | --- | --- |\n"


def table() -> str:
    """Return the table of the page, and the cases of the rules that differ."""
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    answers = stored["answers"]
    rows = "\n".join(map(row, answers))
    cases = "\n".join(case for answer in answers for case in told(answer))
    counted = f"flwr {stored['version']}: {sum(not a['failures'] for a in answers)} of {len(answers)} rules agree."
    return f"{counted}\n\n{HEAD}{rows}\n\nThe cases of the rules that differ, with the failed check:\n\n{cases}\n"


def row(answer: dict[str, Any]) -> str:
    """Return one line of the table."""
    failed = ", ".join(f"`{one['check']}`" for one in answer["failures"])
    verdict = f"**differs** ({failed})" if failed else "agrees"
    return f"| `{answer['strategy']}` | {_escaped(answer['says'])} | {answer['source']} | {verdict} |"


def told(answer: dict[str, Any]) -> list[str]:
    """Return the failed checks of a rule with their cases."""
    return [
        f"- `{answer['strategy']}`, {_escaped(answer['says'])}: `{one['check']}`: {_escaped(one['sentence'])}.  \n"
        f"  `{one['case']}`"
        for one in answer["failures"]
    ]


def _escaped(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*").replace("_", r"\_").replace("<", r"\<")
