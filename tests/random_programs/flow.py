"""Pieces with branches and loops, and such as write to what is there."""


def _truth(net, rng):
    """A truth that differs from run to run, or from value to value."""
    f = net.layers
    if rng.random() < 0.5:
        switch = net.data("switch", (1,), "int64", 3)
        return f.less_than(switch.var, f.fill_constant([1], "int64", rng.choice([1, 2])))
    value = net.any(rng)
    number = f.reshape(f.reduce_mean(value.var), [1])
    return f.greater_than(number, f.fill_constant([1], net.dtype, rng.choice([-0.0713, 0.0317])))


def branch(net, rng):
    """One of two functions of values, some of which have parameters."""
    f, value = net.layers, net.any(rng)
    other = net.another(rng, value)
    truth = _truth(net, rng)
    hard, swap, twice = rng.random() < 0.5, rng.random() < 0.3, rng.random() < 0.3

    def left():
        made = f.tanh(f.elementwise_add(value.var, other.var))
        if hard and len(value.shape) == 2:
            made = f.fc(made, value.shape[1], act="sigmoid")
        return (made, f.scale(other.var, 0.5)) if twice else made

    def right():
        made = f.scale(value.var, 0.6, bias=0.1)
        if hard:
            made = f.elementwise_mul(made, f.sigmoid(other.var))
        return (made, f.sin(value.var)) if twice else made

    made = f.cond(truth, right, left) if swap else f.cond(truth, left, right)
    if twice and not net.header.whole:
        # what only the other result needs has gradients of an earlier run in the real system
        made, twice = f.elementwise_add(*made), False
    for var in made if twice else [made]:
        net.add_like(var, value)


def cases(net, rng):
    f, value = net.layers, net.any(rng)
    one, two = _truth(net, rng), _truth(net, rng)
    first = lambda: f.tanh(value.var)
    second = lambda: f.scale(value.var, 0.4)
    third = lambda: f.sin(value.var)
    if rng.random() < 0.5:
        made = f.case([(one, first), (two, second)], default=third)
    else:
        index = net.data("switch", (1,), "int64", 3)
        number = f.cast(index.var, "int32")
        made = f.switch_case(number, {0: first, 1: second}, default=third)
    net.add_like(made, value)


def switch(net, rng):
    """Blocks that write to a variable which was made before."""
    f = net.layers
    truth = _truth(net, rng)
    kept = rng.random() < 0.5
    rate = net.state(rng, [1], 0.25) if kept else f.fill_constant([1], net.dtype, 0.25)
    with f.Switch() as made:
        with made.case(truth):
            f.assign(f.fill_constant([1], net.dtype, 0.5), rate)
        with made.default():
            more = f.scale(rate, 0.5, bias=0.1)
            f.assign(more, rate)
    rate.stop_gradient = True
    value = net.any(rng)
    net.add_like(f.elementwise_mul(value.var, rate), value)


def loop(net, rng):
    """The same some times over, as many as is fed or always as many."""
    f, value = net.layers, net.any(rng)
    if rng.random() < 0.5:
        limit = f.fill_constant([1], "int64", rng.choice([2, 3]))
    else:
        limit = net.data("times", (1,), "int64", 4).var
    counter = f.fill_constant([1], "int64", 0)
    counter.stop_gradient = True
    weighted = rng.random() < 0.5 and len(value.shape) == 2 and value.shape[1] <= 12
    w = f.create_parameter([value.shape[1]] * 2, net.dtype) if weighted else None
    start = net.layers.assign(value.var)
    if not net.header.whole:  # the real system's gradients of loops are wrong
        start.stop_gradient = True

    def body(i, h):
        moved = f.mul(h, w) if weighted else f.scale(h, 0.8, bias=0.1)
        return [f.increment(i, in_place=False), f.tanh(moved)]

    if not net.header.whole and weighted:
        w.stop_gradient = True
    _, made = f.while_loop(lambda i, h: f.less_than(i, limit), body, [counter, start])
    if not net.header.whole:
        made.stop_gradient = True
    net.add_like(made, value)


def old_loop(net, rng):
    """A ``While`` whose block writes to variables from outside."""
    f, value = net.layers, net.any(rng)
    counter = f.fill_constant([1], "int64", 0)
    limit = f.fill_constant([1], "int64", rng.choice([2, 3, 4]))
    total = net.temporary(value)
    if not net.header.whole:
        total.stop_gradient = True
    truth = f.less_than(counter, limit)
    loop = f.While(truth)
    with loop.block():
        moved = f.tanh(f.scale(total, 0.9, bias=0.1))
        f.assign(moved, total)
        f.increment(counter, value=1, in_place=True)
        f.less_than(counter, limit, cond=truth)
    if not net.header.whole:
        total.stop_gradient = True
    net.add_like(total, value)


# -- names that are written several times ----------------------------------------------------------


def overwritten(net, rng):
    """A name that holds two values, both of which are read."""
    f, value = net.layers, net.any(rng)
    other = net.another(rng, value)
    var = net.temporary(value)
    if not net.header.whole:  # gradients of such names are wrong in the real system
        var.stop_gradient = True
    before = f.tanh(var)
    f.assign(f.scale(other.var, 0.7), var)
    made = f.elementwise_mul(before, f.sigmoid(var))
    net.add_like(made, value)
    if rng.random() < 0.5:
        net.add_like(var, value)


def in_place(net, rng):
    """Operators whose result goes by the name of what they read."""
    fluid, value = net.fluid, net.any(rng)
    var = net.temporary(value)
    if not net.header.whole:
        var.stop_gradient = True
    block = fluid.default_main_program().current_block()
    for type, attrs in rng.choice(CHAINS):
        block.append_op(type=type, inputs={"X": [var]}, outputs={"Out": [var]}, attrs=attrs)
    net.add_like(var, value)


CHAINS = [
    [("tanh", {}), ("scale", {"scale": 0.5, "bias": 0.1})],
    [("relu", {}), ("scale", {"scale": 0.5}), ("sigmoid", {})],
    [("scale", {"scale": 2.0, "bias": -0.2}), ("sin", {}), ("tanh", {})],
]


def written_to(net, rng):
    """Results that go into variables that are there."""
    f, value = net.layers, net.any(rng)
    other = net.another(rng, value)
    out = net.temporary(value)
    if not net.header.whole:
        out.stop_gradient = True
    f.sums([value.var, other.var], out=out)
    net.add_like(f.scale(out, 0.5), value)


def counted(net, rng):
    """A number that stays from run to run, written in place."""
    f, value = net.layers, net.any(rng)
    if rng.random() < 0.5:
        count = net.state(rng, [1], 1.0)
        f.increment(count, value=0.5, in_place=True)
    else:
        count = f.cast(f.autoincreased_step_counter(begin=1), net.dtype)
    pace = f.scale(f.reciprocal(f.scale(count, 1.0, bias=1.0)), 1.0)
    pace.stop_gradient = True
    net.add_like(f.elementwise_mul(value.var, pace), value)
    net.interesting.append(count.name)


def remembered(net, rng):
    """A mean over the runs, kept beside the parameters."""
    f, value = net.layers, net.choose(rng, lambda s: len(s) == 2)
    if value is None:
        return
    columns = value.shape[1]
    kept = net.state(rng, [columns], 0.1)
    now = f.reduce_mean(value.var, dim=0)
    now.stop_gradient = True
    new = f.elementwise_add(f.scale(kept, 0.9), f.scale(now, 0.1))
    before = rng.random() < 0.5
    if before:  # the value of the run before
        net.add_like(f.elementwise_sub(value.var, kept, axis=1), value)
    f.assign(new, kept)
    if not before:
        net.add_like(f.elementwise_sub(value.var, kept, axis=1), value)
    net.interesting.append(kept.name)


def shared_block(net, rng):
    """A value read before and after a branch that reads it, too."""
    f, value = net.layers, net.any(rng)
    before = f.tanh(value.var)
    made = f.cond(
        _truth(net, rng),
        lambda: f.elementwise_mul(before, value.var),
        lambda: f.elementwise_add(before, f.scale(before, 0.3)),
    )
    net.add_like(f.elementwise_add(made, f.scale(before, 0.5)), value)


PIECES = {
    branch: 4,
    cases: 2,
    switch: 2,
    loop: 3,
    old_loop: 2,
    overwritten: 3,
    in_place: 3,
    written_to: 2,
    counted: 2,
    remembered: 2,
    shared_block: 2,
}
