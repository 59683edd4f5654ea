"""Sampling probabilities of clients: optimal, approximate and exact.

Modules are imported on first use, because only some of them need numba.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    submod_attrs={
        "aggregation_weights": ["multinomial_covariance", "uniform_covariance"],
        "approximate": ["approximate_probabilities", "approximation_path"],
        "certificates": ["Certificate", "certificate"],
        "cohorts": ["cohort_law"],
        "inclusion": ["power_of_choice_inclusion"],
        "optimal": ["optimal_probabilities"],
        "probability_matrices": ["estimator_variance", "smallest_uniform_v", "variance_bound"],
        "reference": ["rational_probabilities", "reference_probabilities", "solver_probabilities"],
        "variances": ["improvement_factor", "relative_improvement_factor", "variance"],
    },
)

if TYPE_CHECKING:
    from fedtheory.sampling.aggregation_weights import multinomial_covariance as multinomial_covariance
    from fedtheory.sampling.aggregation_weights import uniform_covariance as uniform_covariance
    from fedtheory.sampling.approximate import approximate_probabilities as approximate_probabilities
    from fedtheory.sampling.approximate import approximation_path as approximation_path
    from fedtheory.sampling.certificates import Certificate as Certificate
    from fedtheory.sampling.certificates import certificate as certificate
    from fedtheory.sampling.cohorts import cohort_law as cohort_law
    from fedtheory.sampling.inclusion import power_of_choice_inclusion as power_of_choice_inclusion
    from fedtheory.sampling.optimal import optimal_probabilities as optimal_probabilities
    from fedtheory.sampling.probability_matrices import estimator_variance as estimator_variance
    from fedtheory.sampling.probability_matrices import smallest_uniform_v as smallest_uniform_v
    from fedtheory.sampling.probability_matrices import variance_bound as variance_bound
    from fedtheory.sampling.reference import rational_probabilities as rational_probabilities
    from fedtheory.sampling.reference import reference_probabilities as reference_probabilities
    from fedtheory.sampling.reference import solver_probabilities as solver_probabilities
    from fedtheory.sampling.variances import improvement_factor as improvement_factor
    from fedtheory.sampling.variances import relative_improvement_factor as relative_improvement_factor
    from fedtheory.sampling.variances import variance as variance
