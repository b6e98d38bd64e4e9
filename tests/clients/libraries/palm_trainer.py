"""PaddlePALM trains BERT and ERNIE for classes, pairs and tags: the losses of nine steps."""

import json
import os
import tempfile

import absent
import numpy as np
import paddle.fluid as fluid
from outcomes import mark, outcome
from parameters import started

absent.stand_in("requests", "sentencepiece", "jieba", "matplotlib", "matplotlib.pyplot", "nltk")
if not hasattr(fluid.core, "get_cuda_device_count"):  # a 1.8.5 for the CPU has none
    fluid.core.get_cuda_device_count = lambda: 0

import paddlepalm as palm  # noqa: E402

LETTERS = list("abcdefghij")
PIECES = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]", *LETTERS, *("##" + c for c in LETTERS)]
TAGS = ["B-X", "I-X", "O"]
WIDTH = 16
CONFIG = dict(
    hidden_size=WIDTH, num_attention_heads=2, num_hidden_layers=2, vocab_size=len(PIECES),
    max_position_embeddings=32, type_vocab_size=2, sent_type_vocab_size=2,
    task_type_vocab_size=3, use_task_id=False, initializer_range=0.3, hidden_act="gelu",
    hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
)  # fmt: skip


def written(name, head, rows):
    """A table of texts."""
    with open(name, "w") as file:
        file.write("\n".join("\t".join(row) for row in [head, *rows]) + "\n")


def tables(random):
    """What is learned, in the folder of the process."""

    def text(count):
        return " ".join(random.choice(LETTERS, count))

    written("vocab.txt", ["[PAD]", "0"], [[p, str(i)] for i, p in enumerate(PIECES) if i])
    classes = [[str(random.randint(3)), text(random.randint(3, 9))] for _ in range(24)]
    written("Classify.tsv", ["label", "text_a"], classes)
    pairs = [[text(4), text(5), str(random.randint(2))] for _ in range(24)]
    written("Match.tsv", ["text_a", "text_b", "label"], pairs)
    tagged = [["\2".join(random.choice(some, 6)) for some in (LETTERS, TAGS)] for _ in range(24)]
    written("SequenceLabel.tsv", ["text_a", "label"], tagged)
    with open("tags.json", "w") as file:
        json.dump({tag: place for place, tag in enumerate(TAGS)}, file)


def trained(encoder, kind):
    """The losses of nine steps, and a number for the operators."""
    readers = {
        "Classify": lambda: palm.reader.ClassifyReader("vocab.txt", 16, seed=1),
        "Match": lambda: palm.reader.MatchReader("vocab.txt", 24, seed=1),
        "SequenceLabel": lambda: palm.reader.SequenceLabelReader(
            "vocab.txt", 16, "tags.json", seed=1
        ),
    }
    classes = 2 if kind == "Match" else 3
    with fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
        with fluid.program_guard(fluid.Program(), fluid.Program()):
            network = getattr(palm.backbone, encoder).from_config(dict(CONFIG))
            reader = readers[kind]()
            reader.load_data(kind + ".tsv", 8, num_epochs=3)
            reader.register_with(network)
            trainer = palm.Trainer(kind + encoder)
            loss = trainer.build_forward(network, getattr(palm.head, kind)(classes, WIDTH, 0.0))
            rates = palm.lr_sched.TriangularSchedualer(2, 9)
            adam = palm.optimizer.Adam(loss, 0.01, rates)
            trainer.build_backward(optimizer=adam, weight_decay=0.01)
            trainer.fit_reader(reader)
            started(loss.block.program)
            losses, step = [], trainer.train_one_step

            def noted(batch):
                found = step(batch)
                losses.append([float(np.ravel(value)[0]) for _, value in sorted(found.items())])
                return found

            trainer.train_one_step = noted
            np.random.seed(1)
            trainer.train(print_steps=100)
            types = [op.type for op in loss.block.program.global_block().ops]
    return {"losses": losses, "program": mark(types)}


def results(_):
    """What each encoder gives in each task."""
    os.chdir(tempfile.mkdtemp())
    tables(np.random.RandomState(0))
    return {
        encoder + " " + kind: outcome(trained, encoder, kind)
        for encoder in ("BERT", "ERNIE")
        for kind in ("Classify", "Match", "SequenceLabel")
    }
