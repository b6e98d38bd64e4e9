"""Networks on sequences lose what they lose in torch, step by step."""

import math

import numpy as np
from network_values import STEPS
from torch_losses import FlowNumbers, Numbers, assert_as_torch, in_both_precisions, trained

import fluidlite as fluid
from fluidlite import flow, layers, nn
from fluidlite.flow.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

F = flow.nn.functional


class GPTBlock(flow.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = flow.nn.LayerNorm(width), flow.nn.LayerNorm(width)
        self.qkv, self.mix = flow.nn.Linear(width, 3 * width), flow.nn.Linear(width, width)
        self.wide, self.narrow = flow.nn.Linear(width, 2 * width), flow.nn.Linear(2 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).chunk(3, -1)
        split = lambda y: y.view(batch, length, self.heads, -1).transpose(1, 2)
        scores = split(q) @ split(k).transpose(-2, -1) / math.sqrt(width // self.heads)
        future = flow.triu(flow.ones(length, length), 1).bool()
        shares = flow.softmax(scores.masked_fill(future, float("-inf")), -1)
        x = x + self.mix((shares @ split(v)).transpose(1, 2).reshape(batch, length, width))
        return x + self.narrow(F.gelu(self.wide(self.norm2(x)), approximate="tanh"))


class GPT(flow.nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = flow.nn.Embedding(11, 8), flow.nn.Embedding(6, 8)
        self.blocks = flow.nn.ModuleList([GPTBlock(8, 2), GPTBlock(8, 2)])
        self.norm = flow.nn.LayerNorm(8)
        self.head = flow.nn.Linear(8, 11, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids):
        x = self.tokens(ids) + self.places(flow.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


@in_both_precisions
def test_a_gpt_with_tied_weights_clipped_and_accumulated(dtype):
    numbers = FlowNumbers(dtype)
    net = numbers.begin(GPT())
    adam = flow.optim.AdamW(net.parameters(), lr=0.01, betas=(0.9, 0.95), weight_decay=0.1)
    losses = []
    for step in range(STEPS):
        adam.zero_grad()
        total = 0.0
        for part in range(2):
            text = numbers.integers(f"text {(step + part) % 4}", 11, 3, 7)
            loss = F.cross_entropy(net(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten()) / 2
            loss.backward()
            total += loss.item()
        flow.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        adam.step()
        losses.append(total)
    assert net.head.weight is net.tokens.weight
    assert_as_torch("gpt", losses, dtype)


class Reader(flow.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = flow.nn.Embedding(9, 4)
        self.lstm = flow.nn.LSTM(4, 3, num_layers=2, bidirectional=True, batch_first=True)
        self.out = flow.nn.Linear(12, 2)

    def forward(self, words, lengths):
        rows = pack_padded_sequence(
            self.words(words), lengths, batch_first=True, enforce_sorted=False
        )
        rows, (last, _) = self.lstm(rows)
        rows, lengths = pad_packed_sequence(rows, batch_first=True)
        means = rows.sum(1) / lengths[:, None]
        return self.out(flow.cat([means, last[-2], last[-1]], 1))


@in_both_precisions
def test_a_bidirectional_lstm_of_packed_sequences(dtype):
    numbers = FlowNumbers(dtype)
    net = numbers.begin(Reader())
    words, labels = numbers.integers("words", 9, 5, 6), numbers.integers("moods", 2, 5)
    lengths = flow.tensor([4, 6, 1, 3, 6])
    momentum = flow.optim.SGD(net.parameters(), lr=0.25, momentum=0.875)
    losses = trained(momentum, lambda _: F.cross_entropy(net(words, lengths), labels))
    assert_as_torch("packed_bilstm", losses, dtype)


class PaddedReader(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(9, 4)
        self.lstm = nn.LSTM(4, 3, num_layers=2, direction="bidirect")
        self.out = nn.Linear(12, 2)

    def forward(self, words, lengths):
        rows, (last, _) = self.lstm(self.words(words), sequence_length=lengths)
        means = rows.sum(1) / lengths.astype(rows.dtype).unsqueeze(1)
        return self.out(fluid.concat([means, last[-2], last[-1]], 1))


@in_both_precisions
def test_a_bidirectional_lstm_of_padded_sequences_and_their_lengths(dtype):
    numbers = Numbers(dtype)
    net = numbers.begin(PaddedReader())
    words, labels = numbers.integers("words", 9, 5, 6), numbers.integers("moods", 2, 5)
    lengths = fluid.to_tensor([4, 6, 1, 3, 6])
    momentum = fluid.optimizer.Momentum(0.25, 0.875, parameters=net.parameters())
    cross_entropy = nn.functional.cross_entropy
    losses = trained(momentum, lambda _: cross_entropy(net(words, lengths), labels))
    assert_as_torch("packed_bilstm", losses, dtype)


class Translator(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.outputs = nn.Embedding(7, 6), nn.Embedding(7, 6)
        self.encoder = nn.GRU(6, 6)
        self.decoder = nn.GRUCell(12, 6)
        self.out = nn.Linear(12, 7)

    def step(self, embedded, state, memory):
        shares = nn.functional.softmax((memory @ state.unsqueeze(2)).squeeze(2), axis=1)
        context = (shares.unsqueeze(2) * memory).sum(1)
        _, state = self.decoder(fluid.concat([embedded, context], 1), state)
        return fluid.concat([state, context], 1), state

    def loss(self, source, target):
        memory, last = self.encoder(self.words(source))
        state, total = last[0], 0.0
        for t in range(target.shape[1] - 1):
            found, state = self.step(self.outputs(target[:, t]), state, memory)
            total = total + nn.functional.cross_entropy(self.out(found), target[:, t + 1])
        return total


class Attending(layers.RNNCell):
    """The step of a translator, as a beam search takes it."""

    def __init__(self, net, memory):
        self.net, self.memory = net, memory

    def call(self, inputs, states):
        return self.net.step(inputs, states, self.memory)


def best_sentences(net, source):
    """The words of the best sentences, [batch, length, beams], and their scores, by a program."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        memory, last = net.encoder(net.words(fluid.data("source", list(source.shape), "int64")))
        repeated = layers.BeamSearchDecoder.tile_beam_merge_with_batch(memory, 3)
        decoder = layers.BeamSearchDecoder(
            Attending(net, repeated),
            start_token=1,
            end_token=2,
            beam_size=3,
            embedding_fn=net.outputs,
            output_fn=net.out,
        )
        words, states = layers.dynamic_decode(decoder, last[0], max_step_num=5)
    executor = fluid.Executor()
    executor.run(startup)
    return executor.run(main, {"source": source}, [words, states.log_probs])


@in_both_precisions
def test_attention_and_a_beam_search(dtype):
    numbers = Numbers(dtype)
    net = numbers.begin(Translator())
    source = numbers.integers("source", 4, 6, 4) + 3
    begins, ends = fluid.full([6, 1], 1, "int64"), fluid.full([6, 1], 2, "int64")
    target = fluid.concat([begins, source.flip([1])[:, :3], ends], 1)
    momentum = fluid.optimizer.Momentum(0.125, 0.875, parameters=net.parameters())
    losses = trained(momentum, lambda _: net.loss(source, target))
    words, states = best_sentences(net, source.numpy())
    found = [*losses, *states.ravel().tolist(), *words.ravel().tolist()]
    assert_as_torch("attention_and_beam_search", found, dtype)


class Deep(nn.Layer):
    """Parts that are computed again, or kept."""

    def __init__(self, share, again):
        super().__init__()
        self.parts = nn.LayerList(
            nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6), nn.Tanh(), nn.Dropout(share))
            for _ in range(3)
        )
        self.out = nn.Linear(6, 1)
        self.again = again

    def forward(self, x):
        for part in self.parts:
            x = x + (fluid.autograd.checkpoint(part, x) if self.again else part(x))
        return self.out(x)


def losses_of_parts(numbers, share, again):
    net = numbers.begin(Deep(share, again))
    x, y = numbers.data("inputs", 8, 6), numbers.data("outputs", 8, 1)
    momentum = fluid.optimizer.Momentum(0.0625, 0.875, parameters=net.parameters())
    return trained(momentum, lambda _: nn.functional.mse_loss(net(x), y))


@in_both_precisions
def test_parts_that_are_computed_again(dtype):
    assert_as_torch("checkpointing", losses_of_parts(Numbers(dtype), 0.0, True), dtype)


def test_parts_that_are_computed_again_drop_the_same_elements():
    runs = []
    for again in (False, True):
        fluid.seed(4)
        runs.append(losses_of_parts(Numbers("float64"), 0.5, again))
    assert runs[0] == runs[1]
    assert runs[0] != losses_of_parts(Numbers("float64"), 0.0, True)


def test_a_program_that_computes_again_drops_the_same_elements():
    runs = []
    for again in (False, True):
        main, startup = fluid.Program(), fluid.Program()
        main.random_seed = startup.random_seed = 4
        with fluid.program_guard(main, startup), fluid.unique_name.guard():
            x, y = fluid.data("x", [8, 6]), fluid.data("y", [8, 1])
            hidden, parts = x, []
            for _ in range(3):
                hidden = hidden + layers.dropout(layers.fc(hidden, 6, act="tanh"), 0.5)
                parts.append(hidden)
            loss = layers.mean(layers.square_error_cost(layers.fc(hidden, 1), y))
            optimizer = fluid.optimizer.Momentum(0.0625, 0.875)
            if again:
                optimizer = fluid.optimizer.RecomputeOptimizer(optimizer)
                optimizer._set_checkpoints(parts[:2])
            optimizer.minimize(loss)
        numbers, executor = Numbers("float32"), fluid.Executor()
        feed = {"x": numbers.array("inputs", 8, 6), "y": numbers.array("outputs", 8, 1)}
        with fluid.scope_guard(fluid.Scope()):
            executor.run(startup)
            runs.append([executor.run(main, feed, [loss])[0].item() for _ in range(STEPS)])
    np.testing.assert_allclose(runs[0], runs[1], rtol=1e-6)
