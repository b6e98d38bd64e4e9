"""Digits by a convolutional net, as the book of 2018 taught it."""

from __future__ import print_function

import os
import tempfile

import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.layers import accuracy, cross_entropy

BATCH_SIZE = 64
BATCHES = 12


def convolutional_neural_network(img):
    pool_1 = fluid.nets.simple_img_conv_pool(
        input=img, filter_size=5, num_filters=6, pool_size=2, pool_stride=2, act="relu"
    )
    pool_1 = fluid.layers.batch_norm(pool_1)
    return fluid.layers.fc(input=pool_1, size=10, act="softmax")


def main():
    img = fluid.data(name="img", shape=[None, 1, 28, 28], dtype="float32")
    label = fluid.data(name="label", shape=[None, 1], dtype="int64")
    prediction = convolutional_neural_network(img)
    avg_loss = fluid.layers.mean(cross_entropy(input=prediction, label=label))
    acc = accuracy(input=prediction, label=label)
    test_program = fluid.default_main_program().clone(for_test=True)
    optimizer = fluid.optimizer.Adam(learning_rate=0.002)
    optimizer.minimize(avg_loss)

    place = fluid.CPUPlace()
    exe = fluid.Executor(place)
    exe.run(fluid.default_startup_program())
    feeder = fluid.DataFeeder(feed_list=[img, label], place=place)
    reader = paddle.batch(
        paddle.reader.shuffle(paddle.dataset.mnist.train(), buf_size=500), batch_size=BATCH_SIZE
    )
    for step, data in enumerate(reader()):
        metrics = exe.run(feed=feeder.feed(data), fetch_list=[avg_loss, acc])
        if step % 4 == 0:
            print("Pass {0}, Cost {1}, Acc {2}".format(step, *[np.mean(m) for m in metrics]))
        if step + 1 == BATCHES:
            break

    accs = []
    for data in paddle.batch(paddle.dataset.mnist.test(), batch_size=BATCH_SIZE)():
        (one,) = exe.run(program=test_program, feed=feeder.feed(data), fetch_list=[acc.name])
        accs.append(float(one))
    print("test accuracy %.3f" % np.array(accs).mean())

    folder = os.path.join(tempfile.mkdtemp(), "recognize_digits.inference.model")
    fluid.io.save_inference_model(folder, ["img"], [prediction], exe, None, None)
    inference_scope = fluid.core.Scope()
    with fluid.scope_guard(inference_scope):
        [program, feeds, fetches] = fluid.io.load_inference_model(folder, exe, None, None)
        image = next(paddle.dataset.mnist.test()())[0].reshape(1, 1, 28, 28)
        results = exe.run(program, feed={feeds[0]: image}, fetch_list=fetches)
        print("inferred", np.argsort(results)[0][0].shape)


main()
