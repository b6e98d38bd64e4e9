"""PaddleSlim quantizes three networks while and after they train, an embedding, and distils one.

What PaddleSlim imports besides, and these parts do not call, is left out where it is not installed.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import paddle.fluid as fluid

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "data" / "quantization18"))
from absent import stand_in

import cases

stand_in("zmq", "tqdm", "sklearn", "sklearn.cluster", "matplotlib", "matplotlib.pyplot", "yaml")

from paddleslim import dist, quant  # noqa: E402

CONFIGURATIONS = [
    {},
    {
        "activation_quantize_type": "range_abs_max",
        "weight_quantize_type": "abs_max",
        "window_size": 3,
    },
    {
        "activation_quantize_type": "abs_max",
        "weight_quantize_type": "channel_wise_abs_max",
        "quantize_op_types": ["conv2d", "depthwise_conv2d", "mul", "pool2d", "relu", "softmax"],
    },
]
PLACE = fluid.CPUPlace()


def types_of(program):
    return sorted(op.type for op in program.global_block().ops)


def trained(kind, configuration):
    main, startup, scope = fluid.Program(), fluid.Program(), fluid.Scope()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        out, loss = cases.network(fluid, kind)
        test = main.clone(for_test=True)
        fluid.optimizer.SGD(0.05).minimize(loss)
    with fluid.scope_guard(scope):
        executor = fluid.Executor(PLACE)
        executor.run(startup)
        told = (PLACE, configuration or None, scope)
        test = quant.quant_aware(test, *told, for_test=True)
        train = quant.quant_aware(main, *told)
        losses = [executor.run(train, cases.batch(i), [loss])[0].item() for i in range(4)]
        frozen, small = quant.convert(test, *told, save_int8=True)
        answers = executor.run(frozen, cases.batch(9), [out.name])[0]
    return {
        "losses": losses,
        "answers": answers.ravel().tolist(),
        "operators": [types_of(test), types_of(frozen), types_of(small)],
    }


def distilled():
    main, startup, scope = fluid.Program(), fluid.Program(), fluid.Scope()
    teacher, first = fluid.Program(), fluid.Program()
    with fluid.scope_guard(scope):
        executor = fluid.Executor(PLACE)
        with fluid.unique_name.guard("t_"), fluid.program_guard(teacher, first):
            taught, _ = cases.network(fluid, "conv")
        with fluid.unique_name.guard(), fluid.program_guard(main, startup):
            out, loss = cases.network(fluid, "residual")
        executor.run(first)
        executor.run(startup)
        dist.merge(teacher, main, {"x": "x", "y": "y"}, PLACE, scope=scope)
        with fluid.program_guard(main, startup):
            near = dist.l2_loss("teacher_" + taught.name, out.name, main)
            soft = dist.soft_label_loss("teacher_" + taught.name, out.name, main)
            fluid.optimizer.SGD(0.05).minimize(loss + near + soft)
        for variable in main.list_vars():
            if variable.name.startswith("learning_rate"):
                scope.var(variable.name).get_tensor().set(np.array([0.05], "float32"), PLACE)
        losses = [executor.run(main, cases.batch(i), [loss, near, soft]) for i in range(3)]
    return [[each.item() for each in step] for step in losses]


def embedded():
    main, startup, scope = fluid.Program(), fluid.Program(), fluid.Scope()
    with fluid.scope_guard(scope), fluid.unique_name.guard(), fluid.program_guard(main, startup):
        words = fluid.data("w", [None, 1], "int64")
        table = cases.weights(fluid, np.random.RandomState(3), [10, 6])
        out = fluid.layers.reduce_sum(fluid.embedding(words, [10, 6], param_attr=table), -1)
        executor = fluid.Executor(PLACE)
        executor.run(startup)
        program = quant.quant_embedding(main, PLACE, scope=scope)
        feed = {"w": np.arange(10).reshape(10, 1)}
        return executor.run(program, feed, [out.name])[0].ravel().tolist()


def calibrated(kind):
    executor, scope = fluid.Executor(PLACE), fluid.Scope()
    with fluid.scope_guard(scope), tempfile.TemporaryDirectory() as folder:
        cases.saved_model(fluid, kind, folder + "/a", executor)
        quant.quant_post(
            executor=executor,
            scope=scope,
            model_dir=folder + "/a",
            quantize_model_path=folder + "/b",
            sample_generator=lambda: ([row] for i in range(3) for row in cases.batch(i)["x"]),
            batch_size=4,
            batch_nums=3,
        )
        files = {"model_filename": "__model__", "params_filename": "__params__"}
        program, feeds, out = fluid.io.load_inference_model(folder + "/b", executor, **files)
        answers = executor.run(program, {feeds[0]: cases.batch(9)["x"]}, out)[0]
        return [types_of(program), answers.ravel().tolist()]


def results(sentences):
    """Losses, answers and the types of operators."""
    kinds = ("conv", "residual", "products")
    return {
        "trained": [trained(kind, told) for kind in kinds for told in CONFIGURATIONS],
        "distilled": distilled(),
        "embedded": embedded(),
        "calibrated": [calibrated(kind) for kind in ("conv", "products")],
    }
