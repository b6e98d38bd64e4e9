"""Pieces that work on matrices, or on anything element by element."""

WIDTHS = [3, 4, 6, 6, 8, 12, 12]
LARGE = [96, 160]


def width(net, rng):
    return rng.choice(LARGE) if net.header.large and rng.random() < 0.5 else rng.choice(WIDTHS)


def fc(net, rng):
    value, size = net.matrix(rng), width(net, rng)
    act = rng.choice([None, None, "tanh", "sigmoid", "relu"])
    shared = f"shared_{value.shape[1]}_{size}" if rng.random() < 0.25 else None
    made = net.layers.fc(
        value.var, size, param_attr=net.attr(rng, shared), bias_attr=net.bias(rng), act=act
    )
    net.add(made, (None, size))


def fc_of_several(net, rng):
    a, b, size = net.matrix(rng), net.matrix(rng), rng.choice(WIDTHS)
    net.add(net.layers.fc([a.var, b.var], size, act="tanh"), (None, size))


def products(net, rng):
    """Products of values, with transposes and a factor."""
    f, a = net.layers, net.matrix(rng)
    b = net.another(rng, a)
    alpha = rng.choice([1.0, 1.0, 0.5]) / a.shape[1]
    scores = f.matmul(a.var, b.var, transpose_y=True, alpha=alpha)
    scores = f.softmax(scores) if rng.random() < 0.7 else f.tanh(scores)
    if rng.random() < 0.3:
        made = f.matmul(scores, b.var, transpose_x=True, alpha=0.2)
        made = f.tanh(made)
    else:
        made = f.matmul(scores, b.var)
        made = f.tanh(made)
    net.add_like(made, a)


def weight(net, rng):
    """A product with a parameter of its own, which may be transposed."""
    f, a = net.layers, net.matrix(rng)
    size = rng.choice(WIDTHS)
    turned = rng.random() < 0.5
    shape = [size, a.shape[1]] if turned else [a.shape[1], size]
    w = f.create_parameter(shape, net.dtype)
    made = f.matmul(a.var, w, transpose_y=turned)
    net.add(net.calm(made, rng) if rng.random() < 0.5 else made, (None, size))


def recurrence(net, rng):
    """Steps with one weight, one after the other."""
    f, a = net.layers, net.matrix(rng)
    columns = a.shape[1]
    if columns > 16:
        return
    turned = rng.random() < 0.5
    w, u = [f.create_parameter([columns, columns], net.dtype) for _ in range(2)]
    h = a.var
    for _ in range(rng.choice([3, 4, 7])):
        given = f.matmul(a.var, w) if rng.random() < 0.5 else f.mul(h, w)
        h = f.tanh(f.elementwise_add(given, f.matmul(h, u, transpose_y=turned)))
    net.add_like(h, a)


UNARY = {
    "tanh": lambda f, v: f.tanh(v),
    "sigmoid": lambda f, v: f.sigmoid(v),
    "sin": lambda f, v: f.sin(v),
    "cos": lambda f, v: f.cos(v),
    "exp": lambda f, v: f.exp(f.scale(f.tanh(v), 0.5)),
    "square": lambda f, v: f.square(f.tanh(v)),
    "softplus": lambda f, v: f.scale(f.softplus(v), 0.7),
    "softsign": lambda f, v: f.softsign(v),
    "relu": lambda f, v: f.relu(v),
    "leaky_relu": lambda f, v: f.leaky_relu(v, alpha=0.1),
    "leaky_relu_of_sum": lambda f, v: f.leaky_relu(f.scale(v, 0.9, bias=0.1), alpha=0.3),
    "elu": lambda f, v: f.elu(v, alpha=0.7),
    "gelu": lambda f, v: f.gelu(v),
    "swish": lambda f, v: f.swish(v),  # the real system does not heed beta
    "relu6": lambda f, v: f.relu6(v),
    "stanh": lambda f, v: f.stanh(v),
    "hard_sigmoid": lambda f, v: f.hard_sigmoid(v),
    "logsigmoid": lambda f, v: f.logsigmoid(v),
    "log": lambda f, v: f.log(f.scale(f.square(v), 1.0, bias=1.0)),
    "sqrt": lambda f, v: f.sqrt(f.scale(f.square(v), 0.5, bias=0.3)),
    "rsqrt": lambda f, v: f.rsqrt(f.scale(f.square(v), 0.5, bias=0.7)),
    "reciprocal": lambda f, v: f.reciprocal(f.scale(f.square(v), 0.5, bias=1.0)),
    "scale": lambda f, v: f.scale(v, 0.8, bias=0.1),
    "scale_before": lambda f, v: f.scale(v, -0.6, bias=0.3, bias_after_scale=False),
    "clip": lambda f, v: f.clip(v, -0.613, 0.717),
    "abs": lambda f, v: f.abs(f.scale(v, 1.0, bias=0.0137)),
    "pow": lambda f, v: f.pow(f.scale(f.tanh(v), 0.5, bias=1.5), 1.7),
    "erf": lambda f, v: f.erf(v),
    "atan": lambda f, v: f.atan(v),
    "assign": lambda f, v: f.assign(v),
    "softmax": lambda f, v: f.scale(f.softmax(v), 2.0),
    "operators": lambda f, v: (v * 0.5 + 0.25) * 1.5 - v,
    "same_twice": lambda f, v: f.elementwise_mul(f.tanh(v), f.tanh(v)),
}


def unary(net, rng):
    value = net.any(rng)
    made = UNARY[rng.choice(sorted(UNARY))](net.layers, value.var)
    net.add_like(made, value)


def chain(net, rng):
    """Several functions of one variable, one after the other."""
    value = net.any(rng)
    var = value.var
    for _ in range(rng.choice([2, 3, 4])):
        var = UNARY[rng.choice(sorted(UNARY))](net.layers, var)
    net.add_like(var, value)


BINARY = {
    "add": lambda f, a, b: f.elementwise_add(a, b),
    "sub": lambda f, a, b: f.elementwise_sub(a, b),
    "mul": lambda f, a, b: f.elementwise_mul(f.tanh(a), b),
    "div": lambda f, a, b: f.elementwise_div(a, f.scale(f.square(b), 0.5, bias=1.0)),
    "max": lambda f, a, b: f.elementwise_max(a, f.scale(b, 0.9, bias=0.03)),
    "min": lambda f, a, b: f.elementwise_min(a, f.scale(b, 0.9, bias=0.03)),
    "gate": lambda f, a, b: f.elementwise_mul(f.sigmoid(a), b),
    "sums": lambda f, a, b: f.scale(f.sums([a, b, a]), 0.4),
    "act": lambda f, a, b: f.elementwise_add(a, b, act="tanh"),
    "operators": lambda f, a, b: (a + b) * 0.5 - a * 0.25,
}


def binary(net, rng):
    a = net.any(rng)
    b = net.another(rng, a)
    made = BINARY[rng.choice(sorted(BINARY))](net.layers, a.var, b.var)
    net.add_like(made, a)


def broadcast(net, rng):
    """A parameter for each column, or for each channel, beside a value."""
    f, value = net.layers, net.any(rng)
    place = rng.randrange(1, len(value.shape))
    w = f.create_parameter([value.shape[place]], net.dtype)
    name = rng.choice(["elementwise_add", "elementwise_mul", "elementwise_sub"])
    made = getattr(f, name)(value.var, w, axis=place)
    net.add_like(made, value)


def row_number(net, rng):
    """A number for each row, spread over it."""
    f, value = net.layers, net.any(rng)
    reduce = rng.choice([f.reduce_mean, f.reduce_max, f.reduce_min])
    dims = list(range(1, len(value.shape)))
    number = reduce(value.var, dim=dims, keep_dim=True)
    if len(dims) > 1:
        number = f.reshape(number, [-1, 1])
        made = f.elementwise_sub(value.var, f.reshape(number, [-1]), axis=0)
    else:
        made = f.elementwise_sub(value.var, number)
    net.add_like(made, value)


def norm(net, rng):
    f, value = net.layers, net.matrix(rng)
    how = rng.randrange(4)
    if how == 0:
        made = f.layer_norm(value.var, act=rng.choice([None, "relu"]))
    elif how == 1:
        made = f.batch_norm(value.var, act=rng.choice([None, "relu", "tanh"]))
    elif how == 2:
        made = f.batch_norm(value.var, use_global_stats=True)
    else:
        made = f.scale(f.l2_normalize(f.scale(value.var, 1.0, bias=0.21), axis=1), 1.5)
    net.add_like(made, value)


def join(net, rng):
    a, b = net.matrix(rng), net.matrix(rng)
    columns = a.shape[1] + b.shape[1]
    if columns > 200:
        return
    net.add(net.layers.concat([a.var, b.var], axis=1), (None, columns))


def parts(net, rng):
    """A split, and something of the parts."""
    f, value = net.layers, net.matrix(rng)
    columns = value.shape[1]
    if columns == 1:
        return
    first = rng.randrange(1, columns)
    how = [first, columns - first]
    if columns % 2 == 0 and rng.random() < 0.5:
        how = 2
    left, right = f.split(value.var, how, dim=1)
    first = columns // 2 if how == 2 else first
    a, b = net.add(left, (None, first)), net.add(right, (None, columns - first))
    if rng.random() < 0.4:
        net.add(f.concat([f.tanh(b.var), a.var], axis=1), (None, columns))


def cut(net, rng):
    f, value = net.layers, net.matrix(rng)
    columns = value.shape[1]
    begin = rng.randrange(columns)
    end = rng.randrange(begin + 1, columns + 1)
    made = f.slice(value.var, axes=[1], starts=[begin], ends=[end])
    if rng.random() < 0.4 and net.header.whole:  # pad_grad is wrong in the real system
        made = f.pad(made, [0, 0, begin, columns - end])
        net.add_like(made, value)
    else:
        net.add(made, (None, end - begin))


def pieces_of_padded(net, rng):
    """Parts of what zeros were put around, some of them zeros."""
    f, value = net.layers, net.matrix(rng)
    if not net.header.whole:  # pad_grad is wrong in the real system
        return
    columns = value.shape[1]
    wide = f.pad(value.var, [0, 0, 1, 2])
    left = f.slice(wide, axes=[1], starts=[0], ends=[1])
    inner = f.slice(wide, axes=[1], starts=[1], ends=[1 + columns])
    right = f.slice(wide, axes=[1], starts=[columns], ends=[columns + 2])
    both = f.elementwise_add(f.reduce_sum(right, dim=1, keep_dim=True), left)
    net.add_like(f.elementwise_add(f.tanh(inner), both), value)


def stack(net, rng):
    f, a = net.layers, net.matrix(rng)
    b = net.another(rng, a)
    if not net.header.whole and (a.var.stop_gradient or b.var.stop_gradient):
        return  # stack_grad ends the process in the real system
    made = f.stack([a.var, b.var, a.var], axis=1)
    how = rng.randrange(3)
    if how == 0:
        net.add(made, (None, 3, a.shape[1]))
    elif how == 1:
        net.add_like(f.reduce_mean(made, dim=1), a)
    else:
        one, two, three = f.unstack(made, axis=1)
        net.add_like(f.elementwise_sub(f.sums([one, two]), three), a)


def turn(net, rng):
    """There and back again, with something in between."""
    f, value = net.layers, net.matrix(rng)
    var = f.transpose(value.var, [1, 0])
    var = f.scale(var, 1.0, bias=0.05) if rng.random() < 0.5 else f.softmax(var)
    net.add_like(f.transpose(var, [1, 0]), value)


def shapes(net, rng):
    """Views of one value."""
    f, value = net.layers, net.matrix(rng)
    columns = value.shape[1]
    if columns % 3 == 0 and rng.random() < 0.5:
        var = f.reshape(value.var, [-1, 3, columns // 3])
        net.add(var, (None, 3, columns // 3))
    elif columns % 4 == 0 and rng.random() < 0.6:
        net.add(f.reshape(value.var, [-1, columns // 4, 2, 2]), (None, columns // 4, 2, 2))
    else:
        var = f.unsqueeze(value.var, axes=[1])
        var = f.squeeze(f.tanh(var), axes=[1])
        net.add_like(var, value)


def spread(net, rng):
    f, value = net.layers, net.matrix(rng)
    times = rng.choice([2, 3])
    if value.shape[1] > 24:
        return
    made = f.expand(value.var, [1, times])
    net.add(made, (None, times * value.shape[1]))


def number_of_all(net, rng):
    """One number, which every row is given."""
    f, value = net.layers, net.any(rng)
    how = rng.choice([f.reduce_mean, f.mean])
    number = f.reshape(how(value.var), [1])
    made = f.elementwise_add(value.var, number)
    net.add_like(f.scale(made, 0.7), value)


def dropout(net, rng):
    """Drops nothing at random where it is compared with another system."""
    value = net.any(rng)
    how = rng.choice(["downgrade_in_infer", "upscale_in_train"])
    share = 0.3 if net.header.random else 0.0
    made = net.layers.dropout(value.var, share, dropout_implementation=how)
    net.add_like(made, value)


def forgotten(net, rng):
    """What nothing needs."""
    value = net.any(rng)
    net.layers.tanh(net.layers.scale(value.var, 3.0))


def whole_numbers(net, rng):
    """Comparisons, casts, choices by position."""
    f, value = net.layers, net.matrix(rng)
    how = rng.randrange(4)
    if how == 0:
        mask = f.cast(f.less_than(value.var, f.scale(value.var, -1.0, bias=0.0213)), net.dtype)
        mask.stop_gradient = True
        net.add_like(f.elementwise_mul(value.var, mask), value)
    elif how == 1:
        best, _ = f.topk(value.var, k=min(2, value.shape[1]))
        net.add(best, (None, min(2, value.shape[1])))
    elif how == 2:
        place = f.argmax(value.var, axis=1)
        hot = f.one_hot(f.unsqueeze(place, axes=[1]), value.shape[1])
        if net.dtype != "float32":
            hot = f.cast(hot, net.dtype)
        net.add_like(f.elementwise_add(value.var, f.scale(hot, 0.3)), value)
    else:
        net.add_like(f.cumsum(f.scale(value.var, 1.0 / value.shape[1]), axis=1), value)


PIECES = {
    fc: 8,
    fc_of_several: 2,
    products: 3,
    weight: 3,
    recurrence: 2,
    unary: 6,
    chain: 3,
    binary: 6,
    broadcast: 3,
    row_number: 2,
    norm: 4,
    join: 3,
    parts: 3,
    cut: 2,
    stack: 2,
    pieces_of_padded: 1,
    turn: 1,
    shapes: 2,
    spread: 1,
    number_of_all: 1,
    dropout: 1,
    forgotten: 1,
    whole_numbers: 2,
}
