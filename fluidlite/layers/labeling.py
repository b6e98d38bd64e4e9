"""Labels of sequences: conditional random fields, and labels without known places."""

from __future__ import annotations

from ..errors import ArgumentError, UnknownVariableError
from ..ground.callsite import warn
from ..ir.variable import Variable
from ..param_attr import as_param_attr
from .layer import LayerBuilder
from .operator_layers import LayerCall, operator_layer


@operator_layer.signature("""
    linear_chain_crf(input: Emission, label, param_attr, length)
""")
def linear_chain_crf(f: LayerBuilder, call: LayerCall) -> Variable:
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
    tags = call.input.shape[-1]
    ins = call.ins
    ins["Transition"] = f.weight(call.param_attr, [tags + 2, tags], call.input.dtype)
    alpha, exps, weights, cost = (f.new_variable() for _ in range(4))
    outs = dict(Alpha=alpha, EmissionExps=exps, TransitionExps=weights, LogLikelihood=cost)
    f.into("linear_chain_crf", ins, outs)
    return cost


@operator_layer.signature("""
    crf_decoding(input: Emission, param_attr=..., label, length)
""")
def crf_decoding(f: LayerBuilder, call: LayerCall) -> Variable:
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
    attr = as_param_attr(call.param_attr)
    name = None if attr is None else attr.name
    if name is None:
        raise ArgumentError(
            f"expected param_attr with the name of the weights that linear_chain_crf made, got "
            f"{call.param_attr!r:.60}"
        )
    block = f.block.program.global_block()
    if not block.has_var(name):
        raise UnknownVariableError(
            f"expected weights {name!r}, which linear_chain_crf makes, the program has none"
        )
    ins = {**call.ins, "Transition": block.var(name)}
    path: Variable = f.new_variable()
    f.into("crf_decoding", ins, {"ViterbiPath": path})
    return path


@operator_layer.signature("""
    warpctc(input: Logits, label, blank, norm_by_times, input_length: LogitsLength,
        label_length)
""")
def warpctc(f: LayerBuilder, call: LayerCall) -> Variable:
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
    ins = call.ins
    if (call.input_length is None) != (call.label_length is None):
        ignored = "label_length" if call.input_length is None else "input_length"
        del ins["LabelLength" if call.input_length is None else "LogitsLength"]
        warn(
            f"warpctc does not read {ignored}, since input_length and label_length go together: "
            f"the sequences of input and label count",
            None,
        )
    loss, gradient = f.new_variable(), f.new_variable()
    outs = {"Loss": loss, "WarpCTCGrad": gradient}
    f.into("warpctc", ins, outs, **call.attrs)
    return loss
