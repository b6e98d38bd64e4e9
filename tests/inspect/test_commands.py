"""The commands draw, summary, diff and run."""

import json

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.command_line.cli import main

from specimens import lenet, lenet_feed


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Texts of a net, its startup program and its test program, in the working directory."""
    monkeypatch.chdir(tmp_path)
    lenet()
    program = fluid.default_main_program()
    test = program.clone(for_test=True)
    for name, each in (
        ("net", program),
        ("startup", fluid.default_startup_program()),
        ("test", test),
    ):
        (tmp_path / f"{name}.txt").write_text(str(each), encoding="utf-8")
    np.save("image.npy", lenet_feed()["image"])
    np.savez("feed.npz", **lenet_feed())
    return tmp_path


@pytest.mark.parametrize("command", ["draw", "summary", "diff", "run"])
def test_each_command_has_help_with_examples(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert "examples:" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name, begins",
    [
        ("page.html", b"<!DOCTYPE html>"),
        ("net.svg", b"<svg"),
        ("net.dot", b"digraph"),
        ("net.mmd", b"flowchart"),
    ],
)
def test_draw_writes_what_the_ending_says(files, name, begins, capsys):
    assert main(["draw", "net.txt", "-o", name, "--max-nodes", "20"]) == 0
    assert (files / name).read_bytes().startswith(begins)
    assert capsys.readouterr().out == f"drew {name}\n"


def test_a_feed_without_a_value_is_a_wrong_use(files, capsys):
    assert main(["run", "test.txt", "--feed", "image"]) == 2
    assert "expected --feed NAME=VALUE, got 'image'" in capsys.readouterr().err


def test_a_feed_that_names_a_file_says_how_files_are_fed(files, capsys):
    assert main(["run", "test.txt", "--feed", "image=image.npy"]) == 1
    assert "for the file of that name write image=@image.npy" in capsys.readouterr().err
    assert main(["run", "test.txt", "--feed", "image=other.npy"]) == 1
    assert "write image=@" not in capsys.readouterr().err


def test_draw_refuses_other_endings(files, capsys):
    assert main(["draw", "net.txt", "-o", "net.gif"]) == 2
    assert "expected the name of an .html" in capsys.readouterr().err


def test_summary_prints_a_table_or_json(files, capsys):
    assert main(["summary", "net.txt", "--batch-size", "4"]) == 0
    assert "multiply-adds at batch size 4" in capsys.readouterr().out
    assert main(["summary", "net.txt", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["operators"]["optimize"] == 6


def test_diff_tells_by_its_status_whether_programs_differ(files, capsys):
    assert main(["diff", "net.txt", "net.txt"]) == 0
    assert capsys.readouterr().out == "no differences\n"
    assert main(["diff", "net.txt", "test.txt", "--html", "d.html"]) == 1
    assert "operators left out" in capsys.readouterr().out
    assert (files / "d.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert main(["diff", "net.txt", "test.txt", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["equal"] and {d["change"] for d in found["differences"]} == {
        "left out",
        "changed",
    }
    assert main(["diff", "net.txt", "image.npy"]) == 2
    assert "expected a program, found npy" in capsys.readouterr().err


def test_run_feeds_and_fetches(files, capsys):
    arguments = ["run", "test.txt", "--startup", "startup.txt", "--feed", "image=@image.npy"]
    arguments += ["--feed", "label=@feed.npz:label", "--fetch", "fc_1.tmp_2", "--json"]
    assert main([*arguments, "--save", "out.npz"]) == 0
    found = json.loads(capsys.readouterr().out)["fc_1.tmp_2"]
    assert found["shape"] == [6, 10] and found["dtype"] == "float32"
    np.testing.assert_allclose(np.load("out.npz")["fc_1.tmp_2"], found["values"], rtol=1e-6)


def test_run_takes_values_from_the_command_line(tmp_path, capsys):
    x = fluid.data("x", [None, 2], "float32")
    y = fluid.layers.scale(x, scale=2.0)
    path = tmp_path / "double.txt"
    path.write_text(str(fluid.default_main_program()))
    assert main(["run", str(path), "--feed", "x=[[1, 2], [3, 4]]", "--fetch", y.name]) == 0
    assert capsys.readouterr().out == f"{y.name} float32[2, 2]\n[[2. 4.]\n [6. 8.]]\n"
    assert main(["run", str(path), "--feed", "x=[[1, 2]]", "--trace"]) == 0
    assert "scale" in capsys.readouterr().out
    assert main(["run", str(path), "--feed", "x=[[1, 2]]"]) == 0
    assert "nothing was fetched" in capsys.readouterr().out


def test_run_serves_a_saved_model(tmp_path, capsys):
    x = fluid.data("x", [None, 2], "float32")
    y = fluid.layers.fc(x, size=3)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(tmp_path / "model"), ["x"], [y], exe)
    (wanted,) = exe.run(feed={"x": np.ones([1, 2], "float32")}, fetch_list=[y])
    assert main(["run", str(tmp_path / "model"), "--feed", "x=[[1, 1]]", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out).values()
    np.testing.assert_allclose(found["values"], wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "feed, message",
    [
        ("imag=1", "no variable 'imag' to feed; did you mean 'image'"),
        ("image=[1,", "expected the value of 'image' to be JSON"),
        ("image=@feed.npz:nothing", "feed.npz holds image, label"),
        ("image=@no.npy", "no.npy"),
    ],
)
def test_bad_feeds_are_refused_with_status_one(files, feed, message, capsys):
    assert main(["run", "test.txt", "--feed", feed]) == 1
    assert message in capsys.readouterr().err
