"""Names by which scripts of fluid 1.8's time reach into blocks, operators and programs.

Each is a name only, for what the classes that inherit from these do under one of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..ground.protected import answers
from ..opdef.definition import find
from .variable import Variable, declared_like

if TYPE_CHECKING:
    from .block import Block
    from .operator import Operator
    from .program import Program
    from .variable import Parameter

VERSION = 1_008_005  #: of fluid whose interface this is, as its program files write it


def _called(name: str) -> Any:
    """A method that calls another one of the object, of this name."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self, name)(*args, **kwargs)

    return method


class OldOperator:
    """Of operators."""

    __slots__ = ()

    def _set_attr(self: Any, name: str, val: Any) -> None:
        self.mark(name, val)

    _update_desc_attr = _set_attr
    _remove_attr = _called("unmark")

    def _rename_input(self: Any, old_name: str, new_name: str) -> None:
        self.rename_input(old_name, new_name)

    def _rename_output(self: Any, old_name: str, new_name: str) -> None:
        self.rename_output(old_name, new_name)

    def _block_attr_id(self: Any, name: str) -> int:
        return int(self.attrs[name])

    def _block_attr(self: Any, name: str) -> Block:
        found: Block = self.block.program.block(self._block_attr_id(name))
        return found

    def _blocks_attr_ids(self: Any, name: str) -> list[int]:
        return [int(index) for index in self.attrs[name]]

    def _blocks_attr(self: Any, name: str) -> list[Block]:
        return [self.block.program.block(index) for index in self._blocks_attr_ids(name)]

    def _is_optimize_op(self: Any) -> bool:
        return bool(self.role & 2)

    def _has_kernel(self: Any, op_type: str) -> bool:
        definition = find(op_type)
        return definition is not None and definition.execute is None


class OldBlock:
    """Of blocks."""

    __slots__ = ()

    @property
    def backward_block_idx(self: Any) -> int:
        """The block of its gradients; -1 if there is none."""
        blocks = self.program.blocks
        return next((b.idx for b in blocks if b.forward_block_idx == self.idx), -1)

    @property
    def removed_vars(self) -> dict[str, Variable]:
        """The variables that were taken out: none is kept."""
        return {}

    def iter_parameters(self: Any) -> list[Parameter]:
        """The parameters declared here, in order."""
        found: list[Parameter] = self.all_parameters()
        return found

    _find_var_recursive = _called("find_var_recursive")
    _var_recursive = _called("var_recursive")
    _insert_op = _called("insert_op")
    _prepend_op = _called("prepend_op")
    _remove_op = _called("remove_op")
    _remove_var = _called("drop_var")

    def _slice_ops(self: Any, start: int, end: int) -> list[Operator]:
        found: list[Operator] = self.ops[start:end]
        return found

    def _rename_var(self: Any, name: str | bytes, new_name: str | bytes) -> Variable:
        old, new = (n.decode() if isinstance(n, bytes) else n for n in (name, new_name))
        renamed: Variable = self.rename_var(old, new)
        return renamed

    def _clone_variable(self: Any, var: Variable, force_persistable: bool = True) -> Variable:
        fed: dict[str, Any] = dict(is_data=var.is_data, need_check_feed=var.need_check_feed)
        return declared_like(var, self, persistable=force_persistable or var.persistable, **fed)

    def _copy_param_info_from(self: Any, other: Block) -> None:
        parameters = {}
        for parameter in other.all_parameters():
            parameters[parameter.name] = twin = parameter.copy_to(self)
            twin.carried = self.var(parameter.name).carried
        self.vars.update(parameters)
        self.program.touch()

    def _set_forward_block_idx(self: Any, idx: int) -> None:
        self.forward_block_idx = idx

    def _sync_with_cpp(self) -> None:
        """Nothing: there is no second copy to keep in step."""


@answers(_endpoints=lambda self: [], _trainers_endpoints=lambda self: [])
class OldProgram:
    """Of programs."""

    #: what libraries for many machines note of a program
    _distributed_lookup_table = _fleet_opt = _parameters_on_pservers = _pipeline_opt = None
    _program_config = _ps_endpoint = None
    _enable_dgc = _use_hierarchical_allreduce = _use_lamb = False
    _hierarchical_allreduce_inter_nranks, _nccl_comm_num = 0, 1
    _is_distributed = False
    _is_chief = False
    _appending_grad_times = 0

    @property
    def _op_role(self: Any) -> int:
        return int(self.role)

    @_op_role.setter
    def _op_role(self: Any, role: int) -> None:
        self.role: int = int(role)

    _current_role = _op_role

    @property
    def _op_role_var(self: Any) -> list[str]:
        return list(self.role_vars)

    @_op_role_var.setter
    def _op_role_var(self: Any, names: Iterable[str]) -> None:
        self.role_vars: tuple[str, ...] = tuple(names)

    def _backward_role_guard(self: Any) -> AbstractContextManager[None]:
        guard: AbstractContextManager[None] = self.as_role(1)
        return guard

    def _optimized_guard(
        self: Any, param_and_grads: Iterable[Variable | str]
    ) -> AbstractContextManager[None]:
        guard: AbstractContextManager[None] = self.as_role(2, param_and_grads)
        return guard

    def _lr_schedule_guard(self: Any, is_with_opt: bool = False) -> AbstractContextManager[None]:
        guard: AbstractContextManager[None] = self.as_role(18 if is_with_opt else 16)
        return guard

    _create_block = _called("create_block")
    _rollback = _called("leave_block")

    def _get_desc(self: Any) -> Any:
        return self.desc

    def _version(self) -> int:
        return VERSION

    def _sync_with_cpp(self) -> None:
        """Nothing: there is no second copy to keep in step."""

    def _prune(self: Any, targets: Any) -> Program:
        return self._prune_with_input([], targets)

    def _prune_with_input(
        self: Any, feeded_var_names: Iterable[Variable | str], targets: Any
    ) -> Program:
        made: Program = self.pruned(feeded_var_names, _names_of(targets))
        return made

    def _inference_optimize(self: Any, prune_read_op: bool = True) -> Program:
        made: Program = self.switched_to_test()
        return made

    def _copy_param_info_from(self: Any, other: Program) -> None:
        self.global_block()._copy_param_info_from(other.global_block())

    _copy_dist_param_info_from = _copy_param_info_from

    def _copy_data_info_from(
        self: Any, other: Program, pruned_origin_block_id_map: dict[int, int] | None = None
    ) -> None:
        origins = pruned_origin_block_id_map or {}
        for block in self.blocks:
            origin = other.block(origins.get(block.idx, block.idx))
            for name, variable in block.vars.items():
                source = origin.vars.get(name)
                if source is not None:
                    variable.is_data = source.is_data
                    variable.stop_gradient = source.stop_gradient
        self.touch()


def _names_of(targets: Any) -> list[str]:
    """The variables that targets are, or that they write."""
    names: list[str] = []
    for target in targets if isinstance(targets, (list, tuple)) else [targets]:
        written: list[str] | None = getattr(target, "output_arg_names", None)
        name = target if isinstance(target, str) else getattr(target, "name", None)
        if written is not None:
            names += written
        elif isinstance(name, str):
            names.append(name)
        else:
            raise ArgumentError(
                f"expected variables, their names or operators to prune to, got {target!r:.60} of "
                f"type {type(target).__name__}"
            )
    return names
