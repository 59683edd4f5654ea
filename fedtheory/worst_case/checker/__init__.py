"""Checker of worst-case certificates, based on Python's standard library only.

The file holds problems and proofs in rationals. A problem has sources of variation (clients, noises), vectors,
functions of a class with the points at which they are called, constraints, and objectives, whose minimum is maximized.
The checker builds the semidefinite program of each problem: maximize a form over positive semidefinite matrices G_b and
numbers f_i, subject to the constraints and to the interpolation conditions of the classes. Then it checks the proofs on
that program. ``printing`` prints the problem as a theorem.

Upper side: multipliers, which are at least 0 for inequalities. In the sum of multiplier times form minus the objective,
all f_i must cancel and the matrices must be positive semidefinite. Then the objective is at most the sum of multiplier
times bound. Lower side: matrices and numbers that fulfill all constraints, and the objective at this point. It is
rejected if the interpolation conditions are not known to be sufficient. Empty: multipliers whose sum, without the
objective, has a negative bound. The value of several problems is the largest of their values.

This folder shares no code with the rest of the library. The exit code is 0 if the certificate is proved, 1 if it is
not, and 2 if it cannot be read because it is not a certificate or is too large to be checked in a minute.
"""

from ._reading import FORMAT, NotRead, Refused
from ._verdicts import check

__all__ = ["FORMAT", "NotRead", "Refused", "check"]
