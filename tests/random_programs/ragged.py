"""Random programs over sequences of several lengths; plain Python 3.7, for fluidlite and for fluid.

    REAL_PYTHON -m random_programs.ragged FILE FIRST COUNT

runs some in the real system and leaves what they compute in ``FILE``.
"""

import random
import sys
import zlib
from importlib import import_module

import numpy as np

IDS, COLUMNS, LABELS = 9, 4, 4


class Net:
    """What has been built: sequences of one level, rows with one of each, and parts of the loss."""

    def __init__(self, fluid, seed):
        self.fluid, self.f, self.rng = fluid, fluid.layers, random.Random(seed)
        self.arrays = import_module(fluid.__name__ + ".layers.control_flow")
        data, width = fluid.data, [None, COLUMNS]
        self.x = data("x", width, "float32", lod_level=1)
        self.d = data("d", width, "float32")
        self.two = data("two", width, "float32", lod_level=2)
        self.ids = data("ids", [None, 1], "int64", lod_level=1)
        self.labels = data("labels", [None, 1], "int64", lod_level=1)
        self.image = data("image", [None, 1, 4, 5], "float32")
        for var in (self.x, self.d, self.two, self.image):
            var.stop_gradient = False
        self.sequences = [self.x, self.f.embedding(self.ids, [IDS, COLUMNS])]
        self.rows, self.losses, self.integers = [self.d], [], []

    def sequence(self):
        return self.rng.choice(self.sequences)

    def row(self):
        return self.rng.choice(self.rows)

    def flag(self):
        return self.rng.random() < 0.5

    def choose(self, *among):
        return self.rng.choice(among)


def fc(n):
    n.sequences.append(n.f.fc(n.sequence(), COLUMNS, act=n.choose("tanh", "sigmoid", None)))


def add(n):
    n.sequences.append(n.f.elementwise_add(n.sequence(), n.sequence()))


def conv(n):
    n.sequences.append(n.f.sequence_conv(n.sequence(), COLUMNS, filter_size=n.choose(1, 2, 3)))


def pool(n):
    how = n.choose("sum", "average", "sqrt", "max", "first", "last")
    n.rows.append(n.f.sequence_pool(n.sequence(), how))


def expand_as(n):
    n.sequences.append(n.f.elementwise_mul(n.sequence(), n.f.sequence_expand_as(n.row(), n.x)))


def expand(n):
    made = n.f.lod_reset(n.f.sequence_expand(n.row(), n.x, ref_level=0), n.x)
    n.sequences.append(made)


def backwards(n):
    n.sequences.append(n.f.sequence_reverse(n.f.fc(n.sequence(), COLUMNS)))
    n.sequences[-1] = n.f.fc(n.sequences[-1], COLUMNS)


def weighted(n):
    given = n.sequence()
    shares = n.f.sequence_softmax(n.f.fc(given, 1, bias_attr=False))
    n.sequences.append(n.f.elementwise_mul(given, shares, axis=0))


def gru(n):
    given = n.f.fc(n.sequence(), 3 * COLUMNS)
    made = n.f.dynamic_gru(given, COLUMNS, is_reverse=n.flag(), origin_mode=n.flag())
    n.sequences.append(made)


def lstm(n):
    given, how = n.f.fc(n.sequence(), 16), dict(use_peepholes=n.flag(), is_reverse=n.flag())
    if n.flag():
        made, _ = n.f.dynamic_lstm(given, 16, **how)
    else:
        made, _ = n.f.dynamic_lstmp(given, 16, COLUMNS, **how)
    n.sequences.append(made)


def padded(n):
    zero = n.f.fill_constant([1], "float32", 0.5)
    made, lengths = n.f.sequence_pad(n.sequence(), zero, maxlen=8)
    n.sequences.append(n.f.sequence_unpad(n.f.scale(made, 2.0), lengths))


def dynamic_rnn(n):
    rnn, row, begins, static = n.f.DynamicRNN(), n.row(), n.flag(), n.flag()
    with rnn.block():
        now = rnn.step_input(n.sequence())
        if static:
            now = n.f.elementwise_add(now, rnn.static_input(row))
        if begins:
            before = rnn.memory(init=row, need_reorder=True)
        else:
            before = rnn.memory(shape=[COLUMNS], value=0.1)
        hidden = n.f.fc([now, before], COLUMNS, act="tanh")
        rnn.update_memory(before, hidden)
        rnn.output(hidden)
    n.sequences.append(rnn())


def crf(n):
    scores, name = n.f.fc(n.sequence(), LABELS), f"crf_{len(n.losses)}"
    attr = n.fluid.ParamAttr(name=name)
    n.losses.append(n.f.linear_chain_crf(scores, n.labels, attr))
    n.integers.append(n.f.crf_decoding(scores, attr, label=n.labels if n.flag() else None))


def ctc(n):
    rows = n.f.sequence_concat([n.sequence(), n.sequence(), n.sequence()])
    scores = n.f.fc(rows, IDS + 1)
    n.losses.append(n.f.warpctc(scores, n.f.cast(n.ids, "int32"), IDS, n.flag()))


def cut(n):
    ones = [n.f.fill_constant_batch_size_like(n.d, [-1, 1], "int64", k) for k in (0, 1)]
    # fluid declares the result without sequences
    n.rows.append(n.f.reshape(n.f.sequence_slice(n.sequence(), *ones), [-1, COLUMNS]))


def joined(n):
    both = n.f.sequence_concat([n.sequence(), n.sequence()])
    n.rows.append(n.f.sequence_pool(both, n.choose("sum", "max", "last")))


def reshaped(n):
    made = n.f.fc(n.f.sequence_reshape(n.sequence(), 2), COLUMNS)
    n.rows.append(n.f.sequence_pool(made, "average"))


def scattered(n):
    made = n.f.sequence_scatter(n.f.fc(n.row(), IDS), n.ids, n.f.fc(n.sequence(), 1))
    n.rows.append(n.f.fc(made, COLUMNS))


def windows(n):
    n.integers.append(n.f.sequence_enumerate(n.ids, n.choose(2, 3)))


def two_levels(n):
    given = n.f.fc(n.two, COLUMNS, act="tanh") if n.flag() else n.two
    how = n.choose("sum", "average", "sqrt", "max", "first", "last")
    n.sequences.append(n.f.sequence_pool(given, how))


def image(n):
    made = n.f.im2sequence(n.image, [4, 2], [1, 1])
    made = n.f.dynamic_gru(n.f.fc(made, 3 * COLUMNS), COLUMNS)
    n.rows.append(n.f.sequence_pool(made, "last"))


def branches(n):
    given = n.row()
    square = n.f.reduce_sum(n.f.square(given), dim=1, keep_dim=True)
    limit = n.f.fill_constant_batch_size_like(given, [-1, 1], "float32", 2.0)
    both = n.f.IfElse(n.f.less_than(square, limit))
    with both.true_block():
        both.output(n.f.scale(both.input(given), 2.0))
    with both.false_block():
        both.output(n.f.fc(both.input(given), COLUMNS, act="tanh"))
    n.rows.append(both()[0])


def loop(n):
    given, c = n.sequence(), n.arrays
    table = c.lod_rank_table(given)
    steps = c.lod_tensor_to_array(given, table)
    made = c.lod_tensor_to_array(n.f.zeros_like(given), table)
    at, end = n.f.fill_constant([1], "int64", 0), c.max_sequence_len(table)
    at.stop_gradient = True
    more = n.f.less_than(at, end)
    passes = n.f.While(more)
    with passes.block():
        now = n.f.scale(n.f.tanh(n.f.array_read(steps, at)), 1.5)
        n.f.array_write(now, at, made)
        n.f.increment(at, 1)
        n.f.less_than(at, end, cond=more)
    n.sequences.append(c.array_to_lod_tensor(made, table))


PIECES = [fc, fc, add, conv, pool, pool, expand_as, expand, backwards, weighted, gru, lstm, padded]
PIECES += [dynamic_rnn, crf, ctc, cut, joined, reshaped, scattered, windows, two_levels, image]
PIECES += [branches, loop]


def build(fluid, seed):
    """A program, and the names of its loss, of integers, and of gradients."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        net = Net(fluid, seed)
        for _ in range(net.rng.randint(4, 9)):
            net.rng.choice(PIECES)(net)
        f, last = net.f, net.rows + net.losses
        last += [f.sequence_pool(each, "average") for each in net.sequences[2:]]
        loss = f.sums([f.mean(f.square(each)) for each in last])
        pairs = fluid.backward.append_backward(loss)
    known = main.global_block().vars
    names = sorted(g.name for _, g in pairs if "embedding" not in g.name)
    names += [n + "@GRAD" for n in ("x", "d", "two", "image") if n + "@GRAD" in known]
    return main, startup, [loss.name] + [each.name for each in net.integers] + names


def feed(fluid, seed, run):
    """What is fed: other lengths in every second run."""
    draw, place = np.random.RandomState(seed * 7 + run // 2), fluid.CPUPlace()
    lengths = draw.randint(1, 6, draw.randint(1, 5)).tolist()
    inner = draw.randint(1, 4, sum(lengths)).tolist()
    sequences = lambda a, *levels: fluid.create_lod_tensor(a, list(levels), place)
    floats = lambda *sizes: draw.uniform(-1, 1, sizes).astype("float32")
    whole = lambda most: draw.randint(0, most, (sum(lengths), 1)).astype("int64")
    return {
        "x": sequences(floats(sum(lengths), COLUMNS), lengths),
        "d": floats(len(lengths), COLUMNS),
        "two": sequences(floats(sum(inner), COLUMNS), lengths, inner),
        "ids": sequences(whole(IDS), lengths),
        "labels": sequences(whole(LABELS), lengths),
        "image": floats(len(lengths), 1, 4, 5),
    }


def ran(fluid, seed, runs=1):
    """By run what a program of a seed computes: arrays by name, with the lengths of sequences."""
    main, startup, names = build(fluid, seed)
    exe, scope, place = fluid.Executor(fluid.CPUPlace()), fluid.Scope(), fluid.CPUPlace()
    found = []
    with fluid.scope_guard(scope):
        exe.run(startup)
        for p in main.all_parameters():
            draw = np.random.RandomState(zlib.crc32(p.name.encode()))
            value = draw.uniform(-0.7, 0.7, p.shape).astype("float32")
            scope.find_var(p.name).get_tensor().set(value, place)
        for run in range(runs):
            values = exe.run(main, feed(fluid, seed, run), names, return_numpy=False)
            found.append(dict(zip(names, map(np.array, values))))
    return found


def differences(one, other, tolerance=2e-3):
    """Names of what two runs compute differently, relative to the largest element of gradients."""
    largest = max(np.abs(v).max() for v in other.values() if v.dtype.kind == "f" and v.size)
    apart = lambda a, b: np.abs(a - b).max(initial=0) > tolerance * max(largest, 1e-3)
    return [n for n in other if one[n].shape != other[n].shape or apart(one[n], other[n])]


if __name__ == "__main__":
    import paddle.fluid as real

    FILE, FIRST, COUNT = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    SEEDS = range(FIRST, FIRST + COUNT)
    KEPT = {f"{s}/{n}": v for s in SEEDS for n, v in ran(real, s)[0].items()}
    np.savez(FILE, **KEPT)
