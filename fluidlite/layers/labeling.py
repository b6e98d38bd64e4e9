"""Labels of sequences: conditional random fields, and labels without known places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, UnknownVariableError
from ..ground.callsite import warn
from ..ir.variable import Variable
from ..param_attr import as_param_attr
from .layer import LayerBuilder, layer

if TYPE_CHECKING:
    from ..param_attr import Attr


@layer
def linear_chain_crf(
    f: LayerBuilder,
    input: Variable,
    label: Variable,
    param_attr: Attr = None,
    length: Variable | None = None,
) -> Variable:
    """The cost of a conditional random field: minus the logarithm of how likely the given labels
    are among all chains of labels.

    Lafferty, McCallum and Pereira, Conditional random fields, ICML 2001.

    Args:
        input: what speaks for each label: sequences of rows, [n, tags]; or padded, [chains, width,
            tags].
        label: labels: sequences, [n, 1]; or padded, [chains, width] or [chains, width, 1].
        param_attr: of the weights, [tags + 2, tags]: of a label at the begin, at the end, and
            behind each other one. Give it a name for ``crf_decoding``.
        length: how many rows of each padded chain count, [chains, 1].

    Returns:
        A variable of shape [chains, 1].

    >>> x = fluid.data("x", [None, 3], lod_level=1)
    >>> tag = fluid.data("tag", [None, 1], "int64", lod_level=1)
    >>> fluid.layers.linear_chain_crf(x, tag, fluid.ParamAttr("transitions")).shape
    (-1, 1)
    """
    tags = input.shape[-1]
    ins: dict[str, Any] = {"Emission": input, "Label": label}
    ins["Transition"] = f.weight(param_attr, [tags + 2, tags], input.dtype)
    if length is not None:
        ins["Length"] = length
    alpha, exps, weights, cost = (f.new_variable() for _ in range(4))
    outs = dict(Alpha=alpha, EmissionExps=exps, TransitionExps=weights, LogLikelihood=cost)
    f.into("linear_chain_crf", ins, outs)
    return cost


@layer
def crf_decoding(
    f: LayerBuilder,
    input: Variable,
    param_attr: Attr,
    label: Variable | None = None,
    length: Variable | None = None,
) -> Variable:
    """The likeliest chain of labels of a conditional random field; with ``label``, 1 where it has
    that label and 0 elsewhere.

    Viterbi, Error bounds for convolutional codes, IEEE Transactions on Information Theory 13(2),
    1967.

    Args:
        input: what speaks for each label: sequences of rows, [n, tags]; or padded, [chains, width,
            tags].
        param_attr: names the weights that ``linear_chain_crf`` made.
        label: labels to compare with: sequences, [n, 1]; or padded.
        length: how many rows of each padded chain count, [chains, 1].

    Returns:
        Integers: sequences, [n, 1]; or padded with 0, [chains, width].

    Raises:
        ArgumentError: ``param_attr`` has no name.
        UnknownVariableError: the program has no such parameter.

    >>> x = fluid.data("x", [None, 3], lod_level=1)
    >>> tag = fluid.data("tag", [None, 1], "int64", lod_level=1)
    >>> attr = fluid.ParamAttr("transitions")
    >>> cost = fluid.layers.linear_chain_crf(x, tag, attr)
    >>> fluid.layers.crf_decoding(x, attr).shape
    (-1, 1)
    """
    given = as_param_attr(param_attr)
    name = None if given is None else given.name
    if name is None:
        raise ArgumentError(
            f"expected param_attr with the name of the weights that linear_chain_crf made, got "
            f"{param_attr!r:.60}"
        )
    block = f.block.program.global_block()
    if not block.has_var(name):
        raise UnknownVariableError(
            f"expected weights {name!r}, which linear_chain_crf makes, the program has none"
        )
    ins: dict[str, Any] = {"Emission": input, "Transition": block.var(name)}
    for slot, value in (("Label", label), ("Length", length)):
        if value is not None:
            ins[slot] = value
    path: Variable = f.new_variable()
    f.into("crf_decoding", ins, {"ViterbiPath": path})
    return path


@layer
def warpctc(
    f: LayerBuilder,
    input: Variable,
    label: Variable,
    blank: int = 0,
    norm_by_times: bool = False,
    input_length: Variable | None = None,
    label_length: Variable | None = None,
) -> Variable:
    """The loss of connectionist temporal classification: minus the logarithm of how likely a text
    is, wherever its labels stand.

    Graves et al., Connectionist temporal classification, ICML 2006.

    Args:
        input: scores of labels, the blank among them, before the softmax: sequences of rows,
            [n, labels]; or padded, with steps first, [steps, texts, labels].
        label: texts: sequences, [n, 1]; or padded, [texts, width].
        blank: the label that stands for none.
        norm_by_times: whether gradients are divided by the number of rows.
        input_length: how many rows of each padded text count, [texts].
        label_length: how many labels of each padded text count, [texts].

    Returns:
        A variable of shape [texts, 1]; 0 for texts with more labels than their rows can hold.

    >>> x = fluid.data("x", [None, 5], lod_level=1)
    >>> text = fluid.data("text", [None, 1], "int32", lod_level=1)
    >>> fluid.layers.warpctc(x, text).shape
    (-1, 1)
    """
    ins: dict[str, Any] = {"Logits": input, "Label": label}
    if (input_length is None) != (label_length is None):
        given = "label_length" if input_length is None else "input_length"
        warn(
            f"warpctc does not read {given}, since input_length and label_length go together: the "
            f"sequences of input and label count",
            None,
        )
    if input_length is not None and label_length is not None:
        ins |= {"LogitsLength": input_length, "LabelLength": label_length}
    loss, gradient = f.new_variable(), f.new_variable()
    outs = {"Loss": loss, "WarpCTCGrad": gradient}
    f.into("warpctc", ins, outs, blank=blank, norm_by_times=norm_by_times)
    return loss
