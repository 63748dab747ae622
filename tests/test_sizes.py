"""Study 1 by the size of its models: which model the page shows, what is side by side, what the reference keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from refusals import refused
from store import Store
from test_pages_soft import FIVE, SOFT, cells_of, kept, scores

from faithbook.engine.shares import replaced_by
from faithbook.engine.studies import entry_of
from faithbook.engine.study import FULL, LAPTOP, Profile
from faithbook.paths import root
from faithbook.sources import datasets
from faithbook.sources.files import files_of
from faithbook.studies.soft.zhao_aletras import SIZES, choices_of, replay_name, subsets
from faithlib.errors import DataError

# Mean diagnosticity of a trial with a model of the paper's size, and of our small one.
LARGE = {"nc": 0.645, "soft_nc": 0.49, "ns": 0.615, "soft_ns": 0.44}
SMALL = {"nc": 0.761, "soft_nc": 0.617, "ns": 0.713, "soft_ns": 0.574}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    def nowhere(name: str, split: str, *, sample: str) -> datasets.Dataset:
        raise DataError(f"no {name}, {split}")

    monkeypatch.setattr(datasets, "load_dataset", nowhere)
    return Store(tmp_path, monkeypatch)


def trial(shares: dict[str, float], n: int = 100) -> pd.DataFrame:
    """Scores of five methods that beat random ones on these shares of n inputs."""
    found = scores({(metric, "", method): share for metric, share in shares.items() for method in FIVE}, "", n=n)
    return found[found.metric.isin(shares)]


def study(store: Store, classifier: str, shares: dict[str, float], *, n: int, dataset: str = "sst") -> None:
    """What the compute notebooks keep of one model on a data set."""
    found = trial(shares, n)
    kept(store, found, dataset=dataset, classifier=classifier)
    store.add("soft_variants", {"variants": found.assign(variant="paper")}, dataset=dataset, classifier=classifier)


def test_the_larger_model_is_shown_and_both_stand_side_by_side(store: Store) -> None:
    study(store, "", SMALL, n=200)
    study(store, "mpnet", LARGE, n=400)
    found = store.report("soft_tables")
    table = found.table("soft_table3")
    assert table.model.iloc[0] == SIZES["mpnet"]  # the larger one first
    both = table.set_index(["metric", "model", "dataset"])
    for metric in LARGE:
        small, large = both.loc[(metric, SIZES[""], "sst")], both.loc[(metric, SIZES["mpnet"], "sst")]
        assert (small.estimate, small.n) == (pytest.approx(SMALL[metric], abs=0.003), 200)
        assert (large.estimate, large.n) == (pytest.approx(LARGE[metric], abs=0.003), 400)
        assert small.published == large.published
    gain = found.table("soft_tables_parts", "part").loc["Soft-NC minus Soft-NS, α"]
    assert (gain.estimate, gain.n) == (pytest.approx(LARGE["soft_nc"] - LARGE["soft_ns"], abs=0.005), 400)


def test_claims_rest_on_the_largest_model_that_all_their_data_sets_have(store: Store) -> None:
    """SST alone has the larger one: an average over models would be neither's."""
    for classifier, shares, name in (("", SMALL, "sst"), ("mpnet", LARGE, "sst"), ("", SMALL, "ag")):
        study(store, classifier, shares, n=100, dataset=name)
    table = cells_of(store.judge("soft_tables"), "soft_table6", "metric")
    assert set(table.model) == {SIZES[""]}
    assert table.estimate["nc"].to_numpy() == pytest.approx(SMALL["nc"], abs=0.01)


def replayed(store: Store, classifier: str, shares: dict[str, float]) -> None:
    """What is kept of the released code's choices, of which none changes anything."""
    frames = []
    for metric in shares:
        units = trial({metric: shares[metric]})
        squared = units[units.method == "scaled_attention"].assign(method="scaled_attention_squared")
        names = {replay_name(metric, made) for made in subsets(choices_of(metric))}
        frames += [pd.concat([units, squared]).assign(variant=name) for name in names]
    store.add("soft_replayed", {"replayed": pd.concat(frames)}, dataset="sst", classifier=classifier)


def test_from_the_published_numbers_to_ours(store: Store) -> None:
    for classifier, shares in (("", SMALL), ("mpnet", LARGE), ("mpnet-tuned", SMALL)):
        study(store, classifier, shares, n=100)
    replayed(store, "", SMALL)
    replayed(store, "mpnet", LARGE)
    ranks = trial(dict.fromkeys(SOFT, 0.9)).assign(variant="normaliser=rank")
    store.add("soft_variants", {"variants": ranks}, dataset="sst", classifier="mpnet", part=2, parts=2)
    found = store.report("soft_pipeline")
    steps = found.table("soft_pipeline_explained", "metric", "step").estimate
    for metric, theirs in {"nc": 0.409, "soft_nc": 0.431, "ns": 0.384, "soft_ns": 0.467}.items():
        assert steps[metric, "another model"] == pytest.approx(LARGE[metric] - SMALL[metric], abs=0.011)
        assert steps[metric, "all weights trained"] == pytest.approx(SMALL[metric] - LARGE[metric], abs=0.011)
        assert steps[metric, "the released code's choices"] == pytest.approx(0, abs=1e-9)
        assert steps[metric, "what remains"] == pytest.approx(LARGE[metric] - theirs, abs=0.011)
    verdicts = found.table("soft_pipeline_by_size")
    assert len(verdicts) == 21  # fourteen claims of study 1, seven of study 4
    by_id = verdicts.set_index(verdicts.claim.str.extract(r"\((\w+)\)$")[0])
    assert set(by_id.loc["soft_c01", [*SIZES.values()]]) == {
        "does not replicate on our models"
    }  # plain is ahead with either
    assert by_id.loc["soft_c11"].str.startswith("not tested").sum() == 2
    assert by_id.loc["naopc_c06"].str.startswith("on other models").sum() == 2  # this store has no committed decisions
    assert by_id.loc["soft_c12"].str.contains("soft_shift").sum() == 2
    assert by_id.loc["naopc_c01"].str.startswith("authors' outputs").sum() == 2
    amounts = found.table("soft_pipeline_amounts", "method", "metric", "what").estimate
    assert amounts["attention", "soft_nc", "ranks"] == pytest.approx(0.9)
    assert amounts["attention", "soft_nc", "min-max, less confident half"] > LARGE["soft_nc"]


def test_a_run_of_the_larger_model_leaves_the_small_ones_where_they_are() -> None:
    def run(**parameters: Any) -> dict[str, Any]:
        return {"notebook": "soft_metrics", "parameters": {"profile": "full", **parameters}}

    older = run(dataset="sst", seed=0)  # from before the notebook had classifiers
    small, large = (run(dataset="sst", classifier=name, seed=0) for name in ("", "mpnet"))
    assert replaced_by(small, [older], [small], "small") == [older]
    assert replaced_by(large, [older], [large], "large") == []
    assert replaced_by(small, [large], [small], "small") == []
    part = run(dataset="sst", classifier="mpnet", seed=0, part=1, parts=4)
    assert replaced_by(part, [older], [part], "part") == []
    part["parameters"]["classifier"] = ""
    refused(DataError, "the reference has these inputs whole", replaced_by, part, [older], [part], "part")


def classifiers_of(notebook: str, profile: Profile) -> list[str]:
    """The classifiers of the sentences of SST that a notebook runs over."""
    entry = entry_of(notebook)
    assert entry is not None
    points = entry.points(profile)
    return list(dict.fromkeys(point["classifier"] for point in points if point["dataset"] == "sst"))


def test_the_large_models_are_in_the_grid_only_where_their_encoder_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    for name in ("sst-train", "sst-dev", "sst-test"):
        (source,) = files_of(name)
        source.path.parent.mkdir(parents=True)
        source.path.touch()
    # The weights of the model that was trained whole are not in the repository, but on the machine that trained it.
    tuned = ["mpnet-tuned"] * (root() / "data/checkpoints/paper/sst-mpnet-tuned-seed0").exists()
    assert classifiers_of("soft_metrics", FULL) == ["", *tuned]
    assert classifiers_of("naopc_models", FULL) == ["l6"]
    for source in files_of("mpnet"):
        source.path.parent.mkdir(exist_ok=True)
        source.path.touch()
    assert classifiers_of("soft_metrics", FULL) == ["", "mpnet", *tuned]
    assert classifiers_of("naopc_models", FULL) == ["l6", "mpnet"]
    assert classifiers_of("soft_metrics", LAPTOP) == [""]
