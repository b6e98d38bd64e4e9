"""Where random numbers stand: what ``get_rng_state`` gives and ``set_rng_state`` takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..eager.prepared import generator
from ..errors import ArgumentError, NoDeviceError
from ..functions import creation
from ..ground.public_names import list_public_names
from ..ground.seeding import seeds
from ..ground.tracebacks import api_boundaries

__all__ = ["get_cuda_rng_state", "get_rng_state", "seed", "set_cuda_rng_state", "set_rng_state"]


def seed(seed: int) -> DefaultGenerator:
    """Start all random numbers from a seed: tensors draw what they draw on paddle 2.6's CPU, first
    values of parameters and dropout among it, and programs go on where they stopped; readers draw
    numbers of their own.

    Args:
        seed: the same numbers come behind the same seed.

    Returns:
        what the numbers come from.

    >>> from fluidlite import paddle
    >>> generator = paddle.seed(100)
    >>> paddle.randint(0, 100, [4]).tolist()
    [55, 20, 1, 51]
    """
    creation.seed(seed)
    stream = generator.get()
    stream.restart(int(seed), as_paddle=True)
    seeds.get().stream = stream
    return DefaultGenerator()


class DefaultGenerator:
    """What the random numbers of tensors and programs come from.

    >>> from fluidlite import paddle
    >>> paddle.seed(3).initial_seed()
    3
    """

    def manual_seed(self, seed: int) -> DefaultGenerator:
        """Begin anew, as ``paddle.seed`` does.

        Args:
            seed: the same numbers come behind the same seed.
        """
        return _seed(seed)

    def seed(self) -> int:
        """Begin anew from a seed that nobody foresees.  Returns it."""
        number = int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 11)
        _seed(number)
        return number

    def initial_seed(self) -> int:
        """The seed that the numbers began from."""
        return generator.get().initial

    def random(self) -> int:
        """The next number, of 64 bits."""
        return generator.get().word()

    def get_state(self) -> GeneratorState:
        """Where the numbers stand."""
        return GeneratorState()

    def set_state(self, state: GeneratorState) -> None:
        """Go back to where the numbers stood.

        Args:
            state: what :meth:`get_state` gave.

        Raises:
            ArgumentError: it is something else.
        """
        set_rng_state([state])


_seed = seed  # the method has its name


class GeneratorState:
    """Where the numbers of eager operators stand."""

    def __init__(self) -> None:
        self._standing = generator.get().standing

    def restore(self) -> None:
        """Draw from here on what was drawn behind this state."""
        generator.get().standing = self._standing


def get_rng_state(device: str | None = None) -> list[GeneratorState]:
    """Where the random numbers of tensors stand, to go back there.

    Args:
        device: ``"cpu"``, or None.

    Raises:
        NoDeviceError: another device.

    >>> from fluidlite import paddle
    >>> state = paddle.get_rng_state()
    >>> first = paddle.rand([2])
    >>> paddle.set_rng_state(state)
    >>> bool((paddle.rand([2]) == first).all())
    True
    """
    _need_cpu(device)
    return [GeneratorState()]


def set_rng_state(state_list: Sequence[GeneratorState], device: str | None = None) -> None:
    """Go back to where random numbers stood.

    Args:
        state_list: what ``get_rng_state`` gave.
        device: ``"cpu"``, or None.

    Raises:
        ArgumentError: it is something else.
        NoDeviceError: another device.

    >>> state = fluid.paddle.get_rng_state()
    >>> x = fluid.paddle.rand([2])
    >>> fluid.paddle.set_rng_state(state)
    >>> fluid.paddle.rand([2]).tolist() == x.tolist()
    True
    """
    _need_cpu(device)
    if len(state_list) != 1 or not isinstance(state_list[0], GeneratorState):
        raise ArgumentError(f"expected what get_rng_state() gave, got {state_list!r:.60}")
    state_list[0].restore()


def get_cuda_rng_state() -> list[GeneratorState]:
    """No states: there is no GPU.

    >>> fluid.paddle.get_cuda_rng_state()
    []
    """
    return []


def set_cuda_rng_state(state_list: Sequence[GeneratorState]) -> None:
    """Nothing for no states.

    Args:
        state_list: an empty list.

    Raises:
        ArgumentError: it is something else.

    >>> fluid.paddle.set_cuda_rng_state(fluid.paddle.get_cuda_rng_state())
    """
    if len(state_list):
        raise ArgumentError(f"expected no states, as there is no GPU, got {len(state_list)}")


def _need_cpu(device: str | None) -> None:
    if device not in (None, "cpu"):
        raise NoDeviceError(f"there is no device {device!r:.60}: programs run on 'cpu'")


list_public_names(globals())
api_boundaries(globals())
