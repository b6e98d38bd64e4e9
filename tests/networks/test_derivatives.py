"""Trainings by derivatives of derivatives lose what they lose in torch, step by step."""

from itertools import pairwise

from network_values import STEPS
from torch_losses import FlowNumbers, Numbers, assert_as_torch, in_both_precisions, trained

import fluidlite as fluid
from fluidlite import autograd, flow, nn

F = nn.functional


def layered(*sizes, between=nn.Tanh):
    parts = []
    for inputs, outputs in pairwise(sizes):
        parts += [nn.Linear(inputs, outputs), between()]
    return nn.Sequential(*parts[:-1])


@in_both_precisions
def test_a_wasserstein_gan_with_a_penalty_on_slopes(dtype):
    numbers = Numbers(dtype)
    critic = numbers.begin(layered(2, 8, 8, 1))
    generator = numbers.begin(layered(3, 8, 2, between=lambda: nn.LeakyReLU(0.25)))
    of_critic, of_generator = (
        fluid.optimizer.Adam(0.01, beta1=0.5, beta2=0.9, parameters=net.parameters())
        for net in (critic, generator)
    )
    losses = []
    for step in range(STEPS):
        for turn in range(2):
            real = numbers.data(f"real {step} {turn}", 6, 2) + 1.0
            made = generator(numbers.data(f"seed {step} {turn}", 6, 3)).detach()
            share = F.sigmoid(numbers.data(f"share {step} {turn}", 6, 1))
            between = share * real + (1 - share) * made
            between.stop_gradient = False
            (slope,) = fluid.grad(critic(between).sum(), between, create_graph=True)
            penalty = ((fluid.norm(slope, axis=1) - 1) ** 2).mean()
            loss = critic(made).mean() - critic(real).mean() + 10 * penalty
            of_critic.clear_grad()
            loss.backward()
            of_critic.step()
        of_generator.clear_grad()
        (-critic(generator(numbers.data(f"seed {step}", 6, 3))).mean()).backward()
        of_generator.step()
        losses.append(loss.item())
    assert_as_torch("wgan_gp", losses, dtype)


@in_both_precisions
def test_a_differential_equation_of_third_order(dtype):
    numbers = Numbers(dtype)
    net = numbers.begin(layered(2, 8, 8, 1))
    x, t = numbers.data("places", 12, 1), numbers.data("times", 12, 1)
    x.stop_gradient = t.stop_gradient = False
    adam = fluid.optimizer.Adam(0.01, parameters=net.parameters())
    slope = lambda y, z: fluid.grad(y.sum(), z, create_graph=True)[0]

    def loss(_):
        u = net(fluid.concat([x, t], 1))
        ux = slope(u, x)
        residue = slope(u, t) + 6 * u * ux + slope(slope(ux, x), x)
        begin = net(fluid.concat([x, fluid.zeros_like(x)], 1)) - 0.5 / fluid.cosh(0.5 * x) ** 2
        return (residue**2).mean() + (begin**2).mean()

    assert_as_torch("pinn", trained(adam, loss), dtype)


@in_both_precisions
def test_an_ordinary_differential_equation_by_a_network(dtype):
    numbers = FlowNumbers(dtype)
    net = numbers.begin(
        flow.nn.Sequential(flow.nn.Linear(2, 8), flow.nn.Tanh(), flow.nn.Linear(8, 2))
    )
    begin, wanted = numbers.data("states", 5, 2), numbers.data("later states", 5, 2)
    adam = flow.optim.Adam(net.parameters(), lr=0.02)

    def loss(_):
        y, h = begin, 0.25
        for _ in range(4):
            k1 = net(y)
            k2 = net(y + h / 2 * k1)
            k3 = net(y + h / 2 * k2)
            k4 = net(y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return flow.nn.functional.mse_loss(y, wanted)

    assert_as_torch("neural_ode", trained(adam, loss), dtype)


@in_both_precisions
def test_learning_to_learn(dtype):
    numbers = FlowNumbers(dtype)
    weights = [
        numbers.leaf(name, *shape)
        for name, shape in (("w1", (1, 8)), ("b1", (8,)), ("w2", (8, 1)), ("b2", (1,)))
    ]
    adam = flow.optim.Adam(weights, lr=0.01)

    def loss_on(weights, x, shift):
        w1, b1, w2, b2 = weights
        found = flow.tanh(x @ w1 + b1) @ w2 + b2
        return flow.nn.functional.mse_loss(found, flow.sin(x + shift))

    def loss(step):
        total = 0.0
        for task in range(3):
            x, shift = numbers.data(f"points {step} {task}", 6, 1), 0.5 * task
            own = weights
            for _ in range(2):
                slopes = flow.autograd.grad(loss_on(own, x, shift), own, create_graph=True)
                own = [w - 0.1 * s for w, s in zip(own, slopes)]
            total = total + loss_on(own, numbers.data(f"tests {step} {task}", 6, 1), shift)
        return total

    assert_as_torch("maml", trained(adam, loss), dtype)


def equilibrium(w, u, b, x):
    return fluid.tanh(0.5 * x @ w + u + b)


class FixedPoint(autograd.PyLayer):
    @staticmethod
    def forward(ctx, w, u, b):
        z = fluid.zeros_like(u)
        for _ in range(80):
            z = equilibrium(w, u, b, z)
        ctx.save_for_backward(w, u, b, z)
        return z

    @staticmethod
    def backward(ctx, gradient):
        w, u, b, z = (v.detach() for v in ctx.saved_tensor())
        for each in (w, u, b, z):
            each.stop_gradient = False
        with fluid.enable_grad():
            again = equilibrium(w, u, b, z)
        v = gradient
        for _ in range(80):
            v = gradient + fluid.grad(again, z, v, retain_graph=True)[0]
        return tuple(fluid.grad(again, [w, u, b], v))


@in_both_precisions
def test_the_derivative_of_a_fixed_point(dtype):
    numbers = Numbers(dtype)
    w, u, b, out = (
        numbers.leaf(name, *shape)
        for name, shape in (("w", (5, 5)), ("u", (3, 5)), ("b", (5,)), ("out", (5, 1)))
    )
    x, y = numbers.data("x of points", 7, 3), numbers.data("y of points", 7, 1)
    sgd = fluid.optimizer.SGD(0.25, parameters=[w, u, b, out])
    loss = lambda _: F.mse_loss(FixedPoint.apply(w, x @ u, b) @ out, y)
    assert_as_torch("implicit_differentiation", trained(sgd, loss), dtype)


@in_both_precisions
def test_gradients_of_each_sample(dtype):
    numbers = Numbers(dtype)
    net = numbers.begin(layered(4, 6, 3))
    x, labels = numbers.data("rows", 8, 4), numbers.integers("kinds of rows", 3, 8)
    parameters = net.parameters()
    losses = []
    for _ in range(STEPS):
        each = F.cross_entropy(net(x), labels, reduction="none")
        slopes = autograd.vmap(
            lambda row, label: tuple(
                fluid.grad(F.cross_entropy(net(row.unsqueeze(0)), label.unsqueeze(0)), parameters)
            )
        )(x, labels)
        norms = sum((s.reshape([8, -1]) ** 2).sum(1) for s in slopes).sqrt()
        factor = (0.5 / norms).clip(max=1.0)
        for parameter, slope in zip(parameters, slopes):
            share = factor.reshape([-1] + [1] * (slope.ndim - 1))
            parameter.set_value(parameter - 0.5 * (share * slope).mean(0))
        losses.append(each.mean().item())
    assert_as_torch("per_sample_gradients", losses, dtype)
