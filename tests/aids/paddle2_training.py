"""Trainings of a small network by each optimizer of paddle 2, for the real one and ours."""

import numpy as np

STEPS = 20
_DRAWN = np.random.RandomState(0)
_FIRST, _BIAS, _SECOND = (_DRAWN.randn(*shape).astype("float32") for shape in ([3, 4], [4], [4, 2]))
_INPUTS = _DRAWN.randn(STEPS, 5, 3).astype("float32")
_TARGETS = _DRAWN.randn(STEPS, 5, 2).astype("float32")


def _no_bias(parameter):
    return "b_" in parameter.name


#: what a case is called -> the class, and arguments besides those of all
OPTIMIZERS = {
    **{
        kind: (kind, {})
        for kind in ("SGD", "Momentum", "Adagrad", "Adadelta", "Adam", "AdamW", "Adamax", "RMSProp")
    },
    "Lamb": ("Lamb", {"lamb_weight_decay": 0.2}),
    "Lamb without biases": ("Lamb", {"exclude_from_weight_decay_fn": _no_bias}),
    "Lamb of all": ("Lamb", {"exclude_from_weight_decay_fn": _no_bias, "always_adapt": True}),
    "Nesterov": ("Momentum", {"momentum": 0.8, "use_nesterov": True}),
    "centered": ("RMSProp", {"momentum": 0.5, "centered": True, "epsilon": 1e-5}),
    "AdamW of matrices": (
        "AdamW",
        {"apply_decay_param_fun": lambda name: ".b_" not in name, "weight_decay": 0.3},
    ),
}
#: static mode, a plain training or one with all options, and groups of parameters
WAYS = ["eager plain", "eager all", "eager groups", "static plain", "static all"]


def _layers(paddle):
    nn, attr, assign = paddle.nn, paddle.ParamAttr, paddle.nn.initializer.Assign
    first = nn.Linear(
        3,
        4,
        weight_attr=attr(initializer=assign(_FIRST), need_clip=False),
        bias_attr=attr(initializer=assign(_BIAS), learning_rate=0.5),
    )
    decay = paddle.regularizer.L2Decay(0.02)
    weights = attr(initializer=assign(_SECOND), regularizer=decay)
    return first, nn.Linear(4, 2, weight_attr=weights, bias_attr=False)


def _loss(paddle, layers, inputs, targets):
    first, second = layers
    return ((second(paddle.tanh(first(inputs))) - targets) ** 2).mean()


def _optimizer(paddle, case, way, parameters):
    kind, options = OPTIMIZERS[case]
    lr, nn = paddle.optimizer.lr, paddle.nn
    rate = lr.StepDecay(0.05, 3, 0.5)
    if way != "plain":
        rate = lr.LinearWarmup(lr.CosineAnnealingDecay(0.05, 10), 4, 0.0, 0.05)
        options = {**options, "grad_clip": nn.ClipGradByGlobalNorm(0.5)}
        if kind not in ("Lamb", "AdamW"):
            options["weight_decay"] = 0.04
    if way == "groups":
        parameters = [
            {"params": parameters[:1], "learning_rate": 0.3, "weight_decay": 0.03},
            {"params": parameters[1:], "grad_clip": nn.ClipGradByNorm(0.2)},
        ]
    options = {**options, "parameters": parameters}
    return getattr(paddle.optimizer, kind)(rate, **options), rate


def trained(paddle, case, way):
    """The losses of twenty steps, and the sums of the parameters after them."""
    mode, options = way.split()
    return (_eager if mode == "eager" else _static)(paddle, case, options)


def _eager(paddle, case, options):
    layers = _layers(paddle)
    parameters = [each for layer in layers for each in layer.parameters()]
    optimizer, rate = _optimizer(paddle, case, options, parameters)
    losses = []
    for inputs, targets in zip(_INPUTS, _TARGETS):
        loss = _loss(paddle, layers, paddle.to_tensor(inputs), paddle.to_tensor(targets))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        rate.step()
        losses.append(float(loss))
    return losses + [float(each.numpy().astype("float64").sum()) for each in parameters]


def _static(paddle, case, options):
    static = paddle.static
    main, start = static.Program(), static.Program()
    paddle.enable_static()
    try:
        with static.program_guard(main, start):
            inputs = static.data("inputs", [5, 3], "float32")
            targets = static.data("targets", [5, 2], "float32")
            loss = _loss(paddle, _layers(paddle), inputs, targets)
            optimizer, rate = _optimizer(paddle, case, options, None)
            optimizer.minimize(loss)
        executor, losses = static.Executor(paddle.CPUPlace()), []
        executor.run(start)
        for fed in zip(_INPUTS, _TARGETS):
            found = executor.run(main, dict(zip(("inputs", "targets"), fed)), [loss])
            losses.append(float(np.asarray(found[0]).reshape(-1)[0]))
            rate.step()
        scope = static.global_scope()
        values = [np.array(scope.find_var(p.name).get_tensor()) for p in main.all_parameters()]
        return losses + [float(each.astype("float64").sum()) for each in values]
    finally:
        paddle.disable_static()
