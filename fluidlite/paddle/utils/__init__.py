"""``paddle.utils`` of paddle 2.6."""

from __future__ import annotations

from ...ground.module_tables import Table, give_names, hold_modules
from . import dlpack, download
from .checks import deprecated, require_version, try_import

__all__ = [
    "deprecated", "dlpack", "download", "require_version", "try_import",
]  # fmt: skip

_NESTS = (
    "assert_same_structure convert_to_list copy_mutable_vars flatten hold_mutable_vars "
    "is_sequence map_structure pack_sequence_as"
)
_MODULES: Table = {
    "cpp_extension": {},
    "deprecated": {"paddle.utils.checks": "deprecated"},
    "flops": {"paddle.hapi": "flops"},
    "install_check": {"fluid.install_check": "run_check"},
    "layers_utils": {"fluid.layers.utils": _NESTS, "fluid.data_feeder": "check_dtype"},
    "lazy_import": {"paddle.utils.checks": "try_import"},
    "unique_name": {"fluid.unique_name": "generate guard switch"},
}
_below = hold_modules(globals(), _MODULES)
give_names(globals(), {**_MODULES["layers_utils"], **_MODULES["install_check"]}, _below)
