"""Losses of programs that are scaled; numbers are those of paddle 2.6 on a CPU."""

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.errors import UnsupportedError

amp = paddle.static.amp
DRAWN = np.random.RandomState(0)
WEIGHT = DRAWN.randn(4, 3).astype("float32")
BATCHES = DRAWN.randn(10, 5, 4).astype("float32")
LOSSES = [3.186302661895752, 1.8174242973327637, 0.8148276209831238, 3.7068099975585938]


@pytest.fixture(autouse=True)
def static():
    """Programs are built while a test runs."""
    paddle.enable_static()
    yield
    paddle.disable_static()


def trained(wrap, batches=BATCHES[:4]):
    """The losses, the optimizer, and its factor behind the last step."""
    main, start = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, start):
        x = paddle.static.data("x", [5, 4], "float32")
        first = paddle.nn.initializer.Assign(WEIGHT)
        with amp.fp16_guard():
            out = paddle.nn.functional.relu(paddle.nn.Linear(4, 3, weight_attr=first)(x))
        loss = ((out - 1.0) ** 2).mean()
        optimizer = wrap(paddle.optimizer.SGD(0.1))
        optimizer.minimize(loss)
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(start)
    optimizer.amp_init(paddle.CPUPlace(), scope=paddle.static.global_scope())
    losses = [float(exe.run(main, {"x": each}, [loss])[0].reshape(-1)[0]) for each in batches]
    scale = paddle.static.global_scope().find_var(optimizer.get_loss_scaling().name)
    return losses, main, float(np.array(scale.get_tensor()).reshape(-1)[0])


@pytest.mark.parametrize(
    "options, factor",
    [
        ({}, 2.0**15),
        ({"level": "O2"}, 2.0**15),
        ({"use_pure_fp16": True, "use_fp16_guard": True}, 2.0**15),
        ({"init_loss_scaling": 8.0, "use_dynamic_loss_scaling": False}, 8.0),
        ({"level": 16.0}, 16.0),
        ({"incr_every_n_steps": 2, "incr_ratio": 4.0}, 2.0**19),
        ({"dtype": "bfloat16"}, 1.0),
    ],
)
def test_scaled_losses_train_like_others_in_float32(options, factor):
    losses, main, last = trained(lambda sgd: amp.decorate(sgd, **options))
    np.testing.assert_allclose(losses, LOSSES, rtol=2e-6)
    assert not [v for v in main.list_vars() if v.has_dtype and v.dtype.dtype == np.float16]
    assert last == factor


def test_lists_are_checked_and_cast_nothing():
    lists = amp.CustomOpLists(custom_white_list={"relu"}, custom_black_list={"matmul_v2"})
    assert {"relu", "conv2d"} <= lists.white_list
    assert {"matmul_v2", "exp"} <= lists.black_list
    losses, _, _ = trained(lambda sgd: amp.decorate(sgd, lists))
    np.testing.assert_allclose(losses, LOSSES, rtol=2e-6)
    with pytest.raises(ValueError, match="both custom lists"):
        amp.AutoMixedPrecisionLists({"relu"}, {"relu"})
    with pytest.raises(ValueError, match="float16 or bfloat16"):
        amp.CustomOpLists(dtype="float64")


def test_a_step_whose_gradients_are_not_finite_is_skipped():
    bad = np.full([5, 4], np.inf, "float32")
    batches = [BATCHES[0], bad, bad, BATCHES[1]]
    losses, _, last = trained(lambda sgd: amp.decorate(sgd, decr_ratio=0.5), batches)
    np.testing.assert_allclose([losses[0], losses[3]], LOSSES[:2], rtol=2e-6)
    assert last == 2.0**14


@pytest.mark.parametrize("options", [{"level": "O5"}, {"dtype": "float64"}, {"amp_lists": 3}])
def test_other_arguments_are_refused(options):
    with pytest.raises(ValueError, match="expected"):
        amp.decorate(paddle.optimizer.SGD(0.1), **options)


def test_what_runs_on_a_gpu_alone_is_refused_by_name():
    program = paddle.static.Program()
    with pytest.raises(UnsupportedError, match="cast_model_to_fp16: .* GPU alone"):
        amp.cast_model_to_fp16(program)
    with pytest.raises(UnsupportedError, match="cast_parameters_to_fp16"):
        amp.cast_parameters_to_fp16(paddle.CPUPlace(), program)
    with amp.bf16.bf16_guard(), pytest.raises(UnsupportedError, match="bfloat16"):
        amp.bf16.decorate_bf16(paddle.optimizer.SGD(0.1))


def test_operators_of_a_program_are_counted_by_element_type(capsys):
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [5, 4], "float32")
        paddle.greater_than(paddle.exp(paddle.exp(x.reshape([4, 5]))), paddle.ones([1]))
    amp.debugging.collect_operator_stats(main)
    table = capsys.readouterr().out.splitlines()
    assert table[0].strip("<>-") == " op list of all blocks "
    rows = {line.split()[0]: line.split("|")[1:] for line in table[3:-2]}
    assert {"exp", "reshape2", "greater_than"} <= {*rows}
    assert [int(cell) for cell in rows["exp"]] == [0, 0, 2, 0]
