"""Rebuilds the golden data of this folder from a folder of recordings.

    python tests/data/extract.py ORACLE

What is selected is stated here and nowhere else: a new operator, net, training or mistake is
a new word below.  ``README.md`` in this folder describes the files.  The same recordings give
the same bytes.
"""

import gzip
import io
import json
import shutil
import sys
import zipfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent

# Operators whose recorded cases are used, by family.
OPERATORS = {
    "elementwise": """
        elementwise_add elementwise_sub elementwise_mul elementwise_div elementwise_max
        elementwise_min elementwise_pow elementwise_mod elementwise_floordiv""",
    "activation": """
        acos asin atan cos sin exp log log1p sqrt rsqrt square reciprocal sigmoid logsigmoid tanh
        tanh_shrink softplus softsign erf gelu swish mish abs relu relu6 leaky_relu elu selu
        hard_shrink softshrink hard_sigmoid hard_swish brelu ceil floor round sign pow prelu
        maxout softmax""",
    "math": "mul matmul scale sum cast clip clip_by_norm increment mean",
    "matrix": "bmm dot addmm cross bilinear_tensor_product fsp fc",
    "diagonal": "trace tril_triu diag diag_embed",
    "reduce": """
        reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_all reduce_any""",
    "scan": "cumsum",
    "vector_norm": "norm p_norm frobenius_norm l1_norm squared_l2_norm",
    "distance": "dist cos_sim",
    "compare": """
        equal not_equal less_than less_equal greater_than greater_equal logical_and logical_or
        logical_xor logical_not equal_reduce allclose isfinite isnan isinf is_empty""",
    "shape": """
        reshape reshape2 transpose transpose2 squeeze squeeze2 unsqueeze unsqueeze2 flatten
        flatten2 concat split stack unstack slice strided_slice expand expand_as meshgrid
        partial_concat partial_sum pad pad2d
        pad_constant_like crop reverse flip shape size""",
    "creation": """
        fill_constant fill_any_like fill_zeros_like fill_zeros_like2
        fill_constant_batch_size_like fill assign assign_value eye linspace range""",
    "gather": """
        gather gather_nd scatter scatter_nd_add one_hot one_hot_v2 lookup_table
        lookup_table_v2""",
    "select": "where multiplex index_select",
    "search": "arg_max arg_min argsort where_index unique shard_index",
    "rows": "merge_selected_rows get_tensor_from_selected_rows",
    "conv": "conv2d depthwise_conv2d conv2d_transpose depthwise_conv2d_transpose",
    "conv3d": "conv3d conv3d_transpose",
    "deformable": "deformable_conv deformable_conv_v1",
    "pool": "pool2d",
    "pool3d": "pool3d",
    "unpool": "max_pool2d_with_index max_pool3d_with_index unpool spp",
    "norm": "batch_norm layer_norm instance_norm group_norm",
    "rescale": "data_norm inplace_abn lrn spectral_norm",
    "interpolate": "bilinear_interp nearest_interp bicubic_interp",
    "points": "grid_sampler affine_grid",
    "rearrange": "unfold",
    "features": "add_position_encoding similarity_focus row_conv",
    "boxes": "iou_similarity box_coder polygon_box_transform box_decoder_and_assign",
    "anchors": "prior_box density_prior_box",
    "yolo": "yolo_box yolov3_loss",
    "dropout": "dropout",
    "loss": "cross_entropy cross_entropy2 softmax_with_cross_entropy",
    "regression_loss": "huber_loss smooth_l1_loss center_loss",
    "probability_loss": """
        log_loss bce_loss kldiv_loss nll_loss sigmoid_focal_loss teacher_student_sigmoid_loss""",
    "ranking_loss": "hinge_loss margin_rank_loss",
    "sampled_loss": "nce hierarchical_sigmoid sample_logits",
    "clicks": "cvm hash",
    "metric": "accuracy top_k auc mean_iou positive_negative_pair",
    "soft_labels": "label_smooth sigmoid_cross_entropy_with_logits",
    "optimizer": "sgd momentum adam",
    "adaptive": "adagrad decayed_adagrad adadelta rmsprop",
    "proximal": "proximal_adagrad ftrl",
    "layerwise": "lars_momentum lamb",
    "averaging": "average_accumulates",
    "quantize": """
        fake_quantize_abs_max fake_channel_wise_quantize_abs_max fake_dequantize_max_abs
        fake_channel_wise_dequantize_max_abs fake_quantize_moving_average_abs_max
        fake_quantize_dequantize_moving_average_abs_max moving_average_abs_max_scale
        dequantize_abs_max dequantize_log""",
    "fused": """
        fused_elemwise_activation fused_embedding_seq_pool fusion_squared_mat_sub
        fusion_repeated_fc_relu coalesce_tensor tdm_child""",
    "sequence": """
        sequence_concat sequence_conv sequence_expand sequence_expand_as sequence_mask
        sequence_pad sequence_pool sequence_reshape sequence_reverse sequence_scatter
        sequence_slice sequence_softmax sequence_topk_avg_pooling sequence_unpad
        lod_reset im2sequence match_matrix_tensor var_conv_2d filter_by_instag""",
    "recurrent": "lstm lstm_unit gru gru_unit",
    "structured": """
        linear_chain_crf crf_decoding warpctc ctc_align edit_distance chunk_eval beam_search
        gather_tree tree_conv""",
    "regions": "roi_align roi_pool psroi_pool prroi_pool",
    "detection": """
        bipartite_match target_assign mine_hard_examples box_clip multiclass_nms multiclass_nms2
        retinanet_detection_output generate_proposals collect_fpn_proposals
        distribute_fpn_proposals""",
}

# Mistakes a user can make with what there is, by category.
MISTAKES = {
    "feed": """
        feed_unknown_name feed_missing feed_wrong_rank feed_wrong_shape_data
        feed_wrong_dtype_data feed_wrong_shape_layers_data feed_wrong_dtype_layers_data
        feed_python_list feed_not_a_dict feed_lengths_do_not_add_up set_lod_not_ascending""",
    "fetch": "fetch_unknown_name fetch_wrong_type fetch_twice",
    "run": """
        startup_not_run run_not_a_program run_empty_program run_after_close executor_bad_place
        cuda_place_without_cuda ids_out_of_range ids_negative one_hot_out_of_range
        nan_with_check nan_without_check int_divide_by_zero batch_sizes_disagree topk_too_large
        squeeze_not_one sequence_op_without_lod""",
    "backward": """
        loss_not_scalar loss_not_scalar_run loss_not_variable minimize_not_variable
        loss_of_other_program gradients_unreachable gradients_one_of_two_unreachable
        gradients_of_stopped_input gradients_wrong_target_gradient
        gradients_target_counts_differ minimize_twice append_backward_twice no_parameters
        everything_stopped parameter_list_unknown_name no_grad_set_wrong_type
        learning_rate_wrong_type regularizer_wrong_type grad_clip_wrong_type
        ftrl_sparse_gradient""",
    "build": """
        fc_input_not_variable fc_size_not_int fc_int_input fc_flatten_dims_too_large
        unknown_activation parameter_other_shape param_attr_wrong_type bias_attr_true
        op_missing_input op_unknown_type op_unknown_slot op_unknown_attr op_wrong_attr_type
        op_two_inputs_in_a_single_slot mul_shapes matmul_shapes concat_shapes concat_axis
        concat_not_list elementwise_shapes elementwise_dtypes reshape_size reshape_two_unknown
        transpose_perm_length split_not_divisible conv_channels_groups conv_rank pool_type
        cross_entropy_label_shape cross_entropy_label_float embedding_ids_shape
        embedding_ids_float cast_unknown_dtype fill_constant_dtype dropout_probability
        initializer_shape""",
    "control": """
        while_condition_shape while_condition_dtype while_loop_body_count
        while_loop_cond_not_callable cond_different_structures cond_different_dtypes
        cond_predicate_not_variable static_rnn_no_step_input static_rnn_memory_outside
        array_read_wrong_index_type""",
    "io": """
        load_params_missing_folder load_inference_model_missing load_missing_file
        save_inference_target_not_variable save_inference_unknown_feed load_other_shape
        set_program_state_unused_key data_feeder_wrong_count""",
    "ir": """
        block_var_missing create_var_same_name create_var_same_name_other_shape
        create_var_same_name_other_dtype program_guard_wrong_type data_with_none_shape
        same_data_name_twice variable_from_other_program variable_as_bool variable_len
        variable_float variable_numpy_static variable_plus_string variable_plus_array
        variable_index_out_of_range""",
}


# Modules of fluid whose public names are kept.
MODULES = """
    . layers nets initializer regularizer clip optimizer metrics param_attr io backward
    unique_name profiler dygraph contrib.mixed_precision"""


def words(table):
    """All words of a table of texts, or of one text."""
    texts = table.values() if isinstance(table, dict) else [table]
    return [word for text in texts for word in text.split()]


def read(path):
    return json.loads(path.read_text())


def write(name, value):
    """Write a value as JSON, packed where the name says so."""
    data = json.dumps(value, separators=(",", ":")).encode()
    if name.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    (HERE / name).write_bytes(data)


def write_arrays(name, arrays):
    """Write an ``.npz`` whose bytes depend on the arrays only."""
    with zipfile.ZipFile(HERE / name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for key in sorted(arrays):
            data = io.BytesIO()
            np.lib.format.write_array(data, np.asarray(arrays[key]), allow_pickle=False)
            packed.writestr(zipfile.ZipInfo(key + ".npy"), data.getvalue(), zipfile.ZIP_DEFLATED)


def entries_of(case):
    """What is recorded of every variable of a case of one operator, and of its gradients."""
    grad = case["grad"] or {"out_grads": {}, "in_grads": {}}
    for slots in (case["inputs"], case["outputs"], grad["out_grads"], grad["in_grads"]):
        yield from (entry for entries in slots.values() for entry in entries)


def only(record, keys):
    """Those keys of a record that it has."""
    return {key: record[key] for key in keys.split() if key in record}


def without_duplicates(names):
    """The names, none of which may stand twice."""
    assert len(names) == len(set(names)), sorted(n for n in set(names) if names.count(n) > 1)
    return names


def extract_operators(oracle):
    """Write the cases of the selected operators; give their ids."""
    folder = oracle / "op_cases"
    family = {op: name for name, ops in OPERATORS.items() for op in ops.split()}
    without_duplicates(words(OPERATORS))
    recorded = read(folder / "index.json")["cases"]
    missing = sorted(set(family) - {c["op"] for c in recorded})
    assert not missing, f"no case of {missing}"
    files, arrays, cases = {}, {}, []
    for case in recorded:
        if case["op"] not in family:
            continue
        source = files.setdefault(case["npz"], np.load(folder / case["npz"]))
        arrays.update({e["key"]: source[e["key"]] for e in entries_of(case) if "key" in e})
        del case["npz"]
        cases.append({"family": family[case["op"]], **case})
    without_duplicates([c["id"] for c in cases])
    write("op_cases.json.gz", cases)
    write_arrays("op_cases.npz", arrays)

    source = np.load(folder / "double_grad.npz")
    twice = [c for c in read(folder / "double_grad.json")["cases"] if c["op"] in family]
    write("double_grad.json.gz", twice)
    ids = {c["id"] for c in twice}
    write_arrays("double_grad.npz", {k: source[k] for k in source if k.split(":")[0] in ids})
    return [c["id"] for c in cases] + ["double_grad." + c["id"] for c in twice]


def extract_schema(oracle):
    """Write slots, attributes and gradient operators of all operators."""
    schema = read(oracle / "op_schema.json")
    kept = {}
    for name, op in sorted(schema["ops"].items()):
        kept[name] = {
            "inputs": op["inputs"],
            "outputs": op["outputs"],
            "attrs": [only(a, "name type default") for a in op["attrs"]],
            "grad_maker": op["grad_maker"],
            "grad_ops": [only(g, "type inputs outputs") for g in op.get("grad_ops") or []],
        }
    write("op_schema.json.gz", kept)


def extract_programs(oracle):
    """Write the golden programs; give their names, and the scripts that build them."""
    recorded = read(oracle / "program_goldens.json")["nets"]
    write("program_goldens.json.gz", recorded)
    return list(recorded), {golden.get("net", name) for name, golden in recorded.items()}


def extract_trainings(oracle):
    """Write the trainings; give their ids, and the scripts that build their nets."""
    cases = read(oracle / "training_goldens" / "index.json")["cases"]
    (HERE / "training_goldens").mkdir(exist_ok=True)
    for case in cases:
        source = np.load(oracle / "training_goldens" / case["npz"])
        write_arrays(f"training_goldens/{case['npz']}", {k: source[k] for k in source})
    write("training_goldens/index.json", cases)
    return [c["id"] for c in cases], {c["net"] for c in cases}


def extract_scripts(oracle, nets):
    """Copy the scripts of the nets, and those that write and compare programs."""
    (HERE / "nets").mkdir(exist_ok=True)
    for name in sorted({*nets, "_dump", "_compare", "_optimizers"}):
        shutil.copyfile(oracle / "nets" / f"{name}.py", HERE / "nets" / f"{name}.py")


def extract_models(oracle):
    """Pack the models, parameters and tensors in Paddle's own formats."""
    folder = oracle / "saved_models"
    (HERE / "saved_models").mkdir(exist_ok=True)
    with zipfile.ZipFile(HERE / "saved_models" / "fluid18.zip", "w") as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != "format.json":
                info = zipfile.ZipInfo(path.relative_to(folder).as_posix())
                packed.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)


def extract_layers(oracle):
    """Write the calls of layers; give their ids."""
    folder = oracle / "layer_cases"
    cases = read(folder / "index.json")["cases"]
    for case in cases:
        del case["blocks"]
    write("layer_cases.json.gz", cases)
    ids = without_duplicates([case["id"] for case in cases])
    source = np.load(folder / "values.npz")
    write_arrays("layer_cases.npz", {k: source[k] for k in source if k.split(":")[0] in ids})
    return ids


def extract_dygraph(oracle):
    """Write the snippets of imperative mode; give their ids."""
    recorded = read(oracle / "dygraph_cases.json")
    write("dygraph_cases.json.gz", only(recorded, "prelude cases"))
    return [case["id"] for case in recorded["cases"]]


def extract_names(oracle):
    """Write the public functions and classes of fluid with their parameters."""
    recorded = read(oracle / "api_signatures.json")
    classes = recorded["classes"]

    def members(ref):
        """Methods of a class and of those it derives from: name -> parameters."""
        found = {}
        for name, member in classes[ref].get("members", {}).items():
            if "params" in member and (name == "__call__" or not name.startswith("_")):
                found[name] = member["params"]
        for name, origin in classes[ref].get("inherited", {}).items():
            if "params" in classes.get(origin, {}).get("members", {}).get(name, {}):
                found[name] = classes[origin]["members"][name]["params"]
        return found

    def entry(name):
        if name["kind"] == "function" and "params" in name:
            return {"params": name["params"]}
        if name["kind"] == "class":
            return {"params": classes[name["ref"]].get("init"), "methods": members(name["ref"])}
        return None

    kept = {}
    for module in words(MODULES):
        path = "paddle.fluid" if module == "." else f"paddle.fluid.{module}"
        found = {k: entry(v) for k, v in recorded["modules"][path]["names"].items()}
        kept[module] = {k: v for k, v in sorted(found.items()) if v}
    write("../api/fluid18.json.gz", kept)


def extract_mistakes(oracle):
    """Write the mistakes; give their ids."""
    recorded = {c["id"]: c for c in read(oracle / "errors.json")["cases"]}
    del recorded["feed_unknown_name"]["out"]  # computed from random values without a seed
    twice = recorded["fetch_twice"]  # newer NumPy takes no array of shape [1] for a number
    twice["code"] = twice["code"].replace("float(v)", "v.item()")
    cases = [recorded[name] for name in without_duplicates(words(MISTAKES))]
    write("errors.json.gz", cases)
    return [c["id"] for c in cases]


def extract_wrong(oracle, ids):
    """Keep those entries of the list of wrong recordings that concern what was selected."""

    def concerns(key):
        kind, name = key.split(":")[:2]
        return name in ids.get(kind, ())

    wrong = {k: why for k, why in read(oracle / "wrong_in_real.json").items() if concerns(k)}
    (HERE / "wrong_in_real.json").write_text(json.dumps(wrong, indent=1) + "\n")


def main(oracle):
    ids = {"ops": extract_operators(oracle), "errors": extract_mistakes(oracle)}
    ids["nets"], programs = extract_programs(oracle)
    ids["training"], trainings = extract_trainings(oracle)
    ids["layers"] = extract_layers(oracle)
    ids["dygraph"] = extract_dygraph(oracle)
    extract_schema(oracle)
    extract_names(oracle)
    extract_models(oracle)
    extract_scripts(oracle, programs | trainings)
    extract_wrong(oracle, ids)
    for kind, selected in sorted(ids.items()):
        print(f"{kind}: {len(selected)} cases")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
