"""The flags of paddle 2.6, and what they are where nobody sets them."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentError, suggestion
from ..ground import state
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries

__all__ = ["get_flags"]

#: names -> what flags of these names are
_FIRST: dict[str, object] = {
    name: value
    for names, value in (
        (
            """
            allreduce_record_one_event apply_pass_to_program benchmark
            cache_inference_while_scope check_nan_inf cpu_deterministic einsum_opt
            enable_all2all_use_fp16 enable_async_trace enable_dependency_builder_debug_info
            enable_dump_main_program enable_exit_when_partial_worker
            enable_graph_multi_node_sampling enable_neighbor_list_use_uva
            enable_opt_get_features enable_pir_api enable_pir_in_executor
            enable_pir_in_executor_trace_run enable_record_memory enable_sparse_inner_gather
            enable_tracker_all2all enable_unused_var_check fleet_executor_with_standalone
            free_idle_chunk free_when_no_cache_hit gpugraph_debug_gpu_memory
            gpugraph_enable_gpu_direct_access gpugraph_enable_hbm_table_collision_stat
            gpugraph_enable_print_op_debug gpugraph_enable_segment_merge_grads
            gpugraph_force_device_batch_num_equal graph_edges_split_debug
            graph_edges_split_only_by_src_id graph_get_neighbor_id graph_load_in_parallel
            graph_metapath_split_opt init_allocated_mem log_memory_stats
            new_executor_sequential_run new_executor_serial_run new_executor_static_build
            new_executor_use_cuda_graph new_executor_use_inplace npu_storage_format prim_enabled
            print_allocator_trace_info print_ir query_dest_rank_by_multi_node
            reader_queue_speed_test_mode run_kp_kernel set_to_1d sort_sum_gradient
            sync_after_alloc trt_ibuilder_cache use_auto_growth_pinned_allocator use_autotune
            use_cuda_managed_memory use_mkldnn use_shm_cache use_system_allocator
            use_virtual_memory_auto_growth
            """,
            False,
        ),
        (
            """
            add_dependency_for_communication_op communicator_is_sgd_optimizer convert_all_blocks
            eager_delete_scope enable_api_kernel_fallback enable_auto_detect_gpu_topo
            enable_auto_rdma_trans enable_pir_with_pt_in_dy2st fast_eager_deletion_mode
            gpugraph_load_node_list_into_hbm graph_embedding_split_infer_mode
            multi_node_sample_use_gpu_table new_executor_use_local_scope pir_apply_inplace_pass
            use_pinned_memory use_stream_safe_cuda_allocator use_stride_kernel
            """,
            True,
        ),
        (
            """
            auto_growth_chunk_size_in_mb check_nan_inf_level dist_threadpool_size dygraph_debug
            enable_adjust_op_order executor_log_deps_every_microseconds gpu_memory_limit_mb
            gpugraph_dedup_pull_push_mode gpugraph_offload_param_stat
            gpugraph_sparse_table_storage_mode graph_edges_debug_node_id
            initial_gpu_memory_in_mb inner_op_parallelism low_precision_op_list
            max_inplace_grad_add reallocate_gpu_memory_in_mb
            """,
            0,
        ),
        (
            """
            ir_inplace_kernel_blacklist pe_profile_fname pir_subgraph_saving_dir
            print_sub_graph_dir static_executor_perfstat_filepath tracer_mkldnn_ops_off
            tracer_mkldnn_ops_on
            """,
            "",
        ),
        (
            """
            call_stack_level fuse_parameter_groups_size gpugraph_storage_mode host_trace_level
            multiple_of_cupti_buffer_size paddle_num_threads
            """,
            1,
        ),
        (
            """
            fraction_of_cpu_memory_to_use graph_neighbor_size_percent
            memory_fraction_of_eager_deletion
            """,
            1.0,
        ),
        ("async_trace_count", 5),
        ("gpugraph_slot_feasign_max_num", 5),
        ("communicator_max_merge_var_num", 20),
        ("communicator_send_queue_size", 20),
        ("alloc_fill_value", -1),
        ("allocator_strategy", "auto_growth"),
        ("eager_delete_tensor_gb", 0.0),
        ("fraction_of_cuda_pinned_memory_to_use", 0.5),
        ("fraction_of_gpu_memory_to_use", 0.9200000166893005),
        ("fuse_parameter_memory_size", -1.0),
        ("get_host_by_name_time", 120),
        ("gpu_allocator_retry_time", 10000),
        ("gpugraph_hbm_table_load_factor", 0.75),
        ("gpugraph_merge_grads_segment_size", 128),
        ("gpugraph_offload_gather_copy_maxsize", 16),
        ("gpugraph_offload_param_extends", ".w_0_moment,.b_0_moment"),
        ("gpugraph_parallel_copyer_split_maxsize", 64),
        ("gpugraph_parallel_stream_num", 8),
        ("graph_edges_debug_node_num", 2),
        ("graph_edges_split_mode", "hard"),
        ("initial_cpu_memory_in_mb", 500),
        ("jit_engine_type", "Predictor"),
        ("local_exe_sub_scope_limit", 256.0),
        ("rocksdb_path", "database"),
        ("rpc_send_thread_num", 12),
        ("search_cache_max_number", 1000000),
        ("tensor_operants_mode", "eager"),
        ("tracer_profile_fname", "xxgperf"),
    )
    for name in names.split()
}


def get_flags(flags: str | Sequence[str]) -> dict[str, object]:
    """The values of flags, by name.

    Args:
        flags: a name, or several.

    Raises:
        ArgumentError: it is neither, or there is no such flag.

    >>> from fluidlite import paddle
    >>> paddle.get_flags("FLAGS_check_nan_inf")
    {'FLAGS_check_nan_inf': False}
    """
    if not isinstance(flags, (str, list, tuple)):
        raise ArgumentError(f"expected the name of a flag, or a list of names, got {flags!r:.60}")
    asked = [flags] if isinstance(flags, str) else list(flags)
    now = state.flag_values.get()
    return {name: now[name] if name in now else _first(name) for name in asked}


def _first(name: str) -> object:
    known = _FIRST.get(name.removeprefix("FLAGS_"), state)
    if known is state or not name.startswith("FLAGS_"):
        names = [f"FLAGS_{each}" for each in _FIRST]
        raise ArgumentError(f"paddle 2.6 has no flag {name!r}{suggestion(name, names)}")
    return known


list_public_names(globals())
api_boundaries(globals())
