"""Networks on images lose what they lose in torch, step by step."""

import math

from torch_losses import FlowNumbers, Numbers, assert_as_torch, in_both_precisions, trained

import fluidlite as fluid
from fluidlite import flow, nn

F = nn.functional


class VisionTransformer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2D(3, 8, 4, stride=4)
        self.first = self.create_parameter([1, 1, 8])
        self.places = self.create_parameter([1, 5, 8])
        self.blocks = nn.LayerList(
            [
                nn.TransformerEncoderLayer(
                    8, 2, 16, dropout=0.0, activation="gelu", normalize_before=True
                )
                for _ in range(2)
            ]
        )
        self.norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose([0, 2, 1])
        x = fluid.concat([self.first.expand([x.shape[0], -1, -1]), x], axis=1) + self.places
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


@in_both_precisions
def test_a_vision_transformer(dtype):
    numbers = Numbers(dtype)
    net = numbers.begin(VisionTransformer())
    images, labels = numbers.data("images", 6, 3, 8, 8), numbers.integers("labels", 3, 6)
    rates = fluid.optimizer.lr.CosineAnnealingDecay(0.01, 20)
    adam = fluid.optimizer.AdamW(rates, parameters=net.parameters(), weight_decay=0.05)
    losses = trained(adam, lambda _: F.cross_entropy(net(images), labels), rates.step)
    assert_as_torch("vision_transformer", losses, dtype)


class Block(nn.Layer):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv, self.norm = nn.Conv2D(inputs, outputs, 3, padding=1), nn.BatchNorm2D(outputs)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)))


class UNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.deep = Block(1, 4), Block(4, 6), Block(6, 8)
        self.up2 = nn.Conv2DTranspose(8, 6, 2, stride=2)
        self.up1 = nn.Conv2DTranspose(6, 4, 2, stride=2)
        self.mix2, self.mix1, self.out = Block(12, 6), Block(8, 4), nn.Conv2D(4, 1, 1)

    def forward(self, x):
        large = self.down1(x)
        middle = self.down2(F.max_pool2d(large, 2))
        small = self.deep(F.max_pool2d(middle, 2))
        middle = self.mix2(fluid.concat([middle, self.up2(small)], axis=1))
        return self.out(self.mix1(fluid.concat([large, self.up1(middle)], axis=1)))


@in_both_precisions
def test_a_u_net(dtype):
    numbers = Numbers(dtype)
    net = numbers.begin(UNet())
    images = numbers.data("pictures", 3, 1, 8, 8)
    masks = (images + numbers.data("edges", 3, 1, 8, 8) > 0.3).astype(dtype)
    momentum = fluid.optimizer.Momentum(
        learning_rate=0.05, momentum=0.875, parameters=net.parameters(), weight_decay=1e-3
    )

    def loss(_):
        scores = net(images)
        shares = F.sigmoid(scores)
        overlap = 2 * (shares * masks).sum([1, 2, 3]) + 1
        dice = 1 - overlap / (shares.sum([1, 2, 3]) + masks.sum([1, 2, 3]) + 1)
        return F.binary_cross_entropy_with_logits(scores, masks) + dice.mean()

    assert_as_torch("u_net", trained(momentum, loss), dtype)


class VAE(nn.Layer):
    def __init__(self):
        super().__init__()
        self.hidden, self.mean, self.variance = nn.Linear(10, 8), nn.Linear(8, 2), nn.Linear(8, 2)
        self.wide, self.out = nn.Linear(2, 8), nn.Linear(8, 10)

    def forward(self, x, noise):
        hidden = fluid.tanh(self.hidden(x))
        mean, variance = self.mean(hidden), self.variance(hidden)
        code = mean + fluid.exp(0.5 * variance) * noise
        return self.out(fluid.tanh(self.wide(code))), mean, variance


@in_both_precisions
def test_a_variational_autoencoder(dtype):
    numbers = Numbers(dtype)
    net = numbers.begin(VAE())
    x = F.sigmoid(numbers.data("pixels", 12, 10))
    adam = fluid.optimizer.Adam(0.02, parameters=net.parameters())

    def loss(step):
        scores, mean, variance = net(x, numbers.data(f"noise {step}", 12, 2))
        bits = F.binary_cross_entropy_with_logits(scores, x, reduction="sum")
        divergence = -0.5 * (1 + variance - mean**2 - variance.exp()).sum()
        return (bits + divergence) / 12

    assert_as_torch("variational_autoencoder", trained(adam, loss), dtype)


class Residual(flow.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = flow.nn.GroupNorm(2, width), flow.nn.GroupNorm(4, width)
        self.conv1, self.conv2 = (flow.nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.time = flow.nn.Linear(6, width)

    def forward(self, x, time):
        silu = flow.nn.functional.silu
        y = self.conv1(silu(self.norm1(x))) + self.time(time)[:, :, None, None]
        return x + self.conv2(silu(self.norm2(y)))


class Denoiser(flow.nn.Module):
    def __init__(self):
        super().__init__()
        self.begin = flow.nn.Conv2d(2, 8, 3, padding=1)
        self.first, self.second = Residual(8), Residual(8)
        self.down = flow.nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.end = flow.nn.Conv2d(8, 2, 3, padding=1)

    def forward(self, x, steps):
        rates = flow.exp(-math.log(100.0) * flow.arange(3, dtype=x.dtype) / 3)
        angles = steps[:, None] * rates
        time = flow.cat([flow.sin(angles), flow.cos(angles)], 1)
        x = self.first(self.begin(x), time)
        small = self.second(self.down(x), time)
        larger = flow.nn.functional.interpolate(small, scale_factor=2, mode="nearest")
        return self.end(x + larger)


@in_both_precisions
def test_diffusion_with_group_norm(dtype):
    numbers = FlowNumbers(dtype)
    net = numbers.begin(Denoiser())
    images = numbers.data("samples", 4, 2, 6, 6)
    kept = flow.cumprod(1 - flow.linspace(0.01, 0.2, 10, dtype=images.dtype), 0)
    adam = flow.optim.Adam(net.parameters(), lr=0.005)

    def loss(step):
        steps = (flow.arange(4) + step) % 10
        share = kept[steps][:, None, None, None]
        noise = numbers.data(f"noise of {step}", 4, 2, 6, 6)
        noisy = share.sqrt() * images + (1 - share).sqrt() * noise
        return flow.nn.functional.mse_loss(net(noisy, steps.to(images.dtype)), noise)

    assert_as_torch("diffusion", trained(adam, loss), dtype)
