"""Networks, and what the passes of ``paddle.static.quantization`` make of them.

``python cases.py FOLDER``, where paddlepaddle 2.6.2 is installed, writes ``nets.json.gz`` and
``real.json.gz``; the tests run the same functions on fluidlite, with the programs of the first.
"""

import base64
import gzip
import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

_OLDER = Path(__file__).parent.parent / "quantization18" / "cases.py"
_SPEC = importlib.util.spec_from_file_location("cases18", _OLDER)
older = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(older)
batch, plain, program_text = older.batch, older.plain, older.program_text
persistables = older.persistables


def weights(paddle, rng, shape):
    value = rng.standard_normal(shape).astype("float32")
    return paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(value))


def network(paddle, kind):
    rng = np.random.RandomState(7)
    static, F = paddle.static, paddle.nn.functional
    x = static.data("x", [None, 2, 6, 6], "float32")
    y = static.data("y", [None, 1], "int64")
    conv = static.nn.conv2d
    if kind == "conv":
        h = F.relu(conv(x, 3, 3, padding=1, param_attr=weights(paddle, rng, [3, 2, 3, 3])))
        h = conv(h, 3, 3, groups=3, param_attr=weights(paddle, rng, [3, 1, 3, 3]), act="relu")
        h = F.max_pool2d(h, 2, 2)
    elif kind == "residual":
        a = conv(x, 3, 1, param_attr=weights(paddle, rng, [3, 2, 1, 1]), bias_attr=False)
        b = conv(x, 3, 1, param_attr=weights(paddle, rng, [3, 2, 1, 1]), bias_attr=False)
        with static.name_scope("skip_quant"):
            c = conv(x, 3, 1, param_attr=weights(paddle, rng, [3, 2, 1, 1]), bias_attr=False)
        h = paddle.add(paddle.add(a, b), c)
        h = F.relu6(static.nn.batch_norm(h))
        h = F.avg_pool2d(h, 3, 3)
    else:
        h = paddle.reshape(x, [-1, 72])
        h = static.nn.fc(h, 5, activation="tanh", weight_attr=weights(paddle, rng, [72, 5]))
        w = static.create_parameter([5, 6], "float32", attr=weights(paddle, rng, [5, 6]))
        h = paddle.matmul(h, w)
    h = paddle.flatten(h, 1)
    out = static.nn.fc(
        h, 4, weight_attr=weights(paddle, rng, [int(h.shape[1]), 4]), activation="softmax"
    )
    loss = paddle.mean(F.cross_entropy(out, y))
    return out, loss


def built(paddle, kind, minimize=True):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        out, loss = network(paddle, kind)
        test = main.clone(for_test=True)
        if minimize:
            paddle.optimizer.SGD(0.05).minimize(loss)
    return main, startup, test, out, loss


def run_losses(paddle, exe, program, loss, n=4):
    return [
        plain(float(np.asarray(exe.run(program, feed=batch(i), fetch_list=[loss.name])[0]).item()))
        for i in range(n)
    ]


def tested_out(exe, program, out):
    return plain(
        np.asarray(exe.run(program, feed=batch(9), fetch_list=[out.name])[0]).ravel().tolist()
    )


TYPES = ["conv2d", "depthwise_conv2d", "mul", "matmul", "matmul_v2"]
MORE = ["pool2d", "elementwise_add", "relu6", "tanh", "softmax", "relu"]


def trained(paddle, kind, activation, weight, bits=8, more=False):
    q, static = paddle.static.quantization, paddle.static
    core, IrGraph = paddle.base.core, paddle.base.framework.IrGraph
    main, startup, test, out, loss = built(paddle, kind)
    place, scope, result = paddle.CPUPlace(), static.Scope(), {}
    with static.scope_guard(scope), paddle.utils.unique_name.guard():
        exe = static.Executor(place)
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
                quantizable_op_type=TYPES,
            ).apply(graph)
            if more:
                q.AddQuantDequantPass(scope, place, quantizable_op_type=MORE).apply(graph)
                q.OutScaleForTrainingPass(scope, place).apply(graph)
        result["train"] = program_text(graphs[0].to_program())
        result["test"] = program_text(graphs[1].to_program())
        compiled = static.CompiledProgram(graphs[0].graph)
        result["losses"] = run_losses(paddle, exe, compiled, loss)
        result["states"] = persistables(graphs[0].to_program(), scope)
        result["tested"] = tested_out(exe, graphs[1].to_program(), out)
        graph = graphs[1]
        if more:
            q.OutScaleForInferencePass(scope).apply(graph)
        q.QuantizationFreezePass(
            scope, place, weight_bits=bits, activation_bits=bits, weight_quantize_type=weight
        ).apply(graph)
        frozen = graph.to_program()
        result["frozen"] = program_text(frozen)
        result["frozen_states"] = persistables(frozen, scope)
        result["frozen_out"] = tested_out(exe, frozen, out)
        mobile = graph.clone()
        q.ConvertToInt8Pass(scope, place).apply(graph)
        int8 = graph.to_program()
        result["int8"] = program_text(int8)
        result["int8_states"] = persistables(int8, scope)
        q.TransformForMobilePass().apply(mobile)
        result["mobile"] = program_text(mobile.to_program())
    return result


def linear(paddle, kind, activation, weight, bits=8, more=False):
    """The passes that put quantize_linear."""
    q, static = paddle.static.quantization, paddle.static
    core, IrGraph = paddle.base.core, paddle.base.framework.IrGraph
    main, startup, test, out, loss = built(paddle, kind)
    place, scope, result = paddle.CPUPlace(), static.Scope(), {}
    with static.scope_guard(scope), paddle.utils.unique_name.guard():
        exe = static.Executor(place)
        exe.run(startup)
        graphs = IrGraph(core.Graph(main.desc)), IrGraph(core.Graph(test.desc), for_test=True)
        for graph in graphs:
            q.QuantizationTransformPassV2(
                scope=scope,
                place=place,
                activation_quantize_type=activation,
                weight_quantize_type=weight,
                weight_bits=bits,
                activation_bits=bits,
                window_size=3,
                quantizable_op_type=TYPES,
            ).apply(graph)
            if more:
                q.AddQuantDequantPassV2(scope, place, quantizable_op_type=MORE).apply(graph)
                q.OutScaleForTrainingPass(scope, place).apply(graph)
        result["train"] = program_text(graphs[0].to_program())
        result["test"] = program_text(graphs[1].to_program())
        compiled = static.CompiledProgram(graphs[0].graph)
        result["losses"] = run_losses(paddle, exe, compiled, loss)
        result["states"] = persistables(graphs[0].to_program(), scope)
        result["tested"] = tested_out(exe, graphs[1].to_program(), out)
        graph = graphs[1]
        if more:
            q.OutScaleForInferencePass(scope).apply(graph)
            q.AddQuantDequantForInferencePass(scope, place, quant_bits=bits).apply(graph)
            result["inference"] = program_text(graph.to_program())
        q.QuantWeightPass(scope, place, quant_bits=bits).apply(graph)
        frozen = graph.to_program()
        result["frozen"] = program_text(frozen)
        result["frozen_states"] = persistables(frozen, scope)
        result["frozen_out"] = tested_out(exe, frozen, out)
    return result


def replaced(paddle, kind, activation, weight):
    q, static = paddle.static.quantization, paddle.static
    core, IrGraph = paddle.base.core, paddle.base.framework.IrGraph
    main, startup, test, out, loss = built(paddle, kind)
    place, scope, result = paddle.CPUPlace(), static.Scope(), {}
    with static.scope_guard(scope), paddle.utils.unique_name.guard():
        exe = static.Executor(place)
        exe.run(startup)
        graphs = IrGraph(core.Graph(main.desc)), IrGraph(core.Graph(test.desc), for_test=True)
        for graph in graphs:
            q.QuantizationTransformPass(
                scope=scope,
                place=place,
                activation_quantize_type=activation,
                weight_quantize_type=weight,
                window_size=3,
                quantizable_op_type=TYPES,
            ).apply(graph)
            q.AddQuantDequantPass(scope, place, quantizable_op_type=MORE).apply(graph)
        compiled = static.CompiledProgram(graphs[0].graph)
        result["losses"] = run_losses(paddle, exe, compiled, loss)
        graph = graphs[1]
        q.ReplaceFakeQuantDequantPass(scope, place).apply(graph)
        result["replaced"] = program_text(graph.to_program())
        result["states"] = persistables(graph.to_program(), scope)
        result["out"] = tested_out(exe, graph.to_program(), out)
    return result


def aware(paddle, kind, config):
    q, static = paddle.static.quantization, paddle.static
    main, startup, test, out, loss = built(paddle, kind)
    place, scope, result = paddle.CPUPlace(), static.Scope(), {}
    with static.scope_guard(scope), paddle.utils.unique_name.guard():
        exe = static.Executor(place)
        exe.run(startup)
        train = q.quant_aware(main, place, config, scope=scope, for_test=False)
        test = q.quant_aware(test, place, config, scope=scope, for_test=True)
        result["kinds"] = [type(train).__name__, type(test).__name__]
        result["test"] = program_text(test)
        result["losses"] = run_losses(paddle, exe, train, loss)
        result["tested"] = tested_out(exe, test, out)
        whole = q.convert(test, place, config, scope=scope)
        result["converted"] = program_text(whole)
        result["states"] = persistables(whole, scope)
        result["out"] = tested_out(exe, whole, out)
    return result


def saved_model(paddle, kind, folder, exe):
    main, startup, test, out, loss = built(paddle, kind, minimize=False)
    exe.run(startup)
    paddle.static.save_inference_model(
        folder,
        [test.global_block().var("x")],
        [test.global_block().var(out.name)],
        exe,
        program=test,
    )


def loader(paddle):
    class Rows(paddle.io.Dataset):
        def __len__(self):
            return 15

        def __getitem__(self, at):
            return (batch(at // 5)["x"][at % 5],)

    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [None, 2, 6, 6], "float32")
    return paddle.io.DataLoader(
        Rows(), feed_list=[x], batch_size=5, return_list=False, places=[paddle.CPUPlace()]
    )


def post(paddle, kind, options):
    q, static = paddle.static.quantization, paddle.static
    exe, scope = static.Executor(paddle.CPUPlace()), static.Scope()
    with (
        static.scope_guard(scope),
        tempfile.TemporaryDirectory() as folder,
        paddle.utils.unique_name.guard(),
    ):
        saved_model(paddle, kind, folder + "/a/m", exe)
        made = q.PostTrainingQuantization(
            executor=exe,
            scope=scope,
            model_dir=folder + "/a",
            model_filename="m.pdmodel",
            params_filename="m.pdiparams",
            data_loader=loader(paddle),
            batch_size=5,
            batch_nums=3,
            **options,
        )
        program = made.quantize()
        made.save_quantized_model(folder + "/b", "m.pdmodel", "m.pdiparams")
        loaded, feeds, fetches = static.load_inference_model(folder + "/b/m", exe)
        out = exe.run(loaded, feed={feeds[0]: batch(9)["x"]}, fetch_list=fetches)[0]
        return {
            "quantized": program_text(program),
            "program": program_text(loaded),
            "states": persistables(loaded, scope),
            "out": plain(np.asarray(out).ravel().tolist()),
        }


def weight_only(paddle, kind, weight, bits, rate=0.0):
    q, static = paddle.static.quantization, paddle.static
    exe, result = static.Executor(paddle.CPUPlace()), {}
    with (
        static.scope_guard(static.Scope()),
        tempfile.TemporaryDirectory() as folder,
        paddle.utils.unique_name.guard(),
    ):
        saved_model(paddle, kind, folder + "/a/m", exe)
        q.WeightQuantization(folder + "/a", "m.pdmodel", "m.pdiparams").quantize_weight_to_int(
            folder + "/b",
            save_model_filename="m.pdmodel",
            save_params_filename="m.pdiparams",
            weight_bits=bits,
            weight_quantize_type=weight,
            quantizable_op_type=["conv2d", "depthwise_conv2d", "mul"],
            generate_test_model=True,
            threshold_rate=rate,
        )
        result["files"] = sorted(
            os.path.relpath(os.path.join(d, f), folder + "/b")
            for d, _, fs in os.walk(folder + "/b")
            for f in fs
        )
        for part in ("quantized_model", "test_model"):
            scope = static.Scope()
            with static.scope_guard(scope):
                program, feeds, fetches = static.load_inference_model(
                    folder + "/b/" + part + "/m", exe
                )
                result[part] = {
                    "program": program_text(program),
                    "states": persistables(program, scope),
                }
                if part == "test_model":
                    out = exe.run(program, feed={feeds[0]: batch(9)["x"]}, fetch_list=fetches)[0]
                    result["out"] = plain(np.asarray(out).ravel().tolist())
    return result


MOVING, SLICES = "moving_average_abs_max", "channel_wise_abs_max"


def cases():
    """Name -> function, arguments."""
    for kind in ("conv", "residual", "products"):
        yield f"trained.{kind}.more", trained, (kind, MOVING, SLICES, 8, True)
        yield f"linear.{kind}.more", linear, (kind, MOVING, SLICES, 8, True)
        yield f"aware.{kind}", aware, (kind, None)
        yield f"post.{kind}.linear", post, (kind, {"algo": "mse", "onnx_format": True})
    yield "trained.conv.range", trained, ("conv", "range_abs_max", "abs_max", 4)
    yield "linear.conv.abs", linear, ("conv", "abs_max", "abs_max")
    yield "replaced.products", replaced, ("products", MOVING, SLICES)
    yield "aware.products.full", aware, ("products", {"is_full_quantize": True})
    whole = {"weight_quantize_type": "abs_max", "onnx_format": False}
    yield "aware.conv.whole", aware, ("conv", whole)
    for algo in ("KL", "hist", "emd", "avg", "abs_max", "min_max"):
        yield f"post.conv.{algo}", post, ("conv", {"algo": algo})
    yield "post.residual.full", post, ("residual", {"is_full_quantize": True})
    types = {"quantizable_op_type": ["conv2d", "mul"], "weight_quantize_type": "abs_max"}
    yield "post.products.types", post, ("products", {"bias_correction": True, **types})
    yield "weight.conv.slices", weight_only, ("conv", SLICES, 8)
    yield "weight.products.rate", weight_only, ("products", "abs_max", 8, 0.1)


def nets(paddle):
    """The programs of the networks, and saved models, in base 64."""
    found = {}
    for kind in ("conv", "residual", "products"):
        main, startup, test, out, loss = built(paddle, kind)
        programs = {"main": main, "startup": startup, "test": test}
        found[kind] = {name: p.desc.serialize_to_string() for name, p in programs.items()}
        scope = paddle.static.Scope()
        with paddle.static.scope_guard(scope), tempfile.TemporaryDirectory() as folder:
            saved_model(paddle, kind, folder + "/m", paddle.static.Executor())
            for name in ("pdmodel", "pdiparams"):
                found[kind][name] = Path(folder, "m." + name).read_bytes()
        found[kind] = {n: base64.b64encode(v).decode() for n, v in found[kind].items()}
        found[kind].update(out=out.name, loss=loss.name)
    return found


def written(path, value):
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        file.write(json.dumps(value, sort_keys=True).encode())


def main():
    import paddle

    paddle.enable_static()
    folder = Path(sys.argv[1])
    written(folder / "nets.json.gz", nets(paddle))
    real = {name: function(paddle, *arguments) for name, function, arguments in cases()}
    written(folder / "real.json.gz", real)


if __name__ == "__main__":
    main()
