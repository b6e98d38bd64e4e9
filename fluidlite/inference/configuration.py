"""What configurations of both spellings have: where a model lies, and what is switched."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

from ..errors import ArgumentError
from ..ground.docstrings import Family
from ..ground.reprs import Described
from .narrow import serve_in_bfloat16, serve_in_int8
from .pass_names import PaddlePassBuilder
from .served import Served


class Location(Described):
    """Where a model lies, and how it is run.

    Switches are accepted: programs are run in one way here.  A switch for a missing device
    changes nothing, and queries answer so.

    Args:
        model: a folder; with ``params`` the file of the program; or another configuration.
        params: the file of the parameters.

    Raises:
        ArgumentError: these are no paths.
    """

    _shown = "model= params= folder=_folder program=_program"
    #: question -> the answer at first
    questions: ClassVar[dict[str, Any]] = {}

    def __init__(self, model: Any = None, params: str | None = None) -> None:
        self.settings: dict[str, Any] = copy.deepcopy(self.questions)
        self._folder = self._program = self._parameters = ""
        self._contents: tuple[bytes, bytes] | None = None
        if isinstance(model, Location) and params is None:
            vars(self).update(copy.deepcopy(vars(model)))
        elif model is not None:
            self.set_model(model, params)
        elif params is not None:
            raise ArgumentError("expected the file of the program, too")

    def pass_builder(self) -> PaddlePassBuilder:
        """The names of the passes that rewrite plans."""
        return PaddlePassBuilder()

    def set_model(self, model: str, params: str | None = None) -> None:
        """Say where the model lies.

        Args:
            model: a folder; with ``params`` the file of the program.
            params: the file of the parameters.

        Raises:
            ArgumentError: these are no paths.
        """
        for path in (model, "" if params is None else params):
            if not isinstance(path, str):
                raise ArgumentError(f"expected a path of a model, got {path!r:.60}")
        self._contents = None
        if params is None:
            self._folder = model
        else:
            self._program, self._parameters = model, params

    def set_model_buffer(
        self, prog_buffer: bytes, prog_size: int, params_buffer: bytes, params_size: int
    ) -> None:
        """Give the model itself.

        Args:
            prog_buffer: what the file of the program holds.
            prog_size: how many bytes of it.
            params_buffer, params_size: the same of the parameters.

        Raises:
            ArgumentError: these are no bytes.
        """
        if not isinstance(prog_buffer, bytes) or not isinstance(params_buffer, bytes):
            raise ArgumentError("expected the bytes of two files; open them in mode 'rb'")
        self._contents = prog_buffer[:prog_size], params_buffer[:params_size]

    def set_prog_file(self, path: str) -> None:
        """Say which file the program is in.

        Args:
            path: the file.
        """
        self._program = path

    def set_params_file(self, path: str) -> None:
        """Say which file the parameters are in.

        Args:
            path: the file.
        """
        self._parameters = path

    def model_dir(self) -> str:
        """The folder of the model; empty if there is none."""
        return self._folder

    def prog_file(self) -> str | bytes:
        """The file of the program, or the bytes that were given."""
        return self._program if self._contents is None else self._contents[0]

    def params_file(self) -> str | bytes:
        """The file of the parameters, or the bytes that were given."""
        return self._parameters if self._contents is None else self._contents[1]

    def model_from_memory(self) -> bool:
        """Whether the model itself was given."""
        return self._contents is not None

    def load(self) -> Served:
        """The model.

        Raises:
            ArgumentError: nothing says where it lies.
            FileError: a file cannot be read; says which, and why.
            FileFormatError: a file is not what it should be; says where.
        """
        if self._contents is not None:
            served = Served(None, *self._contents)
        elif self._program:
            served = Served.of_files(self._program, self._parameters)
        elif self._folder:
            served = Served.of_folder(self._folder)
        else:
            raise ArgumentError("the configuration names no model; give a folder, or two files")
        served.threads = self.settings["cpu_math_library_num_threads"]
        if self.settings.get("mkldnn_bfloat16_enabled"):
            serve_in_bfloat16(served, self.settings.get("bfloat16_types") or ())
        if self.settings.get("mkldnn_int8_enabled"):
            serve_in_int8(served, self.settings.get("mkldnn_int8_types") or ())
        return served


#: completes the docstrings of configurations, which have an example of their own
CONFIGURATIONS = Family(raises="ArgumentError: these are no paths.").like(Location)
