"""The models and pictures that the README's lines open, small and with random weights, and a way to run those lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def make(folder: Path) -> None:
    """`my-model`, `my-vit` and `pictures/`, as a user would have them beside the code."""
    import timm
    import torch
    from PIL import Image
    from safetensors.torch import save_file
    from toy_models import text_model, tokenizer

    text_model("bert", classes=2).save_pretrained(folder / "my-model")
    tokenizer().save_pretrained(folder / "my-model")
    sizes = {"img_size": 32, "embed_dim": 32, "depth": 2, "num_heads": 2}
    torch.manual_seed(0)
    vit = timm.create_model("vit_tiny_patch16_224", num_classes=3, **sizes)
    (folder / "my-vit").mkdir()
    save_file(vit.state_dict(), folder / "my-vit" / "model.safetensors")
    config = {
        "architecture": "vit_tiny_patch16_224",
        "num_classes": 3,
        "model_args": sizes,
        "pretrained_cfg": {"input_size": [3, 32, 32], "num_classes": 3, "crop_pct": 1.0},
    }
    (folder / "my-vit" / "config.json").write_text(json.dumps(config))
    (folder / "pictures").mkdir()
    for number in range(2):
        pixels = torch.randint(256, (40, 32, 3), dtype=torch.uint8)
        Image.fromarray(pixels.numpy()).save(folder / "pictures" / f"{number}.png")


def run(blocks: Sequence[str], folder: Path, python: str = sys.executable) -> list[str]:
    """What each block prints, run by `python` in `folder` beside such models; AssertionError with its traceback."""
    here = str(Path(__file__).parent)
    repository = os.environ.get("PYTHONPATH", "") if python == sys.executable else ""
    environment = {**os.environ, "PYTHONPATH": repository, "HF_HUB_OFFLINE": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # or each block would compile all that it imports again
    making = (
        f"import sys; from pathlib import Path; sys.path.insert(0, {here!r}); import readme_models as m; m.make(Path())"
    )
    printed = []
    for code in (making, *blocks):
        done = subprocess.run(
            [python, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{code}\n{done.stderr}"
        printed.append(done.stdout)
    return printed[1:]
