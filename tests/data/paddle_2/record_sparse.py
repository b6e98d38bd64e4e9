"""Records what paddle 2.6.2 makes of sparse tensors on a CPU, into sparse.json beside this.

    python tests/data/paddle_2/record_sparse.py    # with a Python that has paddlepaddle 2.6.2

``tests/paddle_2/test_sparse_recorded.py`` computes the same.
"""

import json
import pathlib

import numpy as np

SETUP = """
S, F, T = paddle.sparse, paddle.sparse.nn.functional, paddle.to_tensor
coo = lambda: S.sparse_coo_tensor([[0, 1, 2], [1, 2, 0]], [1.0, 2, 3], [3, 3])
other = lambda: S.sparse_coo_tensor([[0, 1, 2], [1, 1, 0]], [10.0, 20, 30], [3, 3])
csr = lambda: S.sparse_csr_tensor([0, 2, 3, 5], [1, 3, 2, 0, 1], [1.0, 2, 3, 4, 5], [3, 4])
several = lambda: S.sparse_csr_tensor([0, 1, 2, 0, 1, 1], [0, 1, 1], [1.0, 2, 3], [2, 2, 2])
rows = lambda: S.sparse_coo_tensor([[0, 1, 1]], [[1.0, 2], [3, 4], [5, 6]], [3, 2])
small = lambda: S.sparse_coo_tensor([[0, 1]], [0.5, -0.25], [3])
places = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 2], [1, 3, 2, 3]]
volume = lambda: S.sparse_coo_tensor(places, [[1.0], [2], [3], [4]], [1, 1, 3, 4, 1])
image = lambda: S.sparse_coo_tensor(places[1:], [[1.0], [2], [3], [4]], [1, 3, 4, 1])
w = T(np.arange(9, dtype="float32").reshape(3, 3, 1, 1))
w3 = w.reshape([1, 3, 3, 1, 1])
weight = lambda: T(w3.numpy(), stop_gradient=False)
def flow(x, f):
    x.stop_gradient = False
    y = f(x)
    (y if y.is_dense() else y.to_dense()).sum().backward()
    return x.grad
"""
UNARY = "abs asin asinh atan atanh deg2rad expm1 isnan log1p neg rad2deg sin sinh sqrt square tan tanh"
CASES = [
    *(f"S.{name}(small())" for name in UNARY.split()),
    *(f"S.{name}(coo(), other())" for name in ("add", "subtract", "multiply", "divide")),
    *(f"S.{name}(coo().to_sparse_csr(), other().to_sparse_csr())" for name in ("add", "divide")),
    "S.add(coo(), S.cast(other(), None, 'float64'))", "S.add(S.coalesce(rows()), S.neg(S.coalesce(rows())))",
    "S.multiply(csr(), 2)", "S.divide(coo(), 2.0)", "S.pow(csr(), 2.0)",
    "S.sparse_coo_tensor([[0, 1]], [1, 2], [3], dtype='float64')",
    "S.sparse_coo_tensor([[0, 1], [1, 1]], [[1, 2], [3, 4]])",
    "S.cast(coo(), 'int32', 'float64')", "S.cast(csr(), 'int32', 'float64')",
    "T([[1.0, 0], [0, 0], [0, 2]]).to_sparse_coo(1)", "T([[1.0, 0], [2, 3]]).to_sparse_coo(2)",
    "T([[[1.0, 0], [0, 2]], [[0, 0], [3, 0]]]).to_sparse_csr()", "T([1, 0, 2]).to_sparse_coo(1)",
    "coo().to_sparse_csr()", "csr().to_sparse_coo(2)", "several().to_dense()", "csr().to_dense()",
    "several().to_sparse_coo(3)", "S.sparse_coo_tensor([[2, 0, 2]], [1.0, 2, 3], [3]).coalesce()",
    "S.coalesce(rows())",
    *(f"S.sum({of})" for of in ("coo(), 0", "coo(), 1", "coo(), -1, None, True", "csr()",
                                "coo(), None, None, True", "csr(), -1, None, True", "rows(), 0",
                                "rows(), 1", "coo(), 0, 'float64'")),
    *(f"S.reshape(coo(), {shape})" for shape in ([9], [1, 9], [-1], [9, 1], [3, 3, 1], [0, 3])),
    "S.reshape(csr(), [4, 3])", "S.reshape(csr(), [2, 2, 3])", "S.reshape(rows(), [1, 3, 2])",
    "S.transpose(coo(), [1, 0])", "S.transpose(csr(), [1, 0])",
    *(f"S.transpose(several(), {perm})" for perm in ([0, 2, 1], [1, 0, 2], [2, 1, 0])),
    "S.slice(coo(), [0, 1], [0, 1], [2, 3])", "S.slice(coo(), [1], [-2], [10])",
    "S.slice(csr(), [0, 1], [1, 0], [3, 2])", "S.slice(several(), [0], [0], [1])",
    "F.softmax(csr())", "F.softmax(several())", "F.softmax(coo(), 0)", "F.softmax(rows())",
    "F.softmax(rows(), 0)", "F.relu(small())", "F.relu6(S.multiply(csr(), 2))",
    "F.leaky_relu(small(), 0.1)",
    *(f"F.conv3d(volume(), w3{more})" for more in (
        "", ", padding=[0, 1, 1]", ", padding=[0, 1, 1], stride=[1, 2, 2]",
        ", padding=[0, 2, 2], dilation=[1, 2, 2]")),
    "F.subm_conv3d(volume(), w3, T([1.0]))", "F.subm_conv3d(volume(), w3, padding=[0, 1, 1])",
    "F.conv2d(image(), w, padding=1)", "F.subm_conv2d(image(), w)",
    "F.max_pool3d(volume(), [1, 2, 2], [1, 1, 1])", "F.max_pool3d(volume(), [1, 2, 2], 2, [0, 1, 1])",
    "F.max_pool3d(S.neg(volume()), [1, 2, 2], [1, 1, 1])",
    "paddle.sparse.nn.BatchNorm(1)(volume())",
    *(f"flow({of})" for of in (
        "small(), S.sin", "coo(), lambda x: S.add(x, other())", "coo(), lambda x: S.sum(x, 0)",
        "coo(), lambda x: S.multiply(x, other())", "coo(), lambda x: S.transpose(x, [1, 0])",
        "coo(), lambda x: S.reshape(x, [9])",
        "volume(), lambda x: F.conv3d(x, weight(), padding=[0, 1, 1])",
        "volume(), lambda x: F.subm_conv3d(x, weight())",
        "volume(), lambda x: F.max_pool3d(x, [1, 2, 2], 1)")),
]  # fmt: skip
TEXTS = [
    "coo()", "csr()", "rows()", "S.isnan(small())", "S.cast(coo(), 'int32', 'int64')",
    "S.sparse_coo_tensor([list(range(40))], [0.5 * i for i in range(40)], [40])",
]  # fmt: skip


def told(x):
    """A tensor as plain data: its form, shape, type, places and elements."""
    name = str(x.dtype).rpartition(".")[2]
    if x.is_sparse_coo():
        return ["coo", x.shape, name, x.indices().tolist(), x.values().tolist()]
    if x.is_sparse_csr():
        places = [x.crows().tolist(), x.cols().tolist()]
        return ["csr", x.shape, name, places, x.values().tolist()]
    return ["dense", x.shape, name, [], x.tolist()]


def main():
    import os

    import paddle

    def apart(of, text):
        """What a child says, since some of these end the process."""
        read, write = os.pipe()
        child = os.fork()
        if not child:
            names = {"paddle": paddle, "np": np}
            exec(SETUP, names)
            os.write(write, json.dumps(of(eval(text, names))).encode())
            os._exit(0)
        os.close(write)
        os.waitpid(child, 0)
        with os.fdopen(read) as stream:
            return json.loads(stream.read() or "null")

    cases = {text: apart(told, text) for text in CASES}
    texts = {text: apart(str, text) for text in TEXTS}
    missing = [text for text, result in {**cases, **texts}.items() if result is None]
    print("nothing of", missing)
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in cases.items() if v is not None]
    shown = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in texts.items()]
    parts = [json.dumps(SETUP), "{\n" + ",\n".join(lines) + "}", "{\n" + ",\n".join(shown) + "}"]
    body = "{" + ",\n".join(f'"{n}": {p}' for n, p in zip(("setup", "cases", "texts"), parts)) + "}\n"
    pathlib.Path(__file__).with_name("sparse.json").write_text(body)


if __name__ == "__main__":
    main()
