"""The pipeline: passes by name, left out, and looked at."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from graphs import graph

import fluidlite as fluid
from fluidlite.command_line.cli import main
from fluidlite.errors import ArgumentError
from fluidlite.inspect.graph_text import printed
from fluidlite.opdef.definition import find
from fluidlite.runtime.passes import pipeline
from fluidlite.runtime.passes.form import differing_in
from fluidlite.runtime.passes.pipeline import PIPELINE, names, selected

layers = fluid.layers


def network():
    """A small classifier that is trained: its loss and what is fed."""
    main_program = fluid.default_main_program()
    main_program.random_seed = fluid.default_startup_program().random_seed = 3
    x, label = fluid.data("x", [None, 6], "float32"), fluid.data("label", [None, 1], "int64")
    hidden = x
    for _ in range(4):
        hidden = layers.fc(hidden, 6, act="relu", param_attr="w", bias_attr="b")
    guess = layers.fc(hidden, 3, act="softmax")
    loss = layers.mean(layers.cross_entropy(guess, label))
    fluid.optimizer.Adam(0.1).minimize(loss)
    rng = np.random.default_rng(0)
    feed = {"x": rng.normal(size=[8, 6]).astype("float32"), "label": rng.integers(0, 3, [8, 1])}
    return loss, feed


def trained(loss, feed, **how):
    """The losses of some steps, and the plan."""
    exe, scope = fluid.Executor(**how), fluid.Scope()
    exe.run(fluid.default_startup_program(), scope=scope)
    losses = [exe.run(feed=feed, fetch_list=[loss], scope=scope)[0].item() for _ in range(5)]
    return losses, exe.plan(fetch_list=[loss])


def test_all_passes_run_unless_something_else_is_said(monkeypatch):
    monkeypatch.delenv("FLUIDLITE_PASSES", raising=False)
    assert selected() == PIPELINE
    monkeypatch.setenv("FLUIDLITE_PASSES", "-gemm_batching, -dead_code")
    left = {each.name for each in selected()}
    assert left == set(names()) - {"gemm_batching", "dead_code"}


@pytest.mark.parametrize("name", names())
def test_every_pass_has_tests_by_itself(name):
    sources = Path(__file__).with_name("passes").glob("test_*.py")
    text = " ".join(path.read_text(encoding="utf-8") for path in sources)
    assert re.search(rf"(rewrites|after)\(\s*{name.upper()},", text), "graphs as text, in and out"


def test_passes_name_no_type_of_operator():
    folder = Path(pipeline.__file__).parent
    for path in folder.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        assert not {text for text in texts if type(text) is str and find(text)}, path.name


def test_passes_may_run_alone_and_kernels_are_always_selected():
    assert [each.name for each in selected("scheduling")] == ["scheduling", "kernel_selection"]
    assert [each.name for each in selected("none")] == ["kernel_selection"]


@pytest.mark.parametrize(
    "wish, message",
    [
        ("-gem_batching", "'-gem_batching'; did you mean 'gemm_batching'"),
        ("-kernel_selection", "every plan needs it"),
    ],
)
def test_a_pass_that_is_not_there_or_is_needed_is_refused(wish, message):
    with pytest.raises(ArgumentError, match=message):
        fluid.Executor(passes=wish)


def test_a_pass_that_is_not_exact_states_its_rounding():
    for each in PIPELINE:
        assert each.exact != ("Rounding:" in (each.run.__doc__ or "")), each.name


def test_a_pass_is_skipped_where_nothing_changed_since_it_ran():
    ran = []
    counting = pipeline.Pass("counting", lambda graph, context: bool(ran.append(1)))
    pipeline.run(graph('%0: float32[2] = input "x"\nreturn "y"=%0'), None, [counting] * 3)
    assert len(ran) == 1


def test_a_pass_is_skipped_where_no_operator_concerns_it():
    ran = []
    adding = pipeline.Pass(
        "adding", lambda graph, context: bool(ran.append(1)), concerns=differing_in("adds_all")
    )
    without = '%0: float32[2] = input "x"\n%1: float32[2] = relu(X=%0)\nreturn "y"=%1'
    pipeline.run(graph(without), None, [adding])
    assert not ran
    pipeline.run(graph(without.replace("relu(X=%0)", "sum(X=[%0, %0])")), None, [adding])
    assert len(ran) == 1


@pytest.mark.parametrize("name", [n for n in names() if n not in pipeline.NEEDED])
def test_training_without_a_pass_is_the_same(name):
    loss, feed = network()
    expected, _ = trained(loss, feed)
    found, plan = trained(loss, feed, passes=f"-{name}")
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert name not in [stage.name for stage in plan.stages]


def test_stages_show_the_graph_behind_each_pass_that_changed_it():
    loss, feed = network()
    _, plan = trained(loss, feed)
    stages = {stage.name: stage for stage in plan.stages}
    assert next(iter(stages)) == "lower"
    assert {"operator_fusion", "multi_tensor", "kernel_selection"} <= set(stages)
    assert "place_label" in stages["lower"].text
    fused = str(stages["operator_fusion"])
    assert fused.startswith("== operator_fusion\n-%") and "as softmax_grad.place_label" in fused
    assert printed(plan.items[0].last.graph) == plan.stages[-1].text


def test_a_graph_is_verified_behind_each_pass_of_a_checked_run(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_CHECK", "1")

    def tear(graph, context):
        next(iter(graph)).result.users.clear()
        return True

    monkeypatch.setattr(pipeline, "PIPELINE", (pipeline.Pass("tearing", tear), *PIPELINE))
    x = fluid.data("x", [2], "float32")
    out, exe = layers.tanh(layers.relu(x)), fluid.Executor()
    feed = {"x": np.ones(2, "float32")}
    exe.run(feed=feed, fetch_list=[out])
    with pytest.warns(RuntimeWarning, match="tearing: .*does not know"):
        exe.run(feed=feed, fetch_list=[out])


@pytest.fixture
def saved(tmp_path):
    """The folder of an inference model."""
    x = fluid.data("x", [None, 1, 8, 8], "float32")
    out = layers.fc(layers.pool2d(layers.conv2d(x, 4, 3, act="relu"), 2, "max", 2), 3)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(tmp_path / "model"), ["x"], [out], exe)
    return str(tmp_path / "model")


def test_the_command_plan_prints_passes_kernels_and_buffers(saved, capsys):
    assert main(["plan", saved, "--batch-size", "64"]) == 0
    text = capsys.readouterr().out
    assert "== lower\n%0: float32[64, 1, 8, 8]" in text and "== activation_sinking" in text
    assert "== kernels" in text and "conv2d" in text.partition("== kernels")[2]
    assert "== buffers\nb" in text and "everything: " in text


def test_the_command_plan_takes_passes_and_may_leave_stages_out(saved, capsys):
    assert main(["plan", saved, "--no-stages", "--passes=-activation_sinking"]) == 0
    text = capsys.readouterr().out
    assert "== lower" not in text and text.startswith("== kernels")
    assert main(["plan", saved, "--passes=-nothing"]) == 1
    assert "expected names of passes" in capsys.readouterr().err
