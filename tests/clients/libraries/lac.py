"""LAC segments and tags sentences with the models that it brings, alone, in batches and with a
user's dictionary, and is trained further with its own answers.
"""

import inspect
import os
import random
import tempfile

import numpy as np
from LAC import LAC

WORDS = ["春天/SEASON", "花 开", "中国科学院的研究员/PER", "黄河岸 边", "银杏树/n", "好 久/d 不见"]


def written(folder, name, lines):
    """The path of a new file of lines."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path


def tagged(answer):
    """An answer as a line of a file to train with."""
    return " ".join(word + "/" + tag for word, tag in zip(*answer))


def joined(answer):
    """Words, or words with their tags, as one text."""
    tags = answer and isinstance(answer[0], list)
    return tagged(answer) if tags else " ".join(answer)


def results(sentences):
    """What the library answers: name -> a value of JSON."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        dictionary = written(folder, "dictionary.txt", WORDS)
        for mode in ("seg", "lac"):
            lac = LAC(mode=mode)
            alone = [lac.run(text) for text in sentences]
            batches = [sentences[at : at + 32] for at in range(0, len(sentences), 32)]
            found[mode] = [joined(answer) for answer in alone]
            found[mode + " in batches"] = alone == [x for batch in batches for x in lac.run(batch)]
            found[mode + " of nothing"] = lac.run("")
            lac.load_customization(dictionary)
            found[mode + " with a dictionary"] = [joined(answer) for answer in lac.run(sentences)]
        plain = LAC()
        os.chdir(folder)
        random.seed(1)
        np.random.seed(1)
        lines = [tagged(plain.run(text)) for text in sentences[:40:3] if " " not in text]
        lines = [
            line.replace("今天/TIME", "今/TIME 天/n").replace("的/u", "的/xc") for line in lines
        ]
        data = written(folder, "train.txt", lines)
        if "iter_num" in inspect.signature(plain.train).parameters:
            plain.train("model", data, data, iter_num=4, thread_num=1)
        else:  # 0.1
            plain.args.epoch, plain.args.cpu_num = 4, 1
            plain.train("model", data, data)
            plain = LAC("model")
        found["trained"] = [joined(answer) for answer in plain.run(sentences)]
        os.chdir("/")
    return found
