"""Models to be served: the part of a program that computes some variables from others, and the
parameters that it reads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import ArgumentError, FileFormatError, UnknownVariableError, suggestion
from ..ground.callsite import warn
from ..ground.dtypes import DType, Kind
from ..ground.files import Path, Transaction, missing_file, read_bytes, usable_path
from ..ir.analysis import blocks_driven_by, fed_names, fetched_names
from ..ir.block import Block
from ..ir.passes import prune
from ..ir.program import Program, default_main_program
from ..ir.variable import Variable
from ..proto.program import program_from_bytes
from ..proto.state import program_at
from ..runtime.executor import Executor
from ..scope import global_scope
from .variables import is_persistable, load_persistables, values_of, write_variables

MODEL = "__model__"  #: the file of the program where no other name is given
#: how names of copies of results begin, which paddle 2.6 wants to be made by ``scale``
SCALED = "save_infer_model/scale_"


def save_inference_model(
    dirname: Path,
    feeded_var_names: Sequence[str] | str | None,
    target_vars: Sequence[Variable] | Variable,
    executor: Executor,
    main_program: Program | None = None,
    model_filename: str | None = None,
    params_filename: str | None = None,
    export_for_deployment: bool = True,
    program_only: bool = False,
) -> list[str]:
    """Write the part of a program that computes the targets, and the parameters that it reads.

    The program itself stays as it is.

    Args:
        dirname: the folder, created if it does not exist.
        feeded_var_names: names of the variables that are given; none when None.
        target_vars: the variables that the model computes.
        executor: accepted as fluid 1.8 has it; values come from the global scope.
        main_program: the program; the default main program when None.
        model_filename: the file of the program, ``__model__`` when None.
        params_filename: one file for all parameters; a file for each when None.
        export_for_deployment: False writes the whole program, to be trained further.
        program_only: do not write the parameters.

    Returns:
        the names of the targets in the written program.

    Raises:
        UnknownVariableError: the program has no variable of such a name.
        ArgumentError: a target is no variable.
        NotInitializedError: a parameter has no value; run the startup program first.
        FileError: a file cannot be written; says which, and why.

    >>> x = fluid.data("x", [None, 2], "float32")
    >>> y = fluid.layers.fc(x, 1)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> fluid.io.save_inference_model("model", ["x"], [y], exe)
    ['save_infer_model/scale_0.tmp_0']
    >>> program, feeds, targets = fluid.io.load_inference_model("model", exe)
    >>> feeds
    ['x']
    """
    return write_model(
        dirname,
        feeded_var_names,
        target_vars,
        main_program,
        (model_filename, params_filename),
        export_for_deployment,
        program_only,
    )


def write_model(
    dirname: Path,
    feeded_var_names: Sequence[str] | str | None,
    target_vars: Sequence[Variable] | Variable,
    main_program: Program | None,
    filenames: tuple[str | None, str | None],
    export_for_deployment: bool = True,
    program_only: bool = False,
    put_in_form: Callable[[Program], None] | None = None,
) -> list[str]:
    """Write a model.

    Args:
        dirname, feeded_var_names, target_vars, main_program: as of :func:`save_inference_model`.
        filenames: those of the program and of the parameters.
        export_for_deployment, program_only: as there.
        put_in_form: changes the program that is written.
    """
    model_filename, params_filename = filenames
    program = default_main_program() if main_program is None else main_program
    program = getattr(program, "program", program)
    if not isinstance(program, Program):
        raise ArgumentError(f"expected a Program to save, got {program!r:.60}")
    feeds = [feeded_var_names] if isinstance(feeded_var_names, str) else [*(feeded_var_names or ())]
    targets = [target_vars] if isinstance(target_vars, Variable) else target_vars
    _check_ends(program, feeds, targets)
    name = os.path.basename(usable_path("write", model_filename or MODEL))
    params = os.path.basename(usable_path("write", params_filename)) if params_filename else None
    if export_for_deployment:
        model, fetched = inference_program(program, feeds, targets)
    else:
        model, fetched = program, [target.name for target in targets]
        name += ".main_program"
    if any(op.type == "auc" for op in program.global_block().ops):
        warn("the program counts for layers.auc: set its states to zero before saving", None)
    if put_in_form is not None:
        put_in_form(model)
    values = (
        [] if program_only else sorted(values_of(model, global_scope(), is_persistable).items())
    )
    if not values and not program_only:
        warn("the model has no variables to be saved", None)
    with Transaction() as files:
        write_variables(files, dirname, values, params)
        files.write(os.path.join(dirname, name), model.to_bytes())
    return fetched


def _check_ends(program: Program, feeds: Sequence[Any], targets: Any) -> None:
    known = program.global_block().vars
    for feed in feeds:
        if not isinstance(feed, str):
            hint = f"; give its name: {feed.name!r}" if isinstance(feed, Variable) else ""
            raise ArgumentError(f"expected names of variables to feed, got {feed!r:.60}{hint}")
        if feed not in known:
            raise UnknownVariableError(
                f"the program has no variable {feed!r} to feed{suggestion(feed, known)}"
            )
    if not isinstance(targets, Sequence) or not targets:
        raise ArgumentError(f"expected a list of variables as targets, got {targets!r:.60}")
    for target in targets:
        if not isinstance(target, Variable):
            raise ArgumentError(
                f"expected variables as targets, got {target!r:.60}; give the variable, not its "
                "name"
            )
        if target.name not in known:
            raise UnknownVariableError(f"the program has no variable {target.name!r} to fetch")


def inference_program(
    program: Program, feeds: Sequence[str], targets: Sequence[Variable]
) -> tuple[Program, list[str]]:
    """The part of a program that computes the targets, with operators that feed and fetch.

    Args:
        program: stays as it is.
        feeds: names of the variables that are given.
        targets: the variables that the model computes.

    Returns:
        the part, and the names of what it fetches.
    """
    whole = program.clone(for_test=True)
    _remove_ends(whole.global_block())
    wanted = [target.name for target in targets]
    pruned = prune(whole, feeds, wanted)
    block = pruned.global_block()
    _remove_unused_blocks(pruned)
    _check_fed(block, feeds)
    fetched = [_scaled(block, name, k) for k, name in enumerate(wanted)]
    prepend_feed_ops(pruned, feeds)
    append_fetch_ops(pruned, fetched)
    return pruned, fetched


def _remove_ends(block: Block) -> None:
    """Take out the operators that feed and fetch, and what they hold."""
    block.set_ops([op for op in block.ops if op.type not in ("feed", "fetch")])
    holders = (Kind.FEED_MINIBATCH, Kind.FETCH_LIST)
    block.set_vars([v for v in block.vars.values() if v.kind not in holders])


def _remove_unused_blocks(program: Program) -> None:
    """Take out the blocks that no operator drives any more, and number the others anew."""
    used = {0}
    for block in program.blocks:  # parents come first
        if block.idx in used:
            used.update(index for op in block.ops for index in blocks_driven_by(op))
    if len(used) == program.num_blocks:
        return
    numbers = {old: new for new, old in enumerate(sorted(used))}
    program.blocks = [block for block in program.blocks if block.idx in used]
    for block in program.blocks:
        block.idx = numbers[block.idx]
        block.parent_idx = numbers.get(block.parent_idx, -1)
        block.forward_block_idx = numbers.get(block.forward_block_idx, -1)
        for op in block.ops:
            for name in getattr(op.definition, "block_attributes", ()):
                if name in op.attrs:
                    op.set_attr(name, numbers[op.attrs[name]])
    program.touch()


def _check_fed(block: Block, feeds: Sequence[str]) -> None:
    """Warn of a part that reads what nobody gives it."""
    written = set(feeds)
    for op in block.ops:
        for name in op.input_arg_names:
            variable = block.find_var_recursive(name)
            if variable is not None and variable.is_data and name not in written:
                warn(
                    f"the targets depend on {name!r}, which is not among feeded_var_names; who "
                    f"runs the model has to know of it",
                    None,
                )
                written.add(name)
        written.update(op.output_arg_names)


def _scaled(block: Block, name: str, number: int) -> str:
    """The name of a copy of a target, so that it can be fetched whatever becomes of it."""
    target = block.var(name)
    if target.dtype is DType.BOOL or target.kind is not Kind.LOD_TENSOR:
        return name
    count = 0
    while f"{SCALED}{number}.tmp_{count}" in block.vars:
        count += 1
    copied = block.create_var(
        name=f"{SCALED}{number}.tmp_{count}",
        shape=target.shape if target.has_shape else None,
        dtype=target.dtype,
        lod_level=target.lod_level,
    )
    block.append_op("scale", {"X": name}, {"Out": copied}, {"scale": 1.0})
    return copied.name


def prepend_feed_ops(
    inference_program: Program, feed_target_names: Sequence[str], feed_holder_name: str = "feed"
) -> None:
    """Put operators that feed in front of a program.

    Args:
        inference_program: is changed.
        feed_target_names: the variables that are fed, in order.
        feed_holder_name: what the list of fed values is called.

    >>> x = fluid.data("x", [2])
    >>> program = fluid.default_main_program()
    >>> fluid.io.prepend_feed_ops(program, ["x"])
    >>> [op.type for op in program.global_block().ops]
    ['feed']
    """
    if not feed_target_names:
        return
    block = inference_program.global_block()
    holder = block.create_var(name=feed_holder_name, type=Kind.FEED_MINIBATCH, persistable=True)
    for number, name in enumerate(feed_target_names):  # the last one comes first, as paddle has it
        block.prepend_op("feed", {"X": holder}, {"Out": block.var(name)}, {"col": number})


def append_fetch_ops(
    inference_program: Program, fetch_target_names: Sequence[str], fetch_holder_name: str = "fetch"
) -> None:
    """Put operators that fetch behind a program.

    Args:
        inference_program: is changed.
        fetch_target_names: the variables that are fetched, in order.
        fetch_holder_name: what the list of fetched values is called.

    >>> y = fluid.layers.relu(fluid.data("x", [2]))
    >>> program = fluid.default_main_program()
    >>> fluid.io.append_fetch_ops(program, [y.name])
    >>> [op.type for op in program.global_block().ops]
    ['relu', 'fetch']
    """
    block = inference_program.global_block()
    holder = block.create_var(name=fetch_holder_name, type=Kind.FETCH_LIST, persistable=True)
    for number, name in enumerate(fetch_target_names):
        block.append_op("fetch", {"X": block.var(name)}, {"Out": holder}, {"col": number})


def load_inference_model(
    dirname: Path | None,
    executor: Executor,
    model_filename: str | bytes | None = None,
    params_filename: str | bytes | None = None,
    pserver_endpoints: Sequence[str] | None = None,
) -> list[Any]:
    """Read a model that :func:`save_inference_model` wrote: fluid 1.8's, Paddle 2's or 3's.

    Args:
        dirname: the folder; the path without ``.pdmodel`` or ``.json`` of a model of Paddle 2 or 3;
            None where the next two are the bytes themselves.
        executor: loads the parameters into the global scope.
        model_filename: the file of the program, ``__model__`` when None.
        params_filename: the one file of all parameters; a file for each when None.
        pserver_endpoints: accepted for old scripts.

    Returns:
        the program; the names of the variables to feed; the variables to fetch.

    Raises:
        FileError: a file cannot be read; says which, and why.
        FileFormatError: a file is not what it should be; says where.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 3]), 2)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> _ = fluid.io.save_inference_model("model", ["x"], [y], exe)
    >>> program, feeds, fetches = fluid.io.load_inference_model("model", exe)
    >>> exe.run(program, feed={"x": np.ones((1, 3), "float32")}, fetch_list=fetches)[0].shape
    (1, 2)
    """
    if dirname is None:
        if not isinstance(model_filename, bytes):
            raise ArgumentError("expected a folder, or the bytes of a program as model_filename")
        name, data = "the bytes", model_filename
        folder, params = None, b"" if params_filename is None else params_filename
    else:
        folder, path, params = model_files(dirname, model_filename, params_filename)
        name, data = os.fspath(path), read_bytes(path)
    program = program_from_bytes(data, name)
    feeds, fetches = ends_of(program, name)
    load_persistables(executor, folder, program, params)
    return [program, feeds, fetches]


def model_files(
    dirname: Path, model_filename: Any = None, params_filename: Any = None
) -> tuple[str, str, Any]:
    """Where a model lies: the folder, the path of the program, the name of the parameters' file.

    Raises:
        FileError: there is no such folder.
    """
    folder = os.fspath(dirname)
    if not os.path.isdir(folder):
        program = program_at(folder) if model_filename is None else None
        if program is not None:
            folder, stem = os.path.split(folder)
            return folder, program, stem + ".pdiparams"
        raise missing_file(
            f"the model {folder}",
            "there is no such folder; check the path, or give what stands in front of .pdmodel or "
            ".json",
        )
    return folder, os.path.join(folder, model_filename or MODEL), params_filename


def ends_of(program: Program, name: str) -> tuple[list[str], list[Variable]]:
    """What is fed to a program, and what is fetched, in order.

    Args:
        program: with operators that feed and fetch.
        name: what messages call it.

    Raises:
        FileFormatError: it feeds or fetches what it does not declare.
    """
    block = program.global_block()
    feeds, fetches = fed_names(block), fetched_names(block)
    for end in (*feeds, *fetches):
        if end not in block.vars:
            raise FileFormatError(f"{name}: expected a variable {end!r} in block 0, found none")
    for feed in feeds:
        block.vars[feed].is_data = True
    return feeds, [block.vars[end] for end in fetches]
