"""Protected names of classes of fluid 1.8 that are left out: why, and what to use instead.

Code of the time reaches them in classes that it derives, and in tests.  Those that mean something
here are there; each of the others answers by an error that says what to use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

from ..errors import ExplainedError

_Class = TypeVar("_Class", bound=type)

_APPLY = "apply(graph), which changes the program of a graph"
_CLIP = "the clip's call: apply_clips(params_grads), or the clip itself on a list of pairs at once"
_LOOP = "a loop over the loader, or its start() and reset()"
_PLACES = "nothing: there is one place, the CPU"
_GRAPH = "fluid.Executor.run, which compiles each program that it runs"
_RUN = "fluid.Executor.run"
_SERVERS = (
    "config.mode = 'nccl2': there are no parameter servers, so no program is split for one "
    "(docs/distributed.md)"
)
_SLICES = "x[...] itself, whose operators fluidlite/ops/item.py has"
_STATE = "state_dict() and set_state_dict(), which know all that is kept"

#: class -> what to use instead -> names
REFUSED: dict[str, dict[str, str]] = {
    "ErrorClipByValue": {
        "fluid.backward.append_backward(loss, callbacks=[fluid.clip.error_clip_callback])": (
            "_append_clip_op"
        )
    },
    "GradientClipBase": {_CLIP: "_create_operators _process_context"},
    "CompiledProgram": {
        _GRAPH: (
            "_compile _compile_data_parallel _compile_inference _compiled _executor _graph _place "
            "_scope _with_inference_optimize"
        ),
        "with_data_parallel(places=...)": "_get_places",
        "fluid.incubate.fleet.collective": "_with_distributed",
    },
    "AutoMixedPrecisionLists": {"its constructor, which puts the lists together": "_update_list"},
    "LoDTensor": {
        "set(array, place)": "_mutable_data",
        "an array as it lies: layouts are not kept": "_set_layout",
        "np.array(tensor)": "_to_dlpack",
    },
    "VarBase": {
        "backward(), or fluid.dygraph.grad": "_run_backward",
        "gradient()": "_grad_value",
        "gc.get_objects(): tensors are Python objects": "_alive_vars",
        "nothing: gradients of sparse embeddings are kept in rows by themselves": "_set_grad_type",
    },
    "DataFeeder": {"feed_parallel(..., num_places=...)": "_get_number_of_places_"},
    "GeneratorLoader": {_LOOP: "_exited _queue _reader _tensor_reader _thread"},
    "DatasetBase": {
        "fluid.Executor.train_from_dataset, which begins and ends a pass": (
            "_dynamic_adjust_after_train _dynamic_adjust_before_train _finish_to_run "
            "_prepare_to_run dataset fleet_send_batch_size fleet_send_sleep_seconds "
            "is_user_set_queue_num proto_desc queue_num"
        ),
        "the method that sets it, such as set_parse_ins_id(True)": (
            "enable_pv_merge merge_by_lineid merge_by_sid parse_content parse_ins_id parse_logkey"
        ),
    },
    "ProgramTranslator": {
        "enable(value)": "_initialized enable_declarative",
        "get_program_cache()": "_program_cache",
        "ProgramTranslator(), which gives the same settings always": "_instance _singleton_lock",
    },
    "TracedLayer": {
        "the traced layer's call": "_build_feed _compile _compiled_program _run _switch",
        "set_strategy(...)": "_build_strategy _exec_strategy",
        "program.all_parameters()": "_params",
    },
    "ObjectHelper": {
        "fluid.WeightNormParamAttr as the parameter's attribute": "_create_weight_normalize",
        "create_parameter(...), which chooses it": "_get_default_initializer",
        "input(name) and multiple_input(name)": "_input _multiple_input",
        "multiple_param_attr(length)": "_multiple_param_attr",
    },
    "LearningRateDecay": {_STATE: "_state_keys"},
    "DataParallel": {
        "apply_collective_grads()": "_coalesce_tensors _reshape_inplace _split_tensors",
        "fluid.dygraph.ParallelEnv().nranks > 1": "_is_data_parallel_mode",
    },
    "StaticModelRunner": {
        "its constructor and its call": (
            "_append_backward_desc _append_loaded_suffix _append_loaded_suffix_to_param "
            "_append_scale_to_output _build_program_by_desc _load_persisitable_dict "
            "_load_static_model _recheck_stop_gradients"
        ),
        "train() and eval()": "_change_is_test_status",
        "state_dict() and parameters()": (
            "_get_all_var_names _get_persis_vars _is_parameter _is_persistable"
        ),
    },
    "Executor": {
        "nothing: what an executor remembers of a program lies with the program": (
            "_add_ctx_cache _add_program_cache _add_pruned_program_cache "
            "_add_pruned_program_scope_cache _add_scope_cache _get_ctx_cache _get_program_cache "
            "_get_pruned_program_cache _get_pruned_program_scope_cache _get_scope_cache ctx_caches "
            "program_caches pruned_program_caches pruned_program_scope_caches scope_caches "
            "var_caches"
        ),
        "run(program, feed, fetch_list)": (
            "_add_feed_fetch_ops _default_executor _feed_data _fetch_data _run_impl "
            "_run_inference _run_parallel "
            "_run_program _update_feed"
        ),
        "run(..., use_prune=True)": "_prune_program _split_optimize_ops_in_fetch_list",
        "train_from_dataset and infer_from_dataset": (
            "_adjust_pipeline_resource _dump_debug_info _prepare_trainer _run_from_dataset"
        ),
    },
    "OpProtoHolder": {"instance()": "_instance"},
    "Variable": {
        _SLICES: (
            "_cloneVar _concatVar _detectContinuesSlice _detectEllipsis _reconstructSliceinfo "
            "_sliceAndConcatVar _sliceVar _slice_indices"
        )
    },
    "DataGenerator": {"run_from_stdin(), which writes each line as it comes": "_set_line_limit"},
    "DynamicRNN": {
        "its block(), step_input, memory and output": (
            "_assert_in_rnn_block_ _init_zero_idx_ _parent_block_ cond helper input_array "
            "lod_rank_table max_seq_len mem_dict mem_link output_array step_idx while_op zero_idx"
        )
    },
    "IfElse": {
        "true_block() and false_block()": (
            "_parent_block conditional_false_block conditional_true_block helper input_table "
            "output_table status"
        )
    },
    "StaticRNN": {
        "its step(), step_input, memory and output": (
            "_assert_in_rnn_block_ _complete_op _parent_block helper inputs memories outputs "
            "seq_len status"
        )
    },
    "Switch": {"its case(condition) and default()": "helper inside_scope pre_not_conditions"},
    "While": {"its block(), whose end completes it": "_complete helper status"},
    "OptimizerWithMixedPrecision": {
        "the arguments of decorate": "_decr_every_n_nan_or_inf _incr_every_n_steps",
        "minimize(loss), whose operators lie in the loss's program": (
            "_param_grads _startup_prog _train_program"
        ),
    },
    "RNNCell": {"its call, or call(inputs, states)": "gru_unit lstm_unit"},
    "BilinearTensorProduct": {"weight and bias": "_inputs"},
    "NCE": {"weight, bias and the arguments with an underscore in front": "_attrs _inputs"},
    "Distribution": {
        "the constructor, which checks what it is given": (
            "_to_variable _validate_args all_arg_is_float batch_size_unknown"
        )
    },
    "MultivariateNormalDiag": {"entropy() and kl_divergence()": "_det _inv"},
    "BeamSearchDecoder": {
        "initialize, step and finalize; tile_beam_merge_with_batch": (
            "_beam_search_step _expand_to_beam_size _gather _mask_probs _merge_batch_beams "
            "_split_batch_beams"
        )
    },
    "DetectionMAP": {"reset(executor)": "_create_state"},
    "Optimizer": {
        "minimize(loss), or backward(loss) and apply_gradients(params_grads)": (
            "_create_optimization_pass _get_no_grad_set"
        ),
        "fluid.optimizer.Momentum": "_append_dgc_ops",
        "current_step_lr() and set_lr(value)": "_create_global_learning_rate",
        _PLACES: "_get_device_for_param _param_device_map _update_param_device_map",
        _STATE: "_accumulators_holder",
        "fluid.embedding(is_sparse=True): every process has all rows": (
            "_process_distribute_lookuptable"
        ),
    },
    "ExponentialMovingAverage": {
        "update(), apply() and restore()": "_create_ema_vars _get_decay_pow _get_ema_decay"
    },
    "ModelAverage": {
        "apply() and restore(): it makes no steps": (
            "_accumulators_holder _dtype _grad_clip _learning_rate _learning_rate_map "
            "_param_device_map _parameter_list helper "
            "_add_accumulator _add_average_apply_op _add_average_restore_op "
            "_append_average_accumulate_op _append_dgc_ops _append_optimize_op "
            "_create_accumulators _create_global_learning_rate _create_optimization_pass "
            "_create_param_lr _finish_update _get_accumulator _get_device_for_param "
            "_get_no_grad_set _global_learning_rate _process_distribute_lookuptable "
            "_update_param_device_map"
        )
    },
    "ParallelExecutor": {_RUN: "_need_create_local_exe_scopes"},
    "PyReader": {"decorate_batch_generator, which checks batches": "_check_input_array"},
    "DistributeTranspiler": {
        _SERVERS: (
            "counter_var distributed_mode server_config "
            "_append_dc_asgd_ops _append_pserver_grad_merge_ops _append_pserver_non_opt_ops "
            "_append_pserver_ops _clone_lr_op _clone_var _create_checkpoint_save_block "
            "_create_prefetch_block _create_table_optimize_block _create_ufind "
            "_create_vars_from_blocklist _delete_trainer_optimizer _fake_init_sparsetable "
            "_get_all_remote_sparse_update_op _get_distribute_update_vars "
            "_get_distributed_optimizer_vars _get_input_map_from_op _get_lr_ops "
            "_get_lr_ops_deprecated _get_optimize_pass _get_optimizer_input_shape "
            "_get_output_map_from_op _get_pserver_grad_param_var _get_slice_var_info "
            "_get_sparse_table_names _get_splited_var_sections _get_trainer_startup_program "
            "_get_varname_parts _init_splited_vars _insert_split_op "
            "_is_input_of_remote_sparse_update_op _is_op_connected _is_opt_op_on_pserver "
            "_is_opt_role_op _is_optimizer_op _orig_varname _replace_lookup_table_op_with_prefetch "
            "_set_server_config _split_table_grad_and_add_send_vars "
            "_update_dist_lookup_table_vars _update_remote_sparse_update_op"
        ),
        "transpile(...)": "_transpile_collective _transpile_nccl2",
    },
    "HashName": {"dispatch(varlist)": "_hash_block"},
    "PostTrainingQuantization": {
        "quantize() and save_quantized_model(folder)": (
            "_calculate_kl_threshold _collect_target_varnames _expand_quantized_bins "
            "_get_kl_scaling_factor _load_model_data _reset_activation_persistable _safe_entropy "
            "_sample_data _sample_threshold _save_input_threhold _save_output_threshold "
            "_set_activation_persistable _update_program"
        )
    },
    "WeightQuantization": {
        "quantize_weight_to_int(folder, ...)": (
            "_calculate_threshold _conv_channel_wise_dequantization "
            "_conv_channel_wise_quantization _mul_channel_wise_dequantization "
            "_mul_channel_wise_quantization _quantize_weight_to_int _weight_abs_max_quantization "
            "_weight_channel_wise_abs_max_quantization"
        )
    },
    "QuantizationTransformPass": {
        _APPLY: (
            "_copy_graph _create_global_step _create_new_node _dequantized_var_name "
            "_insert_channel_dequant_op _insert_channel_quant_op _insert_dequant_op _insert_func "
            "_insert_quant_abs_max_op _insert_quant_moving_average_abs_max_op _insert_quant_op "
            "_insert_quant_range_abs_max_op _is_skip_quant _quantized_scale_name "
            "_quantized_var_name"
        )
    },
    "AddQuantDequantPass": {_APPLY: "_inser_quant_dequant_moving_average_abs_max_op"},
    "QuantizationFreezePass": {
        _APPLY: (
            "_dequantized_var_name _insert_post_channel_dequant_op _insert_post_dequant_op "
            "_is_float _load_var _original_var_name _quant _remove_fake_quant_and_dequant_op "
            "_remove_unused_var_nodes _restore_var"
        )
    },
    "ConvertToInt8Pass": {_APPLY: "_convert_to_int8 _load_var _remove_unused_var_nodes _store_var"},
    "OutScaleForTrainingPass": {_APPLY: "_scale_name"},
    "OutScaleForInferencePass": {_APPLY: "_scale_name"},
}


class ProtectedNameError(ExplainedError):
    """A protected name of a class of fluid 1.8 that is left out; says what to use."""


class _Refused:
    """Stands in a class for a name that is left out.

    Args:
        use: what to use instead.
    """

    def __init__(self, name: str, use: str) -> None:
        self.name, self.use = name, use

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        raise ProtectedNameError(
            f"{owner.__name__}.{self.name}: how fluid 1.8 was made inside is not kept here; use "
            f"{self.use}",
            name=self.name,
        )


def answers_protected(cls: _Class) -> _Class:
    """A decorator of classes: protected names of fluid 1.8 that are left out say what to use.

    Args:
        cls: a class that :data:`REFUSED` has an entry for.
    """
    for use, names in REFUSED[cls.__name__].items():
        for name in names.split():
            setattr(cls, name, _Refused(name, use))
    return cls


def raise_refused(owner: type, name: str) -> None:
    """Raise what a class says of a name that it leaves out, for a ``__getattr__``, which Python
    asks when such a name has raised.

    Args:
        owner: the class.
        name: the attribute's.

    Raises:
        ProtectedNameError: the name is left out.
    """
    for base in owner.__mro__:
        held = vars(base).get(name)
        if isinstance(held, _Refused):
            held.__get__(None, owner)
        if held is not None:
            return


class HasProtectedArguments:
    """Arguments of a data class, also by the names that fluid 1.8 kept them under: with an
    underscore in front, or as ``protected`` says.
    """

    protected: ClassVar[Mapping[str, str]] = {}

    if not TYPE_CHECKING:  # checkers know the attributes that there are

        def __getattr__(self, name: str) -> Any:
            own = type(self)
            plain = own.protected.get(name, name[1:] if name[:1] == "_" else "")
            if plain in getattr(own, "__dataclass_fields__", ()):
                return getattr(self, plain)
            raise_refused(own, name)
            raise AttributeError(f"{own.__name__!r} object has no attribute {name!r}", name=name)


class Answered:
    """Stands in a class for what fluid 1.8 kept under a name; what the object itself has of that
    name comes first.

    Args:
        read: gives it, of the object.
    """

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self.read = read

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else self.read(instance)


def answers(**readers: Any) -> Callable[[_Class], _Class]:
    """A decorator of classes whose objects have attributes by the names of fluid 1.8.

    Args:
        readers: by the name, what gives it of the object; or the attribute's value.

    >>> @answers(_size=lambda self: len(self.rows), _queue=None)
    ... class Table:
    ...     rows = [1, 2]
    >>> Table()._size, Table()._queue
    (2, None)
    """

    def decorate(cls: _Class) -> _Class:
        for name, read in readers.items():
            setattr(cls, name, Answered(read) if callable(read) else read)
        return cls

    return decorate
