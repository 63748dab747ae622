"""What a language model is asked for: the values of a slow loop (one row, no cache), however rows are run."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from families import TEXTS, Folder, masks, next_logits, opened, tokenizer
from flat import evaluate
from refusals import refused
from torch import Tensor

from faithbook.models.smollm2 import smollm2
from faithlib.attribution import attribute
from faithlib.backends import Continuation, PromptClassifier
from faithlib.errors import FaithlibError, InputError, ModelError, UnknownNameError
from faithlib.evaluation import MetricSettings, count_rows, explain
from faithlib.perturb import TEXT_ERASURES, Perturber

MODELS = ["llama", "gemma3_text", "qwen2", "gpt2", "gpt_neox"]
SHOTS = "a film : good . one film : bad . review : {text} . it is"
AFTER, OTHER = " not bad at all", " fine film"


def loaded(folder: Folder, family: str = "llama") -> tuple[Any, Any]:
    return opened(folder(family, True), causal=True)


def log_p_of_tokens(lm: Any, inputs: Any, b: int, keep: Tensor, erase: str, after: list[int]) -> list[float]:
    """log p of each token of a continuation after one erased prompt: a forward for each token."""
    logits = [next_logits(lm, inputs, b, keep, erase, after[:t]) for t in range(len(after))]
    return [float(row.log_softmax(dim=-1)[token]) for row, token in zip(logits, after, strict=True)]


def ids_of(reader: Any, text: str) -> list[int]:
    return list(reader(text, add_special_tokens=False)["input_ids"])


# ------------------------------------------------------------------------------------------------------------- values
@pytest.mark.parametrize(
    ("family", "erase"),
    [(family, "delete") for family in [*MODELS, "mamba"]]
    + [("llama", erasure) for erasure in TEXT_ERASURES if erasure != "delete"],
)
def test_values_are_those_of_a_slow_loop(family: str, erase: str, folder: Folder, shared_to_the_last: None) -> None:
    model, reader = loaded(folder, family)
    after, other = ids_of(reader, AFTER), ids_of(reader, OTHER)
    assert (len(after), len(other)) == (4, 2)
    read = {
        "log_probability": sum,
        "mean_log_probability": lambda own: sum(own) / len(own),
        "probability": lambda own: float(torch.tensor(sum(own)).exp()),
    }
    made = {name: Continuation(model, reader, SHOTS, AFTER, reading=name) for name in read}
    made |= {f"token {t}": Continuation(model, reader, SHOTS, AFTER, token=t) for t in (0, -1)}
    made["contrast"] = Continuation(model, reader, SHOTS, AFTER, against=OTHER)
    made["labels"] = PromptClassifier(model, reader, SHOTS, [AFTER, OTHER, " good"])
    made["distribution"] = Continuation(model, reader, SHOTS, reading="distribution")
    inputs = made["contrast"].inputs(TEXTS)
    keep = masks(inputs, 5 if family != "mamba" else 3)
    found = {}
    for name, lm in made.items():
        perturber = Perturber(lm, lm.inputs(TEXTS), erase=erase)
        logits = name in ("labels", "distribution")
        found[name] = perturber.logits(keep) if logits else perturber.keep(keep)
        shared = perturber.stats.tokens_shared
        assert shared == 0 if family == "mamba" else shared > perturber.stats.rows_run, name
    for b, s in np.ndindex(keep.shape[:2]):

        def loop(tokens: list[int], b: int = b, s: int = s) -> list[float]:
            return log_p_of_tokens(made["contrast"], inputs, b, keep[b, s], erase, tokens)

        own, less, (good,) = loop(after), sum(loop(other)), loop(ids_of(reader, " good"))
        wanted = {name: of(own) for name, of in read.items()} | {"token 0": own[0], "token -1": own[-1]}
        wanted |= {"contrast": sum(own) - less, "labels": [sum(own), less, good]}
        wanted["distribution"] = loop([7])[0]
        for name, expected in wanted.items():
            value = found[name][b, s] if name != "distribution" else found[name][b, s].log_softmax(dim=-1)[7]
            assert torch.allclose(value, torch.tensor(expected), atol=1e-4), name


@pytest.mark.parametrize("erase", TEXT_ERASURES)
def test_a_similarity_is_one_minus_the_hellinger_distance(erase: str, folder: Folder, shared_to_the_last: None) -> None:
    model, reader = loaded(folder, "gpt2")
    whole, alike = (Continuation(model, reader, SHOTS, reading=name) for name in ("distribution", "similarity"))
    inputs = alike.inputs(TEXTS)
    keep = masks(inputs)
    p = Perturber(whole, inputs, erase=erase).logits(keep).double().softmax(dim=-1)
    distance = (1 - (p * p[:, :1]).sqrt().sum(dim=-1)).clamp(min=0).sqrt()  # the other form of H
    perturber = Perturber(alike, inputs, erase=erase)
    assert torch.allclose(perturber.keep(keep).double(), 1 - distance, atol=1e-4)
    assert torch.allclose(perturber.full, torch.ones(len(inputs)), atol=1e-5)
    refused(ModelError, "where it has no gradient", attribute, "saliency", alike, inputs)


def test_labels_of_several_tokens_are_evaluated_as_others_are(folder: Folder) -> None:
    model, reader = loaded(folder)
    prompt = PromptClassifier(model, reader, SHOTS, [AFTER, OTHER, " good"])
    assert prompt.label_ids.tolist()[2] == [*ids_of(reader, " good"), -1, -1, -1]
    table = evaluate(prompt, TEXTS[:2], methods=["saliency", "attention", "random"], metrics=["aopc_morf", "auc"])
    assert set(table.method) == {"saliency", "random"}
    assert "several continuations" in table.attrs["left_out"]["attention"]
    named, numbered = (explain(prompt, TEXTS[:2], ["occlusion"], target=target) for target in ("fine film", 1))
    assert torch.equal(named["occlusion"], numbered["occlusion"])


def test_one_token_for_each_label_gives_the_contrast_of_two_labels(folder: Folder) -> None:
    model, reader = loaded(folder)
    pair = PromptClassifier(model, reader, SHOTS, [" good", " bad"])
    contrast = Continuation(model, reader, SHOTS, " good", against=" bad")
    inputs = pair.inputs(TEXTS)
    single, perturber = Perturber(pair, inputs), Perturber(contrast, contrast.inputs(TEXTS))
    logits = single.logits(masks(inputs))
    assert torch.allclose(perturber.keep(masks(inputs)), logits[..., 0] - logits[..., 1], atol=1e-4)
    assert perturber.stats.forwards == single.stats.forwards, "both answers come from one forward"
    ours = attribute("integrated_gradients", contrast, contrast.inputs(TEXTS))
    good, bad = (attribute("integrated_gradients", pair, inputs, output="logit", target=c) for c in (0, 1))
    assert torch.allclose(ours, good - bad, atol=1e-4)


@pytest.mark.parametrize("family", MODELS)
def test_the_own_answer_is_what_the_model_generates(family: str, folder: Folder) -> None:
    model, reader = loaded(folder, family)
    lm = Continuation(model, reader, SHOTS, max_new_tokens=5)
    answers = {text: generated(model, reader, SHOTS.replace("{text}", text)) for text in TEXTS}
    inputs = lm.inputs([text for text, own in answers.items() if own])
    together = Perturber(lm, inputs).full
    for b, own in enumerate(filter(None, answers.values())):
        assert [i for i in inputs.follows[b, 0].tolist() if i >= 0] == own
        assert lm.continuations(inputs)[b] == reader.decode(own)
        keep = torch.ones(inputs.feature_mask.shape[1], dtype=torch.bool)
        loop = sum(log_p_of_tokens(lm, inputs, b, keep, "zero", own))
        assert float(Perturber(lm, inputs[[b]]).full) == pytest.approx(loop, abs=1e-4)
        assert float(together[b]) == pytest.approx(loop, abs=1e-4)


def generated(model: Any, reader: Any, text: str) -> list[int]:
    """By the library's own generation."""
    row = reader(text, return_tensors="pt")
    options = {"do_sample": False, "max_new_tokens": 5, "pad_token_id": 0, "eos_token_id": 6}
    with torch.no_grad():
        ids = model.generate(row["input_ids"], attention_mask=row["attention_mask"], **options)[0]
    return [i for i in ids[row["input_ids"].shape[1] :].tolist() if i != 6]


# ------------------------------------------------------------------------------------------- batches, order, sharing
@pytest.mark.parametrize("erase", ["zero", "delete"])
def test_texts_beside_change_nothing(erase: str, folder: Folder, shared_to_the_last: None) -> None:
    lm = Continuation(*loaded(folder, "gemma3_text"), SHOTS)
    after = [" fine", AFTER, OTHER, " not bad"]
    inputs = lm.inputs(TEXTS, continuations=after)
    assert lm.continuations(inputs) == [text.strip() for text in after]
    keep = masks(inputs)
    expected = Perturber(lm, inputs, erase=erase).keep(keep)
    for b in range(len(inputs)):
        width, single = int(inputs.n_features[b]), lm.inputs([TEXTS[b]], continuations=[after[b]])
        assert single.keys() != lm.inputs([TEXTS[b]], continuations=[" who"]).keys(), "another question, another answer"
        assert torch.allclose(
            Perturber(lm, single, erase=erase).keep(keep[[b]][..., :width])[0], expected[b], atol=1e-4
        )


# ------------------------------------------------------------------------------------------------------ the library
def test_everything_that_evaluates_a_classifier_evaluates_a_continuation(folder: Folder) -> None:
    lm = Continuation(*loaded(folder), SHOTS, AFTER)
    methods = ["attention", "scaled_attention", "saliency", "input_x_gradient", "integrated_gradients", "lime"]
    methods += ["occlusion", "shapley_sampling", "random"]
    metrics = ["ns", "nc", "soft_ns", "soft_nc", "aopc_morf", "aopc_lerf", "naopc_morf", "saco", "auc"]
    table = evaluate(lm, TEXTS[:2], methods=methods, metrics=metrics, settings=MetricSettings(draws=2))
    assert set(table.method) == set(methods)
    assert table.attrs["left_out"].keys() == {"auc"}
    assert table.value[table.metric == "naopc_morf"].between(0, 1).all()
    assert "naopc_morf" in repr(table.summary())


@pytest.mark.parametrize("given", [{"continuation": AFTER}, {"reading": "distribution"}, {"reading": "similarity"}])
def test_rows_are_counted_beforehand_and_precision_and_wrappers_are_taken(
    given: dict[str, str], folder: Folder
) -> None:
    lm = Continuation(*loaded(folder), SHOTS, **given)
    inputs, metrics = lm.inputs(TEXTS[:2]), ["aopc_morf", "soft_nc", "saco", "naopc_morf"]
    scores = explain(lm, inputs, ["occlusion"])
    table = evaluate(lm, inputs, methods=scores, metrics=metrics)
    assert count_rows(lm, inputs, methods=scores, metrics=metrics).together == table.attrs["costs"]["rows_run"]
    wrapped = evaluate(torch.nn.DataParallel(lm), TEXTS[:2], methods=scores, metrics=metrics)
    assert wrapped.equals(table)
    full = Perturber(lm, inputs).full
    assert torch.allclose(Perturber(lm, inputs, dtype=torch.bfloat16).full, full, rtol=0.05)


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_attention_and_rollout_are_read_from_every_token_that_is_asked_for(family: str, folder: Folder) -> None:
    """Rollout with and without the first token, in loops over what each token holds of each token, layer by layer."""
    model, reader = loaded(folder, family)
    model.set_attn_implementation("eager")
    lm, one = (Continuation(model, reader, "{text} . it is", AFTER, token=token) for token in (None, 0))
    inputs, after = lm.inputs(TEXTS, unit="wordpiece"), ids_of(reader, AFTER)
    found = {sink: attribute("rollout", lm, inputs, sink=sink) for sink in ("keep", "drop")}
    found |= {"last": attribute("attention", lm, inputs), "first": attribute("attention", one, inputs)}
    for b, length in enumerate(inputs.lengths.tolist()):
        row = torch.cat([inputs.input_ids[b, :length], torch.tensor(after[:-1])])[None]
        with torch.no_grad():
            answer = model(input_ids=row, output_attentions=True)
        maps = [attention[0].mean(dim=0).double() for attention in answer.attentions]
        expected = {"last": maps[-1][length - 1 : length + 3].mean(dim=0), "first": maps[-1][length - 1]}
        for sink in ("keep", "drop"):
            holds = torch.eye(row.shape[1], dtype=torch.double)
            for own in maps:
                new = torch.zeros_like(holds)
                for i in range(row.shape[1]):
                    weights = own[i].clone()
                    if sink == "drop" and i:
                        weights[0] = 0
                    new[i] = holds[i] / 2 + (weights / weights.sum()) @ holds / 2
                holds = new
            expected[sink] = holds[length - 1 : length + 3].mean(dim=0)
        owned = inputs.feature_of[b, :length] >= 0
        for name, scores in found.items():
            own = expected[name][:length][owned]
            assert torch.allclose(scores[b, : len(own)].double(), own, atol=1e-5), name
    refused(UnknownNameError, "sink of rollout", attribute, "rollout", lm, inputs, sink="away")


# ------------------------------------------------------------------------------------------------- templates and units
TEMPLATE = (
    "{% for m in messages %}{{ '[BOS]' if loop.first else '' }} {{ m['role'] }} : {{ m['content'] }} . {% endfor %}"
    "{% if add_generation_prompt %}one :{% endif %}"
)


def chat(ends: str = "bos") -> Any:
    reader = tokenizer(ends)
    reader.chat_template = TEMPLATE
    return reader


@pytest.mark.parametrize("ends", ["bos", ""])
def test_a_chat_has_one_beginning_and_protects_all_but_the_users_text(ends: str, folder: Folder) -> None:
    model, _ = loaded(folder)
    messages = [{"role": "film", "content": "it is fine"}, {"role": "who", "content": "is {text} bad"}]
    lm = Continuation(model, chat(ends), messages, " good")
    inputs = lm.inputs(["a warm film"])
    assert inputs.tokens[0][:2] == ("[BOS]", "film")
    assert inputs.tokens[0].count("[BOS]") == 1
    assert inputs.tokens[0][-2:] == ("one", ":")
    assert inputs.features[0] == ("a", "warm", "film")
    assert Perturber(lm, inputs).full.isfinite().all()
    own = lm.inputs(["a warm film"], unit="wordpiece", words=[[(0, 6), (7, 11)]])
    assert own.features[0] == ("a warm", "film")


def test_slots_carry_the_features(folder: Folder) -> None:
    lm = Continuation(*loaded(folder), "{who} : {review} . it is", " good")
    text = {"who": "a unfunny one", "review": "not bad . it is fine"}
    units = {
        "slot": ("a unfunny one", "not bad . it is fine"),
        "sentence": ("a unfunny one", "not bad .", "it is fine"),
        "word": ("a", "unfunny", "one", "not", "bad", ".", "it", "is", "fine"),
        "token": ("a", "un", "##fun", "##ny", "one", "not", "bad", ".", "it", "is", "fine"),
    }
    for unit, expected in units.items():
        assert lm.inputs([text], unit=unit).features[0] == expected, unit
    table = evaluate(lm, [text], unit="slot", methods=["occlusion", "random"], metrics=["aopc_morf"])
    assert len(table) == 2
    refused(InputError, "expected one for each slot, who, review", lm.inputs, [{"who": "a"}])
    refused(InputError, "expected a mapping from the slots who, review", lm.inputs, ["a film"])


def test_the_lines_of_the_page_run(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[1] / "book" / "foundations" / "models.md").read_text(encoding="utf-8")
    code = page.partition("(language-models)=")[2].partition("```{code-block} python\n")[2].partition("```")[0]
    model, _ = loaded(folder)
    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", lambda name: model)
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda name: chat())
    exec(compile(code, "models.md", "exec"), {})
    assert "naopc_morf" in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------------------- errors
def test_errors_say_what_came_and_what_to_do(folder: Folder) -> None:
    model, reader = loaded(folder)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    bert = transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=40, **sizes))
    config = transformers.LlamaConfig(vocab_size=40, max_position_embeddings=20, pad_token_id=0, **sizes)
    small = transformers.LlamaForCausalLM(config).eval()
    chats = [{"role": "user", "content": "{text}"}]
    wrong: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
        "continuation 'm' and what it follows, .* share a token": (model, reader, "it is {text} fil", {"after": "m"}),
        "continuation '' is empty": (model, reader, SHOTS, {"after": ""}),
        "prompt 1 has 27 tokens with its continuation, .* window of 20": (small, reader, SHOTS, {}),
        "never less probable": (model, reader, SHOTS, {"after": " fine film", "against": " fine"}),
        "same tokens": (model, reader, SHOTS, {"after": " fine", "against": " fine"}),
        "has no chat template": (model, reader, chats, {}),
        "BertForMaskedLM predicts no next token": (bert, reader, SHOTS, {}),
        "ends every text with a token of its own": (model, tokenizer("eos"), SHOTS, {}),
        "expected slots": (model, reader, "it is", {}),
        "go together": (model, reader, SHOTS, {"reading": "contrast"}),
        "unknown reading": (model, reader, SHOTS, {"reading": "entropy"}),
        "one token is of a": (model, reader, SHOTS, {"after": " fine", "against": " bad", "token": 0}),
        "max_new_tokens 0": (model, reader, SHOTS, {"after": None, "max_new_tokens": 0}),
    }
    for message, (asked, cut, template, given) in wrong.items():
        call = partial(Continuation, asked, cut, template, given.pop("after", AFTER), **given)
        refused(FaithlibError, message, lambda call=call: call().inputs(TEXTS))
    lm = Continuation(model, reader, SHOTS, AFTER)
    refused(FaithlibError, "expected one for each", lm.inputs, TEXTS, continuations=[" fine"])
    refused(FaithlibError, "does not fit with the template", lm.inputs, ["film " * 60])
    beyond = Continuation(model, reader, SHOTS, AFTER, token=4)
    refused(FaithlibError, "token 4: a continuation has 4 tokens", evaluate, beyond, TEXTS)
    refused(FaithlibError, "are read as 'value'", evaluate, lm, TEXTS, output="probability")
    other = PromptClassifier(model, reader, SHOTS, [" a", " not"]).inputs(TEXTS)
    refused(FaithlibError, "hold no continuation", Perturber, lm, other)
    refused(FaithlibError, "never less probable", PromptClassifier, model, reader, SHOTS, [" not", AFTER])
    silent = transformers.LlamaForCausalLM(model.config).eval()
    silent.lm_head.weight.data.zero_()  # all tokens equally probable: the first, which is made the end
    silent.config.eos_token_id = 0
    refused(FaithlibError, "the model answers nothing to", Continuation(silent, reader, SHOTS).inputs, TEXTS)


# ---------------------------------------------------------------------------------------------- a model that can speak
@pytest.mark.long
def test_smollm2_is_asked_as_any_other() -> None:
    model, reader = smollm2()
    question = [{"role": "user", "content": "{text} Where is Anna? Answer in one word."}]
    lm = Continuation(model, reader, question)
    inputs = lm.inputs(["Anna took the train to Paris. Bob stayed at home. It rained all day."], unit="sentence")
    assert "Paris" in lm.continuations(inputs)[0]
    assert inputs.n_features.tolist() == [3]
    after = [i for i in inputs.follows[0, 0].tolist() if i >= 0]
    for erase in ("zero", "delete"):
        keep = torch.cat([torch.ones(1, 3, dtype=torch.bool), ~torch.eye(3, dtype=torch.bool)])
        found = Perturber(lm, inputs, erase=erase).keep(keep[None])[0]
        loop = [sum(log_p_of_tokens(lm, inputs, 0, row, erase, after)) for row in keep]
        assert torch.allclose(found, torch.tensor(loop), atol=1e-4)
        assert found[1:].argmin() == 0, "without its sentence the answer is least probable"
