"""Quantization of small networks by the passes of fluid 1.8; run there, and here, with the same words.

``python tests/data/quantization18/cases.py FILE`` under Python 3.7 with paddlepaddle 1.8.5 writes
what the real ones give to FILE, whose gzipped form is beside this script.
"""

import gzip
import itertools
import json
import sys
import tempfile

import numpy as np

ACTIVATIONS = ["abs_max", "range_abs_max", "moving_average_abs_max"]
WEIGHTS = ["abs_max", "channel_wise_abs_max", "range_abs_max", "moving_average_abs_max"]
PLAIN = {"op_callstack", "op_namescope", "op_role_var", "op_device", "with_quant_attr"}


def weights(fluid, rng, shape):
    values = (rng.standard_normal(shape) * 0.4).astype("float32")
    return fluid.ParamAttr(initializer=fluid.initializer.NumpyArrayInitializer(values))


def network(fluid, kind):
    """A loss and an output of a small network."""
    rng = np.random.RandomState(7)
    x = fluid.data("x", [None, 2, 6, 6], "float32")
    y = fluid.data("y", [None, 1], "int64")
    layers = fluid.layers
    if kind == "conv":
        h = layers.conv2d(x, 3, 3, padding=1, param_attr=weights(fluid, rng, [3, 2, 3, 3]))
        h = layers.relu(h)
        h = layers.conv2d(
            h, 3, 3, groups=3, param_attr=weights(fluid, rng, [3, 1, 3, 3]), act="relu"
        )
        h = layers.pool2d(h, 2, "max", 2)
    elif kind == "residual":
        a = layers.conv2d(x, 3, 1, param_attr=weights(fluid, rng, [3, 2, 1, 1]), bias_attr=False)
        b = layers.conv2d(x, 3, 1, param_attr=weights(fluid, rng, [3, 2, 1, 1]), bias_attr=False)
        with fluid.name_scope("skip_quant"):
            c = layers.conv2d(
                x, 3, 1, param_attr=weights(fluid, rng, [3, 2, 1, 1]), bias_attr=False
            )
        h = layers.elementwise_add(layers.elementwise_add(a, b), c)
        h = layers.leaky_relu(layers.batch_norm(h))
        h = layers.pool2d(h, 3, "avg", 3)
    else:
        h = layers.reshape(x, [-1, 72])
        h = layers.fc(h, 5, act="tanh", param_attr=weights(fluid, rng, [72, 5]))
        w = layers.create_parameter([5, 6], "float32", attr=weights(fluid, rng, [5, 6]))
        h = layers.matmul(h, w)
    width = int(np.prod(h.shape[1:]))
    out = layers.fc(h, 4, param_attr=weights(fluid, rng, [width, 4]), act="softmax")
    return out, layers.mean(layers.cross_entropy(out, y))


def batch(step):
    rng = np.random.RandomState(100 + step)
    return {
        "x": rng.standard_normal([5, 2, 6, 6]).astype("float32"),
        "y": rng.randint(0, 4, [5, 1]).astype("int64"),
    }


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (float, np.floating)):
        return float("%.6g" % value)
    return (
        int(value)
        if isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        else value
    )


def program_text(program):
    """The operators of a program, and what is declared of its variables."""
    block = program.global_block()
    ops = []
    for op in block.ops:
        attrs = {n: plain(op.attr(n)) for n in op.attr_names if n not in PLAIN}
        attrs = {n: v for n, v in attrs.items() if isinstance(v, (bool, int, float, str, list))}
        ops.append(
            {
                "type": op.type,
                "inputs": {s: list(op.input(s)) for s in op.input_names if op.input(s)},
                "outputs": {s: list(op.output(s)) for s in op.output_names if op.output(s)},
                "attrs": attrs,
            }
        )
    variables = {}
    for name, v in block.vars.items():
        try:
            variables[name] = [
                list(v.shape),
                str(v.dtype).split(".")[-1].lower(),
                bool(v.persistable),
            ]
        except Exception:
            variables[name] = None
    return {"ops": ops, "vars": variables}


def persistables(program, scope):
    """The values of what a program keeps in a scope."""
    found = {}
    for v in program.list_vars():
        if v.persistable and v.name not in ("feed", "fetch") and scope.find_var(v.name):
            if not scope.find_var(v.name).get_tensor()._is_initialized():
                continue
            value = np.array(scope.find_var(v.name).get_tensor())
            if value.size <= 64:
                found[v.name] = [str(value.dtype), plain(value.ravel().tolist())]
            else:
                sums = [
                    float(value.astype("float64").sum()),
                    float(np.abs(value.astype("float64")).sum()),
                ]
                found[v.name] = [str(value.dtype), plain(sums)]
    return found


def trained(fluid, there, kind, activation, weight, bits=8, more=False):
    """What becomes of a network that is quantized, trained, frozen, and put into 8 bits."""
    IrGraph, core, q = there
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        out, loss = network(fluid, kind)
        test = main.clone(for_test=True)
        fluid.optimizer.SGD(0.05).minimize(loss)
    place, scope, result = fluid.CPUPlace(), fluid.Scope(), {}
    types = ["conv2d", "depthwise_conv2d", "mul", "matmul"]
    with fluid.scope_guard(scope):
        exe = fluid.Executor(place)
        exe.run(startup)
        graphs = IrGraph(core.Graph(main.desc)), IrGraph(core.Graph(test.desc), for_test=True)
        for graph in graphs:
            q.QuantizationTransformPass(
                scope=scope,
                place=place,
                activation_quantize_type=activation,
                weight_quantize_type=weight,
                weight_bits=bits,
                activation_bits=bits,
                window_size=3,
                quantizable_op_type=types,
            ).apply(graph)
            if more:
                q.AddQuantDequantPass(
                    scope,
                    place,
                    quantizable_op_type=[
                        "pool2d",
                        "elementwise_add",
                        "leaky_relu",
                        "tanh",
                        "softmax",
                        "relu",
                    ],
                ).apply(graph)
                q.OutScaleForTrainingPass(scope, place).apply(graph)
        result["train"] = program_text(graphs[0].to_program())
        result["test"] = program_text(graphs[1].to_program())
        compiled = fluid.CompiledProgram(graphs[0].graph)
        result["losses"] = [
            plain(
                float(np.asarray(exe.run(compiled, feed=batch(i), fetch_list=[loss])[0]).ravel()[0])
            )
            for i in range(4)
        ]
        result["states"] = persistables(graphs[0].to_program(), scope)
        tested = graphs[1].to_program()
        feed = {"x": batch(9)["x"], "y": batch(9)["y"]}
        result["tested"] = plain(
            exe.run(tested, feed=feed, fetch_list=[out.name])[0].ravel().tolist()
        )
        graph = graphs[1]
        if more:
            q.OutScaleForInferencePass(scope).apply(graph)
        q.QuantizationFreezePass(
            scope, place, weight_bits=bits, activation_bits=bits, weight_quantize_type=weight
        ).apply(graph)
        frozen = graph.to_program()
        result["frozen"] = program_text(frozen)
        result["frozen_states"] = persistables(frozen, scope)
        result["frozen_out"] = plain(
            exe.run(frozen, feed=feed, fetch_list=[out.name])[0].ravel().tolist()
        )
        mobile = graph.clone()
        q.ConvertToInt8Pass(scope, place).apply(graph)
        int8 = graph.to_program()
        result["int8"] = program_text(int8)
        result["int8_states"] = persistables(int8, scope)
        q.TransformForMobilePass().apply(mobile)
        result["mobile"] = program_text(mobile.to_program())
    return result


def cases():
    for kind in ("conv", "residual", "products"):
        for activation, weight in itertools.product(ACTIVATIONS, WEIGHTS):
            if kind == "conv" or (activation, weight) in (
                ("abs_max", "abs_max"),
                ("moving_average_abs_max", "channel_wise_abs_max"),
            ):
                yield "%s.%s.%s" % (kind, activation, weight), (kind, activation, weight)
        yield kind + ".more", (kind, "moving_average_abs_max", "channel_wise_abs_max", 8, True)
        yield kind + ".4bits", (kind, "range_abs_max", "abs_max", 4, False)


def saved_model(fluid, kind, folder, exe):
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        out, _ = network(fluid, kind)
    exe.run(startup)
    fluid.io.save_inference_model(folder, ["x"], [out], exe, main_program=main)


def post_cases():
    for kind in ("conv", "residual", "products"):
        for algo in ("KL", "abs_max", "min_max"):
            for activation in ACTIVATIONS:
                for weight in WEIGHTS[:2]:
                    if activation == "range_abs_max" or weight == "abs_max":
                        yield (
                            ".".join([kind, algo, activation, weight]),
                            (kind, algo, activation, weight, False),
                        )
        yield kind + ".full", (kind, "KL", "range_abs_max", "channel_wise_abs_max", True)


def post(fluid, q, kind, algo, activation, weight, full):
    """What quantization after training makes of a model."""
    exe, scope = fluid.Executor(fluid.CPUPlace()), fluid.Scope()
    with fluid.scope_guard(scope), tempfile.TemporaryDirectory() as folder:
        saved_model(fluid, kind, folder + "/a", exe)
        made = q.PostTrainingQuantization(
            executor=exe,
            scope=scope,
            model_dir=folder + "/a",
            sample_generator=lambda: ([row] for i in range(3) for row in batch(i)["x"]),
            batch_size=4,
            batch_nums=3,
            algo=algo,
            is_full_quantize=full,
            quantizable_op_type=["conv2d", "depthwise_conv2d", "mul"],
            activation_quantize_type=activation,
            weight_quantize_type=weight,
        )
        made.quantize()
        made.save_quantized_model(folder + "/b")
        program, feeds, fetches = fluid.io.load_inference_model(folder + "/b", exe)
        out = exe.run(program, feed={feeds[0]: batch(9)["x"]}, fetch_list=fetches)[0]
        return {
            "program": program_text(program),
            "states": persistables(program, scope),
            "out": plain(np.asarray(out).ravel().tolist()),
        }


def weight_cases():
    for kind in ("conv", "products"):
        for weight in WEIGHTS[:2]:
            for bits in (8, 16):
                yield "%s.%s.%d" % (kind, weight, bits), (kind, weight, bits)


def weight_only(fluid, q, kind, weight, bits):
    exe = fluid.Executor(fluid.CPUPlace())
    result = {}
    with fluid.scope_guard(fluid.Scope()), tempfile.TemporaryDirectory() as folder:
        saved_model(fluid, kind, folder + "/a", exe)
        q.WeightQuantization(folder + "/a").quantize_weight_to_int(
            folder + "/b",
            weight_bits=bits,
            weight_quantize_type=weight,
            quantizable_op_type=["conv2d", "depthwise_conv2d", "mul"],
            generate_test_model=True,
        )
        for part in ("quantized_model", "test_model"):
            scope = fluid.Scope()
            with fluid.scope_guard(scope):
                try:
                    program, feeds, fetches = fluid.io.load_inference_model(
                        folder + "/b/" + part, exe
                    )
                except Exception as error:
                    result[part] = repr(error)[:80]
                    continue
                result[part] = {
                    "program": program_text(program),
                    "states": persistables(program, scope),
                }
                if part == "test_model":
                    out = exe.run(program, feed={feeds[0]: batch(9)["x"]}, fetch_list=fetches)[0]
                    result["out"] = plain(np.asarray(out).ravel().tolist())
    return result


def main():
    import paddle.fluid as fluid
    from paddle.fluid import core
    from paddle.fluid.contrib.slim import quantization as q
    from paddle.fluid.framework import IrGraph

    recorded = {"trained": {}, "post": {}, "weight": {}}
    for name, case in cases():
        recorded["trained"][name] = trained(fluid, (IrGraph, core, q), *case)
    for name, case in post_cases():
        recorded["post"][name] = post(fluid, q, *case)
    for name, case in weight_cases():
        recorded["weight"][name] = weight_only(fluid, q, *case)
    with gzip.GzipFile(sys.argv[1], "wb", mtime=0) as file:
        file.write(json.dumps(recorded, sort_keys=True).encode())


if __name__ == "__main__":
    main()
