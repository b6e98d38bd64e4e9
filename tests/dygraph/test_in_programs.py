"""Layers that are made outside of ``dygraph.guard()`` are layers of programs."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import dygraph
from fluidlite.errors import ArgumentError


@pytest.fixture(autouse=True)
def fresh():
    with (
        fluid.program_guard(fluid.Program(), fluid.Program()),
        fluid.unique_name.guard(),
        fluid.scope_guard(fluid.Scope()),
    ):
        yield


def data(*shape, dtype="float32"):
    name = f"x_{'_'.join(map(str, shape))}_{dtype}"
    block = fluid.default_main_program().global_block()
    return block.var(name) if block.has_var(name) else fluid.data(name, [None, *shape], dtype)


def image():
    return data(3, 6, 6)


#: what makes a layer and calls it -> parameters, and operators, as in fluid 1.8.5
MADE = {
    "Linear": (
        lambda: dygraph.Linear(4, 3, act="relu")(data(4)),
        {"linear_0.w_0": (4, 3), "linear_0.b_0": (3,)},
        ["matmul linear_0.tmp_0", "elementwise_add linear_0.tmp_1", "relu linear_0.tmp_2"],
    ),
    "Conv2D": (
        lambda: dygraph.Conv2D(3, 4, 3, bias_attr=False)(image()),
        {"conv2d_0.w_0": (4, 3, 3, 3)},
        ["conv2d conv2d_0.tmp_0"],
    ),
    "Conv2DTranspose": (
        lambda: dygraph.Conv2DTranspose(3, 4, 3)(image()),
        {"conv2d_transpose_0.w_0": (3, 4, 3, 3), "conv2d_transpose_0.b_0": (4,)},
        ["conv2d_transpose conv2d_transpose_0.tmp_0", "elementwise_add conv2d_transpose_0.tmp_1"],
    ),
    "BatchNorm": (
        lambda: dygraph.BatchNorm(3, act="relu")(image()),
        {f"batch_norm_0.{which}": (3,) for which in ("w_0", "b_0", "w_1", "w_2")},
        ["batch_norm batch_norm_0.tmp_2", "relu batch_norm_0.tmp_3"],
    ),
    "LayerNorm": (
        lambda: dygraph.LayerNorm([6, 6])(image()),
        {"layer_norm_0.w_0": (36,), "layer_norm_0.b_0": (36,)},
        ["layer_norm layer_norm_0.tmp_2"],
    ),
    "GroupNorm": (
        lambda: dygraph.GroupNorm(3, 3, param_attr=True)(image()),
        {"group_norm_0.w_0": (3,)},
        ["group_norm group_norm_0.tmp_2"],
    ),
    "InstanceNorm": (
        lambda: dygraph.InstanceNorm(3)(image()),
        {"instance_norm_0.w_0": (3,), "instance_norm_0.b_0": (3,)},
        ["instance_norm instance_norm_0.tmp_2"],
    ),
    "Embedding": (
        lambda: dygraph.Embedding([10, 4])(data(3, dtype="int64")),
        {"embedding_0.w_0": (10, 4)},
        ["lookup_table_v2 embedding_0.tmp_0"],
    ),
    "PRelu": (
        lambda: dygraph.PRelu("channel", channel=3)(image()),
        {"prelu_0.w_0": (1, 3, 1, 1)},
        ["prelu prelu_0.tmp_0"],
    ),
    "BilinearTensorProduct": (
        lambda: dygraph.BilinearTensorProduct(4, 4, 2, act="tanh")(data(4), data(4)),
        {"bilinear_tensor_product_0.w_0": (2, 4, 4), "bilinear_tensor_product_0.b_0": (1, 2)},
        ["bilinear_tensor_product _generated_var_0", "tanh bilinear_tensor_product_0.tmp_0"],
    ),
    "NCE": (
        lambda: dygraph.NCE(20, 4)(data(4), data(1, dtype="int64")),
        {"nce_0.w_0": (20, 4)},
        ["nce nce_0.tmp_0", "scale tmp_0"],
    ),
    "GRUUnit": (
        lambda: dygraph.GRUUnit(9)(data(9), data(3))[0],
        {"gru_unit_0.w_0": (3, 9), "gru_unit_0.b_0": (1, 9)},
        ["gru_unit gru_unit_0.tmp_2"],
    ),
    "Dropout": (lambda: dygraph.Dropout(0.3)(data(4)), {}, ["dropout dropout_0.tmp_0"]),
    "Pool2D": (lambda: dygraph.Pool2D(2)(image()), {}, ["pool2d pool2d_0.tmp_0"]),
    "L1Loss": (
        lambda: dygraph.L1Loss()(data(4), data(4)),
        {},
        [
            "elementwise_sub elementwise_sub_0.tmp_0",
            "abs elementwise_sub_0.tmp_1",
            "reduce_mean reduce_mean_0.tmp_0",
        ],
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_a_layer_has_the_parameters_and_operators_of_fluid(name):
    make, parameters, operators = MADE[name]
    out = make()
    main, startup = fluid.default_main_program(), fluid.default_startup_program()
    assert {p.name: p.shape for p in main.all_parameters()} == parameters
    assert {n for op in startup.global_block().ops for n in op.output_arg_names} == {*parameters}
    ops = main.global_block().ops
    assert [op.type for op in ops] == [line.split()[0] for line in operators]
    for op, line in zip(ops, operators):
        assert line.split()[1] in op.output_arg_names
    assert out.name == operators[-1].split()[1]


class Net(dygraph.Layer):
    """Two layers, and a parameter of its own."""

    def __init__(self):
        super().__init__()
        self.hidden = dygraph.Linear(4, 5, act="tanh")
        self.out = dygraph.Linear(5, 1)
        self.scale = self.create_parameter([1], attr=fluid.ParamAttr(name="scale"))

    def forward(self, x):
        return self.out(self.hidden(x)) * self.scale


def test_a_net_in_a_program_is_trained_like_any_other():
    net, x = Net(), data(4)
    loss = fluid.layers.mean(fluid.layers.square(net(x) - 1.0))
    assert sorted(net.state_dict()) == [
        "hidden.bias", "hidden.weight", "out.bias", "out.weight", "scale"
    ]  # fmt: skip
    fluid.optimizer.SGD(0.1).minimize(loss, parameter_list=net.parameters())
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {x.name: np.random.default_rng(0).normal(size=[8, 4]).astype("float32")}
    losses = [float(exe.run(feed=feed, fetch_list=[loss])[0]) for _ in range(20)]
    assert losses[-1] < 0.5 * losses[0]


def test_a_layer_that_is_called_twice_counts_its_results_and_shares_its_parameters():
    linear = dygraph.Linear(4, 4)
    y = linear(linear(data(4)))
    assert y.name == "linear_0.tmp_3"
    assert len(fluid.default_main_program().all_parameters()) == 2


def test_a_variable_of_a_layer_is_named_after_it():
    made = dygraph.Layer("abc").create_variable("kept", persistable=True)
    assert (made.name, made.persistable) == ("abc_0.kept", True)


def test_a_parameter_that_is_weight_normed_is_made_of_two():
    linear = dygraph.Linear(3, 4, param_attr=fluid.WeightNormParamAttr(dim=1), bias_attr=False)
    linear(data(3))
    assert {p.shape for p in fluid.default_main_program().all_parameters()} == {(1, 4), (3, 4)}


def test_values_of_parameters_of_a_program_are_not_set_through_the_layer():
    linear = dygraph.Linear(2, 2)
    state = {"weight": np.ones([2, 2], "float32"), "bias": np.ones(2, "float32")}
    with pytest.raises(ArgumentError, match=r"'linear_0.w_0' of a program.*fluid.io"):
        linear.set_dict(state)
    with pytest.raises(ArgumentError, match="of a program"):
        linear.clear_gradients()


def test_a_layer_of_tensors_refuses_variables():
    with dygraph.guard():
        linear = dygraph.Linear(2, 2)
    with pytest.raises(ArgumentError, match="expected weight to be a variable"):
        linear(data(2))


def test_a_normalisation_is_told_by_its_argument_that_it_is_tested():
    dygraph.BatchNorm(3, is_test=True)(image())
    (op,) = fluid.default_main_program().global_block().ops
    assert op.attr("is_test") is True


def test_a_layer_of_a_program_does_as_its_attributes_are_changed():
    conv, pool = dygraph.Conv2D(3, 2, 3), dygraph.Pool2D(2, "max", 2)
    conv._stride, pool._pool_type = [2, 2], "avg"
    assert pool(conv(image())).shape == (-1, 2, 1, 1)
    kinds = [op.type for op in fluid.default_main_program().global_block().ops]
    assert "relu" not in kinds
    conv._act = "relu"
    conv(image())
    assert fluid.default_main_program().global_block().ops[-1].type == "relu"
