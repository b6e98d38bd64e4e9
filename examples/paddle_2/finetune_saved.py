"""A network becomes a program: control flow, jit.save, jit.load, and its last layer tuned."""

import os

import numpy as np
import paddle
import paddle.nn as nn
from paddle.static import InputSpec


class Gated(nn.Layer):
    """A number of passes that depends on the values, and a branch for large ones."""

    def __init__(self, width=8):
        super().__init__()
        self.into = nn.Linear(4, width)
        self.cell = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(width, 1)

    @paddle.jit.to_static(input_spec=[InputSpec([None, 4], "float32", name="x")])
    def forward(self, x):
        hidden = paddle.tanh(self.into(x))
        passes = paddle.full([], 0, dtype="int64")
        while hidden.abs().mean() < 0.9 and passes < 3:
            hidden = hidden + paddle.tanh(self.cell(hidden))
            passes = passes + 1
        if paddle.max(hidden) > 2.0:
            hidden = self.norm(hidden)
        else:
            hidden = hidden * 0.5
        for factor in [0.9, 1.1]:
            hidden = hidden * factor
        return self.out(self.drop(hidden)), passes


def batches(seed, count):
    random = np.random.RandomState(seed)
    for _ in range(count):
        x = random.randn(12, 4).astype("float32")
        y = np.sin(x[:, :1]) + 0.5 * x[:, 1:2] * x[:, 2:3]
        yield paddle.to_tensor(x), paddle.to_tensor(y)


def train(model, seed, count, optimizer, note):
    model.train()
    for step, (x, y) in enumerate(batches(seed, count)):
        guess, passes = model(x)
        loss = nn.functional.mse_loss(guess, y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        print(f"{note} {step} loss {loss.item():.7f} passes {int(passes)}")


def main():
    paddle.seed(77)
    model = Gated()
    model.drop.p = 0.0  # so that both runs see the same numbers
    optimizer = paddle.optimizer.Adam(0.01, parameters=model.parameters())
    train(model, 1, 12, optimizer, "dynamic")
    model.eval()
    x, _ = next(batches(2, 1))
    expected, passes = model(x)
    paddle.jit.save(model, "saved/gated")
    print(sorted(os.listdir("saved")))
    loaded = paddle.jit.load("saved/gated")
    state = paddle.load("saved/gated")
    loaded.eval()
    found, again = loaded(x)
    print("alike", bool(paddle.allclose(found, expected)), int(passes) == int(again))
    print(f"mean {found.mean().item():.7f}", sorted(state), len(loaded.state_dict()))
    tuned = Gated()
    tuned.set_state_dict(state)
    for dropout in tuned.sublayers():
        if isinstance(dropout, nn.Dropout):
            dropout.p = 0.0
    for name, parameter in tuned.named_parameters():
        parameter.stop_gradient = "out" not in name
    fresh = paddle.optimizer.Momentum(0.02, parameters=tuned.out.parameters())
    train(tuned, 3, 8, fresh, "tuned")


if __name__ == "__main__":
    main()
