"""N-grams with a shared embedding, as the book of 2018 taught them."""

from __future__ import print_function

import math
import sys

import numpy
import paddle
import paddle.fluid as fluid
import paddle.fluid.framework as framework
from paddle.fluid.executor import Executor
from paddle.fluid.param_attr import ParamAttr

EMBED_SIZE, HIDDEN_SIZE, N, BATCH_SIZE = 16, 32, 5, 100

word_dict = paddle.dataset.imikolov.build_dict()
dict_size = len(word_dict)


def inference_program(words):
    embeds = [
        fluid.layers.embedding(
            input=word,
            size=[dict_size, EMBED_SIZE],
            dtype="float32",
            is_sparse=False,
            param_attr=ParamAttr(name="shared_w"),
        )
        for word in words
    ]
    concat = fluid.layers.concat(input=embeds, axis=1)
    hidden = fluid.layers.fc(input=concat, size=HIDDEN_SIZE, act="sigmoid")
    return fluid.layers.fc(input=hidden, size=dict_size, act="softmax")


main_program, startup = framework.Program(), framework.Program()
with framework.program_guard(main_program, startup), fluid.unique_name.guard():
    words = [
        fluid.layers.data(name=name, shape=[1], dtype="int64")
        for name in ("firstw", "secondw", "thirdw", "fourthw", "nextw")
    ]
    predict = inference_program(words[:4])
    cost = fluid.layers.cross_entropy(input=predict, label=words[4])
    avg_cost = fluid.layers.mean(cost)
    fluid.optimizer.AdagradOptimizer(
        learning_rate=3e-3, regularization=fluid.regularizer.L2DecayRegularizer(8e-4)
    ).minimize(avg_cost)
    feeder = fluid.DataFeeder(feed_list=words, place=fluid.CPUPlace())

exe = Executor(fluid.CUDAPlace(0))
exe.run(startup)
compiled = fluid.CompiledProgram(main_program).with_data_parallel(loss_name=avg_cost.name)
costs = []
for step, data in enumerate(
    paddle.batch(paddle.dataset.imikolov.train(word_dict, N), BATCH_SIZE)()
):
    avg_cost_np = exe.run(compiled, feed=feeder.feed(data), fetch_list=[avg_cost])
    if math.isnan(float(avg_cost_np[0])):
        sys.exit("got NaN loss, training failed.")
    costs.append(avg_cost_np[0])
    if step == 8:
        break
print("Step %d: Average Cost %f" % (step, avg_cost_np[0]), costs[-1] < costs[0])
print(numpy.array([[1, 2], [3]]).dtype, fluid.global_scope().find_var("shared_w") is not None)
