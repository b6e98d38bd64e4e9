"""The text of written files: numbers, names, lines, and sizes that are not known."""

import ast

import numpy as np
import pytest

from fluidlite.errors import UnsupportedError
from fluidlite.export.literals import Namer, identifier, is_large, literal
from fluidlite.export.rendering import wrapped
from fluidlite.export.sizes import FreeSize, Unlike, merged

ARRAYS = [
    np.zeros([2, 3], "float32"),
    np.full([4], -2.5, "float64"),
    np.array([[1, 2], [3, 5]], "int32"),
    np.arange(40),
    np.arange(3, 30, 3).reshape(1, -1),
    np.array([0.1, np.inf, -np.inf], "float32"),
    np.array(7, "int8"),
    np.array([True, False]),
    np.zeros([0, 3], "float32"),
    np.array([-0.0], "float32"),
]


@pytest.mark.parametrize("array", ARRAYS, ids=str)
def test_an_array_is_read_back_as_it_was(array):
    found = eval(literal(array), {"np": np})
    assert (found.shape, found.dtype) == (array.shape, array.dtype)
    np.testing.assert_array_equal(found, array)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(array))


def test_a_large_array_is_no_text():
    array = np.random.default_rng(0).normal(size=50)
    assert is_large(array) and not is_large(np.ones(50)) and not is_large(np.arange(50))
    with pytest.raises(UnsupportedError, match="50 elements is too large"):
        literal(array)


@pytest.mark.parametrize("text", ['"', "'", "\\", '"""', "\n", "{x}", "é", "'\"", "\\'"])
def test_a_string_is_quoted(text):
    assert ast.literal_eval(literal(text)) == text
    assert literal(text).isascii()


def test_complex_numbers_are_read_back():
    for array in (np.array([1j, complex(0.1, -0.0)]), np.full([2], 0.1 + 2j, "complex64")):
        found = eval(literal(array), {"np": np})
        assert found.dtype == array.dtype and found.tobytes() == array.tobytes()


def test_what_has_no_text_is_refused():
    for value in (object(), np.array(["a"])):
        with pytest.raises(UnsupportedError, match="has no text"):
            literal(value)


@pytest.mark.parametrize(
    "name, like",
    [
        ("fc_0.tmp_2", "fc_0"),
        ("fc_0.w_0@GRAD", "d_fc_0_w_0"),
        ("x@GRAD@RENAME@block0@1", "d_x"),
        ("2nd", "v_2nd"),
        ("", "v"),
        ("名", "v"),
        ("a" * 99, "a" * 48),
    ],
)
def test_a_name_is_like_the_one_in_the_program(name, like):
    assert identifier(name) == like


def test_names_occur_once_and_are_none_of_pythons():
    namer = Namer(["x"])
    found = [namer.name(name) for name in ("x", "x", "class", "print", "match", "np", "x.tmp_1")]
    assert found == ["x_2", "x_3", "class_2", "print_2", "match_2", "np_2", "x_4"]


def test_a_long_line_is_broken_at_its_brackets():
    arguments = [f"argument_number_{k}" for k in range(6)]
    assert wrapped("f(x)") == ["f(x)"]
    assert wrapped(f"    name = function({', '.join(arguments[:4])})") == [
        "    name = function(",
        f"        {', '.join(arguments[:4])}",
        "    )",
    ]
    lines = wrapped(f"    name = function({', '.join(arguments)})")
    assert lines == ["    name = function(", *(f"        {a}," for a in arguments), "    )"]


N, M = FreeSize("n", (23, 29, 31)), FreeSize("m", (37, 41, 43))


@pytest.mark.parametrize(
    "texts, right",
    [
        (["f(23)", "f(29)", "f(31)"], "f(n)"),
        (["f(46)", "f(58)", "f(62)"], "f(2 * n)"),
        (["f(22)", "f(28)", "f(30)"], "f(n - 1)"),
        (["f(47, 23)", "f(59, 29)", "f(63, 31)"], "f(2 * n + 1, n)"),
        (["f(37)", "f(41)", "f(43)"], "f(m)"),
        (["f(1702)", "f(2378)", "f(2666)"], "f(2 * n * m)"),
        (["x / 46.0", "x / 58.0", "x / 62.0"], "x / (2 * n)"),
        ([f"x * {1 / 23}", f"x * {1 / 29}", f"x * {1 / 31}"], "x * (1.0 / n)"),
        (["a23 + '29'"] * 3, "a23 + '29'"),
    ],
)
def test_numbers_that_follow_from_sizes_become_expressions(texts, right):
    assert merged(texts, [N, M]) == right


@pytest.mark.parametrize(
    "texts",
    [
        ["f(3)", "f(4)", "f(6)"],
        ["f(1)", "f(1, 2)", "f(1)"],
        ["a", "a\nb", "a"],
        ["f(x)", "f(y)", "f(x)"],
    ],
)
def test_texts_that_differ_otherwise_are_refused(texts):
    with pytest.raises(Unlike):
        merged(texts, [N, M])
