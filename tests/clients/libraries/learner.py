"""propeller trains a classifier of texts, evaluates it, goes on from a checkpoint and predicts."""

import os
import tempfile

import absent
import numpy as np
import paddle.fluid as fluid
from outcomes import outcome
from parameters import dense, drawn

absent.stand_in("sklearn", "sklearn.metrics", "tensorboardX", "colorlog", "tqdm")

import propeller.paddle as propeller  # noqa: E402
from propeller.data.feature_column import LabelColumn, TextColumn, TextIDColumn  # noqa: E402
from propeller.paddle.data import FeatureColumns  # noqa: E402
from propeller.paddle.train import exporter, metrics  # noqa: E402

layers = fluid.layers
WORDS, CLASSES = [letter.encode() for letter in "abcdefghijklmnop"], 2


class Classifier(propeller.train.Model):
    """Sums of rows of words, and of numbers, through two layers."""

    trained = None  #: the loss of the program that trains

    def __init__(self, config, mode, run_config=None):
        self.config, self.mode = config, mode

    def forward(self, features):
        size, rows = self.config["size"], []
        for number, words in enumerate(features):
            table = drawn(f"table_{number}", [len(WORDS), size])
            found = fluid.embedding(words, [len(WORDS), size], param_attr=table)
            rows.append(layers.reduce_sum(found, dim=1))
        hidden = layers.concat(rows, axis=1)
        hidden = layers.dropout(dense(hidden, size, "hidden", "tanh"), 0.0)
        propeller.summary.histogram("hidden", hidden)
        return dense(hidden, CLASSES, "scores")

    def loss(self, predictions, labels):
        found = layers.mean(layers.softmax_with_cross_entropy(predictions, labels))
        propeller.summary.scalar("loss", found)
        if self.mode == propeller.RunMode.TRAIN:
            Classifier.trained = found
        return found

    def backward(self, loss):
        rate = layers.polynomial_decay(self.config["rate"], 20, 0.0)
        learned = getattr(fluid.optimizer, self.config["optimizer"])(rate)
        learned.minimize(loss)

    def metrics(self, predictions, labels):
        label = layers.reshape(labels, [-1])
        chosen = layers.argmax(predictions, axis=1)
        score = layers.slice(layers.softmax(predictions), axes=[1], starts=[1], ends=[2])
        flat = layers.reshape(score, [-1])
        near = layers.cast(label, "float32")
        first = [metrics.Acc, metrics.Precision, metrics.Recall, metrics.F1]
        return {
            **{each.__name__: each(label, chosen) for each in first},
            "MSE": metrics.MSE(near, flat),
            "Cosine": metrics.Cosine(layers.unsqueeze(near, [1]), score),
            "Mrr": metrics.Mrr(label, label, flat),
            "PNRatio": metrics.PNRatio(layers.zeros_like(label), label, flat),
            "BinaryPNRatio": metrics.BinaryPNRatio(layers.zeros_like(label), label, flat),
            "BestAcc": metrics.BestAcc(label, flat),
            "PrecisionAtThreshold": metrics.PrecisionAtThreshold(label, flat),
        }


def written(name, random, count):
    """A folder with a file of texts, numbers and labels."""
    os.mkdir(name)
    with open(os.path.join(name, "part"), "wb") as file:
        for _ in range(count):
            words = random.choice(WORDS, random.randint(2, 7))
            numbers = random.randint(0, len(WORDS), random.randint(1, 5))
            label = b"yes" if sum(map(ord, words[0].decode())) % 2 else b"no"
            file.write(b"\t".join([b" ".join(words), b" ".join(b"%d" % n for n in numbers), label]))
            file.write(b"\n")


class Losses(propeller.train.RunHook):
    """Notes the loss of each step."""

    def __init__(self):
        self.noted = []

    def before_run(self, state):
        return [Classifier.trained]

    def after_run(self, found, state):
        self.noted.append(float(np.ravel(found[0])[0]))


class Evaluations(exporter.Exporter):
    """Notes what is evaluated while a model trains."""

    def __init__(self):
        self.noted = []

    def export(self, exe, program, spec, found, state):
        self.noted.append(numbers(found["eval"]))


def numbers(found):
    """Values of metrics by name."""
    return {name: float(np.ravel(value)[0]) for name, value in sorted(found.items())}


def dataset(name, repeat=False, use_gz=False, labelled=True):
    """Padded batches of a folder's texts."""
    vocabulary = {word: place for place, word in enumerate(WORDS)}
    columns = FeatureColumns([
        TextColumn("words", unk_id=0, vocab_dict=vocabulary),
        TextIDColumn("numbers"),
        LabelColumn("labels", vocab_dict={b"no": 0, b"yes": 1}),
    ])  # fmt: skip
    rows = columns.build_dataset(name, data_dir=name, use_gz=use_gz, repeat=repeat)
    count = 3 if labelled else 2
    rows = rows.map(lambda *row: (*row[:2], np.array([row[2]]))[:count]).padded_batch(6)
    rows.data_shapes, rows.data_types = [[-1, -1]] * count, ["int64"] * count
    return rows


def learned(optimizer, rate, use_gz):
    """What is trained, evaluated, exported and predicted."""
    os.chdir(tempfile.mkdtemp())
    random = np.random.RandomState(3)
    for name, count in (("train", 40), ("dev", 17)):
        written(name, random, count)
    params = propeller.HParams(size=5, rate=rate, optimizer=optimizer)

    def configured(steps):
        return propeller.RunConfig(
            model_dir="model", max_steps=steps, save_steps=4, eval_steps=4, log_steps=2,
            skip_steps=0, max_ckpt=2,
        )  # fmt: skip

    def better(old, new):
        return new["eval"]["MSE"] < old["eval"]["MSE"]

    losses, evaluations = Losses(), Evaluations()
    for steps in (9, 14):
        with fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
            propeller.train_and_eval(
                model_class_or_model_fn=Classifier, params=params, run_config=configured(steps),
                train_dataset=dataset("train", True, use_gz), eval_dataset=dataset("dev"),
                train_hooks=[losses],
                exporters=[
                    evaluations,
                    exporter.BestExporter("best", better),
                    exporter.BestInferenceModelExporter("served", better),
                ],
            )  # fmt: skip
    with fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
        learner = propeller.Learner(Classifier, configured(20), params)
        judged = numbers(learner.evaluate(dataset("dev")))
        answers = list(learner.predict(dataset("dev", labelled=False)))
    return {
        "losses": losses.noted,
        "evaluated": evaluations.noted,
        "judged": judged,
        "answers": [np.ravel(each).tolist() for each in answers],
        "saved": {
            folder: sorted(files) for folder, _, files in os.walk(".") if "history" not in folder
        },
        "served": served(),
    }


def served():
    """What the best model that was saved answers."""
    exe = fluid.Executor(fluid.CPUPlace())
    with fluid.scope_guard(fluid.Scope()):
        program, names, fetched = fluid.io.load_inference_model("served/inference", exe)
        feed = {name: np.arange(6).reshape(2, 3) for name in names}
        return exe.run(program, feed, fetched)[0].tolist()


def results(_):
    """What each optimizer gives."""
    return {
        "sgd": outcome(learned, "SGD", 0.3, False),
        "adam": outcome(learned, "Adam", 0.03, True),
    }
