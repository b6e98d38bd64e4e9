"""How good the tags of texts are."""

from __future__ import annotations

from ..ir.variable import Variable
from .layer import LayerBuilder
from .operator_layers import LayerCall, operator_layer


@operator_layer.signature("""
    chunk_eval(input: Inference, label, chunk_scheme=..., num_chunk_types,
        excluded_chunk_types: Sequence[int] | None, seq_length)
""")
def chunk_eval(
    f: LayerBuilder, call: LayerCall
) -> tuple[Variable, Variable, Variable, Variable, Variable, Variable]:
    """How many of the chunks that tags make are right: begin, end and are of a type as labelled.

    Tjong Kim Sang and Buchholz, Introduction to the CoNLL-2000 shared task: chunking, CoNLL 2000.

    Args:
        input, label: tags found and right ones: ``type * tags of the scheme + tag``, and
            ``num_chunk_types * tags of the scheme`` outside of chunks; sequences, [rows, 1], or
            padded, [n, width].
        chunk_scheme: "IOB" (the tags of a type: begin, inside), "IOE" (inside, end), "IOBES"
            (begin, inside, end, single) or "plain" (one tag).
        num_chunk_types: how many types of chunks there are.
        excluded_chunk_types: types that are not counted.
        seq_length: how many tags of each padded row count, [n].

    Returns:
        Precision, recall and F1, float32; the numbers of chunks found, labelled and right, int64;
        of shape [1] each.

    Raises:
        AttributeValueError: there is no such scheme.

    >>> found, right = (fluid.layers.assign(np.array([t])) for t in ([0, 1, 2, 4], [0, 1, 4, 2]))
    >>> n = fluid.layers.assign(np.array([4]))
    >>> measures = fluid.layers.chunk_eval(found, right, "IOB", 2, seq_length=n)
    >>> fluid.Executor().run(fetch_list=[measures[0], measures[5]])
    [array([0.5], dtype=float32), array([1])]
    """
    names = ("Precision", "Recall", "F1-Score", "NumInferChunks", "NumLabelChunks")
    outs = {name: f.new_variable() for name in (*names, "NumCorrectChunks")}
    f.into(
        "chunk_eval",
        call.ins,
        outs,
        **call.attrs,
        excluded_chunk_types=list(call.excluded_chunk_types or []),
    )
    return tuple(outs.values())  # type: ignore[return-value]
