"""Digits in a strip of ink: convolution, a recurrent net in both directions, CTC, edit distance."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

CLASSES, WIDTH = 5, 24  # class 0 is the blank


class Strips(paddle.io.Dataset):
    """Strips with two to four marks, whose height is the class."""

    def __init__(self, count):
        random = np.random.RandomState(9)
        self.images = 0.1 * random.rand(count, 1, 8, WIDTH).astype("float32")
        self.labels = []
        for image in self.images:
            marks = random.randint(1, CLASSES, random.randint(2, 5))
            for place, mark in enumerate(marks):
                image[0, 2 * mark - 2 : 2 * mark, 6 * place + 1 : 6 * place + 5] = 1.0
            self.labels.append(marks)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]

    def __len__(self):
        return len(self.images)


def collate(samples):
    images, labels = zip(*samples)
    lengths = np.array([len(label) for label in labels], dtype="int64")
    padded = np.zeros([len(labels), lengths.max()], dtype="int32")
    for row, label in zip(padded, labels):
        row[: len(label)] = label
    return np.stack(images), padded, lengths


class Reader(nn.Layer):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2D(1, 6, 3, padding=1, bias_attr=False),
            nn.BatchNorm2D(6),
            nn.ReLU6(),
            nn.MaxPool2D(kernel_size=[2, 1], stride=[2, 1]),
        )
        self.rnn = nn.GRU(24, 10, num_layers=2, direction="bidirectional", time_major=True)
        self.out = nn.Linear(20, CLASSES)

    def forward(self, images):
        features = self.backbone(images)  # [N, C, H, W]
        columns = paddle.flatten(features, start_axis=1, stop_axis=2).transpose([2, 0, 1])
        hidden, _ = self.rnn(columns)
        return self.out(hidden)  # [W, N, classes]


def decode(scores):
    """The best class of each column, without repetitions and blanks."""
    texts = []
    for row in scores.argmax(axis=-1).transpose([1, 0]).numpy():
        kept = [int(c) for c, before in zip(row, [0, *row[:-1]]) if c != before and c != 0]
        texts.append(kept)
    return texts


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row, before = [i], row
        for j, y in enumerate(b, 1):
            row.append(min(row[-1] + 1, before[j] + 1, before[j - 1] + (x != y)))
    return row[-1]


def main():
    paddle.seed(6)
    model = Reader()
    ctc = nn.CTCLoss(blank=0, reduction="mean")
    loader = paddle.io.DataLoader(
        Strips(32), batch_size=8, shuffle=False, collate_fn=collate, num_workers=0
    )
    optimizer = paddle.optimizer.Adam(
        learning_rate=paddle.optimizer.lr.OneCycleLR(0.03, total_steps=21),
        parameters=model.parameters(), grad_clip=nn.ClipGradByValue(max=1.0, min=-1.0),
    )  # fmt: skip
    step = 0
    for _ in range(5):
        for images, labels, lengths in loader:
            scores = model(images)
            sizes = paddle.full([images.shape[0]], scores.shape[0], dtype="int64")
            loss = ctc(scores, labels, sizes, lengths)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            optimizer._learning_rate.step()
            print(f"step {step} loss {loss.item():.6f} rate {optimizer.get_lr():.6f}")
            step += 1
    model.eval()
    errors = count = 0
    with paddle.no_grad():
        for images, labels, lengths in loader:
            scores = model(images)
            for text, label, length in zip(decode(scores), labels.tolist(), lengths.tolist()):
                errors, count = errors + distance(text, label[:length]), count + length
    print(f"errors {errors} of {count} sure {F.softmax(scores).max(axis=-1).mean().item():.5f}")


if __name__ == "__main__":
    main()
