"""Tapes of the instances that strain the inequality claims most, found by long hunts, for verdicts to replay.

Claims that are false as printed, and draw from all that the hypotheses allow, have that of a small counterexample.

``python -m tests.claims.worst_tapes --seconds 60 power-of-choice fedalign:lemma-a8`` hunts on from what is stored, with
so much processor time for a claim, and keeps what strains more. A claim that draws in another way than it did needs a
new tape: the old one stands for some other instance.
"""

import argparse
import json
import math
import time
from pathlib import Path

from fedtheory import claims
from fedtheory.verification.catalogue import select_claims
from fedtheory.verification.claims import Claim, known_tapes, replay
from fedtheory.verification.findings import Finding
from fedtheory.verification.hunts import hunt

FILE = Path(claims.__file__).with_name("worst_tapes.json")
BATCH, ENOUGH = 400, 1 - 1e-12


def has_tape(claim: Claim) -> bool:
    """Whether a tape of the claim is stored: of an inequality that holds, or of a false claim with many instances."""
    return claim.kind == "inequality" if claim.expected == "holds" else not claim.is_single


def strains(finding: Finding) -> bool:
    """Whether the finding says how near the claim is to breaking; a confidence limit would tell of luck."""
    return finding.applicable and finding.side in {"exact", "floating point"}


def hunted(claim: Claim, tape: list[float], seconds: float) -> list[float]:
    """Hunt from a tape and from nothing, in turn, until the time is over or the bound attained."""
    ended, seed = time.process_time() + seconds, len(tape)
    while time.process_time() < ended and replay(claim, tape).strain < ENOUGH:
        found = hunt(claim, evaluations=BATCH, rng=seed, start=tape if seed % 3 else ())
        if found.worst.holds is False:
            message = f"{claim.key} fails: {found.command}"
            raise SystemExit(message)
        tape = list(found.tape) if found.worst.strain > replay(claim, tape).strain else tape
        seed += 1
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
    """Hunt on and store what strains more."""
    parser = argparse.ArgumentParser(prog="python -m tests.claims.worst_tapes", description=__doc__)
    parser.add_argument("keys", nargs="*", help="keys of claims, or how they begin; all by default")
    parser.add_argument("--seconds", type=float, default=60.0, help="processor time for each claim (60)")
    options = parser.parse_args()
    for claim in filter(has_tape, select_claims(options.keys or None)):
        # Read again each time: another process may have stored something since.
        stored = known_tapes().get(claim.key)
        if claim.expected == "fails":
            tape = list(stored or hunt(claim, evaluations=4000).tape)
        else:
            tape = hunted(claim, list(stored or ()), 0.0 if claim.is_single else options.seconds)
        before, finding = replay(claim, stored or ()).strain, replay(claim, tape)
        print(f"{claim.key:55} {before:9.3g} -> {finding.strain:9.6g}", flush=True)
        if strains(finding) and (finding.strain > before or stored is None):
            store(claim.key, shortened(claim, tape))


def store(key: str, tape: list[float]) -> None:
    """Write the tape of a claim beside those of the others."""
    tapes = known_tapes() | {key: tuple(tape)}
    lines = (f"{json.dumps(name)}: {json.dumps(tapes[name])}" for name in sorted(tapes))
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
