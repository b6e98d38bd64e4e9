"""Small photographs by a residual network or a VGG, trained by Momentum, as the book of 2018 did."""

from __future__ import print_function

import argparse

import numpy as np
import paddle
import paddle.fluid as fluid


def parse_args():
    parser = argparse.ArgumentParser("image_classification")
    parser.add_argument('--enable_ce', action='store_true',
                        help='If set, run with fixed data order, a few steps only.')
    parser.add_argument('--use_gpu', type=bool, default=False, help='whether to use gpu')
    parser.add_argument('--net', default='resnet', choices=['resnet', 'vgg'])
    parser.add_argument('--num_epochs', type=int, default=1, help='number of epoch')
    return parser.parse_args()


def conv_bn_layer(input, ch_out, filter_size, stride, padding, act='relu', bias_attr=False):
    tmp = fluid.layers.conv2d(input=input, filter_size=filter_size, num_filters=ch_out,
                              stride=stride, padding=padding, act=None, bias_attr=bias_attr)
    return fluid.layers.batch_norm(input=tmp, act=act)


def shortcut(input, ch_in, ch_out, stride):
    if ch_in != ch_out:
        return conv_bn_layer(input, ch_out, 1, stride, 0, None)
    else:
        return input


def basicblock(input, ch_in, ch_out, stride):
    tmp = conv_bn_layer(input, ch_out, 3, stride, 1)
    tmp = conv_bn_layer(tmp, ch_out, 3, 1, 1, act=None, bias_attr=True)
    short = shortcut(input, ch_in, ch_out, stride)
    return fluid.layers.elementwise_add(x=tmp, y=short, act='relu')


def layer_warp(block_func, input, ch_in, ch_out, count, stride):
    tmp = block_func(input, ch_in, ch_out, stride)
    for i in range(1, count):
        tmp = block_func(tmp, ch_out, ch_out, 1)
    return tmp


def resnet_cifar10(ipt, depth=32):
    # depth should be one of 8, 14, 20, 32, 44, 56, 110, 1202
    assert (depth - 2) % 6 == 0
    n = (depth - 2) // 6
    conv1 = conv_bn_layer(ipt, ch_out=8, filter_size=3, stride=1, padding=1)
    res1 = layer_warp(basicblock, conv1, 8, 8, n, 1)
    res2 = layer_warp(basicblock, res1, 8, 16, n, 2)
    res3 = layer_warp(basicblock, res2, 16, 32, n, 2)
    pool = fluid.layers.pool2d(input=res3, pool_size=8, pool_type='avg', pool_stride=1)
    return fluid.layers.fc(input=pool, size=10, act='softmax')


def vgg_bn_drop(input):
    def conv_block(ipt, num_filter, groups, dropouts):
        return fluid.nets.img_conv_group(
            input=ipt, pool_size=2, pool_stride=2, conv_num_filter=[num_filter] * groups,
            conv_filter_size=3, conv_act='relu', conv_with_batchnorm=True,
            conv_batchnorm_drop_rate=dropouts, pool_type='max')

    conv1 = conv_block(input, 16, 2, [0.3, 0])
    conv2 = conv_block(conv1, 32, 2, [0.4, 0])
    conv3 = conv_block(conv2, 64, 2, [0.4, 0])
    drop = fluid.layers.dropout(x=conv3, dropout_prob=0.5)
    fc1 = fluid.layers.fc(input=drop, size=64, act=None)
    bn = fluid.layers.batch_norm(input=fc1, act='relu')
    return fluid.layers.fc(input=bn, size=10, act='softmax')


def network():
    images = fluid.layers.data(name='pixel', shape=[3, 32, 32], dtype='float32')
    if args.net == 'vgg':
        predict = vgg_bn_drop(images)
    else:
        predict = resnet_cifar10(images, 8 if args.enable_ce else 32)
    label = fluid.layers.data(name='label', shape=[1], dtype='int64')
    cost = fluid.layers.cross_entropy(input=predict, label=label)
    avg_cost = fluid.layers.mean(cost)
    accuracy = fluid.layers.accuracy(input=predict, label=label)
    return predict, [avg_cost, accuracy]


def optimizer_program():
    boundaries = [3, 1000]
    rate = fluid.layers.piecewise_decay(boundaries, [0.05, 0.01, 0.001])
    return fluid.optimizer.Momentum(learning_rate=rate, momentum=0.9,
                                    regularization=fluid.regularizer.L2Decay(1e-4))


def train(use_cuda, params_dirname):
    place = fluid.CUDAPlace(0) if use_cuda else fluid.CPUPlace()
    BATCH_SIZE = 8 if args.enable_ce else 128
    if args.enable_ce:
        train_reader = paddle.batch(paddle.dataset.cifar.train10(), batch_size=BATCH_SIZE)
        test_reader = paddle.batch(
            paddle.reader.firstn(paddle.dataset.cifar.test10(), 16), batch_size=BATCH_SIZE)
    else:
        train_reader = paddle.batch(
            paddle.reader.shuffle(paddle.dataset.cifar.train10(), buf_size=128 * 100),
            batch_size=BATCH_SIZE)
        test_reader = paddle.batch(paddle.dataset.cifar.test10(), batch_size=BATCH_SIZE)

    feed_order = ['pixel', 'label']
    main_program = fluid.default_main_program()
    start_program = fluid.default_startup_program()
    if args.enable_ce:
        main_program.random_seed = 90
        start_program.random_seed = 90

    predict, (avg_cost, acc) = network()
    # Test program
    test_program = main_program.clone(for_test=True)
    optimizer = optimizer_program()
    optimizer.minimize(avg_cost)

    exe = fluid.Executor(place)

    def train_test(program, reader):
        count = 0
        feed_var_list = [program.global_block().var(var_name) for var_name in feed_order]
        feeder_test = fluid.DataFeeder(feed_list=feed_var_list, place=place)
        test_exe = fluid.Executor(place)
        accumulated = len([avg_cost, acc]) * [0]
        for tid, test_data in enumerate(reader()):
            avg_cost_np = test_exe.run(program=program, feed=feeder_test.feed(test_data),
                                       fetch_list=[avg_cost, acc])
            accumulated = [x[0] + x[1][0] for x in zip(accumulated, avg_cost_np)]
            count += 1
        return [x / count for x in accumulated]

    # main train loop.
    feed_var_list_loop = [main_program.global_block().var(var_name) for var_name in feed_order]
    feeder = fluid.DataFeeder(feed_list=feed_var_list_loop, place=place)
    exe.run(start_program)
    step = 0
    for pass_id in range(args.num_epochs):
        for step_id, data_train in enumerate(train_reader()):
            avg_loss_value = exe.run(main_program, feed=feeder.feed(data_train),
                                     fetch_list=[avg_cost, acc])
            if args.enable_ce or step_id % 100 == 0:
                print("Pass %d, Batch %d, Cost %f, Acc %f" % (
                    pass_id, step_id, avg_loss_value[0], avg_loss_value[1]))
            step += 1
            if args.enable_ce and step == 4:
                break
        avg_cost_test, accuracy_test = train_test(test_program, reader=test_reader)
        print('Test with Pass {0}, Loss {1:2.4}, Acc {2:2.2}'.format(
            pass_id, avg_cost_test, accuracy_test))
        if params_dirname is not None:
            fluid.io.save_inference_model(params_dirname, ["pixel"], [predict], exe)


def infer(use_cuda, params_dirname=None):
    place = fluid.CUDAPlace(0) if use_cuda else fluid.CPUPlace()
    exe = fluid.Executor(place)
    inference_scope = fluid.core.Scope()
    img = np.array(next(paddle.dataset.cifar.test10()())[0]).reshape(1, 3, 32, 32)
    with fluid.scope_guard(inference_scope):
        [inference_program, feed_target_names, fetch_targets] = fluid.io.load_inference_model(
            params_dirname, exe)
        results = exe.run(inference_program, feed={feed_target_names[0]: img.astype('float32')},
                          fetch_list=fetch_targets)
        label_list = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse",
                      "ship", "truck"]
        print("infer results: %s, chance %.6f" % (
            label_list[np.argmax(results[0])], np.max(results[0])))


def main(use_cuda):
    if use_cuda and not fluid.core.is_compiled_with_cuda():
        return
    save_path = "image_classification_%s.inference.model" % args.net
    train(use_cuda=use_cuda, params_dirname=save_path)
    infer(use_cuda=use_cuda, params_dirname=save_path)


if __name__ == '__main__':
    args = parse_args()
    main(use_cuda=args.use_gpu)
