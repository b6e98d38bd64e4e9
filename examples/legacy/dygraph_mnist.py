"""Digits without a program: guard, Layer, Adam, a DataLoader and save_dygraph, as of 2019."""

from __future__ import print_function

import argparse

import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.dygraph.base import to_variable
from paddle.fluid.dygraph.nn import BatchNorm, Conv2D, Linear, Pool2D
from paddle.fluid.optimizer import AdamOptimizer


def parse_args():
    parser = argparse.ArgumentParser("Training for Mnist.")
    parser.add_argument("--use_data_parallel", type=bool, default=False)
    parser.add_argument("-e", "--epoch", default=2, type=int, help="set epoch")
    parser.add_argument("--enable_ce", action="store_true", help="a few batches only")
    return parser.parse_args()


class SimpleImgConvPool(fluid.dygraph.Layer):
    def __init__(self, num_channels, num_filters, filter_size, pool_size, pool_stride,
                 pool_padding=0, pool_type='max', act=None):
        super(SimpleImgConvPool, self).__init__()
        self._conv2d = Conv2D(num_channels=num_channels, num_filters=num_filters,
                              filter_size=filter_size, act=None, bias_attr=False)
        self._bn = BatchNorm(num_filters, act=act)
        self._pool2d = Pool2D(pool_size=pool_size, pool_type=pool_type, pool_stride=pool_stride,
                              pool_padding=pool_padding)

    def forward(self, inputs):
        x = self._conv2d(inputs)
        x = self._bn(x)
        x = self._pool2d(x)
        return x


class MNIST(fluid.dygraph.Layer):
    def __init__(self):
        super(MNIST, self).__init__()
        self._simple_img_conv_pool_1 = SimpleImgConvPool(1, 6, 5, 2, 2, act="relu")
        self._simple_img_conv_pool_2 = SimpleImgConvPool(6, 12, 5, 2, 2, act="relu")
        self.pool_2_shape = 12 * 4 * 4
        SIZE = 10
        scale = (2.0 / (self.pool_2_shape ** 2 * SIZE)) ** 0.5
        self._fc = Linear(
            self.pool_2_shape, SIZE, act="softmax",
            param_attr=fluid.param_attr.ParamAttr(
                initializer=fluid.initializer.NormalInitializer(loc=0.0, scale=scale)))

    def forward(self, inputs, label=None):
        x = self._simple_img_conv_pool_1(inputs)
        x = self._simple_img_conv_pool_2(x)
        x = fluid.layers.reshape(x, shape=[-1, self.pool_2_shape])
        x = self._fc(x)
        if label is not None:
            acc = fluid.layers.accuracy(input=x, label=label)
            return x, acc
        else:
            return x


def reader_decorator(reader):
    def __reader__():
        for item in reader():
            img = np.array(item[0]).astype('float32').reshape(1, 28, 28)
            label = np.array(item[1]).astype('int64').reshape(1)
            yield img, label

    return __reader__


def test_mnist(reader, model, batch_size):
    acc_set = []
    avg_loss_set = []
    for batch_id, data in enumerate(reader()):
        img, label = data
        label.stop_gradient = True
        prediction, acc = model(img, label)
        loss = fluid.layers.cross_entropy(input=prediction, label=label)
        avg_loss = fluid.layers.mean(loss)
        acc_set.append(float(acc.numpy()))
        avg_loss_set.append(float(avg_loss.numpy()))
        if batch_id == 1:
            break
    return np.array(avg_loss_set).mean(), np.array(acc_set).mean()


def inference_mnist(images):
    mnist_infer = MNIST()
    # load checkpoint
    model_dict, _ = fluid.load_dygraph("save_temp")
    mnist_infer.set_dict(model_dict)
    mnist_infer.eval()
    with fluid.dygraph.no_grad():
        results = mnist_infer(to_variable(images)).numpy()
    print("Inference result %s, chance %.6f" % (np.argmax(results, axis=1).tolist(),
                                                 results.max()))


def train_mnist(args):
    BATCH_SIZE = 32
    place = fluid.CPUPlace()
    with fluid.dygraph.guard(place):
        if args.enable_ce:
            fluid.default_startup_program().random_seed = 33
            fluid.default_main_program().random_seed = 33
            np.random.seed(33)

        mnist = MNIST()
        rate = fluid.dygraph.PiecewiseDecay([4, 8], [0.002, 0.001, 0.0005], 0)
        adam = AdamOptimizer(learning_rate=rate, parameter_list=mnist.parameters(),
                             grad_clip=fluid.clip.GradientClipByGlobalNorm(5.0))

        train_reader = paddle.batch(
            reader_decorator(paddle.dataset.mnist.train()), batch_size=BATCH_SIZE, drop_last=True)
        test_reader = paddle.batch(
            reader_decorator(paddle.dataset.mnist.test()), batch_size=BATCH_SIZE, drop_last=True)
        train_loader = fluid.io.DataLoader.from_generator(capacity=10)
        train_loader.set_sample_list_generator(train_reader, places=place)
        test_loader = fluid.io.DataLoader.from_generator(capacity=10)
        test_loader.set_sample_list_generator(test_reader, places=place)

        for epoch in range(1 if args.enable_ce else args.epoch):
            for batch_id, data in enumerate(train_loader()):
                img, label = data
                label.stop_gradient = True
                cost, acc = mnist(img, label)
                loss = fluid.layers.cross_entropy(cost, label)
                avg_loss = fluid.layers.mean(loss)
                avg_loss.backward()
                adam.minimize(avg_loss)
                # save checkpoint
                mnist.clear_gradients()
                if args.enable_ce or batch_id % 100 == 0:
                    print("Loss at epoch {} step {}: {}, rate {:.4f}".format(
                        epoch, batch_id, avg_loss.numpy(), float(adam.current_step_lr())))
                if args.enable_ce and batch_id == 9:
                    break
            mnist.eval()
            test_cost, test_acc = test_mnist(test_loader, mnist, BATCH_SIZE)
            mnist.train()
            print("Loss at epoch {} , Test avg_loss is: {}, acc is: {}".format(
                epoch, test_cost, test_acc))

        fluid.save_dygraph(mnist.state_dict(), "save_temp")
        fluid.save_dygraph(adam.state_dict(), "save_temp")
        print("checkpoint saved")
        images = np.array([next(test_reader())[k][0] for k in range(4)])
        inference_mnist(images)


if __name__ == '__main__':
    args = parse_args()
    train_mnist(args)
