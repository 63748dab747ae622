"""Names for people: of methods, metrics, data sets and outputs."""

from __future__ import annotations

LABELS = {
    "attention": "α (attention)",
    "scaled_attention": "α∇α (scaled attention)",
    "input_x_gradient": "x∇x (input × gradient)",
    "integrated_gradients": "IG (integrated gradients)",
    "deeplift": "DeepLIFT",
    "random": "random",
    "average": "average",
    "ns": "NS",
    "nc": "NC",
    "soft_ns": "Soft-NS",
    "soft_nc": "Soft-NC",
    "pi_soft_ns": "pi-Soft-NS",
    "pi_soft_nc": "pi-Soft-NC",
    "sst": "SST",
    "ag": "AG News",
    "evinf": "Evidence Inference",
    "multirc": "MultiRC",
    "reviews": "MovieReviews",
    "movie": "movie (for SST)",
    "bbc": "bbc (for AG)",
    "section": "section (for Ev.Inf.)",
    "pair": "pair (for MultiRC)",
    "top_prediction": "TP",
    "saliency": "saliency",
    "guided_backprop": "guided backprop",
    "guided_backprop_released": "guided backprop, as released",
    "activation": "activation",
    "uniform": "uniform",
    "middle": "closeness to the middle",
    "occlusion": "occlusion",
    "lime": "LIME",
    "shapley_sampling": "Shapley sampling",
    "partition_shap": "PartitionSHAP",
    "kernel_shap": "KernelSHAP",
    "attin_grad": "AttInGrad",
    "attingrad": "AttInGrad",
    "decompx": "DecompX",
    "aopc_morf": "AOPC, MoRF",
    "aopc_lerf": "AOPC, LeRF",
    "naopc_morf": "NAOPC, MoRF",
    "naopc_lerf": "NAOPC, LeRF",
    "comprehensiveness_eraser": "comprehensiveness (ERASER)",
    "sufficiency_eraser": "sufficiency (ERASER)",
    "n_auc": "N-AUC",
    "autpc": "AUTPC",
    "iou_f1": "IOU-F1",
    "token_f1": "token-F1",
    "auprc": "AUPRC",
    "average_precision": "average precision",
    "grad_cam": "Grad-CAM",
    "lrp": "LRP",
    "partial_lrp": "Partial LRP",
    "transformer_attribution": "Transformer Attribution",
    "conservative_lrp": "Conservative LRP",
    "raw_attention": "Raw Attention",
    "rollout": "Rollout",
    "rollout_dropped": "Rollout without the sink",
    "transformer_mm": "Transformer-MM",
    "attcat": "ATTCAT",
    "last_layer_attention_with_gradient": "last block, with gradient",
    "saco": "SaCo",
    "auc": "AUC",
    "log_odds": "LOdds",
    "fashion": "fashion (for CIFAR-10)",
    "mnist": "mnist (for CIFAR-100)",
    "animals": "animals (for ImageNet)",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "cifar10-few": "CIFAR-10, 20 pictures",
    "cifar100-few": "CIFAR-100, 20 pictures",
    "imagenet-few": "ImageNet, 20 pictures",
    "imagenet": "ImageNet",
    "stamps": "scenes of one object",
    "stamps-two": "scenes of two objects",
    "pointing_game": "pointing game",
    "astray": "astray",
    "iou": "IoU",
    "bible": "Greek–English, New Testament",
    "rwth": "German–English, Europarl",
    "xlwa": "Bulgarian–English, XL-WA",
    "mbert": "mBERT",
    "xlm_r_base": "XLM-R",
    "bert_sst2": "BERT, SST-2",
    "bert_yelp": "BERT, Yelp",
    "bert_imdb": "BERT, IMDB",
    "roberta_sst2": "RoBERTa, SST-2",
    "roberta_yelp": "RoBERTa, Yelp",
    "roberta_imdb": "RoBERTa, IMDB",
}


def label(name: str) -> str:
    """A method's, metric's or data set's name for people."""
    return LABELS.get(name, name)


def short(name: str) -> str:
    """A name for people without what stands in brackets.

    >>> short("integrated_gradients")
    'IG'
    """
    return label(name).split(" (")[0]


def row_label(method: str, aggregation: str) -> str:
    """A method's short name with what was made of the embedding's dimensions: "IG (L2)", "LIME"."""
    short = {"none": "", "mean": " (μ)", "l2": " (L2)"}
    return label(method).split(" (")[0] + short.get(aggregation, f" ({aggregation})")
