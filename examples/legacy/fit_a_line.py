"""Linear regression: the price of a house from 13 figures, as the book of 2018 began."""

from __future__ import print_function

import argparse
import math
import sys

import numpy
import paddle
import paddle.fluid as fluid


def parse_args():
    parser = argparse.ArgumentParser("fit_a_line")
    parser.add_argument('--enable_ce', action='store_true',
                        help="If set, run with fixed data order, a few steps only.")
    parser.add_argument('--use_gpu', type=bool, default=False, help="Whether to use GPU or not.")
    parser.add_argument('--num_epochs', type=int, default=100, help="number of epochs.")
    return parser.parse_args()


# For training test cost
def train_test(executor, program, reader, feeder, fetch_list):
    accumulated = 1 * [0]
    count = 0
    for data_test in reader():
        outs = executor.run(program=program, feed=feeder.feed(data_test), fetch_list=fetch_list)
        accumulated = [x_c[0] + x_c[1][0] for x_c in zip(accumulated, outs)]
        count += 1
    return [x_d / count for x_d in accumulated]


def main():
    batch_size = 20
    if args.enable_ce:
        train_reader = paddle.batch(paddle.dataset.uci_housing.train(), batch_size=batch_size)
        test_reader = paddle.batch(paddle.dataset.uci_housing.test(), batch_size=batch_size)
    else:
        train_reader = paddle.batch(
            paddle.reader.shuffle(paddle.dataset.uci_housing.train(), buf_size=500),
            batch_size=batch_size)
        test_reader = paddle.batch(
            paddle.reader.shuffle(paddle.dataset.uci_housing.test(), buf_size=500),
            batch_size=batch_size)

    # feature vector of length 13
    x = fluid.layers.data(name='x', shape=[13], dtype='float32')
    y = fluid.layers.data(name='y', shape=[1], dtype='float32')
    y_predict = fluid.layers.fc(input=x, size=1, act=None)

    main_program = fluid.default_main_program()
    startup_program = fluid.default_startup_program()
    if args.enable_ce:
        main_program.random_seed = 90
        startup_program.random_seed = 90

    cost = fluid.layers.square_error_cost(input=y_predict, label=y)
    avg_loss = fluid.layers.mean(cost)
    sgd_optimizer = fluid.optimizer.SGD(learning_rate=0.01)
    sgd_optimizer.minimize(avg_loss)

    test_program = main_program.clone(for_test=True)

    # can use CPU or GPU
    use_cuda = args.use_gpu
    place = fluid.CUDAPlace(0) if use_cuda else fluid.CPUPlace()
    exe = fluid.Executor(place)

    params_dirname = "fit_a_line.inference.model"
    num_epochs = 2 if args.enable_ce else args.num_epochs

    # main train loop.
    feeder = fluid.DataFeeder(place=place, feed_list=[x, y])
    exe.run(startup_program)
    train_prompt, test_prompt, step = "Train cost", "Test cost", 0
    exe_test = fluid.Executor(place)
    for pass_id in range(num_epochs):
        for data_train in train_reader():
            avg_loss_value, = exe.run(main_program, feed=feeder.feed(data_train),
                                      fetch_list=[avg_loss])
            if step % 10 == 0:
                print("%s, Step %d, Cost %f" % (train_prompt, step, avg_loss_value[0]))
            if step % 20 == 0:
                test_metics = train_test(executor=exe_test, program=test_program,
                                         reader=test_reader, fetch_list=[avg_loss.name],
                                         feeder=feeder)
                print("%s, Step %d, Cost %f" % (test_prompt, step, test_metics[0]))
                if test_metics[0] < 1.0:
                    break
            step += 1
            if math.isnan(float(avg_loss_value[0])):
                sys.exit("got NaN loss, training failed.")
        fluid.io.save_inference_model(params_dirname, ['x'], [y_predict], exe)

    infer(place, params_dirname, batch_size=10)


def infer(place, params_dirname, batch_size):
    infer_exe = fluid.Executor(place)
    inference_scope = fluid.core.Scope()
    # infer
    with fluid.scope_guard(inference_scope):
        [inference_program, feed_target_names, fetch_targets] = fluid.io.load_inference_model(
            params_dirname, infer_exe)
        infer_reader = paddle.batch(paddle.dataset.uci_housing.test(), batch_size=batch_size)
        infer_data = next(infer_reader())
        infer_feat = numpy.array([data[0] for data in infer_data]).astype("float32")
        infer_label = numpy.array([data[1] for data in infer_data]).astype("float32")
        assert feed_target_names[0] == 'x'
        results = infer_exe.run(inference_program,
                                feed={feed_target_names[0]: numpy.array(infer_feat)},
                                fetch_list=fetch_targets)
        print("infer results: (House Price)")
        for idx, val in enumerate(results[0]):
            print("%d: %.4f" % (idx, val))
        print("ground truth:")
        for idx, val in enumerate(infer_label):
            print("%d: %.4f" % (idx, val))


if __name__ == '__main__':
    args = parse_args()
    main()
