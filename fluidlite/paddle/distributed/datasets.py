"""Files of slots as paddle 2 sets them up: by words of ``init``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import ArgumentError, UnsupportedError
from ...ground.callsite import warn
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...ir.variable import Variable
from ...readers import files

__all__ = ["BoxPSDataset", "FileInstantDataset", "InMemoryDataset", "QueueDataset"]

#: a word -> the method that takes it, where that is not ``set_`` and the word
_METHODS = {"thread_num": "set_thread", "merge_size": "set_merge_by_lineid"}
#: what is accepted and means nothing here: servers of parameters, remote files, GPUs
_WITHOUT_EFFECT = frozenset(
    [
        "candidate_size", "data_feed_type", "download_cmd", "fea_eval", "fleet_send_batch_size",
        "fleet_send_sleep_seconds", "fs_client", "fs_name", "fs_ugi", "input_type", "queue_num",
        "uid_slot", "use_ps_gpu",
    ]
)  # fmt: skip


class _Settings(files.DatasetBase):
    """The keyword arguments of all of them."""

    def init(
        self,
        batch_size: int = 1,
        thread_num: int = 1,
        use_var: Sequence[Variable] = (),
        pipe_command: str = "cat",
        **others: object,
    ) -> None:
        """Say how files are read.

        Args:
            batch_size: how many lines are a batch.
            thread_num: how many files are read at a time.
            use_var: the variables that lines are fed to: a slot each, in order.
            pipe_command: a command of a shell that gets each file, and writes lines of slots.
            others: accepted: other file systems and servers of parameters, which there are not.

        Raises:
            ArgumentError: there is no such word, or a value is of another kind.
        """
        self.set_batch_size(batch_size)
        self.set_thread(thread_num)
        self.set_use_var(use_var)
        self.set_pipe_command(pipe_command)
        self.tell(others)

    def tell(self, words: dict[str, Any]) -> None:
        """Take what is said by words beside those of ``init``.

        Args:
            words: word -> value.

        Raises:
            ArgumentError: there is no such word.
        """
        methods = {
            word: getattr(self, _METHODS.get(word, f"set_{word}"), None)
            for word in words
            if word not in _WITHOUT_EFFECT
        }
        unknown = [word for word, method in methods.items() if method is None]
        if unknown:
            raise ArgumentError(
                f"{type(self).__name__}: there is no setting {unknown[0]!r}; batch_size, "
                "thread_num, use_var and pipe_command say how files are read"
            )
        if words.get("fea_eval"):
            self.set_fea_eval(words.get("candidate_size", 10000))
        for word, method in methods.items():
            if method is not None:
                method(words[word])

    def feeds(self) -> Iterator[dict[str, Any]]:
        """A pass over the batches: what is fed, by name."""
        self.leave_out_missing()
        return super().feeds()

    def leave_out_missing(self) -> None:
        """Leave out missing files, with a warning, as paddle 2 does."""
        missing = [path for path in self.filelist if not os.path.exists(path)]
        if missing:
            warn(f"{type(self).__name__}: there is no file {', '.join(missing)}; left out", None)
            self.filelist = [path for path in self.filelist if path not in missing]


class QueueDataset(_Settings, files.QueueDataset):
    """Files of slots that are read while a program trains.

    >>> from fluidlite import paddle
    >>> dataset = paddle.distributed.QueueDataset()
    >>> dataset.init(batch_size=2, thread_num=1, use_var=[])
    """


class FileInstantDataset(QueueDataset):
    """Another name of :class:`QueueDataset`."""


class InMemoryDataset(_Settings, files.InMemoryDataset):
    """Files of slots that are read into memory, and shuffled there.

    >>> from fluidlite import paddle
    >>> dataset = paddle.distributed.InMemoryDataset()
    >>> dataset.init(batch_size=2, thread_num=1, use_var=[])
    >>> dataset.update_settings(batch_size=3)
    """

    def update_settings(self, **words: object) -> None:
        """Say some of what ``init`` takes anew.

        Args:
            words: words of ``init``, and ``fea_eval`` with ``candidate_size``.

        Raises:
            ArgumentError: there is no such word, or a value is of another kind.
        """
        self.tell(words)

    _init_distributed_settings = update_settings

    def _set_merge_by_lineid(self, merge_size: int = 2) -> None:
        """Nothing: lines stay as they are."""

    def _set_fea_eval(self, record_candidate_size: int, fea_eval: bool = True) -> None:
        self.set_fea_eval(record_candidate_size, fea_eval)

    def load_into_memory(self, is_shuffle: bool = False) -> None:
        """Read the files.

        Args:
            is_shuffle: whether to shuffle them then.

        Raises:
            FluidError: as :meth:`feeds` does.
        """
        self.leave_out_missing()
        super().load_into_memory()
        if is_shuffle:
            self.local_shuffle()

    def preload_into_memory(self, thread_num: int | None = None) -> None:
        """Begin to read the files, while something else is done.

        Args:
            thread_num: how many are read at a time; as ``init`` says when None.
        """
        self.leave_out_missing()
        super().preload_into_memory(thread_num)

    def set_date(self, date: str) -> None:
        """Nothing: servers of parameters, which there are not, keep days.

        Args:
            date: as ``"20211111"``; accepted.
        """

    def tdm_sample(self, *args: object, **kwargs: object) -> None:
        """Nothing, with an error: trees are sampled by an operator.

        Raises:
            UnsupportedError: always; says what to write instead.
        """
        raise UnsupportedError(
            "tdm_sample: sample trees in the program, with paddle.incubate.layers.tdm_sampler"
        )


class BoxPSDataset(InMemoryDataset):
    """The same; passes of servers of parameters begin and end without effect."""

    def begin_pass(self) -> None:
        """Nothing: there are no servers of parameters."""

    def end_pass(self, need_save_delta: bool) -> None:
        """Nothing: there are no servers of parameters.

        Args:
            need_save_delta: accepted.
        """

    def slots_shuffle(self, slots: Sequence[str]) -> None:
        """Put the values of some slots into another order among the lines; nothing where no lines
        are in memory.

        Args:
            slots: their names.
        """
        if self.get_memory_data_size():
            super().slots_shuffle(slots)


list_public_names(globals())
api_boundaries(globals())
