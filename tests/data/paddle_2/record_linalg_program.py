"""Writes ``linalg_program.pdmodel.gz`` and ``linalg_program.npz``: a program of Paddle 2.6.2 with
operators of linear algebra and special functions, what it is fed, and what it gives there.

Run it where paddlepaddle 2.6.2 is installed.
"""

import gzip
from pathlib import Path

import numpy as np
import paddle

PREFIX = Path(__file__).with_name("linalg_program")
linalg = paddle.linalg
paddle.enable_static()

x = paddle.static.data("x", [2, 4, 4], "float64")
y = paddle.static.data("y", [2, 4, 3], "float64")
s = x @ x.transpose([0, 2, 1]) + paddle.eye(4, dtype="float64")
small = y.abs() * 0.1
found = [
    *(paddle.inverse(s), linalg.det(s), linalg.slogdet(s), linalg.cholesky(s)),
    *(linalg.cholesky_solve(y, linalg.cholesky(s)), linalg.solve(s, y)),
    *(linalg.triangular_solve(s, y), linalg.qr(y)[1], linalg.svd(y)[1], linalg.eigh(s)[0]),
    *(linalg.eigvalsh(s), linalg.lu(s)[0], linalg.lu_unpack(*linalg.lu(y))[1], linalg.pinv(y)),
    *(linalg.lstsq(s, y)[0], linalg.matrix_power(s, 3), linalg.matrix_rank(y), linalg.cond(s)),
    *(linalg.multi_dot([x[0], y[0]]), linalg.cov(y[0]), linalg.corrcoef(y[0])),
    *(linalg.householder_product(y, y[:, 0]), paddle.abs(linalg.eigvals(s)).sum()),
    *(paddle.norm(y, 3, 1), paddle.norm(y, 1), paddle.norm(y), paddle.dist(y, y + 1, 3)),
    *(paddle.cdist(y, y), paddle.logsumexp(y, 1), paddle.logsumexp(y), paddle.logcumsumexp(y)),
    *(paddle.logcumsumexp(y, 1), paddle.nn.functional.log_softmax(y), paddle.logit(small, 1e-3)),
    *(paddle.i0(y), paddle.i0e(y), paddle.i1(y), paddle.i1e(y), paddle.erfinv(small)),
    *(paddle.polygamma(small + 1, 2), paddle.lgamma(small + 1), paddle.digamma(small + 1)),
    *(paddle.acosh(small + 1), paddle.asinh(y), paddle.atanh(small), paddle.atan2(y, y + 1)),
    *(paddle.lerp(y, y + 1, small), paddle.fmax(y, y * 2), paddle.fmin(y, y * 2)),
    paddle.heaviside(y, small),
]
executor, rng = paddle.static.Executor(), np.random.default_rng(0)
feed = {"x": rng.normal(size=(2, 4, 4)), "y": rng.normal(size=(2, 4, 3))}
results = executor.run(feed=feed, fetch_list=found)
program = paddle.static.normalize_program(paddle.static.default_main_program(), [x, y], found)
for op in program.global_block().ops:
    op._remove_attr("op_callstack")
with gzip.GzipFile(PREFIX.with_suffix(".pdmodel.gz"), "wb", mtime=0) as file:
    file.write(program.desc.serialize_to_string())
np.savez(PREFIX.with_suffix(".npz"), *results, **feed)
