"""Claims, their verification, and searches for counterexamples."""

from fedtheory.verification.catalogue import known_bounds as known_bounds
from fedtheory.verification.catalogue import known_claims as known_claims
from fedtheory.verification.claims import Claim as Claim
from fedtheory.verification.claims import claim as claim
from fedtheory.verification.findings import Finding as Finding
from fedtheory.verification.findings import at_least as at_least
from fedtheory.verification.findings import at_most as at_most
from fedtheory.verification.findings import equal_to as equal_to
from fedtheory.verification.findings import mean_at_most as mean_at_most
from fedtheory.verification.findings import not_applicable as not_applicable
from fedtheory.verification.findings import worst_of as worst_of
from fedtheory.verification.hunts import hunt as hunt
from fedtheory.verification.instances import regression_examples as regression_examples
from fedtheory.verification.instances import replay as replay
from fedtheory.verification.instances import reproduce as reproduce
from fedtheory.verification.records import rows as rows
from fedtheory.verification.renderings import false_alarms as false_alarms
from fedtheory.verification.renderings import markdown_table as markdown_table
from fedtheory.verification.verdicts import Verdict as Verdict
from fedtheory.verification.verdicts import examine as examine
from fedtheory.verification.verdicts import verify as verify
