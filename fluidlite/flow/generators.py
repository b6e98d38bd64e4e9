"""Where random numbers come from, in OneFlow's spelling."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.engine import located
from ..eager.prepared import Generator as Stream
from ..eager.prepared import generator as streams
from ..eager.prepared import stream_guard
from ..errors import ArgumentError
from ..functions import creation
from ..ground.reprs import Described
from . import devices
from .tensor import Tensor

if TYPE_CHECKING:
    from .devices import DeviceLike

_FIRST_SEED = 67280421310721  #: of generators that were given none
_STATE = np.dtype("uint64")


class Generator(Described):
    """A stream of random numbers that functions draw from that are given it.

    Args:
        device: the CPU, or None.

    >>> generator = fluid.flow.Generator()
    >>> _ = generator.manual_seed(3)
    >>> a = fluid.flow.rand(2, generator=generator)
    >>> _ = generator.manual_seed(3)
    >>> bool((a == fluid.flow.rand(2, generator=generator)).all())
    True
    """

    def __init__(self, device: DeviceLike = None) -> None:
        devices.need_cpu(device)
        self._own: Stream = Stream(_FIRST_SEED)

    @property
    def stream(self) -> Stream:
        """What numbers are drawn from."""
        return self._own

    @property
    def device(self) -> devices.device:
        """The CPU."""
        return devices.device("cpu")

    def manual_seed(self, seed: int) -> Generator:
        """Begin anew from a seed.  Returns the generator."""
        self.stream.restart(int(seed))
        return self

    def seed(self) -> int:
        """Begin anew from a seed that nobody foresees, which is returned."""
        number = int(np.random.SeedSequence().generate_state(1, _STATE)[0] >> 11)
        self.manual_seed(number)
        return number

    def initial_seed(self) -> int:
        """The seed that the stream began from."""
        return self.stream.initial

    def get_state(self) -> Tensor:
        """Where the stream is, as bytes."""
        return Tensor.results(np.frombuffer(_packed(self.stream), "uint8").copy())

    def set_state(self, state: Tensor) -> None:
        """Go on where a stream was; see :meth:`get_state`.

        Raises:
            ArgumentError: it is no state.
        """
        _unpack(self.stream, np.asarray(state.array))


class _Default(Generator):
    """The stream that functions draw from that are given none."""

    def __init__(self) -> None:
        """It is there already."""

    @property
    def stream(self) -> Stream:
        return streams.get()

    def manual_seed(self, seed: int) -> Generator:
        creation.seed(seed)
        return self


#: what functions draw from that are given no generator
default_generator: Generator = _Default()


def drawing_from(generator: Generator | None) -> AbstractContextManager[Any]:
    """A guard within which random numbers come from a generator.

    Args:
        generator: which; None for the one that is there.

    Raises:
        ArgumentError: something else.
    """
    if generator is None or generator is default_generator:
        return nullcontext()
    if not isinstance(generator, Generator):
        raise located(ArgumentError, f"expected a Generator or None, got {generator!r:.60}")
    return stream_guard(generator.stream)


def manual_seed(seed: int) -> Generator:
    """Start all random numbers from a seed; gives the generator of them.

    >>> fluid.flow.manual_seed(7).initial_seed(), fluid.flow.initial_seed()
    (7, 7)
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Start all random numbers from a seed that nobody foresees, which is returned.

    >>> isinstance(fluid.flow.seed(), int)
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that random numbers began from.

    >>> generator = fluid.flow.manual_seed(7)
    >>> fluid.flow.initial_seed()
    7
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Where the stream of random numbers is, as bytes.

    >>> state = fluid.flow.get_rng_state()
    >>> x = fluid.flow.rand(2)
    >>> fluid.flow.set_rng_state(state)
    >>> fluid.flow.rand(2).tolist() == x.tolist()
    True
    """
    return default_generator.get_state()


def set_rng_state(state: Tensor) -> None:
    """Go on where the stream of random numbers was; see :func:`get_rng_state`.

    >>> state = fluid.flow.get_rng_state()
    >>> a = fluid.flow.rand(2)
    >>> fluid.flow.set_rng_state(state)
    >>> bool((a == fluid.flow.rand(2)).all())
    True
    """
    default_generator.set_state(state)


def _packed(stream: Stream) -> bytes:
    """A seed, and how far its stream has come, as bytes."""
    state: Any = stream.numpy.bit_generator.state
    inner = state["state"]
    numbers = [*inner["counter"], *inner["key"], *state["buffer"]]
    numbers += [state["buffer_pos"], state["has_uint32"], state["uinteger"], stream.initial]
    return np.array(numbers, _STATE).tobytes()


def _unpack(stream: Stream, array: np.ndarray[Any, Any]) -> None:
    if array.dtype != "uint8" or array.nbytes != len(_packed(stream)):
        raise located(ArgumentError, "expected a state that get_state gave")
    *numbers, position, has, last, initial = np.frombuffer(array.tobytes(), _STATE)
    stream.restart(int(initial))
    state: Any = stream.numpy.bit_generator.state
    counter, key = len(state["state"]["counter"]), len(state["state"]["key"])
    state["state"] = {"counter": numbers[:counter], "key": numbers[counter : counter + key]}
    state["state"] = {name: np.array(value, _STATE) for name, value in state["state"].items()}
    state["buffer"] = np.array(numbers[counter + key :], _STATE)
    state.update(buffer_pos=int(position), has_uint32=int(has), uinteger=int(last))
    stream.numpy.bit_generator.state = state
