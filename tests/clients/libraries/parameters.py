"""Start values that depend on no system."""

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
