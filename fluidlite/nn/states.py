"""States of layers: what a layer has, by where it is found, and its return."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import dygraph
from ..eager.hooks import HookHandle, Hooks
from ..eager.recording import TensorRecord
from ..errors import ArgumentError, ShapeError
from ..functions.arguments import DTypeLike
from ..ground.callsite import warn
from ..ground.spellings import parameters_of


class StatefulLayer(dygraph.Layer):
    """A layer that gives its state to hooks, and takes of a state what fits."""

    def __init__(self, name_scope: str | None = None, dtype: DTypeLike = "float32") -> None:
        super().__init__(name_scope, dtype)
        self._state_hooks: Hooks = {}

    def register_state_dict_hook(self, hook: Callable[[dict[str, Any]], Any]) -> HookHandle:
        """Call a function with what ``state_dict`` has found.

        Args:
            hook: takes the dictionary, which it may change; another one that it returns takes its
                place.

        Returns:
            a handle with ``remove()``.

        >>> layer = fluid.nn.Linear(2, 3)
        >>> handle = layer.register_state_dict_hook(lambda state: state.pop("bias"))
        >>> list(layer.state_dict())
        ['weight']
        """
        return HookHandle(self._state_hooks, hook)

    def state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
    ) -> dict[str, Any]:
        """The parameters and persistable buffers, by where they are found.

        The tensors are the layer's own.

        Args:
            destination: where to put them; a new dictionary when None.
            include_sublayers: take those of sublayers, too.
            structured_name_prefix: what names begin with.
            use_hook: give the state to hooks.

        >>> list(fluid.nn.Sequential(fluid.nn.Linear(2, 3)).state_dict())
        ['0.weight', '0.bias']
        """
        options = (include_sublayers, structured_name_prefix, use_hook)
        return _collected(self, destination, *options, every=False)

    @parameters_of(state_dict)
    def to_static_state_dict(self, *given: Any) -> dict[str, Any]:
        """All parameters and buffers, persistable or not."""
        return _collected(self, *given, every=True)

    def set_state_dict(  # type: ignore[override]
        self, state_dict: Mapping[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Give parameters and buffers the values of a state.

        Those that it has no value of their shape for stay as they are, with a warning.

        Args:
            state_dict: arrays or tensors by name, as :meth:`state_dict` gives them.
            use_structured_name: names say where parameters are found; False: they are the
                parameters' own.

        Returns:
            names without a value that fits, and names of the state that nothing here has.

        Raises:
            ArgumentError: a value is no array, or has another element type.

        >>> first, second = fluid.nn.Linear(2, 3), fluid.nn.Linear(2, 3)
        >>> second.set_state_dict(first.state_dict())
        ([], [])
        """
        if not isinstance(state_dict, Mapping):
            raise ArgumentError(
                f"expected a dictionary of arrays by name, got {state_dict!r:.60} of type "
                f"{type(state_dict).__name__}"
            )
        missing, reasons, fitting, own = [], [], [], set()
        for place, tensor in self.state_dict(use_hook=False).items():
            self._need_tensor(tensor, "a value to set")
            key = place if use_structured_name else tensor.name
            try:
                fitting.append((tensor, _fitting(tensor, key, state_dict)))
                own.add(key)
            except (LookupError, ShapeError) as error:
                missing.append(key)
                reasons.append(f"{key!r}: {error.args[0]}")
        for tensor, value in fitting:
            tensor.set_value(value)
        if reasons:
            more = "" if len(reasons) < 6 else f", and {len(reasons) - 5} more"
            warn(f"parameters stay as they are; {'; '.join(reasons[:5])}{more}", None)
        return missing, [name for name in state_dict if name not in own]

    set_dict = set_state_dict  # type: ignore[assignment]
    load_dict = set_state_dict  # type: ignore[assignment]


def _collected(
    layer: Any, destination: Any, within: bool, prefix: str, hooks: bool, *, every: bool
) -> Any:
    """A state, behind the hooks of each layer."""
    state = OrderedDict() if destination is None else destination
    for name, parameter in layer.own_parameters.items():
        if parameter is not None:
            state[prefix + name] = parameter
    for name, buffer in layer.own_buffers.items():
        if buffer is not None and (every or buffer.persistable):
            state[prefix + name] = buffer
    if within:
        for name, inner in layer.own_sublayers.items():
            if inner is not None:
                found = _collected(inner, state, True, f"{prefix}{name}.", hooks, every=every)
                state.update(found)
    for hook in list(getattr(layer, "_state_hooks", {}).values()) if hooks else ():
        changed = hook(state)
        if isinstance(changed, dict):
            state = changed
    return state


def _fitting(tensor: Any, key: str, state: Mapping[str, Any]) -> Any:
    """The value of a state for a tensor.

    Raises:
        LookupError: there is none.
        ShapeError: it has another shape.
        ArgumentError: it is no array, or has another element type.
    """
    if key not in state:
        raise LookupError("the state has no value for it")
    given = state[key]
    if not isinstance(given, (TensorRecord, np.ndarray)):
        raise ArgumentError(f"expected an array for {key!r}, got {given!r:.60}")
    value = given.numpy() if isinstance(given, TensorRecord) else given  # type: ignore[attr-defined]
    own = tensor.array
    if value.shape != own.shape:
        raise ShapeError(
            f"expected a value of shape {list(own.shape)}, got one of shape {list(value.shape)}"
        )
    if value.dtype != own.dtype:
        raise ArgumentError(
            f"expected a value of type {own.dtype} for {key!r}, got one of type {value.dtype}"
        )
    return value
