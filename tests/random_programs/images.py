"""Pieces that work on images."""


def conv(net, rng):
    f, value = net.layers, net.image(rng)
    _, channels, height, across = value.shape
    size = rng.choice([1, 3, 3])
    filters = rng.choice([2, 4, 6]) * (4 if net.header.large else 1)
    stride, padding, dilation, groups = 1, size // 2, 1, 1
    if size == 3 and min(height, across) > 4 and rng.random() < 0.3:
        stride = 2
    if size == 3 and stride == 1 and rng.random() < 0.15:
        dilation = padding = 2
    if channels % 2 == 0 and rng.random() < 0.25:
        groups = rng.choice([2, channels])
        filters = channels * (2 if rng.random() < 0.3 else 1)
    behind = rng.randrange(4)  # a normalisation takes the place of the bias
    made = f.conv2d(
        value.var,
        filters,
        size,
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
        param_attr=net.attr(rng),
        bias_attr=False if behind == 0 else net.bias(rng),
        use_cudnn=rng.random() < 0.5,  # depthwise convolutions are operators of their own without
        act=None if behind == 0 else rng.choice([None, "relu", "tanh"]),
    )
    shape = (None, filters, -(-height // stride), -(-across // stride))
    if behind == 0:
        made = f.batch_norm(made, act=rng.choice([None, "relu", "relu"]))
    net.add(made, shape)


def conv_transpose(net, rng):
    f, value = net.layers, net.image(rng)
    _, _channels, height, across = value.shape
    if max(height, across) > 8:
        return
    filters = rng.choice([2, 3])
    made = f.conv2d_transpose(value.var, filters, filter_size=2, stride=2)
    net.add(f.tanh(made), (None, filters, 2 * height, 2 * across))


def pool(net, rng):
    f, value = net.layers, net.image(rng)
    _, channels, height, across = value.shape
    kind = rng.choice(["max", "max", "avg"])
    var = f.relu(value.var) if rng.random() < 0.5 else value.var
    how = rng.randrange(4)
    if how == 0 and min(height, across) > 2:
        made = f.pool2d(var, 3, kind, 1, 1, exclusive=rng.random() < 0.5)
        net.add_like(made, value)
    elif how == 1:
        made = f.pool2d(var, 2, kind, 2, ceil_mode=True)
        net.add(made, (None, channels, -(-height // 2), -(-across // 2)))
    else:
        made = f.pool2d(var, 2, kind, 2)
        net.add(made, (None, channels, height // 2, across // 2))


def norm(net, rng):
    f, value = net.layers, net.image(rng)
    how = rng.randrange(4)
    if how < 2:
        made = f.batch_norm(value.var, act=rng.choice([None, "relu"]))
    elif how == 2:
        plain = net.header.whole and rng.random() < 0.3  # its gradient is wrong in the real system
        attrs = [None if plain else net.fluid.ParamAttr() for _ in range(2)]
        groups = 2 if value.shape[1] % 2 == 0 else 1
        made = f.group_norm(value.var, groups, param_attr=attrs[0], bias_attr=attrs[1])
    else:
        made = f.layer_norm(value.var, begin_norm_axis=rng.choice([1, 2, 3]))
    net.add_like(made, value)


def residual(net, rng):
    """Convolution, normalisation, relu, and what went in."""
    f, value = net.layers, net.image(rng)
    channels = value.shape[1]
    made = f.conv2d(value.var, channels, 3, padding=1, bias_attr=False)
    made = f.batch_norm(made, act="relu" if rng.random() < 0.5 else None)
    made = f.elementwise_add(made, value.var, act="relu" if rng.random() < 0.7 else None)
    net.add_like(made, value)


def join(net, rng):
    a = net.image(rng)
    b = net.another(rng, a)
    channels = a.shape[1] + b.shape[1]
    if channels <= 16:
        net.add(net.layers.concat([a.var, b.var], axis=1), (None, channels, *a.shape[2:]))


def flat(net, rng):
    """Rows of an image's numbers."""
    f, value = net.layers, net.image(rng)
    _, channels, height, across = value.shape
    how = rng.randrange(4)
    if how == 0:
        made = f.pool2d(value.var, pool_type=rng.choice(["avg", "max"]), global_pooling=True)
        net.add(f.reshape(made, [-1, channels]), (None, channels))
    elif how == 1:
        net.add(f.reduce_mean(value.var, dim=[2, 3]), (None, channels))
    elif how == 2 and channels * height * across <= 64:
        net.add(f.flatten(value.var, axis=1), (None, channels * height * across))
    else:
        size = rng.choice([4, 6])
        net.add(f.fc(value.var, size, act=rng.choice([None, "tanh"])), (None, size))


def pixels(net, rng):
    f, value = net.layers, net.image(rng)
    _, channels, height, across = value.shape
    how = rng.randrange(5)
    if how == 0:
        made = f.prelu(value.var, rng.choice(["all", "channel"]))
        net.add_like(made, value)
    elif how == 1:
        var = f.transpose(value.var, [0, 2, 3, 1])
        var = f.softmax(var) if rng.random() < 0.5 else f.tanh(var)
        net.add_like(f.transpose(var, [0, 3, 1, 2]), value)
    elif how == 2 and max(height, across) <= 8:
        made = f.resize_nearest(value.var, out_shape=[2 * height, 2 * across])
        net.add(made, (None, channels, 2 * height, 2 * across))
    elif how == 3 and channels <= 8:
        made = f.pad2d(value.var, [1, 0, 0, 1], mode=rng.choice(["constant", "reflect"]))
        net.add(made, (None, channels, height + 1, across + 1))
    else:
        made = f.slice(value.var, axes=[2, 3], starts=[0, 0], ends=[height - 1, across])
        net.add(made, (None, channels, height - 1, across))


def local_norm(net, rng):
    value = net.image(rng)
    net.add_like(net.layers.lrn(value.var, n=3, alpha=0.01), value)


def volume(net, rng):
    """An image as a volume, there and back again."""
    f, value = net.layers, net.image(rng)
    _, channels, height, across = value.shape
    if channels % 2 or channels > 8:
        return
    var = f.reshape(value.var, [-1, 1, channels, height, across])
    made = f.conv3d(var, 2, [1, 3, 3], padding=[0, 1, 1], bias_attr=net.bias(rng))
    made = f.pool3d(f.tanh(made), [2, 1, 1], rng.choice(["max", "avg"]), [2, 1, 1])
    net.add(f.reshape(made, [-1, channels, height, across]), value.shape)


PIECES = {
    conv: 8,
    conv_transpose: 1,
    pool: 5,
    norm: 3,
    residual: 3,
    join: 2,
    flat: 5,
    pixels: 3,
    local_norm: 1,
    volume: 2,
}
