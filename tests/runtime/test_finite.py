"""FLAGS_check_nan_inf, and the argument of one run: what each operator computes is looked at."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, NonFiniteError
from fluidlite.ground.process_group import OneProcess, groups
from fluidlite.kernels.finite import is_finite
from fluidlite.opdef.definition import lookup
from fluidlite.runtime.finite import described

layers = fluid.layers


def net(optimizer=None):
    x = fluid.data("x", [None, 6], "float32")
    hidden = layers.fc(x, 5, act="tanh")
    loss = layers.mean(layers.log(layers.square(layers.fc(hidden, 3))))
    (optimizer or fluid.optimizer.Momentum(0.1, 0.9)).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return exe, loss


GOOD = {"x": np.random.default_rng(0).normal(size=[4, 6]).astype("float32")}
ZERO = {"x": np.zeros([4, 6], "float32")}  # biases are zero: the logarithm of 0


def scope_values():
    return {v.name: np.array(v.get_tensor()) for v in fluid.global_scope() if v.is_initialized}


@pytest.mark.parametrize("runs", [0, 1, 4], ids=["first", "interpreted", "compiled"])
def test_the_operator_is_named_with_its_line_and_numbers_and_nothing_is_kept(runs):
    exe, loss = net(fluid.optimizer.SGD(0.0))
    for _ in range(runs):
        exe.run(feed=GOOD, fetch_list=[loss])
    before = scope_values()
    with pytest.raises(
        NonFiniteError,
        match=r"(?s)log: variable 'log_0.tmp_0' holds infinity: 12 of 12 elements are not finite"
        r".*built at .*test_finite.py:\d+",
    ):
        exe.run(feed=ZERO, fetch_list=[loss], check_nan_inf=True)
    after = scope_values()
    assert before.keys() == after.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value)
    assert np.isfinite(exe.run(feed=GOOD, fetch_list=[loss], check_nan_inf=True)[0]).all()


@pytest.mark.parametrize("name", ["FLAGS_check_nan", "check_nan_inf"])
def test_a_flag_that_is_misspelt_is_refused_and_none_is_set(name):
    with pytest.raises(
        ArgumentError, match=f"no flag '{name}'; did you mean 'FLAGS_check_nan_inf'"
    ):
        fluid.set_flags({"FLAGS_check_kernel_launch": True, name: True})
    assert fluid.get_flags("FLAGS_check_kernel_launch") == {"FLAGS_check_kernel_launch": None}


def test_one_run_may_look_where_the_flag_says_no_and_the_other_way_round():
    exe, loss = net(fluid.optimizer.SGD(0.0))
    assert np.isinf(exe.run(feed=ZERO, fetch_list=[loss])[0])
    net_flags = {"FLAGS_check_nan_inf": True}
    fluid.set_flags(net_flags)
    assert fluid.get_flags("FLAGS_check_nan_inf") == net_flags
    exe, loss = fluid.Executor(), loss
    scope = fluid.Scope()
    exe.run(fluid.default_startup_program(), scope=scope)
    with pytest.raises(NonFiniteError):
        exe.run(feed=ZERO, fetch_list=[loss], scope=scope)
    assert np.isinf(exe.run(feed=ZERO, fetch_list=[loss], scope=scope, check_nan_inf=False)[0])


@pytest.mark.parametrize("runs", [0, 4], ids=["interpreted", "compiled"])
@pytest.mark.parametrize(
    "clip",
    [fluid.clip.GradientClipByValue(0.5), fluid.clip.GradientClipByGlobalNorm(1.0)],
    ids=["value", "norm"],
)
def test_a_gradient_is_looked_at_before_it_is_clipped(runs, clip):
    x = fluid.data("x", [4, 3], "float32")
    loss = layers.reduce_sum(layers.sqrt(layers.fc(x, 2, bias_attr=False)))
    fluid.optimizer.SGD(0.1, grad_clip=clip).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    weights = fluid.global_scope().find_var("fc_0.w_0").get_tensor()
    weights.set(np.ones([3, 2], "float32"))
    good = {"x": np.ones([4, 3], "float32")}
    for _ in range(runs):
        exe.run(feed=good)
    before = np.array(weights)
    with pytest.raises(NonFiniteError, match="sqrt_grad: variable .* holds infinity"):
        exe.run(feed={"x": np.zeros([4, 3], "float32")}, check_nan_inf=True)
    np.testing.assert_array_equal(np.array(weights), before)


BOUNDING = {
    "relu6": layers.relu6,
    "tanh": layers.tanh,
    "sigmoid": layers.sigmoid,
    "clip": lambda y: layers.clip(y, -1.0, 1.0),
    "shape": layers.shape,
    "nothing": lambda y: layers.fill_constant([1], "float32", 1.0),
    "a branch": lambda y: layers.cond(
        layers.isfinite(y), lambda: layers.relu6(y), lambda: layers.tanh(y)
    ),
}


@pytest.mark.parametrize("runs", [0, 4], ids=["first", "compiled"])
@pytest.mark.parametrize("bound", BOUNDING.values(), ids=BOUNDING)
@pytest.mark.parametrize("made_by", ["conv2d", "scale", "exp"])
def test_an_infinity_is_found_where_it_is_made_also_if_nothing_shows_it(made_by, bound, runs):
    x = fluid.data("x", [1, 2, 3, 3], "float32")
    makes = {
        "conv2d": lambda: layers.conv2d(x, 2, 1, param_attr="w", bias_attr=False),
        "scale": lambda: layers.scale(x, 2.0),
        "exp": lambda: layers.exp(x),
    }
    out = bound(makes[made_by]())
    exe = fluid.Executor()
    fluid.global_scope().var("w").get_tensor().set(np.ones([2, 2, 1, 1], "float32"))
    feed = {"x": np.ones([1, 2, 3, 3], "float32")}
    for _ in range(runs):
        exe.run(feed=feed, fetch_list=[out])
    feed["x"][0, 0, 1, 1] = np.inf
    assert np.isfinite(exe.run(feed=feed, fetch_list=[out])[0]).all()
    with pytest.raises(NonFiniteError, match=rf"(?s)^{made_by}: variable .*infinity.*finite.py:"):
        exe.run(feed=feed, fetch_list=[out], check_nan_inf=True)


def test_what_is_fed_or_written_into_the_program_may_be_infinite():
    x = fluid.data("x", [2], "float32")
    one = layers.fill_constant([1], "int64", 0)
    bounded = layers.relu6(layers.array_read(layers.array_write(layers.Print(x), one), one))
    constant = layers.tanh(layers.fill_constant([2], "float32", np.inf))
    feed = {"x": np.array([1.0, np.inf], "float32")}
    found = fluid.Executor().run(feed=feed, fetch_list=[x, bounded, constant], check_nan_inf=True)
    assert [each.tolist() for each in found] == [[1, np.inf], [1, 6], [1, 1]]


def test_random_numbers_are_the_same_when_it_is_looked_for_the_operator():
    fluid.default_main_program().random_seed = 3
    x = fluid.data("x", [400], "float32")
    noise = layers.uniform_random([400], min=-1.0, max=1.0)
    out = layers.reduce_sum(layers.log(layers.elementwise_add(x, noise)))
    exe = fluid.Executor()
    for _ in range(6):
        with pytest.raises(NonFiniteError, match="holds NaN") as caught:
            exe.run(feed={"x": np.zeros(400, "float32")}, fetch_list=[out], check_nan_inf=True)
        count = int(str(caught.value).partition("NaN: ")[2].split()[0])
        assert 150 < count < 250


def test_what_a_loop_computes_is_located_inside_it():
    x = fluid.data("x", [2], "float32")
    i, n = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 40)
    found = layers.while_loop(
        lambda i, y: layers.less_than(i, n),
        lambda i, y: [layers.increment(i), layers.scale(layers.square(y), 2.0)],
        [i, x],
    )[1]
    exe = fluid.Executor()
    for _ in range(4):
        with pytest.raises(NonFiniteError, match=r"(square|scale): variable .* holds infinity"):
            exe.run(feed={"x": np.ones(2, "float32")}, fetch_list=[found], check_nan_inf=True)


def test_large_numbers_are_finite():
    with np.errstate(over="ignore"):
        assert is_finite(np.full(10, 1e30, "float32"))
        assert is_finite(np.full(10, 3e38, "float32")[::2])
        assert is_finite(np.float16([60000.0] * 9))
    assert is_finite(np.array([1j, 2.0]))
    assert not is_finite(np.array([1j * np.inf]))
    assert is_finite(np.arange(5))
    assert is_finite(np.zeros([0, 3]))
    assert not is_finite(np.array([[1.0, 2.0], [np.nan, 1.0]]).T)
    assert not is_finite(np.array([0.0, -np.inf], "float32"))


def test_the_message_counts_and_gives_the_range_of_the_rest():
    value = np.array([[1.0, np.inf], [np.nan, -3.0]], "float32")
    assert described(value) == (
        "NaN: 2 of 4 elements are not finite (1 NaN); the others: min -3, max 1, mean -1"
    )
    assert described(np.array([np.inf])) == "infinity: 1 of 1 elements are not finite"


class Two(OneProcess):
    """A group with another process, which waits for what this one sends."""

    size = 2


@pytest.mark.parametrize("ends", ["well", "by an error"])
def test_a_run_that_others_take_part_in_goes_on_to_its_end_and_is_refused_then(ends):
    x = fluid.data("x", [2], "float32")
    y = layers.log(x)
    seen = []

    def look(value):
        seen.append(np.array(value))
        if ends != "well":
            raise ValueError("what follows from infinity")

    layers.py_func(look, y, None)
    with groups.guard(Two()), pytest.raises(NonFiniteError, match="^log: .* infinity") as info:
        fluid.Executor().run(feed={"x": np.zeros(2, "float32")}, fetch_list=[y], check_nan_inf=True)
    assert len(seen) == 1
    assert (info.value.__cause__ is None) is (ends == "well")


def test_operators_hand_on_what_kin_do():
    types = (
        "conditional_block conditional_block_infer merge_lod_tensor merge_lod_tensor_infer while"
    )
    assert all(lookup(type).hands_on for type in types.split())
    assert not lookup("while_grad").hands_on and not lookup("scale").hands_on
