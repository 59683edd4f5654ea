"""Bounds of published theorems, one package for each paper."""

from fedtheory.bounds import error_feedback as error_feedback
from fedtheory.bounds import fedalign as fedalign
from fedtheory.bounds import fedavg as fedavg
from fedtheory.bounds import fedprox as fedprox
from fedtheory.bounds import optimal_client_sampling as optimal_client_sampling
from fedtheory.bounds import power_of_choice as power_of_choice
from fedtheory.bounds import proxskip as proxskip
from fedtheory.bounds import recursion as recursion
from fedtheory.bounds import scaffold as scaffold
from fedtheory.bounds import sgd as sgd
from fedtheory.bounds import stationary as stationary
