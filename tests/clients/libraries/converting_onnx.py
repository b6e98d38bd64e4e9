"""x2paddle converts graphs of ONNX, opset 9; those of ONNX Runtime's models are alike."""

import os
import sys
import tempfile
import types

import numpy as np
import onnx
import onnx.utils
import onnx.version
from converted import converted
from onnx import helper, numpy_helper, parser
from outcomes import outcome

# what onnx had until 1.8 and 1.13, and a version that x2paddle can compare as a text
onnx.version.version = "1.9.0"
if not hasattr(onnx.utils, "polish_model"):
    onnx.utils.polish_model = onnx.shape_inference.infer_shapes
try:
    import onnx.mapping
except ImportError:
    onnx.mapping = sys.modules["onnx.mapping"] = types.ModuleType("onnx.mapping")
    onnx.mapping.TENSOR_TYPE_TO_NP_TYPE = {
        kind: helper.tensor_dtype_to_np_dtype(kind) for kind in range(1, 14)
    }

from x2paddle.convert import onnx2paddle  # noqa: E402

#: graphs: what is fed, what is given, the sizes of weights, and the nodes
CLASSIFIER = (
    "float[2,3,9,9] x", "float[2,4] probability",
    {"w1": [6, 3, 3, 3], "b1": [6], "s": [6], "o": [6], "m": [6], "v": [6], "w2": [6, 2, 3, 3],
     "slope": [1], "fc": [4, 12], "bias": [4]},
    """
    c1 = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w1, b1)
    n1 = BatchNormalization <epsilon = 0.001> (c1, s, o, m, v)
    r1 = Relu (n1)
    p1 = MaxPool <kernel_shape = [3, 3], strides = [2, 2]> (r1)
    c2 = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 3> (p1, w2)
    r2 = PRelu (c2, slope)
    j2 = Concat <axis = 1> (r2, p1)
    g3 = GlobalAveragePool (j2)
    f3 = Flatten (g3)
    d3 = Dropout <ratio = 0.5> (f3)
    l4 = Gemm <transB = 1, alpha = 1.0, beta = 1.0> (d3, fc, bias)
    probability = Softmax <axis = 1> (l4)
    """,
)  # fmt: skip
SHAPES = (
    "float[2,6,4] x", "float[2,2,8] turned, float[3,8] joined, float[2,6] mean",
    {"m": [4, 5], "k": [6, 4]},
    """
    a, b = Split <axis = 1, split = [2, 4]> (x)
    t = Transpose <perm = [0, 2, 1]> (b)
    i = Constant <value = int64[3] {2, 0, 3}> ()
    g = Gather <axis = 1> (t, i)
    u = Unsqueeze <axes = [1]> (g)
    q = Squeeze <axes = [1]> (u)
    e = Exp (a)
    h = Sqrt (e)
    s = Constant <value = int64[3] {2, 2, -1}> ()
    j = Concat <axis = 2> (h, h)
    turned = Reshape (j, s)
    w = Constant <value = int64[2] {0, 2}> ()
    z = Slice <axes = [1], starts = [0], ends = [3]> (q)
    y = ReduceSum <axes = [0], keepdims = 0> (q)
    y2 = Mul (y, y)
    joined = Concat <axis = 1> (y, y2)
    mean = ReduceMean <axes = [2], keepdims = 0> (x)
    """,
)  # fmt: skip
NUMBERS = (
    "float[3,4] x", "float[3,4] one, float[3,4] two, float[3,5] three, float[3,4] four",
    {"p": [4], "m": [4, 5]},
    """
    a = Abs (x)
    c = Add (a, p)
    l = Exp (c)
    d = Div (x, c)
    s = Sigmoid (d)
    t = Tanh (l)
    one = Sub (s, t)
    r = Clip <min = -0.4, max = 0.3> (x)
    e = Elu <alpha = 0.7> (r)
    i = Identity (e)
    lk = LeakyRelu <alpha = 0.2> (x)
    f = Floor (lk)
    two = Sum (i, f, p)
    three = MatMul (x, m)
    hs = HardSigmoid <alpha = 0.3, beta = 0.4> (x)
    sp = Erf (hs)
    ss = Softsign (sp)
    w = Pow (a, p)
    four = Add (ss, w)
    """,
)  # fmt: skip
DECODER = (
    "float[1,3,5,5] x", "float[1,4,10,10] large, float[1,3,8,7] padded, float[1,3,3,3] near",
    {"w": [3, 4, 2, 2], "g": [3], "b": [3]},
    """
    n = InstanceNormalization <epsilon = 0.001> (x, g, b)
    large = ConvTranspose <kernel_shape = [2, 2], strides = [2, 2]> (n, w)
    padded = Pad <mode = "constant", pads = [0, 0, 1, 0, 0, 0, 2, 2], value = 0.5> (n)
    near = AveragePool <kernel_shape = [3, 3], strides = [1, 1]> (n)
    """,
)  # fmt: skip


def of_onnx(given, wanted, weights, nodes):
    """What the code for a graph gives, and its model."""
    os.chdir(tempfile.mkdtemp())
    random = np.random.RandomState(4)
    text = '<ir_version: 4, opset_import: ["" : 9]>\ngraph (%s) => (%s) {%s}'
    model = parser.parse_model(text % (given, wanted, nodes))
    for name, sizes in weights.items():
        value = random.uniform(0.1, 0.6, sizes).astype("float32")
        model.graph.initializer.append(numpy_helper.from_array(value, name))
    for place, node in enumerate(model.graph.node):
        node.name = f"node_{place}"
    onnx.save(model, "net.onnx")
    shape = [each.dim_value for each in model.graph.input[0].type.tensor_type.shape.dim]
    value = random.uniform(-1, 1, shape).astype("float32")
    return converted(lambda folder: onnx2paddle("net.onnx", folder), {"x2paddle_x": value}, False)


def results(_):
    """What each graph gives."""
    graphs = {
        "classifier": CLASSIFIER, "shapes": SHAPES, "numbers": NUMBERS, "decoder": DECODER,
    }  # fmt: skip
    return {name: outcome(of_onnx, *graph) for name, graph in graphs.items()}
