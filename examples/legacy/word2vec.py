"""The next word from the four before it, with one table of word vectors, as the book of 2018 did."""

from __future__ import print_function

import argparse
import math
import sys

import numpy as np
import paddle
import paddle.fluid as fluid

EMBED_SIZE = 32  # embedding dimension
HIDDEN_SIZE = 64  # hidden layer size
N = 5  # ngram size, here fixed 5
BATCH_SIZE = 100  # batch size


def parse_args():
    parser = argparse.ArgumentParser("word2vec")
    parser.add_argument('--enable_ce', action='store_true',
                        help='If set, run with fixed data order, a few steps only.')
    parser.add_argument('--use_gpu', type=int, default=0, help='whether to use gpu')
    parser.add_argument('--num_epochs', type=int, default=100, help='number of epoch')
    return parser.parse_args()


def inference_program(words, is_sparse):
    embeds = []
    for word in words:
        embeds.append(fluid.layers.embedding(
            input=word, size=[dict_size, EMBED_SIZE], dtype='float32', is_sparse=is_sparse,
            param_attr='shared_w'))
    concat_embed = fluid.layers.concat(input=embeds, axis=1)
    hidden1 = fluid.layers.fc(input=concat_embed, size=HIDDEN_SIZE, act='sigmoid')
    predict_word = fluid.layers.fc(input=hidden1, size=dict_size, act='softmax')
    return predict_word


def train_program(predict_word):
    # The declaration of 'next_word' must be after the invoking of inference_program,
    # or the data input order of train program would be [next_word, firstw, ...]
    next_word = fluid.layers.data(name='nextw', shape=[1], dtype='int64')
    cost = fluid.layers.cross_entropy(input=predict_word, label=next_word)
    avg_cost = fluid.layers.mean(cost)
    return avg_cost


def optimizer_func():
    return fluid.optimizer.AdagradOptimizer(
        learning_rate=3e-3, regularization=fluid.regularizer.L2DecayRegularizer(8e-4))


def train(if_use_cuda, params_dirname, is_sparse=True):
    place = fluid.CUDAPlace(0) if if_use_cuda else fluid.CPUPlace()
    train_reader = paddle.batch(paddle.dataset.imikolov.train(word_dict, N), BATCH_SIZE)
    test_reader = paddle.batch(paddle.dataset.imikolov.test(word_dict, N), BATCH_SIZE)
    if args.enable_ce:
        test_reader = paddle.reader.firstn(test_reader, 2)

    first_word = fluid.layers.data(name='firstw', shape=[1], dtype='int64')
    second_word = fluid.layers.data(name='secondw', shape=[1], dtype='int64')
    third_word = fluid.layers.data(name='thirdw', shape=[1], dtype='int64')
    forth_word = fluid.layers.data(name='fourthw', shape=[1], dtype='int64')
    word_list = [first_word, second_word, third_word, forth_word]
    feed_order = ['firstw', 'secondw', 'thirdw', 'fourthw', 'nextw']

    main_program = fluid.default_main_program()
    star_program = fluid.default_startup_program()
    if args.enable_ce:
        main_program.random_seed = 90
        star_program.random_seed = 90

    predict_word = inference_program(word_list, is_sparse)
    avg_cost = train_program(predict_word)
    test_program = main_program.clone(for_test=True)

    optimizer = optimizer_func()
    optimizer.minimize(avg_cost)
    exe = fluid.Executor(place)

    def train_test(program, reader):
        count = 0
        feed_var_list = [program.global_block().var(var_name) for var_name in feed_order]
        feeder_test = fluid.DataFeeder(feed_list=feed_var_list, place=place)
        test_exe = fluid.Executor(place)
        accumulated = len([avg_cost]) * [0]
        for test_data in reader():
            avg_cost_np = test_exe.run(program=program, feed=feeder_test.feed(test_data),
                                       fetch_list=[avg_cost])
            accumulated = [x[0] + x[1][0] for x in zip(accumulated, avg_cost_np)]
            count += 1
        return [x / count for x in accumulated]

    step = 0
    feed_var_list_loop = [main_program.global_block().var(var_name) for var_name in feed_order]
    feeder = fluid.DataFeeder(feed_list=feed_var_list_loop, place=place)
    exe.run(star_program)
    for pass_id in range(args.num_epochs):
        for data in train_reader():
            avg_cost_np = exe.run(main_program, feed=feeder.feed(data), fetch_list=[avg_cost])
            if args.enable_ce or step % 10 == 0:
                print("Step %d: Average Cost %f" % (step, avg_cost_np[0]))
            if step % 10 == 0:
                outs = train_test(test_program, test_reader)
                print("Test: Average Cost %f" % outs[0])
                # it will take a few hours.
                if outs[0] < 5.8 or (args.enable_ce and step == 10):
                    if params_dirname is not None:
                        fluid.io.save_inference_model(
                            params_dirname, ['firstw', 'secondw', 'thirdw', 'fourthw'],
                            [predict_word], exe)
                    return
                if math.isnan(float(avg_cost_np[0])):
                    sys.exit("got NaN loss, training failed.")
            step += 1
    raise AssertionError("Cost is too large {0:2.2}".format(avg_cost_np[0]))


def infer(use_cuda, params_dirname=None):
    place = fluid.CUDAPlace(0) if use_cuda else fluid.CPUPlace()
    exe = fluid.Executor(place)
    inference_scope = fluid.core.Scope()
    with fluid.scope_guard(inference_scope):
        [inferencer, feed_target_names, fetch_targets] = fluid.io.load_inference_model(
            params_dirname, exe)
        # Each word is an index of the dictionary; the recursive sequence lengths say that there
        # is one sequence of one word.
        data = [[[211]], [[6]], [[96]], [[4]]]
        lod = [[1]]
        words = [fluid.create_lod_tensor(numbers, lod, place) for numbers in data]
        assert feed_target_names == ['firstw', 'secondw', 'thirdw', 'fourthw']
        results = exe.run(inferencer, feed=dict(zip(feed_target_names, words)),
                          fetch_list=fetch_targets, return_numpy=False)
        print(results[0].recursive_sequence_lengths())
        np_data = np.array(results[0])
        print("Inference Shape: ", np_data.shape)
        most_possible_word_index = np.argmax(np_data)
        print(most_possible_word_index, "%.8f" % np_data.max())
        print([key for key, value in word_dict.items() if value == most_possible_word_index][0])


def main(use_cuda, is_sparse):
    if use_cuda and not fluid.core.is_compiled_with_cuda():
        return
    params_dirname = "word2vec.inference.model"
    train(if_use_cuda=use_cuda, params_dirname=params_dirname, is_sparse=is_sparse)
    infer(use_cuda=use_cuda, params_dirname=params_dirname)


if __name__ == '__main__':
    args = parse_args()
    word_dict = paddle.dataset.imikolov.build_dict()
    dict_size = len(word_dict)
    main(use_cuda=args.use_gpu, is_sparse=True)
