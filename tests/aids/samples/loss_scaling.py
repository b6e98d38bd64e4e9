"""Samples of what scales losses and gradients."""

import numpy as np

from .form import Sample, samples


@samples("check_finite_and_unscale")
def check_finite_and_unscale(rng):
    gradients = [rng.normal(size=[2, 3]), rng.normal(size=[4])]
    yield Sample(dict(X=gradients, Scale=np.array([4.0])))


@samples("update_loss_scaling")
def update_loss_scaling(rng):
    attrs = dict(incr_every_n_steps=2, decr_every_n_nan_or_inf=2, incr_ratio=2.0, decr_ratio=0.5)
    for found in (False, True):
        inputs = dict(
            X=[rng.normal(size=[2, 3]), rng.normal(size=[4])],
            FoundInfinite=np.array([found]),
            PrevLossScaling=np.array([8.0]),
            InGoodSteps=np.array([1], "int32"),
            InBadSteps=np.array([0], "int32"),
        )
        yield Sample(inputs, attrs, f"found_{found}")
    yield Sample(dict(inputs, StopUpdate=np.array([True])), attrs, "stopped")
