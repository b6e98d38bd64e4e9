"""A transformer learns to turn short texts around: masks, label smoothing, Noam's rate, beams."""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.io import BatchSampler, DataLoader, Dataset

PAD, BEGIN, END, WORDS = 0, 1, 2, 12


class Reversed(Dataset):
    """Texts of two to five words, and the same words the other way round."""

    def __init__(self, count):
        random = np.random.RandomState(0)
        self.texts = [random.randint(3, WORDS, random.randint(2, 6)) for _ in range(count)]

    def __getitem__(self, index):
        text = self.texts[index].tolist()
        return text + [END], [BEGIN] + text[::-1] + [END]

    def __len__(self):
        return len(self.texts)


def pad(texts):
    longest = max(map(len, texts))
    return np.array([text + [PAD] * (longest - len(text)) for text in texts], dtype="int64")


def collate(batch):
    sources, targets = zip(*batch)
    targets = pad(targets)
    return pad(sources), targets[:, :-1], targets[:, 1:]


class Translator(nn.Layer):
    def __init__(self, width=16):
        super().__init__()
        self.width = width
        self.word = nn.Embedding(WORDS, width, padding_idx=PAD)
        self.place = nn.Embedding(8, width)
        self.transformer = nn.Transformer(
            width, nhead=4, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=32,
            dropout=0.0, activation="gelu", normalize_before=True,
        )  # fmt: skip
        self.out = nn.Linear(width, WORDS)

    def embed(self, words):
        places = paddle.arange(words.shape[1], dtype="int64").unsqueeze(0)
        return self.word(words) * self.width**0.5 + self.place(places)

    def forward(self, source, target):
        hidden = paddle.cast(source == PAD, "float32").unsqueeze([1, 2]) * -1e9
        later = self.transformer.generate_square_subsequent_mask(target.shape[1])
        decoded = self.transformer(self.embed(source), self.embed(target), hidden, later, hidden)
        return self.out(decoded)


def smoothed_loss(scores, words):
    smooth = F.label_smooth(F.one_hot(words, WORDS), epsilon=0.1)
    loss = F.cross_entropy(scores, smooth, soft_label=True, reduction="none").squeeze(-1)
    is_word = (words != PAD).astype("float32")
    return (loss * is_word).sum() / is_word.sum()


def greedy(model, source):
    words = paddle.full([source.shape[0], 1], BEGIN, dtype="int64")
    for _ in range(6):
        following = model(source, words)[:, -1].argmax(axis=-1, keepdim=True)
        words = paddle.concat([words, following], axis=1)
    return words


def main():
    paddle.seed(2023)
    data = Reversed(40)
    sampler = BatchSampler(data, batch_size=8, drop_last=True)
    loader = DataLoader(data, batch_sampler=sampler, collate_fn=collate, return_list=True)
    model = Translator()
    rate = paddle.optimizer.lr.NoamDecay(d_model=16, warmup_steps=10, learning_rate=0.3)
    optimizer = paddle.optimizer.Adam(
        rate, beta1=0.9, beta2=0.98, epsilon=1e-9, parameters=model.parameters(),
        grad_clip=nn.ClipGradByGlobalNorm(5.0),
    )  # fmt: skip
    step = 0
    for _ in range(4):
        model.train()
        for source, target, label in loader:
            loss = smoothed_loss(model(source, target), label)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            rate.step()
            step += 1
            print(f"step {step} loss {loss.item():.7f} rate {optimizer.get_lr():.7f}")
    model.eval()
    with paddle.no_grad():
        source, _, label = next(iter(loader))
        words = greedy(model, source)
        scores = model(source, words[:, :-1])
        print(f"translated {list(words.shape)} {F.softmax(scores).max().item():.6f}")


if __name__ == "__main__":
    main()
