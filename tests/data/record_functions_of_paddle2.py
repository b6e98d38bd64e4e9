"""Writes tests/data/functions_of_paddle2.json.gz: functions and methods of tensors in Paddle 2, with
their results and the gradients of ``x``.

    python tests/data/record_functions_of_paddle2.py        where Paddle 2.6 is installed
"""

import gzip
import json
from pathlib import Path

import numpy as np
import numpy.random
import paddle

random = np.random.RandomState(6)
GIVEN = {
    "x": random.uniform(-1, 1, [3, 4]).astype("float32").round(3),
    "y": random.uniform(0.1, 1, [3, 4]).astype("float32").round(3),
    "square": random.uniform(-1, 1, [3, 3]).astype("float32").round(3),
    "i": np.array([1, 2, 2, 5]),
    "j": np.array([3, 1, 6, 5]),
    "rows": np.array([0, 2]),
}
CALLS = """
P.asinh(x * 3); P.acosh(x * x + 1.5); P.atanh(x * 0.9); P.frac(x * 3); P.sgn(x); P.deg2rad(x)
P.rad2deg(x); P.logit(y * 0.5); P.logit(y, 0.3); P.stanh(x); P.stanh(x, 0.5, 2.0); P.logaddexp(x, y)
P.hypot(x, y); P.fmax(x, y); P.fmin(x, y); P.nan_to_num(x / 0.0); P.nan_to_num(x / 0.0, 1.0, 2.0, 3.0)
P.nansum(P.log(x)); P.nansum(P.log(x), 1); P.nanmean(P.log(x), 1, True); P.add_n([x, y, x])
P.diff(x); P.diff(x, 2, 0); P.diff(x, axis=0, prepend=y, append=x); P.inner(x, y); P.inner(x, y[0])
P.tensordot(x, y, [[1], [1]]); P.tensordot(x, y.t(), 1); P.tensordot(x, y, 2); P.kron(x, y)
P.addmm(square, x, y.t(), 0.5, 2.0); P.cross(x, y); P.cross(x[:, :3], y[:, 1:], 1)
P.diagonal(x); P.diagonal(x, 1); P.diagonal(x, -1, 1, 0); x.trace(); x.trace(1); P.diag_embed(x)
P.diag_embed(x, 1); P.diag_embed(x, -2, 0, 2); P.diagflat(x[0]); P.diagflat(i, 1); P.rot90(x)
P.rot90(x, 3); P.rot90(x, 2); P.rot90(x, 1, [1, 0]); y.detach().view([4, 3])
P.unflatten(x, 1, [2, -1]); P.vsplit(x, 3)[1]; P.atleast_1d(x[0, 0]); P.atleast_2d(x[0])
P.atleast_3d(x[0]); P.atleast_3d(x); P.bincount(i); P.bincount(i, x[0]); P.bincount(i, minlength=8)
P.histogram(x, 4); P.histogram(x * 4, 5, -2, 3); P.searchsorted(P.sort(y[0]), x)
P.searchsorted(P.sort(y), x, right=True); P.searchsorted(i, j, out_int32=True)
P.searchsorted(i, i, right=True); P.bucketize(x, P.sort(y[0])); P.unique_consecutive(i)
P.unique_consecutive(i, True, True)[1]; P.unique_consecutive(i, True, True)[2]
P.kthvalue(x, 2)[0]; P.kthvalue(x, 2)[1]; P.kthvalue(x, 3, 0, True)[0]; P.cummax(x)[0]
P.cummax(x, 0)[0]; P.cummax(x, 1)[1]; P.cummin(x, 1)[0]; P.cummin(x, 0)[1]; P.quantile(x, 0.3)
P.quantile(x, 0.7, 1); P.quantile(x, [0.1, 0.9], 0, True); P.index_add(x, rows, 0, y[:2])
P.index_add(x, rows, 1, y[:, :2]); x.index_fill(rows, 1, 0.5); x.index_put((rows, rows), y[0, :2])
x.index_put((rows, rows * 0), y[0, :2], True); P.take(x, P.to_tensor([[0, 5], [-1, 11]]))
P.take(x, P.to_tensor([13, 2]), mode="wrap"); P.take(x, P.to_tensor([13, 2]), mode="clip")
i & j; i | j; i ^ j; ~i; P.bitwise_and(i, j); P.bitwise_not(j); (x > 0) & (y > 0.5); ~(x > 0)
P.bitwise_xor(x > 0, y > 0.5); P.tril_indices(3, 2, 0); P.triu_indices(2, 3, 1); P.logspace(0, 2, 4)
P.logspace(0, 3, 4, 2.0); (x * 1).abs_(); (x * 1).neg_(); (x * 1).sin_(); (x * 1).sigmoid_()
(x * 1).pow_(2.0); (x * 1).tril_(); (x * 1).lerp_(y, 0.3); (x * 1).remainder_(y); (y * 1).log_()
P.zeros([3, 4]).fill_diagonal_(2.0); P.zeros([5, 2]).fill_diagonal_(2.0, wrap=True)
P.zeros([3, 4]).fill_diagonal_(2.0, 1); x.to("float64"); x.cpu(); x.contiguous()
"""


def recorded(call):
    made = {k: paddle.to_tensor(v, stop_gradient=v.dtype.kind != "f") for k, v in GIVEN.items()}
    out = eval(call, {"P": paddle, **made})
    gradient = None
    if not out.stop_gradient and out.numpy().dtype.kind == "f":
        weights = np.cos(np.arange(out.size)).reshape(out.shape).astype("float32")
        (out.astype("float32") * paddle.to_tensor(weights)).sum().backward()
        found = made["x"].grad
        gradient = None if found is None else found.numpy().astype("float64").round(4).tolist()
    array = out.numpy()
    listed = array.astype("float64").round(4) if array.dtype.kind == "f" else array
    return [call, str(array.dtype), listed.tolist(), gradient]


calls = [call.strip() for call in CALLS.replace("\n", ";").split(";") if call.strip()]
text = json.dumps(
    [{k: v.tolist() for k, v in GIVEN.items()}, *map(recorded, calls)], separators=(",", ":")
)
path = Path(__file__).parent / "functions_of_paddle2.json.gz"
path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
