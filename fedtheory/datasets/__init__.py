"""Data and federations: generated, partitioned, or read from files."""

from typing import TYPE_CHECKING

from fedtheory._support import lazy
from fedtheory.datasets.bundled import digits as digits
from fedtheory.datasets.class_shares import class_shares_partition as class_shares_partition
from fedtheory.datasets.class_shares import underflow_probability as underflow_probability
from fedtheory.datasets.corruption import noise_levels as noise_levels
from fedtheory.datasets.corruption import with_misaligned_clients as with_misaligned_clients
from fedtheory.datasets.fashion import fashion_mnist as fashion_mnist
from fedtheory.datasets.fashion import mnist as mnist
from fedtheory.datasets.idx import read_idx_pair as read_idx_pair
from fedtheory.datasets.leaf import read_leaf as read_leaf
from fedtheory.datasets.partition import capped_dirichlet_partition as capped_dirichlet_partition
from fedtheory.datasets.partition import dirichlet_partition as dirichlet_partition
from fedtheory.datasets.partition import heterogeneity as heterogeneity
from fedtheory.datasets.partition import partition_from_counts as partition_from_counts
from fedtheory.datasets.partition import power_law_partition as power_law_partition
from fedtheory.datasets.partition import shard_partition as shard_partition
from fedtheory.datasets.quadratics import power_of_choice_quadratics as power_of_choice_quadratics
from fedtheory.datasets.synthetic_softmax import synthetic as synthetic

if not TYPE_CHECKING:  # a type checker would accept any name if it saw __getattr__
    __getattr__ = lazy.unknown_in(__name__)
