"""Scripts for paddle 2.6 with images: their losses are those of paddle 2.6.2."""

import json
import os

import numpy as np

from fluidlite import paddle
from fluidlite.paddle import nn
from fluidlite.paddle.nn import functional as F

FILES = os.path.join(os.path.dirname(__file__), "../data/paddle_2")


def begin(net, seed):
    """Give a network start values that another one of its kind has, too."""
    drawn = np.random.RandomState(seed)
    for parameter in net.parameters():
        parameter.set_value(drawn.uniform(-0.3, 0.3, parameter.shape).astype("float32"))
    return net


class Digits(paddle.io.Dataset):
    """Images with a bright column, whose place is the class."""

    def __init__(self, count, seed):
        drawn = np.random.RandomState(seed)
        self.labels = drawn.randint(0, 4, count).astype("int64")
        self.images = drawn.rand(count, 1, 8, 8).astype("float32")
        for image, label in zip(self.images, self.labels):
            image[0, :, 2 * label] += 1.0

    def __getitem__(self, number):
        return self.images[number], self.labels[number : number + 1]

    def __len__(self):
        return len(self.labels)


class SmallNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 4, 3, padding=1), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2, 2)
        )
        self.classes = nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, images):
        return self.classes(self.features(images))


class Losses(paddle.callbacks.Callback):
    def __init__(self):
        self.all = []

    def on_train_batch_end(self, step, logs=None):
        self.all.append(logs["loss"][0])


def classified():
    model, losses = paddle.Model(begin(SmallNet(), 1)), Losses()
    steps = paddle.optimizer.Momentum(0.05, 0.9, parameters=model.parameters(), weight_decay=1e-3)
    model.prepare(steps, nn.CrossEntropyLoss(), paddle.metric.Accuracy())
    model.fit(Digits(40, 2), batch_size=8, epochs=4, verbose=0, callbacks=[losses])
    tested = model.evaluate(Digits(12, 3), batch_size=6, verbose=0)
    return [*losses.all, tested["loss"][0], float(tested["acc"])]


class Segmenting(nn.Layer):
    """A U: down, up, and beside it what was there before."""

    def __init__(self):
        super().__init__()
        self.into, self.down = nn.Conv2D(1, 4, 3, padding=1), nn.Conv2D(4, 8, 3, 2, 1)
        self.up, self.out = nn.Conv2DTranspose(8, 4, 2, 2), nn.Conv2D(8, 2, 1)
        self.norm = nn.GroupNorm(2, 8)

    def forward(self, images):
        fine = F.relu(self.into(images))
        coarse = F.gelu(self.norm(self.down(fine)))
        return self.out(paddle.concat([fine, self.up(coarse)], axis=1))


def segmented():
    drawn = np.random.RandomState(4)
    images = drawn.rand(20, 2, 1, 8, 8).astype("float32")
    masks = (images[:, :, 0] > 0.5).astype("int64")
    net = begin(Segmenting(), 5)
    clip = nn.ClipGradByGlobalNorm(1.0)
    steps = paddle.optimizer.AdamW(0.02, parameters=net.parameters(), grad_clip=clip)
    losses = []
    for image, mask in zip(images, masks):
        scores = net(paddle.to_tensor(image)).transpose([0, 2, 3, 1])
        known = paddle.to_tensor(mask)
        chance = F.softmax(scores, axis=-1)[:, :, :, 1]
        both = (chance * known.astype("float32")).sum()
        dice = 1 - 2 * both / (chance.sum() + known.sum().astype("float32"))
        loss = F.cross_entropy(scores.reshape([-1, 2]), known.flatten()) + dice
        loss.backward()
        steps.step()
        steps.clear_grad()
        losses.append(float(loss))
    return losses


def generated():
    drawn = np.random.RandomState(6)
    real = drawn.normal(1.0, 0.3, [20, 8, 2]).astype("float32")
    noise = drawn.rand(20, 8, 3).astype("float32")
    makes = begin(nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Linear(8, 2)), 7)
    tells = begin(nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1)), 8)
    of_makes = paddle.optimizer.Adam(0.01, beta1=0.5, parameters=makes.parameters())
    of_tells = paddle.optimizer.Adam(0.01, beta1=0.5, parameters=tells.parameters())
    criterion = nn.BCEWithLogitsLoss()
    ones, zeros = paddle.ones([8, 1]), paddle.zeros([8, 1])
    losses = []
    for given, seed in zip(real, noise):
        made = makes(paddle.to_tensor(seed))
        told = criterion(tells(paddle.to_tensor(given)), ones) + criterion(
            tells(made.detach()), zeros
        )
        told.backward()
        of_tells.step()
        of_tells.clear_grad()
        fooled = criterion(tells(made), ones)
        fooled.backward()
        of_makes.step()
        of_makes.clear_grad()
        of_tells.clear_grad()
        losses += [float(told), float(fooled)]
    return losses


with open(os.path.join(FILES, "scripts.json")) as file:
    RECORDED = json.load(file)


def test_a_classifier_is_trained_by_a_model():
    np.testing.assert_allclose(classified(), RECORDED["classified"], atol=1e-5)


def test_images_are_segmented():
    np.testing.assert_allclose(segmented(), RECORDED["segmented"], atol=1e-5)


def test_two_networks_are_trained_against_each_other():
    np.testing.assert_allclose(generated(), RECORDED["generated"], atol=1e-5)
