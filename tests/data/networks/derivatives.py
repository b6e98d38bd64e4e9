"""Trainings by derivatives of derivatives, and with averages, in torch; ``tests/networks`` has the
same in ``test_derivatives.py`` and ``test_averages.py``.
"""

from itertools import pairwise

import torch
import torch.nn.functional as F
from numbers_of_torch import STEPS, network, trained
from torch import nn
from torch.func import functional_call, grad, vmap


def layered(*sizes, between=nn.Tanh):
    parts = []
    for inputs, outputs in pairwise(sizes):
        parts += [nn.Linear(inputs, outputs), between()]
    return nn.Sequential(*parts[:-1])


@network
def wgan_gp(numbers):
    critic = numbers.begin(layered(2, 8, 8, 1))
    generator = numbers.begin(layered(3, 8, 2, between=lambda: nn.LeakyReLU(0.25)))
    of_critic = torch.optim.Adam(critic.parameters(), lr=0.01, betas=(0.5, 0.9))
    of_generator = torch.optim.Adam(generator.parameters(), lr=0.01, betas=(0.5, 0.9))
    losses = []
    for step in range(STEPS):
        for turn in range(2):
            real = numbers.data(f"real {step} {turn}", 6, 2) + 1.0
            made = generator(numbers.data(f"seed {step} {turn}", 6, 3)).detach()
            share = torch.sigmoid(numbers.data(f"share {step} {turn}", 6, 1))
            between = (share * real + (1 - share) * made).requires_grad_()
            (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
            penalty = ((slope.norm(dim=1) - 1) ** 2).mean()
            loss = critic(made).mean() - critic(real).mean() + 10 * penalty
            of_critic.zero_grad()
            loss.backward()
            of_critic.step()
        of_generator.zero_grad()
        (-critic(generator(numbers.data(f"seed {step}", 6, 3))).mean()).backward()
        of_generator.step()
        losses.append(loss.item())
    return losses


@network
def pinn(numbers):
    """The equation of Korteweg and de Vries."""
    net = numbers.begin(layered(2, 8, 8, 1))
    x, t = (numbers.data(name, 12, 1).requires_grad_() for name in ("places", "times"))
    adam = torch.optim.Adam(net.parameters(), lr=0.01)
    slope = lambda y, z: torch.autograd.grad(y.sum(), z, create_graph=True)[0]

    def loss(_):
        u = net(torch.cat([x, t], 1))
        ux = slope(u, x)
        residue = slope(u, t) + 6 * u * ux + slope(slope(ux, x), x)
        begin = net(torch.cat([x, torch.zeros_like(x)], 1)) - 0.5 / torch.cosh(0.5 * x) ** 2
        return (residue**2).mean() + (begin**2).mean()

    return trained(adam, loss)


@network
def neural_ode(numbers):
    net = numbers.begin(layered(2, 8, 2))
    begin, wanted = numbers.data("states", 5, 2), numbers.data("later states", 5, 2)
    adam = torch.optim.Adam(net.parameters(), lr=0.02)

    def loss(_):
        y, h = begin, 0.25
        for _ in range(4):
            k1 = net(y)
            k2 = net(y + h / 2 * k1)
            k3 = net(y + h / 2 * k2)
            k4 = net(y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return F.mse_loss(y, wanted)

    return trained(adam, loss)


@network
def lookahead_and_averages(numbers):
    """The losses, and at the end those of the averages, exponential and of all steps."""
    weights = [
        numbers.leaf(name, *shape)
        for name, shape in (("w1", (4, 6)), ("b1", (6,)), ("w2", (6, 1)), ("b2", (1,)))
    ]
    x, y = numbers.data("x", 16, 4), numbers.data("y", 16, 1)

    def loss(w1, b1, w2, b2):
        return F.mse_loss(torch.tanh(x @ w1 + b1) @ w2 + b2, y)

    slow = [w.detach().clone() for w in weights]
    moving = [torch.zeros_like(w) for w in weights]
    total = [torch.zeros_like(w) for w in weights]
    sgd, losses = torch.optim.SGD(weights, lr=0.25), []
    for step in range(1, STEPS + 1):
        sgd.zero_grad()
        value = loss(*weights)
        value.backward()
        sgd.step()
        with torch.no_grad():
            if step % 4 == 0:
                for w, s in zip(weights, slow):
                    s += 0.5 * (w - s)
                    w.copy_(s)
            for w, m, t in zip(weights, moving, total):
                m.copy_(0.875 * m + 0.125 * w)
                t += w
        losses.append(value.item())
    with torch.no_grad():
        losses.append(loss(*(m / (1 - 0.875**STEPS) for m in moving)).item())
        losses.append(loss(*(t / STEPS for t in total)).item())
    return losses


@network
def maml(numbers):
    weights = [
        numbers.leaf(name, *shape)
        for name, shape in (("w1", (1, 8)), ("b1", (8,)), ("w2", (8, 1)), ("b2", (1,)))
    ]
    adam = torch.optim.Adam(weights, lr=0.01)

    def loss_on(weights, x, shift):
        w1, b1, w2, b2 = weights
        return F.mse_loss(torch.tanh(x @ w1 + b1) @ w2 + b2, torch.sin(x + shift))

    def loss(step):
        total = 0.0
        for task in range(3):
            x, shift = numbers.data(f"points {step} {task}", 6, 1), 0.5 * task
            own = weights
            for _ in range(2):
                slopes = torch.autograd.grad(loss_on(own, x, shift), own, create_graph=True)
                own = [w - 0.1 * s for w, s in zip(own, slopes)]
            total = total + loss_on(own, numbers.data(f"tests {step} {task}", 6, 1), shift)
        return total

    return trained(adam, loss)


def equilibrium(w, u, b, x):
    return torch.tanh(0.5 * x @ w + u + b)


class FixedPoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w, u, b):
        z = torch.zeros_like(u)
        for _ in range(80):
            z = equilibrium(w, u, b, z)
        ctx.save_for_backward(w, u, b, z)
        return z

    @staticmethod
    def backward(ctx, gradient):
        w, u, b, z = (v.detach().requires_grad_() for v in ctx.saved_tensors)
        with torch.enable_grad():
            again = equilibrium(w, u, b, z)
        v = gradient
        for _ in range(80):
            v = gradient + torch.autograd.grad(again, z, v, retain_graph=True)[0]
        return torch.autograd.grad(again, (w, u, b), v)


@network
def implicit_differentiation(numbers):
    w, u, b, out = (
        numbers.leaf(name, *shape)
        for name, shape in (("w", (5, 5)), ("u", (3, 5)), ("b", (5,)), ("out", (5, 1)))
    )
    x, y = numbers.data("x of points", 7, 3), numbers.data("y of points", 7, 1)
    sgd = torch.optim.SGD([w, u, b, out], lr=0.25)
    return trained(sgd, lambda _: F.mse_loss(FixedPoint.apply(w, x @ u, b) @ out, y))


@network
def per_sample_gradients(numbers):
    """Those of each sample are clipped, as for differential privacy."""
    net = numbers.begin(layered(4, 6, 3))
    x, labels = numbers.data("rows", 8, 4), numbers.integers("kinds of rows", 3, 8)
    weights = {name: w.detach() for name, w in net.named_parameters()}

    def loss(weights, x, label):
        return F.cross_entropy(functional_call(net, weights, (x[None],)), label[None])

    losses = []
    for _ in range(STEPS):
        losses.append(vmap(loss, (None, 0, 0))(weights, x, labels).mean().item())
        slopes = vmap(grad(loss), (None, 0, 0))(weights, x, labels)
        norms = sum((s.flatten(1) ** 2).sum(1) for s in slopes.values()).sqrt()
        factor = (0.5 / norms).clamp(max=1.0)
        for name, slope in slopes.items():
            share = factor.reshape(-1, *[1] * (slope.dim() - 1))
            weights[name] = weights[name] - 0.5 * (share * slope).mean(0)
    return losses
