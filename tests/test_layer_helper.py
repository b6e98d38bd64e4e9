"""Layers that users write with a helper, in programs and at once."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, DTypeError
from fluidlite.layer_helper import LayerHelper


def dense(input, size, param_attr=None, bias_attr=None, act=None, name=None):
    """A layer as scripts of fluid 1.8's time write one."""
    helper = LayerHelper("dense", **locals())
    products = []
    for x, attr in helper.iter_inputs_and_params():
        w = helper.create_parameter(attr=attr, shape=[x.shape[1], size], dtype=x.dtype)
        made = helper.create_variable_for_type_inference(helper.input_dtype())
        helper.append_op(type="mul", inputs={"X": x, "Y": w}, outputs={"Out": made})
        products.append(made)
    total = products[0]
    if len(products) > 1:
        total = helper.create_variable_for_type_inference(helper.input_dtype())
        helper.append_op(type="sum", inputs={"X": products}, outputs={"Out": total})
    return helper.append_activation(helper.append_bias_op(total, dim_start=1))


def data(name, *shape):
    return fluid.data(name, [None, *shape], "float32")


def test_a_users_layer_names_its_parts_after_itself():
    y = dense(data("x", 3), 4, act="relu")
    z = dense(y, 2, bias_attr=False, name="last", act={"type": "leaky_relu", "alpha": 0.5})
    assert [op.type for op in z.block.ops] == [
        "mul",
        "elementwise_add",
        "relu",
        "mul",
        "leaky_relu",
    ]
    assert [p.name for p in z.block.all_parameters()] == ["dense_0.w_0", "dense_0.b_0", "last.w_0"]
    assert (y.name, y.shape, z.name, z.op.attr("alpha")) == (
        "dense_0.tmp_2",
        (-1, 4),
        "last.tmp_1",
        0.5,
    )


def test_a_users_layer_has_an_attribute_for_each_input():
    dense([data("a", 3), data("b", 5)], 4, param_attr=["u", "v"], bias_attr="c")
    parameters = fluid.default_main_program().all_parameters()
    assert {p.name: p.shape for p in parameters} == {"u": (3, 4), "v": (5, 4), "c": (4,)}


def test_one_attribute_is_copied_for_every_input():
    helper = LayerHelper("dense", param_attr=fluid.ParamAttr(learning_rate=0.5))
    first, second = helper.multiple_param_attr(2)
    assert first is not second
    assert first.learning_rate == second.learning_rate == 0.5


def test_a_users_layer_trains():
    x = data("x", 3)
    loss = fluid.layers.mean(dense(x, 1, act="tanh"))
    fluid.optimizer.SGD(0.5).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.ones([4, 3], "float32")}
    first, *_, last = [float(exe.run(feed=feed, fetch_list=[loss])[0]) for _ in range(5)]
    assert last < first


def test_variables_of_the_whole_program_get_their_first_value_in_the_startup_program():
    helper = LayerHelper("dense")
    made = helper.create_global_variable(persistable=True, dtype="float32", shape=[2], name="g")
    helper.set_variable_initializer(made, fluid.initializer.Constant(3.0))
    assert helper.create_or_get_global_variable("g") == (made, False)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    assert np.array(fluid.global_scope().find_var("g").get_tensor()).tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    "call, kind, wanted",
    [
        (lambda h: h.input(), ArgumentError, "takes one input, got 2"),
        (lambda h: h.input_dtype(), DTypeError, "inputs of one type, got float32 and int64"),
        (lambda h: h.multiple_param_attr(3), ArgumentError, "a param_attr for each of 3 inputs"),
        (lambda h: h.get_parameter("a"), ArgumentError, "expected 'a' to be a parameter"),
        (lambda h: h.is_instance("act", int), ArgumentError, "expected act to be a"),
        (lambda h: h.create_parameter(None, [2], "int64"), DTypeError, "needs an initializer"),
        (lambda h: h.to_variable(np.ones(2)), ArgumentError, "within fluid.dygraph.guard"),
    ],
)
def test_what_a_helper_cannot_do_is_said(call, kind, wanted):
    inputs = [data("a", 3), fluid.data("b", [2], "int64")]
    helper = LayerHelper("dense", input=inputs, param_attr=["u", "v"], act="relu")
    with pytest.raises(kind, match=wanted):
        call(helper)


class TestAtOnce:
    @pytest.fixture(autouse=True)
    def guard(self):
        with fluid.dygraph.guard():
            yield

    def x(self, *values):
        made = fluid.dygraph.to_variable(np.array(values, "float32"))
        made.stop_gradient = False
        return made

    def test_an_operator_runs_into_the_given_output_and_is_differentiated(self):
        x = self.x(1.0, 2.0)
        helper = LayerHelper("mine", act="relu")
        y = helper.create_variable_for_type_inference("float32")
        helper.append_op(type="square", inputs={"X": [x]}, outputs={"Out": [y]})
        fluid.layers.reduce_sum(helper.append_activation(y)).backward()
        assert y.numpy().tolist() == [1.0, 4.0]
        assert x.gradient().tolist() == [2.0, 4.0]

    def test_a_blocks_operator_runs_into_a_tensor_that_is_there(self):
        y = fluid.dygraph.to_variable(np.zeros(2, "float32"))
        block = fluid.default_main_program().current_block()
        with pytest.warns(UserWarning, match="no attribute 'nope'"):
            op = block.append_op("scale", {"X": self.x(1, 2)}, {"Out": y}, {"scale": 3, "nope": 1})
        assert y.numpy().tolist() == [3.0, 6.0]
        assert (op.type, len(block.ops)) == ("scale", 0)

    def test_a_block_makes_tensors_that_wait_for_an_operator(self):
        x = self.x(1.0, 2.0)
        block = fluid.default_main_program().global_block()
        y = block.create_var(name="y", dtype="float32")
        block.append_op("square", {"X": [x]}, {"Out": [y]})
        fluid.layers.reduce_sum(y).backward()
        assert (y.name, y.numpy().tolist()) == ("y", [1.0, 4.0])
        assert x.gradient().tolist() == [2.0, 4.0]

    def test_gradients_stop_at_outputs_where_that_is_asked_for(self):
        x = self.x(1.0)
        y = LayerHelper("mine").create_variable(dtype="float32")
        block = fluid.default_main_program().current_block()
        block.append_op("square", {"X": x}, {"Out": y}, stop_gradient=True)
        assert y.stop_gradient

    def test_a_layer_appends_operators_with_its_own_helper(self):
        class Scaled(fluid.dygraph.Layer):
            def __init__(self):
                super().__init__("scaled")
                self.weight = self._helper.create_parameter(
                    fluid.ParamAttr(initializer=fluid.initializer.Constant(3.0)), [2], "float32"
                )

            def forward(self, x):
                made = self._helper.create_variable_for_type_inference(x.dtype)
                ins = {"X": [x], "Y": [self.weight]}
                self._helper.append_op("elementwise_mul", ins, {"Out": [made]}, {"axis": -1})
                return self._helper.append_activation(made, act="relu")

        net = Scaled()
        fluid.layers.reduce_sum(net(self.x(1.0, -2.0))).backward()
        assert net.weight.gradient().tolist() == [1.0, 0.0]
        assert [p.name for p in net.parameters()] == ["scaled_0.w_0"]


def test_a_layers_helper_appends_where_there_is_no_guard():
    class Doubled(fluid.dygraph.Layer):
        def forward(self, x):
            made = self._helper.create_variable_for_type_inference(x.dtype)
            self._helper.append_op("scale", {"X": x}, {"Out": made}, {"scale": 2.0})
            return made

    y = Doubled()(data("x", 3))
    assert (y.name, y.shape, y.op.type) == ("doubled_0.tmp_0", (-1, 3), "scale")


def test_an_optimizer_that_a_user_wrote_keeps_what_it_needs():
    class Heavy(fluid.optimizer.Optimizer):
        type = "momentum"

        def _create_accumulators(self, block, parameters):
            for parameter in parameters:
                self._add_accumulator("velocity", parameter)

        def _append_optimize_op(self, block, param_and_grad):
            param, grad = param_and_grad
            velocity = self._get_accumulator("velocity", param)
            rate = self._create_param_lr(param_and_grad)
            return block.append_op(
                type=self.type,
                inputs={"Param": param, "Grad": grad, "Velocity": velocity, "LearningRate": rate},
                outputs={"ParamOut": param, "VelocityOut": velocity},
                attrs={"mu": 0.9},
                stop_gradient=True,
            )

    def trained(optimizer):
        with fluid.unique_name.guard(), fluid.program_guard(fluid.Program(), fluid.Program()):
            start = fluid.initializer.Constant(0.5)
            w = fluid.ParamAttr(initializer=start, learning_rate=0.5)
            loss = fluid.layers.mean(
                fluid.layers.square(fluid.layers.fc(data("x", 3), 1, param_attr=w))
            )
            optimizer.minimize(loss)
            exe = fluid.Executor()
            with fluid.scope_guard(fluid.Scope()):
                exe.run(fluid.default_startup_program())
                feed = {"x": np.ones([4, 3], "float32")}
                return [exe.run(feed=feed, fetch_list=[loss])[0].item() for _ in range(4)]

    heavy = Heavy(learning_rate=0.1)
    assert trained(heavy) == trained(fluid.optimizer.Momentum(0.1, momentum=0.9))
