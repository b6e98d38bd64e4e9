"""A variational autoencoder of small images: sampling with gradients, KL, interpolation."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Encoder(nn.Layer):
    def __init__(self, latent):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2D(1, 4, 3, stride=2, padding=1),
            nn.LayerNorm([4, 4, 4]),
            nn.Swish(),
            nn.Flatten(),
        )
        self.mean = nn.Linear(64, latent)
        self.log_var = nn.Linear(64, latent)

    def forward(self, x):
        h = self.conv(x)
        return self.mean(h), self.log_var(h)


class VAE(nn.Layer):
    def __init__(self, latent=3):
        super().__init__()
        self.encoder = Encoder(latent)
        self.decoder = nn.Sequential(
            nn.Linear(latent, 16),
            nn.ELU(),
            nn.Unflatten(1, [4, 2, 2]),
            nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False),
            nn.Conv2DTranspose(4, 2, 3, stride=2, padding=1, output_padding=1),
            nn.Hardswish(),
            nn.Conv2D(2, 1, 3, padding="same"),
        )

    def reparameterize(self, mean, log_var):
        return mean + paddle.exp(0.5 * log_var) * paddle.randn(mean.shape)

    def forward(self, x):
        mean, log_var = self.encoder(x)
        return self.decoder(self.reparameterize(mean, log_var)), mean, log_var


def vae_loss(logits, x, mean, log_var, beta):
    likely = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    kl = -0.5 * paddle.sum(1 + log_var - mean.pow(2) - log_var.exp())
    return (likely + beta * kl) / x.shape[0], kl / x.shape[0]


def images(count):
    """Squares of different places and sizes."""
    random = np.random.RandomState(3)
    pictures = np.zeros([count, 1, 8, 8], dtype="float32")
    for picture in pictures:
        top, left = random.randint(0, 5, 2)
        size = random.randint(2, 5)
        picture[0, top : top + size, left : left + size] = 1.0
    return pictures


def main():
    paddle.seed(100)
    model = VAE()
    optimizer = paddle.optimizer.AdamW(
        learning_rate=0.01, parameters=model.parameters(), weight_decay=0.01,
        apply_decay_param_fun=lambda name: "b_0" not in name,
    )  # fmt: skip
    data = paddle.io.TensorDataset([paddle.to_tensor(images(40))])
    loader = paddle.io.DataLoader(data, batch_size=8, shuffle=False)
    step = 0
    for epoch in range(4):
        for (x,) in loader:
            logits, mean, log_var = model(x)
            loss, kl = vae_loss(logits, x, mean, log_var, beta=min(1.0, 0.25 * (epoch + 1)))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            step += 1
            print(f"step {step} loss {loss.item():.6f} kl {kl.item():.6f}")
    model.eval()
    with paddle.no_grad():
        ends, _ = model.encoder(paddle.to_tensor(images(2)))
        path = paddle.stack([ends[0] * (1 - t) + ends[1] * t for t in np.linspace(0, 1, 5)])
        bright = F.sigmoid(model.decoder(path)).mean(axis=[1, 2, 3])
    print("between", " ".join(f"{value:.6f}" for value in bright.tolist()))


if __name__ == "__main__":
    main()
