"""Passes of users over programs: contracts, options, pipelines."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import transform
from fluidlite.errors import ArgumentError, ParseError, PassError, VerifyError
from fluidlite.transform import conditions


@transform.program_pass
def scaled(program, by=2.0):
    """Scale by another number."""
    for block in program.blocks:
        for op in block.ops:
            if op.type == "scale":
                op.set_attr("scale", by)


@pytest.fixture
def program():
    x = fluid.data("x", [None, 3])
    x.stop_gradient = False
    y = fluid.layers.scale(fluid.layers.dropout(x, 0.5), 3.0)
    fluid.layers.reduce_sum(y)
    return fluid.default_main_program()


def with_gradients(program):
    loss = program.global_block().var(program.global_block().ops[-1].output("Out")[0])
    fluid.append_backward(loss)
    return program


def test_a_pass_gives_a_changed_copy(program):
    text = str(program)
    changed = scaled(program, by=4.0)
    assert changed.global_block().ops[1].attr("scale") == 4.0
    assert scaled(program).global_block().ops[1].attr("scale") == 2.0
    assert str(program) == text
    assert scaled.__doc__ == "Scale by another number."


def test_what_a_pass_needs_is_checked_with_the_operator_and_the_line(program):
    alone = transform.program_pass(
        lambda program: None, name="alone", needs=[conditions.no_gradients]
    )
    alone(program)
    with pytest.raises(
        PassError, match=r"alone: needs .*'no operator computes gradients'; operator .*test_passes"
    ):
        alone(with_gradients(program))


@pytest.mark.parametrize(
    "condition, said",
    [
        (conditions.known_sizes, r"variable 'x' has shape \[-1, 3\]"),
        (conditions.for_test, "operator dropout of block 0.* works as in training"),
    ],
)
def test_conditions_say_why_they_do_not_hold(program, condition, said):
    with pytest.raises(PassError, match=said):
        transform.program_pass(lambda program: None, needs=[condition])(program)


def test_conditions_of_control_flow_steps_and_unknown_operators():
    x = fluid.data("x", [1])
    fluid.layers.cond(x > 0.0, lambda: x + 1.0, lambda: x)
    main = fluid.default_main_program()
    assert "drives a block" in conditions.no_control_flow.fault(main)
    assert conditions.no_updates.fault(main) is None
    unknown = fluid.Program.parse(
        "program (seed=0) {\n block 0 {\n {Out=x} = magic()\n var x: float32[1]\n }\n}"
    )
    assert "magic" in conditions.known_operators.fault(unknown)
    w = fluid.layers.create_parameter([1], "float32", name="w")
    fluid.optimizer.SGD(0.1).minimize(fluid.layers.mean(w * x))
    assert "updates parameters" in conditions.no_updates.fault(main)


def test_what_a_pass_says_to_keep_it_keeps(program):
    @transform.program_pass(keeps=[conditions.interface])
    def gives_an_input_more(program):
        program.global_block().create_var(name="z", shape=[1], dtype="float32", is_data=True)

    @transform.program_pass(keeps=[conditions.gradients])
    def loses_gradients(program):
        return program.clone(for_test=True)

    with pytest.raises(PassError, match="says to keep 'what is fed and fetched'.* 'z' is new"):
        gives_an_input_more(program)
    with pytest.raises(PassError, match="says to keep 'the gradients'"):
        loses_gradients(with_gradients(program))


def test_what_a_pass_says_to_give_it_gives(program):
    tested = transform.program_pass(
        lambda program: program.clone(for_test=True),
        gives=[conditions.for_test, conditions.no_gradients],
    )
    assert tested(with_gradients(program)).global_block().ops[0].attr("is_test")
    with pytest.raises(PassError, match="says to give 'operators work as in tests', and does not"):
        transform.program_pass(lambda program: None, gives=[conditions.for_test])(program)


def test_a_pass_that_breaks_a_rule_is_refused_by_its_name(program):
    @transform.program_pass
    def loses_operators(program):
        program.global_block().set_ops(program.global_block().ops[1:])

    text = str(program)
    with pytest.raises(VerifyError, match="pass loses_operators: "):
        loses_operators(program)
    assert str(program) == text
    with pytest.raises(PassError, match="expected a program, or None .* got 3"):
        transform.program_pass(lambda program: 3, name="gives_three")(program)
    with pytest.raises(ArgumentError, match="scaled: expected a program, got 'text'"):
        scaled("text")


def test_options_have_the_names_of_parameters():
    assert str(scaled.with_options(by=3)) == "scaled(by=3)"
    with pytest.raises(ArgumentError, match="pass scaled has no option 'byy'; did you mean 'by'"):
        scaled.with_options(byy=3)


def test_a_pipeline_shows_its_stages(program, tmp_path):
    pipeline = transform.Pipeline([scaled, scaled.with_options(by="4".__len__() + 0.5)])
    staged = pipeline.run(program)
    assert [stage.name for stage in staged.stages] == ["input", "scaled", "scaled(by=1.5)"]
    assert "(scale: 2.0 -> 1.5)" in str(staged)
    assert str(staged.program) == str(pipeline(program))
    page = staged.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    assert "<h2>scaled(by=1.5)</h2>" in page and "scale=1.5" in page


def test_a_pipeline_is_read_from_text():
    known = {"scaled": scaled}
    assert (
        str(transform.Pipeline.parse("scaled, scaled(by=-2.5)", known)) == "scaled,scaled(by=-2.5)"
    )
    assert str(transform.Pipeline.parse("", known)) == ""
    for text in ("scaled(", "scaled(1)", "a.b", "scaled(by=open('x'))", "1", "scaled]", "(" * 300):
        with pytest.raises(ParseError, match="expected passes as name"):
            transform.Pipeline.parse(text, known)
    with pytest.raises(
        ArgumentError, match="no pass 'scale'; did you mean 'scaled'.; there are scaled"
    ):
        transform.Pipeline.parse("scale", known)
    with pytest.raises(ArgumentError, match="expected passes, as program_pass makes them"):
        transform.Pipeline([len])


def test_a_pipeline_compares_what_programs_compute_behind_each_pass(program):
    feed = {"x": np.ones([2, 3], "float32")}
    tested = transform.program_pass(lambda program: program.clone(for_test=True), name="tested")
    plain = tested(program)
    transform.Pipeline([scaled.with_options(by=3.0)], check=feed)(plain)
    with pytest.raises(
        fluid.errors.FluidError, match=r"behind pass scaled\(by=2.0\): the programs differ"
    ):
        transform.Pipeline([scaled.with_options(by=2.0)], check=feed)(plain)


def test_a_pipeline_of_one_pass_needs_no_list():
    nothing = fluid.transform.program_pass(lambda program: None)
    assert fluid.transform.Pipeline(nothing).passes == (nothing,)
    with pytest.raises(ArgumentError, match="expected passes, as program_pass makes them, got 5"):
        fluid.transform.Pipeline(5)
