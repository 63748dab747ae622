"""The bench: what is read, what checks find, what tables say of metrics whose worth is known, what is written."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from refusals import refused
from toy_models import answers

from faithbook import __main__
from faithbook.bench import measure, tables
from faithbook.bench.checks import check_method, check_metric
from faithbook.bench.user_metric import OwnMetric, find_method, find_metric
from faithbook.engine.profiles import settings_of
from faithbook.together.advice import QUESTIONS
from faithlib.errors import DataError, InputError, ModelError, UnknownNameError
from faithlib.inputs import WordInputs
from faithlib.perturb import Perturber

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def written(folder: Path, code: str, name: str = "mine") -> str:
    head = 'import torch\n\nfrom faithlib import evaluation\n\nDIRECTION = "higher"\n\n\n'
    (folder / f"{name}.py").write_text(head + code)
    return str(folder / f"{name}.py")


def asked() -> Perturber:
    return Perturber(answers, WordInputs.from_texts(["a good film", "a dull one"]))


# ------------------------------------------------------------------------------------------------------------- reading
def test_a_file_with_one_function_is_a_metric() -> None:
    metric = find_metric(str(EXAMPLES / "lone_loss.py"))
    assert (metric.name, metric.direction, metric.asks_model) == ("lone_loss", "higher", True)
    assert metric.about.startswith("What losing a feature")
    perturber = asked()
    # "good" is all that the model uses: without it .9 becomes .5. Of three words two are the upper half.
    assert metric(perturber, torch.tensor([[0.0, 1.0, 0.0], [1.0, 2.0, 3.0]])).tolist() == pytest.approx([0.2, 0.0])
    assert not find_metric(str(EXAMPLES / "bold.py")).asks_model


TWO = "def one(scores, present): ...\n\n\ndef two(perturber, scores): ...\n"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def mine(perturber, scores, labels): ...", r"takes \(perturber, scores, labels\).*it gets no labels"),
        ("def mine(a, b): ...", r"takes \(a, b\): a metric takes \(perturber, scores\) or \(scores, present\)"),
        ("def nc(perturber, scores): ...", "nc is a metric of the catalogue"),
        ("def mine(perturber, scores):\n    return 1 / 0\nmine(0, 0)", "cannot be read: ZeroDivisionError"),
        ("x = 1", r"has 0 public functions \(none\)"),
        (TWO, r"has 2 public functions \(one, two\)"),
        ("DIRECTION = None\ndef mine(perturber, scores): ...\n", "says no DIRECTION"),
        ("DIRECTION = 'up'\ndef mine(perturber, scores): ...\n", "says DIRECTION = 'up'"),
    ],
)
def test_what_is_no_metric_is_refused(tmp_path: Path, code: str, said: str) -> None:
    refused(InputError, said, find_metric, written(tmp_path, code))
    refused(DataError, "is not there", find_metric, str(tmp_path / "other.py"))
    file = written(tmp_path, TWO)
    assert find_metric(f"{file}:two").asks_model
    refused(UnknownNameError, "tow", find_metric, f"{file}:tow")


# -------------------------------------------------------------------------------------------------------------- checks
# What is said of a metric's body, as an error or as a fault.
METRICS = {
    "shape (12, 1)": "return scores[:, :1]",
    "a float: expected a torch tensor": "return 0.5",
    "an infinite value": "return scores[:, 0] / 0",
    "failed with KeyError": "return {}['x']",
    "changed the scores": "return scores.mul_(2).sum(dim=1)",
    "NaN for every input": "return scores[:, 0] * torch.nan",
    "is NaN for": "return torch.where(perturber.feature_mask.sum(dim=1) > 10, perturber.full, torch.nan)",
    "answers the same question twice": "return torch.rand(len(scores))",
    "order of the batch": "return perturber.full * torch.arange(len(scores))",
    "other inputs of the batch": "return perturber.full + (~perturber.feature_mask).sum(dim=1)",
    "beyond an input's features": "return scores.sum(dim=1)",
    "the classes get other numbers": "return perturber.logits(perturber.feature_mask[:, None])[:, 0, 1]",
    "looks at the words": (
        "metals = {'copper', 'nickel', 'bronze', 'zinc'}\n"
        "    best = scores.masked_fill(~perturber.feature_mask, -9.0).argmax(dim=1).tolist()\n"
        "    names = zip(perturber.inputs.features, best)\n"
        "    return torch.tensor([float(row[f] in metals or len(row[f])) for row, f in names])"
    ),
    "the same value for every explanation": "return torch.ones(len(scores))",
}
METHODS = {
    "the classes get other numbers": "perturber.logits(~torch.eye(n).bool().expand(b, -1, -1))[..., 1]",
    "order of the batch": "torch.arange(b)[:, None] + torch.zeros(b, n)",
    "answered shape (1, 1): expected [B, F] = [12,": "torch.zeros(1, 1)",
    "NaN or infinite scores": "torch.ones(b, n) / 0",
}


@pytest.mark.parametrize(
    ("kind", "said"), [*(("metric", one) for one in METRICS), *(("method", one) for one in METHODS)]
)
def test_what_is_wrong_with_metrics_and_methods_is_said(tmp_path: Path, kind: str, said: str) -> None:
    code = f"def mine(perturber, scores):\n    {METRICS.get(said)}\n"
    if kind == "method":
        code = f"def mine(perturber):\n    b, n = perturber.feature_mask.shape\n    return {METHODS[said]}\n"
    file = written(tmp_path, code)
    try:
        found = (check_metric(find_metric(file)) if kind == "metric" else check_method(find_method(file))).faults
    except InputError as error:
        found = (str(error),)
    assert any(said in fault for fault in found), found
    assert all(fault.startswith("mine") for fault in found)


@pytest.mark.parametrize(
    ("code", "by_amount"),
    [
        ("hard_scores(perturber, scores)['ns'].mean(dim=1)", False),
        ("soft_scores(perturber, scores)['soft_nc'].mean(dim=1)", True),
        ("aopc_scores(perturber, scores)['aopc_morf']", False),
    ],
)
def test_metrics_of_the_catalogue_pass(tmp_path: Path, code: str, by_amount: bool) -> None:
    found = check_metric(
        find_metric(written(tmp_path, f"def mine(perturber, scores):\n    return evaluation.{code}\n"))
    )
    assert [fault for fault in found.faults if "is NaN" not in fault] == []
    assert found.by_amount == by_amount


def test_the_examples_are_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_metric(find_metric(str(EXAMPLES / "lone_loss.py"))).faults == ()
    assert check_method(find_method(str(EXAMPLES / "lone_words.py"))).faults == ()
    (fault,) = check_metric(find_metric(str(EXAMPLES / "bold.py"))).faults
    assert "changes with the other inputs of the batch" in fault
    monkeypatch.syspath_prepend(str(EXAMPLES))
    runpy.run_path(str(EXAMPLES / "test_lone_loss.py"))["test_the_reason_is_preferred_to_its_opposite"]()
    sys.modules.pop("lone_loss")


def test_a_method_of_the_library_passes(tmp_path: Path) -> None:
    code = "def mine(model, inputs, target):\n    from faithlib.attribution import attribute\n"
    code += "    return attribute('integrated_gradients', model, inputs, target=target)\n"
    method = find_method(written(tmp_path, code))
    assert check_method(method).faults == ()
    perturber = asked()
    with pytest.raises(ModelError, match="looks into a model"):  # what a function does not allow is no fault
        method(len, perturber.inputs, perturber)


# -------------------------------------------------------------------------------------------------------------- tables
N = 40
GOOD = {"lime": 0.9, "saliency": 0.6, "attention": 0.3, "random": 0.1}


def made(mine: dict[str, float], direction: str = "higher", *, by_amount: bool = False) -> dict[str, pd.DataFrame]:
    """Tables of NC, Soft-NC and a metric `mine`: the two know what is good; `mine` gives the means that are said."""
    generator = np.random.default_rng(0)
    truth = {"truth": 1.0, "100% shuffled": 0.2, "opposite": 0.0} | GOOD
    own = {name: mine.get(name, mine["lime"] if name == "truth" else mine["random"]) for name in truth}

    def rows(of: dict[str, dict[str, float]], **labels: str) -> pd.DataFrame:
        index = pd.MultiIndex.from_product([of, next(iter(of.values())), [f"t{i}" for i in range(N)]])
        frame = index.to_frame(index=False, name=["metric", "method", "id"]).assign(modality="text", **labels)
        level = [of[metric][method] for metric, method, _ in index]
        return frame.assign(value=np.array(level) + 0.02 * generator.normal(size=len(frame)))

    ranks = {"soft_nc": GOOD, "mine": mine}
    shuffled = {metric: dict.fromkeys(GOOD, of["random"]) for metric, of in ranks.items()}
    models = ("linear", "detector", "trained", "trained with erasure", "misled by erasure")
    planted = {"nc": truth, "soft_nc": truth, "mine": own, "auprc": truth}
    return tables.of_metric(
        OwnMetric("mine", lambda perturber, scores: scores, direction, asks_model=True),
        pd.concat([rows({"nc": GOOD, **ranks}), rows(shuffled, control="shuffled"), rows(ranks, control="ranks")]),
        pd.concat([rows(planted, model=model, erase="mask") for model in models]),
        {("text", name): 7.0 for name in ("hard", "soft", "mine")},
        by_amount=by_amount,
    )


WHOLE = {"answers", "diagnosticity", "amounts", "agreement", "planted_truth", "follows_the_truth", "misled"}


def test_a_good_metric_gets_yes_a_bad_one_no_and_a_blind_one_is_unsure() -> None:
    """Yes four times, also where lower is better."""
    upside_down = {"lime": 0.1, "saliency": 0.3, "attention": 0.4, "random": 0.9}
    told = made(upside_down, by_amount=True)["answers"].set_index("metric").loc["mine"]
    assert told[list(QUESTIONS[:3])].tolist() == ["no", "no", "no"]
    told = made(dict.fromkeys(GOOD, 0.5))["answers"].set_index("metric").loc["mine"]
    assert (told["separates"], told["prefers the truth"]) == ("unsure", "unsure")
    found = made({name: 1 - value for name, value in GOOD.items()}, "lower")
    assert set(found["answers"].set_index("metric").loc["mine", list(QUESTIONS)]) == {"yes"}
    agreement = found["agreement"].set_index("metric").estimate
    assert set(agreement.index) == {"nc", "soft_nc"} and agreement.min() > 0.9


def test_tables_have_n_intervals_and_prices() -> None:
    found = made(GOOD, by_amount=True)
    assert set(found) == WHOLE
    assert found["answers"].set_index("metric").loc["mine", "without mean importance"] == "yes"
    for name, table in found.items():
        assert (table.n == N).all(), name
        if name != "answers":
            assert (table.low <= table.estimate).all() and (table.estimate <= table.high).all(), name
    told = found["diagnosticity"].set_index("metric")
    assert told.loc["mine", "model calls per input"] == 7 and told.loc["nc", "model calls per input"] == 7
    assert set(found["amounts"].metric) == {"soft_nc", "mine"}
    assert set(found["planted_truth"].model) > {"linear", "detector", "trained", "misled by erasure"}


# --------------------------------------------------------------------------------------------------------------- whole
def checked_page(printed: str, tables_of_page: int, pictures_of_page: int) -> Path:
    """The folder of the run whose page the last line names; the page has its tables, and pictures with words."""
    page = Path(printed.splitlines()[-1].removeprefix("open "))
    text = page.read_text()
    assert text.count("<table") == tables_of_page
    pictures = re.findall(r'<img alt="([^"]+)"[^>]* src="([^"]+)"', text)
    assert len(pictures) == pictures_of_page
    assert all((page.parent / source).is_file() and len(alt) > 40 for alt, source in pictures)
    return next(folder for folder in page.parents if (folder / "manifest.json").is_file())


@pytest.mark.long
def test_a_bad_metric_is_told_so_and_gets_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    """By the command line, in small, on texts and pictures."""
    assert __main__.main(["bench", str(EXAMPLES / "bold.py"), "--profile", "smoke"]) == 1
    told = capsys.readouterr().out
    assert "wrong: bold changes with the other inputs of the batch" in told
    assert "modality: text; separates: " in told and "modality: vision; separates: " in told
    folder = checked_page(told, len(WHOLE), 2)
    assert {file.stem.removeprefix("own_metric_") for file in folder.glob("*.csv")} == WHOLE
    table = pd.read_csv(folder / "own_metric_diagnosticity.csv")
    assert set(table.metric) == {*measure.METRICS, "bold"}  # without NAOPC
    assert (table[table.metric == "bold"]["model calls per input"] == 1).all()  # it asks about the input as it is


@pytest.mark.long
def test_a_method_gets_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    """A page that is there is made anew: nobody knows what else the file reads."""
    line = ["bench", "--method", str(EXAMPLES / "lone_words.py"), "--profile", "smoke", "--only", "text"]
    assert __main__.main(line) == 0
    told = capsys.readouterr().out
    assert "than random scores: 0 better, 0 worse, " in told  # of three texts nothing is decided
    folder = checked_page(told, 4, 1)
    true = pd.read_csv(folder / "own_method_how_true.csv").set_index(["modality", "model", "method"]).estimate
    # The detector answers by what was planted alone, so each planted word alone tells.
    assert true["text", "detector", "lone_words"] == pytest.approx(1)
    others = set(measure.methods("text", settings_of("own_method", "smoke")))
    assert set(pd.read_csv(folder / "own_method_alike.csv").method) == others


def test_prices_are_rows_of_one_input() -> None:
    metric = find_metric(str(EXAMPLES / "lone_loss.py"))
    settings = settings_of("own_metric", "smoke")
    prices = measure.real("vision", settings).prices(metric)
    assert prices["vision", "lone_loss"] == 50  # a row a cell, and the picture itself
