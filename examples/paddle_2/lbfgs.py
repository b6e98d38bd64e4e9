"""Curves fitted by L-BFGS: the optimizer with a closure, and the function that minimises."""

import numpy as np
import paddle
from paddle import nn
from paddle.incubate.optimizer.functional import minimize_lbfgs


class Damped(nn.Layer):
    """a * exp(-b * t) * cos(w * t + p)"""

    def __init__(self):
        super().__init__()
        for name, value in {"a": 0.8, "b": 0.5, "w": 2.5, "p": 0.2}.items():
            start = nn.initializer.Constant(value)
            parameter = self.create_parameter([1], attr=paddle.ParamAttr(initializer=start))
            self.add_parameter(name, parameter)

    def forward(self, t):
        return self.a * paddle.exp(-self.b * t) * paddle.cos(self.w * t + self.p)


def rosenbrock(x):
    return 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2


def main():
    random = np.random.RandomState(4)
    t = paddle.linspace(0.0, 4.0, 50)
    seen = 1.2 * paddle.exp(-0.3 * t) * paddle.cos(3.0 * t + 0.5)
    seen = seen + paddle.to_tensor(0.01 * random.randn(50).astype("float32"))
    model = Damped()
    for search in (None, "strong_wolfe"):
        optimizer = paddle.optimizer.LBFGS(
            learning_rate=0.5, max_iter=3, history_size=5, line_search_fn=search,
            parameters=model.parameters(),
        )  # fmt: skip

        def closure(optimizer=optimizer):
            optimizer.clear_grad()
            loss = nn.functional.mse_loss(model(t), seen)
            loss.backward()
            return loss

        for step in range(10):
            loss = optimizer.step(closure)
            print(f"step {step} loss {loss.item():.8f}")
    print("found", " ".join(f"{p.item():.5f}" for p in model.parameters()))

    paddle.set_default_dtype("float64")
    start = paddle.to_tensor([-1.2, 1.0])
    done, _, x, value, _ = minimize_lbfgs(rosenbrock, start, max_iters=100, dtype="float64")
    print(bool(done), [round(v, 5) for v in x.tolist()], f"{value.item():.8f}")
    paddle.set_default_dtype("float32")


if __name__ == "__main__":
    main()
