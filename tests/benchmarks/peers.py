"""faithlib beside interpreto, captum, Quantus and a plain loop: the same model, inputs and rows, in one run.

    uv venv /tmp/peers && VIRTUAL_ENV=/tmp/peers uv pip install -e . interpreto==0.5.2 captum==0.9.0 quantus==0.6.0
    /tmp/peers/bin/python tests/benchmarks/peers.py --out docs/peers-cpu.csv [--models minilm-l6] [--texts 32]
    python tests/benchmarks/peers.py --page docs/peers.md docs/peers-cpu.csv [docs/peers-h100.csv]

Three kinds of work, each written as the documentation of its library has it, in batches of the size that suits it best
(`BATCHES`, the fastest is kept):

- *occlusion*: every word of a text replaced by the mask token once, probability of the predicted class;
- *curves*: the words of a text removed one by one, most important first (deletion) and least important first (the sets
  of insertion), of given scores;
- *pixel flipping*: 49 patches of an image set to zero one by one, most important first, of given scores.

`seconds` are the best of `--repeats`: on a processor those that the process spent, on all threads, since others may
share it; on a GPU those of the clock. `rows`: inputs that the model has seen, counted by a hook. `agreement`: the
largest difference of a probability from the plain loop's.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import drawn
import numpy as np
import pandas as pd
import torch
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor, nn

from faithlib.evaluation import MetricSettings, RunSettings, explain
from faithlib.inputs import ImageInputs, TextInputs
from faithlib.masks import position_in_rank, removal_path
from faithlib.perturb import Perturber

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BATCHES = (8, 32, 64) if DEVICE.type == "cpu" else (64, 512)
PATCH = 4
Curves = list[Tensor]
"""Probabilities of each input, one row of a table per input; inputs may have different lengths."""


def now() -> float:
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()


@contextmanager
def counted(model: nn.Module) -> Iterator[list[int]]:
    """The rows of each forward of a model, however it is called."""
    sizes: list[int] = []

    def count(_: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        first = arguments[0] if arguments else next(named[n] for n in ("input_ids", "inputs_embeds") if n in named)
        sizes.append(len(first))

    hook = model.register_forward_pre_hook(count, with_kwargs=True)
    try:
        yield sizes
    finally:
        hook.remove()


# ---------------------------------------------------------------------------------------------------------------- texts
class Texts:
    """Texts of SST-2's lengths with the scores that curves are drawn of, and what every library reads of them."""

    def __init__(self, shape: str, n: int) -> None:
        self.model, self.tokenizer = drawn.model(shape).to(DEVICE), drawn.tokenizer()
        self.texts = drawn.texts(n)
        self.inputs = TextInputs.from_texts(self.texts, self.tokenizer, unit="word")
        generator = torch.Generator().manual_seed(0)
        self.scores = torch.rand(self.inputs.feature_mask.shape, generator=generator)
        self.sizes = self.inputs.n_features.tolist()
        self.outputs: Any = None  # interpreto's
        with torch.inference_mode():
            self.target = [self.model(**self.encoded(text)).logits.argmax().item() for text in self.texts]

    def encoded(self, text: str) -> dict[str, Tensor]:
        return self.tokenizer(text, return_tensors="pt").to(DEVICE)


def loop(work: Texts, steps: Callable[[int, int], Tensor]) -> Curves:
    """One text after the other: its masked copies as one batch, as a person would write it first."""
    curves = []
    with torch.inference_mode():
        for i, text in enumerate(work.texts):
            keep = steps(i, work.sizes[i]).to(DEVICE)  # [S, F]
            words = work.inputs.feature_of[i, : int(work.inputs.attention_mask[i].sum())].to(DEVICE)
            ids = work.encoded(text)["input_ids"].expand(len(keep), -1)
            kept = keep[:, words.clamp_min(0)] | (words < 0)
            answers = work.model(torch.where(kept, ids, work.tokenizer.mask_token_id)).logits.softmax(1)
            curves.append(answers[:, work.target[i]].cpu())
    return curves


def one_word_gone(i: int, size: int) -> Tensor:
    return torch.cat([torch.ones(1, size, dtype=torch.bool), ~torch.eye(size, dtype=torch.bool)])


def both_ways(work: Texts, i: int, size: int) -> Tensor:
    """Kept words along deletion and, reversed, along insertion [2 (F + 1), F]."""
    rank = work.scores[i, :size].argsort(descending=True).argsort()
    step = torch.arange(size + 1)[:, None]
    return torch.cat([rank >= step, rank < step])


def faithlib_occlusion(work: Texts, batch: int) -> Curves:
    options = {"settings": MetricSettings(erase="mask"), "run": RunSettings(check=False)}
    scores = explain(work.model, work.inputs, ["occlusion"], target=work.target, **options)["occlusion"]
    return [scores[i, :size].cpu() for i, size in enumerate(work.sizes)]


def faithlib_curves(work: Texts, batch: int) -> Curves:
    perturber = Perturber(work.model, work.inputs, erase="mask", target=work.target, check=False)
    mask = work.inputs.feature_mask
    backwards = position_in_rank(work.scores, mask).float()
    paths = torch.cat([removal_path(work.scores, mask), removal_path(backwards, mask)], dim=1)
    full, (down, up) = perturber.full[:, None].cpu(), perturber.keep(paths).cpu().chunk(2, dim=1)
    return [torch.cat([full[i], down[i, :n], up[i, :n].flip(0), full[i]]) for i, n in enumerate(work.sizes)]


def interpreto_occlusion(work: Texts, batch: int) -> Curves:
    from interpreto import Granularity, Occlusion
    from interpreto.attributions import InferenceModes

    own = {"granularity": Granularity.WORD, "inference_mode": InferenceModes.SOFTMAX}
    explainer = Occlusion(work.model, work.tokenizer, batch_size=batch, **own)
    found = explainer(work.texts, targets=torch.tensor(work.target))
    return [explanation.attributions.flatten().cpu() for explanation in found]


def interpreto_curves(work: Texts, batch: int) -> Curves:
    from interpreto import Granularity, Occlusion
    from interpreto.attributions.metrics import Deletion, Insertion

    if work.outputs is None:  # its metrics read its own explanations: these, with our scores in them
        explainer = Occlusion(work.model, work.tokenizer, batch_size=batch, granularity=Granularity.WORD)
        work.outputs = explainer(work.texts, targets=torch.tensor(work.target))
        for i, output in enumerate(work.outputs):
            output.attributions = work.scores[i : i + 1, : work.sizes[i]]
    curves = [
        metric(work.model, work.tokenizer, batch_size=batch, n_perturbations=100).evaluate(work.outputs)[1]
        for metric in (Deletion, Insertion)
    ]
    return [torch.cat([down[0], up[0]]).cpu() for down, up in zip(*curves, strict=True)]


def captum_occlusion(work: Texts, batch: int) -> Curves:
    from captum.attr import FeatureAblation

    ablation = FeatureAblation(lambda ids: work.model(ids).logits.softmax(1))
    found = []
    with torch.inference_mode():
        for i, text in enumerate(work.texts):
            ids = work.encoded(text)["input_ids"]
            words = work.inputs.feature_of[i, : ids.shape[1]].to(DEVICE)
            special = torch.where(words < 0, work.sizes[i], words)[None]  # one more feature, which is not looked at
            baseline = torch.where(words < 0, ids, work.tokenizer.mask_token_id)
            scores = ablation.attribute(
                ids, baselines=baseline, target=work.target[i], feature_mask=special, perturbations_per_eval=batch
            )[0]
            first = [(words == f).nonzero()[0].item() for f in range(work.sizes[i])]
            found.append(scores[first].cpu())
    return found


# --------------------------------------------------------------------------------------------------------------- images
class Images:
    """Images of 49 patches with scores, each patch another one."""

    def __init__(self, n: int) -> None:
        generator = torch.Generator().manual_seed(0)
        torch.manual_seed(0)
        self.model = VisionTransformer(
            img_size=28, patch_size=PATCH, in_chans=1, num_classes=10, embed_dim=96, depth=6, num_heads=6
        ).to(DEVICE).eval()  # fmt: skip
        self.pixels = torch.randn(n, 1, 28, 28, generator=generator)
        self.inputs = ImageInputs.from_pixels(self.pixels, patch=PATCH)
        self.scores = torch.rand(self.inputs.feature_mask.shape, generator=generator)
        with torch.inference_mode():
            self.target = self.model(self.pixels.to(DEVICE)).argmax(1).cpu()


def loop_flipping(work: Images, batch: int) -> Curves:
    """One image after the other: its masked copies as one batch."""
    curves = []
    with torch.inference_mode():
        for pixels, scores, target in zip(work.pixels, work.scores, work.target, strict=True):
            rank = scores.argsort(descending=True).argsort()
            kept = rank >= torch.arange(1, len(rank) + 1)[:, None]
            rows = torch.where(kept[:, work.inputs.feature_of], pixels[0], 0.0)[:, None].to(DEVICE)
            curves.append(work.model(rows).softmax(1)[:, target].cpu())
    return curves


def faithlib_flipping(work: Images, batch: int) -> Curves:
    perturber = Perturber(work.model, work.inputs, erase="zero", target=work.target, check=False)
    return list(perturber.keep(removal_path(work.scores, work.inputs.feature_mask)).cpu())


def quantus_flipping(work: Images, batch: int) -> Curves:
    import quantus

    flipping = quantus.PixelFlipping(
        features_in_step=PATCH**2, perturb_baseline=0.0, abs=False, normalise=False, disable_warnings=True
    )
    maps = work.scores[:, work.inputs.feature_of][:, None].numpy()
    options = {"softmax": True, "device": str(DEVICE), "batch_size": batch}
    found = flipping(work.model, work.pixels.numpy(), work.target.numpy(), a_batch=maps, **options)
    return [torch.as_tensor(np.asarray(curve), dtype=torch.float32) for curve in found]


# ------------------------------------------------------------------------------------------------------------ measuring
def best(run: Callable[[int], Curves], model: nn.Module, repeats: int, batches: tuple[int, ...]) -> tuple[Curves, dict]:
    """What a library computes, and the least seconds that it took in batches of any of these sizes."""
    found = []
    for batch in batches:
        run(batch)
        with counted(model) as sizes:
            run(batch)
        for _ in range(repeats):
            began = now()
            curves = run(batch)
            found.append((now() - began, batch, curves))
    seconds, batch, curves = min(found, key=lambda run: run[0])
    return curves, {"seconds": seconds, "batch": batch, "rows": sum(sizes), "forwards": len(sizes)}


def measured(
    what: str, model: str, peers: dict[str, Any], module: nn.Module, truth: Curves, repeats: int
) -> pd.DataFrame:
    rows = []
    for library, run in peers.items():
        has_batches = library not in ("faithlib", "plain loop")
        curves, costs = best(run, module, repeats, BATCHES if has_batches else (0,))
        difference = max((curve - other).abs().max().item() for curve, other in zip(curves, truth, strict=True))
        name = f"{library} {version(library)}" if has_batches else library
        rows.append({"work": what, "model": model, "library": name, **costs, "agreement": difference})
        print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def compare(models: list[str], texts: int, images: int, repeats: int) -> pd.DataFrame:
    tables = []
    for shape in models:
        work = Texts(shape, texts)
        one_by_one = loop(work, one_word_gone)
        occlusion = {
            "faithlib": partial(faithlib_occlusion, work),
            "interpreto": partial(interpreto_occlusion, work),
            "captum": partial(captum_occlusion, work),
            "plain loop": lambda _, w=work: [answers[0] - answers[1:] for answers in loop(w, one_word_gone)],
        }
        truth = [answers[0] - answers[1:] for answers in one_by_one]
        tables.append(measured("occlusion", shape, occlusion, work.model, truth, repeats))
        curves = {
            "faithlib": partial(faithlib_curves, work),
            "interpreto": partial(interpreto_curves, work),
            "plain loop": lambda _, w=work: loop(w, partial(both_ways, w)),
        }
        tables.append(measured("curves", shape, curves, work.model, loop(work, partial(both_ways, work)), repeats))
    pictures = Images(images)
    flipping = {
        "faithlib": partial(faithlib_flipping, pictures),
        "quantus": partial(quantus_flipping, pictures),
        "plain loop": partial(loop_flipping, pictures),
    }
    truth = loop_flipping(pictures, 0)
    tables.append(measured("pixel flipping", "ViT, 49 patches", flipping, pictures.model, truth, repeats))
    device = f"{platform.machine()}, {torch.get_num_threads()} threads"
    if DEVICE.type == "cuda":
        device = torch.cuda.get_device_name()
    return pd.concat(tables, ignore_index=True).assign(device=device, texts=texts, images=images)


def page(path: Path, tables: list[Path]) -> None:
    """Tables in Markdown of what was measured, here and by `bounds.py`."""
    read = [pd.read_csv(path) for path in tables]
    bounds = pd.concat([table for table in read if "looser" in table] or [pd.DataFrame()])
    table = pd.concat([table for table in read if "looser" not in table], ignore_index=True)
    ours = table[table.library == "faithlib"].set_index(["device", "work", "model"]).seconds
    keys = pd.MultiIndex.from_frame(table[["device", "work", "model"]])
    table["times faithlib"] = (table.seconds.to_numpy() / ours.loc[keys].to_numpy()).round(2)
    table = table.assign(seconds=table.seconds.round(2), agreement=table.agreement.map("{:.1e}".format))
    head = ["device", "work", "model", "library", "seconds", "times faithlib", "rows", "forwards", "batch", "agreement"]
    lines = table[head].astype(str).to_markdown(index=False, disable_numparse=True)
    path.write_text(
        "# Side by side with peers\n\n"
        "Made by `tests/benchmarks/peers.py`, which says what is measured: one model, its inputs and rows in one run,\n"
        "each library in the batch size that suits it best. *rows*: inputs that the model saw; *agreement*: largest\n"
        "difference of a probability from the plain loop's. A device without a row here was not measured.\n\n"
        f"{lines}\n{_bounds_part(bounds)}"
    )


def _bounds_part(table: pd.DataFrame) -> str:
    """The bounds of AOPC beside those of their authors' package."""
    if table.empty:
        return ""
    ours = table[table.library == "faithlib"].set_index(["device", "work"]).seconds
    keys = pd.MultiIndex.from_frame(table[["device", "work"]])
    table = table.assign(times=(table.seconds.to_numpy() / ours.loc[keys].to_numpy()).round(1))
    table = table.assign(
        seconds=table.seconds.round(2),
        off=table.off.map("{:.1e}".format),
        looser=table.looser.astype(str) + " of " + table.texts.astype(str),
    ).rename(columns={"times": "times faithlib"})
    head = ["device", "work", "model", "library", "seconds", "times faithlib", "rows", "forwards", "off", "looser"]
    lines = table[head].astype(str).to_markdown(index=False, disable_numparse=True)
    return (
        "\n## Bounds of AOPC beside the authors' package\n\n"
        "Made by `tests/benchmarks/bounds.py`: aopc 0.1.0 (Edin et al. 2025) in an environment of its own, on the\n"
        "same weights and texts. *off*: largest difference of an end from the exact one; *looser*: texts of which an\n"
        "end is more than 1e-5 inside the exact ones.\n\n"
        f"{lines}\n\n"
        "Exact ends are the same to rounding: aopc tries all orders (n! of n features, with the answers of all\n"
        "subsets), faithlib adds up over subsets (2^n). Both run each subset once. In a beam aopc keeps orders apart\n"
        "that remove the same set, so that few sets fill it; faithlib keeps the best order of each set. A beam over\n"
        "orders, with faithlib's answers, gives aopc's ends. aopc runs the best order once more, row by row, and each\n"
        "step of each text by itself; faithlib runs a step of all texts together, and no row twice.\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=["minilm-l6"], choices=list(drawn.SHAPES))
    parser.add_argument("--texts", type=int, default=32)
    parser.add_argument("--images", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", nargs="+", type=Path, metavar=("PAGE", "CSV"))
    options = parser.parse_args()
    if options.page:
        page(options.page[0], options.page[1:])
        return
    table = compare(options.models, options.texts, options.images, options.repeats)
    if options.out:
        table.to_csv(options.out, index=False)


if __name__ == "__main__":
    main()
