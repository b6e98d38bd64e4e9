"""ERNIE's models take four steps, eager and as programs; its tokenizer cuts texts."""

import os
import tempfile

import absent
import numpy as np
import paddle.fluid as fluid
import paddle.fluid.dygraph as dygraph
from outcomes import mark, outcome
from parameters import four_losses

absent.stand_in("requests", "tqdm", "sentencepiece", "jieba", "pathlib2")

import ernie  # noqa: E402
from ernie.optimization import AdamW, LinearDecay, optimization  # noqa: E402

CONFIG = dict(
    hidden_size=24, num_attention_heads=4, num_hidden_layers=2, vocab_size=50,
    max_position_embeddings=16, type_vocab_size=2, initializer_range=0.3, hidden_act="gelu",
    hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, num_labels=3, emb_size=24,
)  # fmt: skip
RANDOM = np.random.RandomState(0)
WORDS = RANDOM.randint(1, 50, [4, 10])
WORDS[1, 7:] = WORDS[2, 4:] = 0
PARTS = (np.arange(10)[None] > 5).repeat(4, 0).astype("int64")
LABELS = RANDOM.randint(0, 3, [4])
TASKS = {
    "ErnieModelForSequenceClassification": {"labels": LABELS},
    "ErnieModelForTokenClassification": {"labels": RANDOM.randint(0, 3, [4, 10])},
    "ErnieModelForQuestionAnswering": {"start_pos": LABELS, "end_pos": LABELS + 2},
    "ErnieModelForPretraining": {
        "nsp_labels": LABELS[:, None] % 2,
        "mlm_pos": np.array([[0, 1], [1, 2], [3, 8]]),
        "labels": np.array([4, 7, 9]),
    },
}
PIECES = [
    "[PAD]",
    "[CLS]",
    "[SEP]",
    "[UNK]",
    "[MASK]",
    "我",
    "们",
    "a",
    "##b",
    "hello",
    "wor",
    "##ld",
]


def eager(name, decays):
    """Losses, norms of gradients and names of parameters, and an answer before the training."""
    with dygraph.guard():
        model = getattr(ernie, name)(dict(CONFIG), name="m")
        for number, (_, value) in enumerate(sorted(model.state_dict().items())):
            draw = np.random.RandomState(number).randn(*value.shape)
            value.set_value((draw * 0.2).astype("float32"))
        given = dict(parameter_list=model.parameters())
        given["grad_clip"] = fluid.clip.GradientClipByGlobalNorm(1.0)
        if decays:
            optimizer = AdamW(learning_rate=LinearDecay(0.01, 2, 10), weight_decay=0.1, **given)
        else:
            optimizer = fluid.optimizer.Adam(0.01, **given)
        words, parts = dygraph.to_variable(WORDS), dygraph.to_variable(PARTS)
        labels = {key: dygraph.to_variable(value) for key, value in TASKS[name].items()}
        losses, norms = [], []
        for _ in range(4):
            loss, *answers = model(words, parts, **labels)
            loss.backward()
            losses.append(float(loss.numpy()[0]))
            if not norms:
                first = [np.array(each.numpy()).ravel()[:10].tolist() for each in answers]
                gradients = [each.gradient() for each in model.parameters()]
                norms = [float(np.linalg.norm(each)) for each in gradients if each is not None]
            optimizer.minimize(loss)
            model.clear_gradients()
        names = mark([sorted(model.state_dict()), [each.name for each in model.parameters()]])
    return {"losses": losses, "norms": norms, "names": names, "answers": first}


def static(name, scheduler="linear_warmup_decay"):
    """Losses of four steps of a program, and a number for its operators."""
    main, startup = fluid.Program(), fluid.Program()
    feed = {"words": WORDS, "parts": PARTS, **TASKS[name]}
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        model = getattr(ernie, name)(dict(CONFIG), name="m")
        fed = {
            key: fluid.data(key, [None, *value.shape[1:]], "int64") for key, value in feed.items()
        }
        loss = model(fed["words"], fed["parts"], **{key: fed[key] for key in TASKS[name]})[0]
        optimization(
            loss, num_train_steps=10, learning_rate=0.01, weight_decay=0.1,
            train_program=main, startup_prog=startup, warmup_steps=2, scheduler=scheduler,
        )  # fmt: skip
    losses = four_losses(main, startup, feed, loss)
    return {"losses": losses, "program": mark([op.type for op in main.global_block().ops])}


def pieces():
    """The numbers of a text's pieces."""
    folder = tempfile.mkdtemp()
    with open(os.path.join(folder, "vocab.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(PIECES) + "\n")
    tokenizer = ernie.ErnieTokenizer.from_pretrained(folder)
    return [np.array(each).tolist() for each in tokenizer.encode("Hello world 我们 ab zz")]


def results(_):
    """What each model gives."""
    found = {
        f"{name}, decays: {decays}": outcome(eager, name, decays)
        for name in TASKS
        for decays in (False, True)
    }
    for name in list(TASKS)[:3]:
        found["program " + name] = outcome(static, name)
    found["noam"] = outcome(static, next(iter(TASKS)), "noam_decay")
    return {**found, "pieces": outcome(pieces)}
