"""The C interface of oneDNN 3, bound with ctypes, and where the library is found.

Nothing is loaded before :func:`load` is called.
"""

from __future__ import annotations

import ctypes
import os
import site
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from ctypes import POINTER, byref, c_char_p, c_float, c_int, c_int64, c_size_t, c_uint, c_void_p
from functools import cached_property, partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from weakref import ref

from ...errors import FluidError
from ...ground import state
from ...kernels.blas import blas_cores

FILES = ("libdnnl.so.3", "libdnnl.3.dylib")
LARGEST_RANK = 12
FLOAT32, CPU, IN_ORDER, ANY = 3, 1, 1, 1
BFLOAT16, INT8, UINT8 = 2, 5, 6
TRAINING, INFERENCE, BACKWARD = 64, 96, 128
#: what queries ask for
SCRATCHPAD, NAME = 136, 8
#: the instruction sets that kernels are made for; combinations of bits
INSTRUCTIONS = {
    0x1: "SSE4.1",
    0x3: "AVX",
    0x7: "AVX2",
    0xF: "AVX2 with VNNI",
    0x1F: "AVX2 with VNNI, bfloat16 and float16",
    0x27: "AVX-512",
    0x67: "AVX-512 with VNNI",
    0xE7: "AVX-512 with bfloat16",
    0x1EF: "AVX-512 with float16",
    0xFEF: "AVX-512 with AMX",
}

VNNI = 0x48  #: the bits of the sets above that have VNNI
WITH_BFLOAT16 = 0x90  #: those that have products of bfloat16

#: whose kernels OpenBLAS takes, of processors without AVX-512
BEFORE_AVX512 = {"haswell", "zen", "sandybridge", "nehalem", "prescott", "core2", "generic"}

Dims: type[ctypes.Array[c_int64]] = c_int64 * LARGEST_RANK


class NotDone(FluidError, RuntimeError):
    """oneDNN has no kernel for something; NumPy computes it."""


class Version(ctypes.Structure):
    """What the library says of itself."""

    _fields_ = (
        ("major", c_int),
        ("minor", c_int),
        ("patch", c_int),
        ("hash", c_char_p),
        ("cpu_runtime", c_uint),
        ("gpu_runtime", c_uint),
    )


class Argument(ctypes.Structure):
    """One memory that a primitive reads or writes."""

    _fields_ = (("number", c_int), ("memory", c_void_p))


_dims, _handle, _made = POINTER(c_int64), c_void_p, POINTER(c_void_p)
_window = (_dims,) * 4  # strides, dilations, padding before and after
_pool = (_dims,) * 5  # strides, kernel, dilations, padding before and after
#: functions and the types of their arguments; those that do not end in _create give a status, too
SIGNATURES: dict[str, tuple[Any, ...]] = {
    "engine_create": (_made, c_int, c_size_t),
    "stream_create": (_made, _handle, c_uint),
    "memory_desc_create_with_tag": (_made, c_int, _dims, c_int, c_int),
    "memory_desc_create_with_strides": (_made, c_int, _dims, c_int, _dims),
    "memory_desc_create_with_string_tag": (_made, c_int, _dims, c_int, c_char_p),
    "memory_desc_clone": (_made, _handle),
    "memory_desc_destroy": (_handle,),
    "memory_create": (_made, _handle, _handle, _handle),
    "memory_set_data_handle": (_handle, _handle),
    "memory_destroy": (_handle,),
    "primitive_attr_create": (_made,),
    "primitive_attr_set_scratchpad_mode": (_handle, c_int),
    "primitive_attr_set_post_ops": (_handle, _handle),
    "primitive_attr_set_scales_mask": (_handle, c_int, c_int),
    "primitive_attr_destroy": (_handle,),
    "post_ops_create": (_made,),
    "post_ops_append_eltwise": (_handle, c_int, c_float, c_float),
    "post_ops_append_binary": (_handle, c_int, _handle),
    "post_ops_destroy": (_handle,),
    "primitive_desc_query": (_handle, c_int, c_int, c_void_p),
    "primitive_desc_destroy": (_handle,),
    "primitive_create": (_made, _handle),
    "primitive_execute": (_handle, _handle, c_int, c_void_p),
    "primitive_destroy": (_handle,),
    "convolution_forward_primitive_desc_create": (
        *(_made, _handle, c_int, c_int, _handle, _handle, _handle, _handle, *_window, _handle),
    ),
    "convolution_backward_data_primitive_desc_create": (
        *(_made, _handle, c_int, _handle, _handle, _handle, *_window, _handle, _handle),
    ),
    "convolution_backward_weights_primitive_desc_create": (
        *(_made, _handle, c_int, _handle, _handle, _handle, _handle, *_window, _handle, _handle),
    ),
    "pooling_forward_primitive_desc_create": (
        *(_made, _handle, c_int, c_int, _handle, _handle, *_pool, _handle),
    ),
    "pooling_backward_primitive_desc_create": (
        *(_made, _handle, c_int, _handle, _handle, *_pool, _handle, _handle),
    ),
    "batch_normalization_forward_primitive_desc_create": (
        *(_made, _handle, c_int, _handle, _handle, c_float, c_uint, _handle),
    ),
    "batch_normalization_backward_primitive_desc_create": (
        *(_made, _handle, c_int, _handle, _handle, _handle, c_float, c_uint, _handle, _handle),
    ),
    "layer_normalization_forward_primitive_desc_create": (
        *(_made, _handle, c_int, _handle, _handle, _handle, c_float, c_uint, _handle),
    ),
    "layer_normalization_backward_primitive_desc_create": (
        *(_made, _handle, c_int, _handle, _handle, _handle, _handle, c_float, c_uint),
        *(_handle, _handle),
    ),
    "softmax_forward_primitive_desc_create": (
        *(_made, _handle, c_int, c_int, _handle, _handle, c_int, _handle),
    ),
    "softmax_backward_primitive_desc_create": (
        *(_made, _handle, c_int, _handle, _handle, _handle, c_int, _handle, _handle),
    ),
    "lrn_forward_primitive_desc_create": (
        *(_made, _handle, c_int, c_int, _handle, _handle, c_int64),
        *(c_float, c_float, c_float, _handle),
    ),
    "lrn_backward_primitive_desc_create": (
        *(_made, _handle, c_int, _handle, _handle, _handle, c_int64),
        *(c_float, c_float, c_float, _handle, _handle),
    ),
    "eltwise_forward_primitive_desc_create": (
        *(_made, _handle, c_int, c_int, _handle, _handle, c_float, c_float, _handle),
    ),
    "eltwise_backward_primitive_desc_create": (
        *(_made, _handle, c_int, _handle, _handle, _handle, c_float, c_float, _handle, _handle),
    ),
    "matmul_primitive_desc_create": (_made, _handle, _handle, _handle, _handle, _handle, _handle),
    "binary_primitive_desc_create": (_made, _handle, c_int, _handle, _handle, _handle, _handle),
    "reorder_primitive_desc_create": (_made, _handle, _handle, _handle, _handle, _handle),
}


class _Grave(ref[Any]):
    """Notes which handle an object had that is gone."""

    __slots__ = ("handle", "kind")
    handle: Any
    kind: str


class _IdleTeam:
    """Threads of OpenMP without work, as long as this object is there.  Where GNU's OpenMP has more
    threads than processors none of them waits awake.

    Args:
        begin: the function that starts threads.
        nothing: a function that they call.
        count: how many there are.
    """

    def __init__(self, begin: Any, nothing: Any, count: int) -> None:
        queue: SimpleQueue[Any] = SimpleQueue()
        # as in a pool of threads: put in line, without code of Python, when this object goes
        self._end = ref(self, queue.put)
        work = partial(begin, ctypes.cast(nothing, c_void_p), None, c_uint(count + 1), c_uint(0))
        with suppress(RuntimeError):  # there may be no more threads
            threading.Thread(
                target=_stay, args=(work, queue, self._end), name="onednn-idle", daemon=True
            ).start()


def _stay(begin: Callable[[], Any], queue: SimpleQueue[Any], end: ref[_IdleTeam]) -> None:
    """Have a team of this thread, until its object goes."""
    begin()
    queue.get()


class Library:
    """oneDNN, loaded: an engine, a stream, and its functions.

    Args:
        path: of the file.

    Raises:
        OSError: the file cannot be loaded.
        NotDone: it is of another version, or refuses to start.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        #: by their ids; when an owner goes its reference is put in line, by code of C alone: what
        #: an interrupt raises in Python's would be lost
        self._graves: dict[int, _Grave] = {}
        self._opened: deque[_Grave] = deque()
        #: that the threads belong to; one that is forked from it gets none of them
        self.process: int = os.getpid()
        self._library = library = ctypes.CDLL(path)
        library.dnnl_version.restype = POINTER(Version)
        version = library.dnnl_version().contents
        self.version: str = f"{version.major}.{version.minor}.{version.patch}"
        if version.major != 3:
            raise NotDone(f"expected oneDNN 3, got version {self.version} in {path}")
        for name, arguments in SIGNATURES.items():
            function = getattr(library, f"dnnl_{name}")
            function.argtypes, function.restype = arguments, c_int
        library.dnnl_memory_desc_get_size.argtypes = (_handle,)
        library.dnnl_memory_desc_get_size.restype = c_size_t
        library.dnnl_memory_desc_equal.argtypes = (_handle, _handle)
        library.dnnl_primitive_desc_query_md.argtypes = (_handle, c_int, c_int)
        library.dnnl_primitive_desc_query_md.restype = _handle
        library.dnnl_sgemm.argtypes = (
            *(ctypes.c_char, ctypes.c_char, c_int64, c_int64, c_int64, c_float, c_void_p, c_int64),
            *(c_void_p, c_int64, c_float, c_void_p, c_int64),
        )
        self.sgemm: Callable[..., Any] = library.dnnl_sgemm
        self.execute: Callable[..., Any] = library.dnnl_primitive_execute
        self.set_data: Callable[..., Any] = library.dnnl_memory_set_data_handle
        #: those of OpenMP, where the library has its threads from there
        self._set_threads = getattr(library, "omp_set_num_threads", None)
        self._get_threads = getattr(library, "omp_get_max_threads", None)
        self._begin = begin = getattr(library, "GOMP_parallel", None)
        #: where its function is that starts threads
        self.parallel: int | None = None if begin is None else ctypes.cast(begin, c_void_p).value
        #: there while threads are to sleep as soon as they wait
        self._idle: _IdleTeam | None = None
        self.engine: c_void_p = self.create("engine_create", CPU, 0)
        self.stream: c_void_p = self.create("stream_create", self.engine, IN_ORDER)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function.

        Raises:
            NotDone: it gave another status than success.
        """
        status = getattr(self._library, f"dnnl_{name}")(*arguments)
        if status:
            raise NotDone(f"oneDNN refused {name}, status {status}")

    def create(self, name: str, *arguments: Any) -> c_void_p:
        """What a function makes.

        Raises:
            NotDone: it gave another status than success.
        """
        made = c_void_p()
        self.call(name, byref(made), *arguments)
        return made

    def give_back_with(self, owner: Any, kind: str, handle: Any) -> None:
        """Give back what was made some time after its owner has gone."""
        with suppress(IndexError):  # there are no more of them
            while True:
                gone = self._opened.popleft()
                del self._graves[id(gone)]
                self.destroy(gone.kind, gone.handle)
        grave = _Grave(owner, self._opened.append)
        grave.kind, grave.handle = kind, handle
        self._graves[id(grave)] = grave

    def destroy(self, kind: str, handle: c_void_p) -> None:
        """Give back what was made."""
        getattr(self._library, f"dnnl_{kind}_destroy")(handle)

    def size(self, descriptor: Any) -> int:
        """The bytes of what a memory descriptor describes."""
        return int(self._library.dnnl_memory_desc_get_size(descriptor))

    def equal(self, first: Any, second: Any) -> bool:
        """Whether two memory descriptors describe the same."""
        if first is None or second is None:
            return first is second
        return bool(self._library.dnnl_memory_desc_equal(first, second))

    def described(self, primitive: Any, what: int, index: int = 0) -> Any:
        """The descriptor of one of the memories of a primitive; belongs to the primitive's."""
        return self._library.dnnl_primitive_desc_query_md(primitive, what, index)

    def name_of(self, primitive: Any) -> str:
        """What the implementation of a primitive descriptor is called."""
        name = c_char_p()
        self.call("primitive_desc_query", primitive, NAME, 0, byref(name))
        return (name.value or b"").decode()

    @cached_property
    def is_newer_than_blas(self) -> bool:
        """Whether NumPy's BLAS runs on kernels from before AVX-512, and this library does not."""
        return self.instructions.startswith("AVX-512") and bool(blas_cores() & BEFORE_AVX512)

    def within(
        self, threads: int, function: Callable[..., Any], *arguments: Any, idle: int = 0
    ) -> Any:
        """What a function gives, while this thread lets the library have so many threads.

        Args:
            threads: how many work.
            function: is called.
            arguments: with these.
            idle: how many there are beside them, so that they are more than processors, and sleep
                as soon as they wait; 0 where they stay awake for a while.
        """
        if self._set_threads is None or self._get_threads is None:
            return function(*arguments)
        if threads > 1 and bool(idle) != (self._idle is not None):
            self._idle = _IdleTeam(self._begin, self._get_threads, idle) if idle else None
        before = self._get_threads()
        self._set_threads(threads)
        try:
            return function(*arguments)
        finally:
            self._set_threads(before)

    @property
    def has_vnni(self) -> bool:
        """Whether the processor multiplies whole numbers of 8 bits in one instruction."""
        return bool(self._library.dnnl_get_effective_cpu_isa() & VNNI)

    @property
    def has_bfloat16(self) -> bool:
        """Whether the processor multiplies numbers of bfloat16."""
        return bool(self._library.dnnl_get_effective_cpu_isa() & WITH_BFLOAT16)

    @property
    def instructions(self) -> str:
        """The newest instructions that it uses."""
        found = self._library.dnnl_get_effective_cpu_isa()
        return INSTRUCTIONS.get(found, hex(found))


def dims(numbers: Sequence[int]) -> Any:
    """Numbers as the library takes sizes; it reads as many as it has room for."""
    return Dims(*numbers)


class Window:
    """What moves over an image: strides and the other numbers that functions take."""

    window: tuple[tuple[Any, ...], ...]

    @property
    def steps(self) -> list[Any]:
        """The window as functions take it."""
        return [dims(numbers) for numbers in self.window]


def candidates() -> Iterator[Path | str]:
    """Where the library may be: with the interpreter, beside modules, and where the system looks.

    The wheel puts it into the ``lib`` of what it is installed to.
    """
    places = [Path(sys.prefix), Path(sys.base_prefix)]
    if site.ENABLE_USER_SITE and site.USER_BASE:
        places.append(Path(site.USER_BASE))
    for entry in sys.path:
        folder = Path(entry)
        if folder.name in ("site-packages", "dist-packages"):
            places += [folder, *folder.parents[2:3]]
    for place in dict.fromkeys(places):
        for name in FILES:
            yield place / "lib" / name
    yield from FILES


def load() -> Library | None:
    """The library; None where it is not installed, or is of another version."""
    return _loaded.get()[0]


def _load() -> list[Library | None]:
    for candidate in candidates():
        if isinstance(candidate, Path) and not os.path.isfile(candidate):
            continue
        try:
            return [Library(str(candidate))]
        except (OSError, AttributeError, NotDone):  # not for this machine, or another version
            continue
    return [None]


_loaded: state.StateSlot[list[Library | None]] = state.slot("onednn", _load)
