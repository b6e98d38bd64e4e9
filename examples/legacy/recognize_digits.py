"""Handwritten digits by two groups of convolution and pooling, as the book of 2018 did."""

from __future__ import print_function

import argparse
import os

import numpy
import paddle
import paddle.fluid as fluid

BATCH_SIZE = 64
PASS_NUM = 5


def parse_args():
    parser = argparse.ArgumentParser("mnist")
    parser.add_argument('--enable_ce', action='store_true',
                        help="If set, run with fixed data order, a few steps only.")
    parser.add_argument('--use_gpu', type=bool, default=False, help="Whether to use GPU or not.")
    parser.add_argument('--num_epochs', type=int, default=PASS_NUM, help="number of epochs.")
    return parser.parse_args()


def loss_net(hidden, label):
    prediction = fluid.layers.fc(input=hidden, size=10, act='softmax')
    loss = fluid.layers.cross_entropy(input=prediction, label=label)
    avg_loss = fluid.layers.mean(loss)
    acc = fluid.layers.accuracy(input=prediction, label=label)
    return prediction, avg_loss, acc


def multilayer_perceptron(img, label):
    img = fluid.layers.fc(input=img, size=200, act='tanh')
    hidden = fluid.layers.fc(input=img, size=200, act='tanh')
    return loss_net(hidden, label)


def conv_net(img, label):
    conv_pool_1 = fluid.nets.simple_img_conv_pool(
        input=img, filter_size=5, num_filters=8, pool_size=2, pool_stride=2, act="relu")
    conv_pool_1 = fluid.layers.batch_norm(conv_pool_1)
    conv_pool_2 = fluid.nets.simple_img_conv_pool(
        input=conv_pool_1, filter_size=5, num_filters=16, pool_size=2, pool_stride=2, act="relu")
    return loss_net(conv_pool_2, label)


def train(nn_type, use_cuda, save_dirname=None, model_filename=None, params_filename=None):
    if use_cuda and not fluid.core.is_compiled_with_cuda():
        return
    startup_program = fluid.default_startup_program()
    main_program = fluid.default_main_program()

    if args.enable_ce:
        train_reader = paddle.batch(paddle.dataset.mnist.train(), batch_size=BATCH_SIZE)
        test_reader = paddle.batch(
            paddle.reader.firstn(paddle.dataset.mnist.test(), 128), batch_size=BATCH_SIZE)
        startup_program.random_seed = 90
        main_program.random_seed = 90
    else:
        train_reader = paddle.batch(
            paddle.reader.shuffle(paddle.dataset.mnist.train(), buf_size=500),
            batch_size=BATCH_SIZE)
        test_reader = paddle.batch(paddle.dataset.mnist.test(), batch_size=BATCH_SIZE)

    img = fluid.layers.data(name='img', shape=[1, 28, 28], dtype='float32')
    label = fluid.layers.data(name='label', shape=[1], dtype='int64')
    net_conf = conv_net if nn_type == 'convolutional_neural_network' else multilayer_perceptron
    prediction, avg_loss, acc = net_conf(img, label)

    test_program = main_program.clone(for_test=True)
    optimizer = fluid.optimizer.Adam(learning_rate=0.001)
    optimizer.minimize(avg_loss)

    def train_test(train_test_program, train_test_feed, train_test_reader):
        acc_set = []
        avg_loss_set = []
        for test_data in train_test_reader():
            acc_np, avg_loss_np = exe.run(program=train_test_program,
                                          feed=train_test_feed.feed(test_data),
                                          fetch_list=[acc, avg_loss])
            acc_set.append(float(acc_np))
            avg_loss_set.append(float(avg_loss_np))
        # get test acc and loss
        return numpy.array(avg_loss_set).mean(), numpy.array(acc_set).mean()

    place = fluid.CUDAPlace(0) if use_cuda else fluid.CPUPlace()
    exe = fluid.Executor(place)
    feeder = fluid.DataFeeder(feed_list=[img, label], place=place)
    exe.run(startup_program)
    epochs = [epoch_id for epoch_id in range(1 if args.enable_ce else args.num_epochs)]

    lists = []
    step = 0
    for epoch_id in epochs:
        for step_id, data in enumerate(train_reader()):
            metrics = exe.run(main_program, feed=feeder.feed(data), fetch_list=[avg_loss, acc])
            if step % (1 if args.enable_ce else 100) == 0:
                print("Pass %d, Epoch %d, Cost %f" % (step, epoch_id, metrics[0]))
            step += 1
            if args.enable_ce and step == 8:
                break
        # test for epoch
        avg_loss_val, acc_val = train_test(test_program, feeder, test_reader)
        print("Test with Epoch %d, avg_cost: %s, acc: %s" % (epoch_id, avg_loss_val, acc_val))
        lists.append((epoch_id, avg_loss_val, acc_val))
        if save_dirname is not None:
            fluid.io.save_inference_model(save_dirname, ["img"], [prediction], exe,
                                          model_filename=model_filename,
                                          params_filename=params_filename)

    # find the best pass
    best = sorted(lists, key=lambda each: float(each[1]))[0]
    print('Best pass is %s, testing Avgcost is %s' % (best[0], best[1]))
    print('The classification accuracy is %.2f%%' % (float(best[2]) * 100))


def infer(use_cuda, save_dirname=None, model_filename=None, params_filename=None):
    if save_dirname is None:
        return
    place = fluid.CUDAPlace(0) if use_cuda else fluid.CPUPlace()
    exe = fluid.Executor(place)
    image, truth = next(paddle.dataset.mnist.test()())
    tensor_img = numpy.array(image).reshape(1, 1, 28, 28).astype(numpy.float32)
    inference_scope = fluid.core.Scope()
    with fluid.scope_guard(inference_scope):
        [inference_program, feed_target_names, fetch_targets] = fluid.io.load_inference_model(
            save_dirname, exe, model_filename, params_filename)
        results = exe.run(inference_program, feed={feed_target_names[0]: tensor_img},
                          fetch_list=fetch_targets)
        lab = numpy.argsort(results)
        print("Inference result, image is %d, chance %.6f, truth %d" % (
            lab[0][0][-1], results[0].max(), truth))


def main(use_cuda, nn_type):
    save_dirname = "recognize_digits_" + nn_type + ".inference.model"
    files = dict(save_dirname=save_dirname, model_filename="model", params_filename="params")
    train(nn_type=nn_type, use_cuda=use_cuda, **files)
    assert os.path.exists(os.path.join(save_dirname, "params"))
    infer(use_cuda=use_cuda, **files)


if __name__ == '__main__':
    args = parse_args()
    main(use_cuda=args.use_gpu, nn_type='convolutional_neural_network')
