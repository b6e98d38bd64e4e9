"""Skip-gram with negative sampling: sparse gradients, an iterable data set, nearest words."""

import numpy as np
import paddle
from paddle import nn
from paddle.io import DataLoader, IterableDataset

WORDS, SIZE, NEGATIVES = 30, 8, 4


class Pairs(IterableDataset):
    """Words of a corpus with one of their neighbours, and words that are none."""

    def __init__(self, length, window=2):
        random = np.random.RandomState(7)
        steps = random.randint(-3, 4, length)
        self.corpus = np.cumsum(steps) % WORDS
        self.window = window
        counts = np.bincount(self.corpus, minlength=WORDS) ** 0.75
        self.chances = counts / counts.sum()

    def __iter__(self):
        random = np.random.RandomState(8)
        for place, center in enumerate(self.corpus):
            for shift in range(-self.window, self.window + 1):
                if shift == 0 or not 0 <= place + shift < len(self.corpus):
                    continue
                others = random.choice(WORDS, NEGATIVES, p=self.chances)
                words = np.concatenate([[self.corpus[place + shift]], others])
                labels = np.array([1.0] + [0.0] * NEGATIVES, dtype="float32")
                yield np.int64(center), words.astype("int64"), labels


class SkipGram(nn.Layer):
    def __init__(self):
        super().__init__()
        near = paddle.ParamAttr(
            name="center", initializer=nn.initializer.Uniform(-0.5 / SIZE, 0.5 / SIZE)
        )
        far = paddle.ParamAttr(name="around", initializer=nn.initializer.XavierUniform())
        self.center = nn.Embedding(WORDS, SIZE, sparse=True, weight_attr=near)
        self.around = nn.Embedding(WORDS, SIZE, sparse=True, weight_attr=far)

    def forward(self, centers, words):
        products = self.around(words) * self.center(centers).unsqueeze(1)
        return paddle.sum(products, axis=-1)


def nearest(weight, word, count=3):
    weight = nn.functional.normalize(weight, axis=1)
    likeness = paddle.matmul(weight, weight[word : word + 1], transpose_y=True).flatten()
    values, places = paddle.topk(likeness, count + 1)
    return places[1:].tolist(), values[1:].tolist()


def main():
    paddle.seed(11)
    model = SkipGram()
    loader = DataLoader(Pairs(90), batch_size=16, drop_last=True)
    adam = paddle.optimizer.Adam(
        paddle.optimizer.lr.PolynomialDecay(0.1, decay_steps=20, end_lr=0.01),
        parameters=model.parameters(), lazy_mode=True,
    )  # fmt: skip
    criterion = nn.BCEWithLogitsLoss(reduction="mean")
    for step, (centers, words, labels) in enumerate(loader()):
        loss = criterion(model(centers, words), labels)
        loss.backward()
        if step == 0:
            print("sparse", model.center.weight.grad is not None, model.center._sparse)
        adam.step()
        adam.clear_grad()
        adam._learning_rate.step()
        print(f"step {step} loss {float(loss):.7f}")
        if step == 19:
            break
    places, values = nearest(model.center.weight, 5)
    print("nearest", places, " ".join(f"{value:.5f}" for value in values))


if __name__ == "__main__":
    main()
