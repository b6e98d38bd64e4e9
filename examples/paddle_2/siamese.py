"""Faces by distance: triplets, a network of shared weights, spectral and weight norm, hooks."""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.nn.utils import remove_weight_norm, spectral_norm, weight_norm


class Embedder(nn.Layer):
    """Vectors of length one."""

    def __init__(self, size):
        super().__init__()
        self.inner = weight_norm(nn.Linear(10, 16), dim=1)
        self.act = nn.PReLU(num_parameters=16, init=0.1)
        self.outer = spectral_norm(nn.Linear(16, size), n_power_iterations=2)
        self.register_buffer("seen", paddle.zeros([1]), persistable=True)

    def forward(self, x):
        if self.training:
            self.seen.set_value(self.seen + x.shape[0])
        return F.normalize(self.outer(self.act(self.inner(x))), p=2, axis=-1)


class Triplets(paddle.io.Dataset):
    """Points of one cluster twice, and one of another."""

    def __init__(self, count):
        random = np.random.RandomState(5)
        centers = random.randn(4, 10)
        self.items = []
        for _ in range(count):
            same, other = random.choice(4, 2, replace=False)
            points = centers[[same, same, other]] + 0.8 * random.randn(3, 10)
            self.items.append(points.astype("float32"))

    def __getitem__(self, index):
        return tuple(self.items[index])

    def __len__(self):
        return len(self.items)


def main():
    paddle.seed(33)
    model = Embedder(4)
    norms = []
    model.act.register_forward_post_hook(lambda layer, x, y: norms.append(float(y.norm())))
    count = {"calls": 0}

    def before(layer, x):
        count["calls"] += 1
        return x[0] * 0.5

    helper = model.outer.register_forward_pre_hook(before)
    scaled = model.act._weight.register_hook(lambda grad: grad * 0.1)
    criterion = nn.TripletMarginLoss(margin=0.7, p=2.0)
    optimizer = paddle.optimizer.Momentum(
        learning_rate=paddle.optimizer.lr.StepDecay(0.2, step_size=2, gamma=0.7),
        momentum=0.9, use_nesterov=True, parameters=model.parameters(),
        weight_decay=paddle.regularizer.L2Decay(1e-3),
    )  # fmt: skip
    loader = paddle.io.DataLoader(Triplets(40), batch_size=8)
    for _ in range(4):
        for anchor, positive, negative in loader:
            a, p, n = model(anchor), model(positive), model(negative)
            likeness = F.cosine_similarity(a, p, axis=1).mean()
            loss = criterion(a, p, n) - 0.1 * likeness
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            print(f"loss {loss.item():.7f} norm {norms[-1]:.6f} rate {optimizer.get_lr():.4f}")
        optimizer._learning_rate.step()
    helper.remove()
    scaled.remove()
    model.eval()
    remove_weight_norm(model.inner)
    names = sorted(name for name, _ in model.named_parameters())
    print(count["calls"], len(norms), int(model.seen), names)
    anchor, positive, negative = next(iter(loader))
    near = F.pairwise_distance(model(anchor), model(positive))
    far = F.pairwise_distance(model(anchor), model(negative))
    print(f"near {near.mean().item():.6f} far {far.mean().item():.6f}")


if __name__ == "__main__":
    main()
