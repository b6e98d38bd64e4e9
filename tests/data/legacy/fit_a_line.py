"""Linear regression, as the book of 2018 taught it."""

from __future__ import print_function

import argparse
import collections
import math
import os
import sys
import time

import numpy as np
import paddle
import paddle.fluid as fluid


def houses(seed, count):
    def reader():
        random = np.random.RandomState(seed)
        weights = np.arange(13) / 7.0
        for _ in range(count):
            features = random.rand(13)
            yield features.astype(np.float), np.array([features.dot(weights)])

    return reader


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()

    fluid.default_startup_program().random_seed = 90
    x = fluid.layers.data(name="x", shape=[13], dtype="float32")
    y = fluid.layers.data(name="y", shape=[1], dtype="float32")
    y_predict = fluid.layers.fc(input=x, size=1, act=None)
    cost = fluid.layers.square_error_cost(input=y_predict, label=y)
    avg_cost = fluid.layers.mean(cost)
    fluid.optimizer.SGD(learning_rate=0.05).minimize(avg_cost)
    test_program = fluid.default_main_program().clone(for_test=True)

    reader = paddle.batch(paddle.reader.shuffle(houses(0, 200), buf_size=100), batch_size=20)
    place = fluid.CUDAPlace(0) if fluid.is_compiled_with_cuda() else fluid.CPUPlace()
    exe = fluid.Executor(place)
    exe.run(fluid.default_startup_program())
    feeder = fluid.DataFeeder(place=place, feed_list=[x, y])

    start = time.clock()
    for epoch in range(args.epochs):
        costs = []
        for batch in reader():
            (value,) = exe.run(feed=feeder.feed(batch), fetch_list=[avg_cost])
            if math.isnan(float(value)):
                sys.exit("got NaN loss, training failed.")
            costs.append(value)
        assert isinstance(costs, collections.Iterable)
        print("epoch %d, cost %f" % (epoch, np.mean(costs)))
    (value,) = exe.run(
        test_program,
        feed=feeder.feed(list(houses(1, 50)())),
        fetch_list=[avg_cost.name],
    )
    print("test cost %.5f" % value, "after", time.clock() - start >= 0, os.path.basename(__file__))


if __name__ == "__main__":
    main()
