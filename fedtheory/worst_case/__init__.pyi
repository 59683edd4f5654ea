"""What fedtheory.worst_case offers; written by ``python -m tests.stubs``."""

from fedtheory.worst_case import certificates as certificates
from fedtheory.worst_case import enclosures as enclosures
from fedtheory.worst_case import function_classes as function_classes
from fedtheory.worst_case import gram as gram
from fedtheory.worst_case import solver as solver
from fedtheory.worst_case.certificates import FeasiblePoint as FeasiblePoint
from fedtheory.worst_case.certificates import Multipliers as Multipliers
from fedtheory.worst_case.certificates import value_balance as value_balance
from fedtheory.worst_case.certificates import verify_lower as verify_lower
from fedtheory.worst_case.certificates import verify_upper as verify_upper
from fedtheory.worst_case.enclosures import Enclosure as Enclosure
from fedtheory.worst_case.enclosures import enclose as enclose
from fedtheory.worst_case.enclosures import prove_lower as prove_lower
from fedtheory.worst_case.enclosures import prove_upper as prove_upper
from fedtheory.worst_case.function_classes import Point as Point
from fedtheory.worst_case.function_classes import interpolation as interpolation
from fedtheory.worst_case.gram import Constraint as Constraint
from fedtheory.worst_case.gram import Draft as Draft
from fedtheory.worst_case.gram import Form as Form
from fedtheory.worst_case.gram import Program as Program
from fedtheory.worst_case.gram import Value as Value
from fedtheory.worst_case.gram import Vector as Vector
from fedtheory.worst_case.solver import Assembled as Assembled
from fedtheory.worst_case.solver import Solution as Solution
from fedtheory.worst_case.solver import assemble as assemble
from fedtheory.worst_case.solver import solve as solve
