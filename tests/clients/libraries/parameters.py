"""Programs that compute the same on every system: known start values, and nothing drawn."""

import numpy as np
import paddle.fluid as fluid


def started(program):
    """Give every trainable parameter of a program numbers that its place alone decides."""
    scope = fluid.global_scope()
    parameters = [each for each in program.all_parameters() if each.trainable]
    for number, parameter in enumerate(sorted(parameters, key=lambda each: each.name)):
        tensor = scope.find_var(parameter.name).get_tensor()
        draw = np.random.RandomState(number).uniform(-0.1, 0.1, np.array(tensor).shape)
        tensor.set(draw.astype("float32"), fluid.CPUPlace())


def drawn(name, shape):
    """A parameter with numbers that its name alone decides."""
    value = np.random.RandomState(sum(map(ord, name))).uniform(-0.3, 0.3, shape)
    start = fluid.initializer.NumpyArrayInitializer(value.astype("float32"))
    return fluid.ParamAttr(name=name, initializer=start)


def dense(x, size, name, act=None):
    """A layer whose parameters are drawn by its name."""
    weight = drawn(name + ".w", [x.shape[-1], size])
    bias = drawn(name + ".b", [size])
    return fluid.layers.fc(x, size, param_attr=weight, bias_attr=bias, act=act)


def without_draws(program):
    """Have dropout keep all, and draws be one number: no system draws as another one does."""
    for op in program.global_block().ops:
        if op.type == "dropout":
            op._set_attr("dropout_prob", 0.0)
        if op.type.startswith("uniform_random"):
            op._set_attr("min", 0.99)
            op._set_attr("max", 0.9900001)


def four_losses(main, startup, feed, loss):
    """The losses of four steps from known start values."""
    exe = fluid.Executor(fluid.CPUPlace())
    with fluid.scope_guard(fluid.Scope()):
        exe.run(startup)
        started(main)
        return [float(np.ravel(exe.run(main, feed, [loss])[0])[0]) for _ in range(4)]
