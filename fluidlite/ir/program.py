"""Programs: blocks, and the two that are built by default."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..ground import state
from ..ground.arguments import refused
from ..ground.copies import shallow_copy
from ..ground.reprs import Described
from ..ground.tracebacks import api_boundary
from ..ground.weak_tables import WeakTable
from ..opdef.attribute import whole_number
from ..opdef.redefinition import redefinitions
from .analysis import parameters_of
from .block import Block
from .descriptions import BlockDesc
from .display_hooks import VIEWS
from .encoding import ENCODING
from .fluid_names import OldProgram
from .foreign import allow_in, mark_text
from .kept_values import KEPT_VALUES
from .message_text import ProgramTexts, program_message, texts
from .operator import Operator, OpRole
from .parse import parse_into
from .passes import prune
from .pruning import Dropped, only_for_test, switch_to_test
from .readable_text import readable_program
from .text import program_text
from .variable import Parameter, Variable
from .verify import verify as verify_program

if TYPE_CHECKING:
    import networkx

    from ..ground.values import LoDTensor
    from ..inspect.diff import Difference
    from ..inspect.summary import Summary
    from ..scope import Scope


class Program(OldProgram):
    """Blocks of variables and operators; block 0 is where it begins.

    >>> program = Program()
    >>> x = program.global_block().create_var(name="x", shape=[-1, 3], dtype="float32")
    >>> program.num_blocks
    1
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = [Block(self, 0)]
        self.current_block_idx: int = 0
        self._changes = 0
        self.role: int = OpRole.FORWARD
        self.role_vars: tuple[str, ...] = ()
        self._seed = _seed_of_all.get()
        #: what a program file says of it that has no field here; ``proto/`` keeps it
        self.carried: Any = None
        #: what ``clone(for_test=True)`` left out when it made this program
        self.dropped: Dropped | None = None
        #: what executors remember of it
        self.remembered: WeakTable[Any, Any] = WeakTable()
        #: the cells of a notebook that built into it, and the number of the run that did
        self.built_by: dict[str, int] = {}
        #: name of a variable -> what gives the number that it holds in the next run
        self.schedules: dict[str, Callable[[], Any]] = {}
        #: whether it stands for what runs at once: variables that it is asked for are tensors
        self.at_once = False

    # -- blocks ------------------------------------------------------------------------------------

    def global_block(self) -> Block:
        """Block 0."""
        return self.blocks[0]

    def block(self, index: int) -> Block:
        """The block of that index."""
        return self.blocks[index]

    def current_block(self) -> Block:
        """The block that layers append to."""
        return self.blocks[self.current_block_idx]

    @property
    def num_blocks(self) -> int:
        """How many blocks there are."""
        return len(self.blocks)

    def create_block(self, parent_idx: int | None = None, forward_block_idx: int = -1) -> Block:
        """A new block, which becomes the current one.

        Args:
            parent_idx: the block it belongs to; the current one when None.
            forward_block_idx: the block whose gradient it computes, if it does.
        """
        parent = self.current_block_idx if parent_idx is None else parent_idx
        made = self.add_block(parent, forward_block_idx)
        self.current_block_idx = made.idx
        return made

    def add_block(self, parent_idx: int, forward_block_idx: int = -1) -> Block:
        """A new block, which does not become the current one; arguments as of
        :meth:`create_block`.
        """
        made = Block(self, len(self.blocks), parent_idx, forward_block_idx)
        self.blocks.append(made)
        self.touch()
        return made

    def leave_block(self) -> None:
        """Make the current block's parent the current one."""
        self.current_block_idx = self.current_block().parent_idx

    def touch(self) -> None:
        """Note that the program changed."""
        self._changes += 1

    @property
    def revision(self) -> int:
        """Goes up with every change, and where an operator is defined anew; caches compare it."""
        return self._changes + redefinitions.count

    # -- contents ----------------------------------------------------------------------------------

    @property
    def random_seed(self) -> int:
        """What random operators start from; 0 leaves it to them."""
        return self._seed

    @random_seed.setter
    def random_seed(self, seed: int) -> None:
        try:
            self._seed = whole_number(seed)
        except (TypeError, ValueError, OverflowError):
            raise ArgumentError(
                f"expected the random seed to be an integer, got {seed!r}"
            ) from None
        self.touch()

    @staticmethod
    def global_seed(seed: int = 0) -> None:
        """Let the default programs, and those that are made from now on, start from a seed.

        Args:
            seed: 0 for other numbers in every run.
        """
        default_main_program().random_seed = seed
        default_startup_program().random_seed = seed
        _seed_of_all.switch(default_main_program().random_seed)

    def state_dict(self, mode: str = "all", scope: Scope | None = None) -> dict[str, LoDTensor]:
        """The values of the variables that stay between runs.

        Args:
            mode: "param" for parameters, "opt" for what optimizers keep, "all" for both.
            scope: where they are; the global scope when None.

        Returns:
            name -> tensor, which shows what the scope holds.

        Raises:
            ArgumentError: there is no such mode.
            NotInitializedError: a variable has no value; run the startup program first.
        """
        found: dict[str, LoDTensor] = KEPT_VALUES.get().state_dict(self, mode, scope)
        return found

    def set_state_dict(self, state_dict: Mapping[str, Any], scope: Scope | None = None) -> None:
        """Give variables values; a warning names those that are missing, or do not fit.

        Args:
            state_dict: name -> tensor or array.
            scope: where they are; the global scope when None.

        Raises:
            ArgumentError: this is no dictionary.
            UnknownVariableError: the scope has no variable of a name.
        """
        KEPT_VALUES.get().set_state_dict(self, state_dict, scope)

    def list_vars(self) -> Iterator[Variable]:
        """All variables, block by block."""
        for block in self.blocks:
            yield from block.vars.values()

    def all_parameters(self) -> list[Parameter]:
        """All parameters, in order of creation."""
        return [p for block in self.blocks for p in block.all_parameters()]

    @contextmanager
    def as_role(self, role: int, role_vars: Iterable[Variable | str] = ()) -> Iterator[None]:
        """Give the operators made inside a role.

        Args:
            role: bits of :class:`OpRole`.
            role_vars: the parameter and the gradient that they are about.
        """
        before = self.role, self.role_vars
        self.role = role
        self.role_vars = tuple(v if isinstance(v, str) else v.name for v in role_vars)
        try:
            yield
        finally:
            self.role, self.role_vars = before

    # -- trust -------------------------------------------------------------------------------------

    @api_boundary
    def allow(self, *kinds: str) -> Program:
        """Let operators that came from a file or from bytes have effects outside of the scope.

        Without this a program that was read may compute and print only.

        Args:
            kinds: "files" for reading and writing files, "python" for calling Python functions,
                "processes" for exchanging values with other processes.

        Returns:
            the program itself.

        Raises:
            ArgumentError: there is no effect of a kind.

        >>> text = 'program (seed=0) {\\n block 0 {\\n save(X=x, file_path="y")\\n }\\n}'
        >>> program = Program.parse(text)
        >>> fluid.Executor().run(program)
        Traceback (most recent call last):
        ...
        fluidlite.errors.ForeignEffectError: ...
        >>> program.allow("files") is program
        True
        """
        allow_in(self, kinds)
        self.touch()
        return self

    @api_boundary
    def verify(self, feeds: Iterable[str] = ()) -> None:
        """Check that the program keeps the rules that every program keeps: names are declared, and
        written before they are read; slots, attributes and shapes are those that operators define.

        Args:
            feeds: names that are given a value from outside beside the data variables.

        Raises:
            VerifyError: it breaks a rule; names the rule, the block, the operator and its line.

        >>> fluid.default_main_program().verify()
        """
        verify_program(self, feeds)

    # -- copies ------------------------------------------------------------------------------------

    @api_boundary
    def clone(self, for_test: bool = False) -> Program:
        """A copy that shares nothing with this program but the parameters' names.

        Args:
            for_test: leave out backward, optimizer and learning-rate operators and the variables
                that only they mention, and let dropout and batch norm work as in tests; before or
                after ``minimize``, the clone is the same.  Its ``dropped`` says what was left out.
        """
        copied = Program()
        copied._seed = self._seed
        copied.carried = self.carried
        copied.schedules = dict(self.schedules)
        copied.current_block_idx = self.current_block_idx
        copied.blocks = [_copy_block(block, copied) for block in self.blocks]
        if for_test:
            copied.current_block_idx = 0
            copied.dropped = only_for_test(copied)
        return copied

    def switched_to_test(self) -> Program:
        """A copy in which dropout, batch norm and the like work as in tests."""
        made = self.clone()
        switch_to_test(made)
        return made

    def pruned(self, feeds: Iterable[Variable | str], fetches: Iterable[Variable | str]) -> Program:
        """A copy without the operators that some variables do not need.

        Args:
            feeds: variables that are given; what computes them is not needed.
            fetches: variables to fetch.
        """
        return prune(self, feeds, fetches)

    def __getstate__(self) -> dict[str, Any]:
        """What pickling keeps: all but what others remember of this object."""
        return {**self.__dict__, "remembered": WeakTable()}

    def __deepcopy__(self, memo: dict[int, Any]) -> Program:
        copied = self.clone()
        memo[id(self)] = copied
        for mine, theirs in zip(self.blocks, copied.blocks, strict=True):
            memo[id(mine)] = theirs
            memo.update({id(v): theirs.vars[name] for name, v in mine.vars.items()})
            memo.update({id(op): twin for op, twin in zip(mine.ops, theirs.ops, strict=True)})
        return copied

    @classmethod
    @api_boundary
    def parse(cls, text: str) -> Program:
        """The program that a text describes: the inverse of ``str(program)``.

        Args:
            text: a program in the text format; operators that nobody defined are allowed.

        Raises:
            ParseError: the text is no program.
        """
        made = cls()
        parse_into(made, text)
        mark_text(made, text)
        return made

    @staticmethod
    @api_boundary
    def parse_from_string(binary_str: bytes) -> Program:
        """The program that the bytes of a program file describe: fluid's ProgramDesc.

        Args:
            binary_str: what :meth:`to_bytes` gives, or the content of a ``__model__`` or
                ``.pdmodel`` file; operators that nobody defined are allowed.

        Raises:
            FileFormatError: the bytes are no program; says at which byte, and why.
        """
        made = Program()
        ENCODING.get().decode(made, binary_str, "the program")
        return made

    def to_bytes(self, call_sites: bool | None = None) -> bytes:
        """The program as fluid's ProgramDesc, the content of a program file.

        What a program file holds and this class does not (unknown fields and attributes) is
        written as it was read.

        Args:
            call_sites: True writes where operators were made, with the paths of this machine;
                False leaves out even what a program file said; None keeps that and adds nothing.

        >>> program = Program()
        >>> Program.parse_from_string(program.to_bytes()).num_blocks
        1
        """
        return ENCODING.get().encode(self, call_sites)

    def serialize_to_string(self) -> bytes:
        """:meth:`to_bytes` by its old name."""
        return self.to_bytes()

    @property
    def desc(self) -> ProgramDesc:
        """What old scripts call the program's description."""
        return ProgramDesc(self)

    @staticmethod
    def _construct_from_desc(desc: ProgramDesc) -> Program:
        return desc.program

    def __str__(self) -> str:
        if texts.get() is ProgramTexts.READABLE:
            return readable_program(self)
        return program_message(self) if texts.get() is ProgramTexts.MESSAGES else program_text(self)

    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        """The program in the text format; under the alias that of its message, as in fluid 1.8.

        Args:
            throw_on_error: accepted for old scripts.
            with_details: print attributes at their default and full call sites too.
        """
        if texts.get() is not ProgramTexts.OWN:
            return program_message(self, with_details)
        return program_text(self, detail=with_details)

    def __repr__(self) -> str:
        ops = sum(len(block.ops) for block in self.blocks)
        parameters = len(parameters_of(self))
        return f"<Program: {self.num_blocks} blocks, {ops} operators, {parameters} parameters>"

    # -- views -------------------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        return VIEWS.get().html(self)

    def diff(self, other: Program) -> Difference:
        """What another program has that this one has not, and the reverse: what a pass, ``clone``,
        ``append_backward`` or ``minimize`` changed.

        Args:
            other: the program after the change.

        Returns:
            differences, which print as text and show in colours in a notebook; false when there
            are none.

        >>> before = Program.parse("program (seed=0) {\\n block 0 {\\n }\\n}")
        >>> after = before.clone()
        >>> x = after.global_block().create_var(name="x", shape=[3], dtype="float32")
        >>> print(before.diff(after))
        1 variable added
        block 0
          + var x: float32[3]
        """
        return VIEWS.get().difference(self, other)

    def graph(self, block: int = 0) -> networkx.DiGraph[Any]:
        """The values and operators of a block as a networkx graph; ``fluid.inspect.value_graph``
        says more.

        Args:
            block: the number of the block.
        """
        network: networkx.DiGraph[Any] = VIEWS.get().graph(self, block)
        return network

    def summary(self, batch_size: int = 1) -> Summary:
        """Layers, output shapes, parameters, multiply-adds and memory, to be printed.

        Args:
            batch_size: what sizes of -1 are taken for.
        """
        return VIEWS.get().summary(self, batch_size)


class ProgramDesc(Described):
    """A program under the method names of fluid's descriptions.

    Args:
        source: the program; or the bytes of one, or the description of one that is copied.
    """

    def __init__(self, source: Program | ProgramDesc | bytes | None = None) -> None:
        if isinstance(source, bytes):
            self.program: Program = Program.parse_from_string(source)
        elif isinstance(source, ProgramDesc):
            self.program = source.program.clone()
        else:
            self.program = Program() if source is None else source

    def block(self, index: int) -> BlockDesc:
        """The block of that index."""
        return BlockDesc(self.program.block(index))

    def num_blocks(self) -> int:
        """How many blocks there are."""
        return self.program.num_blocks

    def append_block(self, parent: BlockDesc) -> BlockDesc:
        """A new block in another one."""
        return BlockDesc(self.program.add_block(parent.id))

    def serialize_to_string(self) -> bytes:
        """The program as bytes: :meth:`Program.to_bytes`."""
        return self.program.to_bytes()

    def parse_from_string(self, data: bytes) -> None:
        """Become the program that bytes describe.

        Raises:
            FileFormatError: the bytes are no program.
        """
        found = Program.parse_from_string(data)
        self.program.carried, self.program.current_block_idx = found.carried, 0
        self.program.blocks = [_copy_block(block, self.program) for block in found.blocks]
        self.program.touch()

    def _version(self) -> int:
        return ENCODING.get().version(self.program)

    def _set_version(self, version: int = 1008005) -> None:
        ENCODING.get().set_version(self.program, version)

    def get_feed_target_names(self) -> list[str]:
        """The variables that the program's ``feed`` operators fill, by their columns."""
        feeds = [op for op in self.program.global_block().ops if op.type == "feed"]
        return [op.output("Out")[0] for op in sorted(feeds, key=_column)]

    def get_fetch_target_names(self) -> list[str]:
        """The variables that the program's ``fetch`` operators give, by their columns."""
        fetches = [op for op in self.program.global_block().ops if op.type == "fetch"]
        return [op.input("X")[0] for op in sorted(fetches, key=_column)]

    def flush(self) -> None:
        """Nothing: there is no second copy to keep in step."""


def _column(op: Operator) -> int:
    column: int = op.attr("col")
    return column


def _copy_block(block: Block, program: Program) -> Block:
    copied = Block(program, block.idx, block.parent_idx, block.forward_block_idx)
    copied.carried = block.carried
    copied.driver = block.driver
    copied.set_vars([variable.copy_to(copied) for variable in block.vars.values()])
    copied.set_ops([copy_operator(op, copied) for op in block.ops])
    return copied


def copy_operator(op: Operator, block: Block) -> Operator:
    """The same operator for another block."""
    made = shallow_copy(op)
    made.block = block
    return made


_main: state.StateSlot[Program] = state.slot("main program", Program)
_startup: state.StateSlot[Program] = state.slot("startup program", Program)
#: what the random seed of a new program is
_seed_of_all: state.StateSlot[int] = state.slot("seed of new programs", int)


def default_main_program() -> Program:
    """The program that layers append to.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 3]), 2)
    >>> [op.type for op in fluid.default_main_program().global_block().ops]
    ['mul', 'elementwise_add']
    """
    return _main.get()


def default_startup_program() -> Program:
    """The program that gives parameters their first values.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 3]), 2)
    >>> [op.type for op in fluid.default_startup_program().global_block().ops]
    ['fill_constant', 'uniform_random']
    """
    return _startup.get()


def switch_main_program(program: Program) -> Program:
    """Make another program the default.  Returns the one before."""
    return _main.switch(program)


def switch_startup_program(program: Program) -> Program:
    """Make another startup program the default.  Returns the one before."""
    return _startup.switch(program)


def programs_are_guarded() -> bool:
    """Whether this thread is within :func:`program_guard`."""
    return _main.is_covered or _startup.is_covered


@api_boundary
def program_guard(
    main_program: Program, startup_program: Program | None = None
) -> AbstractContextManager[None]:
    """Build into other programs inside a ``with`` block, in this thread.

    Args:
        main_program: what layers append to.
        startup_program: what initialises parameters; the one in use when None.

    Raises:
        ArgumentError: an argument is no program.

    >>> main, startup = Program(), Program()
    >>> with program_guard(main, startup):
    ...     default_main_program() is main
    True
    """
    for name, program in (("main_program", main_program), ("startup_program", startup_program)):
        if not isinstance(program, Program) and not (program is None and name == "startup_program"):
            raise refused("", name, "a Program", program)
    return _building_into(main_program, startup_program or _startup.get())


@contextmanager
def _building_into(main: Program, startup: Program) -> Iterator[None]:
    with _main.guard(main), _startup.guard(startup):
        yield


@contextmanager
def building_within(block: Block) -> Iterator[None]:
    """Let layers append to a block that may have been left, inside a ``with`` block."""
    program = block.program
    before, program.current_block_idx = program.current_block_idx, block.idx
    try:
        with _main.guard(program):
            yield
    finally:
        program.current_block_idx = before
