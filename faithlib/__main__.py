"""The command line: `python -m faithlib evaluate MODEL TEXTS.csv` measures explanations of a text classifier.

    python -m faithlib evaluate my-model/ reviews.csv --methods saliency,lime,random --out report.html

MODEL is a folder or a name on the hub of Hugging Face. TEXTS.csv is a table in UTF-8 with the column `text`. Optional
are `text_pair` (what is read after it), `label` (used by `--target label`), `gold`, the characters that people marked
("2:6 11:16"), which metrics of plausibility compare with, and `spans`, the characters of each feature, instead of a
`--unit`; characters count from 0, and those of the pair go on after a blank. A table of `--attributions` has one token
in a row: `text_id` (the number of the text, from 0), `token`, `score`, and, where known, `start` and `end`, the
characters that the token covers; a column `method` names the methods of a file with several. The report and, beside it,
all values as CSV are written; a summary is printed. What is wrong is said in a sentence, with exit code 2.

    python -m faithlib evaluate my-model/ reviews.csv --shard 3/16
    python -m faithlib merge report.*-of-16.json --out report.html

compute a share of the texts each, on one machine or on several, and join the shares to the report of all. A share that
is there is not computed again, so that a job which was killed goes on where it was.

    python -m faithlib bench saco my_metric.py --methods occlusion,my_method.py

judges metrics and methods, those of the library and yours, on small models whose true explanation is known, plain and
under attack (`faithlib.bench`). It ends with 1 where a check finds something wrong with a metric of yours.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faithlib import __version__
from faithlib.errors import DataError, FaithlibError, check_counts, check_known, counted, require

if TYPE_CHECKING:
    from faithlib.evaluation.prepare import PreparedInputs
    from faithlib.evaluation.summary import Table


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0, or 2 for what cannot be done.

    >>> main(["evaluate", "my-model/", "no-such-file.csv"])
    2
    """
    given = _parser().parse_args(arguments)
    with warnings.catch_warnings(action="default"):
        warnings.showwarning = lambda message, *_, **__: print(f"note: {message}", file=sys.stderr)
        try:
            return int(given.call(given) or 0)
        except FaithlibError as error:
            print(f"faithlib: {error}", file=sys.stderr)
            return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m faithlib", description="Measure explanations; -h after a command.")
    parser.add_argument("--version", action="version", version=f"faithlib {__version__}")
    # An option is written in full: what is short for one today may be short for two tomorrow.
    form: dict[str, Any] = {"epilog": __doc__, "formatter_class": argparse.RawDescriptionHelpFormatter}
    form["allow_abbrev"] = False
    commands = parser.add_subparsers(required=True, metavar="command")
    one = commands.add_parser("evaluate", help="all metrics of several methods, for a text classifier", **form)
    one.set_defaults(call=_evaluate)
    one.add_argument("model", help="a folder, or a name on the hub")
    one.add_argument("texts", type=Path, help="a CSV file with the column text")
    one.add_argument("--methods", type=_names, help="names, or files with one of yours, commas between (default: six)")
    one.add_argument("--attributions", type=_names, help="tables of other tools' scores, .csv or .parquet (below)")
    one.add_argument("--metrics", type=_names, help="likewise (default: all but the costly naopc)")
    one.add_argument("--target", default="predicted", help="predicted, label (the column), or the name of a class")
    one.add_argument("--unit", help="what a feature is: word (default), wordpiece, character or sentence")
    one.add_argument("--max-length", type=int, help="tokens read of a text (default: the model's limit, at most 512)")
    one.add_argument("--erase", help="what takes the place of an erased feature: zero, pad, mask or delete")
    one.add_argument("--output", help="what is followed: probability, logit, sigmoid or value")
    one.add_argument("--dtype", help="precision of erased rows: auto, float32, bfloat16, float16 or float64")
    one.add_argument("--draws", type=int, default=4, help="of the soft metrics (default: 4)")
    one.add_argument("--seed", type=int, default=0, help="of the soft metrics (default: 0)")
    one.add_argument("--groups", type=int, default=10, help="of features, for saco, auc and log_odds (default: 10)")
    one.add_argument("--beam", type=int, default=3, help="how wide the bounds of naopc are searched (default: 3)")
    one.add_argument("--gold-size", type=int, help="features for token_f1 and iou_f1 (default: as many as are marked)")
    one.add_argument("--no-check", dest="check", action="store_false", help="without the model's own call beside")
    one.add_argument("--first", type=int, metavar="N", help="only the first N texts")
    one.add_argument("--on-error", choices=("raise", "skip"), default="raise", help="what to do with a broken text")
    one.add_argument("--device", help="cpu, cuda ... (default: a GPU if there is one)")
    one.add_argument("--block", type=int, default=1024, help="texts at a time, which memory grows with (default: 1024)")
    one.add_argument("--shard", help="only a share of the texts, 3/16: into a file that `merge` joins with the others")
    one.add_argument("--out", type=Path, default=Path("report.html"), help="the report (default: report.html)")
    joined = commands.add_parser("merge", help="the shares of an evaluation as one report", **form)
    joined.set_defaults(call=_merge)
    joined.add_argument("shares", nargs="+", type=Path, help="the files of all shares, report.*-of-16.json")
    joined.add_argument("--out", type=Path, default=Path("report.html"), help="the report (default: report.html)")
    bench = commands.add_parser("bench", help="metrics and methods on models whose true explanation is known", **form)
    bench.set_defaults(call=_bench)
    bench.add_argument("metrics", nargs="*", help="names, or files with one of yours (default: all of faithfulness)")
    bench.add_argument("--methods", type=_names, default=[], help="names, or files with one of yours, commas between")
    bench.add_argument("--inputs", type=int, default=24, metavar="N", help="of each of three models (default: 24)")
    bench.add_argument("--seed", type=int, default=0, help="of the inputs and of what is random")
    bench.add_argument("--out", type=Path, help="a CSV file for all values")
    return parser


def _names(given: str) -> list[str]:
    return given.replace(",", " ").split()


# ---------------------------------------------------------------------------------------------------------------- bench
def _bench(given: argparse.Namespace) -> int:
    """Prints the table and what checks found; 1 where they found something, so that a package's tests can call this."""
    from faithlib.bench import bench, faults_of
    from faithlib.evaluation.own import method_in, metric_in
    from faithlib.metrics.registry import Family

    metrics, methods = _with_own(given.metrics, metric_in), _with_own(given.methods, method_in)
    own = [metric for metric in metrics or () if isinstance(metric, Family)]
    faults = [fault for metric in own for fault in faults_of(metric)]
    found = bench(metrics or None, methods or (), inputs=given.inputs, seed=given.seed)
    print(found.summary().T.rename_axis(None, axis=1).to_string())
    if found["mean"].isna().any():
        print("–: no value, because on no input does the metric give two explanations different values.")
    for fault in faults:
        print(f"wrong: {fault}")
    if given.out is not None:
        found.to_csv(given.out, index=False)
        print(f"All values: {given.out}")
    return 1 if faults else 0


# ------------------------------------------------------------------------------------------------------------- evaluate
def _evaluate(given: argparse.Namespace) -> None:
    from faithlib.backends._model_adapters import label_names
    from faithlib.evaluation import evaluate
    from faithlib.evaluation.files import read_attributions, read_table
    from faithlib.evaluation.own import method_in, metric_in
    from faithlib.evaluation.prepare import prepare_inputs
    from faithlib.evaluation.settings import grouped_settings
    from faithlib.evaluation.shards import load_share, save_share, shard_of
    from faithlib.evaluation.table import average_marked

    check_counts(first=given.first)
    written = argparse.Namespace(**vars(given))
    given.methods, given.metrics = _with_own(given.methods, method_in), _with_own(given.metrics, metric_in)
    rows = read_table(given.texts, ("text", "label") if given.target == "label" else ("text",), given.first)
    attributions: dict[str, Any] = {}
    for path in given.attributions or ():
        for name, table in read_attributions(path, given.first).items():
            if name in attributions:
                raise DataError(f"--attributions {path}: there are attributions {name!r} already; choose other names")
            attributions[name] = table
    given.attributions = attributions or None
    marks = {name: _characters(list(rows[name]), name) for name in _MARKS if name in rows and any(rows[name])}
    values = _values_beside(given.out, given.texts)
    shard, share, asked_for = None, None, ""
    if given.shard is not None:
        shard, asked_for = shard_of(given.shard), _digest(written)
        share = given.out.with_name(f"{given.out.stem}.{shard[0]}-of-{shard[1]}.json")
        if share.exists():
            if load_share(share).attrs.get("shard", {}).get("asked") != asked_for:
                raise DataError(f"{share} is a share of another call: remove it, or choose another --out")
            print(f"Share {shard[0]} of {shard[1]} is there already: {share}")
            return
    model, tokenizer = _load(given.model, given.device)
    texts = list(zip(rows["text"], rows["text_pair"], strict=True)) if "text_pair" in rows else list(rows["text"])
    options = {"unit": given.unit, "max_length": given.max_length, "on_error": given.on_error}
    options["spans"] = marks.get("spans")
    with warnings.catch_warnings(action="ignore"):  # said by evaluate
        whole = prepare_inputs(model, texts, tokenizer, **options)
    gold = marks.get("gold")
    features = None if gold is None else whole.marked(gold)
    target: Any = given.target
    if target == "label":
        names = label_names(model)
        target = [int(name) if name.isdecimal() and name not in names else name for name in rows["label"]]
    dtype = _dtype(given.dtype)
    if shard is None:
        _tell_costs(whole, given, has_gold=gold is not None)
    elif features is not None and given.gold_size is None:
        given.gold_size = average_marked(features)
    asked: dict[str, Any] = {name: getattr(given, name) for name in _PASSED_ON}
    more = {"target": target, "gold": gold, "dtype": dtype, "shard": shard, "block": given.block}
    table = evaluate(model, texts, tokenizer=tokenizer, **grouped_settings(asked | options | more))
    if shard is not None and share is not None:
        save_share(table, share, asked=asked_for)
        print(f"Share {shard[0]} of {shard[1]}, {table.input.nunique()} of {counted(len(texts), 'text')}: {share}")
        return
    _write(table, given.out, values)


def _values_beside(out: Path, *others: Path) -> Path:
    """The file of the values beside a report, which may be none of the `others`."""
    values = out.with_suffix(".csv")
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise DataError(f"--out {out}: expected the name of a file in a folder that exists")
    if values.absolute() in (out.absolute(), *(other.absolute() for other in others)):
        raise DataError(f"--out {out}: the values go to {values}, which is there already; choose another name")
    return values


def _write(table: Table, out: Path, values: Path) -> None:
    print(table.summary())
    table.to_html(out)
    table.to_csv(values, index=False)
    print(f"\nReport with heat maps: {out}\nAll values: {values}")


def _merge(given: argparse.Namespace) -> None:
    from faithlib.evaluation.shards import merge

    values = _values_beside(given.out, *given.shares)
    _write(merge(given.shares), given.out, values)


def _digest(given: argparse.Namespace) -> str:
    """A digest of a call: of its options, and of the files that it reads."""

    # Where it runs, and where the share goes, change nothing.
    options = {
        name: str(value) for name, value in vars(given).items() if name not in ("call", "out", "shard", "device")
    }
    said = hashlib.sha256(json.dumps([__version__, options], sort_keys=True).encode())
    named = [*(given.methods or ()), *(given.metrics or ())]
    own = [Path(str(name).partition(".py")[0] + ".py") for name in named if ".py" in str(name)]
    for path in (given.texts, *map(Path, given.attributions or ()), *own):
        said.update(path.read_bytes())
    folder = Path(given.model)
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        said.update(f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}".encode())
    return said.hexdigest()[:16]


def _with_own(names: list[str] | None, read: Callable[[str], Any]) -> list[Any] | None:
    """Names, and what stands in files of one's own (`mine.py`, `mine.py:name`)."""
    from faithlib.evaluation.own import is_file

    if names is None:
        return None
    return [read(name) if is_file(name) else name for name in names]


# Columns of the texts' table that hold characters.
_MARKS = ("gold", "spans")

# What stands on the command line under the name that it has in `evaluate`.
_PASSED_ON = (
    "methods",
    "attributions",
    "metrics",
    "erase",
    "output",
    "draws",
    "seed",
    "groups",
    "beam",
    "gold_size",
    "check",
)


def _dtype(name: str | None) -> Any:
    """A precision by its name; UnknownNameError for another."""
    if name in (None, "auto"):
        return name
    import torch

    known = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16, "float64": torch.float64}
    check_known("dtype", name.removeprefix("torch."), ("auto", *known))
    return known[name.removeprefix("torch.")]


def _load(name: str, device: str | None) -> tuple[Any, Any]:
    """Classifier and tokenizer; only weights in safetensors, and no code that comes with a model."""
    if not Path(name).is_dir() and (Path(name).is_absolute() or name.count("/") > 1 or name.endswith("/")):
        raise DataError(f"model {name}: there is no such folder; give one with config.json, or a name on the hub")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    transformers = require("transformers", extra="text")
    transformers.logging.disable_progress_bar()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        model, report = transformers.AutoModelForSequenceClassification.from_pretrained(
            name, use_safetensors=True, output_loading_info=True
        )
    except Exception as error:  # several libraries read the files, each with errors of its own
        reason = str(error).strip().partition("\n")[0]
        raise DataError(
            f"cannot load {name} ({reason}): expected a folder of save_pretrained, or a name on the hub, with a "
            "classifier in safetensors and its tokenizer"
        ) from error
    if missing := sorted(report["missing_keys"]):
        raise DataError(
            f"{name} holds no weights for {', '.join(missing[:3])}, so that it would predict at random: expected a "
            "model that was trained as a classifier"
        )
    import torch

    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return model.eval().to(device), tokenizer
    except (RuntimeError, AssertionError) as error:
        raise DataError(f"--device {device}: {str(error).partition(chr(10))[0]}") from error


def _characters(cells: Sequence[str], column: str) -> list[list[tuple[int, int]]]:
    """The characters (start, end) in each cell of a column."""
    found = []
    for row, cell in enumerate(cells):
        try:
            found.append([(int(start), int(end)) for start, end in (part.split(":") for part in cell.split())])
        except ValueError as error:
            raise DataError(
                f"{column} of row {row}: {cell!r}; expected characters as start:end, '2:6 11:16'"
            ) from error
    return found


def _tell_costs(whole: PreparedInputs, given: argparse.Namespace, *, has_gold: bool) -> None:
    """Prints how many rows will run of what erases, methods and metrics, and about how long they take."""
    import torch

    from faithlib.attribution import Row
    from faithlib.evaluation.measures import count_explaining, count_rows
    from faithlib.evaluation.prepare import erases, methods_by_name
    from faithlib.evaluation.settings import MetricSettings
    from faithlib.perturb import Perturber

    with warnings.catch_warnings(action="ignore"):  # said by evaluate
        inputs, methods = whole.inputs, methods_by_name(given.methods, whole, given.attributions)
    explaining = [row for row in methods.values() if isinstance(row, Row) and erases(row, inputs)]
    explaining_rows = count_explaining(whole.model, inputs, explaining, erase=given.erase)
    scores = {name: torch.rand(inputs.feature_mask.shape) for name in methods}
    settings = MetricSettings(
        erase=given.erase,
        output=given.output,
        draws=given.draws,
        seed=given.seed,
        groups=given.groups,
        beam=given.beam,
    )
    gold = inputs.feature_mask if has_gold else None
    asked = count_rows(whole.model, inputs, methods=scores, metrics=given.metrics, gold=gold, settings=settings)
    rows = explaining_rows + asked.together
    few = Perturber(whole.model, inputs[list(range(min(8, len(inputs))))], output=given.output, check=False)
    began = time.perf_counter()
    _ = few.empty
    seconds = max(1, round((time.perf_counter() - began) / len(few.inputs) * rows))
    print(
        f"{counted(len(inputs), 'text')} with {counted(int(inputs.feature_mask.sum()), 'feature')}, "
        f"{counted(len(methods), 'method')}. To run: about {rows:,} erased copies, some {seconds:,} s "
        "on this machine, and the gradients of methods that take them.",
        flush=True,
    )


if __name__ == "__main__":
    raise SystemExit(main())
