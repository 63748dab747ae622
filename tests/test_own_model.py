"""What users bring is read as it is, refused where it cannot work, and reported with the numbers of `evaluate`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import transformers
from flat import evaluate
from PIL import Image
from refusals import refused
from toy_models import Bag, image_inputs, text_inputs, text_model, tokenizer, vision_model

from faithbook.engine.plan import notebook_parameters
from faithbook.models.load import Classifier
from faithbook.models.lstm import LstmClassifier
from faithbook.own import pages
from faithbook.own.cost import estimate, fitting_methods
from faithbook.own.load import OwnData, load_folder, load_texts, open_model
from faithbook.paths import root
from faithbook.sources.images import as_inputs, load_pictures
from faithlib.catalogue import FAMILIES
from faithlib.errors import DataError, InputError, ModelError, UnknownNameError
from faithlib.evaluation import MetricSettings

ROOT = Path(__file__).resolve().parents[1]


def defaults(notebook: str) -> dict[str, object]:
    return notebook_parameters(ROOT / "notebooks" / "own" / f"{notebook}.py")


@pytest.fixture(scope="module")
def classifier() -> Classifier:
    return open_model(str(defaults("own_text_model")["model"]))


@pytest.fixture(scope="module")
def seer() -> Classifier:
    return open_model(str(defaults("own_vision_model")["model"]))


@pytest.fixture(scope="module")
def toy() -> Classifier:
    """A text classifier of no size with the tokenizer of the tests."""
    return Classifier(text_model("bert"), tokenizer(), ("LABEL_0", "LABEL_1", "LABEL_2"), "toy")


def brought(inputs, gold=None) -> OwnData:
    return OwnData(tuple(f"row {b + 1}" for b in range(len(inputs))), inputs, None, gold, len(inputs))


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    pd.DataFrame(rows).to_csv(path, index=False, encoding="utf-8-sig")  # as a spreadsheet does, with a mark in front
    return path


# ---------------------------------------------------------------------------------------------------------- the texts
def test_a_table_comes_back_as_it_was_written(tmp_path, classifier):
    rows = [
        {"text": 'A "fine", funny film.', "label": "positive", "gold": "", "who": "me"},
        {"text": "Two lines:\nnot good.", "label": "Negative", "gold": "11:19", "who": "me"},
        {"text": "Café, schön, 映画", "label": "negative", "gold": "0:4 6:11", "who": "you"},
    ]
    found = load_texts(write(tmp_path / "own.csv", rows), classifier)
    assert list(found.texts) == [row["text"] for row in rows]
    assert found.labels == (1, 0, 0)
    assert (found.ids, found.total, found.unused) == (("row 1", "row 2", "row 3"), 3, ("who",))
    marked = [
        [word for word, mark in zip(words, marks, strict=False) if mark]
        for words, marks in zip(found.inputs.features, found.gold.tolist(), strict=True)
    ]
    assert marked == [[], ["not", "good"], ["Café", "schön"]]


def test_a_table_of_pairs_is_read_as_pairs(tmp_path, toy):
    rows = [
        {"text": "a fine film", "text_pair": "it is bad", "gold": "2:6 18:21"},
        {"text": "not bad", "text_pair": "fine", "gold": ""},
    ]
    found = load_texts(write(tmp_path / "pairs.csv", rows), toy)
    assert found.inputs.features[0] == ("a", "fine", "film", "it", "is", "bad")
    assert (found.texts[0], found.unused) == ("a fine film it is bad", ())
    assert found.gold[0].tolist() == [False, True, False, False, False, True]
    separators = found.inputs.input_ids == toy.tokenizer.sep_token_id
    assert separators.sum(dim=1).tolist() == [2, 2] and (found.inputs.feature_of[separators] == -1).all()
    rows[1]["text_pair"] = " "
    refused(InputError, "no text_pair in row 2", load_texts, write(tmp_path / "pairs.csv", rows), toy)


def test_labels_and_marks_may_be_left_out_and_classes_without_names_counted(tmp_path, toy):
    for rows in ([{"text": "a fine film"}], [{"text": "a fine film", "label": "", "gold": " "}]):
        found = load_texts(write(tmp_path / "own.csv", rows), toy)
        assert found.labels is None and found.gold is None
    path = write(tmp_path / "own.csv", [{"text": "a film", "label": "1"}, {"text": "a fine film", "label": "label_0"}])
    assert load_texts(path, toy).labels == (1, 0)


def test_a_sample_has_the_texts_labels_and_marks_of_its_rows(classifier):
    path = defaults("own_text_model")["data"]
    whole, some = load_texts(path, classifier), load_texts(path, classifier, n=6)
    places = [whole.ids.index(name) for name in some.ids]
    assert places == sorted(places) and len(places) == 6
    assert some.texts == tuple(whole.texts[place] for place in places)
    assert some.labels == tuple(whole.labels[place] for place in places)
    assert some.gold.sum(dim=1).tolist() == whole.gold[places].sum(dim=1).tolist()


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"text;label\nfine;positive\n", DataError, "it has text;label .commas part the cells"),
        (b"text,label\nfine,positive\n ,positive\n", InputError, "no text in row 2"),
        (b"text,label\nfine,positive\ngood,\n", InputError, "no label for row 2"),
        (
            b"text,label\nfine,good\na,1\n",
            UnknownNameError,
            r"'good' \(row 1\), '1' \(row 2\)\. Its classes are negative, positive",
        ),
        (b"text,gold\na fine film,2-6\n", InputError, r"row 1: the mark '2-6'.*for example '0:4 10:15'"),
        (b"text,gold\na fine film,2:60\n", InputError, "within the 11 characters"),
        (b"text,gold\na fine film,6:2\n", InputError, "no start:end"),
        (b"text,gold\na  fine film,1:2\n", InputError, "covers ' ', no word of"),
        (b"text\n" + b"word " * 600, InputError, r"longer than the 512 tokens .* reads: row 1 \(602 tokens\)"),
    ],
)
def test_tables_that_cannot_be_used_are_refused(tmp_path, classifier, content, error, message):
    path = tmp_path / "own.csv"
    path.write_bytes(content)
    refused(error, message, load_texts, path, classifier)


def test_other_slips_are_refused(tmp_path, folder, classifier, seer, toy):
    path = defaults("own_text_model")["data"]
    refused(DataError, "cannot be read as a table", load_texts, tmp_path / "nowhere.csv", classifier)
    refused(InputError, "n 0: expected at least one", load_texts, path, classifier, n=0)
    refused(ModelError, "sees images and reads no texts", load_texts, path, seer)
    told = r"patch 3: .*28 x 28.* expected one of 1, 2, 4, 7, 14, 28"
    refused(InputError, told, load_folder, folder, seer, patch=3)
    refused(ModelError, "reads texts: use load_texts", load_folder, folder, classifier)
    refused(
        ModelError, "a ResNet, is no timm VisionTransformer", load_folder, folder, open_model("timm:resnet10t?random")
    )
    size = {"vocab_size": 60, "d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 1}
    bart = transformers.BartForSequenceClassification(transformers.BartConfig(**size, decoder_attention_heads=1)).eval()
    told = "BartForSequenceClassification is no Hugging Face text classifier"
    own = write(tmp_path / "own.csv", [{"text": "a film"}])
    refused(ModelError, told, load_texts, own, replace(toy, model=bart))


# ------------------------------------------------------------------------------------------------------- the pictures
def test_shipped_pictures_are_those_of_the_data_set(seer):
    found = load_folder(str(defaults("own_vision_model")["data"]), seer)
    whole = load_pictures("fashion", "test", sample="all")
    rows = [whole.ids.index(f"fashion-{Path(name).stem}") for name in found.ids]
    same = replace(whole, images=[whole.images[i] for i in rows])
    assert torch.equal(found.inputs.pixels, as_inputs(same, seer.model, patch=4).pixels)
    assert found.labels == tuple(whole.labels[i] for i in rows)
    assert sorted(found.labels) == list(range(10))
    assert found.inputs.n_features.tolist() == [49] * 10


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two plain pictures, one of them in colour."""
    grey = np.arange(28 * 28, dtype=np.uint8).reshape(28, 28)
    Image.fromarray(grey).save(tmp_path / "a.png")
    Image.fromarray(np.stack([grey] * 3, axis=-1)).save(tmp_path / "b.png")
    return tmp_path


def test_plain_pictures_with_and_without_a_list_are_turned_as_the_camera_says(folder, seer):
    (folder / ".hidden").write_text("not looked at")
    upright = load_folder(folder, seer)
    assert upright.labels is None and torch.equal(*upright.inputs.pixels)  # colour or not, the model sees grey
    picture = Image.open(folder / "a.png").transpose(Image.Transpose.ROTATE_90)
    orientation = picture.getexif()
    orientation[0x0112] = 6  # shown a quarter turn clockwise
    picture.save(folder / "a.png", exif=orientation)
    (folder / "labels.csv").write_text("file,label\nb.png,BAG\na.png,coat\n")
    found = load_folder(folder, seer, patch=7)
    assert dict(zip(found.ids, found.labels, strict=True)) == {"a.png": 4, "b.png": 8}
    assert torch.equal(found.inputs.pixels, upright.inputs.pixels)
    assert found.inputs.n_features.tolist() == [16, 16]


def in_folder(folder: Path, name: str) -> None:
    (folder / name).mkdir()
    for file in ("a.png", "b.png"):
        (folder / file).rename(folder / name / file)


def listed(rows: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "labels.csv").write_text(f"file,label\n{rows}")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda f: shutil.rmtree(f), DataError, "no such folder"),
        (lambda f: [path.unlink() for path in f.iterdir()], DataError, "no images"),
        (lambda f: (f / "notes.txt").write_text("mind"), DataError, "notes.txt cannot be read as an image"),
        (lambda f: (f / "a.png").write_bytes((f / "a.png").read_bytes()[:60]), DataError, "a.png cannot be read"),
        (lambda f: (f / "bag").mkdir(), DataError, r"folders \(bag\) beside files \(a.png\)"),
        (lambda f: in_folder(f, "hat"), UnknownNameError, r"'hat' \(hat/a.png\)\. Its classes are T-shirt, trouser"),
        (lambda f: (in_folder(f, "bag"), (f / "bag" / "more").mkdir()), DataError, "more cannot be read as an image"),
        (lambda f: (f / "labels.csv").write_text("file\na.png\n"), DataError, "no column label"),
        (listed("a.png,bag\n"), DataError, "leaves out: b.png"),
        (listed("a.png,bag\nb.png,bag\nc.png,bag\n"), DataError, "not there: c.png"),
        (listed("a.png,bag\nb.png,bag\na.png,coat\n"), DataError, "more than once: a.png"),
        (listed("a.png,bag\nb.png,\n"), InputError, "no label for b.png"),
    ],
)
def test_folders_that_cannot_be_used_are_refused(folder, seer, change, error, message):
    change(folder)
    refused(error, message, load_folder, folder, seer)


# ---------------------------------------------------------------------------------------------------------- the model
@pytest.fixture
def saved(tmp_path: Path, toy: Classifier) -> Path:
    """The toy classifier as its library saves it."""
    toy.model.save_pretrained(tmp_path / "model")
    toy.tokenizer.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def test_a_plain_folder_is_opened_as_what_it_is(saved, toy, seer, tmp_path):
    own = open_model(str(saved))
    assert own.label_names == toy.label_names
    path = write(tmp_path / "own.csv", [{"text": "a fine film"}, {"text": "not funny at all"}])
    said, expected = (pages.predictions(model, load_texts(path, model)) for model in (own, toy))
    pd.testing.assert_frame_equal(said, expected, atol=1e-6)
    again = open_model("data/checkpoints/vision/fashion-base-seed0")  # from the repository's root
    assert again.label_names == seer.label_names


def settings(folder: Path, **values: object) -> None:
    said = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(said | values))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda f: shutil.rmtree(f), InputError, "there is no such folder"),
        (lambda f: (f / "config.json").unlink(), DataError, "config.json is missing"),
        (lambda f: (f / "config.json").write_text("{"), DataError, "cannot load .*JSONDecodeError"),
        (lambda f: (f / "model.safetensors").unlink(), DataError, "no .*safetensors"),
        (lambda f: (f / "model.safetensors").write_bytes(b"no weights"), DataError, "safetensors is missing, damaged"),
        (lambda f: settings(f, architecture="vit_of_nobody"), DataError, "cannot load"),
        (lambda f: settings(f, problem_type="multi_label_classification"), ModelError, "several labels at once"),
        (lambda f: text_model("bert", classes=1).save_pretrained(f), ModelError, "has 1 output"),
        (lambda f: text_model("bert").bert.save_pretrained(f), ModelError, "weights of BertModel .* answer at random"),
        (lambda f: (f / "tokenizer.json").unlink(), DataError, "cannot load"),
    ],
)
def test_models_that_cannot_be_used_are_refused(saved, change, error, message):
    change(saved)
    refused(error, message, open_model, str(saved))


def test_methods_that_a_model_cannot_have_are_named(toy):
    words = torch.randn(60, 8, generator=torch.Generator().manual_seed(0))
    lstm = replace(toy, model=LstmClassifier(words, hidden=4, classes=2).eval())
    inputs = text_inputs(toy.model)
    kept, left_out = fitting_methods(["attention", "saliency", "scaled_attention", "random"], lstm, inputs)
    assert kept == ("saliency", "random")
    assert set(left_out) == {"attention", "scaled_attention"}
    assert "no attention maps" in left_out["attention"]
    told = r"no method can explain toy\. attention: LstmClassifier gives no attention"
    refused(ModelError, told, fitting_methods, ["attention", "random"], lstm, inputs)
    refused(UnknownNameError, "'grad_cam' explains images", fitting_methods, ["grad_cam"], toy, inputs)
    pooled = Classifier(vision_model(class_token=False), None, ("a", "b", "c"), "pooled")
    kept, left_out = fitting_methods(["integrated_gradients", "grad_cam"], pooled, image_inputs())
    assert kept == ("integrated_gradients",)
    assert "no class token" in left_out["grad_cam"]


# ------------------------------------------------------------------------------------------------ before anything runs
@pytest.fixture(scope="module")
def bag() -> Classifier:
    return Classifier(Bag(), None, ("a", "b"), "bag")


@pytest.mark.parametrize("family", [None, *FAMILIES])
def test_rows_are_those_that_other_scores_take(bag, family):
    """Before there are any scores; `tests/test_rows.py` counts those of given scores to the row."""
    inputs = bag.model.texts((40, 21, 12, 7))
    gold = None if family is None else inputs.feature_mask & (torch.rand(inputs.feature_mask.shape) < 0.3)
    scores = {name: torch.rand(inputs.feature_mask.shape) for name in ("one", "two")}
    metrics = None if family is None else list(FAMILIES[family].directions)
    ahead = estimate(bag, brought(inputs, gold), ["saliency", "random"], metrics, draws=3, groups=6)
    ran = evaluate(
        bag.model, inputs, methods=scores, metrics=metrics, gold=gold, settings=MetricSettings(draws=3, groups=6)
    ).attrs["costs"]
    assert 0.8 * ahead.rows <= ran["rows_run"] <= 1.05 * ahead.rows
    assert ahead.seconds > 0


def test_what_does_not_fit_is_refused_with_a_way_out(seer, folder):
    pixels, halves = (load_folder(folder, seer, patch=patch) for patch in (1, 2))
    asked = (seer, pixels, ["rollout"], ["aopc_morf"])
    large = estimate(*asked, free=10**9)
    assert large.bytes > 2 * 784 * 784
    told = r"784 features take about .* half of what is free is .* \(a larger patch\)"
    refused(InputError, told, estimate, *asked, free=large.bytes)
    estimate(*asked, free=2 * large.bytes + 10**6)
    told = r"whole patches of the model, 4 x 4 pixels: .*multiple.*`patch`"
    refused(InputError, told, estimate, seer, halves, ["rollout"])
    assert estimate(seer, halves, ["rollout"], ["aopc_morf", "saco"]).rows > 0


# ------------------------------------------------------------------------------------------------------- what comes out
@pytest.mark.parametrize(("which", "erase"), [("classifier", None), ("toy", "mask"), ("toy", "delete")])
def test_the_reports_numbers_for_texts_are_those_of_one_call(request, tmp_path, which, erase):
    """The page explains first, for its pictures and costs, and hands the scores over."""
    classifier = request.getfixturevalue(which)
    rows = [
        {"text": "Not a fine film, but who is it?", "gold": "6:10"},
        {"text": "Funny, not bad at all.", "gold": "0:5 7:14"},
    ]
    found = load_texts(write(tmp_path / "own.csv", rows), classifier)
    names = ["saliency", "lime", "occlusion", "random"]
    options = {"metrics": ["nc", "soft_nc", "saco", "auprc"], "gold": found.gold, "erase": erase}
    scores, spent = pages.explain(names, classifier, found.inputs, erase=erase)
    table = evaluate(classifier.model, found.inputs, methods=scores, **options)
    direct = evaluate(classifier.model, list(found.texts), tokenizer=classifier.tokenizer, methods=names, **options)
    pd.testing.assert_frame_equal(table, direct, atol=1e-5)
    assert {"saliency", "lime", "occlusion"} == set(spent.method)
    assert spent.rows.gt(0).all()


def test_predictions_are_the_models(classifier):
    found = load_texts(defaults("own_text_model")["data"], classifier)
    said = pages.predictions(classifier, found)
    batch = classifier.tokenizer(list(found.texts), return_tensors="pt", padding=True)
    with torch.inference_mode():
        p = classifier.model(**batch).logits.softmax(dim=-1)
    assert said.probability.tolist() == pytest.approx(p.amax(dim=-1).tolist(), abs=1e-5)
    assert said.predicted.tolist() == [classifier.label_names[c] for c in p.argmax(dim=-1).tolist()]
    assert said.correct.tolist() == (said.predicted == said.label).astype(float).tolist()
    assert 0.5 < said.correct.mean() < 1  # the shipped sentences are not all easy


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Twelve inputs on which "good" beats "random" by about one everywhere and "bad" loses by about one, under metrics
    that point in either direction; "odd" has values of one metric only."""
    rows, noise = [], np.random.default_rng(0)
    for b in range(12):
        for metric, sign in (("nc", 1), ("auc", -1), ("complexity", 1)):
            for method, gain in (("random", 0), ("good", 1), ("bad", -1)):
                rows.append((b, method, metric, 10 * b + sign * gain + noise.uniform(-0.1, 0.1)))
            rows.append((b, "odd", metric, np.nan if metric == "nc" else 10.0 * b + sign * 2))
    return pd.DataFrame(rows, columns=["input", "method", "metric", "value"])


def test_intervals_of_shares_end_where_the_shares_do():
    hit = [(b, "one", "pointing_game", float(b > 0)) for b in range(10)]
    means = pages.summary(pd.DataFrame(hit, columns=["input", "method", "metric", "value"]))
    assert means.estimate.item() == 0.9 and means.high.item() == 1.0 and means.low.item() < 0.9


def test_the_recommended_metric_comes_first():
    assert pages.metrics_shown("saco, nc", has_gold=False) == ["saco", "nc"]
    without, with_gold = (pages.metrics_shown("default", has_gold=gold) for gold in (False, True))
    advised = pd.read_csv(root() / "data" / "recommendations.csv")["metric"].iloc[0]
    assert without[0] == with_gold[0] == pages.RECOMMENDED == advised and set(with_gold) - set(without) >= {"auprc"}


def test_means_keep_their_order_and_count_what_is_undefined(table):
    means = pages.summary(table)
    expected = table.groupby(["metric", "method"], sort=False).value.mean()
    for row in means.itertuples():
        assert row.estimate == pytest.approx(expected[row.metric, row.method], nan_ok=True)
        assert (row.n, row.dropped) == ((0, 12) if np.isnan(row.estimate) else (12, 0))
        assert np.isnan(row.estimate) or row.low < row.estimate < row.high
    assert list(dict.fromkeys(means.metric)) == ["nc", "auc", "complexity"]
    assert list(dict.fromkeys(means.method)) == ["random", "good", "bad", "odd"]
    shown = pages.side_by_side(means)
    assert list(shown.columns) == ["metric", "better", "random", "good", "bad", "odd"]
    assert list(shown.better) == ["higher", "lower", "lower"]
    assert shown.odd[0] == "–"
    first = means.iloc[0]
    assert shown.random[0] == f"{first.estimate:.2f} [{first.low:.2f}, {first.high:.2f}]"


def test_ranks_go_the_way_that_is_better_and_leave_out_what_is_not_faithfulness(table):
    places, means = pages.ranks_of_methods(table)
    assert places.loc["good"].tolist() == [1, 2, 3]  # "odd" is before it under auc; of complexity it has more
    assert places.loc["bad"].tolist() == [3, 4, 1]
    assert np.isnan(places.loc["odd", "nc"])
    assert means.method.tolist() == ["odd", "good", "random", "bad"]
    assert means.estimate.tolist() == [1, 1.5, 2.5, 3.5]
    assert means.low.isna().all()  # the same order in every input: nothing varies
    fig, _ = pages.rank_figure(places, means)
    assert [t.get_text() for t in fig.axes[0].texts][:4] == ["–", "1", "2", "3"]  # a metric a row
    assert all(tick.get_rotation() == 0 for ax in fig.axes for tick in ax.get_xticklabels())


def test_intervals_of_a_metric_with_a_range_stay_within_it():
    close = pd.DataFrame({"input": range(12), "value": [1.0] * 11 + [0.5]}).assign(method="random")
    frame = pd.concat([close.assign(metric=name) for name in ("n_auc", "soft_ns", "log_odds")], ignore_index=True)
    high = pages.summary(frame).set_index("metric").high
    assert high.n_auc == high.soft_ns == 1 < high.log_odds  # log-odds have no end
    beyond = frame.assign(value=frame.value + 1)  # no n_auc, whatever it is called
    assert (pages.summary(beyond).set_index("metric").high > 1.5).all()


def test_chance_is_beaten_by_interval_and_never_with_few_inputs(table):
    chance = pages.against_floor(table).set_index("method")
    counts = ["better", "worse", "undecided"]
    assert chance.loc["good", counts].tolist() == [2, 0, 0]
    assert chance.loc["bad", counts].tolist() == [0, 2, 0]
    assert chance.loc["odd", counts].tolist() == [1, 0, 1]
    assert chance["would decide"].isna().all()  # nothing is undecided but what has no values
    few = pages.against_floor(table[table.input < 9]).set_index("method")
    assert few.loc["good", counts].tolist() == [0, 0, 2]


def test_what_is_undecided_says_how_many_inputs_would_decide(table):
    generator = np.random.default_rng(0)
    noise = generator.normal(size=12)
    noise = (noise - noise.mean()) / noise.std()
    close = table[table.metric == "nc"].copy()
    good = close.method == "good"
    close.loc[good, "value"] = close.loc[close.method == "random", "value"].to_numpy() + 0.25 + noise
    found = pages.against_floor(close[~close.method.isin(["odd"])]).set_index("method").loc["good"]
    assert found["undecided"] == 1
    assert found["would decide"] == pytest.approx((2.8 / 0.25) ** 2, rel=0.25)  # an effect of .25 deviations
