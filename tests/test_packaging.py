"""The conda recipe, the citation and the package state what pyproject.toml states."""

import re
import tomllib

import fedtheory
from docs.package_readme import absolute
from tests.environment import ROOT

TOML = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = TOML["project"]
RECIPE = (ROOT / "docs" / "conda" / "meta.yaml").read_text(encoding="utf-8")
# conda's matplotlib also installs Qt.
OTHER_NAMES = {"matplotlib": "matplotlib-base"}


def entry(name: str) -> str:
    """Return the one value of a key of the recipe."""
    [value] = re.findall(rf"^ +{name}: (.+)$", RECIPE, re.MULTILINE)
    return value.strip('"')


def listed(name: str) -> list[str]:
    """Return the items of a list of the recipe."""
    [block] = re.findall(rf"^ +{name}:\n((?: +- .+\n)+)", RECIPE, re.MULTILINE)
    return re.findall(r"- (.+)", block)


def in_conda(requirement: str) -> str:
    [(name, version)] = re.findall(r"^([\w-]+)(>=[\d.]+(?:,<[\d.]+)?)$", requirement)
    return f"{OTHER_NAMES.get(name, name)} {version}"


def test_the_recipe_has_the_name_version_and_summary_of_the_project():
    assert entry("name") == PROJECT["name"]
    assert entry("version") == PROJECT["version"] == fedtheory.__version__
    assert (entry("license"), entry("summary")) == (PROJECT["license"], PROJECT["description"])


def test_the_recipe_requires_what_the_project_requires():
    python = f"python {PROJECT['requires-python']}"
    assert listed("run") == [python, *map(in_conda, PROJECT["dependencies"])]
    assert listed("host") == [python, "pip", *map(in_conda, TOML["build-system"]["requires"])]
    assert listed("entry_points") == [f"{name} = {place}" for name, place in PROJECT["scripts"].items()]


def test_the_citation_has_the_version_of_the_project():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['version']}\n" in citation


def test_links_of_readme_lead_to_the_documentation_once_it_has_an_address():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert absolute(text, "") == text
    found = absolute(text, "https://example.org/latest/")
    targets = re.findall(r"\]\(([^)]+)\)", found)
    assert [target for target in targets if not target.startswith("https://")] == []
    assert {f"https://example.org/latest/{page}" for page in ("tutorial.html", "_static/bound_versus_error.png")} <= {
        *targets
    }


def test_readme_has_no_formulas_that_a_package_index_does_not_show():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "$" not in re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
