"""Two people's changes of a program become one program, or what clashes is named."""

import pickle

import program_edits
import pytest
from shares import share

import fluidlite as fluid
from fluidlite import Program
from fluidlite.errors import ArgumentError, MergeConflictError
from fluidlite.ground.dtypes import Kind
from fluidlite.ir.compare import differences
from fluidlite.transform import merge3, rename

TEXT = """
program (seed=0) {
  block 0 {
    data x: float32[-1, 3]
    param w: float32[3, 3]
    var a: float32[-1, 3]
    var b: float32[-1, 3]
    var c: float32[-1, 3]

    a = mul(X=x, Y=w)
    b = scale(X=a, scale=2.0)
    c = tanh(X=b)
  }
}
"""
SCALE, TANH = "b = scale(X=a, scale=2.0)", "c = tanh(X=b)"


def program(*replacements, text=TEXT):
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return Program.parse(text)


def merged(ours, theirs, base=TEXT):
    """The operators of the merged program, whoever is who."""
    base, ours, theirs = (
        Program.parse(base),
        program(*ours, text=base),
        program(*theirs, text=base),
    )
    made = merge3(base, ours, theirs)
    assert not differences(made, merge3(base, theirs, ours))
    return made


def operators(made):
    return [str(op) for op in made.global_block().ops]


def conflicts(ours, theirs, base=TEXT):
    """What clashes."""
    base, ours, theirs = (
        Program.parse(base),
        program(*ours, text=base),
        program(*theirs, text=base),
    )
    with pytest.raises(MergeConflictError) as caught:
        merge3(base, ours, theirs)
    with pytest.raises(MergeConflictError) as other:
        merge3(base, theirs, ours)
    assert len(other.value.conflicts) == len(caught.value.conflicts)
    assert str(caught.value).startswith(f"{len(caught.value.conflicts)} conflict")
    return [(c.where, c.what, c.base, c.ours, c.theirs) for c in caught.value.conflicts]


@pytest.mark.parametrize("seed", range(share(36)))
def test_random_edits_are_merged_whoever_is_who(seed):
    assert not program_edits.merged(seed)[0]


def test_changes_of_two_operators_are_both_there():
    made = merged([(SCALE, "b = scale(X=a, scale=3.0)")], [(TANH, "c = sigmoid(X=b)")])
    assert operators(made) == ["a = mul(X=x, Y=w)", "b = scale(X=a, scale=3.0)", "c = sigmoid(X=b)"]


def test_changes_of_two_attributes_of_one_operator_are_both_there():
    made = merged(
        [(SCALE, "b = scale(X=a, scale=3.0)")],
        [(SCALE, 'b = scale(X=a, scale=2.0, bias=1.0) at "/here/"')],
    )
    assert operators(made)[1] == "b = scale(X=a, scale=3.0, bias=1.0)"
    assert made.global_block().ops[1].namescope == "/here/"


def test_one_attribute_changed_in_two_ways_is_a_conflict_with_both_texts():
    assert conflicts(
        [(SCALE, "b = scale(X=a, scale=3.0)")], [(SCALE, "b = scale(X=a, scale=4.0)")]
    ) == [("block 0, operator b = scale(X=a, scale=2.0)", "attribute scale", "2.0", "3.0", "4.0")]


def test_an_input_and_a_section_are_told_like_attributes():
    assert conflicts(
        [(SCALE, "b = scale(X=x, scale=2.0)"), (TANH, '-- backward --\n c = tanh(X=b) on "cpu"')],
        [(SCALE, "b = scale(X=c, scale=2.0)"), (TANH, "-- optimize --\n c = tanh(X=b)")],
    ) == [
        ("block 0, operator b = scale(X=a, scale=2.0)", "input X", "a", "x", "c"),
        (
            "block 0, operator c = tanh(X=b)",
            "section",
            "-- forward --",
            "-- backward --",
            "-- optimize --",
        ),
    ]


def test_what_both_change_alike_is_no_conflict():
    change = [(SCALE, "b = scale(X=a, scale=3.0)"), ("var c", "var d: int64[1]\n    var c")]
    assert operators(merged(change, change))[1] == "b = scale(X=a, scale=3.0)"


def test_what_both_add_alike_is_there_once():
    more = ("var c", "var d: float32[-1, 3]\n    var c"), (TANH, "d = relu(X=b)\n    c = tanh(X=b)")
    other = (
        ("var a", "var e: float32[-1, 3]\n    var a"),
        (TANH + "\n", TANH + "\n    e = exp(X=c)\n"),
    )
    made = merged(more, [*more, *other])
    assert operators(made)[2:] == ["d = relu(X=b)", "c = tanh(X=b)", "e = exp(X=c)"]


def test_operators_that_both_add_at_one_place_stand_in_one_order():
    def added(name, kind):
        new = f"var {name}: float32[-1, 3]\n    var c"
        return [("var c", new), (TANH, f"{TANH}\n    {name} = {kind}(X=b)")]

    made = merged(added("z", "relu"), added("d", "exp"))
    assert operators(made)[-2:] == ["d = exp(X=b)", "z = relu(X=b)"]
    assert list(made.global_block().vars)[-3:] == ["d", "z", "c"]


def test_both_adding_one_variable_in_two_ways_is_a_conflict():
    assert conflicts(
        [("var c", "var d: float32[2]\n    var c")], [("var c", "var d: int64[2]\n    var c")]
    ) == [
        ("block 0, variable 'd'", "declaration", "nothing", "var d: float32[2]", "var d: int64[2]")
    ]


def test_both_writing_one_variable_anew_is_a_conflict():
    first = conflicts(
        [(SCALE, f"{SCALE}\n    a = relu(X=a)")], [(TANH, f"{TANH}\n    c = exp(X=a)")]
    )[0]
    assert first == (
        *("block 0, 'a'", "value that both use or write", "nothing"),
        *("a = relu(X=a)", "c = exp(X=a)"),
    )


def test_reading_what_the_other_writes_anew_is_a_conflict():
    assert conflicts([(SCALE, f"{SCALE}\n    a = relu(X=x)")], [(TANH, "c = tanh(X=a)")]) == [
        (
            *("block 0, 'a'", "value that both use or write", "nothing"),
            *("a = relu(X=x)", "c = tanh(X=a)"),
        )
    ]


def test_two_effects_have_no_order():
    saves = [(TANH, f'{TANH}\n    save(X=c, file_path="{path}")') for path in "ab"]
    assert conflicts(saves[:1], saves[1:])[0][:2] == ("block 0", "order of effects")


def test_an_operator_that_one_left_out_and_the_other_changed_is_a_conflict():
    assert conflicts([(TANH, "c = sigmoid(X=a)"), (f"    {SCALE}\n", "")], [("2.0", "3.0")])[0] == (
        *("block 0, operator b = scale(X=a, scale=2.0)", "operator"),
        *("b = scale(X=a, scale=2.0) -- forward --", "left out"),
        "b = scale(X=a, scale=3.0) -- forward --",
    )


def test_using_what_the_other_left_out_is_a_conflict():
    told = conflicts(
        [(f"    {SCALE}\n", ""), ("    var b: float32[-1, 3]\n", ""), (TANH, "c = tanh(X=a)")],
        [("var c", "var d: float32[-1, 3]\n    var c"), (TANH, f"{TANH}\n    d = exp(X=b)")],
    )
    assert told[0][0] == "the merged program"
    assert "'b'" in told[0][1]


def test_fields_of_a_declaration_are_merged_one_by_one():
    made = merged(
        [("var a: float32[-1, 3]", "var a: float32[-1, 3] persistable")],
        [("var a: float32[-1, 3]", "var a: float32[-1, 3] stop_gradient")],
    )
    variable = made.global_block().vars["a"]
    assert variable.persistable
    assert variable.stop_gradient
    assert conflicts(
        [("param w: float32[3, 3]", "param w: float32[3, 3] rate=0.5")],
        [("param w: float32[3, 3]", "param w: float32[3, 3] rate=0.1 not trainable")],
    ) == [
        (
            *("block 0, variable 'w'", "optimize_attr", "{'learning_rate': 1.0}"),
            *("{'learning_rate': 0.5}", "{'learning_rate': 0.1}"),
        )
    ]


def test_shapes_that_follow_from_both_changes_are_inferred_anew():
    def wide(text):
        return text.replace("w: float32[3, 3]", "w: float32[3, 5]").replace("-1, 3]", "-1, 5]")

    ours = Program.parse(wide(TEXT).replace("x: float32[-1, 5]", "x: float32[-1, 3]"))
    theirs = program(
        ("var c", "var d: float32[-1, 3]\n    var c"), (TANH, f"{TANH}\n    d = relu(X=c)")
    )
    made = merge3(Program.parse(TEXT), ours, theirs)
    assert made.global_block().vars["d"].shape == (-1, 5)


def test_seeds_are_merged():
    assert merged([("seed=0", "seed=7")], []).random_seed == 7
    assert conflicts([("seed=0", "seed=7")], [("seed=0", "seed=8")]) == [
        ("the program", "seed", "0", "7", "8")
    ]


def with_branch(kind):
    program = Program.parse(TEXT)
    block = program.global_block()
    truth = block.create_var(name=f"is_{kind}", shape=[1], dtype="bool")
    out = block.create_var(name=f"by_{kind}")
    scopes = block.create_var(name=f"of_{kind}", type=Kind.STEP_SCOPES)
    inside = program.add_block(0)
    block.append_op(
        "fill_constant", {}, {"Out": truth}, {"shape": [1], "value": 1.0, "dtype": "bool"}
    )
    inside.append_op(kind, {"X": "b"}, {"Out": out})
    block.append_op(
        "conditional_block",
        {"Cond": truth, "Input": "b"},
        {"Out": out, "Scope": scopes},
        {"sub_block": inside, "is_scalar_condition": True},
    )
    return program


def test_blocks_that_both_add_get_numbers_of_their_own():
    base = Program.parse(TEXT)
    ours, theirs = with_branch("relu"), with_branch("exp")
    made = merge3(base, ours, theirs)
    made.verify()
    assert not differences(made, merge3(base, theirs, ours))
    driven = [
        op.attr("sub_block") for op in made.global_block().ops if op.type == "conditional_block"
    ]
    kinds = {block.ops[0].type: block.idx for block in driven}
    assert sorted(kinds) == ["exp", "relu"]
    assert sorted(kinds.values()) == [1, 2]
    assert not differences(merge3(base, ours, ours), ours)


def test_the_three_programs_stay_as_they_were():
    programs = [Program.parse(TEXT), with_branch("relu"), with_branch("exp")]
    texts = [str(each) for each in programs]
    merge3(*programs)
    assert [str(each) for each in programs] == texts


def test_marks_and_call_sites_are_those_of_who_made_the_operators():
    base = Program.parse(TEXT)
    ours = base.clone()
    for op in ours.global_block().ops:
        op.foreign = frozenset()
    theirs = program((TANH, f'{TANH}\n    save(X=c, file_path="p")'))
    made = merge3(base, ours, theirs)
    assert made.global_block().ops[-1].foreign


def test_what_is_no_program_is_refused():
    with pytest.raises(ArgumentError, match="expected theirs to be a Program"):
        merge3(Program(), Program(), "x")


def test_conflicts_survive_pickling():
    with pytest.raises(MergeConflictError) as caught:
        merge3(Program.parse(TEXT), program(("2.0", "3.0")), program(("2.0", "4.0")))
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.conflicts == caught.value.conflicts


def test_variables_that_each_renames_are_renamed_in_gradient_operators_too():
    x = fluid.data("x", [3], "float64")
    x.stop_gradient = False
    weight = fluid.layers.create_parameter([3], "float64", name="w")
    fluid.append_backward(fluid.layers.reduce_mean(x * weight))
    base = fluid.default_main_program()
    ours, theirs = rename(base, {"x": "image"}), rename(base, {"w": "weight"})
    assert str(merge3(base, ours, theirs)) == str(rename(ours, {"w": "weight"}))
