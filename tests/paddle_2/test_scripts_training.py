"""Scripts for paddle 2.6 about training: their losses are those of paddle 2.6.2."""

import json
import os
import subprocess

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.paddle import nn
from fluidlite.paddle.nn import functional as F

FILES = os.path.join(os.path.dirname(__file__), "../data/paddle_2")


def begin(net, seed):
    """Give a network start values that another one of its kind has, too."""
    drawn = np.random.RandomState(seed)
    for parameter in net.parameters():
        parameter.set_value(drawn.uniform(-0.3, 0.3, parameter.shape).astype("float32"))
    return net


class Texts(paddle.io.Dataset):
    """Lists of words of different lengths; the class says whether the first half is more."""

    def __init__(self):
        drawn = np.random.RandomState(11)
        self.texts = [drawn.randint(1, 20, drawn.randint(2, 7)).tolist() for _ in range(40)]

    def __getitem__(self, number):
        words = self.texts[number]
        return words, int(np.mean(words) > 10)

    def __len__(self):
        return len(self.texts)


def padded(samples):
    """Words filled up with zeros, how many there are, and the classes."""
    longest = max(len(words) for words, _ in samples)
    rows = [words + [0] * (longest - len(words)) for words, _ in samples]
    lengths = [len(words) for words, _ in samples]
    classes = [[each] for _, each in samples]
    return np.array(rows, "int64"), np.array(lengths, "int64"), np.array(classes, "int64")


class Reader(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 6, padding_idx=0)
        self.lstm = nn.LSTM(6, 5, direction="bidirect")
        self.out = nn.Linear(10, 2)

    def forward(self, words, lengths):
        _, (hidden, _) = self.lstm(self.words(words), sequence_length=lengths)
        return self.out(paddle.concat([hidden[0], hidden[1]], axis=-1))


def read():
    net = begin(Reader(), 12)
    steps = paddle.optimizer.RMSProp(0.01, parameters=net.parameters())
    options = {"collate_fn": padded, "num_workers": 2, "persistent_workers": True}
    loader = paddle.io.DataLoader(Texts(), batch_size=8, **options)
    losses = []
    for _ in range(4):
        for words, lengths, classes in loader:
            loss = F.cross_entropy(net(words, lengths), classes)
            loss.backward()
            steps.step()
            steps.clear_grad()
            losses.append(float(loss))
    return losses


class Numbers(paddle.io.Dataset):
    def __init__(self, count, seed):
        drawn = np.random.RandomState(seed)
        self.x = drawn.rand(count, 3).astype("float32")
        self.y = (self.x @ [[1.0], [-2.0], [0.5]] + 0.1).astype("float32")

    def __getitem__(self, number):
        return self.x[number], self.y[number]

    def __len__(self):
        return len(self.x)


class MeanDistance(paddle.metric.Metric):
    def __init__(self):
        super().__init__()
        self.reset()

    def name(self):
        return "distance"

    def compute(self, outputs, labels):
        return paddle.abs(outputs - labels)

    def update(self, distances):
        self.total += float(np.sum(distances))
        self.count += len(distances)
        return self.total / self.count

    def accumulate(self):
        return self.total / self.count if self.count else 0.0

    def reset(self):
        self.total, self.count = 0.0, 0


class Noting(paddle.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.losses, self.tests, self.rates = [], [], []

    def on_train_batch_end(self, step, logs=None):
        self.losses.append(logs["loss"][0])
        self.rates.append(float(self.model._optimizer.get_lr()))

    def on_eval_end(self, logs=None):
        self.tests.append(logs["loss"][0])
        if self.model._metrics:
            self.tests.append(logs["distance"])


def measured():
    net = begin(nn.Sequential(nn.Linear(3, 8), nn.Sigmoid(), nn.Linear(8, 1)), 13)
    model, noting = paddle.Model(net), Noting()
    steps = paddle.optimizer.Adagrad(0.1, parameters=net.parameters())
    model.prepare(steps, nn.SmoothL1Loss(), MeanDistance())
    data = Numbers(40, 14), Numbers(10, 15)
    model.fit(*data, batch_size=10, epochs=5, verbose=0, callbacks=noting, num_workers=0)
    return noting.losses + noting.tests


def warmed():
    net = begin(nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)), 16)
    model, noting = paddle.Model(net), Noting()
    falls = paddle.optimizer.lr.CosineAnnealingDecay(0.2, T_max=20)
    rate = paddle.optimizer.lr.LinearWarmup(falls, warmup_steps=5, start_lr=0.0, end_lr=0.2)
    steps = paddle.optimizer.SGD(rate, parameters=net.parameters())
    model.prepare(steps, nn.MSELoss())
    stops = paddle.callbacks.EarlyStopping(
        patience=2, min_delta=0.05, save_best_model=False, verbose=0
    )
    data = Numbers(40, 17), Numbers(10, 18)
    model.fit(*data, batch_size=8, epochs=8, verbose=0, callbacks=[noting, stops])
    return noting.losses + noting.rates + noting.tests


def fitted():
    paddle.enable_static()
    main, first = paddle.static.Program(), paddle.static.Program()
    data = Numbers(40, 19)
    with paddle.static.program_guard(main, first):
        x = paddle.static.data("x", [None, 3], "float32")
        y = paddle.static.data("y", [None, 1], "float32")
        hidden = paddle.static.nn.fc(x, 6, activation="tanh", name="hidden")
        guess = paddle.static.nn.fc(hidden, 1, name="out")
        loss = paddle.mean(F.square_error_cost(guess, y))
        tests = main.clone(for_test=True)
        paddle.optimizer.Adam(0.05).minimize(loss)
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(first)
    drawn = np.random.RandomState(20)
    state = {
        each.name: drawn.uniform(-0.3, 0.3, each.shape).astype("float32")
        for each in sorted(main.all_parameters(), key=lambda p: p.name)
    }
    paddle.static.set_program_state(main, state)
    losses = []
    for _ in range(4):
        for place in range(0, 40, 8):
            feed = {"x": data.x[place : place + 8], "y": data.y[place : place + 8]}
            losses.append(exe.run(main, feed=feed, fetch_list=[loss])[0].item())
    feed = {"x": data.x, "y": data.y}
    losses.append(exe.run(tests, feed=feed, fetch_list=[loss])[0].item())
    paddle.disable_static()
    return losses


def saved_net():
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.ReLU(), nn.Linear(4, 1))
    rate = paddle.optimizer.lr.ExponentialDecay(0.1, 0.9)
    return net, paddle.optimizer.Adam(rate, parameters=net.parameters())


def trained(net, steps, count):
    data, losses = Numbers(8, 21), []
    for _ in range(count):
        loss = F.mse_loss(net(paddle.to_tensor(data.x)), paddle.to_tensor(data.y))
        loss.backward()
        steps.step()
        steps._learning_rate.step()
        steps.clear_grad()
        losses.append(float(loss))
    return losses


def written(folder):
    """Train, write, and train on: the losses behind the files."""
    net, steps = saved_net()
    begin(net, 22)
    trained(net, steps, 5)
    paddle.save(net.state_dict(), os.path.join(folder, "net.pdparams"))
    paddle.save(steps.state_dict(), os.path.join(folder, "net.pdopt"))
    return trained(net, steps, 20)


def continued(folder):
    """The losses of who goes on from such files."""
    net, steps = saved_net()
    net.set_state_dict(paddle.load(os.path.join(folder, "net.pdparams")))
    steps.set_state_dict(paddle.load(os.path.join(folder, "net.pdopt")))
    return trained(net, steps, 20)


with open(os.path.join(FILES, "scripts.json")) as file:
    RECORDED = json.load(file)


def test_texts_of_different_lengths_are_read_by_processes():
    np.testing.assert_allclose(read(), RECORDED["read"], atol=1e-5)


def test_metrics_and_callbacks_of_the_users_count():
    np.testing.assert_allclose(measured(), RECORDED["measured"], atol=1e-5)


def test_rates_warm_up_and_training_stops_early():
    np.testing.assert_allclose(warmed(), RECORDED["warmed"], atol=1e-5)


def test_a_program_is_fitted():
    np.testing.assert_allclose(fitted(), RECORDED["fitted"], atol=1e-5)


def test_training_goes_on_from_files_of_paddle():
    np.testing.assert_allclose(continued(FILES), RECORDED["written"], atol=1e-5)


def test_training_goes_on_from_files(tmp_path):
    with paddle.utils.unique_name.guard():
        expected = written(str(tmp_path))
    np.testing.assert_allclose(expected, RECORDED["written"], atol=1e-5)
    with paddle.utils.unique_name.guard():
        assert continued(str(tmp_path)) == expected
    saved_net()  # so that the next one's parameters have other names
    with pytest.raises(AssertionError, match="nothing for"):
        continued(str(tmp_path))


@pytest.mark.skipif(
    "FLUIDLITE_PADDLE26" not in os.environ, reason="FLUIDLITE_PADDLE26 names no Python"
)
def test_paddle_goes_on_from_files(tmp_path):
    written(str(tmp_path))
    with open(__file__) as script:
        source = script.read().partition("with open(")[0]
    changes = {
        "from fluidlite import": "import",
        "from fluidlite.": "from ",
        "import pytest": "",
        "__file__": "'.'",
    }
    for ours, theirs in changes.items():
        source = source.replace(ours, theirs)
    source += f"\nprint(json.dumps(continued({str(tmp_path)!r})))"
    command = [os.environ["FLUIDLITE_PADDLE26"], "-c", source]
    out = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={}, check=True)
    np.testing.assert_allclose(json.loads(out.stdout), RECORDED["written"], atol=1e-5)
