"""``fluidlite certify`` writes certificates and checks them."""

import json

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.command_line.cli import main


@pytest.fixture
def path(tmp_path):
    x = fluid.data("x", [None, 4], "float32")
    label = fluid.data("label", [None, 1], "int64")
    cost = fluid.layers.softmax_with_cross_entropy(fluid.layers.fc(x, 3, act="relu"), label)
    fluid.append_backward(fluid.layers.mean(cost))
    file = tmp_path / "train.txt"
    file.write_text(str(fluid.default_main_program()))
    return file


def test_a_certificate_is_written_and_holds(path, tmp_path, capsys):
    report = tmp_path / "report"
    assert main(["certify", str(path), "-o", str(report)]) == 0
    assert capsys.readouterr().out == "certified: 7 gradients are the derivative\n"
    assert main(["certify", "--check", str(report), str(path)]) == 0
    assert main(["certify", "--check", str(report), "--seed", "9", str(path)]) == 0


def test_a_wrong_gradient_has_a_status_of_its_own(path, tmp_path, capsys):
    report = tmp_path / "report"
    main(["certify", str(path), "-o", str(report)])
    path.write_text(
        path.read_text().replace("relu_grad(Out=fc_0.tmp_2", "relu_grad(Out=fc_0.tmp_1")
    )
    assert main(["certify", str(path)]) == 0  # where one is above zero so is the other
    path.write_text(path.read_text().replace("relu_grad(", "sigmoid_grad("))
    assert main(["certify", str(path)]) == 1
    assert "sigmoid_grad" in capsys.readouterr().out
    assert main(["certify", "--check", str(report), str(path)]) == 1
    assert "of another program" in capsys.readouterr().err


def test_what_is_not_certified_has_a_status_of_its_own(path, capsys):
    path.write_text(path.read_text().replace("= relu(", "= unknown_relu("))
    text = path.read_text().replace("fc_0.tmp_2 = unknown", "{Out=fc_0.tmp_2} = unknown")
    path.write_text(text)
    assert main(["certify", str(path)]) == 3
    assert "certified in part" in capsys.readouterr().out


def test_the_result_is_to_be_had_for_scripts(path, tmp_path, capsys):
    np.save(tmp_path / "label.npy", np.array([[2], [1]]))
    words = ["--feed", f"label=@{tmp_path / 'label.npy'}", "--json"]
    assert main(["certify", str(path), *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ok"]
    assert found["gradients"][0]["method"] == "field"


def test_bad_words_are_trouble(path, tmp_path, capsys):
    assert main(["certify", str(path), "--no-grad", "nobody"]) == 2
    assert "has no variable 'nobody'" in capsys.readouterr().err
    assert main(["certify", str(path), "--feed", "label"]) == 2
    assert "expected --feed NAME=VALUE, got 'label'" in capsys.readouterr().err
    (tmp_path / "nothing").write_text("nothing")
    assert main(["certify", "--check", str(tmp_path / "nothing"), str(path)]) != 0
