"""Measures that papers about language models use: which masks each needs, asked of one `Perturber`.

Formulas are in `faithlib.metrics.language`. All of them take any model; the papers follow the log-probability of an
answer (`faithlib.backends.Continuation`). Shape letters: B inputs, F features, K sizes, M random sets, P shares.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from faithlib.attribution.perturbation import drawn
from faithlib.errors import InputError, check_known
from faithlib.masks import normalise, position_in_rank, soft_keep, top_ratio
from faithlib.metrics import language as formulas
from faithlib.metrics import soft_nc, soft_ns
from faithlib.perturb import Perturber, SetFunction

PI_SHARES = tuple(step / 10 for step in range(1, 10))


def distance_scores(
    perturber: Perturber,
    scores: Tensor,
    *,
    normaliser: str = "minmax",
    variant: str = "paper",
    draws: int = 1,
    seed: int = 0,
) -> dict[str, Tensor]:
    """Soft-NS and Soft-NC over next-token distributions (Zhao & Shan 2024, ReAGent): {"soft_ns": [B, draws], "soft_nc":
    [B, draws]}, higher is better; of a `Continuation` with reading="similarity".

    `variant`: the Hellinger distance as written, or as released (`metrics.hellinger`). Their scores are softmaxes;
    give those with normaliser "none". InputError where the output is no similarity: above 1, or not 1 at the input.

    >>> from faithlib.inputs import WordInputs
    >>> perturber = Perturber(lambda texts: [[0.4, 0.6]] * len(texts), WordInputs.from_texts(["good film"]))
    >>> distance_scores(perturber, torch.tensor([[2.0, 1.0]]))
    Traceback (most recent call last):
    faithlib.errors.InputError: the output at input 0 is 0.6, and of a similarity 1: expected a Continuation ...
    """
    check_known("variant", variant, ("paper", "released"))
    far = (perturber.full - 1).abs() > 1e-3
    if bool(far.any()):
        b = int(far.nonzero()[0])
        raise InputError(
            f"the output at input {b} is {float(perturber.full[b]):.3g}, and of a similarity 1: expected a "
            "Continuation with reading='similarity'"
        )

    def distance(similarity: Tensor) -> Tensor:
        distances = (1 - similarity).clamp(min=0)
        return distances if variant == "paper" else 2**0.5 * distances.square()

    def of(verb: str) -> Tensor:
        keep = soft_keep(scores, verb=verb, normaliser=normaliser, feature_mask=perturber.feature_mask)
        return distance(perturber.soft(keep[:, None], draws=draws, seed=seed)[:, 0])

    d_empty = distance(perturber.soft_empty)[:, None]
    return {
        "soft_ns": formulas.sufficiency_distance(of("sufficiency"), d_empty),
        "soft_nc": formulas.comprehensiveness_distance(of("comprehensiveness"), d_empty),
    }


def pi_soft_scores(
    perturber: Perturber,
    scores: Tensor,
    *,
    shares: Sequence[float] = PI_SHARES,
    normaliser: str = "minmax",
    draws: int = 1,
    seed: int = 0,
) -> dict[str, Tensor]:
    """pi-Soft-NS and pi-Soft-NC (Huang & Chan 2026, arXiv 2601.03089): Soft-NS and Soft-NC where all attributions keep
    the same expected `shares` of an input. They are {"pi_soft_ns", "pi_soft_nc": [B, P]}, means over draws, and
    {"pi_soft_ns_area", "pi_soft_nc_area": [B]}, the areas over the shares. Higher is better.

    How scores become probabilities of that mean is ours (`metrics.equal_retention`). For Soft-NC what is kept is 1 - a.

    >>> from transformers import DistilBertConfig, DistilBertForSequenceClassification
    >>> from faithlib.inputs import TextInputs
    >>> config = DistilBertConfig(vocab_size=9, dim=4, n_layers=1, n_heads=1, hidden_dim=4)
    >>> model = DistilBertForSequenceClassification(config).eval()
    >>> ids, words = torch.tensor([[1, 5, 7, 2]]), torch.tensor([[-1, 0, 1, -1]])  # [CLS], two words, [SEP]
    >>> texts = TextInputs(ids, ids > 0, words, torch.tensor([2]), torch.tensor([False]), pad_id=0)

    >>> found = pi_soft_scores(Perturber(model, texts), torch.tensor([[2.0, 1.0]]), shares=[0.25, 0.5, 0.75])
    >>> found["pi_soft_ns"].shape, found["pi_soft_ns_area"].shape
    (torch.Size([1, 3]), torch.Size([1]))
    """
    mask, values = perturber.feature_mask, {}
    importance = normalise(scores, normaliser, mask)
    full, floor = perturber.full[:, None, None], perturber.soft_empty[:, None, None]
    for name, formula, kept in (("pi_soft_ns", soft_ns, importance), ("pi_soft_nc", soft_nc, 1 - importance)):
        keep = torch.stack([formulas.equal_retention(kept, share, mask) for share in shares], dim=1)
        values[name] = formula(full, perturber.soft(keep, draws=draws, seed=seed), floor).mean(dim=2)
        values[f"{name}_area"] = formulas.area(values[name], torch.tensor(shares, dtype=torch.double))
    return values


def top_k_drop_scores(
    perturber: Perturber | SetFunction, scores: Tensor, *, sizes: Sequence[int] = (1, 3, 5)
) -> Tensor:
    """How far the output falls without the K sizes of highest scores, [B, K]: log p(answer | x) - log p(answer | x
    without the top k) where the output is a log-probability (Cohen-Wang et al. 2024, ContextCite, Section 3). Higher is
    better; with k beyond an input's features, the fall where all go.

    >>> from faithlib.perturb import SetFunction
    >>> additive = SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0]).double(), 2)
    >>> top_k_drop_scores(additive, torch.tensor([[0.2, 0.9]]), sizes=[1, 2]).tolist()
    [[1.0, 4.0]]
    """
    place = position_in_rank(scores, perturber.feature_mask)
    kept = place[:, None] >= torch.tensor(list(sizes), device=place.device)[:, None]
    return perturber.full[:, None] - perturber.keep(kept)


def lds_scores(
    perturber: Perturber | SetFunction, scores: Tensor, *, ablations: int = 64, keep: float = 0.5, seed: int = 0
) -> Tensor:
    """LDS of attributions, [B]: `metrics.lds` over random ablations, in which each feature stays with probability
    `keep` (Cohen-Wang et al. 2024: 64 ablations, .5). The same for every attribution: drawn from (seed, content of
    the input). Higher is better; Spearman's correlation does not ask whether the output is a probability or its logit.

    >>> from faithlib.perturb import SetFunction
    >>> additive = SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0]).double(), 2)
    >>> lds_scores(additive, torch.tensor([[0.9, 0.2]])).item()
    1.0
    """
    if not 0 < keep < 1:
        raise InputError(f"keep {keep}: expected a probability between 0 and 1")
    kept = _drawn(perturber, ablations, seed) < keep
    return formulas.lds((kept * scores[:, None]).sum(dim=2), perturber.keep(kept))


def rise_scores(perturber: Perturber | SetFunction, scores: Tensor, *, steps: int = 20) -> dict[str, Tensor]:
    """RISE's deletion area and MAS as FlashTrace reports them (Pan et al. 2026): {"rise": [B], "mas": [B]}, lower is
    better. Most relevant features first, in `steps` steps (an input with fewer features has as many) that differ by one
    feature at most, the larger first.

    Where the scores of an input do not sum to more than 0, the share that is left falls evenly, as in their code. Next
    to these, NAOPC has the true bounds of the same path.

    >>> from faithlib.perturb import SetFunction
    >>> additive = SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0]).double(), 2)
    >>> {name: value.item() for name, value in rise_scores(additive, torch.tensor([[3.0, 1.0]])).items()}
    {'rise': 0.375, 'mas': 0.375}
    """
    mask = perturber.feature_mask
    n = mask.sum(dim=1, keepdim=True)
    place, areas = position_in_rank(scores, mask), torch.full((2, len(mask)), torch.nan, dtype=torch.double)
    for k in n.clamp(max=steps).unique().tolist():
        index = (n.clamp(max=steps)[:, 0] == k).nonzero()[:, 0]
        # The first n mod k steps take one feature more.
        size, larger = n[index] // k, n[index] % k
        edges = torch.arange(k + 1, device=n.device) * size + torch.arange(k + 1, device=n.device).minimum(larger)
        kept = place[index][:, None] >= edges[..., None]
        path = perturber.of(index.tolist()).keep(kept) if isinstance(perturber, Perturber) else perturber.keep(kept)
        some_scores = scores[index].where(mask[index], 0).double()
        whole = some_scores.sum(dim=1, keepdim=True)
        left = (kept * some_scores[:, None]).sum(dim=2) / whole
        left = torch.where(whole > 0, left, torch.linspace(1, 0, k + 1, dtype=torch.double, device=n.device))
        areas[:, index.cpu()] = torch.stack([formulas.rise(path.double()), formulas.mas(path.double(), left)]).cpu()
    return {"rise": areas[0], "mas": areas[1]}


def win_rate_scores(
    perturber: Perturber | SetFunction, scores: Tensor, *, share: float = 0.2, matches: int = 50, seed: int = 0
) -> dict[str, Tensor]:
    """How often the top `share` of features beats random ones of the same number (Basu & Chakraborty 2026, ICE). Their
    win rate is over `matches` random rationales, drawn from (seed, content of the input); beside it the p of the
    randomisation test: {"comprehensiveness", "sufficiency", and with "_p" at the end: [B]}.

    Comprehensiveness: by how much the output falls without the rationale; sufficiency: how high it is with the
    rationale alone. What takes the place of an erased feature is the perturber's `erase`.

    >>> from faithlib.perturb import SetFunction
    >>> additive = SetFunction(lambda keep: keep.double() @ torch.arange(9.0).double(), 9)
    >>> win_rate_scores(additive, torch.arange(9.0)[None])["sufficiency"].item() > 0.9
    True
    """
    mask = perturber.feature_mask
    rationale = top_ratio(scores, [share], mask)
    orders = _drawn(perturber, matches, seed)
    random = torch.stack([top_ratio(orders[:, m], [share], mask)[:, 0] for m in range(matches)], dim=1)
    both = torch.cat([rationale, random], dim=1)
    outcomes = {"comprehensiveness": -perturber.keep(~both), "sufficiency": perturber.keep(both)}
    values = {}
    for name, value in outcomes.items():
        values[name] = formulas.win_rate(value[:, 0], value[:, 1:])
        values[f"{name}_p"] = formulas.randomisation_p(value[:, 0], value[:, 1:])
    return values


def _drawn(perturber: Perturber | SetFunction, count: int, seed: int) -> Tensor:
    """U(0, 1) numbers [B, M, F], of each input its own; 1 beyond its features."""
    keys = perturber.inputs.keys() if isinstance(perturber, Perturber) else (0,)
    mask = perturber.feature_mask
    return drawn(keys, mask.sum(dim=1).tolist(), count, seed).to(mask.device)
