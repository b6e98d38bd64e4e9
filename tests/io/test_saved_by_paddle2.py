"""Models and trainings that paddle 2.6 saved compute here what they computed there.

The record has a net for each layer, and trainings by its optimizers.  Where ``FLUIDLITE_PADDLE26``
names a Python with paddlepaddle 2.6.2, all models of ``paddle.vision`` are saved anew, and what is
written here is read there.
"""

import os
import subprocess
import sys
from pathlib import Path

import models_of_paddle2
import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import paddle

JOBS = Path(__file__).parents[1] / "jobs"
PYTHON = os.environ.get("FLUIDLITE_PADDLE26")
needs_paddle = pytest.mark.skipif(
    not PYTHON, reason="FLUIDLITE_PADDLE26 names no Python with paddlepaddle 2.6.2"
)
#: the models that are loaded in every way
SERVED = ["layer.LSTM_deep", "layer.Upsample_bilinear", "layer.TransformerEncoderLayer"]


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    return models_of_paddle2.unpacked(tmp_path_factory.mktemp("saved"))


def named(paths, difference):
    """What differs, by the names of files."""
    found = {Path(path).name: difference(path) for path in paths}
    return {name: wrong for name, wrong in found.items() if wrong}


@pytest.mark.parametrize("beginning", ["A B C", "D E F G H I K", "L M N", "O P R S T U Z"])
def test_the_model_of_each_layer_computes_what_it_did(record, beginning):
    names = [f"layer.{letter}" for letter in beginning.split()]
    assert not named(models_of_paddle2.models(record, *names), models_of_paddle2.difference)


def test_trainings_go_on_as_they_did(record):
    paths = models_of_paddle2.trainings(record)
    assert len(paths) > 8
    assert not named(paths, models_of_paddle2.difference_of_training)


def test_a_program_is_written_as_it_was_read(record):
    for path in sorted(record.glob("*.pdmodel")):
        data = path.read_bytes()
        assert fluid.Program.parse_from_string(data).to_bytes() == data, path.name


def by_fluid(path, feeds):
    executor = fluid.Executor()
    program, names, targets = fluid.io.load_inference_model(path, executor)
    return executor.run(program, feed=dict(zip(names, feeds)), fetch_list=targets)


def by_static(path, feeds):
    executor = paddle.static.Executor()
    program, names, targets = paddle.static.load_inference_model(path, executor)
    return executor.run(program, feed=dict(zip(names, feeds)), fetch_list=targets)


def by_predictor(path, feeds):
    config = paddle.inference.Config(path + ".pdmodel", path + ".pdiparams")
    predictor = paddle.inference.create_predictor(config)
    for name, value in zip(predictor.get_input_names(), feeds):
        predictor.get_input_handle(name).copy_from_cpu(value)
    predictor.run()
    names = predictor.get_output_names()
    return [predictor.get_output_handle(name).copy_to_cpu() for name in names]


@pytest.mark.parametrize("way", [by_fluid, by_static, by_predictor])
def test_a_model_is_served_in_every_way(record, way):
    for name in SERVED:
        path = str(record / name)
        feeds, wanted = models_of_paddle2.known(path)
        for found, right in zip(way(path, feeds), wanted, strict=True):
            assert models_of_paddle2.off(found, right) is None, name


def saved(folder, *parts):
    """What paddle 2.6 saves now."""
    command = [PYTHON, str(JOBS / "saved_by_paddle2.py"), str(folder), *parts]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, env=clean, cwd=folder, capture_output=True, text=True)
    assert done.stdout.endswith("0 failed\n"), done.stdout[-2000:] + done.stderr[-2000:]


@needs_paddle
@pytest.mark.parametrize(
    "part",
    ["layer", "net", "training", "vision.a", "vision.d", "vision.g", "vision.i", "vision.l"]
    + ["vision.m", "vision.resnet", "vision.resnext", "vision.s", "vision.v", "vision.w"],
)
def test_what_paddle_saves_now_computes_what_it_did(tmp_path, part):
    saved(tmp_path, part)
    wrong = named(models_of_paddle2.models(tmp_path), models_of_paddle2.difference)
    paths = models_of_paddle2.trainings(tmp_path)
    assert not wrong | named(paths, models_of_paddle2.difference_of_training)


@needs_paddle
@pytest.mark.filterwarnings("ignore:the model has no variables")
def test_what_is_written_here_paddle_reads(record, tmp_path):
    paths = models_of_paddle2.models(record)
    for path in paths:
        feeds, _ = models_of_paddle2.known(path)
        copy = str(tmp_path / Path(path).name)
        with fluid.scope_guard(fluid.Scope()):
            executor = paddle.static.Executor()
            program, names, targets = paddle.static.load_inference_model(path, executor)
            inputs = [program.global_block().var(name) for name in names]
            options = dict(executor=executor, program=program)
            paddle.static.save_inference_model(copy, inputs, targets, **options)
        np.savez(copy + ".feeds.npz", *feeds)
    command = [PYTHON, str(JOBS / "served_by_paddle2.py"), str(tmp_path)]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, env=clean, cwd=tmp_path, check=True, stdout=sys.stderr)
    lost = [p for p in paths if not (tmp_path / (Path(p).name + ".results.npz")).exists()]
    assert not lost
    for path in paths:
        _, wanted = models_of_paddle2.known(path)
        with np.load(tmp_path / (Path(path).name + ".results.npz")) as results:
            found = [results[name] for name in results.files]
        for one, right in zip(found, wanted, strict=True):
            assert models_of_paddle2.off(one, right) is None, path
