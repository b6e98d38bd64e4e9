"""Tensors from sizes, values and other tensors, of one type or the default one."""

import numpy as np
import pytest

from fluidlite import flow
from fluidlite.errors import ArgumentError, DeviceError

TYPES = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16",
    "ByteTensor": "uint8", "CharTensor": "int8", "IntTensor": "int32", "LongTensor": "int64",
    "BoolTensor": "bool",
}  # fmt: skip


def test_the_class_makes_tensors_of_the_default_type():
    assert flow.Tensor(2, 3).shape == (2, 3) and flow.Tensor(3).shape == (3,)
    assert flow.Tensor(flow.Size([2, 3])).shape == (2, 3) and flow.Tensor().shape == (0,)
    for given in ([1, 2], (1, 2), np.array([1, 2]), [True, 2]):
        assert flow.Tensor(given).tolist() == [1.0, 2.0]
        assert flow.Tensor(given).dtype == flow.float32
    assert flow.Tensor(3.0).shape == () and type(flow.ones(2)) is flow.Tensor
    with pytest.raises(ArgumentError):
        flow.Tensor(["a"])
    with pytest.raises(DeviceError):
        flow.Tensor(2, device="cuda")


def test_a_tensor_of_a_tensor_keeps_its_type_and_its_past():
    assert flow.Tensor(flow.tensor([1, 2])).dtype == flow.int64
    x = flow.tensor([1.0, 2.0], requires_grad=True)
    (flow.Tensor(x) * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_classes_of_the_user_s_are_made_alike():
    class Mine(flow.Tensor):
        pass

    x = Mine([1.0, 2.0])
    assert isinstance(x, flow.Tensor) and type(x + 1) is flow.Tensor


@pytest.mark.parametrize("name", TYPES)
def test_typed_constructors_make_tensors_of_their_type(name):
    make = getattr(flow, name)
    assert make([1.5, 0]).dtype == getattr(flow, TYPES[name])
    assert make(2, 3).shape == (2, 3) and type(make(2)) is flow.Tensor
    assert flow.ones(2).type(make).type() == f"oneflow.{name}"
    assert flow.ones(2).type(f"oneflow.{name}").dtype == make.dtype
    assert not isinstance(make(2), make)  # as in OneFlow 0.9


def test_the_default_type_is_that_of_a_constructor():
    flow.set_default_tensor_type(flow.DoubleTensor)
    assert flow.Tensor([1]).dtype == flow.tensor([1.0]).dtype == flow.get_default_dtype()
    assert flow.get_default_dtype() == flow.float64
    flow.set_default_tensor_type("oneflow.FloatTensor")
    assert flow.Tensor(1).dtype == flow.float32
    for wrong in (3, "FooTensor", flow.IntTensor):
        with pytest.raises(TypeError):
            flow.set_default_tensor_type(wrong)


def test_generators_have_streams_of_their_own():
    first, second = flow.Generator(), flow.Generator("cpu")
    first.manual_seed(1)
    second.manual_seed(1)
    draws = [
        lambda g: flow.rand(3, generator=g),
        lambda g: flow.randn(2, 2, generator=g),
        lambda g: flow.randint(0, 9, (5,), generator=g),
        lambda g: flow.randperm(6, generator=g),
        lambda g: flow.normal(0.0, 1.0, (3,), generator=g),
        lambda g: flow.bernoulli(flow.ones(4) / 2, generator=g),
        lambda g: flow.nn.functional.dropout(flow.ones(9), 0.5, generator=g),
    ]
    for draw in draws:
        assert draw(first).tolist() == draw(second).tolist()
    state = first.get_state()
    ahead = flow.rand(3, generator=first)
    first.set_state(state)
    assert flow.rand(3, generator=first).tolist() == ahead.tolist()
    with pytest.raises(ArgumentError):
        flow.rand(2, generator=3)
    with pytest.raises(ArgumentError):
        first.set_state(flow.zeros(2))


def test_seeds_begin_all_numbers_anew():
    assert flow.manual_seed(3) is flow.default_generator and flow.initial_seed() == 3
    numbers = flow.rand(2).tolist()
    assert flow.seed() == flow.initial_seed() != 3
    flow.manual_seed(3)
    state = flow.get_rng_state()
    assert flow.rand(2).tolist() == numbers
    flow.set_rng_state(state)
    assert flow.rand(2).tolist() == numbers


def test_tensors_of_one_process_may_say_where_they_are():
    where, how = flow.placement("cpu", ranks=[0]), flow.sbp.broadcast
    x = flow.ones(2, placement=where, sbp=how)
    assert x.is_global and x.placement == flow.placement.all("cpu") and x.sbp == (how,)
    assert repr(x) == (
        'tensor([1., 1.], placement=oneflow.placement(type="cpu", ranks=[0]),\n'
        "       sbp=(oneflow.sbp.broadcast,), dtype=oneflow.float32)"
    )
    assert x.to_local().is_local and x.to_global(sbp=flow.sbp.split(0)).sbp[0].dim == 0
    net = flow.nn.Linear(2, 3).to_global(where, [how])
    assert net.weight.is_global and net.to_local().weight.is_local
    w = flow.ones(2, requires_grad=True)
    (w.to_global(where, how) * 2).sum().backward()
    assert w.grad.tolist() == [2.0, 2.0]
    for wrong in (lambda: flow.placement("cpu", [1]), lambda: flow.ones(2).sbp):
        with pytest.raises(RuntimeError):
            wrong()
    with pytest.raises(ArgumentError):
        flow.ones(2).to_global()
