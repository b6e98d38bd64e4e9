"""Ratings by features of users and movies: two inputs, callbacks, metrics, checkpoints."""

import os

import numpy as np
import paddle
from paddle import nn
from paddle.callbacks import (
    Callback,
    EarlyStopping,
    LRScheduler,
    ModelCheckpoint,
    ReduceLROnPlateau,
)
from paddle.metric import Metric, Precision, Recall
from paddle.static import InputSpec


class Ratings(paddle.io.Dataset):
    def __init__(self, count, seed):
        super().__init__()
        random = np.random.RandomState(seed)
        self.users = random.randint(0, 12, [count, 1]).astype("int64")
        self.movies = random.randint(0, 16, [count, 1]).astype("int64")
        taste = np.random.RandomState(0).randn(12, 3), np.random.RandomState(1).randn(16, 3)
        likes = (taste[0][self.users[:, 0]] * taste[1][self.movies[:, 0]]).sum(axis=1)
        self.likes = (likes > 0).astype("float32").reshape(-1, 1)

    def __getitem__(self, index):
        return self.users[index], self.movies[index], self.likes[index]

    def __len__(self):
        return len(self.users)


class TwoTowers(nn.Layer):
    def __init__(self, size=6):
        super().__init__()
        self.user = nn.Sequential(nn.Embedding(12, size), nn.Flatten(), nn.Linear(size, size))
        self.movie = nn.Sequential(nn.Embedding(16, size), nn.Flatten(), nn.Linear(size, size))
        self.head = nn.Sequential(
            nn.Linear(3 * size, 16), nn.LeakyReLU(0.1), nn.Linear(16, 1), nn.Sigmoid()
        )

    def forward(self, users, movies):
        u, m = self.user(users), self.movie(movies)
        return self.head(paddle.concat([u, m, u * m], axis=1))


class Brier(Metric):
    """The mean square of how far chances are from what came."""

    def __init__(self):
        super().__init__()
        self.reset()

    def name(self):
        return ["brier"]

    def compute(self, chance, label):
        return (chance - label) ** 2

    def update(self, squares):
        self.total += float(squares.sum())
        self.count += squares.size
        return self.accumulate()

    def accumulate(self):
        return self.total / max(self.count, 1)

    def reset(self):
        self.total, self.count = 0.0, 0


class History(Callback):
    def on_train_batch_end(self, step, logs=None):
        print(f"step {step} loss {logs['loss'][0]:.7f} brier {logs['brier']:.6f}")

    def on_epoch_end(self, epoch, logs=None):
        rate = self.model._optimizer.get_lr()
        print(f"epoch {epoch} rate {rate:.5f} precision {logs['precision']:.5f}")

    def on_eval_end(self, logs=None):
        names = [name for name in sorted(logs) if name not in ("batch_size", "loss")]
        values = " ".join(f"{name} {logs[name]:.6f}" for name in names if name != "step")
        print(f"eval loss {logs['loss'][0]:.7f} {values}")


def main():
    paddle.seed(42)
    net = TwoTowers()
    model = paddle.Model(
        net,
        inputs=[InputSpec([None, 1], "int64", "user"), InputSpec([None, 1], "int64", "movie")],
        labels=[InputSpec([None, 1], "float32", "like")],
    )
    rate = paddle.optimizer.lr.NaturalExpDecay(0.02, gamma=0.05)
    optimizer = paddle.optimizer.Adam(rate, parameters=model.parameters())
    model.prepare(optimizer, nn.BCELoss(), [Precision(), Recall(), Brier()])
    callbacks = [
        History(),
        LRScheduler(by_step=False, by_epoch=True),
        EarlyStopping(monitor="loss", patience=2, verbose=0, save_best_model=True),
        ModelCheckpoint(save_freq=2, save_dir="checkpoints"),
    ]
    model.fit(
        Ratings(96, 2), Ratings(32, 3), batch_size=16, epochs=4, shuffle=False, verbose=0,
        callbacks=callbacks, save_dir="checkpoints",
    )  # fmt: skip
    print(sorted(os.listdir("checkpoints")))
    best = paddle.Model(TwoTowers(), inputs=model._inputs)
    best.load("checkpoints/best_model")
    best.prepare(loss=nn.BCELoss(), metrics=Brier())
    print("best", f"{best.evaluate(Ratings(32, 3), batch_size=8, verbose=0)['brier']:.6f}")
    chances = model.predict(Ratings(8, 4), batch_size=4, stack_outputs=True, verbose=0)[0]
    print(chances.shape, f"{chances.mean():.6f}")

    plateau = ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, verbose=0)
    steps = paddle.optimizer.Adam(0.05, parameters=model.parameters())
    model.prepare(steps, nn.BCELoss())
    model.fit(
        Ratings(48, 5), Ratings(32, 3), 16, epochs=4, verbose=0, shuffle=False, callbacks=plateau
    )
    print("plateau", f"{steps.get_lr():.5f}")


if __name__ == "__main__":
    main()
