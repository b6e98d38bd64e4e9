"""Training loops that one calls, at once and in programs."""

import sys

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import callbacks
from fluidlite.errors import ArgumentError

rng = np.random.RandomState(0)
X = rng.randn(96, 4).astype("float32")
LABELS = X[:, :3].argmax(1).reshape(-1, 1)
SPECS = [([None, 4], "float32")], [([None, 1], "int64")]


def loss_of(scores, label):
    return fluid.layers.softmax_with_cross_entropy(scores, label)


def built(way, rate=0.05):
    """A model of a classifier, prepared."""
    if way == "at once":
        nn = fluid.nn
        model = fluid.Model(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3)))
        adam = fluid.optimizer.Adam(rate, parameters=model.parameters())
        model.prepare(adam, nn.CrossEntropyLoss(), fluid.metric.Accuracy())
        return model
    if way == "a layer of programs":
        net = fluid.dygraph.Sequential(
            fluid.dygraph.Linear(4, 16, act="relu"), fluid.dygraph.Linear(16, 3)
        )
    elif way == "a function with layers":
        net = fluid.nn.Sequential(
            fluid.nn.Linear(4, 16), fluid.nn.ReLU(), fluid.nn.Linear(16, 3)
        ).forward
        inner = net.__self__
        net = lambda x: inner(x)
    else:
        net = lambda x: fluid.layers.fc(fluid.layers.fc(x, 16, act="relu"), 3)
    model = fluid.Model(net, *SPECS)
    model.prepare(fluid.optimizer.Adam(rate), loss_of, [fluid.metric.Accuracy((1, 2))])
    return model


WAYS = ["at once", "a function", "a layer of programs", "a function with layers"]
every_way = pytest.mark.parametrize("way", WAYS)
two_ways = pytest.mark.parametrize("way", WAYS[:2])


@every_way
def test_a_model_learns_and_tells_what_became_of_it(way):
    model = built(way)
    history = model.fit((X, LABELS), (X, LABELS), batch_size=16, epochs=25, verbose=0)
    accuracy = "acc" if way == "at once" else "acc_top1"
    assert set(history.history) >= {"loss", accuracy, "lr", "eval_loss", f"eval_{accuracy}"}
    assert len(history["loss"]) == 25 and history["loss"][-1] < 0.5 * history["loss"][0]
    found = model.evaluate((X, LABELS), batch_size=32, verbose=0)
    assert found[accuracy] > 0.85 and found["loss"] == pytest.approx(history["eval_loss"][-1], 1e-4)
    (scores,) = model.predict((X, LABELS), batch_size=10, stack_outputs=True, verbose=0)
    assert scores.shape == (96, 3)
    assert np.mean(scores.argmax(1) == LABELS[:, 0]) == pytest.approx(found[accuracy])


def test_without_tqdm_an_epoch_is_a_line(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    built("at once").fit((X, LABELS), batch_size=32, epochs=2, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["epoch 1/2", "epoch 2/2"]


@two_ways
def test_a_model_that_was_saved_goes_on(way, tmp_path):
    model = built(way)
    model.fit((X, LABELS), batch_size=32, epochs=2, verbose=0)
    model.save(tmp_path / "kept" / "model")
    with fluid.unique_name.guard():
        other = built(way)
    if way == "at once":
        for parameter in other.parameters():
            parameter.name += "_of_another"  # states are found by their order, too
        adam = fluid.optimizer.Adam(0.05, parameters=other.parameters())
        other.prepare(adam, fluid.nn.CrossEntropyLoss())
    else:
        model.prepare(fluid.optimizer.Adam(0.05), loss_of)
        other = model
    other.load(tmp_path / "kept" / "model")
    if way == "at once":
        for name, value in model.state_dict().items():
            np.testing.assert_array_equal(value, other.state_dict()[name])
        one, two = (m.train_batch(X, LABELS)["loss"] for m in (model, other))
        assert one == two
        one, two = (m.eval_batch(X, LABELS)["loss"] for m in (model, other))
        assert one == two  # the step used the same moments


def test_a_model_of_programs_is_saved_for_predictions(tmp_path):
    model = built("a function")
    model.save(tmp_path / "served", training=False)
    exe = fluid.Executor()
    program, feeds, targets = fluid.io.load_inference_model(str(tmp_path / "served"), exe)
    (found,) = exe.run(program, feed={feeds[0]: X}, fetch_list=targets)
    np.testing.assert_allclose(found, model.predict_batch(X)[0], rtol=1e-5)


def test_training_ends_when_nothing_becomes_better(capsys):
    model = built("at once", rate=1e-12)
    stop = callbacks.EarlyStopping(patience=2, min_delta=1e-3)
    history = model.fit((X, LABELS), batch_size=32, epochs=20, verbose=0, callbacks=stop)
    assert len(history.epochs) == 4
    assert "stopped" in capsys.readouterr().out


def test_a_number_to_watch_that_is_not_there_is_warned_of_once_in_a_training():
    stop = callbacks.EarlyStopping(monitor="los")
    with pytest.warns(fluid.errors.FluidWarning) as warned:
        built("at once").fit((X, LABELS), epochs=3, verbose=0, callbacks=stop)
    assert ["there is no 'los'" in str(w.message) for w in warned] == [True]


def test_a_history_says_which_names_there_are():
    history = built("at once").fit((X, LABELS), batch_size=32, epochs=2, verbose=0)
    assert list(history) == ["loss", "acc", "lr"] and "acc" in history and "eval_acc" not in history
    assert {name: len(numbers) for name, numbers in dict(history).items()} == dict.fromkeys(
        history, 2
    )


@two_ways
def test_the_best_model_is_kept(way, tmp_path):
    model = built(way)
    kept = callbacks.ModelCheckpoint(save_dir=str(tmp_path), monitor="loss")
    model.fit((X, LABELS), batch_size=32, epochs=3, verbose=0, callbacks=[kept])
    names = {path.name for path in tmp_path.iterdir()}
    assert "best.pdparams" in names and not any(n.startswith(("0", "final")) for n in names)


def test_models_are_written_every_few_epochs(tmp_path):
    built("at once").fit(
        (X, LABELS), batch_size=32, epochs=3, verbose=0, save_dir=tmp_path, save_freq=2
    )
    names = {path.name for path in tmp_path.iterdir() if path.suffix == ".pdparams"}
    assert names == {"0.pdparams", "2.pdparams", "final.pdparams"}


@two_ways
def test_rates_are_noted(way):
    note = callbacks.LRLogger()
    history = built(way).fit((X, LABELS), batch_size=32, epochs=2, verbose=0, callbacks=note)
    assert np.allclose(note.rates, [0.05] * 6) and np.allclose(history["lr"], 0.05)


def test_lines_and_bars_are_shown(capsys):
    built("at once").fit((X, LABELS), batch_size=32, epochs=2)
    assert capsys.readouterr().out.splitlines()[1].startswith("epoch 2/2: loss ")
    built("at once").fit((X, LABELS), batch_size=32, epochs=1, verbose=1, log_freq=1)
    assert "epoch 1/1" in capsys.readouterr().err
    built("at once").evaluate((X, LABELS), batch_size=32)
    assert capsys.readouterr().out.startswith("evaluation: loss ")


def test_gradients_of_batches_add_up_to_that_of_one():
    states = []
    for size, parts in ((96, 1), (32, 3)):
        with fluid.unique_name.guard():
            fluid.seed(3)
            model = built("at once")
        model.fit(
            (X, LABELS), batch_size=size, verbose=0, shuffle=False, accumulate_grad_batches=parts
        )
        states.append(model.state_dict())
    for name in states[0]:
        np.testing.assert_allclose(states[0][name], states[1][name], rtol=1e-3, atol=1e-5)


class Numbers:
    def __len__(self):
        return 10

    def __getitem__(self, index):
        return X[index], LABELS[index]


@pytest.mark.parametrize("drop_last, sizes", [(False, [4, 4, 2]), (True, [4, 4])])
@pytest.mark.parametrize("kind", ["arrays", "samples", "reader", "batches"])
def test_data_of_every_kind_is_gone_through(kind, drop_last, sizes):
    data = {
        "arrays": (X[:10], LABELS[:10]),
        "samples": Numbers(),
        "reader": lambda: iter([(X[k], LABELS[k]) for k in range(10)]),
        "batches": {k: (X[k : k + 4], LABELS[k : k + 4]) for k in (0, 4, 8)}.values(),
    }[kind]
    found = []

    class Watch(callbacks.Callback):
        def on_train_batch_begin(self, step, logs=None):
            found.append(step)

    model = built("at once")
    model.fit(data, batch_size=4, drop_last=drop_last, verbose=0, callbacks=Watch())
    assert len(found) == (3 if kind == "batches" else len(sizes))


def test_training_ends_behind_some_batches():
    history = built("at once").fit((X, LABELS), batch_size=32, epochs=5, num_iters=4, verbose=0)
    assert len(history.epochs) == 2


def test_the_history_is_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    history = built("at once").fit((X, LABELS), batch_size=32, epochs=2, verbose=0)
    axes = history.plot()
    assert [line.get_label() for line in axes.get_lines()] == ["loss", "acc"]


@two_ways
def test_what_happens_is_written_for_tensorboard(way, tmp_path):
    pytest.importorskip("tensorboardX")
    model = built(way)
    board = callbacks.TensorBoard(str(tmp_path))
    model.fit((X, LABELS), batch_size=32, epochs=2, verbose=0, callbacks=board)
    (path,) = tmp_path.iterdir()
    data = path.read_bytes()
    assert b"epoch/loss" in data and b"batch/lr" in data
    assert all(name.encode() in data for name in model.state_dict())
    assert (b"softmax_with_cross_entropy" in data) == (way == "a function")


def test_a_summary_lists_layers():
    text = str(built("at once").summary((1, 4)))
    assert "Linear" in text and "[1, 16]" in text and "parameters: 131" in text
    assert "131" in str(built("a function").summary())


@pytest.mark.parametrize(
    "act, said",
    [
        (lambda: fluid.Model(3), "a layer or a function"),
        (lambda: fluid.Model(lambda x: x), "expected inputs of a model of programs"),
        (lambda: fluid.Model(lambda x: x, [3]), "expected inputs to be a list"),
        (lambda: fluid.Model(fluid.nn.Linear(2, 1)).fit((X, X)), "an optimizer and a loss"),
        (lambda: built("at once").fit((X, X[:3])), "arrays of one length"),
        (lambda: built("at once").fit(iter([])), "gone through again"),
        (lambda: built("at once").fit((X, LABELS), batch_size=0), "batch_size"),
        (lambda: built("a function").fit((X, LABELS), accumulate_grad_batches=2), "accumulate"),
        (lambda: built("at once").prepare(metrics=[3]), "expected metrics"),
        (lambda: built("at once").save("x", training=False), "model of programs"),
    ],
)
def test_what_cannot_be_is_refused(act, said):
    with pytest.raises(ArgumentError, match=said):
        act()
