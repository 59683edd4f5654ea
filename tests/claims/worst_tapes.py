"""Tapes of the instances that strain the inequality claims most, found by long searches, for verdicts to replay.

``python -m tests.claims.worst_tapes --seconds 60 power-of-choice fedalign:lemma-a8`` searches on from what is stored,
with so much processor time for a claim, and keeps what strains more. A claim that draws in another way than it did
needs a new tape: the old one stands for some other instance.
"""

import argparse
import json
import math
import time
from pathlib import Path

from fedtheory import claims
from fedtheory.verification.catalogue import known_tapes, select_claims
from fedtheory.verification.claims import Claim
from fedtheory.verification.counterexamples import replay, search
from fedtheory.verification.findings import Finding

FILE = Path(claims.__file__).with_name("worst_tapes.json")
BATCH, ENOUGH = 50, 1 - 1e-12


def strains(finding: Finding) -> bool:
    """Whether the finding says how near the claim is to breaking; a confidence limit would tell of luck."""
    return finding.applicable and finding.side in {"exact", "floating point"}


def searched(claim: Claim, tape: list[float], seconds: float) -> list[float]:
    """Search on from a tape until the time is over or the bound attained."""
    ended, seed = time.process_time() + seconds, len(tape)
    while time.process_time() < ended and replay(claim, tape).strain < ENOUGH:
        hunt = search(claim, BATCH, rng=seed, start=tape)
        if hunt.worst.holds is False:
            message = f"{claim.key} fails on the tape {hunt.tape}"
            raise SystemExit(message)
        tape, seed = list(hunt.tape), seed + 1
    return tape


def shortened(claim: Claim, tape: list[float]) -> list[float]:
    """Cut each number off after as few decimals as keep the strain."""
    least = replay(claim, tape).strain * (1 - 1e-9)
    for place, number in enumerate(tape):
        for decimals in range(16):
            cut = math.floor(number * 10**decimals) / 10**decimals
            tried = [*tape[:place], cut, *tape[place + 1 :]]
            if replay(claim, tried).strain >= least:
                tape = tried
                break
    return tape


def main() -> None:
    """Search on and store what strains more."""
    parser = argparse.ArgumentParser(prog="python -m tests.claims.worst_tapes", description=__doc__)
    parser.add_argument("keys", nargs="*", help="keys of claims, or how they begin; all by default")
    parser.add_argument("--seconds", type=float, default=60.0, help="processor time for each claim (60)")
    options = parser.parse_args()
    tapes = {key: list(tape) for key, tape in known_tapes().items()}
    for claim in select_claims(options.keys or None):
        if claim.kind != "inequality" or claim.expected != "holds":
            continue
        before = replay(claim, tapes.get(claim.key, [])).strain
        seconds = 0.0 if claim.is_single else options.seconds
        tape = searched(claim, tapes.get(claim.key, []), seconds)
        finding = replay(claim, tape)
        if strains(finding) and (finding.strain > before or claim.key not in tapes):
            tapes[claim.key] = shortened(claim, tape)
        print(f"{claim.key:55} {before:9.3g} -> {finding.strain:9.6g}", flush=True)
        lines = (f"{json.dumps(key)}: {json.dumps(tapes[key])}" for key in sorted(tapes))
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
