"""plsc's ResNet50 learns faces: losses, embeddings, operators for two processes, schedules."""

import absent
import numpy as np
import paddle.fluid as fluid
from backbones import started
from outcomes import mark, outcome

absent.stand_in("sklearn", "scipy", "scipy.misc", "cv2", "PIL", "PIL.Image", "matplotlib")
absent.stand_in("sklearn.model_selection", "sklearn.decomposition")

from plsc.models import dist_algo, resnet  # noqa: E402
from plsc.utils import learning_rate  # noqa: E402


def built(kind, **more):
    """Two programs, the embedding and the loss."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        image = fluid.data("image", [4, 3, 32, 32], "float32")
        label = fluid.data("label", [4, 1], "int64")
        given = dict(loss_type=kind, margin=0.3, scale=16.0, **more)
        embedding, loss, _ = resnet.ResNet(layers=50, emb_dim=16).get_output(
            image, label, 6, **given
        )
        for op in main.global_block().ops:
            if op.type == "dropout":
                op._set_attr("dropout_prob", 0.0)
        decay = fluid.regularizer.L2Decay(5e-4)
        optimizer = fluid.optimizer.Momentum(0.01, 0.9, regularization=decay)
        if kind.startswith("dist"):
            optimizer = dist_algo.DistributedClassificationOptimizer(optimizer, 4, loss_type=kind)
        optimizer.minimize(loss)
    return main, startup, embedding, loss


def operators(kind):
    """A number for the operators of a training, in the second of two processes."""
    ops = built(kind, num_ranks=2, rank_id=1)[0].global_block().ops
    return mark([(op.type, sorted(op.input_arg_names), sorted(op.output_arg_names)) for op in ops])


def trained(kind):
    """The losses of four steps, and what an embedding is before them."""
    main, startup, embedding, loss = built(kind)
    random = np.random.RandomState(1)
    feed = {
        "image": random.randn(4, 3, 32, 32).astype("float32"),
        "label": random.randint(0, 6, [4, 1]).astype("int64"),
    }
    exe, scope = fluid.Executor(fluid.CPUPlace()), fluid.Scope()
    with fluid.scope_guard(scope):
        exe.run(startup)
        started(startup, scope)
        first = exe.run(main, feed, [loss, embedding])
        losses = [first[0], *(exe.run(main, feed, [loss])[0] for _ in range(3))]
    return {
        "losses": [float(np.ravel(each)[0]) for each in losses],
        "embedding": np.ravel(first[1])[:20].tolist(),
    }


def rates():
    """The rates of eight steps."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        steps = fluid.layers.piecewise_decay([3, 5], [0.1, 0.01, 0.001])
        rate = learning_rate.lr_warmup(steps, 4, 0.0, 0.1)
    exe = fluid.Executor(fluid.CPUPlace())
    with fluid.scope_guard(fluid.Scope()):
        exe.run(startup)
        return [float(np.ravel(exe.run(main, fetch_list=[rate])[0])[0]) for _ in range(8)]


def results(_):
    """What each loss gives."""
    kinds = ("softmax", "arcface", "dist_softmax", "dist_arcface")
    return {
        "trained": {kind: outcome(trained, kind) for kind in kinds[:2]},
        "of two": {kind: outcome(operators, kind) for kind in kinds},
        "rates": outcome(rates),
    }
