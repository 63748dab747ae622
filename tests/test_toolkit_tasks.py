"""A toolkit's tasks as they are computed, on reviews of ours in the layout of the toolkit's, and on the real ones."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import replica_data
from store import Store, run_cells

from faithbook.engine.studies import settings_of
from faithbook.paths import raw_dir, root

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "movies"
METHODS = {"saliency", "input_x_gradient", "integrated_gradients", "deeplift", "guided_backprop", "lime", "random"}


@pytest.mark.filterwarnings("ignore:.*cut off at")  # real reviews are long
@pytest.mark.long
@pytest.mark.parametrize("files", ["made", "real"])
def test_reviews_go_through_every_metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: str) -> None:
    data = tmp_path / "raw"
    data.mkdir()
    (data / "minilm").symlink_to(raw_dir() / "minilm")
    if files == "made":
        replica_data.reviews(data / "movies")
    elif SHARED.is_dir():
        (data / "movies").symlink_to(SHARED)
    else:
        pytest.skip("the real files are not on this machine")
    store = Store(tmp_path, monkeypatch, profile="smoke")
    monkeypatch.setenv("FAITHLIB_DATA", str(data))
    run_cells(root() / "notebooks" / "compute" / "together_toolkit.py", {"profile": "smoke", "dataset": "reviews"}, [])
    (manifest,) = (store.home / "data" / "results" / "smoke" / "by-hand" / "together_toolkit").glob("*/manifest.json")
    units = pd.read_parquet(manifest.parent / "units.parquet")
    n = settings_of("together_toolkit", "smoke")["inputs"]
    kept = units["id"].nunique()
    assert kept == n if files == "made" else 1 <= kept <= n  # few reviews bear marks so near their beginning
    assert units["metric"].nunique() == 9
    assert set(units["method"]) == METHODS | {"partition_shap"}
    assert not units.duplicated(["id", "method", "metric"]).any()
    texts = pd.read_parquet(manifest.parent / "units_texts.parquet").pivot(index="id", columns="metric", values="value")
    inputs = texts.dropna(subset=["words"])
    assert len(inputs) == kept and len(texts) > kept
    assert ((inputs.marked > 0) & (inputs.marked < 1)).all()
    assert inputs.cut.all() if files == "real" else not inputs.cut.any()
