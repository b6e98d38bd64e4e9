"""Modules as parts of a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....ground.reprs import Described
from ..module import Module


class ModuleConfig(Described):
    """What can be said of a module of a graph: it concerns several devices, and changes nothing."""

    def __init__(self) -> None:
        self.activation_checkpointing = False
        self.stage_id: int | None = None

    def set_stage(self, stage_id: int | None = None, placement: Any = None) -> None:
        """Say which device computes the module: there is one.

        Args:
            stage_id: kept.
            placement: accepted.
        """
        self.stage_id = stage_id


class GraphModule:
    """A module of a graph: called as the module, whose attributes it has.

    Args:
        module: the module.
        name: what the graph calls it.
    """

    def __init__(self, module: Module, name: str) -> None:
        self.origin = module
        self.name = name
        self.config: ModuleConfig = ModuleConfig()

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """The module, if its class is requested; else this, whose module is cast.

        Args:
            args: a class, or as of ``Module.to``.
            kwargs: as of ``Module.to``.
        """
        if args and isinstance(args[0], type):
            return self.origin if issubclass(args[0], Module) else self
        self.origin.to(*args, **kwargs)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.origin(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "origin":
            raise AttributeError("a part of a graph has no module yet")
        return getattr(self.origin, name)

    def __getitem__(self, index: Any) -> Any:
        held: Any = self.origin
        return held[index]

    def __len__(self) -> int:
        held: Any = self.origin
        return len(held)

    def __iter__(self) -> Iterator[Any]:
        held: Any = self.origin
        return iter(held)

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The module in words: parameters, buffers and modules within."""
        return _lines(self.origin, self.name)


def _lines(module: Any, name: str) -> list[str]:
    head = f"(MODULE:{name}:{type(module).__name__}({module.extra_repr()})): ("
    within = []
    for what, tensors in (("PARAMETER", module.own_parameters), ("BUFFER", module.own_buffers)):
        for key, tensor in tensors.items():
            if tensor is not None:
                wants = "" if tensor.stop else ", requires_grad=True"
                form = f"tensor(..., size={tuple(tensor.shape)}, dtype={tensor.dtype}{wants})"
                within.append(f"({what}:{name}.{key}:{form}): ()")
    for key, part in module.own_modules.items():
        within += [] if part is None else _lines(part, f"{name}.{key}")
    within.append(f"(GraphModule:{name}()): ()")
    return [head, *[f"  {line}" for line in within], ")"]
