"""Writes tests/data/optimizers_of_paddle.json.gz: parameters over twenty steps of Paddle's optimizers.

    python tests/data/record_optimizers.py        where Paddle 2.6 is installed, or 1.8.5

Each writes its own half, ``paddle2`` or ``fluid18``, and leaves the other one.  Where layers run at once,
in 1.8.5 as well, since its steps are those of programs.
"""

import gzip
import json
import math
import os
import pathlib

import numpy as np

os.environ["GLOG_minloglevel"] = "3"

import paddle

OF_2 = hasattr(paddle, "to_tensor")
FILE = pathlib.Path(__file__).parent / "optimizers_of_paddle.json.gz"
STEPS = 20
#: what each parameter begins with, and what its gradients are multiples of
PARAMETERS = [
    ([0.5, -1.0], [0.3, -2.0]),
    ([0.5, 0.0], [1e-7, -2e-7]),
    ([0.5, -2.0], [0.0, 0.0]),
    ([1.0, -2.0], [1e10, -3e18]),
    ([1.0, -2.0], [1e20, 1.0]),
    ([0.0, 0.0], [0.5, -0.25]),
]
#: what the gradients of each step are multiplied with
FACTORS = [round(math.cos(1.3 * k) + 0.25, 3) for k in range(STEPS)]

#: ``p`` are the parameters, of which the first one has index 0
CASES_OF_2 = """
SGD(parameters=p)
SGD(0.1, parameters=p, weight_decay=0.1)
SGD(0.1, p, 0.1)
SGD(0.1, parameters=p, weight_decay=L1Decay(0.1))
SGD(0.1, parameters=p, weight_decay=L2Decay(0.1), multi_precision=True)
SGD(0.1, parameters=p, grad_clip=ClipGradByValue(0.5))
SGD(0.1, parameters=p, grad_clip=ClipGradByNorm(0.5), weight_decay=0.1)
SGD(0.1, parameters=p[:1] + p[5:], grad_clip=ClipGradByGlobalNorm(0.5))
SGD(lr.StepDecay(0.1, 3), parameters=p)
SGD(lr.NoamDecay(4, 5), parameters=p)
Momentum(parameters=p)
Momentum(0.1, parameters=p, weight_decay=0.1)
Momentum(0.1, 0.8, parameters=p, use_nesterov=True)
Momentum(0.1, 0.8, p, True, 0.1)
Momentum(0.1, 0.8, parameters=p, use_nesterov=True, weight_decay=L1Decay(0.1), use_multi_tensor=False)
Adagrad(0.1, parameters=p)
Adagrad(0.1, parameters=p, epsilon=1e-3, initial_accumulator_value=0.1, weight_decay=0.1)
Adadelta(parameters=p)
Adadelta(1.0, parameters=p)
Adadelta(0.5, epsilon=1e-3, rho=0.8, parameters=p, weight_decay=0.1)
Adam(parameters=p)
Adam(0.1, parameters=p)
Adam(0.1, parameters=p, weight_decay=0.1)
Adam(0.1, 0.8, 0.95, 1e-3, p, weight_decay=L2Decay(0.1))
Adam(0.1, beta1=0.8, beta2=0.95, epsilon=1e-3, parameters=p, weight_decay=L1Decay(0.1))
Adam(0.1, parameters=p, grad_clip=ClipGradByNorm(1e-3), lazy_mode=True, multi_precision=True)
Adam(lr.ExponentialDecay(0.1, 0.9), parameters=p)
AdamW(parameters=p)
AdamW(0.1, parameters=p)
AdamW(0.1, parameters=p, weight_decay=0.5, epsilon=1e-3)
AdamW(0.1, parameters=p, weight_decay=0.5, apply_decay_param_fun=lambda name: name != p[0].name)
AdamW(lr.StepDecay(0.1, 3), parameters=p, weight_decay=0.5, grad_clip=ClipGradByNorm(1e-3))
Adamax(parameters=p)
Adamax(0.1, parameters=p)
Adamax(0.1, 0.8, 0.95, 1e-3, parameters=p, weight_decay=0.1)
RMSProp(0.1, parameters=p)
RMSProp(0.1, rho=0.8, epsilon=1e-3, momentum=0.5, parameters=p, weight_decay=0.1)
RMSProp(0.1, momentum=0.5, centered=True, parameters=p)
Lamb(parameters=p)
Lamb(0.1, parameters=p)
Lamb(0.1, lamb_weight_decay=0.5, beta1=0.8, beta2=0.95, epsilon=1e-3, parameters=p)
Lamb(0.1, parameters=p, lamb_weight_decay=0.0)
Lamb(0.1, parameters=p, lamb_weight_decay=0.0, always_adapt=True)
Lamb(0.1, parameters=p, exclude_from_weight_decay_fn=lambda one: one.name == p[0].name)
Lamb(0.1, parameters=p, grad_clip=ClipGradByNorm(1e-3))
SGD(0.1, parameters=[{"params": p[:2], "learning_rate": 0.5}, {"params": p[2:]}])
SGD(0.1, parameters=[{"params": p[:2], "weight_decay": 0.5}, {"params": p[2:]}], weight_decay=0.1)
SGD(0.1, parameters=[{"params": p[0], "weight_decay": L1Decay(0.5)}, {"params": p[5]}])
SGD(0.1, parameters=[{"params": p[:1], "grad_clip": ClipGradByGlobalNorm(0.1)}, {"params": p[1:3]}])
SGD(0.1, parameters=[{"params": p[:1]}, {"params": p[5:]}], grad_clip=ClipGradByGlobalNorm(0.5))
SGD(0.1, parameters=[{"params": p[:1], "grad_clip": None}, {"params": p[5:]}], grad_clip=ClipGradByGlobalNorm(0.5))
Momentum(0.1, parameters=[{"params": p[:1], "momentum": 0.5}, {"params": p[1:]}], weight_decay=0.1)
Momentum(0.1, parameters=[{"params": p[:1], "weight_decay": 0.5, "use_nesterov": True}, {"params": p[1:]}])
Adagrad(0.1, parameters=[{"params": p[:1], "epsilon": 0.5, "initial_accumulator_value": 0.3}, {"params": p[1:]}])
Adadelta(1.0, parameters=[{"params": p[:1], "rho": 0.5}, {"params": p[1:], "epsilon": 1e-3}])
Adam(0.1, parameters=[{"params": p[:1], "beta1": 0.5}, {"params": p[1:], "epsilon": 1e-3}], weight_decay=0.1)
Adam(lr.StepDecay(0.1, 3), parameters=[{"params": p[:1], "beta2": 0.9, "learning_rate": 0.1}, {"params": p[1:]}])
AdamW(0.1, parameters=[{"params": p[:1], "weight_decay": 0.5, "learning_rate": 0.5}, {"params": p[1:]}])
AdamW(0.1, parameters=[{"params": p[:1], "weight_decay": 0.0}, {"params": p[1:]}], weight_decay=0.5)
Adamax(0.1, parameters=[{"params": p[:1], "beta1": 0.5}, {"params": p[1:], "beta2": 0.9}])
RMSProp(0.1, parameters=[{"params": p[:1], "rho": 0.5, "momentum": 0.5}, {"params": p[1:], "centered": True}])
Lamb(0.1, parameters=[{"params": p[:1], "lamb_weight_decay": 0.5, "beta2": 0.9}, {"params": p[1:], "learning_rate": 0.5}])
SGD(0.1, parameters=own, weight_decay=0.1)
SGD(0.1, parameters=[{"params": own}], weight_decay=0.1)
SGD(0.1, parameters=[{"params": own, "learning_rate": 0.25}])
Momentum(0.1, parameters=own, weight_decay=0.1)
Adam(0.1, parameters=own)
Adam(0.1, parameters=[{"params": own, "weight_decay": 0.2}])
AdamW(0.1, parameters=own)
AdamW(0.1, parameters=[{"params": own, "weight_decay": 0.2}])
Lamb(0.1, parameters=own)
Lamb(0.1, parameters=[{"params": own, "learning_rate": 0.5}])
"""
CASES_OF_18 = """
SGD(0.1, parameter_list=p)
SGD(0.1, parameter_list=p, regularization=L2Decay(0.1))
SGD(0.1, p, L1Decay(0.1))
SGD(0.1, parameter_list=p, grad_clip=GradientClipByValue(0.5))
Momentum(0.1, 0.9, parameter_list=p)
Momentum(0.1, 0.8, parameter_list=p, use_nesterov=True, regularization=L2Decay(0.1))
Adagrad(0.1, parameter_list=p)
Adagrad(0.1, epsilon=1e-3, parameter_list=p, initial_accumulator_value=0.1)
DecayedAdagrad(0.1, parameter_list=p)
Adadelta(0.1, parameter_list=p)
Adadelta(0.5, epsilon=1e-3, rho=0.8, parameter_list=p)
Adam(parameter_list=p)
Adam(0.1, parameter_list=p)
Adam(0.1, 0.8, 0.95, 1e-3, p, L2Decay(0.1))
Adamax(0.1, parameter_list=p)
Adamax(0.1, 0.8, 0.95, 1e-3, parameter_list=p)
RMSProp(0.1, parameter_list=p)
RMSProp(0.1, rho=0.8, epsilon=1e-3, momentum=0.5, centered=True, parameter_list=p)
Ftrl(0.1, l1=0.01, l2=0.01, parameter_list=p)
LarsMomentum(0.1, 0.9, parameter_list=p)
Lamb(0.1, parameter_list=p)
Lamb(0.1, lamb_weight_decay=0.5, beta1=0.8, beta2=0.95, epsilon=1e-3, parameter_list=p)
Lamb(0.1, parameter_list=p, exclude_from_weight_decay_fn=lambda one: one.name == p[0].name)
"""

#: ``p`` is a table, of which each step looks some rows up
CASES_OF_TABLES = """
SGD(0.1, parameters=p, weight_decay=0.1)
Momentum(0.1, parameters=p)
Adam(0.1, parameters=p)
Adam(0.1, parameters=p, lazy_mode=True)
Adam(0.1, parameters=p, epsilon=0.5, lazy_mode=True)
"""
ROWS = [[1, 3, 1], [0, 1, 1], [3, 3, 0], [1, 1, 1]]


def names():
    """What stands in the expressions."""
    if OF_2:
        found = {**vars(paddle.optimizer), **vars(paddle.regularizer)}
        return {**found, **{n: v for n, v in vars(paddle.nn).items() if n.startswith("ClipGrad")}}
    fluid = paddle.fluid
    return {**vars(fluid.optimizer), **vars(fluid.regularizer), **vars(fluid.clip)}


def parameter(value, **attr):
    if OF_2:
        made = paddle.create_parameter([len(value)], "float32", attr=paddle.ParamAttr(**attr))
        made.set_value(np.array(value, "float32"))
        return made
    attr = paddle.fluid.ParamAttr(
        initializer=paddle.fluid.initializer.NumpyArrayInitializer(np.array(value, "float32")), **attr
    )
    return paddle.fluid.layers.create_parameter([len(value)], "float32", attr=attr)


def own_attributes():
    decay = paddle.regularizer.L2Decay if OF_2 else paddle.fluid.regularizer.L2Decay
    return {"learning_rate": 0.5, "regularizer": decay(0.3)}


def trajectory(case):
    """The values of all parameters after each step."""
    p = [parameter(value) for value, _ in PARAMETERS]
    own = [parameter(value, **own_attributes()) for value, _ in PARAMETERS] if "own" in case else p
    optimizer = eval(case, {**names(), "p": p, "own": own})
    found = []
    tensor = paddle.to_tensor if OF_2 else paddle.fluid.dygraph.to_variable
    total = paddle.sum if OF_2 else paddle.fluid.layers.reduce_sum
    for factor in FACTORS:
        losses = [
            total(w * tensor(np.array(g, "float32") * np.float32(factor)))
            for w, (_, g) in zip(own, PARAMETERS)
        ]
        loss = sum(losses[1:], losses[0])
        loss.backward()
        if OF_2:
            optimizer.step()
            optimizer.clear_grad()
            if not isinstance(optimizer._learning_rate, float):
                optimizer._learning_rate.step()
        else:
            optimizer.minimize(loss)
            for w in own:
                w.clear_gradient()
        found.append([w.numpy().tolist() for w in own])
    return [[[float("%.9g" % x) for x in w] for w in step] for step in found]


def table(case):
    """The table after each step; its gradients have some rows only."""
    embedding = paddle.nn.Embedding(4, 2, sparse=True)
    embedding.weight.set_value(np.full([4, 2], 0.5, "float32"))
    optimizer = eval(case, {**names(), "p": embedding.parameters()})
    found = []
    for rows in ROWS:
        (embedding(paddle.to_tensor(rows)) ** 2).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        found.append(embedding.weight.numpy().tolist())
    return found


def main():
    cases = [c for c in (CASES_OF_2 if OF_2 else CASES_OF_18).splitlines() if c]
    if OF_2:
        found = {case: trajectory(case) for case in cases}
        tables = {case: table(case) for case in CASES_OF_TABLES.splitlines() if case}
    else:
        with paddle.fluid.dygraph.guard(paddle.fluid.CPUPlace()):
            found = {case: trajectory(case) for case in cases}
    kept = json.loads(gzip.decompress(FILE.read_bytes()).decode()) if FILE.exists() else {}
    kept.update(parameters=PARAMETERS, factors=FACTORS, rows=ROWS)
    kept["paddle2" if OF_2 else "fluid18"] = found
    if OF_2:
        kept["tables"] = tables
    text = json.dumps(kept, sort_keys=True, separators=(",", ":")).encode()
    FILE.write_bytes(gzip.compress(text, 9, mtime=0) if OF_2 else gzip.compress(text, 9))


if __name__ == "__main__":
    main()
