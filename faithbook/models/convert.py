"""Weights that exist as pickles alone, converted to safetensors once, when somebody asks for it.

    python -m faithbook.models.convert textattack/bert-base-uncased-snli

A pickle can run code when it is read. So it is read by torch's unpickler for weights, which admits tensors and nothing
else, and in a process of its own. The model then lies at `<FAITHLIB_DATA>/hub/<id>@<commit>` in the hub's layout, where
`load_model("hf:<id>")` finds it. Nothing is converted unasked.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from faithbook import disk, hub
from faithbook.artifacts import commit_of
from faithlib.errors import DataError

_PICKLE = "pytorch_model.bin"
_BESIDE = ("*.json", "*.txt", "*.model")  # configuration and tokenizer
_READ = """
import json, sys
import safetensors.torch, torch
weights = torch.load(sys.argv[1], map_location="cpu", weights_only=True)
weights = {name: value.contiguous().clone() for name, value in weights.items()}
order = json.dumps(list(weights))  # which safetensors do not keep
safetensors.torch.save_file(weights, sys.argv[2], metadata={"format": "pt", "order": order})
"""
_SECONDS = 1800


def convert(place: str) -> Path:
    """The folder of a model of the hub with its weights as safetensors, made unless it is there.

    Raises DataError where the hub does not give it, it has no pickled weights in one file, or these hold more than
    tensors; nothing that looks whole is left behind then.
    """
    folder = hub.converted_folder(place) / "model.safetensors"
    if folder.is_file():
        return folder.parent
    source = _downloaded(place)
    folder = hub.converted_folder(place)  # whose name may have become known
    if not (source / _PICKLE).is_file():
        raise DataError(f"{place} has no {_PICKLE}: there is nothing to convert")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".incoming-") as incoming:
        made = Path(incoming) / "model"
        made.mkdir()
        for pattern in _BESIDE:
            for file in source.glob(pattern):
                shutil.copy(file, made / file.name)
        read_pickle(source / _PICKLE, made / "model.safetensors", place)
        about = {"model": place, "revision": commit_of(place) or "", "converted from": _PICKLE}
        (made / "converted.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)
    return folder


def _downloaded(place: str) -> Path:
    from huggingface_hub import snapshot_download

    revision = hub.revision_of(f"hf:{place}")
    try:
        return Path(snapshot_download(place, revision=revision, allow_patterns=[_PICKLE, *_BESIDE]))
    except Exception as error:  # whatever the hub's client raises
        raise DataError(f"the hub does not give {place}: {hub.brief(error)}") from error


def read_pickle(pickle: Path, weights: Path, place: str) -> None:
    """Read a pickle and write its tensors as safetensors, in a process that is asked to do nothing else; their names in
    the pickle's order stand in the metadata as `order`. DataError names `place` where it holds more than tensors."""
    line = [sys.executable, "-I", "-c", _READ, str(pickle), str(weights)]
    try:
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise DataError(f"the pickled weights of {place} were not read in {_SECONDS} seconds: try again") from error
    if done.returncode:
        last_words = next((line for line in reversed(done.stderr.strip().splitlines()) if line.strip()), "no word")
        if disk.says_full(last_words):
            raise DataError(
                f"the weights of {place} do not fit where they go, {weights}: {last_words}; {disk.WHAT_TO_DO}"
            )
        raise DataError(
            f"the pickled weights of {place} hold something else than tensors, or are damaged: {last_words}"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line: the hub ids of the models to convert."""
    parser = argparse.ArgumentParser(prog="faithbook.models.convert", description=__doc__)
    parser.add_argument("model", nargs="+", help="a hub id, such as textattack/bert-base-uncased-snli")
    for place in parser.parse_args(arguments).model:
        try:
            print(f"{place} is in {convert(place.removeprefix('hf:'))}")
        except OSError as error:  # as DataError is one
            if not isinstance(error, DataError) and not disk.is_full(error):
                raise
            message = f"{error}; {disk.WHAT_TO_DO}" if disk.is_full(error) else error
            print(f"faithlib: {place} was not converted: {message}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
