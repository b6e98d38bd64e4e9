"""Will an advertisement be clicked?  Sparse embeddings, fed by a py_reader, in the style of 2018."""

from __future__ import print_function

import argparse
import logging

import numpy as np
import paddle
import paddle.fluid as fluid

logging.basicConfig()
logger = logging.getLogger("fluid")
logger.setLevel(logging.INFO)

dense_feature_dim = 13
sparse_slots = 6
sparse_feature_dim = 1000


def parse_args():
    parser = argparse.ArgumentParser(description="CTR example")
    parser.add_argument('--enable_ce', action='store_true', help='a few batches only')
    parser.add_argument('--batch_size', type=int, default=64)
    parser.add_argument('--embedding_size', type=int, default=10)
    parser.add_argument('--num_passes', type=int, default=2)
    parser.add_argument('--model_output_dir', type=str, default='ctr_models')
    return parser.parse_args()


class CriteoDataset(object):
    """Clicks: numbers that count something, words of each slot, and whether it was clicked."""

    def __init__(self, sparse_feature_dim, count, seed):
        self.hash_dim_ = sparse_feature_dim
        self.count, self.seed = count, seed

    def _reader_creator(self):
        def reader():
            rng = np.random.RandomState(self.seed)
            weights = np.random.RandomState(17).normal(size=self.hash_dim_)
            for _ in range(self.count):
                dense_feature = rng.uniform(0, 1, dense_feature_dim)
                sparse_feature = [
                    (rng.zipf(1.3, size=rng.randint(1, 4)) * (slot + 3) % self.hash_dim_).tolist()
                    for slot in range(sparse_slots)
                ]
                score = sum(weights[words].mean() for words in sparse_feature)
                label = int(score + dense_feature.sum() - 6.5 > 0)
                yield [dense_feature.astype('float32').tolist()] + sparse_feature + [[label]]
        return reader

    def train(self):
        return self._reader_creator()


def ctr_dnn_model(embedding_size, sparse_feature_dim, use_py_reader=True):
    def embedding_layer(input):
        emb = fluid.layers.embedding(
            input=input, is_sparse=True,
            # you need to patch https://github.com/PaddlePaddle/Paddle/pull/14190
            # if you want to set is_distributed to True
            is_distributed=False, size=[sparse_feature_dim, embedding_size],
            param_attr=fluid.ParamAttr(name="SparseFeatFactors",
                                       initializer=fluid.initializer.Uniform()))
        return fluid.layers.sequence_pool(input=emb, pool_type='average')

    dense_input = fluid.layers.data(name="dense_input", shape=[dense_feature_dim],
                                    dtype='float32')
    sparse_input_ids = [
        fluid.layers.data(name="C" + str(i), shape=[1], lod_level=1, dtype='int64')
        for i in range(1, sparse_slots + 1)
    ]
    label = fluid.layers.data(name='label', shape=[1], dtype='int64')
    words = [dense_input] + sparse_input_ids + [label]

    py_reader = None
    if use_py_reader:
        py_reader = fluid.layers.create_py_reader_by_data(
            capacity=64, feed_list=words, name='py_reader', use_double_buffer=True)
        words = fluid.layers.read_file(py_reader)

    sparse_embed_seq = list(map(embedding_layer, words[1:-1]))
    concated = fluid.layers.concat(sparse_embed_seq + words[0:1], axis=1)

    fc1 = fluid.layers.fc(input=concated, size=32, act='relu',
                          param_attr=fluid.ParamAttr(initializer=fluid.initializer.Normal(
                              scale=1 / np.sqrt(concated.shape[1]))))
    fc2 = fluid.layers.fc(input=fc1, size=16, act='relu',
                          param_attr=fluid.ParamAttr(initializer=fluid.initializer.Normal(
                              scale=1 / np.sqrt(fc1.shape[1]))))
    predict = fluid.layers.fc(input=fc2, size=2, act='softmax',
                              param_attr=fluid.ParamAttr(initializer=fluid.initializer.Normal(
                                  scale=1 / np.sqrt(fc2.shape[1]))))

    cost = fluid.layers.cross_entropy(input=predict, label=words[-1])
    avg_cost = fluid.layers.reduce_sum(cost)
    auc_var, batch_auc_var, auc_states = fluid.layers.auc(
        input=predict, label=words[-1], num_thresholds=2 ** 12, slide_steps=20)
    return avg_cost, auc_var, batch_auc_var, py_reader, predict, words


def train_loop(args, train_program, py_reader, loss, auc_var, batch_auc_var):
    dataset = CriteoDataset(sparse_feature_dim, 500 if args.enable_ce else 5000, seed=1)
    train_reader = paddle.batch(dataset.train(), batch_size=args.batch_size)
    py_reader.decorate_paddle_reader(train_reader)
    data_name_list = None

    place = fluid.CPUPlace()
    exe = fluid.Executor(place)
    exe.run(fluid.default_startup_program())
    for pass_id in range(args.num_passes):
        py_reader.start()
        batch_id = 0
        try:
            while True:
                loss_val, auc_val, batch_auc_val = exe.run(
                    train_program, feed=data_name_list,
                    fetch_list=[loss.name, auc_var.name, batch_auc_var.name])
                loss_val = np.mean(loss_val)
                if args.enable_ce or batch_id % 10 == 0:
                    print("TRAIN --> pass: {} batch: {} loss: {:.6f} auc: {:.6f}, "
                          "batch_auc: {:.6f}".format(
                              pass_id, batch_id, loss_val / args.batch_size, auc_val[0],
                              batch_auc_val[0]))
                batch_id += 1
        except fluid.core.EOFException:
            py_reader.reset()
        print("pass_id: %d, batches: %d" % (pass_id, batch_id))
    return exe


def test(args, exe):
    """The same net with feeds, in a program of its own, of the trained parameters."""
    test_program, test_startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(test_program, test_startup):
        with fluid.unique_name.guard():
            loss, auc_var, _, _, _, data_list = ctr_dnn_model(
                args.embedding_size, sparse_feature_dim, use_py_reader=False)
    fluid.io.load_persistables(exe, args.model_output_dir, main_program=test_program.clone())
    # the auc counts what it sees from here on
    for var in test_program.list_vars():
        if var.persistable and var.name.startswith("_generated_var"):
            tensor = fluid.global_scope().find_var(var.name).get_tensor()
            tensor.set(np.zeros(tensor.shape(), 'int64'), fluid.CPUPlace())
    feeder = fluid.DataFeeder(feed_list=data_list, place=fluid.CPUPlace(), program=test_program)
    dataset = CriteoDataset(sparse_feature_dim, 100, seed=2)
    for batch_id, data in enumerate(paddle.batch(dataset.train(), batch_size=50)()):
        loss_val, auc_val = exe.run(test_program, feed=feeder.feed(data),
                                    fetch_list=[loss, auc_var])
        print("TEST --> batch: %d loss: %f auc: %f" % (
            batch_id, loss_val[0] / len(data), auc_val[0]))


def train():
    args = parse_args()
    if args.enable_ce:
        fluid.default_startup_program().random_seed = 90
        fluid.default_main_program().random_seed = 90
    with fluid.unique_name.guard():
        loss, auc_var, batch_auc_var, py_reader, _, words = ctr_dnn_model(
            args.embedding_size, sparse_feature_dim)
        optimizer = fluid.optimizer.Adam(learning_rate=1e-3, lazy_mode=True)
        optimizer.minimize(loss)
    main_program = fluid.default_main_program()
    exe = train_loop(args, main_program, py_reader, loss, auc_var, batch_auc_var)
    fluid.io.save_persistables(exe, args.model_output_dir, main_program=main_program)
    test(args, exe)


if __name__ == '__main__':
    train()
