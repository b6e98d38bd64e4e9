"""Protected names of the classes of fluid 1.8: each is there, or left out with a reason."""

import gzip
import importlib
import json
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.compat.refused import NotServedError, is_refused, refusal
from fluidlite.ground.protected import REFUSED, ProtectedNameError

DATA = Path(__file__).parents[1] / "data" / "protected_names.json.gz"
OF_INSTANCES = DATA.with_name("instance_attributes.json.gz")
#: class -> the names with one underscore that it and its bases have in fluid 1.8.5
NAMES = json.loads(gzip.decompress(DATA.read_bytes()))


def found(path):
    """The class of a path of 1.8; None where it is refused as a whole."""
    parts = path.split(".")
    for k in range(len(parts) - 1, 0, -1):
        try:
            held = importlib.import_module(".".join(parts[:k]))
        except ImportError:
            continue
        try:
            for part in parts[k:]:
                held = getattr(held, part)
        except NotServedError:
            return None
        return None if is_refused(held) else held
    raise AssertionError(f"there is no {path}")


@pytest.mark.parametrize("path", NAMES)
def test_each_protected_name_is_there_or_says_what_to_use(alias, path):
    kind = found(path)
    if kind is None:
        assert "is not in fluidlite" in refusal(*path.rsplit(".", 1))
        return
    for name in NAMES[path]:
        if hasattr(kind, name):
            continue
        with pytest.raises(ProtectedNameError, match=rf"\.{name}: .*; use \w"):
            getattr(kind, name)


def test_the_list_is_that_of_the_whole_of_fluid():
    assert len(NAMES) == 181 and sum(map(len, NAMES.values())) == 1000


def test_no_name_is_left_out_that_fluid_did_not_have():
    attributes = json.loads(gzip.decompress(OF_INSTANCES.read_bytes()))
    known = {name for names in (*NAMES.values(), *attributes.values()) for name in names}
    listed = [n for uses in REFUSED.values() for names in uses.values() for n in names.split()]
    assert set(listed) <= known


@pytest.mark.parametrize(
    "make, name",
    [
        (lambda: fluid.Executor(), "_run_impl"),
        (lambda: fluid.data("x", [2]), "_sliceVar"),
        (lambda: fluid.optimizer.SGD(0.1), "_get_no_grad_set"),
        (lambda: fluid.clip.GradientClipByNorm(1.0), "_process_context"),
        (lambda: fluid.CompiledProgram(fluid.Program()), "_compile"),
    ],
)
def test_an_object_says_it_as_its_class_does(make, name):
    made = make()
    assert not hasattr(made, name)
    with pytest.raises(ProtectedNameError, match=f"{name}: how fluid 1.8 was made inside"):
        getattr(made, name)


def test_what_a_subclass_defines_is_its_own():
    class Mine(fluid.optimizer.SGD):
        def _get_no_grad_set(self, loss, no_grad_set=None):
            return set()

    assert Mine(0.1)._get_no_grad_set(None) == set()
    helper = fluid.layer_helper.LayerHelper("mine")
    assert helper._layer_type == "mine" and helper._name == "mine_0"
    with pytest.raises(AttributeError, match="has no attribute '_nothing'"):
        fluid.data("y", [2])._nothing  # noqa: B018


def test_a_unit_of_ones_own_reads_what_its_base_was_given():
    class Mine(fluid.contrib.layers.BasicGRUUnit):
        def __init__(self, scope, size):
            super().__init__(scope, size, param_attr="w", bias_attr=False)

        def forward(self, input, state):
            assert self._hiden_size == 3 and self._param_attr == "w" and self._bias_attr is False
            return self._gate_activation(fluid.layers.fc(input, self._hiden_size))

    with fluid.program_guard(fluid.Program(), fluid.Program()):
        out = Mine("scope", 3)(fluid.data("x", [None, 4]), None)
    assert out.shape == (-1, 3)


def test_layers_have_their_arguments_as_in_fluid():
    dg = fluid.dygraph
    with dg.guard():
        conv = dg.Conv2D(4, 8, 3, stride=2, groups=4, use_cudnn=False, param_attr="w")
        assert (conv._num_channels, conv._stride, conv._padding) == (4, [2, 2], [0, 0])
        assert conv._l_type == "depthwise_conv2d" and conv._param_attr == "w"
        assert dg.Conv2DTranspose(4, 8, 3)._op_type == "conv2d_transpose"
        pool = dg.Pool2D(2, "max", pool_stride=(2, 1))
        assert (pool._pool_size, pool._pool_stride, pool._l_type) == ([2, 2], (2, 1), "pool2d")
        norm = dg.BatchNorm(3, momentum=0.5)
        assert (norm._momentum, norm._epsilon, norm._fuse_with_relu) == (0.5, 1e-05, False)
        assert dg.Embedding([4, 3])._padding_idx == -1
        assert dg.LayerNorm(6)._normalized_shape == [6]
        assert dg.PRelu("channel", 3)._alpha_shape == [1, 3, 1, 1]
        assert dg.GRUUnit(6)._bias_size == [1, 6]
        assert dg.Dropout(0.3)._dropout_prob == 0.3
        linear = dg.Linear(2, 3)
        assert list(linear._parameters) == ["weight", "bias"]
        assert list(dg.Sequential(linear)._sub_layers) == ["0"]


def test_initializers_and_regularizers_have_their_arguments_as_in_fluid():
    start = fluid.initializer
    normal = start.Normal(1.0, 2.0, 3)
    assert (normal._mean, normal._std_dev, normal._seed) == (1.0, 2.0, 3)
    assert start.Constant(2.0)._value == 2.0 and start.Uniform(-2.0, 3.0)._low == -2.0
    assert (start.NumpyArrayInitializer(np.ones(2))._value == 1).all()
    assert start.Xavier()._compute_fans(fluid.data("w", [5, 6, 2, 3])) == (36, 30)
    assert fluid.regularizer.L2Decay(0.5)._regularization_coeff == 0.5
    assert fluid.clip.GradientClipByNorm(1.0)._need_clip_func is None
    assert fluid.ParamAttr("a")._to_kwargs() == {
        "name": "a",
        "optimize_attr": {"learning_rate": 1.0},
        "regularizer": None,
        "trainable": True,
        "do_model_average": fluid.ParamAttr("a").do_model_average,
    }


def test_accumulators_have_the_names_of_fluid():
    optimizer = fluid.optimizer
    assert optimizer.Adam(0.1)._moment1_acc_str == "moment1"
    assert optimizer.Adam(0.1)._beta2_pow_acc_str == "beta2_pow_acc"
    assert optimizer.Momentum(0.1, 0.9)._velocity_acc_str == "velocity"
    x = fluid.data("x", [None, 2])
    loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    for made in (
        optimizer.Adam(0.1), optimizer.Momentum(0.1, 0.9), optimizer.RMSProp(0.1),
        optimizer.Adagrad(0.1), optimizer.Adadelta(0.1), optimizer.Ftrl(0.1),
    ):  # fmt: skip
        program = fluid.default_main_program().clone()
        with fluid.program_guard(program, fluid.Program()):
            made.minimize(program.global_block().var(loss.name))
        names = [getattr(made, n) for n in dir(type(made)) if n.endswith("_acc_str")]
        (param,) = program.all_parameters()
        assert names and all(made._get_accumulator(name, param) is not None for name in names)


def test_tensors_of_scopes_are_copied_and_lie_on_the_cpu():
    tensor = fluid.create_lod_tensor(np.ones([3, 1], "float32"), [[1, 2]], fluid.CPUPlace())
    copied = tensor._copy(fluid.CPUPlace())
    tensor.set(np.zeros([3, 1], "float32"), fluid.CPUPlace())
    assert np.array(copied).tolist() == [[1.0]] * 3 and copied.lod() == [[0, 1, 3]]
    assert tensor._place() == fluid.CPUPlace()
