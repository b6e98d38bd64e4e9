"""Samples of the operators in fluidlite/ops/regression_loss.py."""

import numpy as np

from .form import Sample, samples

#: differences on both sides of where parabolas become lines
DIFFERENCES = np.array([[0.1, -0.3, 1.9, -2.5], [0.2, 3.0, -0.15, 0.0], [-4.0, 0.05, 2.0, -0.2]])


@samples("huber_loss")
def huber_loss(rng):
    x = rng.normal(size=[3, 4])
    yield Sample(dict(X=x, Y=x + DIFFERENCES), dict(delta=1.0))
    yield Sample(dict(X=x[:, :1], Y=(x + DIFFERENCES)[:, :1]), dict(delta=1.5), "column")


@samples("smooth_l1_loss")
def smooth_l1_loss(rng):
    x = rng.normal(size=[3, 4])
    y = x + DIFFERENCES
    yield Sample(dict(X=x, Y=y))
    weights = {slot: rng.uniform(0.9, 1.1, [3, 4]) for slot in ("InsideWeight", "OutsideWeight")}
    yield Sample(dict(X=x, Y=y, **weights), dict(sigma=1.25), "weights")
    yield Sample(dict(X=x.reshape([3, 2, 2]), Y=y.reshape([3, 2, 2])), name="flat")


@samples("center_loss")
def center_loss(rng):
    inputs = dict(X=rng.normal(size=[4, 3]), Label=np.array([[1], [0], [1], [4]]))
    inputs.update(Centers=rng.normal(size=[5, 3]), CenterUpdateRate=np.array([0.1]))
    outputs = ("SampleCenterDiff", "Loss")  # nothing flows through the centres
    for update in (True, False):
        attrs = dict(cluster_num=5, need_update=update)
        yield Sample(inputs, attrs, f"update={update}", outputs=outputs)
    attrs = dict(cluster_num=5, need_update=True)
    yield Sample(dict(inputs, Label=np.array([2, 0, 3, 3])), attrs, "row", outputs=outputs)
