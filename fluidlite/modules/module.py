"""What layers and modules of all spellings do with what lies within them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ..eager.engine import located
from ..eager.hooks import HookHandle, Hooks
from ..errors import ArgumentError
from ..ground.fields import own_constructor
from ..ground.quoting import table_markup
from .owning import Owner

M = TypeVar("M", bound="Module")


class Module(Owner):
    """The base of the bases: it knows hooks, goes through what lies within, and can be told to
    train.
    """

    training: bool
    _pre_hooks: Hooks
    _post_hooks: Hooks

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        own_constructor(cls)

    def __init__(self) -> None:
        super().__init__()
        self.__dict__.update(training=True, _pre_hooks={}, _post_hooks={})

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What is computed: written by subclasses.

        Args:
            inputs, kwargs: what the object is called with.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method forward(self, ...)")

    def register_forward_pre_hook(self, hook: Callable[[Any, tuple[Any, ...]], Any]) -> HookHandle:
        """Call a function before ``forward``.

        Args:
            hook: takes the layer or module and the tuple of its inputs; what it returns takes their
                place, unless it is None.

        Returns:
            a handle with ``remove()``.
        """
        return HookHandle(self._pre_hooks, _checked(hook))

    def _call_behind(self, hook: Callable[[Any, tuple[Any, ...], Any], Any]) -> HookHandle:
        """Call a function with the object, its inputs and its outputs after ``forward``."""
        return HookHandle(self._post_hooks, _checked(hook))

    def _before(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The inputs behind the hooks that come first."""
        for hook in list(self._pre_hooks.values()):
            changed = hook(self, inputs)
            if changed is not None:
                inputs = changed if isinstance(changed, tuple) else (changed,)
        return inputs

    def _behind(self, inputs: tuple[Any, ...], outputs: Any) -> Any:
        """The outputs behind the hooks that come last."""
        for hook in list(self._post_hooks.values()):
            changed = hook(self, inputs, outputs)
            outputs = outputs if changed is None else changed
        return outputs

    def _walk(
        self, prefix: str = "", within: bool = True, seen: set[Any] | None = None
    ) -> Iterator[tuple[str, Any]]:
        """This module and those within it, with what the names of their parameters begin with.

        Args:
            prefix: what names begin with.
            within: False for this module alone.
            seen: modules to leave out; grows.  None gives a module as often as it is found.
        """
        if seen is not None:
            if self in seen:
                return
            seen.add(self)
        yield prefix, self
        if within:
            for name, module in self.__dict__[self._within].items():
                if module is not None:
                    yield from module._walk(f"{prefix}{name}.", True, seen)

    def _named(self, kept: str, prefix: str, within: bool) -> Iterator[tuple[str, Any]]:
        """Pairs of where something of one kind is found, and that; each once."""
        seen: set[int] = set()
        for start, module in self._walk(f"{prefix}." if prefix else "", within, set()):
            for name, value in module.__dict__[kept].items():
                if value is not None and id(value) not in seen:
                    seen.add(id(value))
                    yield start + name, value

    def _repr_html_(self) -> str:
        """What a notebook shows: what lies within, with parameters and buffers."""
        rows, counted = [], {}
        for name, module in self._walk():
            own = module.own_parameters
            held = {**own, **module.own_buffers}
            counted.update({id(p): int(p.array.size) for p in own.values() if p is not None})
            tensors = [f"{n} {list(t.array.shape)}" for n, t in held.items() if t is not None]
            kind = f"{type(module).__name__}({module.extra_repr()})"
            rows.append([name.rstrip("."), kind, ", ".join(tensors)])
        total = f"<div>{sum(counted.values()):,} elements in parameters</div>"
        return table_markup(["name", "class", "parameters and buffers"], rows) + total

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Pairs of a name and what lies under it directly within."""
        within = self.__dict__[self._within].items()
        return ((name, each) for name, each in within if each is not None)

    def children(self) -> Iterator[Any]:
        """What lies directly within."""
        return (each for _, each in self.named_children())

    def _train(self, training: bool) -> None:
        for _, module in self._walk("", True, set()):
            object.__setattr__(module, "training", training)

    def apply(self: M, fn: Callable[[Any], Any]) -> M:
        """Call a function with all that lies within, the innermost first, and with this one last.

        Args:
            fn: takes a layer or module; what it returns is dropped.

        Returns:
            this one.

        >>> def zero(layer):
        ...     if isinstance(layer, fluid.nn.Linear):
        ...         layer.weight.set_value(np.zeros(layer.weight.shape))
        >>> net = fluid.nn.Sequential(fluid.nn.Linear(2, 1), fluid.nn.ReLU()).apply(zero)
        >>> net(fluid.ones([1, 2])).tolist()
        [[0.0]]
        """
        for module in self.__dict__[self._within].values():
            if module is not None:
                module.apply(fn)
        fn(self)
        return self


def _checked(hook: Any) -> Any:
    if not callable(hook):
        raise located(ArgumentError, f"expected a function, got {hook!r:.60}")
    return hook
