"""PaddleHub's tasks train on a module of ours and predict: losses, scores, what is predicted."""

import os
import sys
import tempfile
import types

import absent
import numpy as np

absent.stand_in(
    *[
        "requests",
        "cv2",
        "PIL",
        "flask",
        "gunicorn",
        "sentencepiece",
        "nltk",
        "yaml",
        "pandas",
        "rarfile",
    ]
)
absent.stand_in(*["colorlog", "git", "pycocotools", "yapf", "chardet", "sklearn", "matplotlib"])


class Silent:
    """Takes what a log is told."""

    def __init__(self, *words, **more):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def __getattr__(self, name):
        return lambda *words, **more: None


for package, name in (("visualdl", "LogWriter"), ("tqdm", "tqdm")):
    sys.modules[package] = types.ModuleType(package)
    setattr(sys.modules[package], name, Silent)

HOME = tempfile.mkdtemp()
os.environ["HUB_HOME"] = HOME

import paddle.fluid as fluid  # noqa: E402
import paddlehub as hub  # noqa: E402
from outcomes import outcome  # noqa: E402
from parameters import started  # noqa: E402

GOOD = ("good", "fine", "nice")
WORDS = (*GOOD, "bad", "poor", "ugly", "the", "a", "film", "book", "was", "is", "very", "not")
LENGTH = 10
MODULE = """
import os
import paddle.fluid as fluid
from paddlehub.module.module import moduleinfo
from paddlehub.module.nlp_module import TransformerModule

@moduleinfo(
    name="small", version="1.0.0", summary="", author="", author_email="", type="nlp/semantic_model"
)
class Small(TransformerModule):
    def _initialize(self):
        self.MAX_SEQ_LEN = 128
        self.params_path = os.path.join(self.directory, "assets", "params")
        self.vocab_path = os.path.join(self.directory, "assets", "vocab.txt")

    def net(self, input_ids, position_ids, segment_ids, input_mask):
        return encoder(input_ids, position_ids, segment_ids, input_mask)

def encoder(words, places, sides, mask):
    layers = fluid.layers
    def table(ids, count, name):
        return layers.embedding(ids, [count, 16], param_attr=name)
    x = table(words, 40, "words") + table(places, 128, "places") + table(sides, 2, "sides")
    x = layers.layer_norm(x, begin_norm_axis=2, param_attr="norm_w", bias_attr="norm_b")
    keys = layers.matmul(mask, mask, transpose_y=True)
    keys = layers.scale(keys, scale=10000.0, bias=-1.0, bias_after_scale=False)
    for k in range(2):
        def fc(v, size, name, act=None):
            name = "layer_%d_%s" % (k, name)
            names = dict(param_attr=name + "_w", bias_attr=name + "_b")
            return layers.fc(v, size, num_flatten_dims=2, act=act, **names)
        q, w, v = (fc(x, 16, name) for name in "qkv")
        weights = layers.softmax(layers.matmul(q, w, transpose_y=True, alpha=0.35) + keys)
        x = x + fc(layers.matmul(weights, v), 16, "o")
        names = dict(param_attr="layer_%d_norm_w" % k, bias_attr="layer_%d_norm_b" % k)
        x = layers.layer_norm(x, begin_norm_axis=2, **names)
        x = x + fc(fc(x, 32, "wide", "gelu"), 16, "back")
    first = layers.slice(x, axes=[1], starts=[0], ends=[1])
    pooled = layers.fc(first, 16, act="tanh", param_attr="pooled_w", bias_attr="pooled_b")
    return pooled, x
"""


def module():
    """A module in a folder: its code, its words, its parameters."""
    folder = os.path.join(HOME, "small")
    params = os.path.join(folder, "assets", "params")
    os.makedirs(params)
    for place, text in (
        (("__init__.py",), ""),
        (("module.py",), MODULE),
        (
            ("assets", "vocab.txt"),
            "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]),
        ),
    ):
        with open(os.path.join(folder, *place), "w") as file:
            file.write(text)
    names = {}
    exec(MODULE.split("class Small")[0].rsplit("@", 1)[0], names)
    exec("def encoder" + MODULE.split("def encoder")[1], names)
    main, startup, scope = fluid.Program(), fluid.Program(), fluid.Scope()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup), fluid.scope_guard(scope):
        inputs = [
            fluid.layers.data(name, [-1, LENGTH, 1], dtype=dtype)
            for name, dtype in zip(("a", "b", "c", "d"), ("int64", "int64", "int64", "float32"))
        ]
        names["encoder"](*inputs)
        exe = fluid.Executor(fluid.CPUPlace())
        exe.run(startup)
        started(main)
        fluid.io.save_params(exe, params, main)
    for name in os.listdir(params):
        os.rename(os.path.join(params, name), os.path.join(params, "@HUB_small@" + name))
    return hub.Module(directory=folder)


def written(name, lines):
    """A file of these lines, below the folder of data."""
    with open(os.path.join(HOME, name), "w") as file:
        file.write("\n".join(lines) + "\n")
    return name


def sentences(random, count, columns):
    """Lines of random words; ``columns`` gives what stands behind them."""
    for _ in range(count):
        words = random.choice(WORDS, random.randint(3, LENGTH - 2)).tolist()
        yield "\t".join([" ".join(words), *map(str, columns(words))])


def good(words):
    return int(sum(word in GOOD for word in words) > 0)


def watched(task, found):
    """Have a task begin with known numbers, and note what its steps give."""

    def begin(self):
        with self.phase_guard("train"):
            for op in self.main_program.global_block().ops:
                if op.type == "dropout":
                    op._set_attr("dropout_prob", 0.0)
            words = np.array(fluid.global_scope().find_var("@HUB_small@words").get_tensor())
            found["of the module"] = words[1].tolist()
            started(self.main_program)

    def step(self, state):
        values = [np.asarray(each) for each in state.run_results]
        if not self.is_predict_phase:
            key = f"{self.phase} losses"
            found.setdefault(key, []).append(float(values[-1].ravel()[0]))

    task.add_hook("finetune_start_event", "begin", begin)
    task.add_hook("run_step_event", "note", step)


def config(strategy):
    """Of a run without a GPU."""
    folder = tempfile.mkdtemp(dir=HOME)
    return hub.RunConfig(
        use_data_parallel=False, use_cuda=False, num_epoch=1, checkpoint_dir=folder,
        batch_size=4, eval_interval=6, log_interval=2, strategy=strategy,
    )  # fmt: skip


def trained(task, records):
    """What a task gives while it trains, and what it predicts then."""
    found = {}
    watched(task, found)
    np.random.seed(5)
    task.finetune_and_eval()
    answers = task.predict(data=records)
    texts = any(isinstance(answer, (str, list, dict)) for answer in answers)
    found["predicted"] = [str(answer) if texts else float(answer) for answer in answers]
    return found


def results(_):
    """What each task gives."""
    small = module()
    tokenizer = hub.BertTokenizer(vocab_file=small.get_vocab_path())
    random = np.random.RandomState(0)
    sets = hub.dataset.base_nlp_dataset

    def decay():
        """A strategy serves one task: it takes its rate's place."""
        return hub.AdamWeightDecayStrategy(
            learning_rate=0.01, warmup_proportion=0.1, weight_decay=0.01
        )

    def data(kind, columns, **more):
        files = {}
        for part, count in (("train", 24), ("dev", 4), ("test", 8)):
            lines = ["text_a\tlabel", *sentences(random, count, columns)]
            files[f"{part}_file"] = written(f"{kind.__name__}.{part}", lines)
            files[f"{part}_file_with_header"] = True
        return kind(HOME, tokenizer=tokenizer, max_seq_len=LENGTH, **files, **more)

    def started_anew():
        _inputs, outputs, _ = small.context(trainable=True, max_seq_len=LENGTH)
        return outputs["pooled_output"], outputs["sequence_output"]

    def records(of):
        return [
            {k: v for k, v in each.items() if k != "label"} for each in of.get_test_records()[:5]
        ]

    found = {}
    slanted = {"slanted_triangle": {"cut_fraction": 0.2, "ratio": 8}}
    classes = data(
        sets.TextClassificationDataset, lambda words: [good(words)], label_list=["0", "1"]
    )
    for name, strategy in (
        ("weight decay", decay()),
        ("near its start", hub.L2SPFinetuneStrategy(learning_rate=0.01)),
        ("slanted", hub.CombinedStrategy("adam", 0.01, slanted, clip={"GlobalNorm": 1.0})),
        ("plain", hub.DefaultStrategy(learning_rate=0.01)),
    ):
        pooled, _ = started_anew()
        task = hub.TextClassifierTask(2, classes, feature=pooled, config=config(strategy))
        found[name] = outcome(trained, task, records(classes))
    for network in ("bow", "cnn", "dpcnn", "gru"):
        _, features = started_anew()
        task = hub.TextClassifierTask(
            2, classes, token_feature=features, network=network, config=config(decay())
        )
        found[network] = outcome(trained, task, records(classes))
    marks = data(
        sets.SeqLabelingDataset,
        lambda words: [" ".join("G" if good([word]) else "O" for word in words)],
        label_list=["G", "O"],
        split_char=" ",
    )
    for with_crf in (False, True):
        _, features = started_anew()
        task = hub.SequenceLabelTask(
            features, LENGTH, 2, dataset=marks, add_crf=with_crf, config=config(decay())
        )
        found["tags by CRF" if with_crf else "tags"] = outcome(trained, task, records(marks))
    values = data(sets.RegressionDataset, lambda words: [len(words) / 10])
    pooled, _ = started_anew()
    task = hub.RegressionTask(dataset=values, feature=pooled, config=config(decay()))
    found["numbers"] = outcome(trained, task, records(values))
    several = data(
        sets.MultiLabelDataset,
        lambda words: [str(good(words)) + str(len(words) % 2)],
        label_list=["good", "odd"],
    )
    pooled, _ = started_anew()
    task = hub.MultiLabelClassifierTask(pooled, 2, dataset=several, config=config(decay()))
    found["several labels"] = outcome(trained, task, records(several))
    pooled, _ = started_anew()
    freezing = hub.ULMFiTStrategy(learning_rate=0.01, ratio=8, cut_fraction=0.2)
    task = hub.TextClassifierTask(2, classes, feature=pooled, config=config(freezing))
    found["layer by layer"] = outcome(trained, task, records(classes))
    return found
