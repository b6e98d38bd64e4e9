"""The switches of :class:`DistributedStrategy` and their settings: what there is, and its defaults.

The order is that of the files in which strategies are kept.
"""

from __future__ import annotations

from typing import Any

#: switches, and numbers
SWITCHES: dict[str, Any] = {
    "amp": False, "recompute": False, "localsgd": False, "dgc": False, "gradient_merge": False,
    "lars": False, "lamb": False, "pipeline": False, "elastic": False, "auto": False,
    "a_sync": True, "sync_nccl_allreduce": True, "nccl_comm_num": 1,
    "use_hierarchical_allreduce": False, "hierarchical_allreduce_inter_nranks": 1,
    "sync_batch_norm": False, "fuse_all_reduce_ops": True, "fuse_grad_size_in_MB": 32,
    "fuse_grad_size_in_TFLOPS": 50.0, "cudnn_exhaustive_search": False,
    "conv_workspace_size_limit": 512, "cudnn_batchnorm_spatial_persistent": False,
    "adaptive_localsgd": False, "fp16_allreduce": False, "sharding": False,
    "last_comm_group_size_MB": 1.0, "find_unused_parameters": False, "tensor_parallel": False,
    "without_graph_optimization": True, "fuse_grad_size_in_num": 8,
    "calc_comm_same_stream": False, "asp": False, "fuse_grad_merge": False, "semi_auto": False,
    "adam_d2sum": False, "auto_search": False, "heter_ccl_mode": False, "is_fl_ps_mode": False,
    "with_coordinator": False, "qat": False, "split_data": True,
}  # fmt: skip

#: settings of a switch; a list of a type takes several, a dictionary is settings in turn
SETTINGS: dict[str, dict[str, Any]] = {
    "recompute_configs": {
        "checkpoints": [str], "enable_offload": False, "checkpoint_shape": [int],
        "enable_tuning": False,
    },
    "amp_configs": {
        "init_loss_scaling": 32768.0, "incr_every_n_steps": 1000, "decr_every_n_nan_or_inf": 2,
        "incr_ratio": 2.0, "decr_ratio": 0.8, "use_dynamic_loss_scaling": True,
        "custom_white_list": [str], "custom_black_list": [str], "custom_black_varnames": [str],
        "use_pure_fp16": False, "use_fp16_guard": True, "use_optimizer_fp16": False,
        "use_pure_bf16": False,
    },
    "localsgd_configs": {"k_steps": 1, "begin_step": 1},
    "gradient_merge_configs": {"k_steps": 1, "avg": True},
    "dgc_configs": {"rampup_begin_step": 0, "rampup_step": 1, "sparsity": [float]},
    "pipeline_configs": {
        "micro_batch_size": 1, "accumulate_steps": 1, "schedule_mode": "1F1B",
        "p2p_cache_shape": True, "enable_partial_send_recv": True,
    },
    "a_sync_configs": {
        "k_steps": -1, "max_merge_var_num": 1, "send_queue_size": 16,
        "independent_recv_thread": False, "min_send_grad_num_before_recv": 1,
        "thread_pool_size": 1, "send_wait_times": 1, "runtime_split_send_recv": False,
        "launch_barrier": True, "heter_worker_device_guard": "cpu", "lr_decay_steps": 10,
        "use_ps_gpu": 0,
    },
    "lars_configs": {
        "lars_coeff": 0.001, "lars_weight_decay": 0.0005, "epsilon": 0.0,
        "exclude_from_weight_decay": [str],
    },
    "lamb_configs": {"lamb_weight_decay": 0.01, "exclude_from_weight_decay": [str]},
    "adaptive_localsgd_configs": {"init_k_steps": 1, "begin_step": 1},
    "sharding_configs": {
        "sharding_segment_strategy": "segment_broadcast_MB", "segment_broadcast_MB": 32.0,
        "segment_anchors": [str], "sharding_degree": 8, "mp_degree": 1, "dp_degree": 1,
        "hybrid_dp": False, "gradient_merge_acc_step": 1, "optimize_offload": False,
        "pp_allreduce_in_optimize": False, "pp_degree": 1, "optimize_cast": False,
        "_dp_as_optimizer_sharding": False, "stage": 1, "enable_tuning": False,
        "use_calc_stream": False,
    },
    "hybrid_configs": {
        "dp_degree": -1, "mp_degree": 1, "pp_degree": 1, "sharding_degree": 1, "sep_degree": 1,
        "mp_configs": {
            "sync_param": True, "sync_grad": False, "sync_moment": False,
            "sync_mode": "broadcast", "mp_async_allreduce": False, "mp_skip_c_identity": False,
            "mp_fused_linear_param_grad_add": False, "need_broadcast_data": True,
        },
        "pp_configs": {
            "dp_comm_overlap": False, "delay_scale_loss": False, "enable_timer": False,
            "sharding_comm_overlap": False, "profiling": False,
        },
        "sharding_configs": {
            "tensor_fusion": False, "accumulate_steps": 1, "comm_overlap": False,
            "split_param": False, "fuse_optimizer": True,
        },
    },
    "tensor_parallel_configs": {"tensor_parallel_degree": 1, "tensor_init_seed": -1},
    "trainer_desc_configs": {
        "dump_fields_path": "", "dump_fields": [str], "dump_param": [str],
        "stat_var_names": [str], "trainer": "", "device_worker": "", "local_sparse": [str],
        "remote_sparse": [str],
    },
    "fs_client_param": {"uri": "", "user": "", "passwd": "", "hadoop_bin": ""},
    "qat_configs": {
        "channel_wise_abs_max": True, "weight_bits": 8, "activation_bits": 8,
        "not_quant_pattern": [str], "algo": "",
    },
    "build_strategy": {
        "enable_sequential_execution": False, "fuse_elewise_add_act_ops": False,
        "fuse_bn_act_ops": False, "fuse_relu_depthwise_conv": False,
        "fuse_broadcast_ops": False, "fuse_all_optimizer_ops": False, "enable_inplace": False,
        "enable_backward_optimizer_op_deps": True, "cache_runtime_context": False,
        "fuse_bn_add_act_ops": True, "enable_auto_fusion": False, "enable_addto": False,
        "fix_op_run_order": False, "allow_cuda_graph_capture": False, "reduce_strategy": 0,
        "fuse_gemm_epilogue": False, "debug_graphviz_path": "", "fused_attention": False,
        "fused_feedforward": False,
    },
    "execution_strategy": {
        "num_threads": 1, "num_iteration_per_drop_scope": 10, "num_iteration_per_run": 1,
        "use_thread_barrier": False,
    },
    "gradient_scale_configs": {"scale_strategy": "avg", "scale_gradient": False},
}  # fmt: skip
