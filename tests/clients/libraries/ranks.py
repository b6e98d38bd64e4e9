"""LAC says how much each word of a sentence weighs, alone and in batches."""

from LAC import LAC


def results(sentences):
    """What the library answers: name -> a value of JSON."""
    lac = LAC(mode="rank")  # on 1.8.5 the first model: one after another answers otherwise there
    alone = [lac.run(text) for text in sentences]
    return {
        "words": [" ".join(words) for words, _, _ in alone[::10]],
        "weights": ["".join(map(str, weights)) for _, _, weights in alone],
        "in batches": lac.run(list(sentences)) == alone,
        "of nothing": lac.run(""),
    }
