"""Every bound has a BibTeX entry of its paper."""

import re

from fedtheory.theorem import Paper, Statement
from fedtheory.verification import known_bounds
from tests.additions import check_of_all


def test_every_bound_has_an_entry_with_authors_title_year_and_address():
    for name, bound in known_bounds().items():
        entry, statement = bound.statement.bibtex(), bound.statement
        assert entry.startswith(f"@misc{{{statement.paper.key},\n"), name
        assert entry.count("{") == entry.count("}")
        cited = entry[entry.index(f"@misc{{{statement.topic.key},") :]
        fields = set(re.findall(r"^  (\w+) = ", cited, re.MULTILINE))
        assert fields | {"url"} == {"author", "title", "year", "url", "note"}
        assert ("url" in fields) == bool(statement.topic.url)
    bounds = known_bounds().items()
    check_of_all("an address", (f"{name}: {one.statement}" for name, one in bounds if not one.statement.topic.url))


def test_characters_that_latex_reads_as_commands_are_escaped_but_in_addresses():
    paper = Paper("toy", "Costs & 5% of x_1", "Doe", 2000, "https://example.org/a_b%20c")
    entry = Statement(paper, "Section #2").bibtex()
    assert r"title = {{Costs \& 5\% of x\_1}}" in entry
    assert r"note = {Section \#2}" in entry
    assert "url = {https://example.org/a_b%20c}" in entry
