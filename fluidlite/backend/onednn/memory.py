"""Layouts of arrays, and primitives that are made once and run on whatever arrays come."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from ctypes import addressof, byref, c_char, c_int, c_void_p
from functools import cached_property, partial
from math import prod
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from ...kernels.threads import cores
from ..commands import NativeCommand, PrimitiveCall, address_of_function
from .library import ANY, FLOAT32, SCRATCHPAD, Argument, Library, NotDone, dims

ALIGNMENT = 64  #: bytes; what the library likes
SCRATCHPAD_ARGUMENT = 80
MEMORIES = range(129, 136)  #: queries for the descriptors of what a primitive reads and writes
OWN_SCRATCHPAD = 1  #: the caller gives the scratchpad; the library's belongs to a thread
FLOAT = np.dtype("float32")


class Form(NamedTuple):
    """How the library sees a plain array: its sizes, and the elements between neighbours."""

    sizes: tuple[int, ...]
    steps: tuple[int, ...]


def row_major(sizes: Sequence[int]) -> Form:
    """An array whose last dimension changes first."""
    steps = [1]
    for size in reversed(sizes[1:]):
        steps.insert(0, steps[0] * size)
    return Form(tuple(sizes), tuple(steps))


def channels_last(shape: Sequence[int]) -> Form:
    """Images [sample, ..., channel], which the library sees with the channels before the rest."""
    form = row_major(shape)
    order = (0, len(shape) - 1, *range(1, len(shape) - 1))
    return Form(tuple(shape[i] for i in order), tuple(form.steps[i] for i in order))


class Descriptor:
    """A memory descriptor that is given back when nothing needs it."""

    def __init__(self, library: Library, handle: c_void_p) -> None:
        self.handle = handle
        library.give_back_with(self, "memory_desc", handle)


def any_of(library: Library, sizes: Sequence[int], dtype: int = FLOAT32) -> Descriptor:
    """A descriptor that leaves the layout to the library."""
    made = library.create("memory_desc_create_with_tag", len(sizes), dims(sizes), dtype, ANY)
    return Descriptor(library, made)


def lying(library: Library, form: Form, dtype: int) -> Descriptor:
    """A descriptor of a plain array of some element type."""
    handle = library.create(
        "memory_desc_create_with_strides",
        *(len(form.sizes), dims(form.sizes), dtype, dims(form.steps)),
    )
    return Descriptor(library, handle)


class Layout:
    """Where the elements of a value lie.

    Args:
        library: oneDNN.
        form: the plain array.
        handle: a descriptor, which is copied; that of the plain array when None.
        is_narrow: whether elements have fewer bits than float32.
    """

    def __init__(
        self, library: Library, form: Form, handle: Any = None, is_narrow: bool = False
    ) -> None:
        self.library = library
        self.form = form
        self.is_narrow = is_narrow
        if handle is None:
            self._descriptor = lying(library, form, FLOAT32)
        else:
            cloned = library.create("memory_desc_clone", handle)
            self._descriptor = Descriptor(library, cloned)
        owned_handle = self._descriptor.handle
        self.handle = owned_handle
        self.nbytes: int = library.size(owned_handle)
        #: of the array that holds it, of float32 whatever its elements are
        self.shape: tuple[int] = (-(-self.nbytes // FLOAT.itemsize),)
        #: whether there are zeros that fill blocks up
        self.padded: bool = self.shape[0] != prod(form.sizes)

    @cached_property
    def order(self) -> tuple[int, ...] | None:
        """The dimensions as they lie, the last of them first to change, where they are those of a
        plain array with the channels moved to the end; None where they are not.
        """
        rank = len(self.form.sizes)
        if self.padded or rank < 3 or self.form != row_major(self.form.sizes):
            return None
        same = self == with_channels_last(self.library, self.form.sizes)
        return (0, *range(2, rank), 1) if same else None

    @cached_property
    def block(self) -> int | None:
        """How many channels lie side by side, block behind block; None where they lie otherwise."""
        rank = len(self.form.sizes)
        for block in (16, 8, 4) if rank in (3, 4, 5) else ():
            tag = f"aB{'cde'[: rank - 2]}{block}b".encode()
            handle = self.library.create(
                "memory_desc_create_with_string_tag", *(rank, dims(self.form.sizes), FLOAT32, tag)
            )
            owner = Descriptor(self.library, handle)
            if self.library.equal(self.handle, owner.handle):
                return block
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and (
            self is other
            or (self.form == other.form and self.library.equal(self.handle, other.handle))
        )

    def __hash__(self) -> int:
        return hash((self.form, self.nbytes))

    def __repr__(self) -> str:
        return f"Layout({list(self.form.sizes)}, {self.nbytes} bytes)"


def with_channels_last(library: Library, sizes: Sequence[int]) -> Layout:
    """The layout of plain images whose channels are moved to the end."""
    form = Form(tuple(sizes), channels_last_steps(sizes))
    return Layout(library, row_major(sizes), lying(library, form, FLOAT32).handle)


def channels_last_steps(sizes: Sequence[int]) -> tuple[int, ...]:
    """The elements between neighbours of images whose channels are moved to the end."""
    order = (0, *range(2, len(sizes)), 1)
    steps = row_major([sizes[i] for i in order]).steps
    return tuple(steps[order.index(i)] for i in range(len(sizes)))


def chosen(library: Library, form: Form, handle: Any) -> Layout | None:
    """The layout of a descriptor; None where it is that of the plain array."""
    found = Layout(library, form, handle)
    return None if found == Layout(library, form) else found


def described(library: Library, form: Form, layout: Layout | None) -> Layout:
    """A layout, or in place of None that of the plain array."""
    return Layout(library, form) if layout is None else layout


def aligned(nbytes: int) -> Any:
    """Memory."""
    memory = np.empty(nbytes + ALIGNMENT, "uint8")
    begin = -memory.ctypes.data % ALIGNMENT
    return memory[begin : begin + nbytes]


def new(shape: Sequence[int]) -> Any:
    """An array of float32."""
    return aligned(4 * prod(shape)).view(FLOAT).reshape(shape)


def address_of(array: Any) -> int:
    """Where the first element of an array lies."""
    if array.flags.c_contiguous:
        try:
            return addressof(c_char.from_buffer(array))  # a third of the time
        except (TypeError, ValueError):  # it is read-only
            pass
    found: int = array.__array_interface__["data"][0]
    return found


def plain(array: Any) -> Any:
    """An array that lies as a plain one: itself, or a copy."""
    if array.flags.c_contiguous:
        return array
    made = new(array.shape)
    np.copyto(made, array)
    return made


class ContextFactory:
    """Makes what one run of a plan works in; all its kernels share it.

    Args:
        library: oneDNN.
        most: how many threads the library may have.
    """

    def __init__(self, library: Library, most: int = 1) -> None:
        self.library = library
        self.scratch_bytes = 0
        self._threads, self._most = 1, most
        #: how many threads the library works with just now
        self.thread_count: c_int = c_int(1)
        self.has_threads: bool = most > 1
        #: the number that stands for all threads, which sleep as soon as they wait; 0 for none
        self.asleep: int = 0 if library.parallel is None else most + 1

    @property
    def threads(self) -> int:
        """How many threads the library has just now, or the number for those that sleep."""
        return self._threads

    @threads.setter
    def threads(self, count: int) -> None:
        self._threads, self.thread_count.value = count, min(count, self._most)

    def within(self, threads: int, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function gives, while the library has so many threads.

        A forked process gets one: it would wait for ever for those that it left behind.
        """
        if self.has_threads and self.library.process != os.getpid():
            self.threads = threads = 1
        idle = 0 if threads <= self._most else 1 + cores() - self._most
        working = min(threads, self._most)
        return self.library.within(working, function, *arguments, idle=idle)

    @property
    def nbytes(self) -> int:
        """The size of the scratchpad of one run."""
        return self.scratch_bytes

    def __call__(self) -> ExecutionContext:
        return ExecutionContext(self)


class ExecutionContext:
    """Where one run of a plan at a time works: memories of primitives, and a scratchpad."""

    def __init__(self, contexts: ContextFactory) -> None:
        self._factory = contexts
        self._scratchpad: Any = None
        #: bounds of the norms of values of this run, by number; see ``norms.py``
        self.norms: dict[int, float] = {}
        self.bound: dict[Any, Any] = {}

    @property
    def scratchpad(self) -> Any:
        """Bytes."""
        if self._scratchpad is None or self._scratchpad.nbytes < self._factory.scratch_bytes:
            self._scratchpad = aligned(self._factory.scratch_bytes)
        return self._scratchpad


class Primitive:
    """A primitive.

    Args:
        contexts: of the plan that it is for.
        descriptor: of the primitive; given back with it.
        arguments: pairs of the library's number of an argument and its layout, or the handle of a
            descriptor.

    Raises:
        NotDone: the library has only its reference implementation, which is slow.
    """

    def __init__(
        self,
        contexts: ContextFactory,
        descriptor: PrimitiveDescriptor,
        arguments: Sequence[tuple[int, Any]],
    ) -> None:
        if not descriptor.is_fast and descriptor.kind != "reorder":
            raise NotDone("oneDNN has only a reference implementation")
        library = contexts.library
        self.contexts = contexts
        self.descriptor = descriptor
        #: descriptors are copied: they belong to those of primitives, which may not live as long
        self.arguments: list[tuple[int, Descriptor]] = [
            (number, Descriptor(library, library.create("memory_desc_clone", given)))
            for number, given in ((n, _handle_of(a)) for n, a in arguments)
        ]
        #: by the number of threads that it was made for, and only runs well with
        self._made = {contexts.thread_count.value: Made(contexts, descriptor)}

    def at(self, context: ExecutionContext) -> Callable[..., None]:
        """A function that runs it on arrays, one for each argument."""
        key = self, self.contexts.thread_count.value
        run: Callable[..., None] | None = context.bound.get(key)
        if run is None:
            run = context.bound[key] = _BoundPrimitive(self, self._made_for(key[1]), context).run()
        return run

    def command(self, context: ExecutionContext, arrays: tuple[Any, ...]) -> NativeCommand:
        """What it is in a command buffer; the library has other memories for it."""
        return NativeCommand(
            None,
            partial(self._call, context, len(arrays)),
            arrays,
            True,
            self.contexts.thread_count,
        )

    def _call(self, context: ExecutionContext, arrays: int) -> PrimitiveCall:
        made = self._made_for(self.contexts.thread_count.value)
        return _BoundPrimitive(self, made, context).call(arrays)

    def _made_for(self, threads: int) -> Made:
        """The one for a number of threads, which the library has just now."""
        primitive = self._made.get(threads)
        if primitive is None:
            try:
                again = self.descriptor.again()
                primitive = Made(self.contexts, again) if again.is_like(self.descriptor) else None
            except NotDone:
                pass
            if primitive is None:  # not with the same layouts
                primitive = next(iter(self._made.values()))
            self._made[threads] = primitive
        return primitive


class Made:
    """A primitive of the library, for some number of threads."""

    def __init__(self, contexts: ContextFactory, descriptor: PrimitiveDescriptor) -> None:
        library = contexts.library
        self.kind: str = descriptor.kind
        self._descriptor = descriptor
        self.handle: c_void_p = library.create("primitive_create", descriptor.handle)
        library.give_back_with(self, "primitive", self.handle)
        self.scratch: Any = library.described(descriptor.handle, SCRATCHPAD)
        self.scratch_bytes: int = library.size(self.scratch)
        contexts.scratch_bytes = max(contexts.scratch_bytes, self.scratch_bytes)


class PrimitiveDescriptor:
    """A descriptor of a primitive.

    Args:
        library: oneDNN.
        kind: of the primitive, ``convolution_forward`` or another one.
        arguments: of the function that makes it, between the engine and the attributes.
        relu: whether the results go through relu.
        hint: the descriptor of the forward primitive, for one that goes backward.
        posts: what is done with the results, in order: ``("eltwise", algorithm, alpha, beta)`` or
            ``("binary", algorithm, layout of the other operand)``.
        scaled: numbers of arguments that are multiplied by a number that comes when it runs; with a
            mask of dimensions, pairs of both, by one for each slice along these.

    Raises:
        NotDone: the library has no such primitive.
    """

    def __init__(
        self,
        library: Library,
        kind: str,
        *arguments: Any,
        relu: bool = False,
        hint: PrimitiveDescriptor | None = None,
        posts: Sequence[tuple[Any, ...]] = (),
        scaled: Sequence[int | tuple[int, int]] = (),
    ) -> None:
        self._library = library
        self.kind = kind
        #: what the description refers to
        self._kept = arguments
        self._how: dict[str, Any] = dict(relu=relu, hint=hint, posts=posts, scaled=scaled)
        attributes = library.create("primitive_attr_create")
        try:
            library.call("primitive_attr_set_scratchpad_mode", attributes, OWN_SCRATCHPAD)
            for each in scaled:
                number, mask = each if isinstance(each, tuple) else (each, 0)
                library.call("primitive_attr_set_scales_mask", attributes, number, mask)
            if relu:
                posts = (*posts, ("eltwise", RELU, 0.0, 0.0))
            if posts:
                _set_posts(library, attributes, posts)
            handles = [_handle_of(a) for a in arguments]
            engine = [] if kind == "reorder" else [library.engine]
            behind = [attributes] if hint is None else [hint.handle, attributes]
            self.handle: Any = library.create(
                f"{kind}_primitive_desc_create", *engine, *handles, *behind
            )
            library.give_back_with(self, "primitive_desc", self.handle)
        finally:
            library.destroy("primitive_attr", attributes)
        #: whether it is more than a reference implementation
        name = library.name_of(self.handle)
        self.is_fast: bool = not name.startswith("ref")
        #: whether it makes patches of an image, with the zeros around it
        self.makes_patches: bool = "gemm" in name

    def again(self) -> PrimitiveDescriptor:
        """The same, made for the number of threads that the library has now."""
        return PrimitiveDescriptor(self._library, self.kind, *self._kept, **self._how)

    def is_like(self, other: PrimitiveDescriptor) -> bool:
        """Whether it works on the same layouts as another one."""
        return self.is_fast == other.is_fast and all(
            self._library.equal(self.memory(what, index), other.memory(what, index))
            for what in MEMORIES
            for index in (0, 1)
        )

    def memory(self, what: int, index: int = 0) -> Any:
        """The descriptor of one of its memories."""
        return self._library.described(self.handle, what, index)


RELU = 0x20


def _set_posts(library: Library, attributes: Any, posts: Sequence[tuple[Any, ...]]) -> None:
    post_ops = library.create("post_ops_create")
    try:
        for post, *how in posts:
            library.call(f"post_ops_append_{post}", post_ops, *map(_handle_of, how))
        library.call("primitive_attr_set_post_ops", attributes, post_ops)
    finally:
        library.destroy("post_ops", post_ops)


def _handle_of(argument: Any) -> Any:
    return argument.handle if isinstance(argument, (Layout, Descriptor)) else argument


class _BoundPrimitive:
    """The memories of a primitive in one context, which know their arrays from run to run."""

    def __init__(self, primitive: Primitive, made: Made, context: ExecutionContext) -> None:
        self._made = made  # so that it stays
        library = primitive.contexts.library
        memories = []
        count = len(primitive.arguments) + (made.scratch_bytes > 0)
        listed = (Argument * count)()
        for slot, (number, descriptor) in zip(listed, primitive.arguments):
            memory = library.create("memory_create", descriptor.handle, library.engine, None)
            library.give_back_with(self, "memory", memory)
            memories.append(memory)
            slot.number, slot.memory = number, memory.value
        if made.scratch_bytes:
            self._scratchpad = context.scratchpad
            address = self._scratchpad.ctypes.data
            memory = library.create("memory_create", made.scratch, library.engine, address)
            library.give_back_with(self, "memory", memory)
            memories.append(memory)
            listed[count - 1].number = SCRATCHPAD_ARGUMENT
            listed[count - 1].memory = memory.value
        self._arguments, self._memories = listed, memories
        self._library, self._count = library, count
        self._arrays = len(primitive.arguments)

    def run(self) -> Callable[..., None]:
        """What runs it on arrays, and holds it; it is not held in turn."""
        seen: list[Any] = [_nothing] * self._arrays
        memories, set_data, execute = self._memories, self._library.set_data, self._library.execute
        kind, handle, stream = self._made.kind, self._made.handle, self._library.stream
        count, listed_at = self._count, byref(self._arguments)

        def run(*arrays: Any, _keep: Any = self) -> None:
            for i, array in enumerate(arrays):
                if seen[i]() is not array:
                    set_data(memories[i], address_of(array))
                    seen[i] = ref(array)
            status = execute(handle, stream, count, listed_at)
            if status:
                raise NotDone(f"oneDNN failed to run a {kind}, status {status}")

        return run

    def call(self, arrays: int) -> PrimitiveCall:
        """What runs it from C, on so many arrays."""
        library = self._library
        call = PrimitiveCall(
            address_of_function(library.set_data),
            address_of_function(library.execute),
            *(self._made.handle, library.stream, self._count, addressof(self._arguments)),
            *(arrays, (c_void_p * arrays)(*self._memories[:arrays])),
        )
        call.keeps = self
        return call


def _nothing() -> None:
    """A reference to nothing."""


def reorder(contexts: ContextFactory, source: Layout, target: Layout) -> Primitive:
    """The primitive that copies from one layout to another."""
    library = contexts.library
    descriptor = PrimitiveDescriptor(
        library, "reorder", source, library.engine, target, library.engine
    )
    return Primitive(contexts, descriptor, [(1, source), (17, target)])
