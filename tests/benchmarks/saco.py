"""What SaCo and the four metrics beside it cost beyond the model's own forward passes.

    .venv/bin/python tests/benchmarks/saco.py [--images 25] [--growth 1 4 16] [--patch 1] [--clock cpu] [--model photo]

Eleven attributions an image, all five metrics at K = 10, on a small ViT with random weights and images of 28 x 28, or
(`--model photo`, 65 tokens) on the ViT-S/14 of study 2 and images of 112 x 112:
- `floor`: distinct rows x the time one row takes in the best of several batch sizes, measured between the forwards of
  the work itself (`timing.Beside`);
- `ratio`: wall time from images to metrics, all `--repeats` of it, over that floor (aim: at most 1.10);
- `outside the model`: the share of wall time in which no chunk was running: groups, masks, keys and metrics;
- `asked`, `run`: rows an image that the metrics asked for and rows that the model saw. Written out, five metrics need
  55 rows an attribution, of which 28 are distinct; the full and the empty image serve all attributions;
- `naive / core`: the time of erasing one image at a time, one metric after the other, to ours. Measured on some rows
  and scaled to 55 an attribution;
- `peak`: bytes of the tensors alive in one chunk (on a GPU: allocated), and the growth of the process;
- the slope: all of it again with 1, 4 and 16 times the images.

`--clock cpu` counts the seconds of this process alone, for a machine that others use at the same time.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Callable

import pandas as pd
import torch
from timing import CLOCKS, Beside, Clock
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor, nn

from faithbook.models import vit_s14
from faithlib.evaluation import saco_scores
from faithlib.inputs import ImageInputs
from faithlib.perturb import Perturber
from faithlib.scheduler import Stats

BATCH_SIZES = {"cpu": (8, 16, 32, 40, 64, 128), "cuda": (256, 1024, 2048, 4096)}
METHODS, GROUPS = 11, 10
NAIVE_ROWS = 5 * (GROUPS + 1)


def small() -> VisionTransformer:
    """A ViT of .7 million weights: 49 patches of 4 x 4 pixels, six blocks of 96 channels."""
    return VisionTransformer(
        img_size=28, patch_size=4, in_chans=1, num_classes=10, embed_dim=96, depth=6, num_heads=6
    )  # fmt: skip


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, int, int]]] = {
    "small": (small, (1, 28, 28)),
    "photo": (lambda: vit_s14.vit_s14(side=112, classes=10), (3, 112, 112)),
}
"""By name: the model, its weights random, and the shape of its images."""


def images_and_scores(n: int, shape: tuple[int, int, int], patch: int) -> tuple[ImageInputs, list[Tensor]]:
    """`n` images of random pixels and eleven score maps each. The cost does not depend on where scores come from."""
    generator = torch.Generator().manual_seed(0)
    inputs = ImageInputs.from_pixels(torch.randn(n, *shape, generator=generator), patch=patch)
    return inputs, [torch.randn(inputs.feature_mask.shape, generator=generator) for _ in range(METHODS)]


def plain_image(shape: tuple[int, int, int], device: str) -> Callable[[int], dict[str, Tensor]]:
    """A batch of a plain forward."""
    return lambda size: {"x": torch.randn(size, *shape, device=device)}


def core(model: nn.Module, inputs: ImageInputs, scores: list[Tensor]) -> Stats:
    """All five metrics of one attribution after the other: what they have cost."""
    perturber = Perturber(model, inputs)
    for score in scores:
        saco_scores(perturber, score, k=GROUPS)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return perturber.stats


def naive_seconds_a_row(model: nn.Module, inputs: ImageInputs, scores: Tensor, clock: Clock, rows: int = 110) -> float:
    """One erased image at a time, as a simple loop would make and run it."""
    device = next(model.parameters()).device
    pixels, feature_of = inputs.pixels.to(device), inputs.feature_of.flatten().to(device)
    order = scores.argsort(dim=1, descending=True).to(device)
    with torch.inference_mode():
        start = clock()
        for r in range(rows):
            image = pixels[r % len(inputs)].clone()
            gone = order[r % len(inputs), : order.shape[1] * (r % (GROUPS + 1)) // GROUPS]
            image.flatten(1)[:, torch.isin(feature_of, gone)] = image.mean()
            float(model(image[None]).softmax(-1)[0, 0])
        return (clock() - start) / rows


def measure(
    model: nn.Module, shape: tuple[int, int, int], n: int, patch: int, clock: Clock, repeats: int
) -> dict[str, object]:
    device = next(model.parameters()).device.type
    inputs, scores = images_and_scores(n, shape, patch)
    core(model, inputs[:2], [scores[0][:2]])  # warm up
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Beside(model, plain_image(shape, device), BATCH_SIZES[device], clock=clock) as beside:
        runs = [core(model, inputs, scores) for _ in range(repeats)]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    stats, seconds = runs[0], beside.seconds / repeats
    floor = stats.rows_run * beside.seconds_a_row()
    naive = naive_seconds_a_row(model, inputs, scores[0], clock) * NAIVE_ROWS * METHODS * n
    return {
        "images": n,
        "features": inputs.feature_mask.shape[1],
        "asked": round(stats.rows_asked / n, 1),
        "run": round(stats.rows_run / n, 1),
        "seconds": round(seconds, 2),
        "floor": round(floor, 2),
        "ratio": round(seconds / floor, 3),
        "outside the model": round(beside.outside(sum(run.seconds_model for run in runs)), 3),
        "naive / core": round(naive / seconds, 2),
        "ms an image": round(1000 * seconds / n, 1),
        "peak MB": round(stats.peak_bytes / 1e6, 1),
        "process grew MB": round(grown / 1e3, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=25, help="images at growth 1")
    parser.add_argument("--growth", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--model", choices=MODELS, default="small")
    parser.add_argument("--patch", type=int, nargs="+", default=[1], help="side of a feature in pixels")
    parser.add_argument("--repeats", type=int, default=3, help="of all of it")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--out", help="write the table as CSV")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    make, shape = MODELS[options.model]
    torch.manual_seed(0)
    model, rows = make().eval().to(device), []
    for patch in options.patch:
        for growth in options.growth:
            n, clock = options.images * growth, CLOCKS[options.clock]
            rows.append(measure(model, shape, n, patch, clock, options.repeats))
            print(pd.DataFrame(rows[-1:]).to_string(index=False, header=len(rows) == 1), flush=True)
    if options.out:
        pd.DataFrame(rows).to_csv(options.out, index=False)


if __name__ == "__main__":
    main()
