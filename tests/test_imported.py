"""What other tools explain, as scores of our features.

shap and captum are part of the environment, and their own objects are read. lime, ferret and inseq are not: their
objects here hold the same attributes as those of lime 0.2.0.1, ferret-xai 0.4.2 and inseq 0.7.1 (lime's string index is
built by the rule of its `IndexedString`); quantus hands over an array.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from flat import evaluate
from refusals import refused
from toy_models import image_inputs, model_and_texts, text_model, tokenizer, vision_model

from faithlib.attribution import attribute
from faithlib.attribution.imported import align_tokens, imported_scores, of_class
from faithlib.errors import DataError, InputError, UnknownNameError
from faithlib.evaluation import explain
from faithlib.evaluation.files import read_attributions
from faithlib.inputs import TextInputs, WordInputs

TEXTS = ["a fine, unfunny film", "not bad"]
FIRST = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]  # of [CLS] a fine , un ##fun ##ny film [SEP]
SECOND = [0.0, 1.0, 2.0, 3.0]  # of [CLS] not bad [SEP]
IN_WORDS = [[1, 2, 3, 4 + 5 + 6, 7], [1, 2, 0, 0, 0]]


def words() -> TextInputs:
    return TextInputs.from_texts(TEXTS, tokenizer(), unit="word")


def film(texts: list[str]) -> list[list[float]]:
    """A function that likes one word."""
    return [[0.2, 0.8] if "fine" in text else [0.6, 0.4] for text in texts]


# -------------------------------------------------------------------------------------------------------------- tokens
@pytest.mark.parametrize(
    "tokens",
    [
        ["[CLS]", "a", "fine", ",", "un", "##fun", "##ny", "film", "[SEP]"],
        ["<s>", "a", "Ġfine", ",", "Ġunfun", "ny", "Ġfilm", "</s>"],
        ["▁A", "▁fine", ",", "▁unfunny", "▁film"],
        ["", "a ", "fine", ", ", "unfun", "ny ", "film", ""],
    ],
)
def test_pieces_of_any_tokenizer_find_their_word(tokens: list[str]) -> None:
    features = ["a", "fine", ",", "unfunny", "film"]
    places = align_tokens(tokens, features)
    there = [place for place in places if place >= 0]
    assert sorted(set(there)) == [0, 1, 2, 3, 4] and there == sorted(there)
    assert align_tokens(["cafe", "schon"], ["Café", "SCHÖN"]) == [0, 1]


def test_other_texts_are_refused() -> None:
    for tokens, said in (
        (["good", "book"], r"token 'book' stands where the inputs have 'film' \(2 tokens for 2 features\)"),
        (["good"], r"ends before 'film' \(1 token for 2 features\)"),
        (["goodfilm"], r"covers several features \(good, film\)"),
        (["good", "film", "!"], "token '!' stands where"),
    ):
        refused(InputError, said, align_tokens, tokens, ["good", "film"])


def test_tokens_come_with_a_score_each() -> None:
    inputs = words()
    strings = ["[CLS]", *"a fine , un ##fun ##ny film".split(), "[SEP]"], ["[CLS]", "not", "bad", "[SEP]"]
    pairs = [list(zip(names, scores, strict=True)) for names, scores in zip(strings, (FIRST, SECOND), strict=True)]
    assert imported_scores(pairs, inputs).tolist() == IN_WORDS
    assert imported_scores([(strings[0], np.array(FIRST)), (strings[1], SECOND)], inputs).tolist() == IN_WORDS
    assert imported_scores(pairs, inputs, pool="mean")[0, 3] == 5
    assert imported_scores(pairs[1:], inputs[[1]]).tolist() == [[1, 2]]
    assert imported_scores(pairs, inputs[[1]], rows=[1], total=2).tolist() == [[1, 2]]
    two_tokens = [("not", 3.0), ("bad", 4.0)]  # as many as there are parts of a pair
    assert imported_scores([two_tokens], inputs[[1]]).tolist() == [[3, 4]]
    refused(InputError, "explanations of 1 text for 2 inputs", imported_scores, pairs[:1], inputs)
    refused(InputError, "has 4 tokens and 3 scores", imported_scores, [(strings[1], np.arange(3.0))], inputs[[1]])
    refused(InputError, "expected a number as the score", imported_scores, [[("not", "x"), ("bad", 1)]], inputs[[1]])
    unknown = [[("not", float("nan")), ("bad", 1.0)]]
    refused(InputError, "explanation of input 0 is NaN or infinite", imported_scores, unknown, inputs[[1]])


def test_characters_are_believed_before_letters() -> None:
    """Of bytes ("fÃ©") and unknown tokens the letters say nothing."""
    inputs = WordInputs.from_texts(["fé fé end"])
    offsets = [("<s>", 9.0, 0, 0), ("fÃ©", 1.0, 0, 2), ("Ġf", 2.0, 3, 4), ("Ã©", 3.0, 4, 5), ("[UNK]", 4.0, 6, 9)]
    assert imported_scores([offsets], inputs).tolist() == [[1, 5, 4]]
    refused(InputError, "token 'fÃ©' stands where", imported_scores, [[token[:2] for token in offsets]], inputs)
    moved = [("end", 1.0, 0, 3), ("other", 1.0, 6, 9)]
    refused(InputError, "covers several", imported_scores, [[("fé fé", 1.0, 0, 5)]], inputs)
    refused(InputError, "'end' has the characters 0 to 2, where", imported_scores, [[("end", 1.0, 0, 2)]], inputs)
    refused(InputError, "where the inputs have no feature", imported_scores, [[("more", 1.0, 20, 24)]], inputs)
    refused(InputError, "token 'other' has the characters 6 to 9", imported_scores, [moved[1:]], inputs)
    with pytest.warns(UserWarning, match=r"no token covers have the score 0 \(text 0\)"):
        assert imported_scores([[("end", 1.0, 6, 9)]], inputs).tolist() == [[0, 0, 1]]


# ------------------------------------------------------------------------------------------------------------- arrays
def test_arrays_are_known_by_their_shape() -> None:
    inputs = words()
    length = inputs.input_ids.shape[1]
    positions = torch.arange(2.0 * length).view(2, length)
    found = imported_scores(positions, inputs)
    # [CLS] is position 0; "unfunny" is the positions 4, 5 and 6.
    assert found[0].tolist() == [1, 2, 3, 4 + 5 + 6, 7]
    assert imported_scores(positions, inputs, pool="mean")[0, 3] == 5
    embedded = positions[..., None] * torch.tensor([1.0, -2.0])
    assert torch.equal(imported_scores(embedded.requires_grad_(), inputs), -found)
    assert torch.equal(imported_scores(embedded, inputs, aggregation="abs_sum"), found)
    assert torch.equal(imported_scores(found.numpy(), inputs), found)
    refused(InputError, r"shape \[2, 3\]: these inputs have features \[2, 5\] and positions \[2, 9\]", imported_scores,
            torch.ones(2, 3), inputs)  # fmt: skip
    refused(UnknownNameError, "aggregation", imported_scores, positions, inputs, aggregation="max")
    refused(InputError, r"type builtins.dict: expected an Explanation of shap", imported_scores, {}, inputs)
    to_the_right = torch.zeros(2, length)
    to_the_right[0], to_the_right[1, -4:] = torch.tensor(FIRST), torch.tensor(SECOND)
    refused(InputError, "input 1, with 4 of 9 places, is padded on the left", imported_scores, to_the_right, inputs)


def test_one_array_for_each_text_is_known_by_its_length() -> None:
    inputs = words()
    assert imported_scores([IN_WORDS[0], [1, 2]], inputs).tolist() == IN_WORDS
    assert imported_scores([FIRST, SECOND], inputs).tolist() == IN_WORDS
    assert imported_scores([FIRST[1:-1], SECOND[1:-1]], inputs).tolist() == IN_WORDS
    embedded = [torch.tensor(scores)[None, :, None] * torch.tensor([1.0, -2.0]) for scores in (FIRST, SECOND)]
    assert imported_scores(embedded, inputs).tolist() == [[-score for score in row] for row in IN_WORDS]
    said = r"text 1 \('\[CLS\] not bad \[SEP\]'\) has 3 values, and the text has 2 words, 4 tokens, 2 of them"
    refused(InputError, said, imported_scores, [FIRST, [1, 2, 3]], inputs)
    said = r"text 0 \('not bad'\) has 3 values, and the text has 2 words"
    refused(InputError, said, imported_scores, [[1, 2, 3]], WordInputs.from_texts(["not bad"]))


def test_an_array_that_may_be_read_in_two_ways_is_refused() -> None:
    """Without special tokens, three tokens of two words beside three words of a token each."""
    ids, mask = torch.tensor([[5, 6, 7], [5, 6, 7]]), torch.ones(2, 3, dtype=torch.bool)
    own = torch.tensor([[0, 0, 1], [0, 1, 2]])
    inputs = TextInputs(ids, mask, own, torch.tensor([2, 3]), torch.tensor([False, False]), pad_id=0)
    refused(InputError, "for each word or for each token", imported_scores, torch.ones(2, 3), inputs)
    assert imported_scores([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], inputs).tolist() == [[2, 1, 0], [1, 1, 1]]


def test_pixels_become_patches() -> None:
    pictures = image_inputs(2)
    values = torch.zeros(2, 3, 8, 8)
    values[0, :, :4, 4:] = 1.0
    expected = [[0, 48, 0, 0], [0, 0, 0, 0]]
    assert imported_scores(values, pictures).tolist() == expected
    assert imported_scores(values.sum(dim=1, keepdim=True).numpy(), pictures).tolist() == expected  # as quantus has it
    of_shap = SimpleNamespace(
        values=torch.stack([values, -values], dim=-1).permute(0, 2, 3, 1, 4).numpy(),
        base_values=np.zeros((2, 2)),
        data=pictures.pixels.permute(0, 2, 3, 1).numpy(),
    )
    of_every_class = imported_scores(of_shap, pictures)
    assert of_class(of_every_class, torch.tensor([0, 1]), "shap").tolist() == expected
    assert of_class(of_every_class, torch.tensor([1, 1]), "shap")[0].tolist() == [0, -48, 0, 0]


# ---------------------------------------------------------------------------------------------------------------- lime
def of_lime(text: str, weights: dict[int, dict[str, float]], *, mode: str = "classification") -> Any:
    """An object with the attributes of lime's explanation of a text, a word one wherever it stands."""
    strings = [part for part in re.split(r"(\W+)", text) if part]
    starts = np.hstack(([0], np.cumsum([len(part) for part in strings[:-1]])))
    vocabulary = list(dict.fromkeys(part for part in strings if not re.match(r"\W+", part)))
    positions = [[i for i, part in enumerate(strings) if part == word] for word in vocabulary]
    indexed = SimpleNamespace(raw=text, as_list=strings, string_start=starts, positions=positions, bow=True)
    local = {
        label: [(vocabulary.index(word), weight) for word, weight in of_label.items()]
        for label, of_label in weights.items()
    }
    mapper = SimpleNamespace(indexed_string=indexed)
    return SimpleNamespace(local_exp=local, domain_mapper=mapper, mode=mode, dummy_label=1)


def test_lime_s_words_have_their_weight_wherever_they_stand() -> None:
    inputs = TextInputs.from_texts(["bad, not bad", "a film"], tokenizer(), unit="word")
    both = [of_lime("bad, not bad", {1: {"bad": -1.0, "not": 2.0}}), of_lime("a film", {1: {"film": 3.0}})]
    with pytest.warns(UserWarning, match=r"have the score 0 \(texts 0, 1\)"):
        scores = imported_scores(both, inputs)
    assert of_class(scores, torch.tensor([1, 1]), "lime").tolist() == [[-1, 0, 2, -1], [0, 3, 0, 0]]
    refused(InputError, r"'lime' of input 1 are of the classes \[1\], and the class explained is 0: .* labels=range",
            of_class, scores, torch.tensor([1, 0]), "lime")  # fmt: skip
    refused(InputError, "the class explained is 2", of_class, scores, torch.tensor([2, 1]), "lime")
    value = [of_lime("a film", {0: {"a": -1.0, "film": -3.0}, 1: {"a": 1.0, "film": 3.0}}, mode="regression")]
    assert imported_scores(value, WordInputs.from_texts(["a film"])).tolist() == [[1, 3]]
    refused(
        InputError, "token 'film' has the characters 2 to 6", imported_scores, value, WordInputs.from_texts(["a mile"])
    )


def test_lime_itself_is_read_where_it_is() -> None:
    lime_text = pytest.importorskip("lime.lime_text", reason="lime is not installed")
    explainer = lime_text.LimeTextExplainer(random_state=0)
    texts = ["a fine, unfunny film", "not bad"]
    told = [
        explainer.explain_instance(t, lambda some: np.array(film(some)), labels=(0, 1), num_samples=50) for t in texts
    ]
    inputs = WordInputs.from_texts(texts)
    scores = of_class(imported_scores(told, inputs), torch.tensor([1, 0]), "lime")
    assert scores[0].argmax() == 1 and scores[1].abs().max() < 1e-6


# ------------------------------------------------------------------------------------------------ packages themselves
def test_captum_on_texts_gives_what_our_method_gives() -> None:
    from captum.attr import LayerGradientXActivation

    model, inputs = model_and_texts()
    target = model(input_ids=inputs.input_ids, attention_mask=inputs.attention_mask).logits.argmax(dim=1)

    def probability(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return model(input_ids=ids, attention_mask=mask).logits.softmax(dim=-1)

    method = LayerGradientXActivation(probability, model.bert.embeddings)
    theirs = method.attribute(inputs.input_ids, additional_forward_args=inputs.attention_mask, target=target)
    ours = attribute("input_x_gradient", model, inputs, aggregation="sum")
    assert torch.allclose(imported_scores(theirs, inputs), ours, atol=1e-5)
    assert torch.allclose(
        imported_scores(theirs, inputs, aggregation="l2"),
        attribute("input_x_gradient", model, inputs, aggregation="l2"),
        atol=1e-5,
    )


def test_captum_on_images_goes_into_evaluate() -> None:
    from captum.attr import FeatureAblation

    model, pictures = vision_model(), image_inputs(2)
    target = model(pictures.pixels).argmax(dim=1)
    mask = pictures.feature_of[None, None].expand(1, 3, -1, -1)
    theirs = FeatureAblation(model).attribute(pictures.pixels, target=target, feature_mask=mask)
    ours = attribute("occlusion", model, pictures, erase="zero", output="logit")
    # captum gives every pixel what its patch costs; ours is one score a patch.
    assert torch.allclose(imported_scores(theirs, pictures, pool="mean") / 3, ours, atol=1e-4)
    table = evaluate(model, pictures, attributions={"captum": theirs}, methods=[], metrics=["aopc_morf"])
    assert len(table) == 2 and set(table.method) == {"captum"}


def test_shap_itself_goes_into_evaluate() -> None:
    shap = pytest.importorskip("shap", reason="shap is not installed: pip install shap==0.51.0")
    worth = {"fine": 2.0, "bad": -1.0}

    def score(texts: list[str]) -> np.ndarray:
        # What shap puts in a word's place may stand right before the next one.
        found = [sum(value * str(text).count(word) for word, value in worth.items()) for text in texts]
        return np.array([[0.0, score] for score in found])

    told = shap.Explainer(score, shap.maskers.Text(tokenizer()), output_names=["no", "yes"])(["a fine film", "not bad"])
    own = TextInputs.from_texts(["a fine film", "not bad"], tokenizer(), unit="word")
    of_every_class = imported_scores(told, own)
    assert of_every_class.shape == (2, 3, 2)
    expected = [[0, 2, 0], [0, -1, 0]]
    assert np.allclose(of_class(of_every_class, torch.tensor([1, 1]), "shap"), expected, atol=1e-6)
    for same in (told[:, :, 1], [told[0, :, 1], told[1, :, 1]]):  # of one class; one explanation for each text
        assert np.allclose(imported_scores(same, own), expected, atol=1e-6)
    options: dict[str, Any] = {"attributions": {"shap": told}, "target": 1}
    found = explain(film, ["a fine film", "not bad"], [], **options)["shap"]
    assert np.allclose(found, expected, atol=1e-6)
    # Of "not bad" the first class is predicted, of which shap says 0.
    assert np.allclose(explain(film, ["a fine film", "not bad"], [], attributions={"shap": told})["shap"][1], 0)
    table = evaluate(film, ["a fine film", "not bad"], metrics=["aopc_morf"], **options)
    assert list(table[table.input == 0].method) == ["shap", "random"]
    assert table[table.method == "shap"].value.tolist() == pytest.approx([0.4, 0.0])


def test_ferret_and_inseq_need_a_line() -> None:
    inputs = words()
    names = ["[CLS]", *"a fine , un ##fun ##ny film".split(), "[SEP]"], ["[CLS]", "not", "bad", "[SEP]"]
    explanations = [
        SimpleNamespace(text=text, tokens=tokens, scores=np.array(scores), explainer="lime", target=1)
        for text, tokens, scores in zip(TEXTS, names, (FIRST, SECOND), strict=True)
    ]
    assert (
        imported_scores(
            [list(zip(explanation.tokens, explanation.scores, strict=True)) for explanation in explanations], inputs
        ).tolist()
        == IN_WORDS
    )
    sequences = []
    for tokens, scores in zip(names, (FIRST, SECOND), strict=True):
        by_step = torch.tensor(scores)[:, None] * torch.tensor([0.5, 1.5, float("nan")])  # of tokens that are generated
        source = [SimpleNamespace(token=token, id=0) for token in tokens]
        sequences.append(SimpleNamespace(source=source, source_attributions=by_step))
    made = [
        list(zip([token.token for token in sequence.source], sequence.source_attributions.nanmean(1), strict=True))
        for sequence in sequences
    ]
    assert imported_scores(made, inputs).tolist() == IN_WORDS


def test_no_other_tool_is_imported() -> None:
    code = (
        "import sys, faithlib.evaluation, faithlib.attribution.imported\n"
        "sys.exit(bool({'shap', 'lime', 'inseq', 'ferret'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# ----------------------------------------------------------------------------------------------------- tables and files
def table_of(texts: list[str], pattern: str = r"\w+") -> pd.DataFrame:
    rows = [
        {"text_id": i, "token": found[0], "score": float(len(found[0])), "start": found.start(), "end": found.end()}
        for i, text in enumerate(texts)
        for found in re.finditer(pattern, text)
    ]
    return pd.DataFrame(rows)


def test_a_table_is_read_from_any_file(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow, which reads parquet, is not installed")
    table = table_of(TEXTS)
    table.to_csv(tmp_path / "mine.csv", index=False)
    table.to_parquet(tmp_path / "same.parquet")
    expected = [[1, 4, 0, 7, 4], [3, 3, 0, 0, 0]]
    for made in (
        table,
        read_attributions(tmp_path / "mine.csv")["mine"],
        read_attributions(tmp_path / "same.parquet")["same"],
    ):
        with pytest.warns(UserWarning, match=r"score 0 \(text 0\)"):
            assert imported_scores(made, words()).tolist() == expected
    by_letters = table.drop(columns=["start", "end"])
    refused(InputError, "token 'unfunny' stands where the inputs have ',unfunny'", imported_scores, by_letters, words())
    assert imported_scores(by_letters[by_letters.text_id == 1].assign(text_id=0), words()[[1]]).tolist() == [[3, 3]]
    (tmp_path / "two.csv").write_text(
        "text_id,token,score,method\n0,NA,1,x\n0,film,2,x\n0,NA,3,y\n0,film,4,y\n1,a,0,y\n"
    )
    both = read_attributions(tmp_path / "two.csv", first=1)
    assert {name: part.score.tolist() for name, part in both.items()} == {"x": ["1", "2"], "y": ["3", "4"]}
    assert imported_scores(both["x"], WordInputs.from_texts(["NA film"])).tolist() == [[1, 2]]
    refused(InputError, "'mine': .*two.csv holds those of x, y", explain, film, ["NA film"],
            attributions={"mine": tmp_path / "two.csv"})  # fmt: skip


def test_a_broken_table_is_refused_in_words(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow, which reads parquet, is not installed")
    table, inputs = table_of(TEXTS), words()
    for broken, said in (
        (table.drop(columns="token"), "has no column token: it has text_id, score, start, end"),
        (table.drop(columns="end"), "one of the columns start and end"),
        (
            table.assign(text_id=table.text_id + 1),
            "text_id of a table of attributions: texts 1, 2; expected the number",
        ),
        (table.assign(score="high"), "column score of a table of attributions: expected numbers"),
        (table.assign(start=-1), "column start of a table of attributions, row 0: -1"),
        (table[table.text_id == 0], "explanations of 1 text for 2 inputs"),
    ):
        refused(InputError, said, imported_scores, broken, inputs)
    (tmp_path / "mine.txt").write_text("a")
    refused(DataError, "expected .csv or .parquet", read_attributions, tmp_path / "mine.txt")
    (tmp_path / "mine.parquet").write_text("a")
    refused(DataError, "cannot be read as parquet", read_attributions, tmp_path / "mine.parquet")
    refused(DataError, "none.parquet cannot be read", read_attributions, tmp_path / "none.parquet")


# ------------------------------------------------------------------------------------------------------------- evaluate
def test_attributions_are_scored_like_our_own_method_s_answers() -> None:
    """The same numbers, through tokens of another tokenizer, beside texts that are left out."""
    model, texts = text_model(), ["a fine film", None, "not bad"]
    options: dict[str, Any] = {"tokenizer": tokenizer(), "on_error": "skip", "metrics": ["aopc_morf", "saco"]}
    with pytest.warns(UserWarning, match="1 of 3 inputs was skipped"):
        ours = evaluate(model, texts, methods=["occlusion"], **options)
    scores = explain(model, [texts[0], texts[2]], ["occlusion"], tokenizer=tokenizer())["occlusion"]
    theirs = [
        list(
            zip(["<s>", "Ġa", "Ġfi", "ne", "Ġfilm"], [9.0, scores[0, 0], scores[0, 1], 0.0, scores[0, 2]], strict=True)
        ),
        [("gone", 1.0)],
        list(zip(["Ġnot", "Ġbad"], scores[1].tolist(), strict=False)),
    ]
    with pytest.warns(UserWarning, match="1 of 3 inputs was skipped"):
        table = evaluate(model, texts, methods=[], attributions={"mine": theirs}, **options)
    assert table.input.tolist() == [0, 0, 2, 2]
    assert table.value.tolist() == pytest.approx(ours.value.tolist(), abs=1e-6)


def test_what_cannot_be_scored_is_refused_before_the_model_is_asked() -> None:
    def never(texts: list[str]) -> list[list[float]]:
        raise AssertionError("asked")

    def call(**given: Any) -> None:
        evaluate(never, ["a fine film"], **given)

    refused(InputError, "'mine': the explanation of text 0 .* has 2 values, and the text has 3 words", call,
            attributions={"mine": [[1, 2]]})  # fmt: skip
    refused(InputError, "attributions are a list: expected a mapping", call, attributions=[[1, 2, 3]])
    refused(InputError, r"attributions \['lime'\]: methods of these names", call, attributions={"lime": [[1, 2, 3]]},
            methods=["lime"])  # fmt: skip


def test_what_no_token_covers_is_in_the_notes() -> None:
    complete = table_of(TEXTS, pattern=r"\w+|,")
    table = evaluate(film, TEXTS, attributions={"mine": complete}, metrics=["aopc_morf"])
    assert "attributions" not in table.attrs["notes"]
    lime = [of_lime(TEXTS[0], {1: {"fine": 1.0}}), of_lime(TEXTS[1], {0: {"not": 1.0, "bad": 1.0}})]
    with pytest.warns(UserWarning, match=r"score 0 \(text 0\)"):
        table = evaluate(film, TEXTS, attributions={"lime": lime}, metrics=["aopc_morf"])
    assert "score 0 (text 0)" in table.attrs["notes"]["attributions"]
