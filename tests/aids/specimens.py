"""Programs to look into."""

from itertools import pairwise

import numpy as np

import fluidlite as fluid
from fluidlite.ir.program import Program


def lenet(train=True):
    """A small convolutional net in the default programs, trained by Momentum; gives the loss."""
    image = fluid.data("image", [None, 1, 16, 16], "float32")
    label = fluid.data("label", [None, 1], "int64")
    hidden = fluid.nets.simple_img_conv_pool(
        image, num_filters=4, filter_size=5, pool_size=2, pool_stride=2, act="relu"
    )
    hidden = fluid.layers.fc(hidden, size=20, act="tanh")
    hidden = fluid.layers.dropout(hidden, 0.3)
    scores = fluid.layers.fc(hidden, size=10, act="softmax")
    loss = fluid.layers.mean(fluid.layers.cross_entropy(scores, label))
    if train:
        fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
    return loss


def lenet_feed(count=6):
    """What :func:`lenet` is fed."""
    rng = np.random.default_rng(0)
    return {
        "image": rng.normal(size=[count, 1, 16, 16]).astype("float32"),
        "label": rng.integers(0, 10, [count, 1]),
    }


def deep(layers, train=True):
    """Many layers that look alike, each in a name scope, in programs of their own."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        x = fluid.data("x", [None, 16], "float32")
        label = fluid.data("label", [None, 1], "int64")
        for _ in range(layers):
            with fluid.name_scope("layer"):
                inner = fluid.layers.fc(x, size=16, act="relu")
                x = x + fluid.layers.fc(inner, size=16)
        scores = fluid.layers.fc(x, size=10)
        loss = fluid.layers.mean(fluid.layers.softmax_with_cross_entropy(scores, label))
        if train:
            fluid.optimizer.Adam(0.001).minimize(loss)
    return main


def loop():
    """A loop that halves x until it is small, and its gradient, in the default programs."""
    x = fluid.data("x", [1], "float32")
    x.stop_gradient = False
    limit = fluid.layers.fill_constant([1], "float32", 1.0)
    (small,) = fluid.layers.while_loop(
        lambda v: fluid.layers.less_than(limit, v), lambda v: [v * 0.5], [x]
    )
    loss = fluid.layers.mean(fluid.layers.square(small))
    fluid.backward.append_backward(loss)
    return loss


def parsed(body):
    """A program of one block from lines of text."""
    return Program.parse("program (seed=0) {\n block 0 {\n" + body + "\n }\n}")


#: names that would run if a page took them for markup
EVIL = [
    "<script>document.title='evil'</script>",
    "</script><script>document.title='evil'</script>",
    '"><img src=x onerror="document.title=\'evil\'">',
    "'-document.write(1)-'",
    "<!--<script>",
    "]]>&lt;b&gt;${1}`{{title}}",
    "\u2028\u2029\x00\x1b[31m\ud800 \U0001f600 \u202ename",
]


def evil():
    """A program whose names and attributes are such."""
    program = Program()
    block = program.global_block()
    for name in EVIL:
        block.create_var(name=name, shape=[2], dtype="float32", is_data=name == EVIL[0])
    for a, b in pairwise(EVIL):
        block.append_op("scale", {"X": a}, {"Out": b})
        block.ops[-1].namescope = f"/{a.replace('/', '|')}/"
        block.ops[-1].device = a
        block.ops[-1].replace_attr(a, b)
    return program
