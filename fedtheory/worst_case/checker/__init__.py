"""Checker of worst-case certificates, based on Python's standard library only.

The file holds problems and proofs in rationals. A problem has sources of variation (clients, noises), vectors,
functions of a class with the points at which they are called, constraints, and objectives, of which the least is
maximized. The checker builds the semidefinite program of each problem: maximize a form over positive semidefinite
matrices G_b and numbers f_i, subject to what is demanded and to the interpolation conditions of the classes. Then it
checks the proofs on that program, and prints the problem as a theorem.

Upper side: multipliers, at least 0 for inequalities, with which the sum of multiplier times form, less the objective,
has no f_i left and positive semidefinite matrices; then the objective is at most the sum of multiplier times bound.
Lower side: matrices and numbers that fulfill all constraints, and the objective there; it is refused where the
conditions are necessary but not known to be sufficient. Empty: multipliers whose sum, without the objective, has a
negative bound. The value of several problems is the largest of theirs.

This folder shares no code with the rest of the library. The exit code is 0 for what is proved, 1 for what is not, and 2
for what was not read: that is no certificate, or too large to be checked in a minute.
"""

from ._reading import FORMAT, NotRead, Refused
from ._verdicts import check, main

__all__ = ["FORMAT", "NotRead", "Refused", "check", "main"]
