"""Measures that papers about language models use: which masks each needs, asked of one `Perturber`.

Formulas are in `faithlib.metrics.language`. All of them take any model; the papers follow the log-probability of an
answer (`faithlib.backends.Continuation`). Shape letters: B inputs, F features, K sizes, M random sets, P shares.
"""

from collections.abc import Sequence

from torch import Tensor

from faithlib.metrics import language
from faithlib.metrics.language import PI_SHARES
from faithlib.names import Normaliser
from faithlib.perturb import Perturber, SetFunction

__all__ = ["distance_scores", "lds_scores", "pi_soft_scores", "rise_scores", "top_k_drop_scores", "win_rate_scores"]


def distance_scores(
    perturber: Perturber,
    scores: Tensor,
    *,
    normaliser: Normaliser = "minmax",
    variant: str = "paper",
    draws: int = 1,
    seed: int = 0,
) -> dict[str, Tensor]:
    """Soft-NS and Soft-NC over next-token distributions (Zhao & Shan 2024, ReAGent).

    Parameters
    ----------
    perturber : Perturber
        What answers about B inputs: of a `Continuation` with reading="similarity".
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    normaliser : str, default "minmax"
        How scores become probabilities (`masks.normalise`). The paper's scores are softmaxes; give those with "none".
    variant : {"paper", "released"}, default "paper"
        The Hellinger distance as written, or as released (`metrics.hellinger`).
    draws : int, default 1
        Random copies of each input, at least 1.
    seed : int, default 0
        Of the draws.

    Returns
    -------
    dict of str to Tensor
        "soft_ns" and "soft_nc", [B, draws] each; higher is better.

    Raises
    ------
    InputError
        Where the output is no similarity: above 1, or not 1 at the input.
    UnknownNameError
        For another variant or normaliser.

    Examples
    --------
    >>> import torch
    >>> from faithlib.inputs import WordInputs
    >>> perturber = Perturber(lambda texts: [[0.4, 0.6]] * len(texts), WordInputs.from_texts(["good film"]))
    >>> distance_scores(perturber, torch.tensor([[2.0, 1.0]]))
    Traceback (most recent call last):
    faithlib.errors.InputError: the output at input 0 is 0.6, and of a similarity 1: expected a Continuation ...
    """
    values: dict[str, Tensor] = language.distances(
        perturber, scores, normaliser=normaliser, variant=variant, draws=draws, seed=seed
    )
    return values


def pi_soft_scores(
    perturber: Perturber,
    scores: Tensor,
    *,
    shares: Sequence[float] = PI_SHARES,
    normaliser: Normaliser = "minmax",
    draws: int = 1,
    seed: int = 0,
) -> dict[str, Tensor]:
    """Soft-NS and Soft-NC where all attributions keep the same expected shares of an input.

    pi-Soft-NS and pi-Soft-NC of Huang & Chan 2026, arXiv 2601.03089.

    Parameters
    ----------
    perturber : Perturber
        What answers about B inputs.
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    shares : sequence of float, default PI_SHARES
        Expected shares of an input that are kept, ascending, in [0, 1], [P].
    normaliser : str, default "minmax"
        How scores become importances in [0, 1] (`masks.normalise`).
    draws : int, default 1
        Random copies of each input, at least 1.
    seed : int, default 0
        Of the draws.

    Returns
    -------
    dict of str to Tensor
        "pi_soft_ns" and "pi_soft_nc", means over draws, [B, P]; "pi_soft_ns_area" and "pi_soft_nc_area", the areas over
        the shares, [B]. Higher is better.

    Raises
    ------
    InputError
        For a share that is not in [0, 1].

    Notes
    -----
    How scores become probabilities of that mean is ours (`metrics.equal_retention`). For Soft-NC what is kept is 1 - a.

    Examples
    --------
    >>> import torch
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
    values: dict[str, Tensor] = language.equal_shares(
        perturber, scores, shares=shares, normaliser=normaliser, draws=draws, seed=seed
    )
    return values


def top_k_drop_scores(
    perturber: Perturber | SetFunction, scores: Tensor, *, sizes: Sequence[int] = (1, 3, 5)
) -> Tensor:
    """How far the output falls without the features of highest scores (Cohen-Wang et al. 2024, ContextCite, Section 3).

    log p(answer | x) - log p(answer | x without the top k) where the output is a log-probability.

    Parameters
    ----------
    perturber : Perturber | SetFunction
        What answers about B inputs.
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    sizes : Sequence[int], default (1, 3, 5)
        Numbers k of features that go, [K].

    Returns
    -------
    Tensor
        [B, K], in the units of the output; higher is better. With k beyond an input's features, the fall where all go.

    Examples
    --------
    >>> import torch
    >>> from faithlib.perturb import SetFunction
    >>> additive = SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0]).double(), 2)
    >>> top_k_drop_scores(additive, torch.tensor([[0.2, 0.9]]), sizes=[1, 2]).tolist()
    [[1.0, 4.0]]
    """
    drops: Tensor = language.top_k_drops(perturber, scores, sizes=sizes)
    return drops


def lds_scores(
    perturber: Perturber | SetFunction, scores: Tensor, *, ablations: int = 64, keep: float = 0.5, seed: int = 0
) -> Tensor:
    """Linear datamodeling score (LDS) of attributions over random ablations: `metrics.lds`.

    Parameters
    ----------
    perturber : Perturber | SetFunction
        What answers about B inputs.
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    ablations : int, default 64
        Number of random ablations, at least 2 (Cohen-Wang et al. 2024: 64).
    keep : float, default 0.5
        Probability with which each feature stays, between 0 and 1 (there: .5).
    seed : int, default 0
        Ablations are drawn from (seed, content of the input), the same for every attribution.

    Returns
    -------
    Tensor
        [B], in [-1, 1]; higher is better. NaN where all scores or all answers are equal.

    Raises
    ------
    InputError
        For a `keep` that is not between 0 and 1, and for fewer than 2 ablations.

    Notes
    -----
    Spearman's correlation does not ask whether the output is a probability or its logit.

    Examples
    --------
    >>> import torch
    >>> from faithlib.perturb import SetFunction
    >>> additive = SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0]).double(), 2)
    >>> lds_scores(additive, torch.tensor([[0.9, 0.2]])).item()
    1.0
    """
    values: Tensor = language.linear_datamodel(perturber, scores, ablations=ablations, keep=keep, seed=seed)
    return values


def rise_scores(perturber: Perturber | SetFunction, scores: Tensor, *, steps: int = 20) -> dict[str, Tensor]:
    """RISE's deletion area and MAS as FlashTrace reports them (Pan et al. 2026).

    Parameters
    ----------
    perturber : Perturber | SetFunction
        What answers about B inputs.
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    steps : int, default 20
        In how many steps features go, most relevant first (an input with fewer features has as many). Steps differ by
        one feature at most, the larger first.

    Returns
    -------
    dict of str to Tensor
        "rise" and "mas", [B] each, in [0, 1]; lower is better. NaN where both ends of the path are equal.

    Notes
    -----
    Where the scores of an input do not sum to more than 0, the share that is left falls evenly, as in their code. Next
    to these, NAOPC has the true bounds of the same path.

    Examples
    --------
    >>> import torch
    >>> from faithlib.perturb import SetFunction
    >>> additive = SetFunction(lambda keep: keep.double() @ torch.tensor([3.0, 1.0]).double(), 2)
    >>> {name: value.item() for name, value in rise_scores(additive, torch.tensor([[3.0, 1.0]])).items()}
    {'rise': 0.375, 'mas': 0.375}
    """
    values: dict[str, Tensor] = language.deletion(perturber, scores, steps=steps)
    return values


def win_rate_scores(
    perturber: Perturber | SetFunction, scores: Tensor, *, share: float = 0.2, matches: int = 50, seed: int = 0
) -> dict[str, Tensor]:
    """How often the top features beat random ones of the same number (Basu & Chakraborty 2026, ICE).

    Parameters
    ----------
    perturber : Perturber | SetFunction
        What answers about B inputs. What takes the place of an erased feature is its `erase`.
    scores : Tensor
        What an attribution gives to each feature, [B, F].
    share : float, default 0.2
        Share of the features that a rationale has, in [0, 1].
    matches : int, default 50
        Random rationales that each one is compared with.
    seed : int, default 0
        These are drawn from (seed, content of the input).

    Returns
    -------
    dict of str to Tensor
        Win rates "comprehensiveness" and "sufficiency", higher is better, 1/2 by chance; and with "_p" at the end the p
        of the randomisation test, lower is stronger evidence. [B] each.

    Raises
    ------
    InputError
        For a share that is outside [0, 1].

    Notes
    -----
    Comprehensiveness: by how much the output falls without the rationale; sufficiency: how high it is with the
    rationale alone.

    Examples
    --------
    >>> import torch
    >>> from faithlib.perturb import SetFunction
    >>> additive = SetFunction(lambda keep: keep.double() @ torch.arange(9.0).double(), 9)
    >>> win_rate_scores(additive, torch.arange(9.0)[None])["sufficiency"].item() > 0.9
    True
    """
    values: dict[str, Tensor] = language.win_rates(perturber, scores, share=share, matches=matches, seed=seed)
    return values
