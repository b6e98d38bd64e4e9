"""Where the names of each module of fluid 1.8 come from.

One table: a module of 1.8 -> the modules of this package that hold its own names, asked in turn.  A
module that is not listed has its names where the module around it has them.  What a module of 1.8
had from another one is asked of that one, so a name is said once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from ..ground.fluid_paths import own_name
from .names import Entry, is_listed, listed
from .refused import refused

_ROOT = __name__.split(".", 1)[0]

SOURCES: dict[str, str] = {
    "paddle": "compat.modules.top",
    "paddle.batch": "reader",
    "paddle.reader": "reader readers.merging io",
    "paddle.compat": "compat.modules.texts",
    "paddle.version": "compat.modules.version",
    "paddle.check_import_scipy": "compat.modules.top",
    "paddle.sysconfig": "compat.modules.top",
    "paddle.utils": "compat.modules.plotting",
    "paddle.dataset": "compat.dataset",
    "paddle.dataset.common": "compat.dataset.homes",
    "paddle.dataset.cifar": "compat.dataset.cifar",
    "paddle.dataset.conll05": "compat.dataset.conll05",
    "paddle.dataset.flowers": "compat.dataset.flowers",
    "paddle.dataset.image": "compat.dataset.image",
    "paddle.dataset.imdb": "compat.dataset.imdb",
    "paddle.dataset.imikolov": "compat.dataset.imikolov",
    "paddle.dataset.mnist": "compat.dataset.mnist",
    "paddle.dataset.movielens": "compat.dataset.movielens",
    "paddle.dataset.mq2007": "compat.dataset.mq2007",
    "paddle.dataset.sentiment": "compat.dataset.sentiment",
    "paddle.dataset.uci_housing": "compat.dataset.uci_housing",
    "paddle.dataset.voc2012": "compat.dataset.voc2012",
    "paddle.dataset.wmt14": "compat.dataset.wmt14",
    "paddle.dataset.wmt16": "compat.dataset.wmt16",
    "paddle.complex": "dygraph.complex_functions dygraph.complex_variable",
    "paddle.distributed": "",
    "paddle.distributed.launch": "compat.modules.launching",
    "paddle.incubate": "",
    "paddle.incubate.hapi.vision": "compat.modules.colours",
    "paddle.fluid": "compat.modules.face {}",
    "paddle.fluid.annotations": "compat.modules.decorators",
    "paddle.fluid.average": "compat.modules.average",
    "paddle.fluid.backward": "backward compat.modules.gradients",
    "paddle.fluid.clip": "clip compat.modules.clips",
    "paddle.fluid.communicator": "distributed",
    "paddle.fluid.compiler": "compiler",
    "paddle.fluid.contrib": "contrib",
    "paddle.fluid.contrib.decoder": "compat.modules.decoders",
    "paddle.fluid.contrib.extend_optimizer": "contrib.extend_optimizer compat.modules.decoupled",
    "paddle.fluid.contrib.layers": "contrib.layers contrib.clicks",
    "paddle.fluid.contrib.memory_usage_calc": "compat.modules.usage",
    "paddle.fluid.contrib.mixed_precision": "contrib.mixed_precision",
    "paddle.fluid.contrib.mixed_precision.decorator": (
        "contrib.mixed_precision.decorator contrib.mixed_precision.loss_scaling"
    ),
    "paddle.fluid.contrib.mixed_precision.fp16_lists": "contrib.mixed_precision.fp16_lists",
    "paddle.fluid.contrib.mixed_precision.fp16_utils": (
        "contrib.mixed_precision.rewriting contrib.mixed_precision.loss_scaling"
    ),
    "paddle.fluid.contrib.model_stat": "compat.modules.usage",
    "paddle.fluid.contrib.op_frequence": "compat.modules.usage",
    "paddle.fluid.contrib.reader": "compat.modules.sharing",
    "paddle.fluid.contrib.quantize": "",
    "paddle.fluid.contrib.slim": "",
    "paddle.fluid.contrib.slim.quantization": (
        "quantization.passes quantization.calibration quantization.stored_weights"
    ),
    "paddle.fluid.contrib.utils": "",
    "paddle.fluid.core": "compat.modules.core core inference.analysis quantization.graphs",
    "paddle.fluid.core_avx": "compat.modules.core core inference.analysis quantization.graphs",
    "paddle.fluid.core.ops": "compat.modules.operators",
    "paddle.fluid.core.var_names": "",
    "paddle.fluid.data": "input",
    "paddle.fluid.data_feed_desc": "readers.feed_desc",
    "paddle.fluid.data_feeder": "compat.modules.feeding data_feeder compat.modules.checking",
    "paddle.fluid.dataloader": "readers.datasets readers.collation readers.processes io",
    "paddle.fluid.dataset": "readers.files",
    "paddle.fluid.debugger": "compat.modules.debugging",
    "paddle.fluid.default_scope_funcs": "compat.modules.default_scope",
    "paddle.fluid.distributed": "distributed",
    "paddle.fluid.dygraph": "dygraph",
    "paddle.fluid.dygraph.base": "dygraph.mode compat.modules.eager",
    "paddle.fluid.dygraph.checkpoint": "dygraph.checkpoint",
    "paddle.fluid.dygraph.dygraph_to_static": "dygraph.jit",
    "paddle.fluid.dygraph.jit": "dygraph.jit dygraph",
    "paddle.fluid.dygraph.layer_object_helper": "compat.modules.helping",
    "paddle.fluid.dygraph.layers": "dygraph.layer dygraph",
    "paddle.fluid.dygraph.learning_rate_scheduler": "dygraph.learning_rate_scheduler dygraph",
    "paddle.fluid.dygraph.nn": "dygraph.nn",
    "paddle.fluid.dygraph.parallel": "dygraph.parallel compat.modules.eager",
    "paddle.fluid.dygraph.profiler": "compat.modules.eager",
    "paddle.fluid.dygraph.math_op_patch": "compat.modules.patches",
    "paddle.fluid.dygraph.varbase_patch_methods": "compat.modules.patches",
    "paddle.fluid.dygraph.static_runner": "dygraph.static_runner",
    "paddle.fluid.dygraph_utils": "compat.modules.eager",
    "paddle.fluid.evaluator": "compat.modules.evaluator",
    "paddle.fluid.executor": "runtime.executor scope readers.dataset_runs compat.modules.running",
    "paddle.fluid.framework": (
        "compat.modules.framework framework dygraph.complex_variable quantization.graph_views"
    ),
    "paddle.fluid.incubate": "incubate",
    "paddle.fluid.incubate.fleet": "",
    "paddle.fluid.incubate.fleet.base.fleet_base": "compat.modules.fleets",
    "paddle.fluid.incubate.fleet.base.mode": "incubate.fleet.collective",
    "paddle.fluid.incubate.fleet.base.role_maker": "incubate.fleet.role_maker",
    "paddle.fluid.incubate.fleet.collective": "incubate.fleet.collective compat.modules.fleets",
    "paddle.fluid.incubate.data_generator": "readers.data_generator",
    "paddle.fluid.initializer": "initializer",
    "paddle.fluid.input": "input",
    "paddle.fluid.install_check": "compat.modules.install_check",
    "paddle.fluid.io": "io",
    "paddle.fluid.layer_helper": "layer_helper",
    "paddle.fluid.layer_helper_base": "compat.modules.helping",
    "paddle.fluid.layers": (
        "layers layers.dynamic_rnn layers.branch layers.readers compat.modules.layering"
    ),
    "paddle.fluid.layers.collective": "layers.collective",
    "paddle.fluid.layers.math_op_patch": "compat.modules.patches",
    "paddle.fluid.layers.utils": "compat.modules.structures",
    "paddle.fluid.lod_tensor": "lod_tensor",
    "paddle.fluid.log_helper": "compat.modules.logs",
    "paddle.fluid.metrics": "metrics",
    "paddle.fluid.multiprocess_utils": "",
    "paddle.fluid.nets": "nets",
    "paddle.fluid.op": "compat.modules.single_operators",
    "paddle.fluid.optimizer": "optimizer",
    "paddle.fluid.parallel_executor": "parallel_executor",
    "paddle.fluid.param_attr": "param_attr",
    "paddle.fluid.profiler": "profiler",
    "paddle.fluid.proto": "",
    "paddle.fluid.proto.framework_pb2": "compat.modules.protos",
    "paddle.fluid.reader": "readers.loader readers.generator readers compat.modules.loaders io",
    "paddle.fluid.regularizer": "regularizer",
    "paddle.fluid.transpiler": "compat.modules.transpiler transpiler",
    "paddle.fluid.unique_name": "unique_name compat.modules.naming",
    "paddle.fluid.wrapped_decorator": "compat.modules.decorators",
}

#: names that programs ask for although 1.8 had none of them there
BESIDE: dict[str, dict[str, Entry]] = {
    "paddle": {
        name: Entry("value", home="paddle")
        for name in ("enable_static", "disable_static", "in_dynamic_mode", "__version__")
    }
    | {"__git_commit__": Entry("value", home="paddle")},
    # builds for GPUs had it
    "paddle.fluid.core": {"get_cuda_device_count": Entry("function")},
    # 1.5 had it, 1.8 had it no more
    "paddle.fluid.transpiler": {"InferenceTranspiler": Entry("class")},
    "paddle.fluid": {
        "InferenceTranspiler": Entry("from", "paddle.fluid.transpiler", "InferenceTranspiler")
    },
}

_ABSENT: Any = object()


def sources_of(module: str) -> Iterator[str]:
    """The modules of the package that may hold a module's own names."""
    while module not in SOURCES:
        module = module.rpartition(".")[0]
    for name in SOURCES[module].split():
        yield f"{_ROOT}.{name}" if name != "{}" else _ROOT


def entry_of(module: str, name: str) -> Entry | None:
    """What is known of a name of a module of 1.8; None where it had none of that name."""
    if not is_listed(module):
        return None
    return listed(module).names.get(name) or BESIDE.get(module, {}).get(name)


def own(module: str, name: str, entry: Entry) -> Any:
    """What stands behind a name that a module of 1.8 defined."""
    for source in sources_of(module):
        found = _found(source, name)
        if found is not _ABSENT:
            return found
    if entry.value:
        return entry.constant()
    if name in ("logger", "_logger", "local_logger"):
        return logging.getLogger(module)
    return refused(entry.kind, module, name)


def _found(source: str, name: str) -> Any:
    try:
        held = import_module(source)
    except ModuleNotFoundError as error:
        if error.name is None or not source.startswith(error.name):
            raise
        return _ABSENT  # a part of the package that may not be there
    if not held.__name__.startswith(_ROOT):
        return _ABSENT  # nor here: it is the module of 1.8 that is asked
    try:
        return own_name(held, name)
    except (AttributeError, ModuleNotFoundError):
        return _ABSENT
