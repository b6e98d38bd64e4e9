"""Losses and optimizers of random programs."""

from .net import CLASSES


def term(net, rng, value):
    """A number that depends on every element of a value."""
    f = net.layers
    weights = net.constant(rng, value.shape[1:])
    part = f.elementwise_mul(value.var, weights, axis=1)
    return f.reshape(f.mean(part), [1])


def classes(net, rng):
    """A cross entropy, or another usual loss."""
    f, value = net.layers, net.matrix(rng)
    how = rng.randrange(6)
    if how < 4:
        label = net.data("label", (None, 1), "int64", CLASSES).var
        logits = f.fc(value.var, CLASSES)
        if how == 0:
            p = f.softmax(logits)
            loss = f.cross_entropy(p, label)
            net.interesting.append(p.name)
        elif how == 1:
            loss = f.cross_entropy(f.fc(value.var, CLASSES, act="softmax"), label)
        elif how == 2:
            loss = f.softmax_with_cross_entropy(logits, label)
        else:
            loss, p = f.softmax_with_cross_entropy(logits, label, return_softmax=True)
            net.interesting.append(p.name)
    elif how == 4:
        y = net.data("y", (None, 1)).var
        loss = f.square_error_cost(f.fc(value.var, 1), y)
    else:
        y = net.data("y", (None, 1)).var
        logits = f.fc(value.var, 1)
        loss = f.sigmoid_cross_entropy_with_logits(logits, f.sigmoid(y))
    net.interesting.append(loss.name)
    net.losses.append(f.reshape(f.mean(loss), [1]))


def loss_of(net, rng):
    """The sum of the terms of a loss."""
    f = net.layers
    unused = [value for value in net.values if value.var.name not in net.used]
    for value in unused[-4:] or net.values[-1:]:
        if not value.var.stop_gradient:
            net.losses.append(term(net, rng, value))
    if not net.losses:
        net.losses.append(term(net, rng, net.add(f.fc(net.matrix(rng).var, 3), (None, 3))))
    total = net.losses[0] if len(net.losses) == 1 else f.sums(net.losses)
    return f.mean(total)


def rate(net, rng, base):
    """A learning rate: a number, or one that changes."""
    f, how = net.layers, rng.randrange(12)
    if how >= len(DECAYS):
        return base
    made = DECAYS[how](f, base)
    return made if net.dtype == "float32" else f.cast(made, net.dtype)


DECAYS = [
    lambda f, base: f.exponential_decay(base, decay_steps=2, decay_rate=0.8, staircase=True),
    lambda f, base: f.natural_exp_decay(base, decay_steps=3, decay_rate=0.5),
    lambda f, base: f.piecewise_decay([2, 4], [base, base * 0.5, base * 0.1]),
    lambda f, base: f.polynomial_decay(base, 4, end_learning_rate=base / 10),
    lambda f, base: f.linear_lr_warmup(base, 3, base / 10, base),
    lambda f, base: f.cosine_decay(base, 2, 5),
    lambda f, base: f.inverse_time_decay(base, 2, 0.5),
]


def kind_of_optimizer(rng, whole):
    """The name of an optimizer; empty where there are gradients only."""
    kinds = sorted(OPTIMIZERS) if whole else sorted(set(OPTIMIZERS) - {"Dpsgd"})
    return rng.choice(kinds + ["SGD", "Adam", "Adam", "Momentum", ""])


def optimizer(net, rng):
    """An optimizer, with clipping and decay of weights now and then."""
    fluid, o = net.fluid, net.fluid.optimizer
    decay = clip = None
    if rng.random() < 0.25:
        decay = fluid.regularizer.L2Decay(0.02)
        if rng.random() < 0.3:
            decay = fluid.regularizer.L1Decay(0.004)
    if rng.random() < 0.3:
        clip = rng.choice(
            [
                fluid.clip.GradientClipByGlobalNorm(0.3),
                fluid.clip.GradientClipByNorm(0.1),
                fluid.clip.GradientClipByValue(0.05),
            ]
        )
    more = {"regularization": decay, "grad_clip": clip}
    name = net.header.optimizer
    base, options = OPTIMIZERS[name]
    given = dict(rng.choice(options))
    if name == "Dpsgd":
        more = {}
    return getattr(o, name)(rate(net, rng, base), **dict(given, **more))


#: those that are right about gradients of some rows in the real system: Momentum and RMSProp leave
#: rows out where their numbers do not ascend, others refuse them
SPARSE = ("SGD", "Adam", "Adagrad", "")
OPTIMIZERS = {
    "SGD": (0.1, [{}]),
    "Momentum": (0.05, [{"momentum": 0.9}, {"momentum": 0.8, "use_nesterov": True}]),
    "Adam": (0.01, [{"epsilon": 1e-3}, {"beta1": 0.8, "beta2": 0.99, "epsilon": 1e-3}]),
    "Adamax": (0.01, [{"epsilon": 1e-3}]),
    "Adagrad": (0.05, [{"initial_accumulator_value": 0.1}]),
    "DecayedAdagrad": (0.02, [{"epsilon": 1e-2}]),
    "Adadelta": (0.5, [{"epsilon": 1e-3}]),
    "RMSProp": (
        0.01,
        [
            {"epsilon": 1e-2},
            {"epsilon": 1e-2, "momentum": 0.5},
            {"epsilon": 1e-2, "centered": True},
        ],
    ),
    # without l1, gradients that are zero but for rounding make steps of full size
    "Ftrl": (0.05, [{"l1": 0.01, "l2": 0.01}]),
    "Lamb": (0.01, [{"lamb_weight_decay": 0.05, "epsilon": 1e-3}]),
    "LarsMomentum": (0.05, [{"momentum": 0.9, "lars_coeff": 0.1}]),
    "Dpsgd": (0.05, [{"clip": 10.0, "batch_size": 16.0, "sigma": 0.1}]),
}
