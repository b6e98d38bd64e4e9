"""A patch makes a program of another one, exactly, or refuses it and says where it differs."""

import re

import numpy as np
import program_edits
import pytest
from shares import share

import fluidlite as fluid
from fluidlite import Program
from fluidlite.errors import ArgumentError, ForeignEffectError, PatchError, VerifyError
from fluidlite.ir.compare import differences
from fluidlite.transform import Patch, apply_patch, make_patch

import saved_models

TEXT = """
program (seed=0) {
  block 0 {
    data x: float32[-1, 3]
    var a: float32[-1, 3]
    var b: float32[-1, 3]
    var c: float32[-1, 3]
    var d: float32[-1, 3]
    var y: float32[-1, 3]
    var z: float32[-1, 3]

    a = relu(X=x)
    b = tanh(X=a)
    c = sigmoid(X=b)
    d = exp(X=c)
    y = scale(X=d, scale=2.0)
    z = sqrt(X=y)
  }
}
"""
CHANGE = "scale=2.0", "scale=3.0"


def program(*replacements, text=TEXT):
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return Program.parse(text)


def operators(changed):
    return [str(op) for op in changed.global_block().ops]


def test_a_patch_reads_like_a_difference_of_source():
    text = str(make_patch(program(), program(CHANGE)))
    head, rest = text.split("@@", 1)
    assert re.fullmatch(
        r"--- program of 1 block, 6 operators, 7 variables: [0-9a-f]{32}\n"
        r"\+\+\+ program of 1 block, 6 operators, 7 variables: [0-9a-f]{32}\n",
        head,
    )
    assert (
        "@@" + rest
        == """\
@@ -12,7 +12,7 @@ block 0
     b = tanh(X=a)
     c = sigmoid(X=b)
     d = exp(X=c)
-    y = scale(X=d, scale=2.0)
+    y = scale(X=d, scale=3.0)
     z = sqrt(X=y)
   }
 }
"""
    )


def test_equal_programs_have_an_empty_patch():
    patch = make_patch(program(), program())
    assert not patch
    assert not patch.hunks
    assert not differences(apply_patch(patch, program(CHANGE)), program(CHANGE))


@pytest.mark.parametrize("seed", range(share(60)))
def test_a_patch_of_random_edits_gives_what_it_was_made_of_and_is_taken_back(seed):
    assert not program_edits.patched(seed)


def test_the_program_that_is_patched_stays_as_it_was():
    before = program()
    text = str(before)
    after = apply_patch(make_patch(before, program(CHANGE)), before)
    assert str(before) == text
    assert not {id(op) for op in before.global_block().ops} & {
        id(op) for op in after.global_block().ops
    }


def test_a_patch_finds_lines_that_were_moved():
    patch = make_patch(program(), program(CHANGE))
    moved = program(("    a = relu", "    y = exp(X=x)\n    z = exp(X=y)\n    a = relu"))
    assert operators(apply_patch(patch, moved))[6] == "y = scale(X=d, scale=3.0)"


def test_two_changes_move_each_their_lines():
    far = ("a = relu(X=x)", "a = relu6(X=x)")
    patch = make_patch(program(), program(CHANGE, far))
    assert len(patch.hunks) == 1
    more = "".join(f"    z = exp(X=x)  # {n}\n" for n in range(9))
    wide = TEXT.replace("    c = sig", more + "    c = sig")
    patch = make_patch(program(text=wide), program(CHANGE, far, text=wide))
    assert len(patch.hunks) == 2
    changed = apply_patch(
        patch, program(("    var a", "    var more: int64[1]\n    var a"), text=wide)
    )
    assert operators(changed)[0] == "a = relu6(X=x)"
    assert operators(changed)[-2] == "y = scale(X=d, scale=3.0)"


# -- other programs --------------------------------------------------------------------------------


def test_a_patch_on_another_program_is_refused_with_the_first_place_that_differs():
    patch = make_patch(program(), program(CHANGE))
    other = program(("c = sigmoid(X=b)", "c = square(X=b)"))
    with pytest.raises(PatchError) as caught:
        apply_patch(patch, other)
    message = str(caught.value)
    assert message.startswith(
        "line 4 of the patch: hunk 1 of 1 (block 0) does not fit: expected 'c = sigmoid(X=b)' "
        "(line 5 of the patch) at line 13 of the program's text, found 'c = square(X=b)'; the "
        "patch is of a program of 1 block, 6 operators, 7 variables: "
    )
    assert "this is a program of 1 block" in message


def test_a_later_hunk_that_does_not_fit_refuses_all():
    more = "".join("    z = exp(X=x)\n" for _ in range(9))
    wide = TEXT.replace("    c = sig", more + "    c = sig")
    patch = make_patch(program(text=wide), program(CHANGE, ("relu", "relu6"), text=wide))
    other = program(("d = exp(X=c)", "d = square(X=c)"), text=wide)
    text = str(other)
    with pytest.raises(PatchError, match="hunk 2 of 2"):
        apply_patch(patch, other)
    assert str(other) == text


def test_an_unrelated_program_is_refused():
    other = Program.parse("program (seed=0) {\n block 0 {\n var q: int64[1]\n }\n}")
    with pytest.raises(PatchError, match="found nothing|found '}'|found 'var q"):
        apply_patch(make_patch(program(), program(CHANGE)), other)
    with pytest.raises(PatchError, match="does not fit"):
        apply_patch(make_patch(Program(), program()), other)


def test_lines_at_several_places_are_refused_on_another_program():
    repeated = TEXT.replace("    a = relu(X=x)\n", "    a = exp(X=x)\n" * 20)
    index = [n for n, line in enumerate(repeated.split("\n")) if "a = exp" in line][10]
    lines = repeated.split("\n")
    lines[index] = "    a = square(X=x)"
    patch = make_patch(program(text=repeated), program(text="\n".join(lines)))
    assert operators(apply_patch(patch, program(text=repeated)))[10] == "a = square(X=x)"
    other = program(("var y", "var more: int64[1]\n    var y"), text=repeated)
    with pytest.raises(PatchError, match="several places: lines 12, 13 of"):
        apply_patch(patch, other)


def test_a_patch_that_was_applied_says_so():
    patch = make_patch(program(), program(CHANGE))
    with pytest.raises(PatchError, match="was applied before; reverse takes it back"):
        apply_patch(patch, program(CHANGE))
    assert not differences(apply_patch(patch, program(CHANGE), reverse=True), program())


def test_an_exact_patch_takes_no_other_program():
    patch = make_patch(program(), program(CHANGE))
    moved = program(("var y", "var more: int64[1]\n    var y"))
    with pytest.raises(PatchError, match=r"expected the program .* 7 variables.*; got a program"):
        apply_patch(patch, moved, exact=True)
    assert not differences(apply_patch(patch, program(), exact=True), program(CHANGE))


def test_lines_of_another_section_are_not_those_of_the_patch():
    patch = make_patch(program(), program(CHANGE))
    other = program(("    a = relu", "    -- optimize --\n    a = relu"))
    with pytest.raises(PatchError, match="its lines stand in block 0 -- optimize --"):
        apply_patch(patch, other)


def test_what_comes_out_keeps_the_rules():
    without = program(
        ("    var more: int64[1]\n", ""),
        text=TEXT.replace("var y", "var more: int64[1]\n    var y"),
    )
    with pytest.raises(VerifyError, match="declared"):
        apply_patch(make_patch(program(), program(("    var d: float32[-1, 3]\n", ""))), without)


def test_arguments_of_other_types_are_refused():
    with pytest.raises(ArgumentError, match="expected after to be a Program"):
        make_patch(program(), "x")
    with pytest.raises(ArgumentError, match="program"):
        apply_patch(make_patch(program(), program()), "x")
    with pytest.raises(ArgumentError, match="a Patch or its text"):
        apply_patch(7, program())


# -- what no text holds ----------------------------------------------------------------------------


def trained():
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
        x = fluid.data("x", [None, 3], "float32")
        attr = fluid.ParamAttr(regularizer=fluid.regularizer.L2Decay(0.1), learning_rate=0.5)
        y = fluid.layers.fc(x, 2, param_attr=attr, act="relu")
        loss = fluid.layers.mean(y)
        fluid.optimizer.SGD(0.1).minimize(loss)
    return main


def test_call_sites_and_initializers_stay_with_what_is_not_touched():
    before = trained()
    after = before.clone()
    after.global_block().ops[0].set_attr("x_num_col_dims", 1)
    after.global_block().ops[3].set_attr("op_namescope", "/here/")
    changed = apply_patch(make_patch(before, after), before)
    assert [op.callsite for op in changed.global_block().ops] == [
        op.callsite for op in before.global_block().ops
    ]
    name = before.all_parameters()[0].name
    assert (
        changed.global_block().vars[name].regularizer
        is before.global_block().vars[name].regularizer
    )


def test_a_parameter_that_is_declared_anew_keeps_its_regularizer():
    before = trained()
    name = before.all_parameters()[0].name
    after = before.clone()
    parameter = after.global_block().vars[name]
    parameter.trainable = False
    parameter.optimize_attr = {"learning_rate": 1.0}
    changed = apply_patch(str(make_patch(before, after)), before).global_block().vars[name]
    assert not changed.trainable
    assert changed.regularizer is before.global_block().vars[name].regularizer
    assert changed.optimize_attr == {"learning_rate": 1.0}


def test_what_a_program_file_says_beside_stays():
    before = Program.parse_from_string(trained().to_bytes())
    after = before.clone()
    after.global_block().ops[3].set_attr("op_device", "cpu")
    changed = apply_patch(make_patch(before, after), before)
    assert changed.to_bytes() == after.to_bytes()


@pytest.mark.parametrize("archive, path", saved_models.programs())
def test_programs_of_the_real_system_are_patched_to_the_byte(archive, path):
    before = Program.parse_from_string(saved_models.file(path, archive))
    after = before.clone()
    block = after.global_block()
    block.ops[2].set_attr("op_device", "cpu")
    block.rename_var(block.ops[1].output_arg_names[0], "renamed")
    changed = apply_patch(str(make_patch(before, after)), before)
    assert not differences(changed, after)
    assert changed.to_bytes() == after.to_bytes()
    assert (
        apply_patch(make_patch(before, after), changed, reverse=True).to_bytes()
        == before.to_bytes()
    )


# -- foreign operators -----------------------------------------------------------------------------

SAVES = ("z = sqrt(X=y)", 'z = sqrt(X=y)\n    save(X=z, file_path="stolen.bin")')


def own(build_save):
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
        x = fluid.data("x", [2], "float32")
        y = fluid.layers.scale(x, 2.0)
        if build_save:
            main.global_block().append_op("save", {"X": y}, {}, {"file_path": "own.bin"})
    return main


def run(changed, **names):
    fluid.Executor().run(changed, feed={"x": np.ones([2, 3], "float32")})


def test_operators_that_a_file_adds_are_foreign(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    text = str(make_patch(program(), program(SAVES))).replace("stolen", "taken")
    changed = apply_patch(text, program())
    with pytest.raises(ForeignEffectError, match=r"taken\.bin"):
        run(changed)
    assert not list(tmp_path.iterdir())


def test_a_path_that_a_patch_changes_is_foreign(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    before = own(True)
    after = before.clone()
    after.global_block().ops[-1].set_attr("file_path", "other.bin")
    patch = str(make_patch(before, after))
    fluid.Executor().run(apply_patch(patch, before), feed={"x": np.ones(2, "float32")})
    assert (tmp_path / "other.bin").exists()  # this process made the patch
    with pytest.raises(ForeignEffectError, match=r"third\.bin"):
        changed = apply_patch(patch.replace("other.bin", "third.bin"), before)
        fluid.Executor().run(changed, feed={"x": np.ones(2, "float32")})


def test_marks_of_foreign_operators_stay():
    before = program(SAVES)
    changed = apply_patch(make_patch(program(SAVES), program(SAVES, CHANGE)), before)
    assert [op.foreign for op in changed.global_block().ops] == [
        op.foreign for op in before.global_block().ops
    ]
    assert all(op.foreign for op in changed.global_block().ops)


def test_operators_that_are_not_touched_stay_ones_own():
    before = own(True)
    text = str(make_patch(before, before.clone()))
    after = before.clone()
    after.global_block().ops[0].set_attr("scale", 5.0)
    text = str(make_patch(before, after)).replace("scale=5.0", "scale=6.0")
    changed = apply_patch(text, before)
    assert changed.global_block().ops[0].foreign
    assert not changed.global_block().ops[1].foreign


# -- hostile and damaged patches -------------------------------------------------------------------


def damaged(*replacements):
    text = str(make_patch(program(), program(CHANGE)))
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new, 1)
    return text


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "line 1 of the patch: expected '--- program of"),
        ("hello\n", "line 1 of the patch: expected '--- program of .*, got 'hello'"),
        (damaged(("+++ program", "+++ programme")), "line 2 of the patch: expected '.{4}program"),
        (damaged(("@@ -12", "@@ -x12")), "line 3 of the patch: expected '@@ -line,count"),
        (damaged(("@@ -12", "@@ -0")), "line 3 of the patch: expected hunks in the order"),
        (damaged(("12,7 +12,7", "12,9 +12,9")), "line 12 of the patch: expected 2 lines more"),
        (damaged(("12,7 +12,7", "12,6 +12,6")), "line 11 of the patch: expected '@@ -line"),
        (damaged(("-    y", "*    y")), "line 7 of the patch: expected a line of the hunk"),
        (damaged(("+    y", "     y")), "line 11 of the patch: expected a line of the hunk"),
        ("\0" * 10**5, "line 1 of the patch: expected '---"),
    ],
)  # fmt: skip
def test_what_is_no_patch_is_refused_by_line(text, message):
    with pytest.raises(PatchError, match=message) as caught:
        Patch.parse(text)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "line, message",
    [
        ("    y = scale(X=d, scale=much)", r"line 8 of the patch, column 27: expected a value"),
        ("    y = scale(X=d, scale=3.0", r"line 8 of the patch|line 9 of the patch"),
        ("    }", r"line 8 of the patch"),
        ("    var x: int64[1]", r"line 8 of the patch, column 10: block 0 declares 'x' twice"),
        ("    block 1 in 0 {", r"line 8 of the patch"),
        ("    y = scale(X=d, scale=\"" + "m" * 10**5, r"line 8 of the patch"),
        ("    \x1b[31m = relu(X=x)", r"line 8 of the patch, column 6: a character that"),
    ],
)  # fmt: skip
def test_lines_that_are_no_program_are_refused_by_line(line, message):
    text = damaged(("+    y = scale(X=d, scale=3.0)", f"+{line}"))
    with pytest.raises(PatchError, match=message) as caught:
        apply_patch(text, program())
    assert len(str(caught.value)) < 500
    assert "\x1b" not in str(caught.value)


def test_comments_and_ends_of_lines_of_other_systems_are_taken():
    text = "# reviewed\n\n" + damaged().replace("\n", "\r\n")
    assert not differences(apply_patch(text, program()), program(CHANGE))


def test_a_line_that_a_reviewer_writes_need_not_look_like_a_printed_one():
    text = damaged(("+    y = scale(X=d, scale=3.0)", "+    y = scale(X = d, scale = 3)  # more"))
    assert not differences(apply_patch(text, program()), program(CHANGE))


def test_variables_whose_names_hold_anything_are_patched():
    before = program()
    after = before.clone()
    after.global_block().create_var(name='a\n`--- "\\\u2028 # ', shape=[1], dtype="float32")
    assert not differences(apply_patch(str(make_patch(before, after)), before), after)


def test_a_program_of_equal_lines_is_compared_in_time():
    line = "    a = relu(X=x)\n"
    before = program((line, line * 3000))
    after = program(
        (line, line * 1500 + "    a = exp(X=x)\n" + line * 1400 + "    a = tanh(X=x)\n")
    )
    assert not differences(apply_patch(make_patch(before, after), before), after)
