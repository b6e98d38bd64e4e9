"""Digits at once, in the manner of 2019."""

from __future__ import print_function

import os
import tempfile

import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.dygraph.base import to_variable
from paddle.fluid.dygraph.nn import Conv2D, Linear, Pool2D
from paddle.fluid.optimizer import AdamOptimizer


class SimpleImgConvPool(fluid.dygraph.Layer):
    def __init__(self, num_channels, num_filters, filter_size, pool_size, pool_stride, act=None):
        super(SimpleImgConvPool, self).__init__()
        self._conv2d = Conv2D(num_channels, num_filters, filter_size, act=act)
        self._pool2d = Pool2D(pool_size=pool_size, pool_type="max", pool_stride=pool_stride)

    def forward(self, inputs):
        return self._pool2d(self._conv2d(inputs))


class MNIST(fluid.dygraph.Layer):
    def __init__(self):
        super(MNIST, self).__init__()
        self._simple_img_conv_pool_1 = SimpleImgConvPool(1, 6, 5, 2, 2, act="relu")
        self.pool_shape = 6 * 12 * 12
        self._fc = Linear(self.pool_shape, 10, act="softmax")

    def forward(self, inputs, label=None):
        x = self._simple_img_conv_pool_1(inputs)
        x = fluid.layers.reshape(x, shape=[-1, self.pool_shape])
        x = self._fc(x)
        if label is not None:
            return x, fluid.layers.accuracy(input=x, label=label)
        return x


def train():
    place = fluid.CUDAPlace(fluid.dygraph.parallel.Env().dev_id)
    with fluid.dygraph.guard(place):
        fluid.default_startup_program().random_seed = 90
        mnist = MNIST()
        adam = AdamOptimizer(learning_rate=0.002, parameter_list=mnist.parameters())
        costs = []
        for step, data in enumerate(paddle.batch(paddle.dataset.mnist.train(), 50)()):
            dy_x_data = np.array([x[0].reshape(1, 28, 28) for x in data]).astype("float32")
            y_data = np.array([x[1] for x in data]).astype("int64").reshape(-1, 1)
            img, label = to_variable(dy_x_data), to_variable(y_data)
            label.stop_gradient = True
            cost, acc = mnist(img, label)
            avg_loss = fluid.layers.mean(fluid.layers.cross_entropy(cost, label))
            avg_loss.backward()
            adam.minimize(avg_loss)
            mnist.clear_gradients()
            costs.append(avg_loss.numpy())
            if step == 9:
                break
        print("Loss at step {}: {}, falls: {}".format(step, costs[-1], costs[-1] < costs[0]))
        path = os.path.join(tempfile.mkdtemp(), "save_temp")
        fluid.save_dygraph(mnist.state_dict(), path)
        restored, _ = fluid.load_dygraph(path)
        other = MNIST()
        other.set_dict(restored)
        other.eval()
        print("same", np.allclose(other(img).numpy(), mnist(img).numpy()), isinstance(img, fluid.Variable))


if __name__ == "__main__":
    train()
