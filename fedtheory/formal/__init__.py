"""Theorems proved in Coq, for each bound.

The files ``*.v`` beside this module contain the proofs. `PROVED` says in which file the theorem about a bound is, and
`REFUTED` where it is proved that a bound is false as stated. Coq needs nothing but its standard library to check them.
"""

from fedtheory.formal.theorems import AXIOMS as AXIOMS
from fedtheory.formal.theorems import FOLDER as FOLDER
from fedtheory.formal.theorems import FOUNDATION as FOUNDATION
from fedtheory.formal.theorems import PROVED as PROVED
from fedtheory.formal.theorems import REFUTED as REFUTED
from fedtheory.formal.theorems import Theorem as Theorem
