"""Digits by a generator and a discriminator that train against each other, in the style of 2018."""

from __future__ import print_function

import argparse

import numpy as np
import paddle
import paddle.fluid as fluid

NOISE_SIZE = 16
LEARNING_RATE = 2e-4
gf_dim = 8
df_dim = 8


def parse_args():
    parser = argparse.ArgumentParser("dc_gan")
    parser.add_argument('--enable_ce', action='store_true',
                        help="If set, run with fixed data order, a few steps only.")
    parser.add_argument('--use_gpu', type=int, default=0, help="Whether to use GPU or not.")
    parser.add_argument('--epoch', type=int, default=1, help="The number of epoched to be trained.")
    parser.add_argument('--batch_size', type=int, default=16, help="The minibatch size.")
    return parser.parse_args()


def bn(x, name=None, act='relu'):
    return fluid.layers.batch_norm(
        x, param_attr=name + '1', bias_attr=name + '2', moving_mean_name=name + '3',
        moving_variance_name=name + '4', name=name, act=act)


def conv(x, num_filters, name=None, act=None):
    return fluid.nets.simple_img_conv_pool(
        input=x, filter_size=5, num_filters=num_filters, pool_size=2, pool_stride=2,
        param_attr=name + 'w', bias_attr=name + 'b', act=act)


def fc(x, num_filters, name=None, act=None):
    return fluid.layers.fc(input=x, size=num_filters, act=act, param_attr=name + 'w',
                           bias_attr=name + 'b')


def deconv(x, num_filters, name=None, filter_size=5, stride=2, padding=2, output_size=None,
           act=None):
    return fluid.layers.conv2d_transpose(
        input=x, param_attr=name + 'w', bias_attr=name + 'b', num_filters=num_filters,
        output_size=output_size, filter_size=filter_size, stride=stride, padding=padding, act=act)


def D(x):
    x = fluid.layers.reshape(x=x, shape=[-1, 1, 28, 28])
    x = conv(x, df_dim, name='d_conv1', act='leaky_relu')
    x = bn(conv(x, df_dim * 2, name='d_conv2'), act='leaky_relu', name='d_bn2')
    x = bn(fc(x, 64, name='d_fc1'), act='leaky_relu', name='d_bn3')
    x = fc(x, 1, name='d_fc2', act='sigmoid')
    return x


def G(x):
    x = bn(fc(x, 64, name='g_fc1'), name='g_bn1')
    x = bn(fc(x, gf_dim * 7 * 7, name='g_fc2'), name='g_bn2')
    x = fluid.layers.reshape(x, [-1, gf_dim, 7, 7])
    x = deconv(x, gf_dim, act='relu', output_size=[14, 14], name='g_dc1')
    x = deconv(x, num_filters=1, filter_size=5, padding=2, act='tanh', output_size=[28, 28],
               name='g_dc2')
    x = fluid.layers.reshape(x, shape=[-1, 28 * 28])
    return x


def loss(x, label):
    return fluid.layers.mean(fluid.layers.sigmoid_cross_entropy_with_logits(x=x, label=label))


def train(args):
    if args.enable_ce:
        np.random.seed(10)
        fluid.default_startup_program().random_seed = 90

    d_program = fluid.Program()
    dg_program = fluid.Program()

    with fluid.program_guard(d_program):
        img = fluid.layers.data(name='img', shape=[784], dtype='float32')
        label = fluid.layers.data(name='label', shape=[1], dtype='float32')
        d_logit = D(img)
        d_loss = loss(d_logit, label)

    with fluid.program_guard(dg_program):
        noise = fluid.layers.data(name='noise', shape=[NOISE_SIZE], dtype='float32')
        g_img = G(noise)
        g_program = dg_program.clone()
        g_program_test = dg_program.clone(for_test=True)
        dg_logit = D(g_img)
        noise_shape = fluid.layers.shape(noise)
        dg_loss = loss(dg_logit, fluid.layers.fill_constant_batch_size_like(
            input=noise, dtype='float32', shape=[-1, 1], value=1.0))

    opt = fluid.optimizer.Adam(learning_rate=LEARNING_RATE)
    opt.minimize(loss=d_loss)
    parameters = [p.name for p in g_program.global_block().all_parameters()]
    opt.minimize(loss=dg_loss, parameter_list=parameters)

    place = fluid.CUDAPlace(0) if args.use_gpu else fluid.CPUPlace()
    exe = fluid.Executor(place)
    exe.run(fluid.default_startup_program())

    if args.enable_ce:
        train_reader = paddle.batch(paddle.dataset.mnist.train(), batch_size=args.batch_size)
    else:
        train_reader = paddle.batch(
            paddle.reader.shuffle(paddle.dataset.mnist.train(), buf_size=60000),
            batch_size=args.batch_size)

    NUM_TRAIN_TIMES_OF_DG = 2
    const_n = np.random.uniform(low=-1.0, high=1.0, size=[4, NOISE_SIZE]).astype('float32')
    for pass_id in range(args.epoch):
        for batch_id, data in enumerate(train_reader()):
            if len(data) != args.batch_size:
                continue
            noise_data = np.random.uniform(
                low=-1.0, high=1.0, size=[args.batch_size, NOISE_SIZE]).astype('float32')
            real_image = np.array(list(map(lambda x: x[0], data))).reshape(-1, 784).astype(
                'float32')
            real_labels = np.ones(shape=[real_image.shape[0], 1], dtype='float32')
            fake_labels = np.zeros(shape=[real_image.shape[0], 1], dtype='float32')

            generated_image = exe.run(g_program, feed={'noise': noise_data}, fetch_list=[g_img])[0]
            d_loss_1 = exe.run(d_program, feed={'img': generated_image, 'label': fake_labels},
                               fetch_list=[d_loss])[0][0]
            d_loss_2 = exe.run(d_program, feed={'img': real_image, 'label': real_labels},
                               fetch_list=[d_loss])[0][0]
            d_loss_np = d_loss_1 + d_loss_2

            for _ in range(NUM_TRAIN_TIMES_OF_DG):
                noise_data = np.random.uniform(
                    low=-1.0, high=1.0, size=[args.batch_size, NOISE_SIZE]).astype('float32')
                dg_loss_np, shape = exe.run(dg_program, feed={'noise': noise_data},
                                            fetch_list=[dg_loss, noise_shape])
            if args.enable_ce or batch_id % 10 == 0:
                images = exe.run(g_program_test, feed={'noise': const_n}, fetch_list=[g_img])[0]
                print("Epoch {0} Batch {1} D-Loss {2:.6f} DG-Loss {3:.6f}".format(
                    pass_id, batch_id, d_loss_np, dg_loss_np[0]))
                print("noise %s, images differ by %.6f" % (shape.tolist(), images.std()))
            if args.enable_ce and batch_id == 4:
                return


if __name__ == "__main__":
    train(parse_args())
