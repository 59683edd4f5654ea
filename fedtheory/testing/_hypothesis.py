"""Hypothesis, loaded when it is used: only those who test with it need it."""

from typing import Any

__all__ = ["strategies"]


def strategies() -> Any:
    """Return ``hypothesis.strategies``."""
    try:
        from hypothesis import strategies as st
    except ImportError as error:
        message = "fedtheory.testing needs Hypothesis for this, got none: pip install hypothesis"
        raise ImportError(message) from error
    return st
