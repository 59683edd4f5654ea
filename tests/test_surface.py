"""What callers rely on is what is written down: public names, their arguments and defaults."""

import pytest

from tests import surface


def test_public_names_have_the_arguments_and_defaults_that_are_written_down() -> None:
    """Where they have not, and are meant to: ``python -m tests.surface``, and a line in the changelog."""
    today, written = surface.lines(), surface.FILE.read_text(encoding="utf-8").splitlines()
    assert [line for line in written if line not in set(today)] == []
    added = [line for line in today if line not in set(written)]
    if added:
        pytest.skip(f"tests/surface.txt does not have {'; '.join(added)}")


def test_a_default_is_told_without_its_address() -> None:
    def asked(a, *, b: int = 2, c=surface.lines) -> None: ...

    assert surface.arguments(asked) == "(a, *, b=2, c=lines)"
