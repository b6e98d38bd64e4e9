"""paddle2onnx converts saved models of several kinds; ONNX Runtime computes what they did."""

import os
import tempfile

import numpy as np
import onnxruntime
import paddle.fluid as fluid
from paddle2onnx.command import program2onnx
from paddle2onnx.onnx_helper.onnx_pb import ModelProto
from parameters import started

layers = fluid.layers


def image(sizes, name="image"):
    return fluid.data(name, [1] + sizes, "float32")


def classifier():
    x = image([3, 16, 16])
    hidden = layers.conv2d(x, 6, 3, padding=1, act="relu")
    hidden = layers.batch_norm(layers.conv2d(hidden, 8, 3, stride=2, bias_attr=False), act="relu")
    hidden = layers.pool2d(hidden, 2, "avg", pool_stride=2)
    hidden = layers.dropout(layers.fc(hidden, 12, act="tanh"), 0.4)
    return [layers.fc(hidden, 5, act="softmax")]


def mobile():
    x = image([3, 12, 12])
    hidden = layers.hard_swish(layers.conv2d(x, 8, 3, stride=2, padding=1))
    deep = layers.conv2d(hidden, 8, 3, padding=1, groups=8, use_cudnn=False)
    deep = layers.relu6(layers.batch_norm(deep))
    gate = layers.pool2d(deep, global_pooling=True, pool_type="avg")
    gate = layers.hard_sigmoid(layers.conv2d(gate, 8, 1))
    hidden = layers.elementwise_add(hidden, layers.elementwise_mul(deep, gate, axis=0))
    pooled = layers.pool2d(hidden, 3, "max", pool_stride=2, pool_padding=1)
    return [layers.prelu(pooled, "channel"), layers.leaky_relu(hidden, 0.1), layers.swish(gate)]


def decoder():
    x = image([4, 5, 5])
    hidden = layers.conv2d_transpose(x, 3, filter_size=2, stride=2, act="sigmoid")
    large = layers.resize_bilinear(hidden, scale=2.0, align_corners=True)
    near = layers.resize_nearest(hidden, scale=2.0, align_corners=False)
    edge = layers.pad2d(near, [1, 1, 2, 0], mode="constant", pad_value=0.5)
    return [large, edge, layers.instance_norm(hidden)]


def numbers():
    x = image([3, 4])
    positive = layers.abs(x) + 0.5
    chain = layers.exp(layers.log(positive)) - layers.floor(x)
    power = layers.pow(positive, 1.5) / layers.reciprocal(positive)
    means = [
        layers.reduce_mean(x, dim=1),
        layers.reduce_sum(x, dim=[1, 2], keep_dim=True),
        layers.reduce_max(x, dim=2),
        layers.reduce_min(x, dim=1, keep_dim=True),
    ]
    return [chain, power, layers.clip(x, -0.3, 0.4), layers.scale(x, 2.0, 1.0), *means]


def shapes():
    x = image([4, 6])
    first, second = layers.split(x, 2, dim=1)
    joined = layers.concat([second, first], axis=2)
    turned = layers.transpose(layers.unsqueeze(joined, [3]), [0, 2, 3, 1])
    flat = layers.reshape(layers.squeeze(turned, [2]), [1, 24])
    part = layers.slice(x, axes=[1, 2], starts=[1, 0], ends=[3, 4])
    product = layers.matmul(part, layers.fc(x, 4, num_flatten_dims=2), transpose_y=True)
    picked = layers.gather(layers.reshape(x, [4, 6]), layers.assign(np.array([2, 0], "int32")))
    total = layers.sums([first, second])
    full = layers.fill_constant([1, 24], "float32", 0.25) + flat
    whole = layers.cast(layers.cast(x * 3.0, "int32"), "float32")
    return [flat, full, product, picked, total, whole, layers.l2_normalize(x, 2), layers.flatten(x)]


def results(sentences):
    """Of each output of each model: what its file has, and what is computed with it."""
    kinds = [(classifier, 9), (mobile, 9), (decoder, 11), (numbers, 9), (shapes, 9), (shapes, 11)]
    return {f"{make.__name__} {opset}": converted(make, opset) for make, opset in kinds}


def converted(make, opset):
    main, startup = fluid.Program(), fluid.Program()
    executor = fluid.Executor(fluid.CPUPlace())
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        with fluid.scope_guard(fluid.Scope()):
            outputs = make()
            executor.run(startup)
            started(main)
            main = main.clone(for_test=True)
            sizes = main.global_block().var("image").shape
            value = np.random.RandomState(7).uniform(-1, 1, sizes).astype("float32")
            wanted = executor.run(main, feed={"image": value}, fetch_list=outputs)
            found = []
            for output, array in zip(outputs, wanted):
                with tempfile.TemporaryDirectory() as folder:
                    fluid.io.save_inference_model(folder, ["image"], [output], executor, main)
                    found.append(served(folder, opset, value, array))
    return found


def served(folder, opset, value, wanted):
    """The operators of a model's ONNX file, and what ONNX Runtime computes with it."""
    path = os.path.join(folder, "model.onnx")
    with fluid.scope_guard(fluid.Scope()):
        try:
            program2onnx(folder, path, opset_version=opset)
            session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library does not know an operator, or writes a wrong file
            return type(error).__name__
    with open(path, "rb") as file:
        model = ModelProto.FromString(file.read())
    (given,) = session.run(None, {each.name: value for each in session.get_inputs()})
    return {
        "operators": [node.op_type for node in model.graph.node],
        "as the executor's": bool(np.allclose(given, wanted, rtol=1e-5, atol=1e-6)),
        "sizes": list(given.shape),
        "numbers": np.asarray(given, "float64").ravel()[:50].tolist(),
    }
