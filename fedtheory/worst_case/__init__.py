"""Exact worst cases over a theorem's whole class, as semidefinite programs with certificates in rationals."""

from fedtheory.worst_case.aligned_selection import fedalign as fedalign
from fedtheory.worst_case.biased_selection import power_of_choice as power_of_choice
from fedtheory.worst_case.compressed_rounds import compressed_gradients as compressed_gradients
from fedtheory.worst_case.compressed_rounds import ef21 as ef21
from fedtheory.worst_case.compressed_rounds import error_feedback as error_feedback
from fedtheory.worst_case.control_variates import scaffold as scaffold
from fedtheory.worst_case.enclosures import Proof as Proof
from fedtheory.worst_case.floors import error_floor as error_floor
from fedtheory.worst_case.full_or_uniform import fedavg as fedavg
from fedtheory.worst_case.heterogeneous_rounds import heterogeneous_round as heterogeneous_round
from fedtheory.worst_case.instances import Instance as Instance
from fedtheory.worst_case.optimal_sampling import optimal_client_sampling as optimal_client_sampling
from fedtheory.worst_case.points import Points as Points
from fedtheory.worst_case.problem import Problem as Problem
from fedtheory.worst_case.promises import confront as confront
from fedtheory.worst_case.proximal_rounds import fedprox as fedprox
from fedtheory.worst_case.skewed_selection import skew_class as skew_class
from fedtheory.worst_case.skewed_selection import skew_class_horizon as skew_class_horizon
from fedtheory.worst_case.solution import Solution as Solution
from fedtheory.worst_case.worst_cases import WorstCase as WorstCase
