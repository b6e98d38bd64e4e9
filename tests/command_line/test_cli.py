"""The command ``fluidlite``: show, vars, convert."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.command_line.cli import main

import saved_models


@pytest.fixture
def models(tmp_path, monkeypatch):
    """Files of the real thing, in the working directory."""
    saved_models.unpack(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys, *arguments, code=0):
    assert main(list(arguments)) == code
    out, err = capsys.readouterr()
    assert bool(err) == bool(code)
    return err or out


def test_a_model_is_shown_with_its_program(models, capsys):
    text = said(capsys, "show", "fc/inference")
    assert text.startswith("fc/inference: inference model\n2 variables, 56 bytes\nprogram (seed=0)")
    assert "fc_0.tmp_0 = mul(X=x, Y=fc_0.w_0)" in text
    assert "x_num_col_dims" not in text
    assert "x_num_col_dims=1" in said(capsys, "show", "--detail", "fc/inference")


def test_files_of_variables_are_shown_as_a_table(models, capsys):
    assert said(capsys, "show", "fc/params").splitlines() == [
        "fc/params: variables",
        "2 variables, 56 bytes",
        "fc_0.b_0  float32[1]                -0.134456",
        "fc_0.w_0  float32[13, 1]            -0.313491 to 0.266126, mean -0.13339",
    ]


def test_the_step_of_a_checkpoint_is_shown(models, capsys):
    fluid.layers.create_parameter([2], "float32", name="w")
    fluid.Executor().run(fluid.default_startup_program())
    fluid.checkpoint.save("checkpoints", step=7)
    assert "checkpoint\nstep: 7\n1 variables, 8 bytes\nprogram" in said(
        capsys, "show", "checkpoints"
    )


def test_variables_are_listed(models, capsys):
    lines = said(capsys, "vars", "fc/save").splitlines()
    assert [line.split()[0] for line in lines] == [
        "fc_0.w_0",
        "fc_0.b_0",
        "fc_0.b_0_velocity_0",
        "fc_0.w_0_velocity_0",
        "learning_rate_0",
    ]
    assert "lod=[[0, 2, 3, 6]]" in said(capsys, "vars", "tensors/i64_lod1")
    assert "rows [1, 7, 4] of 9" in said(capsys, "vars", "tensors/selected_rows")


def test_variables_of_a_program_are_listed(models, capsys):
    Path("alone").mkdir()
    Path("alone/net").write_bytes(Path("fc/inference/__model__").read_bytes())
    lines = said(capsys, "vars", "alone/net").splitlines()
    assert "Variable fc_0.w_0: float32[13, 1] persistable" in lines


def test_values_are_printed_by_name(models, capsys):
    np.savez("a.npz", w=np.arange(3), bad=np.array([1, np.nan]), none=np.zeros([0, 2]))
    assert said(capsys, "vars", "a.npz", "w") == "w int64[3]\n[0 1 2]\n"
    assert "1 not finite" in said(capsys, "vars", "a.npz")
    assert "no variable 'v'; it holds w, bad, none" in said(capsys, "vars", "a.npz", "v", code=1)


def test_a_model_is_converted(models, capsys):
    text = said(capsys, "convert", "fc/inference", "fc.npz")
    assert text == "fc/inference: inference model, written to fc.npz, without the program\n"
    said(capsys, "convert", "fc.npz", "all", "--to", "combined")
    assert Path("all").read_bytes() == saved_models.file("fc/inference_combined/params")
    said(capsys, "convert", "fc/inference", "fc.txt")
    assert Path("fc.txt").read_text().startswith("program (seed=0) {")


def test_call_sites_are_stripped_where_it_is_asked_for(models, capsys):
    fluid.layers.fill_constant([1], "float32", 0.0)
    Path("a.pdmodel").write_bytes(fluid.default_main_program().to_bytes(call_sites=True))
    said(capsys, "convert", "a.pdmodel", "b.pdmodel", "--strip")
    assert b"test_cli" in Path("a.pdmodel").read_bytes()
    assert b"test_cli" not in Path("b.pdmodel").read_bytes()


def test_what_is_wrong_is_said_in_a_line(models, capsys):
    assert said(capsys, "show", "nope", code=1) == (
        "fluidlite: cannot read nope: there is no such file or folder; check the path\n"
    )
    assert "does not follow from its ending" in said(capsys, "convert", "fc/save", "x", code=1)
    with pytest.raises(SystemExit):
        main(["convert", "a", "b", "--to", "nonsense"])
    assert "invalid choice" in capsys.readouterr().err


def test_the_package_is_a_command(models):
    root = Path(fluid.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "fluidlite", "vars", str(models / "fc" / "params")],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("fc_0.b_0")
