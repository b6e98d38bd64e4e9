"""One contestant of ``sequences.py`` in a process of its own: a line of JSON for each command.

    python sequence_worker.py fluidlite|paddle|torch THREADS

It has to run on the old Python that paddlepaddle 1.8.5 needs.
"""

import json
import os
import sys
import time
import traceback

import numpy as np

BATCH, BATCHES, LABELS, WORDS, TAGS = 32, 6, 2, 5000, 20
SIZE = 128  # of states
LAYERS = 3
FRAMES, CLASSES = 64, 40  # numbers of a frame, and labels with the blank
VOCABULARY, BEAM, LONGEST, BEGIN, END = 1000, 4, 30, 0, 1  # of a translation


def batches(name):
    """What each step is fed: other lengths in every one."""
    rng = np.random.RandomState(7)
    made = []
    for _ in range(BATCHES):
        most = 200 if name == "ctc" else 100
        lengths = rng.randint(most // 10 if name != "ctc" else 50, most + 1, BATCH).tolist()
        rows = sum(lengths)
        if name == "dynamic_rnn":
            made.append({"x": (rng.randn(rows, SIZE).astype("float32"), lengths)})
            continue
        if name in ("translate", "beam"):
            lengths, wide = (rng.randint(5, LONGEST + 1, BATCH).tolist() for _ in range(2))
            ids = [
                rng.randint(2, VOCABULARY, (sum(n), 1)).astype("int64")
                for n in (lengths, wide, wide)
            ]
            feed, ones = {"x": (ids[0], lengths)}, ([1] * BATCH, [1] * BATCH)
            if name == "translate":
                feed.update({"before": (ids[1], wide), "y": (ids[2], wide)})
            else:
                feed["begin"] = (np.full((BATCH, 1), BEGIN, "int64"), *ones)
                feed["score"] = (np.zeros((BATCH, 1), "float32"), *ones)
            made.append(feed)
            continue
        if name == "ctc":
            wide = rng.randint(5, 21, BATCH).tolist()
            made.append(
                {
                    "x": (rng.randn(rows, FRAMES).astype("float32"), lengths),
                    "y": (rng.randint(1, CLASSES, (sum(wide), 1)).astype("int32"), wide),
                }
            )
            continue
        words = rng.randint(0, WORDS, (rows, 1)).astype("int64")
        if name == "gru_crf":
            tags = (words % TAGS).astype("int64")
            made.append({"x": (words, lengths), "y": (tags, lengths)})
        else:
            label = rng.randint(0, LABELS, (BATCH, 1)).astype("int64")
            made.append({"x": (words, lengths), "y": (label, None)})
    return made


class Fluid:
    """fluidlite, or paddlepaddle 1.8.5: the same programs.

    Args:
        fluid: the module.
    """

    def __init__(self, fluid):
        self.fluid = fluid

    def make(self, name):
        """Build a program, and give its parameters their first values."""
        fluid, layers = self.fluid, self.fluid.layers
        main, startup = fluid.Program(), fluid.Program()
        with fluid.unique_name.guard(), fluid.program_guard(main, startup):
            loss = getattr(self, name)(layers)
            if name != "beam":
                fluid.optimizer.Adam(1e-3).minimize(loss)
        self.main, self.loss = main, loss
        self.scope = fluid.Scope()
        self.executor = fluid.Executor(fluid.CPUPlace())
        rng = np.random.RandomState(1)
        with fluid.scope_guard(self.scope):
            self.executor.run(startup)
            for p in sorted(main.all_parameters(), key=lambda p: p.name):
                value = (rng.randn(*p.shape) * 0.08).astype("float32")
                self.scope.find_var(p.name).get_tensor().set(value, fluid.CPUPlace())
        self.feeds = [
            {key: self.tensor(*value) for key, value in feed.items()} for feed in batches(name)
        ]

    def tensor(self, array, *lengths):
        if lengths[0] is None:
            return array
        return self.fluid.create_lod_tensor(array, list(lengths), self.fluid.CPUPlace())

    def lstm(self, layers):
        data = self.fluid.data
        words = data("x", [None, 1], "int64", lod_level=1)
        label = data("y", [None, 1], "int64")
        inputs = [layers.fc(layers.embedding(words, [WORDS, SIZE]), 4 * SIZE)]
        for k in range(LAYERS):
            if k:
                inputs = [layers.fc(inputs[0], 4 * SIZE)]
            state, _ = layers.dynamic_lstm(
                inputs[0], 4 * SIZE, use_peepholes=False, is_reverse=k % 2 == 1
            )
            inputs = [state]
        prediction = layers.fc(layers.sequence_pool(inputs[0], "max"), LABELS, act="softmax")
        return layers.mean(layers.cross_entropy(prediction, label))

    def gru_crf(self, layers):
        data = self.fluid.data
        words = data("x", [None, 1], "int64", lod_level=1)
        tags = data("y", [None, 1], "int64", lod_level=1)
        x = layers.embedding(words, [WORDS, SIZE])
        states = [
            layers.dynamic_gru(layers.fc(x, 3 * SIZE), SIZE, is_reverse=back)
            for back in (False, True)
        ]
        scores = layers.fc(states, TAGS)
        return layers.mean(layers.linear_chain_crf(scores, tags))

    def ctc(self, layers):
        data = self.fluid.data
        frames = data("x", [None, FRAMES], "float32", lod_level=1)
        text = data("y", [None, 1], "int32", lod_level=1)
        scores = layers.fc(layers.fc(frames, SIZE, act="relu"), CLASSES)
        return layers.mean(layers.warpctc(scores, text))

    def dynamic_rnn(self, layers):
        x = self.fluid.data("x", [None, SIZE], "float32", lod_level=1)
        rnn = layers.DynamicRNN()
        with rnn.block():
            now, memory = rnn.step_input(x), rnn.memory(shape=[SIZE], value=0.0)
            state = layers.fc([now, memory], SIZE, act="tanh")
            rnn.update_memory(memory, state)
            rnn.output(state)
        return layers.mean(layers.square(rnn()))

    def encoded(self, layers):
        """A row for each word, and the state to begin with."""
        words = self.fluid.data("x", [None, 1], "int64", lod_level=1)
        rows = layers.embedding(words, [VOCABULARY, SIZE])
        states = [
            layers.dynamic_gru(layers.fc(rows, 3 * SIZE), SIZE, is_reverse=back)
            for back in (False, True)
        ]
        first = layers.fc(layers.sequence_first_step(states[1]), SIZE, act="tanh")
        return layers.concat(states, axis=1), first

    def next_word(self, layers, word, state, rows):
        """Chances of the next word, and the next state: attention over all rows."""
        keys = layers.fc(rows, SIZE)
        query = layers.sequence_expand_as(layers.fc(state, SIZE), keys)
        look = layers.fc(layers.tanh(layers.elementwise_add(keys, query)), 1)
        weights = layers.sequence_softmax(look)
        seen = layers.sequence_pool(layers.elementwise_mul(rows, weights, axis=0), "sum")
        state = layers.fc([seen, word, state], SIZE, act="tanh")
        return layers.fc(state, VOCABULARY, act="softmax"), state

    def translate(self, layers):
        data = self.fluid.data
        rows, first = self.encoded(layers)
        before = data("before", [None, 1], "int64", lod_level=1)
        after = data("y", [None, 1], "int64", lod_level=1)
        words, rnn = layers.embedding(before, [VOCABULARY, SIZE]), layers.DynamicRNN()
        with rnn.block():
            word, fixed = rnn.step_input(words), rnn.static_input(rows)
            memory = rnn.memory(init=first, need_reorder=True)
            chances, state = self.next_word(layers, word, memory, fixed)
            rnn.update_memory(memory, state)
            rnn.output(chances)
        return layers.mean(layers.cross_entropy(rnn(), after))

    def beam(self, layers):
        """The scores of the sentences that a search finds."""
        data = self.fluid.data
        rows, first = self.encoded(layers)
        begin = data("begin", [None, 1], "int64", lod_level=2)
        score = data("score", [None, 1], "float32", lod_level=2)
        at, end = (layers.fill_constant([1], "int64", value) for value in (0, LONGEST))
        kept = [layers.array_write(value, at) for value in (begin, score, first, rows)]
        going = layers.less_than(at, end)
        loop = layers.While(going)
        with loop.block():
            ids, scores, state, seen = [layers.array_read(array, at) for array in kept]
            state, seen = [layers.sequence_expand(value, scores) for value in (state, seen)]
            word = layers.embedding(ids, [VOCABULARY, SIZE])
            chances, state = self.next_word(layers, word, state, seen)
            best, words = layers.topk(layers.lod_reset(chances, scores), BEAM)
            flat = layers.reshape(scores, [-1])
            total = layers.elementwise_add(layers.log(best), flat, axis=0)
            found = layers.beam_search(ids, scores, words, total, BEAM, END)
            layers.increment(at)
            for value, array in zip((found[0], found[1], state, seen), kept):
                layers.array_write(value, at, array)
            more = layers.logical_not(layers.is_empty(found[0]))
            layers.logical_and(layers.less_than(at, end), more, out=going)
        return layers.beam_search_decode(kept[0], kept[1], BEAM, END)[1]

    def step(self, k):
        """The loss of batch ``k``, or the mean of the scores found."""
        with self.fluid.scope_guard(self.scope):
            found = self.executor.run(
                self.main, feed=self.feeds[k], fetch_list=[self.loss], return_numpy=False
            )
        return float(np.array(found[0]).mean())


class Torch:
    """PyTorch, with packed sequences."""

    def __init__(self, threads):
        import torch

        self.torch = torch
        torch.set_num_threads(threads)

    def make(self, name):
        torch = self.torch
        nn = torch.nn
        torch.manual_seed(0)
        if name not in ("lstm", "ctc"):
            raise NotImplementedError("has no operator for it")
        self.name = name
        if name == "lstm":
            parts = [nn.Embedding(WORDS, SIZE), nn.Linear(SIZE, LABELS)]
            parts += [nn.LSTM(SIZE, SIZE) for _ in range(LAYERS)]
        else:
            parts = [nn.Linear(FRAMES, SIZE), nn.Linear(SIZE, CLASSES)]
        self.parts = nn.ModuleList(parts)
        self.optimizer = torch.optim.Adam(self.parts.parameters(), 1e-3)
        self.feeds = batches(name)

    def lstm(self, feed):
        torch = self.torch
        rnn = torch.nn.utils.rnn
        words, lengths = feed["x"]
        rows = torch.from_numpy(words[:, 0])
        x = list(torch.split(self.parts[0](rows), lengths))
        for k in range(LAYERS):
            if k % 2:
                x = [each.flip(0) for each in x]
            packed, _ = self.parts[2 + k](rnn.pack_sequence(x, enforce_sorted=False))
            x = rnn.unpack_sequence(packed)
            if k % 2:
                x = [each.flip(0) for each in x]
        top = torch.stack([each.max(0).values for each in x])
        label = torch.from_numpy(feed["y"][0][:, 0])
        return torch.nn.functional.cross_entropy(self.parts[1](top), label)

    def ctc(self, feed):
        torch = self.torch
        functional = torch.nn.functional
        frames, lengths = feed["x"]
        text, wide = feed["y"]
        rows = self.parts[1](functional.relu(self.parts[0](torch.from_numpy(frames))))
        scores = torch.nn.utils.rnn.pad_sequence(torch.split(rows, lengths))
        loss = functional.ctc_loss(
            scores.log_softmax(2),
            torch.from_numpy(text[:, 0].astype("int64")),
            torch.tensor(lengths),
            torch.tensor(wide),
            reduction="none",
        )
        return loss.mean()

    def step(self, k):
        """The loss of batch ``k``."""
        self.optimizer.zero_grad()
        loss = getattr(self, self.name)(self.feeds[k])
        loss.backward()
        self.optimizer.step()
        return float(loss)


def contestant(title, threads):
    """What runs the steps."""
    if title == "torch":
        return Torch(threads)
    if title == "paddle":
        import paddle.fluid as fluid
    else:
        import fluidlite as fluid
    return Fluid(fluid)


def timed(player, threads):
    """The time of a step for each batch: of the processor, of several threads by the clock."""
    times, now = [], time.process_time if threads == 1 else time.perf_counter
    for k in range(BATCHES):
        begin = now()
        player.step(k)
        times.append(now() - begin)
    return times


def main():
    """Obey until there are no more commands."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print what they like
    player, threads = None, int(sys.argv[2])
    for line in sys.stdin:
        word, argument = json.loads(line)
        try:
            if player is None:
                player = contestant(sys.argv[1], threads)
            if word == "make":
                player.make(argument)
                answer = {"losses": [player.step(k) for k in range(BATCHES)]}
            else:
                answer = {"times": timed(player, threads)}
        except NotImplementedError as error:
            answer = {"missing": str(error)}
        except Exception as error:
            traceback.print_exc()
            answer = {"missing": f"{type(error).__name__}: {error}"[:200]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
