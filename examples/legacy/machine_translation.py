"""Translation by attention: an encoder in two directions, a decoder as a DynamicRNN, and a beam
search in a While loop, as the book of 2018 and 2019 did."""

from __future__ import print_function

import argparse

import numpy as np
import paddle
import paddle.fluid as fluid
import paddle.fluid.framework as framework
import paddle.fluid.layers as pd
from paddle.fluid.executor import Executor

dict_size = 60
source_dict_dim = target_dict_dim = dict_size
hidden_dim = 32
word_dim = 32
batch_size = 8
max_length = 8
beam_size = 2
decoder_size = hidden_dim
BEGIN, END = 0, 1


def parse_args():
    parser = argparse.ArgumentParser("machine_translation")
    parser.add_argument('--enable_ce', action='store_true',
                        help="If set, run with fixed data order, a few steps only.")
    parser.add_argument('--use_gpu', action='store_true')
    parser.add_argument('--pass_num', type=int, default=2)
    return parser.parse_args()


def encoder():
    src_word_id = pd.data(name="src_word_id", shape=[1], dtype='int64', lod_level=1)
    src_embedding = pd.embedding(input=src_word_id, size=[source_dict_dim, word_dim],
                                 dtype='float32', is_sparse=True,
                                 param_attr=fluid.ParamAttr(name='src_emb'))
    fc_forward = pd.fc(input=src_embedding, size=hidden_dim * 3, bias_attr=False)
    src_forward = pd.dynamic_gru(input=fc_forward, size=hidden_dim)
    fc_backward = pd.fc(input=src_embedding, size=hidden_dim * 3, bias_attr=False)
    src_backward = pd.dynamic_gru(input=fc_backward, size=hidden_dim, is_reverse=True)
    encoded_vector = pd.concat(input=[src_forward, src_backward], axis=1)
    backward_first = pd.sequence_pool(input=src_backward, pool_type='first')
    decoder_boot = pd.fc(input=backward_first, size=decoder_size, bias_attr=False, act='tanh')
    return encoded_vector, decoder_boot


def cell(x, hidden, encoder_out, encoder_out_proj):
    # simple attention
    decoder_state_proj = pd.fc(input=hidden, size=decoder_size, bias_attr=False,
                               param_attr=fluid.ParamAttr(name='att_state_w'))
    decoder_state_expand = pd.sequence_expand(x=decoder_state_proj, y=encoder_out_proj)
    mixed_state = pd.tanh(pd.elementwise_add(encoder_out_proj, decoder_state_expand))
    attention_weights = pd.fc(input=mixed_state, size=1, bias_attr=False,
                              param_attr=fluid.ParamAttr(name='att_w'))
    attention_weights = pd.sequence_softmax(input=attention_weights)
    weigths_reshape = pd.reshape(x=attention_weights, shape=[-1])
    scaled = pd.elementwise_mul(x=encoder_out, y=weigths_reshape, axis=0)
    context = pd.sequence_pool(input=scaled, pool_type='sum')

    decoder_inputs = pd.fc(input=[context, x], size=decoder_size * 3, bias_attr=False,
                           param_attr=[fluid.ParamAttr(name='gates_c_w'),
                                       fluid.ParamAttr(name='gates_x_w')])
    updated_hidden, _, _ = pd.gru_unit(input=decoder_inputs, hidden=hidden,
                                       size=decoder_size * 3,
                                       param_attr=fluid.ParamAttr(name='gru_w'),
                                       bias_attr=fluid.ParamAttr(name='gru_b'))
    current_score = pd.fc(input=updated_hidden, size=target_dict_dim, act='softmax',
                          param_attr=fluid.ParamAttr(name='out_w'),
                          bias_attr=fluid.ParamAttr(name='out_b'))
    return updated_hidden, current_score


def attention_keys(encoder_out):
    return pd.fc(input=encoder_out, size=decoder_size, bias_attr=False,
                 param_attr=fluid.ParamAttr(name='att_key_w'))


def train_decoder(encoder_out, decoder_boot):
    trg_language_word = pd.data(name="target_language_word", shape=[1], dtype='int64',
                                lod_level=1)
    trg_embedding = pd.embedding(input=trg_language_word, size=[target_dict_dim, word_dim],
                                 dtype='float32', is_sparse=True,
                                 param_attr=fluid.ParamAttr(name='trg_emb'))
    encoder_proj = attention_keys(encoder_out)
    rnn = pd.DynamicRNN()
    with rnn.block():
        current_word = rnn.step_input(trg_embedding)
        encoder_vec = rnn.static_input(encoder_out)
        encoder_key = rnn.static_input(encoder_proj)
        pre_state = rnn.memory(init=decoder_boot, need_reorder=True)
        current_state, current_score = cell(current_word, pre_state, encoder_vec, encoder_key)
        rnn.update_memory(pre_state, current_state)
        rnn.output(current_score)
    return rnn()


def train_model():
    encoder_out, decoder_boot = encoder()
    rnn_out = train_decoder(encoder_out, decoder_boot)
    label = pd.data(name="target_language_next_word", shape=[1], dtype='int64', lod_level=1)
    cost = pd.cross_entropy(input=rnn_out, label=label)
    return pd.mean(cost)


def infer_model():
    encoder_out, decoder_boot = encoder()
    encoder_proj = attention_keys(encoder_out)
    array_len = pd.fill_constant(shape=[1], dtype='int64', value=max_length)
    counter = pd.zeros(shape=[1], dtype='int64', force_cpu=True)

    # fill the first element with init_state
    state_array = pd.create_array('float32')
    pd.array_write(decoder_boot, array=state_array, i=counter)

    # ids, scores as memory
    ids_array = pd.create_array('int64')
    scores_array = pd.create_array('float32')
    init_ids = pd.data(name="init_ids", shape=[1], dtype="int64", lod_level=2)
    init_scores = pd.data(name="init_scores", shape=[1], dtype="float32", lod_level=2)
    pd.array_write(init_ids, array=ids_array, i=counter)
    pd.array_write(init_scores, array=scores_array, i=counter)

    # what the attention looks at is expanded with the beams
    vec_array = pd.create_array('float32')
    key_array = pd.create_array('float32')
    pd.array_write(encoder_out, array=vec_array, i=counter)
    pd.array_write(encoder_proj, array=key_array, i=counter)

    cond = pd.less_than(x=counter, y=array_len)
    while_op = pd.While(cond=cond)
    with while_op.block():
        pre_ids = pd.array_read(array=ids_array, i=counter)
        pre_state = pd.array_read(array=state_array, i=counter)
        pre_score = pd.array_read(array=scores_array, i=counter)
        pre_vec = pd.array_read(array=vec_array, i=counter)
        pre_key = pd.array_read(array=key_array, i=counter)

        # expand the recursive_sequence_lengths of pre_state to be the same with pre_score
        pre_state_expanded = pd.sequence_expand(pre_state, pre_score)
        vec_expanded = pd.sequence_expand(pre_vec, pre_score)
        key_expanded = pd.sequence_expand(pre_key, pre_score)
        pre_ids_emb = pd.embedding(input=pre_ids, size=[target_dict_dim, word_dim],
                                   dtype='float32', is_sparse=True,
                                   param_attr=fluid.ParamAttr(name='trg_emb'))
        current_state, current_score = cell(pre_ids_emb, pre_state_expanded, vec_expanded,
                                            key_expanded)
        current_score_with_lod = pd.lod_reset(x=current_score, y=pre_score)
        topk_scores, topk_indices = pd.topk(current_score_with_lod, k=beam_size)
        # calculate accumulated scores after topk to reduce computation cost
        accu_scores = pd.elementwise_add(
            x=pd.log(topk_scores), y=pd.reshape(pre_score, shape=[-1]), axis=0)
        selected_ids, selected_scores = pd.beam_search(
            pre_ids, pre_score, topk_indices, accu_scores, beam_size, end_id=END, level=0)

        pd.increment(x=counter, value=1, in_place=True)
        # update the memories
        pd.array_write(current_state, array=state_array, i=counter)
        pd.array_write(selected_ids, array=ids_array, i=counter)
        pd.array_write(selected_scores, array=scores_array, i=counter)
        pd.array_write(vec_expanded, array=vec_array, i=counter)
        pd.array_write(key_expanded, array=key_array, i=counter)

        # update the break condition: up to the max length or all candidates have ended
        length_cond = pd.less_than(x=counter, y=array_len)
        finish_cond = pd.logical_not(pd.is_empty(x=selected_ids))
        pd.logical_and(x=length_cond, y=finish_cond, out=cond)

    return pd.beam_search_decode(
        ids=ids_array, scores=scores_array, beam_size=beam_size, end_id=END)


def pairs(part):
    return lambda: (sample for sample in part() if len(sample[0]) < 14)


def train(use_cuda):
    place = fluid.CUDAPlace(0) if use_cuda else fluid.CPUPlace()
    avg_cost = train_model()
    optimizer = fluid.optimizer.Adagrad(
        learning_rate=0.05, regularization=fluid.regularizer.L2DecayRegularizer(1e-4))
    optimizer.minimize(avg_cost)

    train_data = pairs(paddle.dataset.wmt16.train(dict_size, dict_size))
    if not args.enable_ce:
        train_data = paddle.reader.shuffle(train_data, buf_size=1000)
    train_data = paddle.batch(train_data, batch_size=batch_size)

    exe = Executor(place)
    exe.run(framework.default_startup_program())
    feed_order = ['src_word_id', 'target_language_word', 'target_language_next_word']
    main_program = framework.default_main_program()
    feed_list = [main_program.global_block().var(var_name) for var_name in feed_order]
    feeder = fluid.DataFeeder(feed_list, place)
    for pass_id in range(1 if args.enable_ce else args.pass_num):
        for batch_id, data in enumerate(train_data()):
            outs = exe.run(main_program, feed=feeder.feed(data), fetch_list=[avg_cost])
            avg_cost_val = np.array(outs[0])
            print('pass_id=%d batch_id=%d' % (pass_id, batch_id), "avg_cost=", avg_cost_val[0])
            if args.enable_ce and batch_id == 5:
                break


def decode(use_cuda):
    place = fluid.CUDAPlace(0) if use_cuda else fluid.CPUPlace()
    infer_program = framework.Program()
    # the parameters are those that were trained: the layers get the same names again
    with framework.program_guard(infer_program, framework.Program()):
        with fluid.unique_name.guard():
            translation_ids, translation_scores = infer_model()

    exe = Executor(place)
    init_ids_data = np.array([BEGIN for _ in range(2)], dtype='int64').reshape((2, 1))
    init_scores_data = np.array([0. for _ in range(2)], dtype='float32').reshape((2, 1))
    init_recursive_seq_lens = [[1] * 2, [1] * 2]
    init_ids = fluid.create_lod_tensor(init_ids_data, init_recursive_seq_lens, place)
    init_scores = fluid.create_lod_tensor(init_scores_data, init_recursive_seq_lens, place)
    data = next(paddle.batch(pairs(paddle.dataset.wmt16.test(dict_size, dict_size)), 2)())
    sources = [np.array(sample[0], dtype='int64').reshape(-1, 1) for sample in data]
    src_word_data = fluid.create_lod_tensor(
        np.concatenate(sources), [[len(words) for words in sources]], place)

    result_ids, result_scores = exe.run(
        infer_program,
        feed={'src_word_id': src_word_data, 'init_ids': init_ids, 'init_scores': init_scores},
        fetch_list=[translation_ids, translation_scores], return_numpy=False)
    trg_dict = paddle.dataset.wmt16.get_dict('de', dict_size, reverse=True)
    lod_level_1 = result_ids.lod()[1]
    token_array = np.array(result_ids)
    scores = np.array(result_scores)
    for i in range(len(lod_level_1) - 1):
        start, end = lod_level_1[i], lod_level_1[i + 1]
        words = [trg_dict[int(token)] for token in token_array[start:end].reshape(-1)]
        print("translation %d" % i, " ".join(words), "score %.5f" % float(scores[end - 1]))


def main(use_cuda):
    if use_cuda and not fluid.core.is_compiled_with_cuda():
        return
    if args.enable_ce:
        framework.default_startup_program().random_seed = 111
        framework.default_main_program().random_seed = 111
    with fluid.unique_name.guard():
        train(use_cuda)
    decode(use_cuda)


if __name__ == '__main__':
    args = parse_args()
    main(args.use_gpu)
