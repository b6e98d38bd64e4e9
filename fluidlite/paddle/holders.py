"""The modules below packages of paddle 2 that hold what these give: its files there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ground.public_names import list_public_names

if TYPE_CHECKING:
    from ..ground.module_tables import Table

_SAMPLERS = "RandomSampler Sampler SequenceSampler SubsetRandomSampler WeightedRandomSampler"
_BATCHES = "BatchSampler DistributedBatchSampler"
_SETS = (
    "ChainDataset ComposeDataset ConcatDataset Dataset IterableDataset Subset TensorDataset "
    "random_split"
)
#: package -> names by the module that holds them; these are names of the package
_NAMES = {
    "amp": {
        "amp_lists": "black_list white_list",
        "grad_scaler": "AmpScaler GradScaler OptimizerState",
    },
    "autograd": {
        "autograd": "Hessian Jacobian hessian jacobian",
        "backward_mode": "backward",
        "py_layer": "PyLayer PyLayerContext",
    },
    "incubate.autograd": {
        "functional": "Hessian Jacobian jvp vjp",
        "primapi": "forward_grad grad",
        "primx": "prim2orig",
        "utils": "disable_prim enable_prim prim_enabled",
    },
    "incubate.optimizer": {"lookahead": "LookAhead", "modelaverage": "ModelAverage"},
    "io": {
        "dataloader": f"{_BATCHES} {_SAMPLERS} {_SETS} get_worker_info",
        "dataloader.batch_sampler": _BATCHES,
        "dataloader.dataset": _SETS,
        "dataloader.sampler": _SAMPLERS,
        "dataloader.worker": "get_worker_info",
        "reader": "DataLoader",
    },
    "jit": {"translated_layer": "TranslatedLayer"},
    "metric": {"metrics": "Accuracy Auc Metric Precision Recall accuracy"},
    "nn.initializer": {
        "assign": "Assign NumpyArrayInitializer",
        "constant": "Constant ConstantInitializer",
        "dirac": "Dirac",
        "initializer": "Initializer calculate_gain",
        "kaiming": "KaimingNormal KaimingUniform MSRAInitializer",
        "normal": "Normal NormalInitializer TruncatedNormal TruncatedNormalInitializer",
        "orthogonal": "Orthogonal",
        "uniform": "Uniform UniformInitializer",
        "xavier": "XavierInitializer XavierNormal XavierUniform",
    },
    "nn.utils": {
        "spectral_norm_hook": "spectral_norm",
        "transform_parameters": "parameters_to_vector vector_to_parameters",
        "weight_norm_hook": "remove_weight_norm weight_norm",
    },
    "optimizer": {
        "adadelta": "Adadelta",
        "adagrad": "Adagrad",
        "adam": "Adam",
        "adamax": "Adamax",
        "adamw": "AdamW",
        "lamb": "Lamb",
        "lbfgs": "LBFGS",
        "momentum": "Momentum",
        "optimizer": "Optimizer",
        "rmsprop": "RMSProp",
        "sgd": "SGD",
    },
    "static": {"input": "InputSpec data setitem"},
    "static.amp": {
        "fp16_lists": "AutoMixedPrecisionLists CustomOpLists",
        "fp16_utils": "cast_model_to_fp16 cast_parameters_to_fp16 fp16_guard",
    },
}
#: what their packages do not give
_FURTHER: dict[str, Table] = {
    "io": {
        "dataloader.collate": {
            "paddle.io.collation": "default_collate_fn=collated default_convert_fn=as_arrays"
        }
    }
}


def holders(package: str) -> Table:
    """The modules below a package of paddle 2 that hold its names.

    Args:
        package: its whole name here.
    """
    below = package.partition(".paddle.")[2]
    table = {module: {f"paddle.{below}": names} for module, names in _NAMES[below].items()}
    return {**table, **_FURTHER.get(below, {})}


list_public_names(globals())
