"""A random program while it is built.

All files of the generator are plain Python 3.7 and take ``fluid`` as a value, so that the same
program can be built with fluidlite and with the real fluid 1.8.
"""

import random
from collections import namedtuple

import numpy as np

#: a variable and its shape, in which None stands for the rows of a batch
Value = namedtuple("Value", "var shape")

IDS = 13  #: how many rows tables of embeddings have
CLASSES = 5
WINDOW = 8  #: how many of the youngest values a piece chooses from


class Net:
    """What has been built so far.

    Args:
        fluid: fluidlite, or the real one.
        header: what holds for the whole program.
        dtype: element type of numbers.
    """

    def __init__(self, fluid, header, dtype):
        self.fluid, self.layers = fluid, fluid.layers
        self.header, self.dtype = header, dtype
        self.values = []  #: numbers that later pieces may read, the oldest first
        self.used = set()  #: names of those that something reads
        self.feeds = {}  #: name of a data variable -> (shape, element type, bound of integers)
        self._inputs = {}
        self.losses = []  #: scalars that are part of the loss
        self.interesting = []  #: names that may be fetched
        self.recurrences = 0

    # -- data --------------------------------------------------------------------------------------

    def data(self, name, shape, dtype=None, bound=0):
        """A data variable, made where it is first asked for."""
        dtype = dtype or self.dtype
        if name not in self.feeds:
            self.feeds[name] = shape, dtype, bound
            var = self.fluid.data(name, list(shape), dtype)
            if dtype == self.dtype and not self.header.stopped_data:
                var.stop_gradient = False
            self._inputs[name] = var
        return Value(self._inputs[name], shape)

    def constant(self, rng, shape):
        """Fixed numbers between 0.2 and 1 of either sign, no two alike."""
        numbers = np.random.RandomState(rng.randrange(1 << 30)).uniform(0.2, 1.0, shape)
        numbers = numbers * np.where(np.arange(numbers.size).reshape(shape) % 3 == 1, -1, 1)
        made = self.layers.assign(numbers.astype("float32"))
        if self.dtype != "float32":
            made = self.layers.cast(made, self.dtype)
        made.stop_gradient = True
        return made

    # -- values ------------------------------------------------------------------------------------

    def add(self, var, shape):
        """Note a value that later pieces may read."""
        value = Value(var, tuple(shape))
        self.values.append(value)
        return value

    def add_like(self, var, value):
        return self.add(var, value.shape)

    def choose(self, rng, fits):
        """One of the youngest values that fit, rather one that nothing reads; None where none does.

        Args:
            rng: chooses.
            fits: a function of a shape.
        """
        found = [value for value in self.values if fits(value.shape)][-WINDOW:]
        fresh = [value for value in found if value.var.name not in self.used]
        if not found:
            return None
        value = rng.choice(fresh if fresh and rng.random() < 0.7 else found)
        self.used.add(value.var.name)
        return value

    def matrix(self, rng):
        """Some [rows, columns]."""
        return self.choose(rng, lambda s: len(s) == 2) or self._first_matrix()

    def _first_matrix(self):
        value = self.data("x", (None, self.header.width))
        self.add(*value)
        return value

    def image(self, rng):
        """Some [rows, channels, height, width]."""
        found = self.choose(rng, lambda s: len(s) == 4 and min(s[1:]) > 1)
        if found is not None:
            return found
        value = self.data("image", (None, *self.header.image))
        self.add(*value)
        return value

    def sequence(self, rng):
        """Some [rows, times, columns]."""
        found = self.choose(rng, lambda s: len(s) == 3 and s[1] > 1)
        if found is not None:
            return found
        value = self.data("sequence", (None, *self.header.sequence))
        self.add(*value)
        return value

    def any(self, rng):
        """Some value, whatever its shape."""
        return self.choose(rng, lambda s: True) or self._first_matrix()

    def another(self, rng, value):
        """A value of the same shape, or else the same."""
        found = self.choose(rng, lambda s: s == value.shape)
        return found or value

    def calm(self, var, rng):
        """A value between -2 and 2, of one that may be larger."""
        f = self.layers
        how = rng.randrange(4)
        if how == 0:
            return f.tanh(var)
        if how == 1:
            return f.softsign(var)
        if how == 2:
            return f.sin(var)
        return f.sigmoid(var)

    def temporary(self, value):
        """A copy of a value that may be written to."""
        return self.layers.assign(value.var)

    # -- parameters --------------------------------------------------------------------------------

    def attr(self, rng, name=None):
        """What a layer takes as attributes of a parameter."""
        fluid = self.fluid
        more = {}
        if rng.random() < 0.15:
            more["learning_rate"] = rng.choice([0.5, 2.0])
        if rng.random() < 0.1:
            more["regularizer"] = rng.choice(
                [fluid.regularizer.L2Decay(0.01), fluid.regularizer.L1Decay(0.003)]
            )
        if rng.random() < 0.05:
            more["trainable"] = False
        if name is None and not more:
            return None
        if name is not None:
            more = {"name": name}  # the first use says how the parameter is
        return fluid.ParamAttr(**more)

    def bias(self, rng):
        return False if rng.random() < 0.25 else None

    def state(self, rng, shape, start=0.0, dtype=None):
        """A persistable variable that is no parameter."""
        return self.layers.create_global_var(
            list(shape), start, dtype or self.dtype, persistable=True
        )


def numbers(seed):
    """A source of random numbers that is the same in every Python."""
    return random.Random(seed)
