"""GreedyFed on FashionMNIST: the paper's numbers, and paired comparisons."""

import sys
from collections import Counter

from tests.quick_studies import loaded

loaded("greedyfed_tables")
FASHION = sys.modules["_greedyfed_fashion"]


def test_published_accuracies_add_up_by_algorithm_and_by_row() -> None:
    """Control sums of Tables I-IV, in hundredths of a percent."""
    means, deviations = Counter[str](), Counter[str]()
    for (_, algorithm), published in FASHION.FASHION.items():
        means[algorithm] += round(100 * published.mean)
        deviations[algorithm] += round(100 * published.deviation)
    assert list(means.values()) == [82725, 80036, 75972, 75537, 76081, 73102, 85641]
    assert list(deviations.values()) == [456, 2110, 5339, 5495, 4766, 5913, 355]
