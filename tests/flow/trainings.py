"""Trainings in OneFlow's style: each gives the losses of its steps.

Run by a Python that has OneFlow 0.9 this prints, as JSON, the losses, and how far they move where
all start values are changed by 1e-7 of themselves.
"""

import json
import os
import tempfile

import numpy as np
import oneflow as flow
import oneflow.nn as nn
import oneflow.nn.functional as F
from oneflow.utils.data import DataLoader, Dataset, TensorDataset

change = 0.0  #: of start values, as a share of them


def start(*modules):
    """The same start values on each system."""
    draw = np.random.RandomState(0)
    for module in modules:
        for p in module.parameters():
            values = draw.standard_normal(tuple(p.shape)) * 0.3
            p.data.copy_(flow.tensor((values * (1 + change)).astype("float32")))


def data(*shape, seed=1):
    return flow.tensor(np.random.RandomState(seed).standard_normal(shape).astype("float32"))


def classifier():
    class Points(Dataset):
        def __init__(self):
            self.x, self.y = data(40, 6), np.random.RandomState(2).randint(0, 3, 40)

        def __getitem__(self, i):
            return self.x[i], int(self.y[i])

        def __len__(self):
            return 40

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.BatchNorm1d(16))
            self.head = nn.Linear(16, 3)

        def forward(self, x):
            return self.head(self.body(x))

    net = Net()
    start(net)
    optimizer = flow.optim.SGD(net.parameters(), lr=0.05)
    criterion = nn.CrossEntropyLoss()
    losses = []
    for _ in range(2):
        for x, y in DataLoader(Points(), batch_size=4, shuffle=False):
            loss = criterion(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def gan():
    maker = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 2), nn.Tanh())
    judge = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
    start(maker, judge)
    makes = flow.optim.Adam(maker.parameters(), lr=0.01, betas=(0.5, 0.999))
    judges = flow.optim.Adam(judge.parameters(), lr=0.01, betas=(0.5, 0.999))
    criterion = nn.BCEWithLogitsLoss()
    real, losses = data(16, 2) * 0.1 + 0.5, []
    for step in range(10):
        noise = data(16, 4, seed=step)
        for p in judge.parameters():
            p.requires_grad_(True)
        loss = criterion(judge(real), flow.ones(16, 1)) + criterion(
            judge(maker(noise).detach()), flow.zeros(16, 1)
        )
        judges.zero_grad()
        loss.backward()
        judges.step()
        losses.append(loss.item())
        for p in judge.parameters():
            p.requires_grad_(False)
        loss = criterion(judge(maker(noise)), flow.ones(16, 1))
        makes.zero_grad()
        loss.backward()
        makes.step()
        losses.append(loss.item())
    return losses


def graph():
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3)
    )
    start(net)
    optimizer = flow.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    schedule = flow.optim.lr_scheduler.CosineDecayLR(optimizer, decay_steps=15, alpha=0.1)

    class Training(nn.Graph):
        def __init__(self):
            super().__init__()
            self.net = net
            self.loss = nn.CrossEntropyLoss()
            self.add_optimizer(optimizer, lr_sch=schedule)

        def build(self, x, y):
            loss = self.loss(self.net(x), y)
            loss.backward()
            return loss

    training = Training()
    x, y = data(8, 1, 6, 6), flow.tensor(np.arange(8) % 3)
    return [training(x, y).item() for _ in range(20)]


def function():
    class Swish(flow.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            gate = flow.sigmoid(x)
            ctx.save_for_backward(x, gate)
            return x * gate

        @staticmethod
        def backward(ctx, dy):
            x, gate = ctx.saved_tensors
            return dy * (gate + x * gate * (1 - gate))

    one, two = nn.Linear(5, 8), nn.Linear(8, 1)
    start(one, two)
    optimizer = flow.optim.RMSprop([*one.parameters(), *two.parameters()], lr=0.01)
    x, y, losses = data(12, 5), data(12, 1, seed=3), []
    for _ in range(20):
        loss = nn.MSELoss()(two(Swish.apply(one(x))), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def recurrent():
    words, lstm, head = nn.Embedding(20, 6), nn.LSTM(6, 8, batch_first=True), nn.Linear(8, 2)
    start(words, lstm, head)
    params = [p for m in (words, lstm, head) for p in m.parameters()]
    optimizer = flow.optim.AdamW(params, lr=0.02, weight_decay=0.01)
    texts = [[3, 5, 7, 2], [4, 4, 9], [11, 2], [6]]
    padded = nn.utils.rnn.pad_sequence([flow.tensor(t) for t in texts], batch_first=True)
    lengths = flow.tensor([len(t) for t in texts])
    y, losses = flow.tensor([0, 1, 0, 1]), []
    for _ in range(20):
        packed = nn.utils.rnn.pack_padded_sequence(words(padded), lengths, batch_first=True)
        _, (h, _) = lstm(packed)
        loss = F.cross_entropy(head(h[-1]), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def schedules():
    net = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 2))
    start(net)
    optimizer = flow.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
    steps = flow.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[8, 14], gamma=0.3)
    warm = flow.optim.lr_scheduler.WarmUpLR(
        steps, warmup_factor=0.1, warmup_iters=5, warmup_method="linear"
    )
    x, y, losses = data(10, 6), data(10, 2, seed=4), []
    for _ in range(20):
        loss = F.smooth_l1_loss(net(x), y, reduction="mean", beta=1.0)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), max_norm=0.2)
        optimizer.step()
        warm.step()
        losses.append(loss.item() + float(norm))
    return losses


def accumulation():
    net = nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.0), nn.Softplus(), nn.Linear(6, 1))
    start(net)
    optimizer = flow.optim.Adagrad(net.parameters(), lr=0.1)
    x, y, losses = data(20, 4), data(20, 1, seed=5), []
    batches = DataLoader(TensorDataset(x, y), batch_size=2)
    for _ in range(2):
        for k, (a, b) in enumerate(batches):
            loss = F.mse_loss(net(a), b) / 2
            loss.backward()
            losses.append(loss.item())
            if k % 2:
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
    return losses


def states():
    def made():
        net = nn.Sequential(nn.Linear(5, 7), nn.LayerNorm(7), nn.Mish(), nn.Linear(7, 2))
        return net, flow.optim.Adam(net.parameters(), lr=0.03, amsgrad=True)

    net, optimizer = made()
    start(net)
    x, y, losses = data(9, 5), flow.tensor(np.arange(9) % 2), []

    def train(net, optimizer):
        for _ in range(10):
            loss = F.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())

    train(net, optimizer)
    folder = tempfile.mkdtemp()
    flow.save(net.state_dict(), os.path.join(folder, "net"))
    flow.save(optimizer.state_dict(), os.path.join(folder, "opt"))
    net, optimizer = made()
    net.load_state_dict(flow.load(os.path.join(folder, "net")))
    optimizer.load_state_dict(flow.load(os.path.join(folder, "opt")))
    train(net, optimizer)
    return losses


def groups():
    net = nn.Sequential(nn.Linear(4, 8), nn.PReLU(), nn.Linear(8, 3))
    start(net)
    optimizer = flow.optim.SGD(
        [
            {"params": net[0].parameters(), "lr": 0.1, "weight_decay": 0.01},
            {
                "params": list(net[1].parameters()) + list(net[2].parameters()),
                "clip_grad_max_norm": 0.5,
                "clip_grad_norm_type": 2.0,
            },
        ],
        lr=0.02,
        momentum=0.8,
    )
    x, y, losses = data(6, 4), data(6, 3, seed=6), []
    for step in range(20):
        loss = ((net(x) - y) ** 2).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.clip_grad()
        optimizer.step()
        if step == 9:
            for group in optimizer.param_groups:
                group["lr"] *= 0.5
        losses.append(loss.item())
    return losses


def transformer():
    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.one, self.two = nn.LayerNorm(width), nn.LayerNorm(width)
            self.mlp = nn.Sequential(
                nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
            )

        def forward(self, x):
            n, t, c = x.shape
            q, k, v = self.qkv(self.one(x)).chunk(3, dim=-1)
            q, k, v = (z.view(n, t, self.heads, c // self.heads).transpose(1, 2) for z in (q, k, v))
            scores = flow.matmul(q, k.transpose(-2, -1)) / (c // self.heads) ** 0.5
            mask = flow.tril(flow.ones(t, t)) == 0
            scores = scores.masked_fill(mask, -1e9)
            mixed = flow.matmul(flow.softmax(scores, dim=-1), v)
            x = x + self.out(mixed.transpose(1, 2).reshape(n, t, c))
            return x + self.mlp(self.two(x))

    words, block, head = nn.Embedding(11, 8), Block(8, 2), nn.Linear(8, 11)
    start(words, block, head)
    params = [p for m in (words, block, head) for p in m.parameters()]
    optimizer = flow.optim.LAMB(params, lr=0.01)
    tokens = flow.tensor(np.random.RandomState(7).randint(0, 11, (3, 6)))
    losses = []
    for _ in range(20):
        logits = head(block(words(tokens[:, :-1])))
        loss = F.cross_entropy(logits.reshape(-1, 11), tokens[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


TRAININGS = [
    classifier, gan, graph, function, recurrent, schedules, accumulation, states, groups,
    transformer,
]  # fmt: skip

if __name__ == "__main__":
    table = {}
    for each in TRAININGS:
        change = 0.0
        plain = each()
        change = 1e-7
        moved = max(abs(a - b) for a, b in zip(plain, each()))
        table[each.__name__] = {"losses": plain, "moved": moved}
    print(json.dumps(table, indent=1))
