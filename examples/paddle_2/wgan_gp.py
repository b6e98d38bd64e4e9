"""A GAN whose critic is held smooth by the length of its gradients: gradients of gradients."""

import itertools

import numpy as np
import paddle
import paddle.nn as nn


def weights_init(layer):
    """Weights from a narrow normal distribution, as the guides of GANs do."""
    if isinstance(layer, nn.Linear):
        nn.initializer.Normal(mean=0.0, std=0.2)(layer.weight)
        nn.initializer.Constant(0.01)(layer.bias)


def mlp(*sizes):
    layers = []
    for into, out in itertools.pairwise(sizes[:-1]):
        layers += [nn.Linear(into, out), nn.Softplus(beta=2.0)]
    return nn.Sequential(*layers, nn.Linear(*sizes[-2:]))


def gradient_penalty(critic, real, fake):
    share = paddle.uniform([real.shape[0], 1], min=0.0, max=1.0)
    between = share * real + (1 - share) * fake
    between.stop_gradient = False
    grads = paddle.grad(
        outputs=critic(between), inputs=between, create_graph=True, retain_graph=True,
        only_inputs=True,
    )[0]  # fmt: skip
    return ((grads.norm(p=2, axis=1) - 1.0) ** 2).mean()


def ring(random, count):
    angles = random.rand(count) * 2 * np.pi
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return paddle.to_tensor(points + 0.05 * random.randn(count, 2), dtype="float32")


def main():
    paddle.seed(8)
    random = np.random.RandomState(8)
    generator, critic = mlp(3, 12, 2), mlp(2, 12, 8, 1)
    generator.apply(weights_init)
    critic.apply(weights_init)
    schedule = paddle.optimizer.lr.MultiStepDecay(0.01, milestones=[8, 16], gamma=0.5)
    g_optimizer = paddle.optimizer.Adam(
        schedule, beta1=0.0, beta2=0.9, parameters=generator.parameters()
    )
    c_optimizer = paddle.optimizer.Adam(
        schedule, beta1=0.0, beta2=0.9, parameters=critic.parameters()
    )
    for step in range(20):
        for _ in range(2):
            real = ring(random, 16)
            with paddle.no_grad():
                fake = generator(paddle.randn([16, 3]))
            penalty = gradient_penalty(critic, real, fake)
            c_loss = critic(fake).mean() - critic(real).mean() + 10.0 * penalty
            c_optimizer.clear_grad()
            c_loss.backward()
            c_optimizer.step()
        for parameter in critic.parameters():
            parameter.trainable = False
        g_loss = -critic(generator(paddle.standard_normal([16, 3]))).mean()
        g_optimizer.clear_grad()
        g_loss.backward()
        g_optimizer.step()
        for parameter in critic.parameters():
            parameter.trainable = True
        schedule.step()
        print(f"step {step} critic {c_loss.item():.6f} generator {g_loss.item():.7f}")
    length = generator(paddle.randn([64, 3])).norm(axis=1)
    print(f"lengths {length.mean().item():.5f} {length.std().item():.5f}")


if __name__ == "__main__":
    main()
