"""One message and its translation, for the page that goes through the steps of rho (Figure 1 of Zaman & Belinkov 2022):
saved words, scores and links of one trained model, how they are drawn, and rho of the same pair by other rows.

A row is a method with its aggregation and the output that it explains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from faithbook.show.figures import OURS, PUBLISHED
from faithbook.show.labels import label
from faithbook.show.plots import Drawn
from faithbook.studies.crosslingual.zaman_belinkov_alignment import Links, crossings, most_crossed, ranked

KEYS = ["method", "aggregation", "output"]
LEADER = ("input_x_gradient", "l2", "loss")
"""The row that leads in the paper."""
UNIFORM = ("uniform", "none", "none")
LANGUAGE, NAME = "de", "German"
_TINY = 1e-12
"""Instead of a highest score of zero, by which nothing can be divided."""


@dataclass(frozen=True)
class Kept:
    """What a build has kept of its first messages: `words` with their scores, `links` between words, and `rho` of each
    pair of texts in the main setting, all of one trained model."""

    words: pd.DataFrame
    links: pd.DataFrame
    rho: pd.Series
    model: str
    seed: int

    @classmethod
    def of(cls, words: pd.DataFrame, links: pd.DataFrame, rho: pd.DataFrame, dataset: str) -> Kept:
        """Of all saved tables, those of the first trained model on one data set."""
        words = words[words["dataset"] == dataset]
        model, seed = str(words["model"].iloc[0]), int(words["seed"].iloc[0])
        own = {"dataset": dataset, "model": model, "seed": seed}
        main = _with(rho, **own, setting="main").set_index([*KEYS, "language", "input"])["rho"]
        return cls(_with(words, **own), _with(links, **own), main, model, seed)

    @cached_property
    def messages(self) -> list[str]:
        """The names of the messages, in order."""
        return list(dict.fromkeys(self.words["input"]))

    @cached_property
    def message(self) -> str:
        """The message that is shown: the one whose links cross most often. It is chosen by its links and not by its
        scores, so that a high rho is not what it was chosen for."""
        sizes = {message: len(self.scores_of("en", message)) for message in self.messages}
        return most_crossed(sizes, self.links_of)

    def scores_of(self, language: str, message: str, row: tuple[str, str, str] = LEADER) -> pd.DataFrame:
        """Words, numbers of pieces and scores of a message in one language by one row, in order."""
        method, aggregation, output = row
        chosen = _with(
            self.words, language=language, input=message, method=method, aggregation=aggregation, output=output
        )
        return chosen.sort_values("word").reset_index(drop=True)

    def links_of(self, message: str) -> list[tuple[int, int]]:
        """Links between words of a message and of its German translation."""
        rows = _with(self.links, language=LANGUAGE, input=message)
        return sorted(zip(rows["word"].tolist(), rows["word_there"].tolist(), strict=True))

    def steps(self, row: tuple[str, str, str] = LEADER) -> pd.DataFrame:
        """The two lists of scores of the message that is shown, word by word (`ranked`)."""
        english, german = (self.scores_of(language, self.message, row) for language in ("en", LANGUAGE))
        return ranked(english, german, self.links_of(self.message))

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """The rows whose scores were kept."""
        return list(dict.fromkeys(self.words[KEYS].itertuples(index=False, name=None)))

    def in_every_language(self) -> pd.DataFrame:
        """Rho of the message with each of its translations, one row per kept row, one column per language."""
        of_message = self.rho.xs(self.message, level="input").unstack("language")
        languages = list(dict.fromkeys(self.rho.index.get_level_values("language")))
        table = of_message.reindex(pd.MultiIndex.from_tuples(self.rows, names=KEYS))[languages].reset_index()
        return table.rename_axis(columns=None).assign(output=table["output"].replace("none", "–"))

    def ranges_in_words(self) -> str:
        """From where to where rho goes over all pairs of English and German texts, by row."""
        ranges, numbers = [], []
        for row in self.rows:
            pairs = self.rho.sort_index().loc[(*row, LANGUAGE)].dropna()
            numbers.append(len(pairs))
            if len(pairs):
                ranges.append(f"{label(row[0])} from {pairs.min():.2f} to {pairs.max():.2f}")
        return f"Over the {max(numbers)} pairs of English and {NAME} texts of this build: {'; '.join(ranges)}."


def _with(frame: pd.DataFrame, **values: object) -> pd.DataFrame:
    """The rows that have these values in the columns of their names."""
    for name, value in values.items():
        frame = frame[frame[name] == value]
    return frame


def carried_scores_figure(
    english: pd.DataFrame, german: pd.DataFrame, links: Links, steps: pd.DataFrame, rho: float
) -> Drawn:
    """Steps a to c: on the left the words of both texts, tinted by their scores, and the links between them; on the
    right two bars for each English word, its own score and the score carried over (`steps`)."""
    lines = max(len(english), len(german))
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 0.36 * lines + 1.4), width_ratios=(3, 2))
    _tinted(left, 0.36, english, side="right")
    _tinted(left, 0.64, german, side="left")
    for i, j in links:
        left.plot([0.38, 0.62], [-i, -j], color="#444444", lw=1.2)
    left.set_xlim(0, 1)
    left.text(0.36, 0.75, "English", ha="right", fontweight="bold", fontsize=9)
    left.text(0.64, 0.75, NAME, ha="left", fontweight="bold", fontsize=9)
    left.axis("off")
    own, carried = english["score"].to_numpy(), steps["carried score"].to_numpy()
    places = -np.arange(len(english))
    right.barh(places + 0.2, own / max(own.max(), _TINY), height=0.36, color=OURS, label="own score")
    right.barh(
        places - 0.2,
        carried / max(carried.max(), _TINY),
        height=0.36,
        color=PUBLISHED,
        label=f"carried over from {NAME}",
    )
    right.set_yticks(places, english["text"], fontsize=9)
    right.set_xlabel("score, as a share of the highest", fontsize="small")
    right.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2, fontsize="x-small")
    right.grid(axis="y", visible=False)
    for ax in (left, right):  # the words of both are on the same lines
        ax.set_ylim(-lines + 0.4, 1.0)
    unlinked = len(english) - len({i for i, _ in links})
    highest, highest_carried = english["text"][own.argmax()], english["text"][carried.argmax()]
    return fig, (
        f"Two columns of words, {len(english)} English and {len(german)} {NAME}, tinted by their scores and joined by "
        f"{len(links)} lines, {crossings(links)} pairs of which cross; {unlinked} English words have no line. Beside "
        f"them two bars for each English word: its own score, highest at '{highest}', and the score carried over, "
        f"highest at '{highest_carried}'. The two orders correlate at {rho:.2f}."
    )


def _tinted(ax: plt.Axes, x: float, words: pd.DataFrame, *, side: str) -> None:
    """A column of words, one per line, on a background whose tint follows the score."""
    highest = max(float(words["score"].max()), _TINY)
    for i, (word, score) in enumerate(zip(words["text"], words["score"], strict=True)):
        tint = (0.0, 114 / 255, 178 / 255, 0.75 * max(float(score), 0.0) / highest)
        box = {"facecolor": tint, "edgecolor": "none", "pad": 2.5}
        ax.text(x, -i, word, ha=side, va="center", fontsize=9, bbox=box)


def word_order_in_words(links: Sequence[tuple[int, int]]) -> str:
    """Whether two texts have the same order of words, by how many pairs of their links cross.

    >>> word_order_in_words([(0, 1), (1, 0)])
    'In the one below 1 pair of links crosses, so the two languages order its words differently.'
    """
    crossed = crossings(links)
    if crossed == 0:
        return "In the one below no two links cross, so both languages have its words in the same order."
    pairs = "1 pair of links crosses" if crossed == 1 else f"{crossed} pairs of links cross"
    return f"In the one below {pairs}, so the two languages order its words differently."
