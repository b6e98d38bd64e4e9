"""The commands that change models write them at once or not at all."""

import base64
import gzip
import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.command_line.cli import main
from fluidlite.command_line.completion import SHELLS
from fluidlite.transform.saved_models import read_model

PADDLE3 = Path(__file__).parents[1] / "data" / "paddle_3" / "programs.json.gz"
COMMANDS = ["cut", "rename", "set-attr", "replace", "merge", "transform", "verify", "apply"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """One model in its forms."""
    folder = tmp_path_factory.mktemp("models")
    main, startup = fluid.Program(), fluid.Program()
    startup.random_seed = 1
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        x = fluid.data("x", [None, 3], "float32")
        h = fluid.layers.fc(x, 4, act="relu")
        t = fluid.layers.tanh(h)
        y = fluid.layers.fc(h, 2)
        exe = fluid.Executor()
        with fluid.scope_guard(fluid.Scope()):
            exe.run(startup)
            ends = (["x"], [y, t], exe, main)
            fluid.io.save_inference_model(folder / "model", *ends)
            fluid.io.save_inference_model(folder / "combined", *ends, params_filename="params")
            fluid.save(main, os.fspath(folder / "state/net"))
    fluid.io.convert(folder / "model", folder / "pd/net.pdmodel")
    fluid.io.convert(folder / "model", folder / "net.txt")
    return folder


@pytest.fixture
def models(written, tmp_path, monkeypatch):
    """Those, in the working directory."""
    monkeypatch.chdir(shutil.copytree(written, tmp_path / "here"))


FORMS = ["model", "model/__model__", "combined", "pd/net.pdmodel", "pd/net", "pd", "net.txt"]


def files(folder="."):
    return {str(p): p.read_bytes() for p in sorted(Path(folder).rglob("*")) if p.is_file()}


def refused(capsys, *words, status=1):
    """What a command complains of that changes no file."""
    before = files()
    capsys.readouterr()
    assert main([*words]) == status
    assert files() == before
    return capsys.readouterr().err


def results(path, feed="x"):
    model = read_model(path)
    with fluid.scope_guard(model.scope()):
        return fluid.Executor().run(model.program, feed={feed: np.ones([2, 3], "float32")})


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_examples(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert "examples:" in capsys.readouterr().out
    assert all(main(["completion", shell]) == 0 for shell in SHELLS)
    assert capsys.readouterr().out.count(command) >= len(SHELLS)


@pytest.mark.parametrize("command", [c for c in COMMANDS if c != "verify"])
def test_nothing_is_written_where_no_target_is_named(models, command, capsys):
    words = {"cut": ["--outputs", "x"], "replace": ["a", "b"], "set-attr": ["relu", "a=1"]}
    before = files()
    with pytest.raises(SystemExit) as ended:
        main([command, "model", *words.get(command, ["x=y"])])
    assert ended.value.code == 2
    assert "one of the arguments -o/--output --in-place is required" in capsys.readouterr().err
    assert files() == before


# -- forms -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_changed_in_place(models, form, capsys):
    before, names = results("model"), {*files()}
    assert main(["rename", form, "x=image", "fc_0.w_0=weight", "--in-place", "--check"]) == 0
    assert "save_infer_model/scale_0.tmp_0: equal" in capsys.readouterr().out
    changed = {
        name.replace("fc_0.w_0", "weight") if form.startswith("model") else name for name in names
    }
    assert {*files()} == changed
    assert main(["verify", form]) == 0
    if form != "net.txt":
        after = results(form, "image")
        assert all(map(np.array_equal, before, after))
        assert main(["rename", form, "image=x", "weight=fc_0.w_0", "--in-place"]) == 0
        assert {*files()} == names


@pytest.fixture
def of_paddle3(tmp_path, monkeypatch):
    """A model of Paddle 3, in the working directory."""
    monkeypatch.chdir(tmp_path)
    model = json.loads(gzip.decompress(PADDLE3.read_bytes()))["nn_Dw"]
    Path("net.json").write_text(model["program"], encoding="utf-8")
    Path("net.pdiparams").write_bytes(base64.b64decode(model["values"]))


@pytest.mark.parametrize(
    "words, said",
    [
        (["net", "--in-place"], "write the changed one in the form of Paddle 2 .*-o NAME.pdmodel"),
        (["net.json", "--in-place"], "is a program of Paddle 3, a form that is read and not"),
        (["net", "-o", "net.json"], "net.json is what was read; write it elsewhere\n"),
        (["net", "-o", "other.json"], "'other.json' names a program of Paddle 3, a form that"),
        (["net", "-o", "net.pdmodel"], "overwrite those of the model that was read"),
    ],
)
def test_a_model_of_paddle_3_is_written_in_another_form_only(of_paddle3, words, said, capsys):
    output = read_model("net").program.global_block().ops[-1].input("X")[0]
    status = 1 if "other.json" in words else 2
    message = refused(capsys, "rename", *words, f"{output}=y", status=status)
    assert re.search(said, message)
    assert main(["rename", "net", f"{output}=y", "-o", "other.pdmodel"]) == 0
    assert main(["verify", "net", "other"]) == 0


@pytest.mark.parametrize("form", ["model", "combined", "pd/net", "net.txt"])
def test_each_form_is_written_in_each_format(models, form):
    before = files()
    for target in ("1/", "2/net.pdmodel", "3/__model__", "4.txt"):
        assert main(["rename", form, "x=image", "-o", target]) == 0
        assert "image" in read_model(target).program.global_block().vars
        if "txt" not in form + target:
            assert all(map(np.array_equal, results("model"), results(target, "image")))
    made = files()
    assert {name: made[name] for name in before} == before


@pytest.mark.parametrize(
    "form, target",
    [
        ("model", "model"),
        ("model/", "./model/"),
        ("model/__model__", "model/"),
        ("model", "model/__model__"),
        ("pd/net", "pd/net.pdmodel"),
        ("net.txt", "./net.txt"),
    ],
)
def test_what_was_read_is_not_written_over(models, form, target, capsys):
    error = refused(capsys, "rename", form, "x=image", "-o", target, status=2)
    assert "is what was read; write it elsewhere, or say --in-place" in error


def test_a_link_to_what_was_read_is_not_written_over(models, capsys):
    Path("link.txt").symlink_to("net.txt")
    assert "is what was read" in refused(
        capsys, "rename", "net.txt", "x=image", "-o", "link.txt", status=2
    )


def test_targets_without_room_for_a_program_are_refused(models, capsys):
    words = ["rename", "model", "x=image", "-o"]
    assert "has no room for a program" in refused(capsys, *words, "a.npz", status=2)
    assert "take one of .pdmodel" in refused(capsys, *words, "a.what")


def test_nothing_is_put_beside_files_that_are_found_by_being_alone(models, capsys):
    words = ["rename", "combined", "x=image", "-o"]
    assert "lies in the folder of combined" in refused(capsys, *words, "combined/part/", status=2)
    assert "lies in the folder of combined" in refused(capsys, *words, "combined/a.txt", status=2)
    assert main(["rename", "pd/net", "x=image", "-o", "pd/other.pdmodel"]) == 0
    assert main(["verify", "pd/net", "pd/other", "combined"]) == 0


@pytest.mark.parametrize(
    "name, status, says",
    [
        ("__model__", 2, "model/__model__ is there, and is no value"),
        ("notes/read.me", 2, "model/notes/read.me is there, and is no value"),
        ("../net.txt", 1, "expected the name of a file inside model"),
        ("/net.txt", 1, "expected the name of a file inside model"),
    ],
)
def test_values_take_the_place_of_no_other_file(models, name, status, says, capsys):
    Path("model/notes").mkdir()
    Path("model/notes/read.me").write_text("keep me")
    words = ["rename", "model", f"fc_0.w_0={name}"]
    assert says in refused(capsys, *words, "--in-place", status=status)
    if not name.startswith("notes"):
        refused(capsys, *words, "-o", "made/")


def test_values_that_change_their_names_with_each_other_are_written(models):
    before = read_model("model").values
    assert main(["rename", "model", "fc_0.b_0=fc_1.b_0", "fc_1.b_0=fc_0.b_0", "--in-place"]) == 0
    after = read_model("model").values
    assert np.array_equal(after["fc_0.b_0"], before["fc_1.b_0"])
    assert np.array_equal(after["fc_1.b_0"], before["fc_0.b_0"])
    assert main(["verify", "model", "--check"]) == 0


def test_a_target_that_cannot_be_written_leaves_nothing(models, capsys):
    words = ["rename", "model", "x=image", "-o"]
    assert "cannot write" in refused(capsys, *words, "net.txt/made/")
    assert not list(Path().rglob("*.partial"))


def test_a_training_state_is_not_changed_in_place(models, capsys):
    words = ["rename", "state/net", "x=image"]
    assert "holds more than a program" in refused(capsys, *words, "--in-place", status=2)
    assert main([*words, "-o", "made/"]) == 0


def test_what_is_no_program_is_refused(models, capsys):
    np.save("a.npy", np.zeros(2))
    assert "expected a program, found npy" in refused(
        capsys, "rename", "a.npy", "x=y", "-o", "b.txt"
    )


# -- cut, rename, set-attr, replace ----------------------------------------------------------------


def test_cut_writes_a_part_with_its_values(models, capsys):
    words = ["cut", "model", "--inputs", "fc_0.tmp_1", "--outputs", "fc_1.tmp_0", "-o", "part/"]
    assert main([*words, "--check"]) == 0
    assert capsys.readouterr().out == (
        "check: fc_1.tmp_0: equal\nwrote part/: 4 operators, 1 variable with values\n"
    )
    assert {*files("part")} == {"part/__model__", "part/fc_1.w_0"}


def test_a_cut_that_leaves_an_input_out_names_who_reads_it(models, capsys):
    words = ["cut", "model", "--inputs", "fc_1.tmp_0", "--outputs", "tanh_0.tmp_0", "-o", "part/"]
    error = refused(capsys, *words)
    assert "'x', read by" in error
    assert "mul" in error


def test_rename_takes_a_map_in_a_file(models, capsys):
    Path("names.json").write_text(json.dumps({"x": "image", "fc_0.w_0": "w"}))
    assert main(["rename", "model", "-o", "made/", "--check", "@names.json"]) == 0
    assert "made/w" in files("made")
    Path("names.json").write_text("[1, 2]")
    words = ["rename", "model", "@names.json", "-o", "made/"]
    assert "expected an object of JSON" in refused(capsys, *words, status=2)
    Path("names.json").write_text("[" * 100_000)
    assert "expected an object of JSON" in refused(capsys, *words, status=2)
    words = ["rename", "model", "-o", "made/"]
    assert "expected OLD=NEW, got 'x'" in refused(capsys, *words, "x", status=2)
    both = refused(capsys, *words, "x=one", "x=other", status=2)
    assert "'x' has two new names, 'one' and 'other'" in both


def test_renaming_onto_a_name_that_is_there_changes_nothing(models, capsys):
    assert "fc_0.b_0" in refused(capsys, "rename", "model", "fc_0.w_0=fc_0.b_0", "--in-place")
    assert "nobody" in refused(capsys, "rename", "model", "nobody=x2", "--in-place")


def test_set_attr_changes_operators_and_says_how_outputs_differ(models, capsys):
    words = ["set-attr", "model", "scale", "scale=3.0", "-o", "made/"]
    assert main([*words, "--check"]) == 0
    assert "scale_0.tmp_0: differs by up to" in capsys.readouterr().out
    assert results("made")[0].tolist() == (results("model")[0] * 3).tolist()
    Path("made").rename("other")
    assert "nothing was written: outputs differ by more than 0.001" in refused(
        capsys, *words, "--within", "1e-3"
    )
    assert main(["set-attr", "model", "scale", "scale=1.0", "--in-place", "--within", "0"]) == 0


@pytest.mark.parametrize(
    "words, says",
    [
        ("cut model --inputs x --outputs fc_0.tmp_2", "cut: left out"),
        ("rename model fc_0.tmp_2=hidden", "rename: "),
        ("set-attr model scale scale=3.0", "scale: set_attributes: "),
        ("merge model model", "merge: "),
    ],
)
def test_a_change_is_explained_operator_by_operator(models, words, says, capsys):
    assert main([*words.split(), "-o", "made/", "--explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2].endswith("operators changed") and lines[-1].startswith("wrote")
    assert any(says in line for line in lines)


def test_set_attr_finds_operators_by_type_position_and_output(models):
    for where, position in (("relu", 3), ("3", 3), ("0:3", 3), ("fc_0.tmp_2", 3)):
        assert main(["set-attr", "model", where, "op_device=cpu", "-o", "made/"]) == 0
        devices = [op.device for op in read_model("made").program.global_block().ops]
        assert [k for k, device in enumerate(devices) if device] == [position]


def test_set_attr_takes_values_of_every_kind(models):
    words = ["set-attr", "net.txt", "scale", "-o", "made.txt"]
    assert main([*words, "scale=2", "bias_after_scale=false", "op_namescope=/here/"]) == 0
    op = next(o for o in read_model("made.txt").program.global_block().ops if o.type == "scale")
    assert (op.attr("scale"), op.attr("bias_after_scale"), op.namescope) == (2.0, False, "/here/")
    assert main(["set-attr", "made.txt", "scale", "op_device=cpu", "--in-place"]) == 0
    assert main(["set-attr", "made.txt", "scale", "op_device=", "--in-place"]) == 0
    assert not any(op.device for op in read_model("made.txt").program.global_block().ops)


def test_wrong_attributes_change_nothing(models, capsys):
    words = ["set-attr", "model", "scale"]
    assert "scale" in refused(capsys, *words, "scale=much", "--in-place")
    assert "nothing" in refused(capsys, *words, "nothing=1", "--in-place")
    assert "gelu" in refused(capsys, "set-attr", "model", "gelu", "scale=1", "--in-place")


def test_replace_reads_another_variable(models, capsys):
    words = ["replace", "model", "fc_0.tmp_2", "fc_0.tmp_1", "-o", "made/", "--check"]
    assert main(words) == 0
    ops = read_model("made").program.global_block().ops
    assert [op.input("X")[0] for op in ops if op.type == "mul"][1] == "fc_0.tmp_1"
    assert "shape" in refused(capsys, "replace", "model", "fc_0.tmp_2", "x", "--in-place")


# -- patches ---------------------------------------------------------------------------------------


def patch_of(*words, name="x.patch"):
    assert main(["set-attr", "model", *words, "-o", "after/"]) == 0
    assert main(["diff", "model", "after", "-o", name]) == 1
    return name


def test_a_patch_is_made_applied_and_taken_back(models, capsys):
    patch_of("scale", "scale=3.0")
    capsys.readouterr()
    assert main(["diff", "--patch", "model", "after"]) == 1
    assert capsys.readouterr().out == Path("x.patch").read_text()
    assert main(["diff", "--patch", "model", "after", "-o", "again.patch"]) == 1
    assert capsys.readouterr().out == "wrote again.patch: 1 change\n"
    assert main(["apply", "x.patch", "model", "-o", "made/"]) == 0
    assert files("made").keys() == {name.replace("model", "made", 1) for name in files("model")}
    assert all(map(np.array_equal, results("made"), results("after")))
    assert main(["apply", "x.patch", "made", "--reverse", "--in-place"]) == 0
    assert all(map(np.array_equal, results("made"), results("model")))
    assert main(["diff", "--patch", "made", "model"]) == 0
    changed_value("fc_1.b_0", 1, "other")
    capsys.readouterr()
    assert main(["diff", "--patch", "model", "other"]) == 1
    assert "values differ, which no patch holds: fc_1.b_0" in capsys.readouterr().err
    assert "leave out --json" in refused(
        capsys, "diff", "--patch", "--json", "made", "model", status=2
    )
    assert "cannot read" in refused(capsys, "diff", "--patch", "made", "nowhere", status=2)


def test_the_check_of_a_patch_feeds_a_renamed_input_what_the_old_one_got(models, capsys):
    assert main(["rename", "model", "x=image", "-o", "after/"]) == 0
    assert main(["diff", "model", "after", "-o", "x.patch"]) == 1
    capsys.readouterr()
    assert main(["apply", "x.patch", "model", "-o", "made/", "--within", "1e-6"]) == 0
    assert "equal" in capsys.readouterr().out


def test_a_patch_on_another_program_writes_nothing(models, capsys):
    patch_of("scale", "scale=3.0")
    assert main(["rename", "model", "fc_1.tmp_1=sum", "-o", "other/"]) == 0
    error = refused(capsys, "apply", "x.patch", "other", "--in-place")
    assert "does not fit: expected" in error
    assert "found" in error
    assert "applied before" in refused(capsys, "apply", "x.patch", "after", "-o", "made/")
    error = refused(capsys, "apply", "x.patch", "other", "--exact", "-o", "made/")
    assert "expected the program of 1 block" in error
    assert "line 1 of the patch" in refused(capsys, "apply", "net.txt", "model", "-o", "made/")


def test_a_patch_is_not_written_over(models, capsys):
    patch_of("scale", "scale=3.0", name="patch.txt")
    assert "is what was read" in refused(
        capsys, "apply", "patch.txt", "model", "-o", "./patch.txt", status=2
    )


def test_values_of_added_parameters_come_from_a_file(models, capsys):
    text = Path("net.txt").read_text()
    line = "    fc_1.tmp_0 = "
    added = "    fc_0.tmp_2 = elementwise_add(X=fc_0.tmp_2, Y=more)\n"
    text = text.replace("    var feed:", "    var more: float32[4] persistable\n    var feed:")
    Path("after.txt").write_text(text.replace(line, added + line))
    assert main(["diff", "net.txt", "after.txt", "-o", "x.patch"]) == 1
    words = ["apply", "x.patch", "model", "-o", "made/"]
    assert "values model does not hold: 'more'; give them by --values" in refused(capsys, *words)
    np.savez("few.npz", more=np.zeros(5, "float32"))
    assert "has the shape [5], declared is [4]" in refused(capsys, *words, "--values", "few.npz")
    np.savez("wide.npz", more=np.zeros(4))
    assert "is of float64, declared is float32" in refused(capsys, *words, "--values", "wide.npz")
    np.savez("more.npz", more=np.ones(4, "float32"))
    assert main([*words, "--values", "more.npz", "--check"]) == 0
    assert read_model("made").values["more"].tolist() == [1.0] * 4


# -- merging ---------------------------------------------------------------------------------------


def test_two_models_are_merged_with_their_values(models, capsys):
    assert main(["rename", "model", "fc_0.w_0=w", "-o", "other/"]) == 0
    assert main(["merge", "model", "other", "-o", "both/", "--check"]) == 0
    out = capsys.readouterr().out
    assert out.count("scale_0.tmp_0: equal") == 2
    assert {"both/w", "both/fc_0.w_0", "both/fc_1.w_0"} <= files("both").keys()
    assert main(["merge", "model", "other", "--shared", "w=fc_0.w_0", "x", "-o", "one/"]) == 0
    assert "one/w" not in files("one")


def test_a_chain_of_models_is_merged(models, capsys):
    first = ["cut", "model", "--inputs", "x", "--outputs", "fc_0.tmp_1", "-o", "first/"]
    second = ["cut", "model", "--inputs", "fc_0.tmp_1", "--outputs", "fc_1.tmp_0", "-o", "second/"]
    assert main(first) == main(second) == 0
    words = ["merge", "first", "second", "--shared", "fc_0.tmp_1", "-o", "both/", "--check"]
    assert main(words) == 0
    assert "fc_1.tmp_0: equal" in capsys.readouterr().out


def test_shared_parameters_that_differ_are_refused(models, capsys):
    changed_value("fc_1.b_0", 1, "other")
    assert "'fc_1.b_0' (by up to 1)" in refused(capsys, "merge", "model", "other", "-o", "both/")
    assert main(["merge", "model", "other", "-o", "both/", "--check", "--shared"]) == 0
    values = read_model("both").values
    assert values["fc_1.b_0_1"].tolist() == (values["fc_1.b_0"] + 1).tolist()
    assert len(values) == 8


def changed_value(name, by, folder):
    fluid.io.convert("model", f"{folder}/")
    model = read_model(folder)
    scope = model.scope()
    scope.var(name).value = model.values[name] + np.float32(by)
    with fluid.scope_guard(scope):
        fluid.io.save_persistables(fluid.Executor(), folder, model.program)


def test_changes_and_values_of_two_people_are_merged(models, capsys):
    changed_value("fc_1.b_0", 1, "ours")
    changed_value("fc_0.b_0", 2, "theirs")
    assert main(["set-attr", "ours", "scale", "scale=2.0", "--in-place"]) == 0
    assert main(["set-attr", "theirs", "scale", "bias=1.0", "--in-place"]) == 0
    assert main(["merge", "--base", "model", "ours", "theirs", "-o", "both/", "--check"]) == 0
    assert main(["merge", "--base", "model", "theirs", "ours", "-o", "again/"]) == 0
    both = read_model("both")
    assert str(both.program) == str(read_model("again").program)
    assert both.values["fc_1.b_0"].tolist() == [1, 1]
    assert both.values["fc_0.b_0"].tolist() == [2, 2, 2, 2]
    op = next(op for op in both.program.global_block().ops if op.type == "scale")
    assert (op.attr("scale"), op.attr("bias")) == (2.0, 1.0)


def test_conflicts_are_listed_and_nothing_is_written(models, capsys):
    changed_value("fc_1.b_0", 1, "ours")
    changed_value("fc_1.b_0", 2, "theirs")
    words = ["merge", "--base", "model", "ours", "theirs"]
    before = files()
    capsys.readouterr()
    assert main([*words, "--in-place"]) == 1
    told = capsys.readouterr()
    assert told.out == (
        "variable 'fc_1.b_0': value\n  base:   float32[2], up to 0\n"
        "  ours:   float32[2], up to 1\n  theirs: float32[2], up to 2\n"
    )
    assert told.err == "fluidlite: 1 conflict; nothing was written\n"
    assert files() == before
    assert "--shared is about two models" in refused(
        capsys, *words, "--shared", "x", "-o", "both/", status=2
    )


# -- verify ----------------------------------------------------------------------------------------


def test_verify_tells_models_that_are_right_from_others(models, capsys):
    assert main(["verify", *FORMS, "--check"]) == 0
    assert capsys.readouterr().out.count("right: 11 operators, 4 variables") == len(FORMS) - 1
    Path("net.txt").write_text(Path("net.txt").read_text().replace("tanh(X=", "tanh(X=y"))
    assert "there is no variable 'yfc_0.tmp_2'" in refused(capsys, "verify", "model", "net.txt")
    Path("model/fc_0.w_0").unlink()
    assert "values are missing of 'fc_0.w_0'" in refused(capsys, "verify", "model")
    assert "cannot read" in refused(capsys, "verify", "nowhere")


def test_verify_sees_values_that_do_not_fit(models, capsys):
    fluid.io.convert("model", "other/")
    Path("other/fc_0.b_0").write_bytes(Path("other/fc_1.b_0").read_bytes())
    assert "has the shape [2], declared is [4]" in refused(capsys, "verify", "other")


# -- effects ---------------------------------------------------------------------------------------


def test_the_check_runs_no_effects(models, capsys):
    text = Path("net.txt").read_text()
    text = text.replace("    fetch = ", '    save(X=x, file_path="stolen.bin")\n    fetch = ', 1)
    Path("evil.txt").write_text(text)
    error = refused(capsys, "rename", "evil.txt", "x=image", "-o", "made.txt", "--check")
    assert "stolen.bin" in error
    assert main(["rename", "evil.txt", "x=image", "-o", "made.txt"]) == 0


# -- models of ONNX --------------------------------------------------------------------------------


def test_models_of_onnx_are_changed(models, capsys):
    pytest.importorskip("onnx")
    assert main(["convert", "model", "net.onnx"]) == 0
    assert main(["rename", "net.onnx", "x=image", "-o", "made.onnx", "--check"]) == 0
    assert main(["rename", "made.onnx", "image=picture", "--in-place", "--check"]) == 0
    assert (
        main(["cut", "made.onnx", "--inputs", "picture", "--outputs", "fc_0.tmp_2", "-o", "p/"])
        == 0
    )
    assert main(["verify", "net.onnx", "made.onnx", "p", "--check"]) == 0
    assert "picture" in read_model("made.onnx").program.global_block().vars


# -- passes ----------------------------------------------------------------------------------------


PASSES = """
from fluidlite import transform

@transform.program_pass
def halved(program, by=0.5):
    for op in program.global_block().ops:
        if op.type == "scale":
            op.set_attr("scale", by)
"""


def test_passes_run_on_a_model(models, capsys):
    before = results("model")
    words = ["transform", "model", "for_test, fold_constants, simplify(exact=True)", "-o", "new/"]
    assert main([*words, "--check", "--stages", "--html", "page.html"]) == 0
    said = capsys.readouterr().out
    assert "== simplify(exact=True)" in said and "equal" in said
    assert all(map(np.array_equal, before, results("new/")))
    assert "<h2>fold_constants</h2>" in Path("page.html").read_text(encoding="utf-8")


def test_passes_of_a_file_run_on_a_model(models, capsys):
    Path("mine.py").write_text(PASSES, encoding="utf-8")
    assert main(["transform", "model", "halved(by=0.25)", "--from", "mine.py", "-o", "new/"]) == 0
    ops = read_model("new/").program.global_block().ops
    assert {op.attr("scale") for op in ops if op.type == "scale"} == {0.25}
    assert "no pass 'halve'" in refused(capsys, "transform", "model", "halve", "-o", "other/")
    Path("empty.py").write_text("", encoding="utf-8")
    words = ["transform", "model", "share", "--from", "empty.py", "-o", "other/"]
    assert "empty.py defines no pass" in refused(capsys, *words, status=2)
