"""Word alignment: words, links and scores against closed forms and slow loops; gold files read and refused."""

from __future__ import annotations

import json
import math
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from toy_models import text_model, tokenizer

from faithbook.sources.splits import stable_hash
from faithbook.sources.tokenise import Pair, copied_words, is_copied, marked_words, split_words, words_of
from faithbook.stats.comparison import Comparison
from faithbook.stats.conditions import Conditions
from faithbook.studies.crosslingual import gold as gold_module
from faithbook.studies.crosslingual.gold import SCORES, link_counts, load_gold, scores_of_counts
from faithbook.studies.crosslingual.links import encoder_links, fast_align, mutual_argmax, softmax_links, word_vectors
from faithbook.studies.crosslingual.zaman_belinkov_alignment import EVERY, found_batches, score
from faithlib.errors import DataError, FaithlibError, InputError, UnknownNameError

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "word_alignment"
TEXTS = ("a fine film , not bad at all", "unfunny", "who is it ?", "it is not bad , not at all bad .")


# --------------------------------------------------------------------------------------------------------------- words
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't re-use {entity_id}!", ["Don't", "re-use", "{entity_id}", "!"]),
        ("Не може да се свърже (порт 80).", ["Не", "може", "да", "се", "свърже", "(", "порт", "80", ")", "."]),
        ("Das WLAN-Gerät läuft…", ["Das", "WLAN-Gerät", "läuft", "…"]),
        ("¿Qué pasó?", ["¿", "Qué", "pasó", "?"]),
        ("Aujourd’hui, l'appareil", ["Aujourd’hui", ",", "l'appareil"]),
        ("Что-то «не так»", ["Что-то", "«", "не", "так", "»"]),
        ("Assistant'ı güncelle", ["Assistant'ı", "güncelle"]),
        ("Η σύνδεση απέτυχε·", ["Η", "σύνδεση", "απέτυχε", "·"]),
        ("使用API密钥，{name}。", ["使", "用", "API", "密", "钥", "，", "{name}", "。"]),
        ("'quoted' -5 a--b 2.5", ["'", "quoted", "'", "-", "5", "a", "-", "-", "b", "2", ".", "5"]),
        ("{a b} {} {{x}}", ["{", "a", "b", "}", "{", "}", "{", "{x}", "}"]),
        ("e\u0301te\u0301 o\u00adk \u26a0\ufe0f", ["e\u0301te\u0301", "o\u00adk", "\u26a0\ufe0f"]),
        ("", []),
    ],
)
def test_words_of_every_language(text, words):
    assert words_of(text, split_words(text)) == tuple(words)


@given(st.text(st.sampled_from("aZé-'’{}_ .,\n\u0301\u200b9中文й\U00020000") | st.characters(), max_size=30))
def test_every_character_but_white_space_lies_in_one_word(text):
    spans = split_words(text)
    covered = [i for start, end in spans for i in range(start, end)]
    assert covered == [i for i, character in enumerate(text) if not character.isspace()]
    assert all(start < end for start, end in spans)


@given(st.text(st.sampled_from("aZé-'’ .,\n中文й"), max_size=20), st.randoms(use_true_random=False))
def test_marks_are_carried_to_the_words_that_hold_them(text, random):
    """Of the same text, cut into words of one character each or more, some of them marked."""
    letters = [character for character in text if not character.isspace()]
    marked = [random.random() < 0.4 for _ in letters]
    theirs, spans = "", []
    for letter, mark in zip(letters, marked, strict=True):
        spans += [(len(theirs), len(theirs) + 1)] if mark else []
        theirs += letter + " " * random.randrange(2)
    words = split_words(text)
    places = [i for i, character in enumerate(text) if not character.isspace()]
    expected = [any(marked[places.index(i)] for i in range(*span)) for span in words]
    assert list(marked_words(spans, theirs, text, words)) == expected
    refused(DataError, "expected the same text, blanks aside", marked_words, spans, theirs, f"{text}!", words)


def test_copied_words_are_marks_numbers_placeholders_and_names():
    source = ("Öffne", "Spotify", "{name}", "80", ".", "System")
    assert copied_words(source, ("open", "SPOTIFY", "system")) == (False, True, True, True, True, True)
    assert [is_copied(word) for word in ("{name}", "12-34", "…", "3D", "{a b}", "设")] == [
        True, True, True, False, False, False,
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- vectors
@pytest.fixture(scope="module")
def model():
    return text_model("bert")


def vectors(model, texts, **options):
    return word_vectors(model, tokenizer(), texts, [split_words(text) for text in texts], **options)


def test_a_word_is_the_mean_of_its_pieces_in_every_layer(model):
    """By hand, one text at a time: the pieces of "unfunny" are tokens 1 to 3, of "film" token 5."""
    batch = tokenizer()("unfunny fine film", return_tensors="pt")
    assert batch.tokens() == ["[CLS]", "un", "##fun", "##ny", "fine", "film", "[SEP]"]
    with torch.no_grad():
        states = model(**batch, output_hidden_states=True).hidden_states
    (found,) = vectors(model, ["unfunny fine film"])
    assert found.shape == (3, 3, 16)
    for layer, state in enumerate(states):
        expected = torch.stack([state[0, 1:4].mean(0), state[0, 4], state[0, 5]])
        torch.testing.assert_close(found[layer], expected, atol=1e-6, rtol=0)
    torch.testing.assert_close(vectors(model, ["unfunny fine film"], layers=[2, 0])[0], found[[2, 0]])


@pytest.mark.parametrize("batch_size", [1, 3, 8])
def test_padding_order_and_batches_change_nothing(model, batch_size):
    alone = [vectors(model, [text])[0] for text in TEXTS]
    turned = vectors(model, TEXTS[::-1], batch_size=batch_size)[::-1]
    for *found, vector in zip(vectors(model, TEXTS, batch_size=batch_size), turned, alone, strict=True):
        for other in found:
            torch.testing.assert_close(other, vector, atol=1e-5, rtol=0)


def test_a_piece_over_two_words_belongs_to_both_and_a_word_without_pieces_is_zero(model):
    text = "fine \u200b film"
    (found,) = word_vectors(model, tokenizer(), [text], [[(0, 2), (2, 4), (5, 6), (7, 11)]])
    assert torch.equal(found[:, 0], found[:, 1])
    assert not found[:, 2].any()
    assert not torch.equal(found[:, 0], found[:, 3])
    assert word_vectors(model, tokenizer(), [text], [[]])[0].shape == (3, 0, 16)


def test_vectors_refuse_what_they_cannot_use(model):
    words, arguments = [split_words(TEXTS[0])], (model, tokenizer(), TEXTS[:1])
    refused(InputError, r"layer 3: the model has 0 \(embeddings\) to 2", word_vectors, *arguments, words, layers=[3])
    refused(InputError, "1 lists of words for 2 texts", word_vectors, model, tokenizer(), TEXTS[:2], words)
    for span in ((0, 99), (3, 3), (-1, 2)):
        refused(InputError, "expected 0 <= start < end", word_vectors, *arguments, [[span]])
    refused(InputError, "has 42 tokens and the model takes 32", vectors, model, ["a " * 40])
    refused(InputError, "training mode", vectors, text_model("bert").train(), TEXTS)


def test_a_text_aligned_with_itself_is_the_diagonal(model):
    pairs = [Pair.from_texts(text, text) for text in TEXTS]
    found = encoder_links(model, tokenizer(), pairs)
    assert list(found) == [0, 1, 2]
    for links in found.values():
        assert links == tuple(frozenset((i, i) for i in range(len(pair.source_words))) for pair in pairs)


# --------------------------------------------------------------------------------------------------------------- links
def random_vectors(words, seed, size=6):
    return torch.randn(words, size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_all_that_tie_are_linked_and_zero_vectors_never():
    unit = torch.eye(3)
    assert mutual_argmax(unit[[0, 1]], unit[[0, 0, 1]]) == {(0, 0), (0, 1), (1, 2)}
    zero = torch.zeros(1, 3)
    for link in (mutual_argmax, softmax_links):
        assert link(torch.cat([zero, 20 * unit]), torch.cat([20 * unit, zero])) == {(1, 0), (2, 1), (3, 2)}
        assert link(zero, unit) == frozenset()
        assert link(unit, torch.zeros(0, 3)) == frozenset()


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 999), st.sampled_from([1e-3, 0.1, 0.3]))
def test_links_are_the_formulas(n, m, seed, threshold):
    source, target = random_vectors(n, seed).numpy(), random_vectors(m, seed + 1).numpy()
    power = np.exp(source @ target.T)
    both = (power / power.sum(axis=1, keepdims=True) > threshold) & (power / power.sum(axis=0) > threshold)
    given = torch.from_numpy(source), torch.from_numpy(target)
    assert softmax_links(*given, threshold=threshold) == set(zip(*map(np.ndarray.tolist, both.nonzero()), strict=True))
    cosine = source @ target.T / np.linalg.norm(source, axis=1)[:, None] / np.linalg.norm(target, axis=1)
    nearest, back = cosine.argmax(axis=1), cosine.argmax(axis=0)
    assert mutual_argmax(*given) == {(i, int(j)) for i, j in enumerate(nearest) if back[j] == i}


# ---------------------------------------------------------------------------------------------------------- fast_align
def made_pairs(n=400):
    """Sentences of made-up words, each with its one translation, half in another order."""
    generator = np.random.default_rng(0)
    pairs, gold = [], []
    for k in range(n):
        order = generator.permutation(12)[: generator.integers(3, 8)]
        turned = order[::-1] if k % 2 else order
        source, target = (" ".join(f"{stem}{w}" for w in words) for stem, words in (("s", order), ("T", turned)))
        pairs.append(Pair.from_texts(source, target))
        gold.append(frozenset((i, list(turned).index(w)) for i, w in enumerate(order)))
    return pairs, gold


def test_fast_align_learns_the_dictionary_and_always_the_same():
    pairs, gold = made_pairs()
    found = fast_align(pairs)
    assert alignment_scores(found, gold).f1 > 0.97
    assert fast_align(pairs) == found
    shouted = [Pair.from_texts(pair.source.upper(), pair.target) for pair in pairs]
    assert fast_align(shouted) == found


# -------------------------------------------------------------------------------------------------------------- scores
def alignment_scores(*links) -> SimpleNamespace:
    """Scores of all sentences together."""
    total = {name: values.sum() for name, values in link_counts(*links).items()}
    return SimpleNamespace(**scores_of_counts(total))


LINKS = st.frozensets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=6)


ONE, EYE, PAIR = frozenset({(0, 0)}), torch.eye(3), Pair.from_texts("a b", "c d")


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (InputError, "NaN", lambda: mutual_argmax(EYE, EYE * torch.nan)),
        (InputError, r"\(3, 3\) and \(3, 2\): expected", lambda: mutual_argmax(EYE, EYE[:, :2])),
        (InputError, "NaN", lambda: softmax_links(EYE, EYE * torch.nan)),
        (InputError, "threshold 1", lambda: softmax_links(EYE, EYE, threshold=1)),
        (InputError, "pair 1 has a side without words", lambda: fast_align([PAIR, Pair.from_texts("a", " ")])),
        (InputError, "no pairs", lambda: fast_align([])),
        (FaithlibError, r"only for Python 3\.11 and Linux on x86-64", lambda: fast_align([PAIR])),
        (InputError, "links of 2, 1 and 1 sentences", lambda: alignment_scores([ONE, ONE], [ONE])),
        (InputError, "at least one", lambda: alignment_scores([], [])),
        (InputError, "sentence 0 has sure links that are not p", lambda: link_counts([ONE], [ONE], [frozenset()])),
        (UnknownNameError, "recal", lambda: score("recal", counted([ONE] * 2, [ONE] * 2))),
        (UnknownNameError, "did you mean 'bible'", lambda: load_gold("bibel")),
        (InputError, "n 0: expected at least one", lambda: load_gold("xlwa", 0)),
    ],
)
def test_what_cannot_be_aligned_or_scored_is_refused(folder, monkeypatch, error, message, call):
    if error is FaithlibError:
        monkeypatch.setitem(sys.modules, "systran_align", None)
    refused(error, message, call)


@given(st.lists(st.tuples(LINKS, LINKS, LINKS), min_size=1, max_size=5))
def test_scores_are_those_of_a_slow_loop(sentences):
    found, sure, extra = map(list, zip(*sentences, strict=True))
    possible = [s | p for s, p in zip(sure, extra, strict=True)]
    a = s = hits_s = hits_p = 0
    for k in range(len(found)):
        for link in [(i, j) for i in range(4) for j in range(4)]:
            a += link in found[k]
            s += link in sure[k]
            hits_s += link in found[k] and link in sure[k]
            hits_p += link in found[k] and link in possible[k]
    scores = alignment_scores(found, sure, possible)
    for value, top, bottom in ((scores.precision, hits_p, a), (scores.recall, hits_s, s)):
        assert value == pytest.approx(top / bottom) if bottom else np.isnan(value)
    assert scores.aer == pytest.approx(1 - (hits_s + hits_p) / (a + s)) if a + s else np.isnan(scores.aer)
    if a and s:
        assert scores.f1 == pytest.approx(2 / (a / hits_p + s / hits_s) if hits_p and hits_s else 0)
    if s:
        assert vars(alignment_scores(sure, sure, possible)) == dict(zip(SCORES, (1, 1, 1, 0), strict=True))
    plain = alignment_scores(found, sure)
    assert np.isnan(plain.f1) or plain.f1 == pytest.approx(1 - plain.aer)


def counted(found: list[frozenset], sure: list[frozenset], n_resamples: int = 200) -> Callable[[str], Comparison]:
    """Mean counts of a sentence with draws of sentences."""
    long = pd.DataFrame(link_counts(found, sure)).rename_axis("id").reset_index().melt("id", var_name="metric")
    cells = Conditions.of(long, over=["metric"], unit="id", n_resamples=n_resamples)
    return lambda count: Comparison(cells.mean(metric=count))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(LINKS.filter(bool), LINKS.filter(bool)), min_size=2, max_size=5))
def test_scores_with_draws_are_ratios_of_sums(sentences):
    found, sure = map(list, zip(*sentences, strict=True))
    scores, mean = alignment_scores(found, sure), counted(found, sure)
    for name in SCORES:
        estimate = score(name, mean).ours
        assert estimate.point == pytest.approx(getattr(scores, name))
        for draw, times in enumerate(estimate.resamples.counts[:20].astype(int)):
            again = [(f, s) for pair, time in zip(sentences, times, strict=True) for f, s in [pair] * time]
            assert estimate.replicates[draw] == pytest.approx(
                getattr(alignment_scores(*map(list, zip(*again, strict=True))), name)
            )
        ends = estimate.interval()
        nothing_varies = math.isnan(ends.low)
        assert nothing_varies or 0 <= ends.low <= ends.estimate <= ends.high <= 1
        assert (estimate.n, estimate.fewest) == (len(found), len(found))


def test_more_orders_of_the_same_texts_leave_the_spread_of_one():
    """Batches of several orders were drawn as if each were new texts, their interval shrank with every order."""
    frame = pd.DataFrame({"model": "m", "language": "bg", "draw": 0, "id": range(24), "value": [1.0, 0.0, 1.0] * 8})
    several = pd.concat([frame.assign(draw=draw) for draw in range(4)])
    single, many = (found_batches(hits, n_resamples=1999)["m", EVERY] for hits in (frame, several))
    assert many.point == single.point
    assert many.standard_error == pytest.approx(single.standard_error, rel=0.05)
    assert (many.n, many.fewest) == (single.n, single.fewest) == (24, 24)
    wide, narrow = (found.interval().high - found.interval().low for found in (many, single))
    assert wide == pytest.approx(narrow, rel=0.1)


# ---------------------------------------------------------------------------------------------------------------- gold
GREEK = "id\taltId\ttext\n" + "".join(
    f"n4000100{v}00{w}\tx\t{t}\n" for v, w, t in ((1, 1, "ἐν"), (1, 2, "ἀρχῇ"), (2, 1, "ὁ"))
)
ENGLISH = "id\tsource_verse\ttext\tskip_space_after\texclude\n" + "".join(
    f"4000100{v}00{w}\t4000100{v}\t{t}\t{glued}\t{mark}\n"
    for v, w, t, glued, mark in (
        (1, 1, "“", "y", "y"), (1, 2, "In", "", ""), (1, 3, "the", "", ""), (1, 4, "beginning", "y", ""),
        (1, 5, ".", "", "y"), (2, 1, "The", "", ""),
    )
)  # fmt: skip
RECORDS = [
    {"source": ["n40001001001"], "target": ["40001001002"]},
    {"source": ["n40001001002"], "target": ["40001001003", "40001001004"]},
    {"source": ["n40001002001"], "target": ["40001002001"]},
]


@pytest.fixture
def bible(tmp_path, monkeypatch):
    """Writes an archive with these tables and has it read."""

    def write(greek=GREEK, english=ENGLISH, records=RECORDS):
        with zipfile.ZipFile(tmp_path / "bible.whl", "w") as opened:
            opened.writestr(gold_module._GREEK, greek)
            opened.writestr(gold_module._ENGLISH, english)
            opened.writestr(gold_module._BIBLE, json.dumps({"records": records}))
        gold_module._bible.cache_clear()
        return load_gold("bible")

    monkeypatch.setattr(gold_module, "fetch", lambda name: tmp_path / f"{name}.whl")
    yield write
    gold_module._bible.cache_clear()


def test_verses_are_read_with_their_marks_but_without_linking_them(bible):
    first, second = bible()
    assert (first.source, first.target) == ("εν αρχή", "“In the beginning.")
    assert first.strings == (("εν", "αρχή"), ("In", "the", "beginning"))
    assert first.sure == first.possible == {(0, 0), (1, 1), (1, 2)}
    assert (second.id, second.target, second.sure) == ("bible-40001002", "The", {(0, 0)})
    crossing = [*RECORDS[:2], {"source": ["n40001001001", "n40001002001"], "target": ["40001002001"]}]
    assert bible(records=crossing) == ()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"greek": GREEK.replace("text", "words")}, "KeyError"),
        ({"english": ENGLISH.rsplit("\t", 4)[0] + "\n"}, "as many cells as columns"),
        ({"records": [{"source": ["n40001001009"], "target": ["40001001002"]}]}, "n40001001009"),
        ({"records": [{"source": None, "target": []}]}, "TypeError"),
    ],
)
def test_damaged_verses_are_refused(bible, damage, message):
    refused(DataError, rf"row of .* is not as expected, .*({message})", bible, **damage)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    for name in ("rwth", "xlwa"):
        (tmp_path / name).mkdir()
    (tmp_path / "rwth" / "test.de-en").write_text("Das stimmt . ||| That 's true .\nNein ||| No\n")
    (tmp_path / "rwth" / "deen.talp").write_text("1-1 2p2 3-4 2-3 \n\n")
    (tmp_path / "xlwa" / "bg_test.tsv").write_text(
        "Bacteria spread .\tБактериите се разпространяват\t0-0 1-2 1-1\t\t\n"
    )
    return tmp_path


def test_sure_and_possible_links_are_told_apart(folder):
    gold = sorted(load_gold("rwth"), key=lambda pair: pair.id)
    assert gold[0].strings == (("Das", "stimmt", "."), ("That", "'s", "true", "."))
    assert gold[0].sure == {(0, 0), (2, 3), (1, 2)}
    assert gold[0].possible == gold[0].sure | {(1, 1)}
    assert (gold[1].id, gold[1].sure) == ("rwth-1", frozenset())
    (pair,) = load_gold("xlwa")
    assert pair.strings[1] == ("Бактериите", "се", "разпространяват")
    assert pair.sure == pair.possible == {(0, 0), (1, 2), (1, 1)}


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("rwth/test.de-en", "Das stimmt .\nNein ||| No\n", "is not a sentence and its translation"),
        ("rwth/test.de-en", "Das stimmt . ||| \nNein ||| No\n", "is not a sentence and its translation"),
        ("rwth/test.de-en", "Nein ||| No\n", "test.de-en has 1 lines and deen.talp 2"),
        ("rwth/deen.talp", "0-1\n\n", "line 1: '0-1' is no link of 3 and 4 words counted from 1"),
        ("rwth/deen.talp", "1-1 2?2\n\n", r"'2\?2' is no link"),
        ("xlwa/bg_test.tsv", "a b\tв\t0-0 2-0\n", "'2-0' is no link of 2 and 1 words counted from 0"),
        ("rwth/deen.talp", None, r"deen\.talp .* is missing"),
    ],
)
def test_malformed_rows_are_refused_with_their_place(folder, file, text, message):
    (folder / file).write_text(text) if text else (folder / file).unlink()
    refused(DataError, message, load_gold, file.split("/")[0])


@pytest.mark.slow
def test_the_archive_holds_the_verses_and_links_it_should():
    gold = load_gold("bible")
    assert len(gold) == len({pair.id for pair in gold}) == 7904
    assert sum(len(pair.sure) for pair in gold) == 189_155
    (verse,) = [pair for pair in gold if pair.id == "bible-40001003"]
    source, target = verse.strings
    linked = {(source[i], target[j]) for i, j in verse.sure}
    assert {("Φαρές", "Perez"), ("Ζάρα", "Zerah"), ("εγέννησεν", "father"), ("Αράμ", "Ram")} <= linked
    some, fewer = load_gold("bible", 20), load_gold("bible", 5)
    assert some[:5] == fewer
    assert [pair.id for pair in fewer] == sorted((pair.id for pair in gold), key=lambda i: stable_hash("gold|0", i))[:5]
    assert load_gold("bible", 5, seed=1) != fewer


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real files are not on this machine")
def test_real_gold_files_are_read_whole(tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHLIB_DATA", str(tmp_path))
    (tmp_path / "rwth").symlink_to(SHARED / "deen_rwth")
    (tmp_path / "xlwa").symlink_to(SHARED / "xl_wa")
    rwth, xlwa = load_gold("rwth"), load_gold("xlwa")
    assert (len(rwth), len(xlwa)) == (508, 245)
    sure, possible = [pair.sure for pair in rwth], [pair.possible for pair in rwth]
    assert (sum(map(len, sure)), sum(map(len, possible))) == (9613, 10534)
    assert sum(len(pair.sure) for pair in xlwa) == 4179  # as XL-WA states
    first = next(pair for pair in rwth if pair.id == "rwth-0")
    assert ("nicht", "not") in {(first.strings[0][i], first.strings[1][j]) for i, j in first.sure}
    assert load_gold("rwth", 7)[:3] == load_gold("rwth", 3)
    # Another aligner's output lies beside the gold: good links for these sentences only if pairs and numbers fit.
    lines = (SHARED / "deen_rwth" / "deen.out").read_text().splitlines()
    output = [frozenset(tuple(map(int, mark.split("-"))) for mark in line.split()) for line in lines]
    assert alignment_scores(output, sure, possible).aer == pytest.approx(0.1353, abs=1e-4)
