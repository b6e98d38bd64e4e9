"""Networks on images in torch; ``tests/networks/test_images.py`` has the same."""

import math

import torch
import torch.nn.functional as F
from numbers_of_torch import network, trained
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(width, width) for _ in range(4)
        )

    def forward(self, x):
        split = lambda y: y.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        q, k, v = (split(p(x)) for p in (self.q_proj, self.k_proj, self.v_proj))
        shares = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), -1)
        return self.out_proj((shares @ v).transpose(1, 2).flatten(2))


class Encoder(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.self_attn = Attention(width, heads)
        self.linear1, self.linear2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        x = x + self.self_attn(self.norm1(x))
        return x + self.linear2(F.gelu(self.linear1(self.norm2(x))))


class VisionTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 8, 4, 4)
        self.first = nn.Parameter(torch.zeros(1, 1, 8))
        self.places = nn.Parameter(torch.zeros(1, 5, 8))
        self.blocks = nn.ModuleList(Encoder(8, 2, 16) for _ in range(2))
        self.norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(len(x), -1, -1), x], 1) + self.places
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


@network
def vision_transformer(numbers):
    net = numbers.begin(VisionTransformer())
    images, labels = numbers.data("images", 6, 3, 8, 8), numbers.integers("labels", 3, 6)
    adam = torch.optim.AdamW(net.parameters(), lr=0.01, weight_decay=0.05)
    rates = torch.optim.lr_scheduler.CosineAnnealingLR(adam, 20)
    return trained(adam, lambda _: F.cross_entropy(net(images), labels), rates.step)


class Block(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.deep = Block(1, 4), Block(4, 6), Block(6, 8)
        self.up2, self.up1 = nn.ConvTranspose2d(8, 6, 2, 2), nn.ConvTranspose2d(6, 4, 2, 2)
        self.mix2, self.mix1, self.out = Block(12, 6), Block(8, 4), nn.Conv2d(4, 1, 1)

    def forward(self, x):
        large = self.down1(x)
        middle = self.down2(F.max_pool2d(large, 2))
        small = self.deep(F.max_pool2d(middle, 2))
        middle = self.mix2(torch.cat([middle, self.up2(small)], 1))
        return self.out(self.mix1(torch.cat([large, self.up1(middle)], 1)))


@network
def u_net(numbers):
    net = numbers.begin(UNet())
    images = numbers.data("pictures", 3, 1, 8, 8)
    masks = (images + numbers.data("edges", 3, 1, 8, 8) > 0.3).to(images.dtype)
    momentum = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.875, weight_decay=1e-3)

    def loss(_):
        scores = net(images)
        shares = torch.sigmoid(scores)
        overlap = 2 * (shares * masks).sum((1, 2, 3)) + 1
        dice = 1 - overlap / (shares.sum((1, 2, 3)) + masks.sum((1, 2, 3)) + 1)
        return F.binary_cross_entropy_with_logits(scores, masks) + dice.mean()

    return trained(momentum, loss)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.mean, self.variance = nn.Linear(10, 8), nn.Linear(8, 2), nn.Linear(8, 2)
        self.wide, self.out = nn.Linear(2, 8), nn.Linear(8, 10)

    def forward(self, x, noise):
        hidden = torch.tanh(self.hidden(x))
        mean, variance = self.mean(hidden), self.variance(hidden)
        code = mean + torch.exp(0.5 * variance) * noise
        return self.out(torch.tanh(self.wide(code))), mean, variance


@network
def variational_autoencoder(numbers):
    net = numbers.begin(VAE())
    x = torch.sigmoid(numbers.data("pixels", 12, 10))
    adam = torch.optim.Adam(net.parameters(), lr=0.02)

    def loss(step):
        scores, mean, variance = net(x, numbers.data(f"noise {step}", 12, 2))
        bits = F.binary_cross_entropy_with_logits(scores, x, reduction="sum")
        divergence = -0.5 * (1 + variance - mean**2 - variance.exp()).sum()
        return (bits + divergence) / 12

    return trained(adam, loss)


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(2, width), nn.GroupNorm(4, width)
        self.conv1, self.conv2 = (nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.time = nn.Linear(6, width)

    def forward(self, x, time):
        y = self.conv1(F.silu(self.norm1(x))) + self.time(time)[:, :, None, None]
        return x + self.conv2(F.silu(self.norm2(y)))


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.begin = nn.Conv2d(2, 8, 3, padding=1)
        self.first, self.second = Residual(8), Residual(8)
        self.down = nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.end = nn.Conv2d(8, 2, 3, padding=1)

    def forward(self, x, steps):
        rates = torch.exp(-math.log(100.0) * torch.arange(3, dtype=x.dtype) / 3)
        angles = steps[:, None] * rates
        time = torch.cat([torch.sin(angles), torch.cos(angles)], 1)
        x = self.first(self.begin(x), time)
        small = self.second(self.down(x), time)
        return self.end(x + F.interpolate(small, scale_factor=2, mode="nearest"))


@network
def diffusion(numbers):
    net = numbers.begin(Denoiser())
    images = numbers.data("samples", 4, 2, 6, 6)
    kept = torch.cumprod(1 - torch.linspace(0.01, 0.2, 10, dtype=images.dtype), 0)
    adam = torch.optim.Adam(net.parameters(), lr=0.005)

    def loss(step):
        steps = (torch.arange(4) + step) % 10
        share = kept[steps][:, None, None, None]
        noise = numbers.data(f"noise of {step}", 4, 2, 6, 6)
        noisy = share.sqrt() * images + (1 - share).sqrt() * noise
        return F.mse_loss(net(noisy, steps.to(images.dtype)), noise)

    return trained(adam, loss)
