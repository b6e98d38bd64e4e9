"""Learning to learn: sine curves, steps within a step, gradients through them."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Learner(nn.Layer):
    """A net that can be called with other parameters than its own."""

    def __init__(self, width=16):
        super().__init__()
        init = nn.initializer.TruncatedNormal(std=0.3)
        self.params = nn.ParameterList()
        for shape in ([1, width], [width], [width, width], [width], [width, 1], [1]):
            start = init if len(shape) == 2 else nn.initializer.Constant(0.0)
            self.params.append(paddle.create_parameter(shape, "float32", default_initializer=start))

    def forward(self, x, params=None):
        w1, b1, w2, b2, w3, b3 = list(self.params) if params is None else params
        hidden = paddle.tanh(F.linear(x, w1, b1))
        hidden = F.silu(paddle.matmul(hidden, w2) + b2)
        return paddle.matmul(hidden, w3) + b3


def tasks(random, count):
    """Points of curves that differ in height and place: to learn from, and to be judged by."""
    for _ in range(count):
        height, place = random.uniform(0.5, 2.0), random.uniform(0, np.pi)
        x = random.uniform(-3, 3, [20, 1]).astype("float32")
        y = (height * np.sin(x + place)).astype("float32")
        yield tuple(map(paddle.to_tensor, (x[:10], y[:10], x[10:], y[10:])))


def adapted(model, x, y, steps, rate, second_order):
    """The parameters behind some steps; the model's own stay."""
    params = list(model.params)
    for _ in range(steps):
        loss = F.mse_loss(model(x, params), y)
        grads = paddle.grad(loss, params, create_graph=second_order)
        params = [p - rate * g for p, g in zip(params, grads)]
    return params


def main():
    paddle.seed(21)
    random = np.random.RandomState(21)
    model = Learner()
    warm = paddle.optimizer.lr.LinearWarmup(0.01, warmup_steps=5, start_lr=0.001, end_lr=0.01)
    optimizer = paddle.optimizer.Adamax(
        warm, parameters=model.parameters(), grad_clip=nn.ClipGradByNorm(2.0)
    )
    for step in range(20):
        loss = paddle.zeros([])
        for x, y, x_test, y_test in tasks(random, 3):
            params = adapted(model, x, y, 2, 0.05, second_order=step >= 5)
            loss = loss + F.mse_loss(model(x_test, params), y_test) / 3
        optimizer.clear_grad()
        loss.backward()
        optimizer.step()
        warm.step()
        print(f"step {step} loss {loss.item():.7f} rate {optimizer.get_lr():.4f}")
    x, y, x_test, y_test = next(tasks(random, 1))
    with paddle.no_grad():
        before = F.l1_loss(model(x_test), y_test).item()
    after = F.l1_loss(model(x_test, adapted(model, x, y, 5, 0.05, False)), y_test).item()
    print(f"new curve {before:.6f} {after:.6f}")


if __name__ == "__main__":
    main()
