"""Random networks with loops and branches in each other, and the same ones without a loop.

Where a network has a loop its twin has the passes one after the other, so that all orders of its
gradients are those of programs without loops.
"""

import random

import numpy as np

import fluidlite as fluid
from fluidlite import layers
from fluidlite.ir.verify import verify

SHAPE = [2, 3]
UNARY = [
    layers.tanh,
    layers.sin,
    layers.softmax,
    lambda v: v * v * 0.3,
    lambda v: layers.layer_norm(v, scale=False, shift=False),
]
BINARY = [
    lambda a, b: a + b,
    lambda a, b: a * b * 0.5,
    lambda a, b: a / (layers.square(b) + 1.5),
    lambda a, b: layers.matmul(a, layers.matmul(b, a, transpose_x=True)) * 0.3,
]
DEEPEST = 3


def number(value):
    made = layers.fill_constant([1], "int64", value)
    made.stop_gradient = True
    return made


class Network:
    """Draws a network.

    Args:
        seed: of what is drawn.
        loops: whether it has loops; else their passes.
    """

    def __init__(self, seed, loops):
        self.random = random.Random(seed)
        self.loops = loops
        self.depth = 0
        self.left = self.random.randint(2, 6)  # loops and branches

    def value(self, known):
        """Something that is made of known values."""
        if self.depth < DEEPEST and self.left > 0 and self.random.random() < 0.6:
            self.left -= 1
            self.depth += 1
            forms = [self.repeated, self.branch, self.recurrence, self.in_place]
            made = self.random.choice(forms)(known)
            self.depth -= 1
            return made
        if self.random.random() < 0.6:
            return self.random.choice(UNARY)(self.random.choice(known))
        return self.random.choice(BINARY)(self.random.choice(known), self.random.choice(known))

    def result(self, known):
        """The last of several values that are made in turn."""
        known = list(known)
        for _ in range(self.random.randint(1, 3)):
            known.append(self.value(known))
        return known[-1]

    def fixed(self, function):
        """A function that draws the same at every call."""
        state, left = self.random.getstate(), self.left

        def again(*arguments):
            self.random.setstate(state)
            self.left = left
            return function(*arguments)

        return again

    def below(self, value, limit):
        total = layers.reshape(layers.reduce_sum(value), [1])
        return layers.less_than(total, layers.fill_constant([1], "float64", limit))

    def branch(self, known):
        holds = self.below(self.random.choice(known), self.random.uniform(-1, 1))
        return layers.cond(holds, lambda: self.result(known), lambda: self.result(known))

    def repeated(self, known):
        times, first = self.random.choice([0, 1, 2, 3]), self.random.choice(known)
        step = self.fixed(lambda v: self.result([*known, v]))
        if not self.loops:
            step(first)  # draws what a loop without a pass does
            for _ in range(times):
                first = step(first)
            return first
        i, n = number(0), number(times)
        return layers.while_loop(
            lambda i, v: layers.less_than(i, n),
            lambda i, v: [i + 1, step(v)],
            [i, layers.assign(first)],
        )[1]

    def in_place(self, known):
        """A loop whose block has branches that write over what they read."""
        times, limit = self.random.choice([1, 2, 3]), self.random.uniform(-1, 1)
        value = layers.scale(self.random.choice(known), 1.0)
        step = self.fixed(lambda v: self.result([*known, v]))
        if not self.loops:
            for _ in range(times):
                holds, old = self.below(value, limit), value
                value = layers.cond(holds, lambda v=old: step(v), lambda v=old: layers.tanh(v))
                value = layers.sin(value)
            return value
        i, n = number(0), number(times)
        goes_on = layers.less_than(i, n)
        with layers.While(goes_on).block():
            with layers.Switch() as switch:
                with switch.case(self.below(value, limit)):
                    layers.assign(step(value), value)
                with switch.default():
                    layers.assign(layers.tanh(value), value)
            layers.assign(layers.sin(value), value)
            layers.increment(i, 1, in_place=True)
            layers.less_than(i, n, cond=goes_on)
        return value

    def recurrence(self, known):
        first = self.random.choice(known)
        steps = layers.stack([self.random.choice(known) for _ in range(3)])
        step = self.fixed(lambda now, state: self.result([*known, now, state]))
        if self.loops:
            rnn = layers.StaticRNN()
            with rnn.step():
                now, before = rnn.step_input(steps), rnn.memory(init=first)
                after = step(now, before)
                rnn.update_memory(before, after)
                rnn.step_output(after)
            return layers.reduce_mean(rnn(), dim=[0])
        states = []
        for t in range(3):
            first = step(layers.squeeze(layers.slice(steps, [0], [t], [t + 1]), [0]), first)
            states.append(first)
        return layers.reduce_mean(layers.stack(states), dim=[0])


def derivatives(seed, loops, order):
    """A program, and what to fetch of it: a scalar of a network and its gradients of all orders."""
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
        inputs = [fluid.data(name, SHAPE, "float64") for name in ("x", "w")]
        for each in inputs:
            each.stop_gradient = False
        network = Network(seed, loops)
        value = network.result([*inputs, network.value(inputs)])
        fetched = [layers.reduce_sum(layers.square(value) + value * inputs[0])]
        for _ in range(order):
            slopes = fluid.gradients(fetched[-1], inputs)
            slopes = [layers.scale(v, 0.0) if s is None else s for s, v in zip(slopes, inputs)]
            total = sum(layers.reduce_sum(layers.square(each)) for each in slopes)
            fetched += [*slopes, total + layers.reduce_sum(slopes[0])]
    return main, fetched


def check(seed, order=2, backends=("numpy",)):
    """Compare a network with its twin, in three runs on each backend.

    Raises:
        AssertionError: they disagree.
    """
    main, fetched = derivatives(seed, True, order)
    verify(main)
    twin, wanted = derivatives(seed, False, order)
    rng = np.random.default_rng(seed)
    feed = {name: rng.normal(size=SHAPE) * 0.6 for name in ("x", "w")}
    expected = fluid.Executor().run(twin, feed=feed, fetch_list=wanted)
    for backend in backends:
        exe = fluid.Executor(backend=backend)
        for _ in range(3):  # interpreted, compiled, bound
            found = exe.run(main, feed=feed, fetch_list=fetched)
            for mine, other in zip(found, expected, strict=True):
                scale = 1e-6 + np.abs(other).max()
                np.testing.assert_allclose(mine / scale, other / scale, atol=1e-6)
