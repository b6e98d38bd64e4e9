"""``paddle.Model``: what it prints and gives is what paddle 2.6.2 printed and gave."""

import re
import sys
import types

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.errors import FluidWarning

X = np.random.RandomState(0).rand(22, 4).astype("float32")
Y = (X.sum(1) > 2).astype("int64")[:, None]
_DRAWN = np.random.RandomState(5)
WEIGHTS = [_DRAWN.rand(*shape).astype("float32") - 0.5 for shape in ((4, 5), (5, 2))]
HEAD = (
    "The loss value printed in the log is the current step, and the metric is the average value "
    "of previous steps.\n"
)


class Rows(paddle.io.Dataset):
    def __init__(self, count=22, wrong=False, labels=True):
        self.count, self.wrong, self.labels = count, wrong, labels

    def __getitem__(self, number):
        label = 1 - Y[number] if self.wrong else Y[number]
        return (X[number], label) if self.labels else (X[number],)

    def __len__(self):
        return self.count


def network():
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 5), paddle.nn.Tanh(), paddle.nn.Linear(5, 2))
    net[0].weight.set_value(WEIGHTS[0])
    net[2].weight.set_value(WEIGHTS[1])
    return net


def model(*metrics, rate=0.1, optimizer=paddle.optimizer.SGD, **options):
    made = paddle.Model(network())
    steps = optimizer(rate, parameters=made.parameters())
    made.prepare(steps, paddle.nn.CrossEntropyLoss(), list(metrics), **options)
    return made


def printed(capsys):
    """What was printed, without times."""
    text = re.sub(r"\d+(us|ms|s)/step", "T", capsys.readouterr().out)
    text = re.sub(r"ETA: [0-9:]+s?", "ETA", text)
    text = re.sub("\b+", "<", text)  # how many letters are gone back over depends on times
    return re.sub(r"[0-9.]+ (sec|samples/sec)", r"N \1", text)


LINES = """Epoch 1/2
step 2/6 - loss: 0.7272 - acc: 0.5000 - T
step 4/6 - loss: 0.7292 - acc: 0.4375 - T
step 6/6 - loss: 0.6647 - acc: 0.4545 - T
Eval begin...
step 2/2 - loss: 0.7776 - acc: 0.2857 - T
Eval samples: 7
Epoch 2/2
step 2/6 - loss: 0.7182 - acc: 0.3750 - T
step 4/6 - loss: 0.5938 - acc: 0.4375 - T
step 6/6 - loss: 0.5600 - acc: 0.5000 - T
Eval begin...
step 2/2 - loss: 0.8247 - acc: 0.2857 - T
Eval samples: 7
"""


@pytest.mark.parametrize("static", [False, True])
def test_training_prints_lines_in_both_modes(capsys, static):
    if static:
        paddle.enable_static()
    specs = [paddle.static.InputSpec([None, 4], "float32", "x")]
    labels = [paddle.static.InputSpec([None, 1], "int64", "y")]
    trained = paddle.Model(network(), specs, labels)
    sgd = paddle.optimizer.SGD(0.1, parameters=trained.parameters())
    trained.prepare(sgd, paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy())
    trained.fit(Rows(), Rows(7), 4, 2, log_freq=2, verbose=0, shuffle=False)
    assert printed(capsys) == ""
    trained.network.set_state_dict(network().state_dict())
    assert trained.fit(Rows(), Rows(7), 4, 2, log_freq=2, shuffle=False) is None
    assert printed(capsys) == HEAD + LINES
    shapes = [each.shape for each in trained.predict_batch(X[:3])]
    assert shapes == [(3, 2)]


def test_training_writes_a_bar(capsys):
    model(paddle.metric.Accuracy()).fit(Rows(8), None, 4, log_freq=1, verbose=1, shuffle=False)
    lines = printed(capsys).removeprefix(HEAD).rstrip().split("\r")
    assert lines == [
        "Epoch 1/1\n",
        "step 1/2 [==============>...............] - loss: 0.6749 - acc: 0.7500 - ETA - T<",
        "step 2/2 [==============================] - loss: 0.7272 - acc: 0.5000 - T",
    ]


def test_training_tells_times(capsys):
    model(paddle.metric.Accuracy()).fit(Rows(8), None, 4, log_freq=1, verbose=3, shuffle=False)
    costs = "avg_reader_cost: N sec - avg_batch_cost: N sec - ips: N samples/sec"
    assert printed(capsys) == (
        f"{HEAD}Epoch 1/1\nstep 1/2 - loss: 0.6749 - acc: 0.7500 - {costs} - T\n"
        f"step 2/2 - loss: 0.7272 - acc: 0.5000 - {costs} - T\n"
    )


def test_epochs_are_shuffled_alike(capsys):
    model(paddle.metric.Accuracy((1, 2))).fit(Rows(), None, 8, 2, log_freq=1)
    assert (
        printed(capsys)
        == HEAD
        + """Epoch 1/2
step 1/3 - loss: 0.7543 - acc_top1: 0.2500 - acc_top2: 1.0000 - T
step 2/3 - loss: 0.7198 - acc_top1: 0.3125 - acc_top2: 1.0000 - T
step 3/3 - loss: 0.6884 - acc_top1: 0.4091 - acc_top2: 1.0000 - T
Epoch 2/2
step 1/3 - loss: 0.6752 - acc_top1: 0.6250 - acc_top2: 1.0000 - T
step 2/3 - loss: 0.7059 - acc_top1: 0.5000 - acc_top2: 1.0000 - T
step 3/3 - loss: 0.6939 - acc_top1: 0.4545 - acc_top2: 1.0000 - T
"""
    )


def losses(text):
    return [float(each) for each in re.findall(r"loss: ([0-9.]+)", text)]


def test_gradients_of_batches_are_added_up(capsys):
    model().fit(Rows(), None, 4, log_freq=1, shuffle=False, accumulate_grad_batches=2)
    expected = [0.6749, 0.7250, 0.7852, 0.8058, 0.6647, 0.6383]
    np.testing.assert_allclose(losses(printed(capsys)), expected, atol=1e-4)


def test_so_many_batches_are_trained_and_tested(capsys):
    model().fit(Rows(), Rows(9), 4, 3, log_freq=1, num_iters=8, shuffle=False)
    text = printed(capsys)
    assert "Epoch 1/2" in text
    assert text.endswith(
        "Eval begin...\nstep 1/3 - loss: 0.7943 - T\nstep 2/3 - loss: 0.7346 - T\n"
        "step 2/3 - loss: 0.7346 - T\nEval samples: 8\n"
    )


def test_a_model_is_tested_and_asked(capsys):
    asked = model(paddle.metric.Accuracy())
    found = asked.evaluate(Rows(), 4, log_freq=3)
    np.testing.assert_allclose(found["loss"], [0.7749219], rtol=1e-6)
    assert found["acc"] == 10 / 22
    assert asked.evaluate(Rows(), 4, num_iters=2)["acc"] == 0.5
    (stacked,) = asked.predict(Rows(10, labels=False), 4, stack_outputs=True)
    assert stacked.shape == (10, 2)
    assert [each.shape for each in asked.predict(Rows(3, labels=False), 2, verbose=0)[0]] == [
        (2, 2),
        (1, 2),
    ]
    text = re.sub(" *\n", "\n", printed(capsys).replace("\r", "").replace("<", "\n"))
    assert (
        text
        == """Eval begin...
step 3/6 - loss: 0.7604 - acc: 0.4167 - T
step 6/6 - loss: 0.7749 - acc: 0.4545 - T
Eval samples: 22
Eval begin...
step 2/2 - loss: 0.7250 - acc: 0.5000 - T
Eval samples: 8
Predict begin...
step 2/3 [===================>..........] - ETA - T
step 3/3 [==============================] - T
Predict samples: 10
"""
    )


def test_single_batches_give_losses_and_metrics():
    ((loss,), (accuracy,)) = model(paddle.metric.Accuracy()).train_batch([X[:4]], [Y[:4]])
    assert (loss.shape, accuracy) == ((), 0.75)
    np.testing.assert_allclose(loss, 0.6749492, rtol=1e-6)
    (alone,) = model().train_batch(X[:4], paddle.to_tensor(Y[:4]))
    np.testing.assert_allclose(alone, 0.6749492, rtol=1e-6)
    tested = model()
    tested.train_batch([X[:4]], [Y[:4]])
    assert tested.mode == "train"
    np.testing.assert_allclose(tested.eval_batch([X[:4]], [Y[:4]])[0], 0.6403808, rtol=1e-6)


class Stopping(paddle.callbacks.Callback):
    def __init__(self):
        self.epochs, self.keys = 0, set()

    def on_eval_end(self, logs=None):
        self.epochs += 1
        self.keys |= {*logs}


def test_training_stops_early(capsys, tmp_path):
    stops, counts = paddle.callbacks.EarlyStopping, Stopping()
    model(paddle.metric.Accuracy()).fit(
        Rows(), Rows(7, wrong=True), 8, 9, verbose=0,
        callbacks=[stops(patience=1, save_best_model=False), counts],
    )  # fmt: skip
    assert printed(capsys) == "Epoch 5: Early stopping.\n"
    assert (counts.epochs, counts.keys) == (5, {"loss", "acc", "step", "batch_size"})
    model(paddle.metric.Accuracy()).fit(
        Rows(), Rows(7, wrong=True), 8, 9, verbose=0, save_dir=str(tmp_path),
        callbacks=[stops("acc", patience=2), paddle.callbacks.ModelCheckpoint(3, None)],
    )  # fmt: skip
    best = tmp_path / "best_model"
    told = f"Epoch 3: Early stopping.\nBest checkpoint has been saved at {best}\n"
    assert printed(capsys) == told
    assert [each.name for each in tmp_path.iterdir()] == ["best_model.pdparams"]


def test_learning_rates_follow_plateaus_and_schedules(capsys):
    slowed = model(paddle.metric.Accuracy(), rate=0.4)
    plateau = paddle.callbacks.ReduceLROnPlateau(patience=1, factor=0.5)
    slowed.fit(Rows(), Rows(7, wrong=True), 8, 3, verbose=0, callbacks=[plateau])
    assert printed(capsys) == "\nEpoch 3: ReduceLROnPlateau reducing learning rate to 0.2.\n"
    assert slowed._optimizer.get_lr() == 0.2

    def scheduled(*callbacks):
        schedule = paddle.optimizer.lr.StepDecay(0.1, 2, 0.5)
        model(rate=schedule).fit(Rows(), None, 8, 2, verbose=0, callbacks=list(callbacks))
        return schedule.last_epoch, schedule()

    assert scheduled() == (6, 0.0125)
    assert scheduled(paddle.callbacks.LRScheduler(by_step=False, by_epoch=True)) == (2, 0.05)


def test_models_are_written_every_few_epochs(capsys, tmp_path):
    model().fit(Rows(8), None, 4, 3, verbose=0, save_dir=str(tmp_path), save_freq=2)
    names = [tmp_path / name for name in ("0", "2", "final")]
    assert printed(capsys) == "".join(f"save checkpoint at {name}\n" for name in names)
    assert {each.name for each in tmp_path.iterdir()} == {f"{each.name}.pdparams" for each in names}


@pytest.mark.parametrize("static", [False, True])
def test_training_goes_on_from_a_file(tmp_path, static):
    def trained():
        specs = [paddle.static.InputSpec([None, 4], "float32", "x")]
        labels = [paddle.static.InputSpec([None, 1], "int64", "y")]
        again = paddle.Model(network(), specs, labels)
        adam = paddle.optimizer.Adam(0.1, parameters=again.parameters())
        again.prepare(adam, paddle.nn.CrossEntropyLoss())
        again.train_batch(X[:4], Y[:4])
        return again

    if static:
        paddle.enable_static()
    first = trained()
    first.save(tmp_path / "new" / "model")
    expected = [first.train_batch(X[:4], Y[:4])[0] for _ in range(2)]
    assert {each.suffix for each in (tmp_path / "new").iterdir()} == {".pdparams", ".pdopt"}
    first.load(tmp_path / "new" / "model.pdparams")
    assert [first.train_batch(X[:4], Y[:4])[0] for _ in range(2)] == expected
    first.save(tmp_path / "served", training=False)
    assert (tmp_path / "served.pdmodel").is_file()


def test_what_does_not_fit_is_passed_over_where_that_is_allowed(tmp_path):
    model().save(tmp_path / "model")
    wider = paddle.nn.Sequential(paddle.nn.Linear(4, 5), paddle.nn.Tanh(), paddle.nn.Linear(5, 3))
    other = paddle.Model(wider)
    with pytest.raises(ValueError, match="2.weight"):
        other.load(tmp_path / "model")
    with pytest.warns(FluidWarning, match="passes over"):
        other.load(tmp_path / "model", skip_mismatch=True)
    np.testing.assert_array_equal(other.network[0].weight.numpy(), WEIGHTS[0])


@pytest.mark.parametrize(
    "make, kind",
    [
        (lambda: paddle.Model(network()).prepare(metrics=3), AssertionError),
        (lambda: paddle.Model(network()).prepare(loss=3), TypeError),
        (lambda: model(amp_configs="O3"), ValueError),
        (lambda: model(amp_configs={"foo": 1}), ValueError),
        (lambda: paddle.Model(network()).train_batch(X, Y), AssertionError),
        (lambda: model().fit(None), AssertionError),
        (lambda: model().load("nothing"), AssertionError),
        (lambda: model().save("nothing", training=False), RuntimeError),
        (lambda: paddle.callbacks.ReduceLROnPlateau(factor=1.0), ValueError),
        (lambda: paddle.callbacks.LRScheduler(True, True), ValueError),
        (lambda: paddle.callbacks.WandbCallback(), ImportError),
        (lambda: paddle.callbacks.VisualDL("log").on_train_begin(), ImportError),
    ],
)
def test_a_wrong_argument_has_the_class_of_the_real_error(make, kind):
    with pytest.raises(kind):
        make()


def test_mixed_precision_is_accepted():
    for configs in ("O1", "O0", "O2", {"level": "O1", "init_loss_scaling": 128}):
        (loss,) = model(amp_configs=configs).train_batch(X[:4], Y[:4])
        np.testing.assert_allclose(loss, 0.6749492, rtol=1e-6)


def test_layers_are_written_for_other_runtimes(tmp_path):
    onnx = pytest.importorskip("onnx")
    spec = [paddle.static.InputSpec([None, 4], "float32", "x")]
    paddle.onnx.export(network(), str(tmp_path / "net"), input_spec=spec)
    written = onnx.load(tmp_path / "net.onnx")
    assert [node.op_type for node in written.graph.node if node.op_type == "Tanh"] == ["Tanh"]
    with pytest.raises(ValueError):
        paddle.onnx.export(3, str(tmp_path / "net"))


def test_an_optimizer_of_layers_trains_their_program():
    paddle.enable_static()
    net = paddle.nn.Linear(2, 1)
    adam = paddle.optimizer.Adam(0.1, parameters=net.parameters())
    x = paddle.static.data("x", [None, 2], "float32")
    loss = paddle.mean(net(x))
    _, pairs = adam.minimize(loss)
    assert {p.name for p, _ in pairs} == {p.name for p in net.parameters()}
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    run = [exe.run(feed={"x": X[:, :2]}, fetch_list=[loss])[0].item() for _ in range(3)]
    assert run[0] > run[1] > run[2]


def test_a_parallel_network_of_one_process_is_trained():
    parallel = paddle.DataParallel(network())
    assert isinstance(parallel, paddle.nn.Layer)
    made, noted = paddle.Model(parallel), Stopping()
    sgd = paddle.optimizer.SGD(0.1, parameters=made.parameters())
    made.prepare(sgd, paddle.nn.CrossEntropyLoss())
    made.fit(Rows(8), Rows(4), 4, verbose=0, shuffle=False, callbacks=noted)
    assert noted.epochs == 1
    np.testing.assert_allclose(made.evaluate(Rows(4), 4, verbose=0)["loss"], [0.6443087], rtol=1e-6)


class Stream(paddle.io.IterableDataset):
    def __iter__(self):
        return iter(zip(X[:10], Y[:10]))


def test_data_of_unknown_length_is_printed_as_it_comes(capsys):
    loader = paddle.io.DataLoader(Stream(), batch_size=3)
    model(paddle.metric.Accuracy()).fit(loader, loader, epochs=1, log_freq=2)
    assert re.sub("[0-9.]{6}", "N", printed(capsys)) == (
        f"{HEAD}Epoch 1/1\nstep   2 - loss: N - acc: N - T\nstep   4 - loss: N - acc: N - T\n"
        "Eval begin...\nstep   2 - loss: N - acc: N - T\nstep   4 - loss: N - acc: N - T\n"
    )


class Recording:
    """Notes the calls of its methods."""

    run = None

    def __init__(self, *args, **options):
        self.calls = [(args, options)]

    def __getattr__(self, name):
        return lambda *args, **options: self.calls.append((name, args, options))


def test_numbers_go_to_visualdl(monkeypatch):
    written = []
    package = types.SimpleNamespace(
        LogWriter=lambda *args: written.append(Recording(*args)) or written[-1]
    )
    monkeypatch.setitem(sys.modules, "visualdl", package)
    callback = paddle.callbacks.VisualDL("log")
    trained = model(paddle.metric.Accuracy())
    trained.fit(Rows(8), Rows(4), 4, 2, verbose=0, shuffle=False, callbacks=callback)
    trained.evaluate(Rows(4), 4, verbose=0, callbacks=callback)
    names = [
        [(name, options.get("tag"), options.get("step")) for name, _, options in writer.calls[1:]]
        for writer in written
    ]
    both = [[("add_scalar", f"train/{n}", k) for n in ("loss", "acc")] for k in (1, 2, 3, 4)]
    tests = [[("add_scalar", f"eval/{n}", k) for n in ("loss", "acc")] for k in (0, 1)]
    closed = ("close", None, None)
    assert names[0] == [*both[0], *both[1], *tests[0], *both[2], *both[3], *tests[1], closed]
    assert names[1] == [*tests[1], closed]


def test_numbers_go_to_weights_and_biases(monkeypatch):
    runs = []
    package = types.SimpleNamespace(
        run=None, init=lambda **options: runs.append(Recording(**options)) or runs[-1]
    )
    monkeypatch.setitem(sys.modules, "wandb", package)
    callback = paddle.callbacks.WandbCallback(project="p", config={"a": 1})
    trained = model(paddle.metric.Accuracy())
    trained.fit(Rows(4), Rows(4), 4, verbose=0, shuffle=False, callbacks=callback)
    (calls,) = [run.calls for run in runs]
    assert calls[0][1]["project"] == "p"
    assert [name for name, *_ in calls[1:]] == [*["define_metric"] * 4, "log", "log", "finish"]
    assert list(calls[5][1][0]) == ["train/step", "train/loss", "train/acc"]
    assert list(calls[6][1][0]) == ["epoch", "eval/loss", "eval/acc"]
