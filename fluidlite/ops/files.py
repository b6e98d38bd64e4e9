"""Operators that read and write files.

They drive nothing, but like operators that drive blocks they are given the run of the program:
values go from files to variables as they are, with their LoD.
"""

from __future__ import annotations

from ..opdef.attribute import REQUIRED, Long, attr
from ..opdef.definition import Op
from ..opdef.effect import Effect
from ..opdef.sources import TENSOR_FILES

WRITES = Effect("files", "writes", "file_path")


class FileOp(Op, abstract=True):
    """An operator about a file.

    file_path: its path.
    """

    file_path: str = REQUIRED
    grad = None
    effect = Effect("files", "reads", "file_path")


class save(FileOp):
    """Writes X to a file.

    overwrite: whether a file that is there is replaced; else it is an error.
    save_as_fp16: write float16 in the place of float32.
    """

    signature = "X -> kLookupTablePath?~"
    effect = WRITES
    overwrite: bool = True
    save_as_fp16: bool = False

    def execute(self, run):
        TENSOR_FILES.get().write_inputs(self, run)


class save_combine(FileOp):
    """Writes the variables in X to one file, one after the other.

    overwrite: whether a file that is there is replaced; else it is an error.
    save_as_fp16: write float16 in the place of float32.
    save_to_memory: accepted for old programs.
    """

    signature = "X* -> Y?~"
    effect = WRITES
    overwrite: bool = True
    save_as_fp16: bool = False
    save_to_memory: bool = attr(False, inert=True)

    def execute(self, run):
        TENSOR_FILES.get().write_inputs(self, run)


class load(FileOp):
    """Reads Out from a file.

    load_as_fp16: give float16 in the place of float32.
    seek, shape: accepted for old programs.
    """

    signature = " -> Out"
    load_as_fp16: bool = False
    seek: Long = attr(-1, inert=True)
    shape: list[Long] = attr((), inert=True)

    def execute(self, run):
        TENSOR_FILES.get().read_outputs(self, run)


class load_combine(FileOp):
    """Reads the variables in Out from one file, one after the other.

    load_as_fp16: give float16 in the place of float32.
    model_from_memory: accepted for old programs.
    """

    signature = " -> Out*"
    load_as_fp16: bool = False
    model_from_memory: bool = attr(False, inert=True)

    def execute(self, run):
        TENSOR_FILES.get().read_outputs(self, run)
