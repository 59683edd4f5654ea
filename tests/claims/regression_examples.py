"""Choice sequences of the instances closest to violating the inequality claims, found by long searches.

For claims that are false as printed and whose instances cover the hypotheses, the stored sequence is that of a small
counterexample.

``python -m tests.claims.regression_examples --seconds 60 power-of-choice fedalign:lemma-a8`` continues from the stored
sequences, with this processor time for each claim, and stores sequences with a higher score. If the draws of a claim
change, it needs a new example, since the stored sequence then gives another instance.
"""

import argparse
import json
import math
import time
from pathlib import Path

from fedtheory import claims
from fedtheory.claims.catalogue import select_claims
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding
from fedtheory.verification.hunts import hunt
from fedtheory.verification.instances import regression_examples, replay

FILE = Path(claims.__file__).with_name("regression_examples.json")
BATCH, ENOUGH = 400, 1 - 1e-12


def has_example(claim: Claim) -> bool:
    """Whether a claim has an example: an inequality that holds, or a false claim with many instances."""
    return claim.kind == "inequality" if claim.expected == "holds" else not claim.is_single


def strains(finding: Finding) -> bool:
    """Whether the finding says how near the claim is to breaking; a confidence limit would tell of luck."""
    return finding.applicable and finding.side in {"exact", "floating point"}


def hunted(claim: Claim, example: list[float], seconds: float) -> list[float]:
    """Hunt from an example and from nothing, in turn, until the time is over or the bound attained."""
    ended, seed = time.process_time() + seconds, len(example)
    while time.process_time() < ended and replay(claim, example).strain < ENOUGH:
        found = hunt(claim, evaluations=BATCH, rng=seed, start=example if seed % 3 else ())
        if found.worst.holds is False:
            message = f"{claim.key} fails: {found.choices}"
            raise SystemExit(message)
        example = list(found.choices) if found.worst.strain > replay(claim, example).strain else example
        seed += 1
    return example


def shortened(claim: Claim, example: list[float]) -> list[float]:
    """Cut each number off after as few decimals as keep the strain."""
    least = replay(claim, example).strain * (1 - 1e-9)
    for place, number in enumerate(example):
        for decimals in range(16):
            cut = math.floor(number * 10**decimals) / 10**decimals
            tried = [*example[:place], cut, *example[place + 1 :]]
            if replay(claim, tried).strain >= least:
                example = tried
                break
    return example


def main() -> None:
    """Hunt on and store what strains more."""
    parser = argparse.ArgumentParser(prog="python -m tests.claims.regression_examples", description=__doc__)
    parser.add_argument("keys", nargs="*", help="keys of claims, or how they begin; all by default")
    parser.add_argument("--seconds", type=float, default=60.0, help="processor time for each claim (60)")
    options = parser.parse_args()
    for claim in filter(has_example, select_claims(options.keys or None)):
        regression_examples.cache_clear()  # another process may have stored something since
        stored = regression_examples().get(claim.key)
        if claim.expected == "fails":
            example = list(stored or hunt(claim, evaluations=4000).choices)
        else:
            example = hunted(claim, list(stored or ()), 0.0 if claim.is_single else options.seconds)
        before, finding = replay(claim, stored or ()).strain, replay(claim, example)
        print(f"{claim.key:55} {before:9.3g} -> {finding.strain:9.6g}", flush=True)
        if strains(finding) and (finding.strain > before or stored is None):
            store(claim.key, shortened(claim, example))


def store(key: str, example: list[float]) -> None:
    """Write the example of a claim."""
    examples = {**regression_examples(), key: tuple(example)}
    lines = (f"{json.dumps(name)}: {json.dumps(examples[name])}" for name in sorted(examples))
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
