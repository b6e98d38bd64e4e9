"""PaddleRec trains, saves, infers and tunes models of clicks, of sessions and of pairs.

Each is described as PaddleRec's own models are, by a model, a reader, data and a ``config.yaml``.
``python -m paddlerec.run -m config.yaml`` runs within the process.
"""

import contextlib
import io
import json
import os
import re
import runpy
import sys
import tempfile

import numpy as np
import paddle.fluid as fluid
import yaml
from outcomes import outcome
from paddlerec.core.metrics import AUC, PosNegRatio, PrecisionRecall, RecallK
from paddlerec.core.model import ModelBase
from paddlerec.core.reader import ReaderBase
from parameters import dense, drawn

layers = fluid.layers
SLOTS, DENSE, WORDS, LENGTH = ["11", "12", "13"], 4, 30, 5


def embedded(x, size, name):
    """Rows of a sparse table with known start values."""
    return layers.embedding(x, [WORDS, size], is_sparse=True, param_attr=drawn(name, [WORDS, size]))


class Clicks(ModelBase):
    """Wide and deep, on the slots that the description lists."""

    def net(self, inputs, is_infer=False):
        label, numbers = inputs[-1], self._dense_data_var[0]
        slots = self._sparse_data_var[:-1]
        rows = [layers.sequence_pool(embedded(slot, 6, "table"), "sum") for slot in slots]
        hidden = dense(layers.concat([*rows, numbers], axis=1), 8, "deep", "relu")
        score = layers.sigmoid(dense(hidden, 1, "top") + dense(numbers, 1, "wide"))
        predict = layers.concat([1.0 - score, score], axis=1)
        label = layers.cast(label, "int64")
        auc, accuracy = AUC(predict, label, num_thresholds=31), PrecisionRecall(predict, label, 2)
        if is_infer:  # AUC would be cleared by float32 for int64, half of which 1.8.5 takes
            self._infer_results.update({**auc.get_result(), "accuracy": accuracy})
            return
        self._cost = layers.mean(layers.cross_entropy(predict, label))
        self._metrics.update({"cost": self._cost, "auc": auc, "accuracy": accuracy})


class Sessions(ModelBase):
    """What a GRU expects to be looked at next."""

    def input_data(self, is_infer=False, **kwargs):
        return [fluid.data(name, [None, 1], "int64", lod_level=1) for name in ("seen", "next")]

    def net(self, inputs, is_infer=False):
        seen, after = inputs
        hidden = layers.dynamic_gru(
            dense(embedded(seen, 6, "shown"), 15, "gate"),
            *(5, drawn("gru.w", [5, 15]), drawn("gru.b", [1, 15])),
        )
        scores = dense(hidden, WORDS, "scores", "softmax")
        recall = RecallK(scores, after, k=7)
        if is_infer:
            self._infer_results["recall"] = recall
            return
        self._cost = layers.mean(layers.cross_entropy(scores, after))
        self._metrics.update({"cost": self._cost, "recall": recall})


class SessionsReader(ReaderBase):
    """Lines of numbers, each but the last before its next."""

    def init(self):
        pass

    def generate_sample(self, line):
        def reader():
            words = [int(word) for word in line.split()]
            yield [("seen", words[:-1]), ("next", words[1:])]

        return reader


class Pairs(ModelBase):
    """Titles are nearer to what is asked for than others are."""

    def input_data(self, is_infer=False, **kwargs):
        shape = [None, LENGTH]
        return [fluid.data(name, shape, "float32") for name in ("asked", "titled", "other")]

    def net(self, inputs, is_infer=False):
        asked = dense(inputs[0], 6, "asked", "tanh")
        right, wrong = [
            layers.cos_sim(asked, dense(each, 6, "titled", "tanh")) for each in inputs[1:]
        ]
        if is_infer:
            self._infer_results.update({"right": right, "wrong": wrong})
            return
        margin = layers.fill_constant_batch_size_like(right, [-1, 1], "float32", 0.2)
        self._cost = layers.mean(layers.relu(margin + wrong - right))
        self._metrics.update({"cost": self._cost, **PosNegRatio(right, wrong).get_result()})


class PairsReader(ReaderBase):
    """Batches of three matrices from lines of numbers."""

    def init(self):
        self.batch = 6

    def generate_sample(self, line):
        def reader():
            values = np.array(line.split(), "float32").reshape(3, LENGTH)
            yield list(zip(("asked", "titled", "other"), values))

        return reader

    def batch_tensor_creator(self, samples):
        def batches():
            rows = list(samples())
            for start in range(0, len(rows), self.batch):
                yield [np.stack(each) for each in zip(*rows[start : start + self.batch])]

        return batches


def clicks(random):
    """A line of slots and their values."""
    numbers = [f"numbers:{value:.3f}" for value in random.uniform(-1, 1, DENSE)]
    signs = [f"{slot}:{random.randint(WORDS)}" for slot in SLOTS for _ in range(random.randint(4))]
    return " ".join([*numbers, *signs, f"label:{random.randint(2)}"])


def sessions(random):
    """A line of what was looked at."""
    return " ".join(map(str, random.randint(0, WORDS, random.randint(3, 8))))


def pairs(random):
    """A line of three vectors."""
    return " ".join(f"{value:.4f}" for value in random.randn(3 * LENGTH))


def described(kind, learned, threads, more):
    """A description of what is trained, and then inferred from each epoch's model."""
    dataset = {"name": kind, "type": "DataLoader", "batch_size": 6, "data_path": "{workspace}/data"}
    if kind == "Clicks":
        dataset.update(sparse_slots=" ".join([*SLOTS, "label"]), dense_slots=f"numbers:[{DENSE}]")
    else:
        dataset["data_converter"] = f"{{workspace}}/{kind}_reader.py"
    phases = [
        {
            "name": name,
            "model": f"{{workspace}}/{kind}_model.py",
            "dataset_name": kind,
            "thread_num": threads,
        }
        for name in ("learning", "asking")
    ]
    common = {"device": "cpu", "print_interval": 3}
    train = {
        **common,
        "name": "train",
        "class": "train",
        "epochs": 2,
        "phases": ["learning"],
        "save_checkpoint_interval": 1,
        "save_checkpoint_path": "{workspace}/kept",
        "runner_result_dump_path": "{workspace}/trained",
        **more,
    }
    infer = {
        **common,
        "name": "infer",
        "class": "infer",
        "phases": ["asking"],
        "init_model_path": "{workspace}/kept",
        "runner_result_dump_path": "{workspace}/inferred",
    }
    return {
        "workspace": os.getcwd(),
        "dataset": [dataset],
        "hyper_parameters": {
            "optimizer": {"class": learned, "learning_rate": 0.05, "strategy": "async"}
        },
        "mode": ["train", "infer"],
        "runner": [train, infer],
        "phase": phases,
    }


def trained(kind, learned, threads=1, more=None):
    """What every batch and every end of an epoch gives, and the names of what is saved."""
    os.chdir(tempfile.mkdtemp())
    os.mkdir("data")
    random = np.random.RandomState(5)
    for part in ("one", "two"):
        with open("data/" + part, "w") as file:
            file.write("".join(globals()[kind.lower()](random) + "\n" for _ in range(18)))
    for name, suffix in (("model", ""), ("reader", "Reader")):
        with open(f"{kind}_{name}.py", "w") as file:
            file.write(f"from ranking import {kind + suffix} as {name.title()}\n")
    with open("config.yaml", "w") as file:
        yaml.safe_dump(described(kind, learned, threads, more or {}), file)
    sys.argv = ["paddlerec", "-m", "config.yaml"]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        runpy.run_module("paddlerec.run", run_name="__main__")
    totals = [line for line in said.getvalue().splitlines() if "global metrics" in line]
    numbers = [re.findall(r"=(?:\[*)([-\d.]+)", line.split("global metrics")[1]) for line in totals]
    dumped = sorted(name for name in os.listdir() if name.startswith(("trained", "inferred")))
    return {
        "batches": {name: batches(name) for name in dumped},
        "totals": [list(map(float, line)) for line in numbers],
        "saved": {folder: sorted(files) for folder, _, files in os.walk("kept")},
        "served": {folder: sorted(files) for folder, _, files in os.walk("served")},
    }


def totals_of_two():
    """What ends of epochs give on two devices; which of them counts first is open on 1.8.5."""
    return trained("Clicks", "sgd", 2)["totals"]


def batches(name):
    """The numbers of each batch, in the order of their names."""
    with open(name) as file:
        rows = json.load(file)
    return [[np.ravel(row[key]).tolist() for key in sorted(row)] for row in rows]


def results(_):
    """What each model gives with an optimizer."""
    served = {
        "save_inference_interval": 1,
        "save_inference_path": "{workspace}/served",
        "save_inference_feed_varnames": ["asked", "titled"],
        "save_inference_fetch_varnames": ["cos_sim_0.tmp_0"],
    }
    return {
        "clicks": outcome(trained, "Clicks", "adam"),
        "clicks on two": outcome(totals_of_two),
        "sessions": outcome(trained, "Sessions", "adagrad"),
        "pairs": outcome(trained, "Pairs", "sgd", 1, served),
    }
