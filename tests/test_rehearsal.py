"""The paper profile in small, without a network, by the commands of `make paper`.

A study ends with its paper's tables: every row and column has a number, but for those that are named here with the
reason.
"""

from __future__ import annotations

import pytest
import rehearsal
from rehearsal import PROFILE, Rehearsal, Shown

from faithbook.engine.studies import notebooks

pytestmark = pytest.mark.xdist_group("rehearsal")  # one worker: each test goes on from what the one before has left
RHO = "crosslingual_metrics"
SHOWN: dict[str, dict[str, Shown]] = {
    "soft": {
        "soft_table1": Shown("soft_table1.csv", filled=("words per text", "train", "dev", "test", "F1 ± deviation")),
        "soft_table2": Shown("soft_table2.csv"),
        "soft_table3": Shown("soft_table3.csv"),
        "soft_table6": Shown("soft_table6.csv"),
    },
    "saco": {"saco_table1": Shown("saco_table1.csv"), "saco_table2": Shown("saco_table2.csv")},
    "crosslingual": {
        **{f"crosslingual_table{n}": Shown(f"crosslingual_table{n}.csv") for n in (3, 4, 5, 7, 9, 10)},
        **{f"crosslingual_table{n}": Shown(f"crosslingual_table{n}.csv", measured=RHO) for n in (1, 2, 8)},
        **{f"crosslingual_table{n}": Shown("crosslingual_tables11to17.csv", measured=RHO) for n in range(11, 18)},
    },
    "naopc": {
        f"naopc_released_{name}": Shown(f"naopc_released_{name}.csv", filled=("ours",))
        for name in ("bounds", "scores", "taus")
    },
}
ASKED = {
    "naopc": {"naopc_models": ("naopc_bounds_models.csv", "classifier"), "naopc_six": ("naopc_six_scores.csv", "model")}
}
"""By study and computation: the file in which every data set and classifier of the profile has to be, and the column in
which it calls a classifier so."""
ELSEWHERE = {
    "soft_table4_examples": "three inputs that the paper names by their first words; ours are other inputs",
    "saco_text": "numbers of the prose, of which many are settings; what can be worked out stands beside each",
    "naopc_released_beam": "its first two thirds are of released searches, the rest of a sample that was not recorded",
}
"""Tables that can be computed again but have no cells to fill, and why."""


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Rehearsal:
    """A clone whose preflight has named what is missing, and to which that was brought."""
    one = rehearsal.prepared(tmp_path_factory.mktemp("rehearsal"))
    status, said = one.call("preflight", "--profile", PROFILE, echo=False)
    assert status == 1 and "so nothing was started:" in said, said
    one.bring(said)
    status, said = one.call("preflight", "--profile", PROFILE, "--fetch")
    assert status == 0, said
    return one


def lacking(staged: Rehearsal, study: str) -> dict[str, list[str]]:
    """The cells of a study's tables for which there is no number, of tables that lack some."""
    found = {name: rehearsal.unfilled(staged, name, shown) for name, shown in SHOWN[study].items()}
    return {name: cells for name, cells in found.items() if cells}


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("study", SHOWN)
def test_a_study_runs_whole_and_fills_its_tables(staged: Rehearsal, study: str) -> None:
    status, said = staged.call("train", "--profile", PROFILE, "--study", study, "--missing")
    assert status == 0, said
    status, said = staged.call("build", "--profile", PROFILE, "--study", study)
    assert status == 0, said
    assert {*SHOWN[study], *ELSEWHERE} >= rehearsal.can_be_computed(study)
    print(f"tables of {study}: {', '.join(SHOWN[study])}")
    assert lacking(staged, study) == {}
    if study == "crosslingual":  # the highlights that were published are read, too
        assert "as published" in set(rehearsal.saved(staged, "crosslingual_highlight_rules.csv").highlights)
    for notebook, (file, column) in ASKED.get(study, {}).items():
        assert rehearsal.unasked(staged, file, notebook, column) == set()


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_the_whole_profile_ends_in_a_book(staged: Rehearsal) -> None:
    """What `make paper` does after its preflight; after the tests above, what they have left of it."""
    for words in (("train", "--missing"), ("book",)):
        status, said = staged.call(words[0], "--profile", PROFILE, *words[1:])
        assert status == 0, said
    assert [cells for study in SHOWN for cells in lacking(staged, study).items()] == []
    pages = {path.stem for path in (staged.results / "book/_build/html/executed").glob("*.html")}
    assert pages >= {notebook.name for notebook in notebooks("report")}
