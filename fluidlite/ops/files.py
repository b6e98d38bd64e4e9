"""Operators that read and write files.

They drive nothing, but like operators that drive blocks they are given the run of the program:
values go from files to variables as they are, with their LoD.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ..opdef.attribute import REQUIRED, Long, attr
from ..opdef.definition import Op
from ..opdef.effect import Effect
from ..opdef.sources import TENSOR_FILES


class FileOp(Op, abstract=True):
    """An operator about a file.

    file_path: its path.
    """

    file_path: str = REQUIRED
    grad = None
    effect: ClassVar[Effect | None] = Effect("files", "reads", "file_path")


class Saving(FileOp, abstract=True):
    """An operator that writes.

    overwrite: whether a file that is there is replaced; else it is an error.
    save_as_fp16: write float16 in place of float32.
    """

    effect: ClassVar[Effect | None] = Effect("files", "writes", "file_path")
    overwrite: bool = True
    save_as_fp16: bool = False

    def execute(self, run: Any) -> None:
        TENSOR_FILES.get().write_inputs(self, run)


class Loading(FileOp, abstract=True):
    """An operator that reads.

    load_as_fp16: give float16 in place of float32.
    """

    load_as_fp16: bool = False

    def execute(self, run: Any) -> None:
        TENSOR_FILES.get().read_outputs(self, run)


class save(Saving):
    """Writes X to a file.

    overwrite: whether a file that is there is replaced; else it is an error.
    save_as_fp16: write float16 in place of float32.
    """

    signature = "X -> kLookupTablePath?~"


class save_combine(Saving):
    """Writes the variables in X to one file, one after the other.

    overwrite: whether a file that is there is replaced; else it is an error.
    save_as_fp16: write float16 in place of float32.
    save_to_memory: accepted for old programs.
    """

    signature = "X* -> Y?~"
    save_to_memory: bool = attr(False, inert=True)


class load(Loading):
    """Reads Out from a file.

    load_as_fp16: give float16 in place of float32.
    seek, shape: accepted for old programs.
    """

    signature = " -> Out"
    seek: Long = attr(-1, inert=True)
    shape: list[Long] = attr((), inert=True)


class load_combine(Loading):
    """Reads the variables in Out from one file, one after the other.

    load_as_fp16: give float16 in place of float32.
    model_from_memory: accepted for old programs.
    """

    signature = " -> Out*"
    model_from_memory: bool = attr(False, inert=True)
