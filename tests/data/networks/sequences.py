"""Networks on sequences, tables and graphs in torch; ``tests/networks/test_sequences.py`` and
``tests/networks/test_tables.py`` have the same.
"""

import math

import torch
import torch.nn.functional as F
from numbers_of_torch import STEPS, network, trained
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils.checkpoint import checkpoint


class GPTBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.mix = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).chunk(3, -1)
        split = lambda y: y.view(batch, length, self.heads, -1).transpose(1, 2)
        scores = split(q) @ split(k).transpose(-2, -1) / math.sqrt(width // self.heads)
        future = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
        shares = torch.softmax(scores.masked_fill(future, float("-inf")), -1)
        x = x + self.mix((shares @ split(v)).transpose(1, 2).reshape(batch, length, width))
        return x + self.narrow(F.gelu(self.wide(self.norm2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(11, 8), nn.Embedding(6, 8)
        self.blocks = nn.ModuleList([GPTBlock(8, 2), GPTBlock(8, 2)])
        self.norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids):
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


@network
def gpt(numbers):
    net = numbers.begin(GPT())
    adam = torch.optim.AdamW(net.parameters(), lr=0.01, betas=(0.9, 0.95), weight_decay=0.1)
    losses = []
    for step in range(STEPS):
        adam.zero_grad()
        total = 0.0
        for part in range(2):
            text = numbers.integers(f"text {(step + part) % 4}", 11, 3, 7)
            loss = F.cross_entropy(net(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten()) / 2
            loss.backward()
            total += loss.item()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        adam.step()
        losses.append(total)
    return losses


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(9, 4)
        self.lstm = nn.LSTM(4, 3, num_layers=2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(12, 2)

    def forward(self, words, lengths):
        rows = pack_padded_sequence(
            self.words(words), lengths, batch_first=True, enforce_sorted=False
        )
        rows, (last, _) = self.lstm(rows)
        rows, lengths = pad_packed_sequence(rows, batch_first=True)
        means = rows.sum(1) / lengths[:, None]
        return self.out(torch.cat([means, last[-2], last[-1]], 1))


@network
def packed_bilstm(numbers):
    net = numbers.begin(Reader())
    words, labels = numbers.integers("words", 9, 5, 6), numbers.integers("moods", 2, 5)
    lengths = torch.tensor([4, 6, 1, 3, 6])
    momentum = torch.optim.SGD(net.parameters(), lr=0.25, momentum=0.875)
    return trained(momentum, lambda _: F.cross_entropy(net(words, lengths), labels))


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.outputs = nn.Embedding(7, 6), nn.Embedding(7, 6)
        self.encoder = nn.GRU(6, 6, batch_first=True)
        self.decoder = nn.GRUCell(12, 6)
        self.out = nn.Linear(12, 7)

    def step(self, word, state, memory):
        shares = torch.softmax((memory @ state[:, :, None])[:, :, 0], 1)
        context = (shares[:, :, None] * memory).sum(1)
        state = self.decoder(torch.cat([self.outputs(word), context], 1), state)
        return self.out(torch.cat([state, context], 1)), state

    def loss(self, source, target):
        memory, last = self.encoder(self.words(source))
        state, total = last[0], 0.0
        for t in range(target.shape[1] - 1):
            scores, state = self.step(target[:, t], state, memory)
            total = total + F.cross_entropy(scores, target[:, t + 1])
        return total

    def search(self, source, beams, length):
        """The best sequences of words, [batch, length, beams], and their scores."""
        memory, last = self.encoder(self.words(source))
        batch = len(source)
        memory = memory.repeat_interleave(beams, 0)
        state = last[0].repeat_interleave(beams, 0)
        scores = torch.full((batch, beams), -1e9, dtype=memory.dtype)
        scores[:, 0] = 0.0
        word = torch.full((batch * beams,), 1)
        done = torch.zeros(batch, beams, dtype=torch.bool)
        found = torch.zeros(batch, beams, 0, dtype=torch.long)
        for _ in range(length):
            logits, state = self.step(word, state, memory)
            steps = F.log_softmax(logits, 1).view(batch, beams, -1)
            stay = torch.full_like(steps[0, 0], -1e9)
            stay[2] = 0.0
            steps = torch.where(done[:, :, None], stay, steps)
            scores, place = (scores[:, :, None] + steps).flatten(1).topk(beams)
            parent, chosen = place // 7, place % 7
            found = found.gather(1, parent[:, :, None].expand(-1, -1, found.shape[2]))
            found = torch.cat([found, chosen[:, :, None]], 2)
            done = done.gather(1, parent) | (chosen == 2)
            rows = (parent + torch.arange(batch)[:, None] * beams).flatten()
            state, word = state[rows], chosen.flatten()
            if done.all():
                break
        return found.transpose(1, 2), scores


@network
def attention_and_beam_search(numbers):
    """The losses, and then the scores and the words of the best sequences."""
    net = numbers.begin(Translator())
    source = numbers.integers("source", 4, 6, 4) + 3
    ends = torch.full((6, 1), 1), torch.full((6, 1), 2)
    target = torch.cat([ends[0], source.flip(1)[:, :3], ends[1]], 1)
    momentum = torch.optim.SGD(net.parameters(), lr=0.125, momentum=0.875)
    losses = trained(momentum, lambda _: net.loss(source, target))
    with torch.no_grad():
        words, scores = net.search(source, 3, 5)
    return losses + scores.flatten().tolist() + words.flatten().tolist()


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(
            nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6), nn.Tanh()) for _ in range(3)
        )
        self.out = nn.Linear(6, 1)

    def forward(self, x):
        for part in self.parts:
            x = x + checkpoint(part, x, use_reentrant=False)
        return self.out(x)


@network
def checkpointing(numbers):
    net = numbers.begin(Deep())
    x, y = numbers.data("inputs", 8, 6), numbers.data("outputs", 8, 1)
    momentum = torch.optim.SGD(net.parameters(), lr=0.0625, momentum=0.875)
    return trained(momentum, lambda _: F.mse_loss(net(x), y))


@network
def two_towers(numbers):
    tables = {n: nn.Embedding(k, 4, sparse=True) for n, k in (("users", 9), ("items", 12))}
    for name, table in tables.items():
        table.weight.data = numbers.start(f"{name} table", table.num_embeddings, 4)
    dense = {
        f"{name} {kind}": numbers.leaf(f"{name} {kind}", *shape)
        for name in tables
        for kind, shape in (("matrix", (4, 3)), ("bias", (3,)))
    }
    parameters = [*(t.weight for t in tables.values()), *dense.values()]
    adagrad = torch.optim.Adagrad(parameters, lr=0.25, eps=1e-6)

    def tower(name, ids):
        rows = tables[name](ids).mean(1)
        return F.normalize(torch.tanh(rows @ dense[f"{name} matrix"] + dense[f"{name} bias"]), eps=0)

    def loss(step):
        users = numbers.integers(f"users of {step}", 9, 5, 2)
        items = numbers.integers(f"items of {step}", 12, 5, 3)
        scores = tower("users", users) @ tower("items", items).T * 4.0
        return F.cross_entropy(scores, torch.arange(5))

    return trained(adagrad, loss)


@network
def graph_convolution(numbers):
    ends = numbers.integers("edges of a graph", 10, 2, 24)
    begin = torch.cat([ends[0], ends[1], torch.arange(10)])
    end = torch.cat([ends[1], ends[0], torch.arange(10)])
    degree = torch.zeros(10, dtype=numbers.dtype).index_add(
        0, end, torch.ones(len(end), dtype=numbers.dtype)
    )
    share = (degree[begin] * degree[end]).rsqrt()[:, None]
    x, labels = numbers.data("nodes", 10, 5), numbers.integers("kinds", 3, 10)
    first, second = numbers.leaf("first", 5, 6), numbers.leaf("second", 6, 3)
    bias = numbers.leaf("bias", 6)
    momentum = torch.optim.SGD(
        [first, second, bias], lr=0.25, momentum=0.875, nesterov=True, weight_decay=0.0078125
    )

    def passed(y):
        return torch.zeros(10, y.shape[1], dtype=y.dtype).index_add(0, end, y[begin] * share)

    def loss(_):
        scores = passed(F.relu(passed(x @ first) + bias) @ second)
        return F.cross_entropy(scores[:7], labels[:7])

    return trained(momentum, loss)
