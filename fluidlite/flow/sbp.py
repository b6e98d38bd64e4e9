"""How the parts of a tensor lie with several processes, in OneFlow's spelling.

There is one process, so that all of them mean the whole tensor.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ground.public_names import list_public_names

__all__ = ["broadcast", "partial_sum", "sbp", "split"]


@dataclass(frozen=True)
class sbp:
    """One way in which the parts of a tensor lie."""

    kind: str
    dim: int | None = None

    def of_rank(self, rank: int) -> sbp:
        """The way in which a result of so many dimensions lies; a sum where the dimension of the
        parts is gone.
        """
        return partial_sum if self.dim is not None and self.dim >= rank else self

    def __repr__(self) -> str:
        more = "" if self.dim is None else f"(dim={self.dim})"
        return f"oneflow.sbp.{self.kind}{more}"


#: each process has the whole tensor
broadcast: sbp = sbp("broadcast")
#: the tensor is the sum of what the processes have
partial_sum: sbp = sbp("partial_sum")


def split(dim: int) -> sbp:
    """Each process has a part along a dimension.

    >>> fluid.flow.sbp.split(0)
    oneflow.sbp.split(dim=0)
    """
    return sbp("split", int(dim))


list_public_names(globals())
