"""Roles of the words around a verb, by LSTMs in both directions and a random field, as the book did.

Eight features of a word go in; the tags come out of a conditional random field.
"""

from __future__ import print_function

import argparse
import math
import time

import numpy as np
import paddle
import paddle.dataset.conll05 as conll05
import paddle.fluid as fluid

word_dict, verb_dict, label_dict = conll05.get_dict()
word_dict_len = len(word_dict)
label_dict_len = len(label_dict)
pred_dict_len = len(verb_dict)

mark_dict_len = 2
word_dim = 16
mark_dim = 5
hidden_dim = 80
depth = 4
mix_hidden_lr = 1e-3
IS_SPARSE = True
PASS_NUM = 1
BATCH_SIZE = 10
embedding_name = 'emb'


def parse_args():
    parser = argparse.ArgumentParser("label_semantic_roles")
    parser.add_argument('--enable_ce', action='store_true',
                        help="If set, run with fixed data order, a few steps only.")
    parser.add_argument('--use_gpu', type=int, default=0, help="Whether to use GPU or not.")
    parser.add_argument('--num_epochs', type=int, default=PASS_NUM, help="number of epochs.")
    return parser.parse_args()


def db_lstm(word, predicate, ctx_n2, ctx_n1, ctx_0, ctx_p1, ctx_p2, mark, **ignored):
    # 8 features
    predicate_embedding = fluid.layers.embedding(
        input=predicate, size=[pred_dict_len, word_dim], dtype='float32', is_sparse=IS_SPARSE,
        param_attr='vemb')
    mark_embedding = fluid.layers.embedding(
        input=mark, size=[mark_dict_len, mark_dim], dtype='float32', is_sparse=IS_SPARSE)

    word_input = [word, ctx_n2, ctx_n1, ctx_0, ctx_p1, ctx_p2]
    # the word vectors are not trained, as if they had been loaded
    emb_layers = [
        fluid.layers.embedding(
            size=[word_dict_len, word_dim], input=x,
            param_attr=fluid.ParamAttr(name=embedding_name, trainable=False))
        for x in word_input
    ]
    emb_layers.append(predicate_embedding)
    emb_layers.append(mark_embedding)

    hidden_0_layers = [
        fluid.layers.fc(input=emb, size=hidden_dim, act='tanh') for emb in emb_layers
    ]
    hidden_0 = fluid.layers.sums(input=hidden_0_layers)
    lstm_0 = fluid.layers.dynamic_lstm(
        input=hidden_0, size=hidden_dim, candidate_activation='relu', gate_activation='sigmoid',
        cell_activation='sigmoid')

    # stack L-LSTM and R-LSTM with direct edges
    input_tmp = [hidden_0, lstm_0[0]]
    for i in range(1, depth):
        mix_hidden = fluid.layers.sums(input=[
            fluid.layers.fc(input=input_tmp[0], size=hidden_dim, act='tanh'),
            fluid.layers.fc(input=input_tmp[1], size=hidden_dim, act='tanh')
        ])
        lstm = fluid.layers.dynamic_lstm(
            input=mix_hidden, size=hidden_dim, candidate_activation='relu',
            gate_activation='sigmoid', cell_activation='sigmoid', is_reverse=((i % 2) == 1))
        input_tmp = [mix_hidden, lstm[0]]

    feature_out = fluid.layers.sums(input=[
        fluid.layers.fc(input=input_tmp[0], size=label_dict_len, act='tanh'),
        fluid.layers.fc(input=input_tmp[1], size=label_dict_len, act='tanh')
    ])
    return feature_out


def train(use_cuda, save_dirname=None):
    if args.enable_ce:
        fluid.default_startup_program().random_seed = 90
        fluid.default_main_program().random_seed = 90

    # define data layers
    names = ['word_data', 'ctx_n2_data', 'ctx_n1_data', 'ctx_0_data', 'ctx_p1_data',
             'ctx_p2_data', 'verb_data', 'mark_data', 'target']
    word, ctx_n2, ctx_n1, ctx_0, ctx_p1, ctx_p2, predicate, mark, target = [
        fluid.layers.data(name=name, shape=[1], dtype='int64', lod_level=1) for name in names
    ]

    # define network topology
    feature_out = db_lstm(**locals())
    crf_cost = fluid.layers.linear_chain_crf(
        input=feature_out, label=target,
        param_attr=fluid.ParamAttr(name='crfw', learning_rate=mix_hidden_lr))
    avg_cost = fluid.layers.mean(crf_cost)

    sgd_optimizer = fluid.optimizer.SGD(
        learning_rate=fluid.layers.exponential_decay(
            learning_rate=0.01, decay_steps=100000, decay_rate=0.5, staircase=True))
    sgd_optimizer.minimize(avg_cost)

    crf_decode = fluid.layers.crf_decoding(
        input=feature_out, param_attr=fluid.ParamAttr(name='crfw'))
    # right tags of words, of all words of the batch
    chunks = fluid.layers.chunk_eval(
        input=crf_decode, label=target, chunk_scheme="IOB",
        num_chunk_types=int(math.ceil((label_dict_len - 1) / 2.0)))

    if args.enable_ce:
        train_data = paddle.batch(paddle.dataset.conll05.test(), batch_size=BATCH_SIZE)
    else:
        train_data = paddle.batch(
            paddle.reader.shuffle(paddle.dataset.conll05.test(), buf_size=8192),
            batch_size=BATCH_SIZE)

    place = fluid.CUDAPlace(0) if use_cuda else fluid.CPUPlace()
    feeder = fluid.DataFeeder(
        feed_list=[word, ctx_n2, ctx_n1, ctx_0, ctx_p1, ctx_p2, predicate, mark, target],
        place=place)
    exe = fluid.Executor(place)
    exe.run(fluid.default_startup_program())
    vectors = np.random.RandomState(0).uniform(-0.5, 0.5, [word_dict_len, word_dim])
    fluid.global_scope().find_var(embedding_name).get_tensor().set(
        vectors.astype('float32'), place)

    main_program = fluid.default_main_program()
    start_time = time.time()
    batch_id = 0
    for pass_id in range(args.num_epochs):
        for data in train_data():
            cost, found, right = exe.run(main_program, feed=feeder.feed(data),
                                         fetch_list=[avg_cost, chunks[3], chunks[5]])
            cost = cost[0]
            if args.enable_ce or batch_id % 10 == 0:
                print("avg_cost: %f, chunks %d, right %d" % (cost, found[0], right[0]))
            batch_id = batch_id + 1
            if float(cost) < 60.0 and not args.enable_ce or args.enable_ce and batch_id == 5:
                break
    assert time.time() > start_time
    if save_dirname is not None:
        fluid.io.save_inference_model(save_dirname, names[:-1], [feature_out, crf_decode], exe)


def infer(use_cuda, save_dirname=None):
    place = fluid.CUDAPlace(0) if use_cuda else fluid.CPUPlace()
    exe = fluid.Executor(place)
    inference_scope = fluid.core.Scope()
    with fluid.scope_guard(inference_scope):
        [inference_program, feed_target_names, fetch_targets] = fluid.io.load_inference_model(
            save_dirname, exe)
        lod = [[3, 4, 2]]
        base_shape = [1]
        rng = np.random.RandomState(1)
        high = {'verb_data': pred_dict_len, 'mark_data': mark_dict_len}
        feed = {}
        for name in feed_target_names:
            numbers = rng.randint(0, high.get(name, word_dict_len), [9] + base_shape)
            feed[name] = fluid.create_lod_tensor(numbers.astype('int64'), lod, place)
        results = exe.run(inference_program, feed=feed, fetch_list=fetch_targets,
                          return_numpy=False)
        print(results[1].lod()[0])
        print("tags: ", np.array(results[1]).reshape(-1).tolist())
        print("Features: %.6f %.6f" % (np.array(results[0]).mean(), np.array(results[0]).max()))


def main(use_cuda):
    if use_cuda and not fluid.core.is_compiled_with_cuda():
        return
    save_dirname = "label_semantic_roles.inference.model"
    train(use_cuda, save_dirname)
    infer(use_cuda, save_dirname)


if __name__ == '__main__':
    args = parse_args()
    main(use_cuda=args.use_gpu)
