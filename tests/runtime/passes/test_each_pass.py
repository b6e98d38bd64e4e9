"""Each pass by itself: a graph as text goes in, a graph as text comes out."""

from textwrap import dedent
from types import SimpleNamespace

import numpy as np
import pytest
from graphs import NUMPY, after, digests, graph, leaves, rewrites

from fluidlite.opdef.prepared import Epilogues, KernelLibrary, Offer, Prepared
from fluidlite.runtime.compile import CompiledSegment
from fluidlite.runtime.passes.epilogues import epilogues_of
from fluidlite.runtime.passes.pipeline import (
    ACTIVATION_SINKING,
    COMMON_SUBEXPRESSIONS,
    CONSTANT_FOLDING,
    COPY_ELIMINATION,
    DEAD_CODE,
    GEMM_BATCHING,
    KERNEL_SELECTION,
    MULTI_TENSOR,
    OPERATOR_FUSION,
    PADDED_SUMS,
    ROW_SUMS,
    SCHEDULING,
    SLICE_FORWARDING,
)

ONES, ZEROS = np.ones([2], "float32"), np.zeros([2], "float32")
ONE, ZERO = (next(iter(digests([array]))) for array in (ONES, ZEROS))


def test_readers_of_a_copy_read_what_was_copied():
    rewrites(
        COPY_ELIMINATION,
        """\
        %0: float32[2] = input "x"
        %1: float32[2] = assign(X=%0)
        %2: float32[2] = scale(X=%1)
        %3: float32[2] = scale(X=%2) {scale=2.0}
        return "y"=%3, "z"=%1
        """,
        """\
        %0: float32[2] = input "x"
        %3: float32[2] = scale(X=%0) {scale=2.0}
        return "y"=%3, "z"=%0
        """,
    )


def test_parts_that_are_put_together_in_their_order_are_what_they_are_parts_of():
    rewrites(
        COPY_ELIMINATION,
        """\
        %0: float32[3, 2, 4] = input "x"
        %1: float32[1, 2, 4] = slice(Input=%0) {axes=(0,), starts=(0,), ends=(1,)}
        %2: float32[2, 4] = reshape(X=%1) {shape=(2, 4)}
        %3: float32[2, 2, 4] = slice(Input=%0) {axes=(0,), starts=(1,), ends=(3,)}
        %4: float32[4, 4] = reshape(X=%3) {shape=(4, 4)}
        %5: float32[6, 4] = concat(X=[%2, %4])
        %6: float32[6, 4] = tanh(X=%5)
        return "y"=%6
        """,
        """\
        %0: float32[3, 2, 4] = input "x"
        %1: float32[1, 2, 4] = slice(Input=%0) {axes=(0,), starts=(0,), ends=(1,)}
        %2: float32[2, 4] = reshape(X=%1) {shape=(2, 4)}
        %3: float32[2, 2, 4] = slice(Input=%0) {axes=(0,), starts=(1,), ends=(3,)}
        %4: float32[4, 4] = reshape(X=%3) {shape=(4, 4)}
        %7: float32[6, 4] = reshape(X=%0) {shape=(6, 4)}
        %6: float32[6, 4] = tanh(X=%7)
        return "y"=%6
        """,
    )


def padded(second, more=""):
    """A graph that adds two padded values."""
    return f"""\
        %0: float32[2] = input "x"
        %1: float32[3] = input "z"
        %2: float32[5] = pad(X=%0) {{paddings=(3, 0)}}
        %3: float32[5] = pad(X=%1) {{{second}}}
        %4: float32[5] = sum(X=[%2, %3])
        return "y"=%4{more}
        """


def test_padded_parts_that_fill_their_sum_are_put_together():
    rewrites(
        PADDED_SUMS,
        padded("paddings=(0, 2)"),
        """\
        %0: float32[2] = input "x"
        %1: float32[3] = input "z"
        %2: float32[5] = pad(X=%0) {paddings=(3, 0)}
        %3: float32[5] = pad(X=%1) {paddings=(0, 2)}
        %5: float32[5] = concat(X=[%1, %0])
        return "y"=%5
        """,
    )


@pytest.mark.parametrize(
    "graph",
    [
        padded("paddings=(1, 1)"),
        padded("paddings=(0, 2), pad_value=1.0"),
        padded("paddings=(0, 2)", ', "other"=%3'),
    ],
    ids=["over each other", "with ones between", "read elsewhere"],
)
def test_padded_parts_that_are_more_than_places_in_a_sum_are_added(graph):
    leaves(PADDED_SUMS, graph)


def edges(terms, more=""):
    """A graph that takes rows, weights them and adds them up."""
    return f"""\
        %0: float32[7, 4] = input "x"
        %1: int64[6] = input "from"
        %2: int64[6, 1] = input "to"
        %3: float32[6, 1] = input "weights"
        %4: float32[6, 4] = gather(X=%0, Index=%1)
        %5: float32[6, 4] = {terms}
        %6: float32[9, 4] = gather_adjoint(Index=%2, Updates=%5) {{size=9}}
        return "y"=%6{more}
        """


def test_rows_that_are_weighted_and_added_are_a_product_with_a_sparse_matrix():
    after_it = """\
        %0: float32[7, 4] = input "x"
        %1: int64[6] = input "from"
        %2: int64[6, 1] = input "to"
        %3: float32[6, 1] = input "weights"
        %4: float32[6, 4] = gather(X=%0, Index=%1)
        %5: float32[6, 4] = elementwise_mul(X=%4, Y=%3)
        %7: float32[6] = reshape(X=%3) {shape=(6,)}
        %8: float32[9, 4] = sparse_product(Rows=%2, Cols=%1, Values=%7, Dense=%0) {size=9}
        return "y"=%8
        """
    changed, found = after(ROW_SUMS, edges("elementwise_mul(X=%4, Y=%3)"))
    assert changed and found == dedent(after_it)
    changed, found = after(ROW_SUMS, edges("elementwise_mul(X=%3, Y=%4)"))
    assert changed and "sparse_product(Rows=%2, Cols=%1, Values=%7, Dense=%0)" in found


@pytest.mark.parametrize(
    "graph",
    [
        edges("elementwise_mul(X=%4, Y=%3)", ', "terms"=%5'),
        edges("elementwise_mul(X=%4, Y=%3)", ', "rows"=%4'),
        edges("elementwise_add(X=%4, Y=%3)"),
        edges("elementwise_mul(X=%4, Y=%4)"),
        edges("tanh(X=%4)"),
    ],
    ids=["terms are read", "rows are read", "no product", "squares", "a function of rows"],
)
def test_rows_that_are_more_than_weighted_terms_are_taken(graph):
    leaves(ROW_SUMS, graph)


@pytest.mark.parametrize(
    "second, order",
    [("1,), ends=(2,)", "%2, %1"), ("0,), ends=(1,)", "%1, %2"), ("2,), ends=(3,)", "%1, %2")],
    ids=["in another order", "the same twice", "with a gap"],
)
def test_parts_that_make_up_something_else_are_put_together(second, order):
    leaves(
        COPY_ELIMINATION,
        f"""\
%0: float32[{3 if "3" in second else 2}, 4] = input "x"
%1: float32[1, 4] = slice(Input=%0) {{axes=(0,), starts=(0,), ends=(1,)}}
%2: float32[1, 4] = slice(Input=%0) {{axes=(0,), starts=({second}}}
%3: float32[2, 4] = concat(X=[{order}])
%4: float32[2, 4] = tanh(X=%3)
return "y"=%4
""",
    )


def test_columns_that_are_put_one_below_the_other_are_in_another_order():
    leaves(
        COPY_ELIMINATION,
        """\
%0: float32[2, 4] = input "x"
[%1: float32[2, 2], %2: float32[2, 2]] = split(X=%0) {num=2, axis=1}
%3: float32[4, 2] = concat(X=[%1, %2])
%4: float32[4, 2] = tanh(X=%3)
return "y"=%4
""",
    )


def test_what_is_given_back_is_put_together_as_an_array_of_its_own():
    leaves(
        COPY_ELIMINATION,
        """\
%0: float32[4] = input "x"
[%1: float32[2], %2: float32[2]] = split(X=%0) {num=2}
%3: float32[4] = concat(X=[%1, %2])
return "y"=%3
""",
    )


def test_what_is_computed_twice_is_computed_once():
    rewrites(
        COMMON_SUBEXPRESSIONS,
        """\
        %0: float32[2] = input "x"
        %1: float32[2] = tanh(X=%0)
        %2: float32[2] = tanh(X=%0)
        %3: float32[2] = elementwise_mul(X=%1, Y=%2)
        %4: float32[2] = elementwise_mul(X=%2, Y=%1)
        return "y"=%3, "z"=%4
        """,
        """\
        %0: float32[2] = input "x"
        %1: float32[2] = tanh(X=%0)
        %3: float32[2] = elementwise_mul(X=%1, Y=%1)
        return "y"=%3, "z"=%3
        """,
    )


def test_other_attributes_operands_and_zeros_are_not_the_same():
    minus = np.array([-0.0, 0.0], "float32")
    (other,) = digests([minus])
    text = f"""\
    %0: float32[2] = input "x"
    %1: float32[2] = input "y"
    %2: float32[2] = scale(X=%0) {{scale=2.0}}
    %3: float32[2] = scale(X=%0) {{scale=3.0}}
    %4: float32[2] = scale(X=%1) {{scale=2.0}}
    %5: float32[2] = constant {ZERO}
    %6: float32[2] = elementwise_div(X=%0, Y=%5)
    %7: float32[2] = constant {other}
    %8: float32[2] = elementwise_div(X=%0, Y=%7)
    %9: float32[2] = uniform_random() {{shape=(2,)}}
    %10: float32[2] = uniform_random() {{shape=(2,)}}
    return "a"=%2, "b"=%3, "c"=%4, "d"=%6, "e"=%8, "f"=%9, "g"=%10
    """
    assert not after(COMMON_SUBEXPRESSIONS, text, [ZEROS, minus])[0]


def test_what_nothing_needs_is_not_computed():
    rewrites(
        DEAD_CODE,
        """\
        %0: float32[2] = input "x"
        %1: float32[2] = tanh(X=%0)
        %2: float32[2] = relu(X=%1)
        %3: float32[2] = relu(X=%0)
        return "y"=%3
        """,
        """\
        %0: float32[2] = input "x"
        %3: float32[2] = relu(X=%0)
        return "y"=%3
        """,
    )


def test_one_result_that_is_needed_keeps_the_others():
    leaves(
        DEAD_CODE,
        """\
        %0: float32[4] = input "x"
        Out=%1: float32[2], Indices=%2: int64[2] = top_k(X=%0) {k=2}
        return "y"=%2
        """,
    )


def test_what_depends_on_constants_is_known_and_zeros_are_not_added():
    tanh = np.tanh(ONES)
    (known,) = digests([tanh])
    text = f"""\
    %0: float32[2] = input "x"
    %1: float32[2] = constant {ONE}
    %2: float32[2] = tanh(X=%1)
    %3: float32[2] = constant {ZERO}
    %4: float32[2] = sum(X=[%0, %3, %2])
    %5: float32[2] = sum(X=[%3, %4])
    return "y"=%5
    """
    changed, found = after(CONSTANT_FOLDING, text, [ONES, ZEROS])
    assert changed
    assert found.splitlines() == [
        '%0: float32[2] = input "x"',
        f"%6: float32[2] = constant {known}",
        "%7: float32[2] = sum(X=[%0, %6])",
        'return "y"=%7',
    ]
    assert after(CONSTANT_FOLDING, found, [tanh]) == (False, found)


def test_parts_are_taken_from_where_what_was_put_together_came_from():
    text = """\
    %0: float32[3] = input "a"
    %1: float32[3] = input "b"
    %2: float32[2, 3] = stack(X=[%0, %1])
    %3: float32[1, 3] = slice(Input=%2) {axes=(0,), starts=(1,), ends=(2,)}
    %4: float32[7] = pad(X=%0) {paddings=(1, 3)}
    %5: float32[3] = slice(Input=%4) {axes=(0,), starts=(1,), ends=(4,)}
    %6: float32[2] = slice(Input=%4) {axes=(0,), starts=(5,), ends=(7,)}
    %7: float32[2] = slice(Input=%4) {axes=(0,), starts=(0,), ends=(2,)}
    return "p"=%3, "q"=%5, "r"=%6, "s"=%7
    """
    expected = f"""\
    %0: float32[3] = input "a"
    %1: float32[3] = input "b"
    %2: float32[2, 3] = stack(X=[%0, %1])
    %8: float32[1, 3] = reshape(X=%1) {{shape=(1, 3)}}
    %4: float32[7] = pad(X=%0) {{paddings=(1, 3)}}
    %7: float32[2] = slice(Input=%4) {{axes=(0,), starts=(0,), ends=(2,)}}
    %9: float32[2] = constant {ZERO}
    return "p"=%8, "q"=%0, "r"=%9, "s"=%7
    """
    rewrites(SLICE_FORWARDING, text, expected, [ZEROS])


@pytest.mark.parametrize(
    "ends, paddings, value",
    [("(2,)", "(0, 0)", 0.0), ("(3,)", "(1, 1)", 0.0), ("(1,)", "(1, 1)", 3.0)],
    ids=["a part of the inside", "across the edge", "other numbers than zero"],
)
def test_other_parts_of_what_was_padded_are_left(ends, paddings, value):
    length = 3 + sum(eval(paddings))
    size = eval(ends)[0]
    given = f" {{paddings={paddings}, pad_value={value}}}" if value else f" {{paddings={paddings}}}"
    leaves(
        SLICE_FORWARDING,
        f"""\
%0: float32[3] = input "x"
%1: float32[{length}] = pad(X=%0){given}
%2: float32[{size}] = slice(Input=%1) {{axes=(0,), starts=(0,), ends={ends}}}
return "y"=%2
""",
    )


def test_products_with_one_matrix_are_one_product():
    rewrites(
        GEMM_BATCHING,
        """\
        %0: float32[2, 3] = input "a"
        %1: float32[2, 3] = input "b"
        %2: float32[2, 3] = input "c"
        %3: float32[3, 4] = input "w"
        %4: float32[2, 4] = mul(X=%0, Y=%3)
        %5: float32[2, 4] = mul(X=%1, Y=%3)
        %6: float32[2, 4] = mul(X=%2, Y=%3)
        return "p"=%4, "q"=%5, "r"=%6
        """,
        """\
        %0: float32[2, 3] = input "a"
        %1: float32[2, 3] = input "b"
        %2: float32[2, 3] = input "c"
        %3: float32[3, 4] = input "w"
        %7: float32[6, 3] = concat(X=[%0, %1, %2])
        %8: float32[6, 4] = matmul(X=%7, Y=%3)
        %9: float32[2, 4] = slice(Input=%8) {axes=(0,), starts=(0,), ends=(2,)}
        %10: float32[2, 4] = slice(Input=%8) {axes=(0,), starts=(2,), ends=(4,)}
        %11: float32[2, 4] = slice(Input=%8) {axes=(0,), starts=(4,), ends=(6,)}
        return "p"=%9, "q"=%10, "r"=%11
        """,
    )


def test_a_product_of_an_earlier_product_is_not_batched_with_it():
    leaves(
        GEMM_BATCHING,
        """\
        %0: float32[2, 3] = input "a"
        %1: float32[3, 3] = input "w"
        %2: float32[2, 3] = matmul(X=%0, Y=%1)
        %3: float32[2, 3] = matmul(X=%2, Y=%1)
        %4: float32[2, 3] = matmul(X=%3, Y=%1)
        return "p"=%4
        """,
    )


def test_a_sum_of_products_is_one_product():
    text = """\
    %0: float32[2, 3] = input "a"
    %1: float32[2, 3] = input "b"
    %2: float32[2, 3] = input "c"
    %3: float32[3, 3] = matmul(X=%0, Y=%1) {transpose_X=True}
    %4: float32[3, 3] = matmul(X=%1, Y=%2) {transpose_X=True}
    %5: float32[3, 3] = matmul(X=%2, Y=%0) {transpose_X=True}
    %6: float32[3, 3] = sum(X=[%3, %4, %5])
    return "g"=%6
    """
    changed, found = after(GEMM_BATCHING, text)
    assert changed
    _, found = after(DEAD_CODE, found)
    assert found.splitlines()[3:] == [
        "%7: float32[6, 3] = concat(X=[%0, %1, %2])",
        "%8: float32[6, 3] = concat(X=[%1, %2, %0])",
        "%9: float32[3, 3] = matmul(X=%7, Y=%8) {transpose_X=True}",
        'return "g"=%9',
    ]


@pytest.mark.parametrize("term", ["matmul(X=%2, Y=%0)", "elementwise_mul(X=%2, Y=%0)"])
def test_a_sum_of_unlike_terms_is_made_term_by_term(term):
    leaves(
        GEMM_BATCHING,
        f"""\
        %0: float32[3, 3] = input "a"
        %1: float32[3, 3] = input "b"
        %2: float32[3, 3] = input "c"
        %3: float32[3, 3] = matmul(X=%0, Y=%1) {{transpose_X=True}}
        %4: float32[3, 3] = matmul(X=%1, Y=%2) {{transpose_X=True}}
        %5: float32[3, 3] = {term}
        %6: float32[3, 3] = sum(X=[%3, %4, %5])
        return "g"=%6
        """,
    )


def test_a_matrix_by_whose_transpose_is_often_multiplied_is_transposed_once():
    lines = ['%0: float32[3, 3] = input "w"', '%1: float32[2, 3] = input "x"']
    for k in range(2, 8):
        lines.append(f"%{k}: float32[2, 3] = matmul(X=%{k - 1}, Y=%0) {{transpose_Y=True}}")
    text = "\n".join([*lines, 'return "y"=%7', ""])
    changed, found = after(GEMM_BATCHING, text)
    assert changed and found.count("transpose(X=%0)") == 1 and "transpose_Y" not in found
    shorter = "\n".join([*lines[:-1], 'return "y"=%6', ""])
    leaves(GEMM_BATCHING, shorter)


def test_a_gradient_that_is_zero_but_at_labels_is_not_written():
    rewrites(
        OPERATOR_FUSION,
        """\
        %0: float32[6, 7] = input "p"
        %1: float32[6, 1] = input "g"
        %2: int64[6, 1] = input "label"
        %3: float32[6, 7] = place_label(X=%1, Label=%2) {size=7}
        %4: float32[6, 7] = softmax_grad(Out=%0, Out@GRAD=%3)
        return "d"=%4
        """,
        """\
        %0: float32[6, 7] = input "p"
        %1: float32[6, 1] = input "g"
        %2: int64[6, 1] = input "label"
        %4: float32[6, 7] = softmax_grad(Out=%0, X=%1, Label=%2) as softmax_grad.place_label
        return "d"=%4
        """,
    )


def test_a_gradient_that_something_else_reads_is_written():
    leaves(
        OPERATOR_FUSION,
        """\
%0: float32[6, 7] = input "p"
%1: float32[6, 1] = input "g"
%2: int64[6, 1] = input "label"
%3: float32[6, 7] = place_label(X=%1, Label=%2) {size=7}
%4: float32[6, 7] = softmax_grad(Out=%0, Out@GRAD=%3)
return "d"=%4, "placed"=%3
""",
    )


POOL = "{ksize=(2, 2), strides=(2, 2), pooling_type='max'}"
POOLED = f"""\
%0: float32[1, 1, 4, 4] = input "x"
%1: float32[1, 1, 2, 2] = input "g"
%2: float32[1, 1, 4, 4] = relu(X=%0)
%3: float32[1, 1, 2, 2] = pool2d(X=%2) {POOL}
%4: float32[1, 1, 4, 4] = pool2d_grad(X=%2, Out=%3, Out@GRAD=%1) {POOL}
%5: float32[1, 1, 4, 4] = relu_grad(Out=%2, Out@GRAD=%4)
return "y"=%3, "d"=%5
"""


def test_the_largest_are_taken_before_the_activation():
    rewrites(
        ACTIVATION_SINKING,
        POOLED,
        f"""\
        %0: float32[1, 1, 4, 4] = input "x"
        %1: float32[1, 1, 2, 2] = input "g"
        %6: float32[1, 1, 2, 2] = pool2d(X=%0) {POOL}
        %7: float32[1, 1, 2, 2] = relu(X=%6)
        %8: float32[1, 1, 2, 2] = relu_grad(Out=%7, Out@GRAD=%1)
        %9: float32[1, 1, 4, 4] = pool2d_grad(X=%0, Out=%6, Out@GRAD=%8) {POOL}
        return "y"=%7, "d"=%9
        """,
    )


@pytest.mark.parametrize("other", ['"large"=%2', '"between"=%4'])
def test_an_activation_that_something_else_reads_stays_before_the_pooling(other):
    leaves(ACTIVATION_SINKING, POOLED.replace('"y"=%3', f'"y"=%3, {other}'))


def test_a_mean_is_taken_behind_the_activation():
    leaves(
        ACTIVATION_SINKING,
        """\
%0: float32[1, 1, 4, 4] = input "x"
%1: float32[1, 1, 4, 4] = relu(X=%0)
%2: float32[1, 1, 2, 2] = pool2d(X=%1) {ksize=(2, 2), strides=(2, 2), pooling_type='avg'}
return "y"=%2
""",
    )


def test_steps_of_optimizers_come_as_soon_as_their_gradient_is_there():
    rewrites(
        SCHEDULING,
        """\
        %0: float32[2] = input "w"
        %1: float32[2] = input "v"
        %2: float32[1] = input "rate"
        %3: float32[2] = tanh(X=%0)
        %4: float32[2] = tanh(X=%1)
        %5: float32[2] = sgd(Param=%0, LearningRate=%2, Grad=%3)
        %6: float32[2] = sgd(Param=%1, LearningRate=%2, Grad=%4)
        return "w"=%5, "v"=%6
        """,
        """\
        %0: float32[2] = input "w"
        %1: float32[2] = input "v"
        %2: float32[1] = input "rate"
        %3: float32[2] = tanh(X=%0)
        %5: float32[2] = sgd(Param=%0, LearningRate=%2, Grad=%3)
        %4: float32[2] = tanh(X=%1)
        %6: float32[2] = sgd(Param=%1, LearningRate=%2, Grad=%4)
        return "w"=%5, "v"=%6
        """,
    )


def updates(count, rate="%0", shape="[3]"):
    """A graph with steps of Adam on parameters of one shape."""
    lines, outputs, at = ['%0: float32[1] = input "rate"'], [], 1
    slots = ("Param", "Grad", "Moment1", "Moment2", "Beta1Pow", "Beta2Pow")
    made = ("ParamOut", "Moment1Out", "Moment2Out", "Beta1PowOut", "Beta2PowOut")
    for k in range(count):
        given = [f"LearningRate={rate}"]
        for slot in slots:
            size = "[1]" if slot.startswith("Beta") else shape
            lines.append(f'%{at}: float32{size} = input "{slot}{k}"')
            given.append(f"{slot}=%{at}")
            at += 1
        results = []
        for slot in made:
            size = "[1]" if slot.startswith("Beta") else shape
            results.append(f"{slot}=%{at}: float32{size}")
            outputs.append(f'"{slot}{k}"=%{at}')
            at += 1
        lines.append(f"{', '.join(results)} = adam({', '.join(given)})")
    return "\n".join([*lines, f"return {', '.join(outputs)}", ""])


def test_steps_on_small_parameters_are_one():
    changed, found = after(MULTI_TENSOR, updates(4))
    assert changed and found.count("= adam(") == 1 and found.count("as adam of 4") == 1


@pytest.mark.parametrize("text", [updates(2), updates(4, shape="[80, 90]")], ids=["few", "large"])
def test_steps_that_are_few_or_large_are_taken_one_by_one(text):
    assert after(MULTI_TENSOR, text) == (False, after(DEAD_CODE, text)[1])


# -- kernel selection, with a library that is made up ----------------------------------------------


class Blocked:
    """A layout."""

    def __init__(self, shape):
        self.shape = shape


class Library(KernelLibrary):
    """Has kernels for relu and tanh in a layout of its own, for tanh with what follows."""

    name = "made-up"

    def __init__(self, costs):
        self.costs, self.layouts = costs, {}

    def cost(self, instruction, layouts):
        return self.costs.get(instruction.op.type)

    def offer(self, instruction, layouts, epilogues: Epilogues):
        size = instruction.result.shape
        layout = self.layouts.setdefault(size, Blocked(size))
        fused = len(epilogues.chain) if instruction.op.type == "tanh" else 0
        return Offer(Prepared(np.tanh), (layout,), (layout,), fused=fused)

    def reorder(self, source, target, shape):
        return Prepared(np.copy)


CHAIN = """\
%0: float32[4, 3] = input "x"
%1: float32[4, 3] = tanh(X=%0)
%2: float32[4, 3] = relu(X=%1)
%3: float32[4, 3] = sigmoid(X=%2)
%4: float32[4, 3] = exp(X=%2)
return "y"=%3, "z"=%4, "r"=%2
"""


def chosen(costs):
    return after(KERNEL_SELECTION, CHAIN, libraries=[Library(costs)])[1].splitlines()[1:]


def test_a_value_is_reordered_once_for_all_that_take_it_plain():
    assert chosen({"relu": 0.5}) == [
        "%1: float32[4, 3] = tanh(X=%0)",
        "%5: float32[4, 3] laid out = reorder(X=%1) on made-up",
        "%2: float32[4, 3] laid out = relu(X=%5) on made-up",
        "%6: float32[4, 3] = reorder(X=%2) on made-up",
        "%3: float32[4, 3] = sigmoid(X=%6)",
        "%4: float32[4, 3] = exp(X=%6)",
        'return "y"=%3, "z"=%4, "r"=%6',
    ]


def test_an_epilogue_is_computed_by_the_kernel_before_it():
    assert chosen({"tanh": 0.5, "relu": 0.5}) == [
        "%5: float32[4, 3] laid out = reorder(X=%0) on made-up",
        "%2: float32[4, 3] laid out = tanh(X=%5) on made-up",
        "%6: float32[4, 3] = reorder(X=%2) on made-up",
        "%3: float32[4, 3] = sigmoid(X=%6)",
        "%4: float32[4, 3] = exp(X=%6)",
        'return "y"=%3, "z"=%4, "r"=%6',
    ]


def test_what_costs_more_than_numpy_is_left_to_it():
    assert "on made-up" not in "\n".join(chosen({"relu": 2.0}))


def test_the_cheapest_library_is_taken():
    dear, cheap = Library({"relu": 0.8}), Library({"relu": 0.3})
    cheap.name = "cheap"
    made = graph(CHAIN)
    from_text = after(KERNEL_SELECTION, CHAIN, libraries=[dear, cheap])[1]
    assert "relu(X=%5) on cheap" in from_text
    assert made.inputs


def test_a_value_goes_from_one_library_to_another_as_a_plain_array():
    text = CHAIN.replace('"r"=%2', '"r"=%1')
    assert after(KERNEL_SELECTION, text, libraries=two_libraries())[1].splitlines()[1:] == [
        "%5: float32[4, 3] laid out = reorder(X=%0) on one",
        "%1: float32[4, 3] laid out = tanh(X=%5) on one",
        "%6: float32[4, 3] = reorder(X=%1) on one",
        "%7: float32[4, 3] laid out = reorder(X=%6) on other",
        "%2: float32[4, 3] laid out = relu(X=%7) on other",
        "%8: float32[4, 3] = reorder(X=%2) on other",
        "%3: float32[4, 3] = sigmoid(X=%8)",
        "%4: float32[4, 3] = exp(X=%8)",
        'return "y"=%3, "z"=%4, "r"=%6',
    ]


def test_a_value_is_made_plain_by_the_library_that_laid_it_out():
    one, other = two_libraries()
    other.reorder = lambda source, target, shape: Prepared(np.negative)
    opened = [lambda graph: one, lambda graph: other]
    segment = CompiledSegment(lambda: graph(CHAIN), NUMPY, opened)
    held = np.ones([4, 3], "float32")
    for kind, expected in (("tanh", held), ("relu", -held)):
        (made,) = (each.result for each in segment.order if each.op.type == kind)
        np.testing.assert_array_equal(segment.as_plain(made, {made.number: held}), expected)


class KnowsItsOwn(Library):
    """Knows its own layouts and plain arrays only."""

    tuner = SimpleNamespace(run=lambda function, *args: function(*args))

    def offer(self, instruction, layouts, epilogues):
        (known,) = layouts.values()
        assert all(each is None or each in self.layouts.values() for each in known)
        return super().offer(instruction, layouts, Epilogues())


def two_libraries():
    """One with a kernel for tanh, and one with a kernel for relu."""
    one, other = KnowsItsOwn({"tanh": 0.5}), KnowsItsOwn({"relu": 0.5})
    one.name, other.name = "one", "other"
    return one, other


def test_rows_and_zeros_are_added_to_a_whole_tensor():
    leaves_kind = f"""\
    %0: rows float32[2] = input "g"
    %1: float32[2] = constant {ZERO}
    %2: float32[2] = sum(X=[%0, %1])
    return "y"=%2
    """
    assert not after(CONSTANT_FOLDING, leaves_kind, [ZEROS])[0]


def test_a_gradient_without_that_of_the_epilogue_has_no_mask():
    made = graph(
        """\
        %0: float32[4, 3] = input "x"
        %1: float32[4, 3] = input "g"
        %2: float32[4, 3] = tanh(X=%0)
        %3: float32[4, 3] = relu(X=%2)
        %4: float32[4, 3] = tanh_grad(Out=%2, Out@GRAD=%1)
        return "y"=%3, "d"=%4
        """
    )
    position = {each: index for index, each in enumerate(made)}
    tanh, relu, _ = made
    assert epilogues_of(tanh, position) == Epilogues()  # something else reads it, too
    assert epilogues_of(relu, position) == Epilogues()


def test_an_epilogue_whose_operand_comes_later_is_left_alone():
    text = """\
    %0: float32[1, 3, 4, 4] = input "x"
    %1: float32[2, 3, 3, 3] = input "w"
    %2: float32[2] = input "b"
    %3: float32[1, 2, 2, 2] = conv2d(Input=%0, Filter=%1)
    %4: float32[2] = tanh(X=%2)
    %5: float32[1, 2, 2, 2] = elementwise_add(X=%3, Y=%4) {axis=1}
    %6: float32[1, 2, 2, 2] = relu(X=%5)
    return "y"=%6
    """
    made = graph(text)
    position = {each: index for index, each in enumerate(made)}
    conv, tanh, *_ = made
    assert not epilogues_of(conv, position).chain
    position[tanh] = -1
    assert [each.function for each, _ in epilogues_of(conv, position).chain] == ["add", "relu"]


def test_zeros_are_left_out_of_sums_alone():
    text = f"""\
    %0: float32[2] = input "x"
    %1: float32[2] = constant {ZERO}
    %2: float32[2, 2] = stack(X=[%0, %1])
    return "y"=%2
    """
    assert not after(CONSTANT_FOLDING, text, [ZEROS])[0]


@pytest.mark.parametrize("starts, changed", [("(0,)", False), ("(80000,)", True)])
def test_large_zeros_are_computed_and_large_parts_forwarded(starts, changed):
    """What is known of many elements would lie in memory for good."""
    text = f"""\
    %0: float32[80000] = input "x"
    %1: float32[160000] = pad(X=%0) {{paddings=(80000, 0)}}
    %2: float32[80000] = slice(Input=%1) {{axes=(0,), starts={starts}, ends=(160000,)}}
    return "y"=%2
    """
    text = text if changed else text.replace("ends=(160000,)", "ends=(80000,)")
    assert after(SLICE_FORWARDING, text)[0] is changed


def test_products_of_a_run_time_number_of_rows_are_not_batched():
    lines = ['%0: float32[rows<=4, 3] = input "x"', '%1: float32[3, 3] = input "w"']
    for k in range(2, 6):
        lines.append(f"%{k}: float32[rows<=4, 3] = mul(X=%0, Y=%1) {{scale_out={k}.0}}")
    outputs = ", ".join(f'"y{k}"=%{k}' for k in range(2, 6))
    leaves(GEMM_BATCHING, "\n".join([*lines, f"return {outputs}", ""]))


def test_a_normalisation_whose_relu_is_not_differentiated_has_no_mask():
    text = """\
    %0: float32[2, 3, 4, 4] = input "x"
    %1: float32[3] = input "s"
    %2: float32[2, 3, 4, 4] = input "g"
    Y=%3: float32[2, 3, 4, 4], SavedMean=%4: float32[3] = batch_norm(X=%0, Scale=%1) as batch_norm
    %5: float32[2, 3, 4, 4] = relu(X=%3)
    X@GRAD=%6: float32[2, 3, 4, 4] = batch_norm_grad(SavedMean=%4, Y@GRAD=%2) as batch_norm_grad
    return "y"=%5, "d"=%6
    """
    made = graph(text)
    position = {each: index for index, each in enumerate(made)}
    norm = next(iter(made))
    found = epilogues_of(norm, position)
    assert [each.function for each, _ in found.chain] == ["relu"] and found.mask is None
