"""Layers: what they are made of, names, hooks, states."""

import copy
import pickle

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import dygraph, layers
from fluidlite.errors import ArgumentError, OutOfRangeError, ShapeError, StateDictError


@pytest.fixture(autouse=True)
def guard():
    with dygraph.guard(), fluid.unique_name.guard():
        yield


class Net(dygraph.Layer):
    def __init__(self):
        super().__init__()
        self.a = dygraph.Linear(2, 2)
        self.b = dygraph.Sequential(dygraph.Linear(2, 3), dygraph.Linear(3, 1))
        self.c = self.create_parameter([2], dtype="float32", is_bias=True)
        self.register_buffer("seen", dygraph.to_variable(np.zeros(1, "float32")))

    def forward(self, x):
        return self.b(self.a(x) + self.c)


def ones(*shape):
    return dygraph.to_variable(np.ones(shape, "float32"))


def test_names_are_those_of_fluid():
    n = Net()
    assert [n.full_name(), n.a.full_name(), n.b.full_name()] == [
        "net_0",
        "linear_0",
        "sequential_0",
    ]
    assert [p.name for p in n.parameters()] == [
        "net_0.b_0",
        "linear_0.w_0",
        "linear_0.b_0",
        "linear_1.w_0",
        "linear_1.b_0",
        "linear_2.w_0",
        "linear_2.b_0",
    ]
    named = ["c", "a.weight", "a.bias", "b.0.weight", "b.0.bias", "b.1.weight", "b.1.bias"]
    assert [name for name, _ in n.named_parameters()] == named
    assert [name for name, _ in n.named_sublayers()] == ["a", "b", "b.0", "b.1"]
    assert [name for name, _ in n.named_sublayers("n", include_self=True)][:2] == ["n", "n.a"]
    assert list(n.state_dict()) == ["c", "seen", *named[1:]]
    assert (len(n.sublayers()), len(n.sublayers(include_sublayers=False))) == (4, 2)
    assert len(n.parameters(include_sublayers=False)) == 1
    assert [name for name, _ in n.named_buffers()] == ["seen"]


@pytest.mark.parametrize(
    "name, stem",
    [
        ("BatchNorm", "batch_norm"),
        ("Conv2DTranspose", "conv2d_transpose"),
        ("GRUUnit", "gru_unit"),
        ("L1Loss", "l1_loss"),
        ("CRNN2D", "crnn2d"),
        ("Pool2D", "pool2d"),
    ],
)
def test_the_stem_of_a_name_comes_from_the_class(name, stem):
    assert type(name, (dygraph.Layer,), {})().full_name() == f"{stem}_0"
    assert dygraph.Layer("mine").full_name() == "mine_0"


def test_super_must_come_first():
    class Early(dygraph.Layer):
        def __init__(self):
            self.a = dygraph.Linear(2, 2)

    with pytest.raises(ValueError, match=r"call super\(\)\.__init__\(\) of Early"):
        Early()


def test_attributes_keep_their_kind():
    n = Net()
    for name in ("c", "a", "seen"):
        with pytest.raises(TypeError, match=f"{name!r} of Net holds"):
            setattr(n, name, 3)
        setattr(n, name, None)
        assert getattr(n, name) is None
    del n.c
    with pytest.raises(AttributeError, match="no attribute 'c'"):
        _ = n.c
    with pytest.raises(AttributeError, match="did you mean 'forward'"):
        _ = n.forwards
    assert {"a", "b"} <= set(dir(n))
    n.plain = 3
    n.plain = n.a = dygraph.Linear(1, 1)
    assert "plain" not in vars(n)


def test_parameters_and_layers_are_added_by_name():
    n = Net()
    assert n.add_sublayer("more", dygraph.Linear(1, 1)) is n.more
    n.add_parameter("w", layers.create_parameter([1], "float32"))
    assert [name for name, _ in n.named_parameters()][1] == "w"
    for call in (
        lambda: n.add_sublayer("x", 3),
        lambda: n.add_parameter("x", 3),
        lambda: n.register_buffer("x", 3),
        lambda: n.add_parameter("forward", n.c),
        lambda: n.add_parameter(1.5, n.c),
    ):
        with pytest.raises(AssertionError):
            call()


def test_a_name_that_a_layer_answers_to_is_not_given_away():
    class Wrapping(Net):
        def __getattr__(self, name):
            return name if name == "wrapped" else super().__getattr__(name)

        @property
        def half(self):
            raise AttributeError("there is none")

    n = Wrapping()
    for taken in ("wrapped", "a", "forward", "_full_name"):
        with pytest.raises(AssertionError, match=f"has an attribute '{taken}' already"):
            n.register_buffer(taken, dygraph.to_variable(np.zeros(1, "float32")))
    n.add_sublayer("half", dygraph.Linear(1, 1))
    assert "half" in n.own_sublayers


def test_shared_parameters_are_listed_once():
    n = Net()
    n.again = n.a
    assert len(n.parameters()) == 7
    assert len(n.sublayers()) == 4


def test_hooks_change_what_goes_in_and_out():
    m = dygraph.Linear(2, 2)
    x = ones(3, 2)
    plain = m(x).numpy()
    after = m.register_forward_post_hook(lambda layer, inputs, out: out * 2.0)
    np.testing.assert_allclose(m(x).numpy(), plain * 2)
    assert after.remove()
    before = m.register_forward_pre_hook(lambda layer, inputs: inputs[0] * 0.0)
    assert (m(x).numpy() == m.bias.numpy()).all()
    before.remove()
    m.register_forward_pre_hook(lambda layer, inputs: None)
    np.testing.assert_array_equal(m(x).numpy(), plain)
    with pytest.raises(ArgumentError, match="expected a function"):
        m.register_forward_post_hook(3)


def test_what_old_scripts_build_once_is_built_at_the_first_call():
    class Old(dygraph.Layer):
        def _build_once(self, x):
            self.w = self.create_parameter([x.shape[1], 1])

        def forward(self, x):
            return layers.matmul(x, self.w)

    old = Old()
    old(ones(1, 3))
    assert old(ones(1, 3)).shape == [1, 1]
    assert [p.name for p in old.parameters()] == ["old_0.w_0"]


def test_train_and_eval_reach_all_layers():
    n = Net()
    n.eval()
    assert not any(each.training for each in (n, *n.sublayers()))
    n.train()
    assert all(each.training for each in (n, *n.sublayers()))


def test_clear_gradients():
    n = Net()
    layers.reduce_sum(n(ones(1, 2))).backward()
    assert n.a.weight.gradient().any()
    n.clear_gradients()
    assert not n.a.weight.gradient().any()


def test_parameters_follow_their_attributes():
    m = dygraph.Layer(dtype="float64")
    attr = fluid.ParamAttr("w", fluid.initializer.Constant(2.0), 0.5, trainable=False)
    w = m.create_parameter([2, 3], attr)
    assert (w.name, w.dtype.name, w.trainable, w.stop_gradient) == ("w", "FP64", False, True)
    assert (w.optimize_attr, w.numpy().ravel()[0]) == ({"learning_rate": 0.5}, 2.0)
    assert m.create_parameter([2], attr=False) is None
    assert m.create_parameter([2], is_bias=True).numpy().tolist() == [0, 0]
    with pytest.raises(ArgumentError, match="known sizes"):
        m.create_parameter([-1])


def test_a_created_variable_takes_the_first_value_written_to_it():
    m = dygraph.Layer("m")
    made = m.create_variable("state", persistable=True)
    assert (made.name, made.persistable) == ("m_0.state", True)
    layers.assign(ones(2, 3), made)
    assert made.shape == [2, 3]


def test_forward_is_for_subclasses():
    with pytest.raises(NotImplementedError, match="needs a method forward"):
        dygraph.Layer()(1)
    with pytest.raises(ArgumentError, match="on the loss"):
        dygraph.Layer().backward()


class TestStates:
    def test_a_state_is_taken_over(self):
        a, b = Net(), Net()
        b.set_dict(a.state_dict())
        for p, q in zip(a.parameters(), b.parameters()):
            np.testing.assert_array_equal(p.numpy(), q.numpy())
            assert p.name != q.name

    def test_a_state_may_have_the_parameters_own_names(self):
        a, b = dygraph.Linear(2, 2), dygraph.Linear(2, 2)
        state = {q.name: p.numpy() for p, q in zip(a.parameters(), b.parameters())}
        b.load_dict(state, use_structured_name=False)
        np.testing.assert_array_equal(a.weight.numpy(), b.weight.numpy())

    def test_all_or_nothing(self):
        m = dygraph.Linear(2, 2)
        before = m.weight.numpy()
        with pytest.raises(ShapeError, match=r"shape \[2\] for 'bias' of linear_0, got .*\[3\]"):
            m.set_dict({"weight": np.zeros([2, 2]), "bias": np.zeros(3)})
        with pytest.raises(StateDictError, match="no value for 'weight'; did you mean 'weigth'"):
            m.set_dict({"weigth": before, "bias": before})
        with pytest.raises(ArgumentError, match="dictionary of arrays"):
            m.set_dict([before])
        np.testing.assert_array_equal(m.weight.numpy(), before)

    def test_states_are_saved_and_loaded(self, tmp_path):
        a, b = Net(), Net()
        fluid.save_dygraph(a.state_dict(), str(tmp_path / "net"))
        state, none = dygraph.load_dygraph(str(tmp_path / "net"))
        b.set_dict(state)
        assert none is None
        np.testing.assert_array_equal(a(ones(1, 2)).numpy(), b(ones(1, 2)).numpy())

    def test_layers_are_copied_and_pickled(self):
        n = Net()
        copied, read = copy.deepcopy(n), pickle.loads(pickle.dumps(n))
        assert [p.name for p in read.parameters()] == [p.name for p in n.parameters()]
        for before, after in zip(n.parameters(), copied.parameters()):
            assert after.name.startswith(f"{before.name}_deepcopy_")
        for again in (copied, read):
            assert again.a.weight is not n.a.weight
            np.testing.assert_array_equal(again(ones(1, 2)).numpy(), n(ones(1, 2)).numpy())


def test_text():
    assert repr(Net()) == (
        "Net(\n"
        "  (a): Linear(2, 2)\n"
        "  (b): Sequential(\n"
        "    (0): Linear(2, 3)\n"
        "    (1): Linear(3, 1)\n"
        "  )\n"
        ")"
    )
    assert repr(dygraph.Dropout(0.25)) == "Dropout(0.25)"


class TestContainers:
    def test_sequential(self):
        net = dygraph.Sequential(("first", dygraph.Linear(2, 3)), ("second", dygraph.Linear(3, 1)))
        assert net["first"] is net[0] is next(iter(net))
        assert net[-1] is net["second"]
        assert net[1:](ones(2, 3)).shape == [2, 1]
        net["third"] = dygraph.Linear(1, 5)
        assert (len(net), net(ones(2, 2)).shape) == (3, [2, 5])
        del net["third"]
        assert next(iter(net.state_dict())) == "first.weight"
        with pytest.raises(ArgumentError, match="no layer 'secnd'; did you mean 'second'"):
            net["secnd"]
        with pytest.raises(OutOfRangeError, match=r"\[-2, 2\), got 2"):
            net[2]
        with pytest.raises(ArgumentError, match="expected a layer, got 3"):
            dygraph.Sequential(3)

    def test_layer_list(self):
        one, two, three = (dygraph.Linear(1, n) for n in (1, 2, 3))
        found = dygraph.LayerList([one])
        assert found.append(three) is found
        found.insert(1, two)
        assert list(found) == [one, two, three]
        assert found[-1] is three
        assert list(found[1:]) == [two, three]
        found[0] = three
        del found[1]
        found.extend([one])
        assert list(found) == [three, three, one]
        assert list(found.state_dict())[:2] == ["0.weight", "0.bias"]
        with pytest.raises(OutOfRangeError):
            found[3]

    def test_parameter_list(self):
        parameters = [layers.create_parameter([n], "float32") for n in (1, 2)]
        found = dygraph.ParameterList(parameters)
        assert (len(found), list(found.state_dict())) == (2, ["0", "1"])
        found[0] = parameters[1]
        assert found[0] is found[1] is next(iter(found))
        with pytest.raises(ArgumentError, match="expected a parameter"):
            found.append(3)

    def test_data_parallel_is_the_layer_in_one_process(self):
        net = dygraph.DataParallel(dygraph.Linear(2, 1))
        loss = layers.mean(net(ones(3, 2)))
        assert net.scale_loss(loss) is loss
        net.apply_collective_grads()
        assert list(net.state_dict()) == ["weight", "bias"]
        net.set_dict(net.state_dict())
        assert dygraph.ParallelEnv().nranks == dygraph.prepare_context().nranks == 1
        with pytest.raises(ArgumentError, match="expected a layer"):
            dygraph.DataParallel(3)
