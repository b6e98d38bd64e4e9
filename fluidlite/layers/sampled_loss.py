"""Losses over many classes of which only some are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ir.variable import Variable
from .layer import LayerBuilder, stopped
from .operator_layers import LayerCall, operator_layer

SAMPLERS = ("uniform", "log_uniform", "custom_dist")


@operator_layer.signature("""
    nce(input, label, num_total_classes, sample_weight: Variable | None, param_attr, bias_attr,
        num_neg_samples: int | None, name, sampler: str = "uniform",
        custom_dist: Sequence[float] | None, seed, is_sparse)
""")
def nce(f: LayerBuilder, call: LayerCall) -> Variable:
    """Noise-contrastive estimation: the loss of telling right classes from random ones.

    Gutmann and Hyvarinen, Noise-contrastive estimation, AISTATS 2010.

    Args:
        input: features, [N, D].
        label: the right classes, int64 of shape [N, T].
        num_total_classes: how many classes there are.
        sample_weight: a factor for the loss of each row, [N, 1].
        param_attr: of the weight, [num_total_classes, D].
        bias_attr: of the bias, [num_total_classes, 1]; False for none.
        num_neg_samples: how many random classes there are for each row; 10 when None.
        sampler: "uniform" draws all classes alike, "log_uniform" the first ones more often, and
            "custom_dist" as the next argument says.
        custom_dist: the probability of each class.
        seed: fixes the random classes; with 0 they come from the program's stream.
        is_sparse: the gradient of the weight holds the selected rows only.

    Returns:
        A variable of shape [N, 1]: the mean loss of a class, without those of several labels.

    Raises:
        ArgumentError: there is no such sampler, or ``custom_dist`` does not fit it.

    >>> x, label = fluid.data("x", [None, 4]), fluid.data("label", [None, 1], "int64")
    >>> fluid.layers.nce(x, label, num_total_classes=1000, num_neg_samples=5).shape
    (-1, 1)
    """
    sampler, custom_dist, classes = call.sampler, call.custom_dist, call.num_total_classes
    if sampler not in SAMPLERS:
        raise ArgumentError(f"expected sampler to be one of {', '.join(SAMPLERS)}, got {sampler!r}")
    if (sampler == "custom_dist") != (custom_dist is not None):
        raise ArgumentError(
            f"expected custom_dist with the sampler 'custom_dist' and with no other, got "
            f"{custom_dist!r:.60} and {sampler!r}"
        )
    weight = f.weight(call.param_attr, [classes, call.input.shape[1]], call.input.dtype)
    bias = f.bias_parameter(call.bias_attr, [classes, 1], call.input.dtype)
    custom = {}
    if custom_dist is not None:
        if len(custom_dist) != classes:
            raise ArgumentError(
                f"expected custom_dist of {classes} numbers, one for each class, got "
                f"{len(custom_dist)}"
            )
        custom = _distribution(f, custom_dist)
    count = 10 if call.num_neg_samples is None else int(call.num_neg_samples)
    outs = f.nce.all(
        call.input,
        call.label,
        weight,
        bias,
        stopped(call.sample_weight) if call.sample_weight is not None else None,
        **custom,
        num_neg_samples=count,
        sampler=SAMPLERS.index(sampler),
        **call.attrs,
        remote_prefetch=call.is_sparse,
    )
    cost: Any = outs["Cost"]
    mean: Variable = cost / (count + 1)
    return mean


def _distribution(f: LayerBuilder, chances: Sequence[float]) -> dict[str, Variable]:
    """Parameters that hold a distribution, as probabilities and as a table of aliases."""
    shares, aliases = _aliases(chances)
    arrays = {
        "CustomDistProbs": np.array(chances, "float32"),
        "CustomDistAlias": np.array(aliases, "int32"),
        "CustomDistAliasProbs": np.array(shares, "float32"),
    }
    return {slot: f.fixed(array) for slot, array in arrays.items()}


def _aliases(chances: Sequence[float]) -> tuple[list[float], list[int]]:
    """For each number the share of its draws that it keeps, and the number that gets the others.

    Walker, An efficient method for generating discrete random variables, TOMS 1977.
    """
    shares, aliases = [c * len(chances) for c in chances], [-1] * len(chances)
    small = [i for i, share in enumerate(shares) if share < 1]
    large = [i for i, share in enumerate(shares) if share > 1]
    while small and large:
        little, big = small.pop(0), large.pop(0)
        aliases[little] = big
        shares[big] -= 1 - shares[little]
        if shares[big] < 1:
            small.append(big)
        elif shares[big] > 1:
            large.append(big)
    for i in (*small, *large):  # only rounding has left these
        shares[i] = 1.0
    return shares, aliases


@operator_layer.signature("""
    hsigmoid(input: X, label, num_classes=..., param_attr, bias_attr, name, path_table,
        path_code, is_custom: bool = False, is_sparse: bool = False) -> hierarchical_sigmoid
""")
def hsigmoid(f: LayerBuilder, call: LayerCall) -> Variable:
    """The loss of the turns on the way to the right leaf of a tree of classes.

    It costs the logarithm of the number of classes where ``softmax`` costs that number (Morin and
    Bengio, Hierarchical probabilistic neural network language model, AISTATS 2005).

    Args:
        input: features, [N, D].
        label: the right classes, int64 of shape [N, 1].
        num_classes: how many classes there are; of a tree of yours, how many inner nodes.
        param_attr: of the weight, which has a row for each inner node.
        bias_attr: of the bias, a number for each inner node; False for none.
        path_table: of a tree of yours: the inner nodes on the way of each row of ``input``, int64
            of shape [N, L], with -1 for none.
        path_code: the turns taken there, 0 or 1, in the shape of ``path_table``.
        is_custom: whether there is a tree of yours; else it is the complete binary tree.
        is_sparse: in a tree of yours, the gradient of the weight holds the selected rows only;
            in the complete one it holds all rows, as in fluid 1.8.

    Returns:
        A variable of shape [N, 1].

    Raises:
        ArgumentError: there are fewer than 2 classes, or not both paths of a tree of yours.

    >>> x, label = fluid.data("x", [None, 4]), fluid.data("label", [None, 1], "int64")
    >>> fluid.layers.hsigmoid(x, label, num_classes=1000).shape
    (-1, 1)
    """
    if not call.is_custom and call.num_classes < 2:
        raise ArgumentError(f"expected num_classes of at least 2, got {call.num_classes}")
    paths = call.path_table is not None, call.path_code is not None
    if any(paths) != call.is_custom or all(paths) != call.is_custom:
        raise ArgumentError(
            f"expected path_table and path_code with is_custom=True, and none of them else; got "
            f"is_custom={call.is_custom}"
        )
    nodes = call.num_classes if call.is_custom else call.num_classes - 1
    weight = f.weight(call.param_attr, [nodes, call.input.shape[1]], call.input.dtype)
    bias = f.bias_parameter(call.bias_attr, [nodes, 1], call.input.dtype)
    out, turns = f.new_variable(), f.new_variable()
    f.into(
        "hierarchical_sigmoid",
        {**call.ins, "W": weight, **({} if bias is None else {"Bias": bias})},
        {"Out": out, "PreOut": turns, "W_Out": weight},
        **call.attrs,
        is_sparse=call.is_sparse and call.is_custom,
        remote_prefetch=call.is_sparse and call.is_custom,
    )
    return out


@operator_layer.signature("""
    sampled_softmax_with_cross_entropy(logits, label: Labels, num_samples, num_true: int = 1,
        remove_accidental_hits, use_customized_samples, customized_samples: Variable | None,
        customized_probabilities: Variable | None, seed) -> sample_logits
""")
def sampled_softmax_with_cross_entropy(f: LayerBuilder, call: LayerCall) -> Variable:
    """Cross entropy of the softmax over the right classes and some random ones.

    Jean et al., On using very large target vocabulary, ACL 2015.

    Args:
        logits: of all classes, [N, K].
        label: the right classes, int64 of shape [N, num_true].
        num_samples: how many random classes there are, the same for all rows.
        num_true: how many right classes each row has.
        remove_accidental_hits: leave random classes out that are right ones.
        use_customized_samples: use the next two arguments.
        customized_samples: classes in place of random ones, int64 of shape
            [N, num_true + num_samples], the right ones first.
        customized_probabilities: how probable each of these is.
        seed: fixes the random classes; with 0 they come from the program's stream.

    Returns:
        A variable of shape [N, 1]: the mean over the right classes.

    >>> x, label = fluid.data("x", [None, 1000]), fluid.data("label", [None, 1], "int64")
    >>> fluid.layers.sampled_softmax_with_cross_entropy(x, label, num_samples=20).shape
    (-1, 1)
    """
    if call.use_customized_samples:
        samples, chances = call.customized_samples, call.customized_probabilities
        if samples is None or chances is None:
            raise ArgumentError("expected customized_samples and customized_probabilities")
        ins = {"CustomizedSamples": samples, "CustomizedProbabilities": chances}
    else:
        samples, chances, ins = f.new_variable(), f.new_variable(), {}
    picked, places, right = f.new_variable(), f.new_variable(), f.new_variable()
    sizes = f.new_variable(), f.new_variable()
    loss, softmax = f.new_variable(), f.new_variable()
    f.into(
        "sample_logits",
        {**call.ins, **ins},
        {
            "Samples": stopped(samples),
            "Probabilities": stopped(chances),
            "SampledLabels": stopped(places),
            "SampledLogits": picked,
            "LogitsDim": sizes[0],
            "LabelsDim": sizes[1],
        },
        uniq=True,
        **call.attrs,
    )
    depth = call.num_true + call.num_samples
    if call.num_true == 1:
        f.into("one_hot", {"X": places}, {"Out": right}, depth=depth)
    else:
        each = f.one_hot_v2(places, depth=depth)
        f.into("reduce_sum", {"X": each}, {"Out": right}, dim=[1])
    f.into(
        "softmax_with_cross_entropy",
        {"Logits": picked, "Label": stopped(right)},
        {"Loss": loss, "Softmax": softmax},
        soft_label=True,
        ignore_index=0,
        numeric_stable_mode=False,
    )
    total: Any = loss
    mean: Variable = total / call.num_true
    return mean
