"""Pieces that work on rows of several times, and on numbers that stand for words."""

from .net import IDS
from .training import SPARSE


def words(net, rng):
    """Rows of a table, with gradients of some rows or of all."""
    fluid, columns = net.fluid, rng.choice([4, 6])
    times = net.header.sequence[0]
    sparse, shared = rng.random() < 0.5, rng.random() < 0.4
    sparse = sparse and (net.header.whole or net.header.optimizer in SPARSE)
    attr = fluid.ParamAttr(name=f"table_{columns}") if shared else None
    padding = rng.choice([None, None, 0])
    if sparse and not net.header.whole:
        padding = None  # the real system trains that row then
    if rng.random() < 0.5:
        ids = net.data("ids", (None, times), "int64", IDS)
        made = fluid.embedding(
            ids.var, [IDS, columns], sparse, param_attr=attr, padding_idx=padding, dtype=net.dtype
        )
        net.add(made, (None, times, columns))
    else:
        ids = net.data("word", (None, 1), "int64", IDS)
        made = fluid.layers.embedding(
            ids.var, [IDS, columns], sparse, param_attr=attr, padding_idx=padding, dtype=net.dtype
        )
        net.add(made, (None, columns))


def fc(net, rng):
    value, size = net.sequence(rng), rng.choice([4, 6, 8])
    act = rng.choice([None, "tanh", "relu"])
    made = net.layers.fc(value.var, size, num_flatten_dims=2, act=act, bias_attr=net.bias(rng))
    net.add(made, (None, value.shape[1], size))


def attention(net, rng):
    """Every time looks at all others, in one or two ways at once."""
    f, value = net.layers, net.sequence(rng)
    times, columns = value.shape[1:]
    q, k, v = [f.fc(value.var, columns, num_flatten_dims=2, bias_attr=False) for _ in range(3)]
    heads = 2 if columns % 2 == 0 and rng.random() < 0.6 else 1
    if heads > 1:
        q, k, v = [
            f.transpose(f.reshape(m, [-1, times, heads, columns // heads]), [0, 2, 1, 3])
            for m in (q, k, v)
        ]
    scores = f.softmax(f.matmul(q, k, transpose_y=True, alpha=(columns // heads) ** -0.5))
    made = f.matmul(scores, v)
    if heads > 1:
        made = f.reshape(f.transpose(made, [0, 2, 1, 3]), [-1, times, columns])
    if rng.random() < 0.5:
        made = f.elementwise_add(made, value.var)
    net.add_like(made, value)


def norm(net, rng):
    value = net.sequence(rng)
    made = net.layers.layer_norm(value.var, begin_norm_axis=rng.choice([1, 2, 2]))
    net.add_like(made, value)


def one_time(net, rng):
    f, value = net.layers, net.sequence(rng)
    _, times, columns = value.shape
    at = rng.randrange(times)
    var = f.slice(value.var, axes=[1], starts=[at], ends=[at + 1])
    if rng.random() < 0.5:
        var = f.squeeze(var, axes=[1])
    else:
        var = f.reshape(var, [-1, columns])
    net.add(var, (None, columns))


def together(net, rng):
    f, value = net.layers, net.sequence(rng)
    how = rng.choice([f.reduce_mean, f.reduce_sum, f.reduce_max])
    var = how(value.var, dim=1)
    if how is f.reduce_sum:
        var = f.scale(var, 1.0 / value.shape[1])
    net.add(var, (None, value.shape[2]))


def unrolled(net, rng):
    """A recurrent network written out: its steps share weights."""
    f, value = net.layers, net.sequence(rng)
    fluid = net.fluid
    _, times, columns = value.shape
    size = rng.choice([4, 6])
    net.recurrences += 1
    names = [f"step_{net.recurrences}_{k}" for k in range(3)]
    attrs = [fluid.ParamAttr(name=name) for name in names]
    steps = f.unstack(value.var, axis=1) if rng.random() < 0.5 else None
    hidden, made = None, []
    for at in range(times):
        if steps is None:
            now = f.slice(value.var, axes=[1], starts=[at], ends=[at + 1])
            now = f.reshape(now, [-1, columns])
        else:
            now = steps[at]
        given = f.fc(now, size, param_attr=attrs[0], bias_attr=attrs[1])
        if hidden is not None:
            given = f.elementwise_add(
                given, f.fc(hidden, size, param_attr=attrs[2], bias_attr=False)
            )
        hidden = f.tanh(given)
        made.append(hidden)
    if rng.random() < 0.5:
        net.add(f.stack(made, axis=1), (None, times, size))
    else:
        net.add(hidden, (None, size))


def static_rnn(net, rng):
    f, value = net.layers, net.sequence(rng)
    _, times, _columns = value.shape
    size = rng.choice([4, 6])
    ordered = f.transpose(value.var, [1, 0, 2])
    start = f.fc(net.matrix(rng).var, size, act="tanh")
    rnn = f.StaticRNN()
    with rnn.step():
        now = rnn.step_input(ordered)
        before = rnn.memory(init=start)
        hidden = f.fc([now, before], size, act="tanh")
        rnn.update_memory(before, hidden)
        rnn.step_output(hidden)
    made = rnn()
    net.add(f.transpose(made, [1, 0, 2]), (None, times, size))


PIECES = {
    words: 4,
    fc: 3,
    attention: 4,
    norm: 2,
    one_time: 4,
    together: 4,
    unrolled: 3,
    static_rnn: 2,
}
