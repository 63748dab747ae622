"""How often the rule of a claim errs with values of that claim's own shape.

    python -m faithbook.judge.claim_rates      # writes data/reference/claim_error_rates.csv

The pages of the last build of the profile `laptop` say what a claim compares, on the reference's values. Of each
comparison we take what every cluster adds to it (`Estimate.contributions`), shift it so that the truth is where a
verdict would be an error, and draw as many clusters as there are, with replacement and within their data set, `WORLDS`
times. All comparisons see the same clusters, so that they depend on each other as they do in the claim. The rule of the
claim judges each world.

- A wrong *yes*: as many comparisons as may fail lie exactly at the threshold, those that come closest to it in the
  claim; all others are far above.
- A wrong *no*: as many comparisons as have to hold lie exactly at the threshold, all others far below.

The standard error of a world is the one that infinitely many resamples would give. Claims that plan another test than
Student's t, orders and trends are not among them (`faithbook.stats.calibrate` has these).
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from faithbook.judge import analysis_plan, decide, freeze, published
from faithbook.judge.analysis_plan import OF_PARTS, Rule
from faithbook.judge.decide import Claim, OnlyIf, Statements
from faithbook.judge.error_rates import OF_CLAIMS, SIDES
from faithbook.judge.report import Page
from faithbook.paths import root
from faithbook.stats.comparison import Comparison
from faithbook.stats.estimate import Array, Estimate
from faithbook.stats.inference import Student
from faithbook.stats.verdict import Verdict

WORLDS = 4000
SEED = 20261129
FAR = 1e6
"""So many standard errors away a comparison is decided in every world."""


@dataclass(frozen=True)
class Asked:
    """What a rule about comparisons is asked on a page: an id, or one statement of it, with the estimates, and how many
    of them have to hold."""

    id: str
    rule: Rule
    parts: Sequence[Estimate]
    needed: int


# ------------------------------------------------------------------------------------------------- what pages compare
@dataclass(frozen=True)
class ListenedTo:
    """A page whose claims are kept and judged by nobody; all else that its notebook asks of it the page answers."""

    page: Page
    claims: dict[str, Claim] = field(default_factory=dict)

    def test(self, claims: Mapping[str, Claim]) -> dict[str, Any]:
        """Keep the claims of a section."""
        self.claims.update(claims)
        return {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.page, name)


def asked_on(page: str) -> list[Asked]:
    """What a page compares for its claims, on the values that the book shows."""
    claims: dict[str, Claim] = {}
    names: dict[str, Any] = {"__name__": "__main__", "profile": "laptop", "values": "reference"}
    for statement in freeze.measured_in(page):
        if _sets_parameter(statement):
            continue
        exec(compile(ast.Module([statement], []), page, "exec"), names)
        # From the statement on that makes the page, its notebook has the listener in its place.
        if isinstance(names.get("page"), Page):
            names["page"] = ListenedTo(names["page"], claims)
    compared: list[Asked] = []
    for name, claim in claims.items():
        compared += _asked(analysis_plan.rule(name), name, claim)
    return compared


def _sets_parameter(statement: ast.stmt) -> bool:
    """Whether it sets a parameter of the page, whose value is given here."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id in ("profile", "values") for target in targets)


def _asked(rule: Rule, name: str, claim: Claim) -> Iterator[Asked]:
    """The rules about comparisons of a claim, of several statements each."""
    if rule.same_as or rule.fixed_verdict:
        return
    if isinstance(claim, OnlyIf):
        yield from _asked(rule, name, claim.claim)
    elif isinstance(claim, Statements):
        for of, statement in claim.of.items():
            yield from _asked(analysis_plan.statement(name, of), f"{name}/{of}", statement)
    elif rule.rule in OF_PARTS and rule.test == "t" and isinstance(claim, Mapping):
        pairs = [pair for pair in claim.values() if isinstance(pair, Comparison)]
        if pairs and all(pair.ours.fewest >= 2 for pair in pairs):
            yield Asked(name, rule, [pair.ours for pair in pairs], _needed(rule, pairs))


def _needed(rule: Rule, pairs: Sequence[Comparison]) -> int:
    """How many have to hold; of fewer than the plan counts as many as hold in print, as `decide` has it."""
    if rule.rule == "each":
        return len(pairs)
    if isinstance(rule.k, int) and rule.k > len(pairs):
        return max(1, sum(pair.published > rule.threshold for pair in pairs))
    return rule.needed(len(pairs))


# ------------------------------------------------------------------------------------------------------------- worlds
def added(estimate: Estimate) -> Array:
    """What each cluster adds to an estimate, [K], centred within its stratum. Of what is no linear combination of means
    it is the slope of the bootstrap replicates over how often they hold the cluster."""
    resamples = estimate.resamples
    values = estimate.contributions
    if values is None:
        counts = resamples.counts - 1
        values = np.linalg.lstsq(counts, np.nan_to_num(estimate.deviations.sum(axis=1)), rcond=None)[0]
    values = np.array(values, dtype=float)
    for places in resamples.members:
        values[places] -= values[places].mean()
    return values


def null_worlds(parts: Sequence[Estimate], worlds: int) -> Student:
    """Worlds of comparisons whose truth is zero, [worlds, M]: point, standard error and degrees of freedom of each."""
    shape = (worlds, len(parts))
    point, variance, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    generator = np.random.default_rng(SEED)
    for resamples in {id(part.resamples): part.resamples for part in parts}.values():
        of_these = [number for number, part in enumerate(parts) if part.resamples is resamples]
        values = np.stack([added(parts[number]) for number in of_these], axis=-1)  # [K, M]
        clusters = np.stack([parts[number].clusters for number in of_these], axis=-1)  # [H, M]
        for h, places in enumerate(resamples.members):
            k = len(places)
            counts = generator.multinomial(k, np.full(k, 1 / k), size=worlds).astype(float)
            first, second = counts @ values[places], counts @ values[places] ** 2
            n = clusters[h].astype(float)
            of_stratum = np.where(n > 1, n / np.maximum(n - 1, 1), 0.0) * np.maximum(second - first**2 / k, 0.0)
            point[:, of_these] += first
            variance[:, of_these] += of_stratum
            squares[:, of_these] += of_stratum**2 / np.maximum(n - 1, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        df = np.where(squares > 0, variance**2 / squares, np.nan)
    return Student(point, np.sqrt(variance), df, np.array([part.fewest for part in parts]))


def _moved(world: Student, by: Array) -> Student:
    return Student(world.point + by, world.error, world.df, world.fewest)


def _error_rate(asked: Asked, world: Student, wrong: Verdict) -> float:
    """How often the rule gives a wrong answer; of `within` the higher one at its two ends."""
    rule, m, needed = asked.rule, len(asked.parts), asked.needed
    points = np.array([float(part.point) for part in asked.parts])
    spread = np.array([part.standard_error for part in asked.parts])
    rates = []
    for line in rule.lines:
        inward = 1.0 if line == rule.lines[0] else -1.0  # of `within` the upper end is left on the other side
        order = np.argsort(inward * (points - line) / np.maximum(spread, 1e-12))  # the least clear first
        at_line, side = (order[: m - needed + 1], inward) if wrong is Verdict.YES else (order[::-1][:needed], -inward)
        if rule.rule == "each" and wrong is Verdict.NO:  # no: not one of them holds
            at_line = order[::-1][:1]
        if rule.rule == "within":
            far = np.full(m, sum(rule.lines) / 2) if wrong is Verdict.YES else np.full(m, line + side * FAR)
        else:
            far = line + side * FAR * np.maximum(spread, 1e-12)
        truth = np.where(np.isin(np.arange(m), at_line), line, far)
        verdicts = decide.applied(rule, _moved(world, truth), needed).verdicts
        rates.append(float(np.mean(verdicts == wrong)))
    return max(rates)


def rates_of_claim(asked: Asked, worlds: int = WORLDS) -> dict[str, object]:
    """A row of the table."""
    row: dict[str, object] = {"id": asked.id, "rule": asked.rule.rule, "parts": len(asked.parts)}
    row |= {"needed": asked.needed, "clusters": min(part.fewest for part in asked.parts), "worlds": worlds}
    world = null_worlds(asked.parts, worlds)
    return row | {name: _error_rate(asked, world, answer) for name, answer in SIDES.items()}


def measure_claims() -> pd.DataFrame:
    """The rates of every claim that Student's t judges, one row each; of a claim of several statements a row each."""
    pages = [page for page in dict.fromkeys(published.claims()["page"]) if page]
    rows = [rates_of_claim(asked) for page in tqdm(pages, desc="pages") for asked in asked_on(page)]
    return pd.DataFrame(rows)


def main() -> None:
    """Write the table."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    measure_claims().round(4).to_csv(root() / OF_CLAIMS, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
