"""Words that the statements about plain federated averaging share: the paper."""

from fedtheory.paper import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    key="fedavg",
    title="On the Convergence of FedAvg on Non-IID Data",
    authors="Li, Huang, Yang, Wang, Zhang",
    year=2020,
    url="https://arxiv.org/abs/1907.02189",
)
