"""A GAN whose critic is kept smooth by a penalty on its gradient: second-order derivatives.

The generator learns to place points on a ring.  The critic's loss holds the norm of its own
gradient with respect to the points, so that training it differentiates a gradient.

(Gulrajani et al., Improved training of Wasserstein GANs, NIPS 2017.)

python examples/gan_gradient_penalty.py          trains, prints, draws gan_gradient_penalty.svg
python examples/gan_gradient_penalty.py --quick  fewer steps, no picture
"""

import argparse

import numpy as np

import fluidlite as fluid
from fluidlite import dygraph, layers

NOISE, HIDDEN, BATCH, PENALTY = 2, 32, 64, 1.0


def ring(random):
    """Points [BATCH, 2] around the circle of radius 2."""
    angle = random.uniform(0, 2 * np.pi, BATCH)
    radius = 2 + 0.05 * random.normal(size=BATCH)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return dygraph.to_variable(points.astype("float32"))


def net(inputs, outputs):
    return dygraph.Sequential(
        dygraph.Linear(inputs, HIDDEN, act="relu"),
        dygraph.Linear(HIDDEN, HIDDEN, act="relu"),
        dygraph.Linear(HIDDEN, outputs),
    )


def adam(layer):
    parameters = layer.parameters()
    return fluid.optimizer.Adam(1e-3, beta1=0.5, beta2=0.9, parameter_list=parameters)


def gradient_penalty(critic, real, fake, random):
    """How far the critic's slope is from 1, between real points and fake ones."""
    share = dygraph.to_variable(random.uniform(size=[BATCH, 1]).astype("float32"))
    between = (real * share + fake * (1.0 - share)).detach()
    between.stop_gradient = False
    (slope,) = dygraph.grad([critic(between)], [between], create_graph=True)
    length = layers.sqrt(layers.reduce_sum(layers.square(slope), dim=1) + 1e-8)
    return layers.reduce_mean(layers.square(length - 1.0))


def main():
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    quick = parser.parse_args().quick
    steps = 30 if quick else 600
    random = np.random.default_rng(0)

    with dygraph.guard():
        fluid.seed(0)
        generator, critic = net(NOISE, 2), net(2, 1)
        of_generator, of_critic = adam(generator), adam(critic)

        def fakes():
            noise = random.normal(size=[BATCH, NOISE]).astype("float32")
            return generator(dygraph.to_variable(noise))

        for step in range(steps + 1):
            for _ in range(5):
                real, fake = ring(random), fakes().detach()
                penalty = gradient_penalty(critic, real, fake, random)
                distance = layers.mean(critic(real)) - layers.mean(critic(fake))
                loss = penalty * PENALTY - distance
                loss.backward()
                of_critic.minimize(loss)
                critic.clear_gradients()
            loss = layers.mean(critic(fakes())) * -1.0
            loss.backward()
            of_generator.minimize(loss)
            generator.clear_gradients()
            critic.clear_gradients()
            if step % (steps // 6) == 0:
                radius = np.linalg.norm(fakes().numpy(), axis=1)
                print(
                    f"step {step:4d}  distance {distance.item():6.3f}  penalty "
                    f"{penalty.item():.3f}  radius {radius.mean():.2f} +- {radius.std():.2f}"
                )
        if not quick:
            from matplotlib.figure import Figure

            figure = Figure(figsize=(4, 4), layout="constrained")
            axes = figure.subplots()
            for points, name in ((ring(random), "real"), (fakes(), "made")):
                axes.plot(*points.numpy().T, ".", label=name)
            axes.legend(loc="center")
            figure.savefig("gan_gradient_penalty.svg")


if __name__ == "__main__":
    main()
