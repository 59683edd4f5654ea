"""Referees of theorems: from a bound and its method to a review with seven sections."""

__all__: list[str] = []
