"""Names of binders and files in exported Coq theorems are legal, unique, and none that a theorem uses itself."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.formal import FOLDER
from fedtheory.worst_case._coq_names import OF_FUNCTION, constants, identifier, new_file, reserved
from tests.formal.test_formal import code_of_page

# The reference manual of Coq 8.16, "Lexical conventions", and the words that notations of the standard library add.
KEYWORDS = [
    "_", "Axiom", "CoFixpoint", "Definition", "Fixpoint", "Hypothesis", "Parameter", "Prop", "SProp", "Set", "Theorem",
    "Type", "Variable", "as", "at", "by", "cofix", "else", "end", "exists", "exists2", "fix", "for", "forall", "fun",
    "if", "in", "let", "match", "mod", "return", "then", "using", "where", "with",
]  # fmt: skip
# Names of the standard library that proofs of exported theorems refer to, as they are in its files.
USED = [
    "proj1", "proj2", "nth", "nat", "R", "Rmin", "Rmin_l", "Rmin_r", "Rle_trans", "Rle_refl", "Rminus_le",
    "Forall_cons", "Forall_nil",
]  # fmt: skip
ADVERSARIAL = st.sampled_from(
    [*KEYWORDS, *USED, "f", "f_", "grad_f", "grad_f_", "f_2", "f_pairs", "h0", "k0", "e1", "d0", "s0", "t0", "x", "x*",
     "x'", "xs", "xp", "x s", "x.s", "2x", "", "λ", "μ", "u3bc", "x_2", "x_3", "_x", "__", "convex", "ip", "vec", "E"]
)  # fmt: skip


def is_legal(name: str) -> bool:
    """Whether a name is an identifier of Coq that hides nothing that an exported theorem uses."""
    return bool(re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII)) and name not in {*KEYWORDS, *USED, *reserved()}


@given(st.lists(st.one_of(ADVERSARIAL, st.text("eh0k_2 *'.λ", max_size=4)), max_size=12))
def test_identifiers_are_legal_and_those_of_one_theorem_differ(names: list[str]) -> None:
    taken: set[str] = set()
    found = [identifier(name, taken) for name in names]
    assert all(map(is_legal, found))
    assert len({*found}) == len(found)
    assert not any(re.fullmatch(r"[dehkt]\d+", name) for name in found)  # the names that a proof numbers


@given(st.lists(ADVERSARIAL, max_size=5), st.lists(ADVERSARIAL, max_size=5))
def test_names_made_from_functions_differ_from_all_others(functions: list[str], points: list[str]) -> None:
    taken: set[str] = set()
    made = [form.format(identifier(name, taken, OF_FUNCTION)) for name in functions for form in ("{}",)]
    words = [form.format(name) for name in made for form in OF_FUNCTION]
    words += [identifier(name, taken) for name in points]
    assert len({*words}) == len(words)
    assert all(map(is_legal, words))


@given(st.lists(ADVERSARIAL, max_size=12, unique=True))
def test_constants_keep_different_names(names: list[str]) -> None:
    found = constants(tuple(names))
    assert [*found] == names
    assert len({*found.values()}) == len(names)
    assert all(map(is_legal, found.values()))


def test_a_name_that_is_free_is_kept() -> None:
    assert identifier("start", {"x"}) == "start"


def test_what_the_foundation_defines_is_reserved() -> None:
    defined = {
        name
        for file in ("Space", "Functions", "Calls", "Families")
        for name in re.findall(
            r"^(?:Lemma|Theorem|Definition|Corollary) (\w+)", (FOLDER / f"{file}.v").read_text(), re.MULTILINE
        )
    }
    assert len(defined) > 90
    assert defined <= reserved()


def test_every_word_of_an_exported_theorem_is_bound_or_reserved() -> None:
    """All other words are tactics, which are no terms."""
    text = next(one for one in code_of_page() if "Theorem projected_step" in one)
    statement = text.partition("Theorem ")[2]
    bound = {word for names in re.findall(r"\(([\w ]+) : [^)]*\)", statement) for word in names.split()}
    bound |= {word for names in re.findall(r"intros ([\w ]+)\.", statement) for word in names.split()}
    bound |= {*re.findall(r"(?:as|pose \() ?(\w+)", statement)}
    tactics = {
        "Proof", "Qed", "intros", "pose", "proof", "as", "apply", "change", "exact", "vm_compute", "reflexivity",
        "ltac", "lra", "Prop", "projected_step",
    }  # fmt: skip
    words = {word for word in re.findall(r"[A-Za-z_]\w*", statement) if not re.fullmatch(r"[dehkt]\d+", word)}
    assert words - bound - tactics <= reserved()
    assert {"f", "grad_f", "C", "xs", "x0", "x1"} <= bound


def refusal(path: Path) -> str:
    with pytest.raises(ValueError, match=r"\A[^\n]+\Z") as caught:
        new_file(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("my-step.v", "my_step.v"),
        ("2steps.v", "x2steps.v"),
        ("a b.v", "a_b.v"),
        ("List.v", "List_2.v"),
        ("Reals.v", "Reals_2.v"),
        ("ssreflect.v", "ssreflect_2.v"),
        ("Space.v", "Space_2.v"),
        ("PowerOfChoiceTheorems.v", "PowerOfChoiceTheorems_2.v"),
        ("forall.v", "forall_2.v"),
    ],
)
def test_a_file_that_coq_cannot_load_or_that_hides_a_module_is_refused_with_another_name(
    tmp_path: Path, name: str, suggestion: str
) -> None:
    assert f"such as {suggestion}, got '{name}'" in refusal(tmp_path / name)
    assert new_file(tmp_path / suggestion) == tmp_path / suggestion


@pytest.mark.parametrize("name", ["Mine.v", "convex.v", "h0.v", "projected_step.v"])
def test_other_files_keep_their_names(tmp_path: Path, name: str) -> None:
    assert new_file(tmp_path / name) == tmp_path / name
