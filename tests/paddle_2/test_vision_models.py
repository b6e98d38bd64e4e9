"""Models of ``paddle.vision``: made of what those of paddle 2.6.2 are, and computing the same."""

import importlib
import json

import numpy as np
import pytest
import vision_models as models

from fluidlite import compat, paddle
from fluidlite.errors import ArgumentError, FileError, FluidError
from fluidlite.paddle.vision.models import resnet, vgg, weights

RECORDED = json.loads(models.RECORDED.read_text())
#: those whose making takes a while are compared by tests/aids/vision_models.py
QUICK = [name for name, (count, _) in RECORDED["structures"].items() if count < 300]


def test_all_models_are_recorded():
    assert [*RECORDED["structures"]] == models.LISTED and len(models.LISTED) == 39


def test_weights_have_the_names_and_shapes_of_those_of_paddle():
    build = paddle.vision.models
    with paddle.LazyGuard():
        made = {name: models.made_of(getattr(build, name)()) for name in QUICK}
    assert made == {name: RECORDED["structures"][name] for name in QUICK}


@pytest.mark.parametrize("name", RECORDED["results"])
def test_models_compute_what_those_of_paddle_do(name):
    options, size = models.SMALL[name]
    net = models.with_drawn_weights(getattr(paddle.vision.models, name)(**options))
    results = models.computed(net, name, size)
    for (shape, values), (right_shape, right) in zip(results, RECORDED["results"][name]):
        assert shape == right_shape
        np.testing.assert_allclose(values, right, rtol=1e-5, atol=1e-5)


def test_a_model_learns_through_all_its_layers():
    net = paddle.vision.models.squeezenet1_1(num_classes=3)
    net(paddle.rand([1, 3, 40, 40])).sum().backward()
    assert all(each.grad is not None for each in net.parameters())


def test_the_sentence_about_weights_says_where_their_file_belongs(tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "WEIGHTS_HOME", str(tmp_path))
    with pytest.raises(FileError, match=r"mobilenet_v2_x0\.35\.pdparams: expected the weights"):
        paddle.vision.models.mobilenet_v2(pretrained=True, scale=0.35)
    with pytest.raises(FileError, match=r"vgg11_bn\.pdparams.*put the file there"):
        with paddle.LazyGuard():
            paddle.vision.models.vgg11(pretrained=True, batch_norm=True)


def test_weights_of_a_file_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "WEIGHTS_HOME", str(tmp_path))
    saved = paddle.vision.models.squeezenet1_1()
    paddle.save(saved.state_dict(), str(tmp_path / "SqueezeNet1_1_pretrained.pdparams"))
    read = paddle.vision.models.squeezenet1_1(pretrained=True)
    for one, other in zip(saved.parameters(), read.parameters()):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.parametrize(
    "build, words",
    [
        (lambda build: build.DenseNet(100), r"\[121, 161, 169, 201, 264\], got 100"),
        (lambda build: build.ResNet(resnet.BasicBlock, 19), "got 19"),
        (lambda build: build.ShuffleNetV2(0.75), "got 0.75"),
        (lambda build: build.ShuffleNetV2(act="gelu"), "'gelu'"),
        (lambda build: build.SqueezeNet("1.2"), "'1.2'"),
        (lambda build: resnet.BasicBlock(3, 3, dilation=2), "dilation=1"),
    ],
)
def test_what_no_model_is_made_of_is_refused(build, words):
    with pytest.raises(ArgumentError, match=words):
        build(paddle.vision.models)


def test_a_model_refuses_words_that_its_class_does_not_know():
    with pytest.raises(TypeError, match="depths"):
        paddle.vision.models.resnet18(depths=3)


def test_a_model_says_what_images_it_expects():
    with pytest.raises(FluidError, match="channels"):
        paddle.vision.models.LeNet()(paddle.ones([1, 3, 28, 28]))


def test_functions_show_what_they_take():
    function = paddle.vision.models.resnet18
    assert function.__name__ == "resnet18" and "18 layers" in function.__doc__
    assert "pretrained: read" in paddle.vision.models.mobilenet_v1.__doc__


def test_rows_of_vgg_are_made_of_a_list():
    layers = vgg.make_layers([4, "M", 8], batch_norm=True)
    kinds = [type(layer).__name__ for layer in layers]
    plain = ["Conv2D", "BatchNorm2D", "ReLU"]
    assert kinds == [*plain, "MaxPool2D", *plain]


def test_blocks_of_models_are_imported_from_their_modules():
    compat.install(force=True)
    try:
        blocks = importlib.import_module("paddle.vision.models.resnet")
        rows = importlib.import_module("paddle.vision.models.vgg")
    finally:
        compat.uninstall()
    assert (blocks.BasicBlock, rows.make_layers) == (resnet.BasicBlock, vgg.make_layers)
