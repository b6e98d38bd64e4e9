"""The modules below packages of paddle 2 that hold what these give: its files there."""

from __future__ import annotations

from typing import Any

from ..ground.module_tables import Table, hold_modules
from ..ground.public_names import list_public_names

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
        "auto_cast": "amp_decorate amp_guard auto_cast decorate",
        "grad_scaler": "AmpScaler GradScaler OptimizerState",
    },
    "audio.backends": {"init_backend": "get_current_backend list_available_backends set_backend"},
    "autograd": {
        "autograd": "Hessian Jacobian hessian jacobian",
        "backward_mode": "backward",
        "py_layer": "PyLayer PyLayerContext",
        "saved_tensors_hooks": "saved_tensors_hooks",
    },
    "distributed": {
        "checkpoint": "",
        "checkpoint.load_state_dict": "load_state_dict",
        "checkpoint.save_state_dict": "save_state_dict",
        "collective": "is_available new_group",
        "entry_attr": "CountFilterEntry ProbabilityEntry ShowClickEntry",
        "parallel": "DataParallel ParallelEnv get_rank get_world_size init_parallel_env",
        "parallel_with_gloo": "gloo_barrier gloo_init_parallel_env gloo_release",
        "spawn": "spawn",
    },
    "distributed.auto_parallel": {"process_mesh": "ProcessMesh"},
    "distributed.communication": {
        "all_gather": "all_gather all_gather_object",
        "all_reduce": "all_reduce",
        "all_to_all": "alltoall alltoall_single",
        "batch_isend_irecv": "P2POp batch_isend_irecv",
        "broadcast": "broadcast broadcast_object_list",
        "gather": "gather",
        "recv": "irecv recv",
        "reduce": "ReduceOp reduce",
        "reduce_scatter": "reduce_scatter",
        "scatter": "scatter scatter_object_list",
        "send": "isend send",
    },
    "distributed.communication.stream": {
        "all_gather": "all_gather",
        "all_reduce": "all_reduce",
        "all_to_all": "alltoall alltoall_single",
        "broadcast": "broadcast",
        "gather": "gather",
        "recv": "recv",
        "reduce": "reduce",
        "reduce_scatter": "reduce_scatter",
        "scatter": "scatter",
        "send": "send",
    },
    "distributed.fleet": {
        "dataset": "BoxPSDataset FileInstantDataset InMemoryDataset QueueDataset",
        "dataset.dataset": "BoxPSDataset FileInstantDataset InMemoryDataset QueueDataset",
        "fleet": "Fleet",
        "model": "distributed_model",
        "optimizer": "distributed_optimizer",
        "recompute": "recompute",
        "recompute.recompute": "recompute",
        "scaler": "distributed_scaler",
    },
    "distributed.fleet.data_generator": {
        "data_generator": "DataGenerator MultiSlotDataGenerator MultiSlotStringDataGenerator"
    },
    "distributed.fleet.metrics": {"metric": "acc auc mae max min mse rmse sum"},
    "distributed.rpc": {
        "rpc": "get_all_worker_infos get_current_worker_info get_worker_info init_rpc rpc_async "
        "rpc_sync shutdown"
    },
    "distributed.sharding": {"group_sharded": "group_sharded_parallel save_group_sharded_model"},
    "geometric": {
        "math": "segment_max segment_mean segment_min segment_sum",
        "message_passing": "send_u_recv send_ue_recv send_uv",
        "message_passing.send_recv": "send_u_recv send_ue_recv send_uv",
        "reindex": "reindex_graph reindex_heter_graph",
        "sampling": "sample_neighbors weighted_sample_neighbors",
        "sampling.neighbors": "sample_neighbors weighted_sample_neighbors",
    },
    "incubate": {
        "operators": "graph_khop_sampler graph_reindex graph_sample_neighbors graph_send_recv "
        "softmax_mask_fuse softmax_mask_fuse_upper_triangle",
        "operators.graph_khop_sampler": "graph_khop_sampler",
        "operators.graph_reindex": "graph_reindex",
        "operators.graph_sample_neighbors": "graph_sample_neighbors",
        "operators.graph_send_recv": "graph_send_recv",
        "operators.softmax_mask_fuse": "softmax_mask_fuse",
        "operators.softmax_mask_fuse_upper_triangle": "softmax_mask_fuse_upper_triangle",
        "tensor": "segment_max segment_mean segment_min segment_sum",
        "tensor.math": "segment_max segment_mean segment_min segment_sum",
    },
    "incubate.asp": {
        "asp": "decorate prune_model reset_excluded_layers set_excluded_layers",
        "supported_layer_list": "add_supported_layer",
        "utils": "CheckMethod MaskAlgo calculate_density check_mask_1d check_mask_2d "
        "check_sparsity create_mask get_mask_1d get_mask_2d_best get_mask_2d_greedy",
    },
    "incubate.autograd": {
        "functional": "Hessian Jacobian jvp vjp",
        "primapi": "forward_grad grad",
        "primx": "prim2orig",
        "utils": "disable_prim enable_prim prim_enabled",
    },
    "incubate.layers": {
        "nn": "batch_fc correlation fused_embedding_seq_pool multiclass_nms2 partial_concat "
        "partial_sum rank_attention search_pyramid_hash shuffle_batch tdm_child "
        "tdm_sampler"
    },
    "incubate.nn.functional": {
        "block_multihead_attention": "block_multihead_attention",
        "fused_dropout_add": "fused_dropout_add",
        "fused_ec_moe": "fused_ec_moe",
        "fused_layer_norm": "fused_layer_norm",
        "fused_matmul_bias": "fused_linear fused_linear_activation fused_matmul_bias",
        "fused_rms_norm": "fused_rms_norm",
        "fused_rotary_position_embedding": "fused_rotary_position_embedding",
        "fused_transformer": "fused_bias_dropout_residual_layer_norm fused_feedforward "
        "fused_multi_head_attention fused_multi_transformer",
        "masked_multihead_attention": "masked_multihead_attention",
        "variable_length_memory_efficient_attention": "variable_length_memory_efficient_attention",
    },
    "incubate.optimizer": {
        "gradient_merge": "GradientMergeOptimizer",
        "lars_momentum": "LarsMomentumOptimizer",
        "lbfgs": "LBFGS",
        "lookahead": "LookAhead",
        "modelaverage": "ModelAverage",
        "recompute": "RecomputeOptimizer",
    },
    "incubate.optimizer.functional": {"bfgs": "minimize_bfgs", "lbfgs": "minimize_lbfgs"},
    "inference": {"wrapper": "convert_to_mixed_precision"},
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
        "Bilinear": "Bilinear",
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
    "nn.quant.qat": {"conv": "QuantedConv2D", "linear": "QuantedLinear"},
    "nn.utils": {
        "clip_grad_norm_": "clip_grad_norm_",
        "clip_grad_value_": "clip_grad_value_",
        "spectral_norm_hook": "spectral_norm",
        "transform_parameters": "parameters_to_vector vector_to_parameters",
        "weight_norm_hook": "remove_weight_norm weight_norm",
    },
    "onnx": {"export": "export"},
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
    "profiler": {
        "profiler": "Profiler ProfilerState ProfilerTarget SummaryView export_chrome_tracing "
        "make_scheduler",
        "profiler_statistic": "SortedKeys",
        "utils": "RecordEvent",
    },
    "sparse": {
        "binary": "add divide is_same_shape masked_matmul matmul multiply mv subtract",
        "creation": "sparse_coo_tensor sparse_csr_tensor",
        "multiary": "addmm",
        "unary": "abs asin asinh atan atanh cast coalesce deg2rad expm1 isnan log1p neg "
        "pca_lowrank pow rad2deg reshape sin sinh slice sqrt square sum tan tanh transpose",
    },
    "sparse.nn": {
        "layer": "BatchNorm Conv2D Conv3D LeakyReLU MaxPool3D ReLU ReLU6 Softmax SubmConv2D "
        "SubmConv3D SyncBatchNorm",
        "layer.activation": "LeakyReLU ReLU ReLU6 Softmax",
        "layer.conv": "Conv2D Conv3D SubmConv2D SubmConv3D",
        "layer.norm": "BatchNorm SyncBatchNorm",
        "layer.pooling": "MaxPool3D",
    },
    "sparse.nn.functional": {
        "activation": "leaky_relu relu relu6 softmax",
        "conv": "conv2d conv3d subm_conv2d subm_conv3d",
        "pooling": "max_pool3d",
        "transformer": "attention",
    },
    "static": {"input": "InputSpec data setitem"},
    "static.amp": {
        "fp16_lists": "AutoMixedPrecisionLists CustomOpLists",
        "fp16_utils": "cast_model_to_fp16 cast_parameters_to_fp16 fp16_guard",
    },
    "static.amp.bf16": {"amp_utils": "bf16_guard", "decorator": "decorate_bf16"},
    "text": {"viterbi_decode": "ViterbiDecoder viterbi_decode"},
    "text.datasets": {"wmt14": "WMT14", "wmt16": "WMT16"},
    "vision.models": {"alexnet": "AlexNet alexnet", "googlenet": "GoogLeNet googlenet"},
}
#: what their packages do not give
_FURTHER: dict[str, Table] = {
    "audio.backends": {
        "backend": {"paddle.audio.backends.backend": "AudioInfo"},
        "wave_backend": {"paddle.audio": "info load save"},
    },
    "distributed.auto_parallel": {
        "api": {
            "paddle.distributed": "DistAttr Strategy dtensor_from_fn reshard shard_layer "
            "shard_optimizer shard_tensor to_static"
        }
    },
    "hapi": {"hub": {"paddle.hub": "help list load"}},
    "static": {"log_helper": {"fluid.log_helper": "get_logger"}},
    "nn.initializer": {"lazy_init": {"paddle": "LazyGuard"}},
    "vision.models": {"_utils": {"paddle.vision.normalized": "_make_divisible=divisible"}},
    "io": {
        "dataloader.collate": {
            "paddle.io.collation": "default_collate_fn=collated default_convert_fn=converted"
        }
    },
}


def hold(namespace: dict[str, Any]) -> None:
    """Have a package of paddle 2 hold the modules below it that hold its names.

    Args:
        namespace: of the package: what ``globals()`` gives at its end.
    """
    below = namespace["__name__"].partition(".paddle.")[2]
    table = {module: {f"paddle.{below}": names} for module, names in _NAMES.get(below, {}).items()}
    hold_modules(namespace, {**table, **_FURTHER.get(below, {})})


list_public_names(globals())
