"""Study 1 by the size of its models: which one speaks, what stands side by side, what the reference keeps of either."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from store import Store

from faithbook.engine.profiles import settings_of
from faithbook.papers.zhao_aletras import choices_of, replay_name, subsets
from faithbook.papers.zhao_aletras_sizes import SIZES
from faithbook.results import reference
from faithbook.sources import datasets
from faithlib.errors import DataError

METHODS = ("attention", "scaled_attention", "input_x_gradient", "integrated_gradients", "deeplift")
# Mean diagnosticity of a trial with a model of the paper's size, and of our small one.
LARGE = {"nc": 0.645, "soft_nc": 0.49, "ns": 0.615, "soft_ns": 0.44}
SMALL = {"nc": 0.761, "soft_nc": 0.617, "ns": 0.713, "soft_ns": 0.574}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    def nowhere(name: str, split: str) -> datasets.Dataset:
        raise DataError(f"no {name}, {split}")

    monkeypatch.setattr(datasets, "load_dataset", nowhere)
    return Store(tmp_path, monkeypatch)


def won(share: float, n: int) -> list[float]:
    """Scores that beat one half on a share of n inputs."""
    return [0.8 if i < round(share * n) else 0.2 for i in range(n)]


def scores(shares: dict[str, float], n: int) -> pd.DataFrame:
    names = [f"i{i}" for i in range(n)]
    frames = [
        pd.DataFrame({"metric": metric, "method": method, "value": won(share, n), "id": names})
        for (metric, share), method in itertools.product(shares.items(), METHODS)
    ]
    frames += [pd.DataFrame({"metric": m, "method": "random", "value": 0.5, "id": names}) for m in shares]
    return pd.concat(frames, ignore_index=True).assign(seed=0).assign(cluster=lambda frame: frame.id)


def study(store: Store, classifier: str, shares: dict[str, float], *, n: int, **more: Any) -> None:
    """What the compute notebooks keep of one model on SST."""
    found = scores(shares, n)
    hard = found[found.metric.isin(["nc", "ns"])]
    soft = found[~found.metric.isin(["nc", "ns"])]
    once = soft.assign(metric=soft.metric + "_one_draw")
    parts = {
        "": pd.concat([soft, once]),
        "lengths": pd.concat([hard.assign(ratio=ratio) for ratio in settings_of("soft_metrics", "laptop")["ratios"]]),
    }
    store.add("soft_metrics", parts, dataset="sst", classifier=classifier, **more)
    variants = {"variants": found.assign(variant="paper")}
    store.add("soft_variants", variants, dataset="sst", classifier=classifier, **more)


def test_the_larger_model_speaks_and_both_stand_side_by_side(store: Store) -> None:
    study(store, "", SMALL, n=200)
    study(store, "mpnet", LARGE, n=400)
    found = store.report("soft_tables")
    table = pd.read_csv(found.folder / "soft_table3.csv").set_index(["metric", "dataset"])
    assert table.estimate["nc", "sst"] == pytest.approx(LARGE["nc"], abs=0.003)
    assert table.n["nc", "sst"] == 400
    both = pd.read_csv(found.folder / "soft_tables_sizes.csv").set_index(["metric", "model"])
    for metric in LARGE:
        small, large = both.loc[(metric, SIZES[""])], both.loc[(metric, SIZES["mpnet"])]
        assert (small.estimate, large.estimate) == (
            pytest.approx(SMALL[metric], abs=0.003),
            pytest.approx(LARGE[metric], abs=0.003),
        )
        nearer = abs(SMALL[metric] - small.published) - abs(LARGE[metric] - large.published)
        assert large["nearer by"] == pytest.approx(nearer, abs=0.006)
        assert large["its low"] < nearer < large["its high"]
        assert pd.isna(small["nearer by"])
    assert both.published["nc", SIZES[""]] == pytest.approx(0.409, abs=1e-3)
    judged = pd.read_csv(found.folder / "soft_tables_claims_by_size.csv")
    assert set(judged.model) == set(SIZES.values())
    assert judged.groupby("claim").size().eq(2).all()


def test_with_one_model_there_is_nothing_to_compare(store: Store) -> None:
    study(store, "", SMALL, n=60)
    found = store.report("soft_tables")
    assert "No data set was explained with models of two sizes." in found.text
    assert not (found.folder / "soft_tables_claims_by_size.csv").exists()
    table = pd.read_csv(found.folder / "soft_table3.csv").set_index(["metric", "dataset"])
    assert table.estimate["nc", "sst"] == pytest.approx(SMALL["nc"], abs=0.01)


def test_the_first_step_to_the_released_code_is_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, monkeypatch)
    for classifier, shares in (("", SMALL), ("mpnet", LARGE)):
        frames = []
        for metric in shares:
            one = scores({metric: shares[metric]}, 100)
            squared = one[one.method == "scaled_attention"].assign(method="scaled_attention_squared")
            names = {replay_name(metric, made) for made in subsets(choices_of(metric))}
            frames += [pd.concat([one, squared]).assign(variant=name) for name in names]
        store.add("soft_replayed", {"replayed": pd.concat(frames)}, dataset="sst", classifier=classifier)
    found = store.report("soft_pipeline")
    path = pd.read_csv(found.folder / "soft_pipeline_path.csv")
    assert list(dict.fromkeys(path.step))[:2] == ["small model, as written", "as written"]
    at = path.set_index(["step", "metric"]).estimate
    for metric in SMALL:
        assert at["small model, as written", metric] == pytest.approx(SMALL[metric], abs=0.01)
        assert at["as written", metric] == pytest.approx(LARGE[metric], abs=0.01)


def test_a_run_of_the_larger_model_leaves_the_small_ones_where_they_are() -> None:
    def run(**parameters: Any) -> dict[str, Any]:
        return {"notebook": "soft_metrics", "parameters": {"profile": "full", **parameters}}

    older = run(dataset="sst", seed=0)  # from before the notebook had classifiers
    small, large = (run(dataset="sst", classifier=name, seed=0) for name in ("", "mpnet"))
    assert reference._replaced_by(older, small)
    assert not reference._replaced_by(older, large)
    assert not reference._replaced_by(large, small)
    part = run(dataset="sst", classifier="mpnet", seed=0, part=1, parts=4)
    assert not reference._left_out(part, [older], [part])
    part["parameters"]["classifier"] = ""
    assert "has these inputs whole" in reference._left_out(part, [older], [part])


def test_the_large_models_are_in_the_grid_only_where_their_encoder_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from faithbook.sources.files import files_of

    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    for name in ("sst-train", "sst-dev", "sst-test"):
        (source,) = files_of(name)
        source.path.parent.mkdir(parents=True)
        source.path.touch()
    assert settings_of("soft_metrics", "full")["classifiers"]["sst"] == [""]
    assert settings_of("naopc_models", "full")["classifiers"]["sst"] == ["l6"]
    for source in files_of("mpnet"):
        source.path.parent.mkdir(exist_ok=True)
        source.path.touch()
    assert settings_of("soft_metrics", "full")["classifiers"]["sst"][:2] == ["", "mpnet"]
    assert settings_of("naopc_models", "full")["classifiers"]["sst"] == ["l6", "mpnet"]
    assert settings_of("soft_metrics", "laptop")["classifiers"] == [""]
