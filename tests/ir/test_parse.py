"""Reading programs: what is accepted, and how mistakes are shown."""

import textwrap
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fluidlite.errors import ParseError
from fluidlite.ground.dtypes import DType, Kind
from fluidlite.ir import parse
from fluidlite.ir.compare import differences
from fluidlite.ir.literal import EmptyList
from fluidlite.ir.nesting import nesting_fault
from fluidlite.ir.operator import Operator
from fluidlite.ir.program import Program
from fluidlite.ir.variable import Parameter, Variable
from fluidlite.opdef.attribute import BlockRef, Long, single_precision
from fluidlite.opdef.definition import is_defined


def parse_block(lines):
    """Block 0 of a program with these lines in it."""
    return Program.parse(f"program (seed=0) {{\nblock 0 {{\n{lines}\n}}\n}}").global_block()


def message(text):
    """What is said about a program with a mistake."""
    with pytest.raises(ParseError) as caught:
        Program.parse(textwrap.dedent(text).lstrip("\n"))
    return str(caught.value)


def test_a_program_is_read_with_all_its_parts():
    program = Program.parse(
        """
        # linear regression
        program (seed=7) {
          block 0 {
            param w: float32[13, 1]        # initialised elsewhere
            data  x: float32[-1, 13]
            var   y: float32[-1, 1]

            y = mul(X=x, Y=w)
            -- backward --
            w@GRAD = scale(X=y, scale=2) for [w, w@GRAD] at "/a/" on "gpu:0"
            -- optimize --
            w = sgd(Param=w, Grad=w@GRAD, LearningRate=lr)
            -- forward --
            report(In=y, summarize=3)
          }
          block 1 in 0 {
          }
          block 2 in 0 of 1 {
            var arr: lod_tensor_array
          }
        }
        """
    )
    block = program.global_block()
    assert program.random_seed == 7
    assert program.current_block_idx == 0
    assert [type(v) for v in block.vars.values()] == [Parameter, Variable, Variable]
    assert [op.type for op in block.ops] == ["mul", "scale", "sgd", "report"]
    assert [op.role for op in block.ops] == [0, 1, 2, 0]
    scale = block.ops[1]
    assert scale.attr("scale") == 2.0
    assert (scale.role_vars, scale.namescope, scale.device) == (("w", "w@GRAD"), "/a/", "gpu:0")
    assert scale.callsite is None
    assert [(b.parent_idx, b.forward_block_idx) for b in program.blocks] == [
        (-1, -1),
        (0, -1),
        (0, 1),
    ]
    assert program.blocks[2].var("arr").kind is Kind.LOD_TENSOR_ARRAY


def test_declarations_have_types_and_flags():
    block = parse_block(
        """
        param a: float64[2, 3] not trainable rate=0.25
        param b: float32[1] not persistable average not stop_gradient
        data c: int64[-1] lod=2 check_feed not stop_gradient
        var d: ?[?] persistable stop_gradient
        var e: selected_rows float32[?]
        var f: ?[2]
        var g: step_scopes
        """
    )
    a, b, c, d, e, f, g = block.vars.values()
    assert (a.dtype, a.shape, a.trainable, a.stop_gradient) == (DType.FP64, (2, 3), False, False)
    assert a.optimize_attr == {"learning_rate": 0.25}
    assert (b.persistable, b.do_model_average, b.stop_gradient) == (False, True, False)
    assert (c.is_data, c.lod_level, c.need_check_feed, c.stop_gradient) == (True, 2, True, False)
    assert (d.has_dtype, d.has_shape, d.persistable, d.stop_gradient) == (False, False, True, True)
    assert (e.kind, e.dtype, e.has_shape) == (Kind.SELECTED_ROWS, DType.FP32, False)
    assert (f.has_dtype, f.shape) == (False, (2,))
    assert (g.kind, g.has_dtype, g.has_shape) == (Kind.STEP_SCOPES, False, False)


def test_variables_may_be_called_as_declarations_begin():
    block = parse_block(
        """
        var var: float32[1]
        data data: float32[1]
        var param: float32[1]
        data = scale(X=var)
        var = scale(X=param)
        param = scale(X=data)
        """
    )
    assert list(block.vars) == ["var", "data", "param"]
    assert [op.output("Out") for op in block.ops] == [["data"], ["var"], ["param"]]


def test_values_become_what_the_definition_says():
    op = parse_block("y = scale(X=x, scale=3, bias_after_scale=true)").ops[0]
    assert op.attrs == {"scale": 3.0}
    assert isinstance(op.attrs["scale"], float)
    op = parse_block("y = fill_constant(shape=[1, 2], dtype=int64, value=1e-3)").ops[0]
    assert op.attrs["shape"] == (1, 2)
    assert op.attrs["dtype"] is DType.INT64
    assert op.attrs["value"] == single_precision(1e-3)


def test_what_is_at_its_default_is_not_stored_except_for_bare_operators():
    block = parse_block("y = scale(X=x, scale=1.0)\ny = scale(X=x, scale=1.0) bare")
    plain, bare = block.ops
    assert plain.attrs == {}
    assert not plain.lists_given_attrs
    assert bare.attrs == {"scale": 1.0}
    assert bare.lists_given_attrs


def test_lines_may_be_broken_between_parentheses():
    block = parse_block("y = fill_constant(\n  shape=[1,  # one\n  2],\n  value=3.0\n)")
    assert block.ops[0].attr("shape") == [1, 2]


def test_values_of_unknown_operators_have_their_own_types():
    op = parse_block(
        "{Out=y} = magic(X=x, a=1, b=long 1, c=2147483648, d=block 1, e=[1, 2.5], f=longs [1],"
        " g=blocks [1, 2], h=ints [], i=float32, j=[true], k=inf, l=floats [1])"
    ).ops[0]
    kinds = {name: op.attr_wire(name) for name in "abcdefghijkl"}
    assert kinds == dict(
        a="INT", b="LONG", c="LONG", d="BLOCK", e="FLOATS", f="LONGS", g="BLOCKS", h="INTS",
        i="INT", j="BOOLEANS", k="FLOAT", l="FLOATS",
    )  # fmt: skip
    assert op.attrs["i"] is DType.FP32


MISTAKES = {
    "a word that is missing": (
        """
        program (seed=0) {
          block 0
            y = scale(X=x)
        """,
        """
        line 2, column 10: expected '{', got the end of the line
            block 0
                   ^
        """,
    ),
    "an element type with a wrong letter, after a tab": (
        "program (seed=0) {\n  block 0 {\n\tvar x: float3[1]\n  }\n}\n",
        """
        line 3, column 9: expected an element type or ?, got 'float3'; did you mean 'float32'?
          \tvar x: float3[1]
          \t       ^
        """,
    ),
    "a comma that is missing": (
        """
        program (seed=0) {
          block 0 {
            y = scale(X=x scale=2.0)  # twice
          }
        }
        """,
        """
        line 3, column 19: expected ',' or ')', got 'scale'
              y = scale(X=x scale=2.0)  # twice
                            ^
        """,
    ),
    "a value of another type": (
        """
        program (seed=0) {
          block 0 {
            y = scale(X=x, scale="2")
          }
        }
        """,
        """
        line 3, column 26: scale: attribute 'scale' takes a number, got '2' of type str
              y = scale(X=x, scale="2")
                                   ^
        """,
    ),
    "a slot that must be given": (
        """
        program (seed=0) {
          block 0 {
            y = scale(scale=2.0)
          }
        }
        """,
        """
        line 3, column 9: scale needs a variable in its input slot X
              y = scale(scale=2.0)
                  ^
        """,
    ),
    "an argument that is given twice": (
        """
        program (seed=0) {
          block 0 {
            y = scale(X=x, X=y)
          }
        }
        """,
        """
        line 3, column 20: scale is given 'X' twice
              y = scale(X=x, X=y)
                             ^
        """,
    ),
    "an output whose slot nobody knows": (
        """
        program (seed=0) {
          block 0 {
            y = scael(X=x)
          }
        }
        """,
        """
        line 3, column 5: there is no operator 'scael'; did you mean 'scale'? (or name the output \
slots, {Slot=name} = ...)
              y = scael(X=x)
              ^
        """,
    ),
    "a list of nothing without a type": (
        """
        program (seed=0) {
          block 0 {
            magic(a=[])
          }
        }
        """,
        """
        line 3, column 13: expected the type in front of a list of nothing: ints [], floats [], ...
              magic(a=[])
                      ^
        """,
    ),
    "a section that is not there": (
        """
        program (seed=0) {
          block 0 {
            -- backwards --
          }
        }
        """,
        """
        line 3, column 8: there is no section 'backwards'; did you mean 'backward'?
              -- backwards --
                 ^
        """,
    ),
    "a flag that is not there": (
        """
        program (seed=0) {
          block 0 {
            var x: float32[1] persistent
          }
        }
        """,
        """
        line 3, column 23: there is no flag 'persistent' of a var; did you mean 'persistable'?
              var x: float32[1] persistent
                                ^
        """,
    ),
    "a variable that is declared twice": (
        """
        program (seed=0) {
          block 0 {
            var x: float32[1]
            var x: float32[1]
          }
        }
        """,
        """
        line 4, column 9: block 0 declares 'x' twice
              var x: float32[1]
                  ^
        """,
    ),
    "a parameter of unknown size": (
        """
        program (seed=0) {
          block 0 {
            param w: float32[-1]
          }
        }
        """,
        """
        line 3, column 11: parameter 'w' needs a shape of positive sizes, got [-1]
              param w: float32[-1]
                    ^
        """,
    ),
    "a block with a wrong number": (
        """
        program (seed=0) {
          block 1 {
          }
        }
        """,
        """
        line 2, column 9: expected block 0: blocks are numbered from 0 on
            block 1 {
                  ^
        """,
    ),
    "a block that lies in none": (
        """
        program (seed=0) {
          block 0 {
          }
          block 1 {
          }
        }
        """,
        """
        line 4, column 9: block 0 lies in no block, every other one in an earlier one: block 1 in 0
            block 1 {
                  ^
        """,
    ),
    "a block in a later one": (
        """
        program (seed=0) {
          block 0 {
          }
          block 1 in 1 {
          }
        }
        """,
        """
        line 4, column 14: expected a block before block 1, got 1
            block 1 in 1 {
                       ^
        """,
    ),
    "a quote that is not closed": (
        """
        program (seed=0) {
          block 0 {
            magic(a="x)
          }
        }
        """,
        """
        line 3, column 13: a quote that is not closed: '"'
              magic(a="x)
                      ^
        """,
    ),
    "an escape that JSON does not have": (
        """
        program (seed=0) {
          block 0 {
            magic(a="\\x41")
          }
        }
        """,
        """
        line 3, column 13: a wrong escape sequence; they are those of JSON
              magic(a="\\x41")
                      ^
        """,
    ),
    "a character from elsewhere": (
        """
        program (seed=0) {
          block 0 {
            y = scale(X=x);
          }
        }
        """,
        """
        line 3, column 19: a character that means nothing here: ';'
              y = scale(X=x);
                            ^
        """,
    ),
    "a program that stops": (
        """
        program (seed=0) {
          block 0 {
            y = scale(X=x,""",
        """
        line 3, column 19: expected a slot or an attribute, got the end of the text
              y = scale(X=x,
                            ^
        """,
    ),
    "something after the program": (
        """
        program (seed=0) {
          block 0 {
          }
        }
        program
        """,
        """
        line 5, column 1: expected the end of the text, got 'program'
          program
          ^
        """,
    ),
}


@pytest.mark.parametrize("text, wanted", MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_shown_with_line_column_and_caret(text, wanted):
    assert message(text) == textwrap.dedent(wanted.replace("\\\n", "")).strip("\n")


def test_the_documentation_shows_the_grammar_that_the_parser_states():
    page = Path(__file__).parents[2] / "docs/text-format.md"
    shown = page.read_text(encoding="utf-8").split("## The grammar")[1].split("```")[1]
    stated = parse.__doc__.split("tokens::\n")[1].split("\nEnds of lines")[0]
    assert textwrap.dedent(stated).strip() == shown.removeprefix("text").strip()


def test_the_parser_does_not_recurse_over_operators():
    lines = "\n".join(["x = scale(X=x)"] * 3000)
    assert len(parse_block(lines).ops) == 3000


# -- generated programs ----------------------------------------------------------------------------

names = st.text(min_size=1, max_size=6)
int32 = st.integers(-(2**31), 2**31 - 1)
floats = st.floats(width=32)
text = st.text(max_size=8)
values = st.one_of(
    st.booleans(),
    int32,
    floats,
    text,
    int32.map(Long),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 3).map(BlockRef),
    st.sampled_from(["INTS", "FLOATS", "BOOLEANS", "STRINGS", "LONGS", "BLOCKS"]).map(EmptyList),
    st.sampled_from(DType),
    *[
        st.lists(each, min_size=1, max_size=3).map(tuple)
        for each in (st.booleans(), int32, floats, text, int32.map(Long), st.just(BlockRef(1)))
    ],
)
slots = st.dictionaries(names, st.lists(names, min_size=1, max_size=3).map(tuple), max_size=3)


@st.composite
def variables(draw, block):
    name = draw(names)
    fields = dict(
        dtype=draw(st.none() | st.sampled_from(DType)),
        lod_level=draw(st.integers(0, 2)),
        persistable=draw(st.booleans()),
        stop_gradient=draw(st.booleans()),
        is_data=draw(st.booleans()),
        need_check_feed=draw(st.booleans()),
        kind=draw(st.sampled_from(Kind)),
    )
    if draw(st.booleans()):
        shape = draw(st.none() | st.lists(st.integers(-1, 9), max_size=3))
        return Variable(block, name, shape=shape, **fields)
    return Parameter(
        block,
        name,
        shape=draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)),
        trainable=draw(st.booleans()),
        optimize_attr={"learning_rate": draw(st.floats(allow_nan=False))},
        do_model_average=draw(st.none() | st.booleans()),
        is_distributed=draw(st.booleans()),
        **fields,
    )


@st.composite
def programs(draw):
    """Programs of operators that nobody defined."""
    program = Program()
    program.random_seed = draw(st.integers(0, 2**31 - 1))
    for index in range(1, draw(st.integers(1, 3))):
        parent = draw(st.integers(0, index - 1))
        program.create_block(parent, draw(st.integers(-1, index - 1)))
    program.current_block_idx = 0
    for block in program.blocks:
        for variable in draw(st.lists(variables(block), max_size=3)):
            block.vars[variable.name] = variable
        for _ in range(draw(st.integers(0, 3))):
            inputs = draw(slots)
            attrs = draw(st.dictionaries(names, values, max_size=3))
            block.ops.append(
                Operator(
                    block,
                    draw(names.filter(lambda n: not is_defined(n))),
                    inputs,
                    draw(slots),
                    {name: value for name, value in attrs.items() if name not in inputs},
                    role=draw(st.sampled_from([0, 1, 2, 5, 16, 257])),
                    role_vars=tuple(draw(st.lists(names, max_size=2))),
                    namescope=draw(st.just("/") | text),
                    device=draw(text),
                    lists_given_attrs=draw(st.booleans()),
                )
            )
    assume(nesting_fault(program) is None)  # it is refused when it is read
    return program


@settings(max_examples=300, deadline=None)
@given(programs())
def test_any_program_is_the_one_read_from_its_text(program):
    written = str(program)
    again = Program.parse(written)
    assert differences(program, again) == []
    assert str(again) == written


@pytest.mark.parametrize("digits", [1001, 5000])
def test_an_integer_of_thousands_of_digits_is_refused_where_it_stands(digits):
    with pytest.raises(ParseError, match=rf"line 1, column 15: .* got one of {digits}"):
        Program.parse(f"program (seed={'9' * digits}) {{\n}}")
