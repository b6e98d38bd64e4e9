"""Texts that are held against each other, and paths that are followed back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError
from ..ir.variable import Variable
from .layer import LayerBuilder, layer
from .operator_layers import Layer, LayerCall, operator_layer
from .reshaping import squeeze
from .search import topk

gather_tree: Layer = operator_layer("""
    gather_tree(ids, parents)

    Raises:
        ShapeError: the shapes differ.

    >>> ids, parents = (fluid.data(name, [None, 2, 3], "int64") for name in "ab")
    >>> fluid.layers.gather_tree(ids, parents).shape
    (-1, 2, 3)
""")


@layer
def edit_distance(
    f: LayerBuilder,
    input: Variable,
    label: Variable,
    normalized: bool = True,
    ignored_tokens: Sequence[int] | None = None,
    input_length: Variable | None = None,
    label_length: Variable | None = None,
) -> tuple[Variable, Variable]:
    """How many tokens to insert, delete or replace to make a text of another, for each pair.

    Args:
        input, label: tokens: sequences, [rows, 1], or padded texts, [n, width].
        normalized: whether that is divided by the length of the text in ``label``.
        ignored_tokens: tokens that are left out of both first; of sequences only.
        input_length, label_length: how many tokens of padded texts count.

    Returns:
        The distances, float32 of shape [n, 1], and the number of pairs, int64 of shape [1].

    Raises:
        ArgumentError: ``ignored_tokens`` are given for padded texts.

    >>> hyps, refs = (fluid.layers.assign(np.array([t])) for t in ([1, 2, 3, 3], [1, 3, 3, 4]))
    >>> n = fluid.layers.assign(np.array([4]))
    >>> distance, count = fluid.layers.edit_distance(hyps, refs, False, None, n, n)
    >>> fluid.Executor().run(fetch_list=[distance])
    [array([[2.]], dtype=float32)]
    """
    if ignored_tokens is not None and len(ignored_tokens):
        if input_length is not None or label_length is not None:
            raise ArgumentError(
                "ignored_tokens are left out of sequences only, not of padded texts: leave them "
                "out before, or feed LoDTensors without input_length and label_length"
            )
        tokens = list(ignored_tokens)
        input, label = (f.sequence_erase(x, tokens=tokens) for x in (input, label))
    ins: dict[str, Any] = {"Hyps": input, "Refs": label}
    if input_length is not None or label_length is not None:
        ins |= {"HypsLength": input_length, "RefsLength": label_length}
    out, count = f.new_variable(), f.new_variable()
    f.into("edit_distance", ins, {"Out": out, "SequenceNum": count}, normalized=normalized)
    return out, count


@operator_layer.signature(
    """
    ctc_greedy_decoder(input: Variable, blank=..., input_length, padding_value: int = 0,
        name) -> ctc_align
    """,
    stem="ctc_greedy_decoder",
)
def ctc_greedy_decoder(f: LayerBuilder, call: LayerCall) -> Variable | tuple[Variable, Variable]:
    """The most probable label of each step, without repetitions and blanks.

    Graves et al., Connectionist temporal classification, ICML 2006.

    Args:
        input: probabilities of labels: sequences, [rows, labels], or padded, [n, steps, labels].
        blank: the label that stands for none.
        input_length: how many steps of each padded row count, [n, 1].
        padding_value: what is behind the labels of a padded row.

    Returns:
        The labels: sequences, [rows, 1]; or with ``input_length`` padded ones, [n, steps], and how
        many each row has, [n, 1].

    >>> x, n = fluid.data("x", [None, 6, 4]), fluid.data("n", [None, 1], "int64")
    >>> labels, count = fluid.layers.ctc_greedy_decoder(x, 0, n)
    >>> labels.shape, count.shape
    ((-1, 6), (-1, 1))
    """
    _, best = topk(call.input, k=1)
    attrs = dict(**call.attrs, merge_repeated=True)
    out = f.new_variable() if call.input_length is None else None
    if out is not None:
        f.into("ctc_align", {"Input": best}, {"Output": out}, **attrs)
        return out
    best = squeeze(best, [2])
    out, count = f.new_variable(), f.new_variable()
    ins = {"Input": best, **call.ins}
    outs = {"Output": out, "OutputLength": count}
    f.into("ctc_align", ins, outs, **attrs, padding_value=call.padding_value)
    return out, count
