"""A training of 2019 in several processes, as it was written then."""

import os
import sys

import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.collective import DistributedStrategy, fleet


def reader():
    rng = np.random.RandomState(7)
    for _ in range(40):
        x = rng.uniform(-1, 1, [6]).astype("float32")
        yield x, x.sum(keepdims=True) ** 2


def main():
    role = role_maker.PaddleCloudRoleMaker(is_collective=True)
    fleet.init(role)
    trainer_id = int(os.environ.get("PADDLE_TRAINER_ID", "0"))
    assert trainer_id == fleet.worker_index()
    assert fleet.worker_num() == int(os.environ.get("PADDLE_TRAINERS_NUM", "1"))
    assert len(fleet.worker_endpoints()) == fleet.worker_num()

    fluid.default_startup_program().random_seed = 90
    x = fluid.layers.data(name="x", shape=[6], dtype="float32")
    y = fluid.layers.data(name="y", shape=[1], dtype="float32")
    hidden = fluid.layers.fc(input=x, size=8, act="relu")
    predict = fluid.layers.fc(input=hidden, size=1)
    cost = fluid.layers.square_error_cost(input=predict, label=y)
    avg_cost = fluid.layers.mean(cost)

    strategy = DistributedStrategy()
    strategy.exec_strategy = fluid.ExecutionStrategy()
    strategy.nccl_comm_num = 1
    optimizer = fluid.optimizer.MomentumOptimizer(learning_rate=0.05, momentum=0.9)
    optimizer = fleet.distributed_optimizer(optimizer, strategy=strategy)
    optimizer.minimize(avg_cost, fluid.default_startup_program())

    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fleet.startup_program)
    feeder = fluid.DataFeeder(place=fluid.CPUPlace(), feed_list=[x, y])
    # a batch of 8 in one process, or a batch of 4 in each of two
    batches = paddle.batch(reader, batch_size=8 // fleet.worker_num())
    batches = fluid.contrib.reader.distributed_batch_reader(batches)
    for step, data in enumerate(batches()):
        (loss,) = exe.run(fleet.main_program, feed=feeder.feed(data), fetch_list=[avg_cost.name])
        sys.stdout.write("loss %d %d %.7f\n" % (trainer_id, step, loss[0]))  # noqa: UP031
        sys.stdout.flush()
    fleet.save_persistables(exe, sys.argv[1])
    model = os.path.join(sys.argv[1], "model")
    fleet.save_inference_model(exe, model, ["x"], [predict])
    fleet.barrier_worker()


if __name__ == "__main__":
    main()
