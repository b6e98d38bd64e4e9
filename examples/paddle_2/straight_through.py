"""Operators of your own: rounding with a gradient that passes through, and a gated swish."""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.autograd import PyLayer


class Round(PyLayer):
    """Rounds to steps; gradients pass where nothing was cut off."""

    @staticmethod
    def forward(ctx, x, scale, bits=4):
        bound = 2 ** (bits - 1) - 1
        scaled = x / scale
        inside = paddle.logical_and(scaled >= -bound, scaled <= bound)
        rounded = paddle.round(paddle.clip(scaled, -bound, bound))
        ctx.save_for_backward(inside, rounded, scaled)
        ctx.bits = bits
        return rounded * scale

    @staticmethod
    def backward(ctx, dy):
        inside, rounded, scaled = ctx.saved_tensor()
        inside = inside.astype(dy.dtype)
        dscale = (dy * (rounded - scaled * inside)).sum().reshape([1])
        return dy * inside, dscale


class Swish(PyLayer):
    """x * sigmoid(beta * x), and the gate beside it, which carries no gradient."""

    @staticmethod
    def forward(ctx, x, beta):
        gate = F.sigmoid(x * beta)
        ctx.save_for_backward(x, beta, gate)
        ctx.mark_non_differentiable(gate)
        return x * gate, gate

    @staticmethod
    def backward(ctx, dy, dgate):
        x, beta, gate = ctx.saved_tensor()
        slope = gate * (1 - gate)
        return dy * (gate + x * beta * slope), (dy * x * x * slope).sum().reshape(beta.shape)


class QuantLinear(nn.Linear):
    def __init__(self, *sizes, bits):
        super().__init__(*sizes)
        self.bits = bits
        self.scale = self.create_parameter([1], default_initializer=nn.initializer.Constant(0.05))

    def forward(self, x):
        return F.linear(x, Round.apply(self.weight, self.scale, bits=self.bits), self.bias)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = QuantLinear(4, 12, bits=4), QuantLinear(12, 3, bits=3)
        self.beta = paddle.create_parameter(
            [1], "float32", default_initializer=nn.initializer.Constant(1.0)
        )
        self.open = 0.0

    def forward(self, x):
        hidden, gate = Swish.apply(self.first(x), self.beta)
        self.open = float(gate.mean())
        return self.second(hidden)


def main():
    paddle.seed(5)
    random = np.random.RandomState(5)
    x = paddle.to_tensor(random.randn(60, 4).astype("float32"))
    y = paddle.to_tensor((random.randn(60, 4) * 0.1 + x.numpy()).argmax(axis=1) % 3)
    net = Net()
    scales = [p for name, p in net.named_parameters() if "scale" in name or name == "beta"]
    others = [p for name, p in net.named_parameters() if "scale" not in name and name != "beta"]
    optimizer = paddle.optimizer.Adam(
        parameters=[
            {"params": others, "weight_decay": 1e-3},
            {"params": scales, "learning_rate": 0.1},
        ],
        learning_rate=0.02,
    )
    for step in range(20):
        rows = paddle.to_tensor(random.permutation(60)[:16])
        scores = net(paddle.gather(x, rows))
        loss = F.cross_entropy(scores, paddle.index_select(y, rows))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        print(f"step {step} loss {loss.item():.7f} open {net.open:.6f} beta {net.beta.item():.6f}")
    values = paddle.unique(Round.apply(net.second.weight, net.second.scale, bits=3))
    correct = paddle.metric.accuracy(net(x), y.unsqueeze(1))
    print(f"values {values.shape[0]} accuracy {correct.item():.4f}")


if __name__ == "__main__":
    main()
