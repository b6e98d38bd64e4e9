"""Writes ``coverage.md``: which operators of fluid 1.8 and which public names of it and of paddle 2
there are.

    python docs/coverage.py

What is left out has a reason, below; an entry that is there by now fails a test.
"""

import fnmatch
import gzip
import importlib
import importlib.util
import json
import sys
from pathlib import Path

import fluidlite as fluid
import fluidlite.io  # defines operators of its own
from fluidlite.ground.missing_names import LEFT_OUT
from fluidlite.opdef.definition import is_defined, lookup, registered

HERE = Path(__file__).parent
TESTS = HERE.parent / "tests"

#: operators that are left out: reason -> types
OPERATORS = {
    "parameter servers and pipelines of processes": """
        checkpoint_notify dgc_clip_by_norm dgc_momentum
        distributed_lookup_table fake_init fetch_barrier fl_listen_and_serv listen_and_serv
        lookup_sparse_table lookup_table_dequant merge_ids prefetch pull_box_sparse pull_sparse
        pull_sparse_v2 push_dense recv recv_save ref_by_trainer_id
        send send_barrier split_byref split_ids split_selected_rows""",
    "inner workings of fluid's runtime": "delete_var get_places run_program",
}

#: operators of paddle 2.6.2 that are left out beside those: reason -> types
OPERATORS_OF_PADDLE_2 = {
    "communication of processes as NCCL has it: `paddle.distributed` sends tensors, and "
    "`c_allreduce_sum` and its like are in programs": """
        all_gather all_reduce all_to_all alltoall barrier c_comm_init_multitrainer c_concat
        c_embedding c_gen_xccl_id c_identity c_reduce_max c_reduce_min c_reduce_prod c_reduce_sum
        c_scatter c_softmax_with_cross_entropy c_split c_wait_comm c_wait_compute dist_concat
        distributed_fused_lamb distributed_fused_lamb_init global_gather global_scatter
        mp_allreduce_sum p_recv p_recv_array p_send p_send_array partial_allgather partial_recv
        partial_send recv_v2 reduce reduce_scatter send_v2""",
    "parameter servers and pipelines of processes": """
        copy_cross_scope distributed_push_sparse heter_listen_and_serv pull_box_extended_sparse
        pull_gpups_sparse push_box_extended_sparse push_box_sparse push_gpups_sparse push_sparse
        push_sparse_v2 send_and_recv""",
    "sparse tensors are values and places of dense ones, so `paddle.sparse` needs no operators of "
    "its own, and programs have no such variables": """
        sparse_abs sparse_acos sparse_acosh sparse_add sparse_addmm sparse_asin sparse_asinh
        sparse_atan sparse_atanh sparse_batch_norm sparse_cast sparse_coalesce sparse_conv3d
        sparse_divide sparse_divide_scalar sparse_expm1 sparse_full_like sparse_fused_attention
        sparse_indices sparse_isnan sparse_leaky_relu sparse_log1p sparse_masked_matmul
        sparse_matmul sparse_maxpool sparse_multiply sparse_mv sparse_pow sparse_relu
        sparse_relu6 sparse_reshape sparse_scale sparse_sin sparse_sinh sparse_slice
        sparse_softmax sparse_sparse_coo_tensor sparse_sqrt sparse_square sparse_subtract
        sparse_sum sparse_sync_batch_norm sparse_tan sparse_tanh sparse_to_dense
        sparse_to_sparse_coo sparse_to_sparse_csr sparse_transpose sparse_values""",
    "primitives between two rewritings: no kernel runs them, and `prim2orig` takes them out of a "
    "program before it is run or saved": "*_p",
    "XPU": "*_xpu squeeze_excitation_block",
    "NPU": "alloc_float_status clear_float_status get_float_status",
    "fusions with kernels for GPUs alone, that no function of the documents makes on a CPU": """
        bilateral_slice block_multihead_attention fused_dconv_drelu_dbn
        fused_scale_bias_relu_conv_bn fused_seqpool_cvm fused_token_prune
        masked_multihead_attention moe""",
    "weights lie in the order of a GPU's matrix instructions": """
        llm_int8_linear weight_dequantize weight_only_linear weight_quantize""",
    "passes of oneDNN make them when a program is loaded; it is saved without them": """
        multi_gru quant_linear""",
    "tensors of texts": "faster_tokenizer",
    "a block whose gradient is another block, as `static_pylayer` writes it": "pylayer",
    "inner workings of Paddle's runtime: queues, checks of memory, what its compilers put in": """
        check_memory_continue data dequeue enqueue queue_generator shadow_output share_buffer""",
    "no optimizer of Paddle's writes them": "fused_adam sparse_momentum",
}

#: operators that the backend "jax" leaves to the host: reason -> types
ON_HOST = {
    "takes sizes, axes or other numbers as tensors, compiled where they are known": """
        affine_grid bicubic_interp bicubic_interp_v2 bilinear_interp bilinear_interp_v2 concat
        crf_decoding crop crop_tensor dropout empty expand expand_v2 fake_quantize_range_abs_max
        fill_constant gather gaussian_random graph_send_recv im2sequence linear_chain_crf
        linear_interp_v2 linspace logspace nearest_interp nearest_interp_v2 one_hot one_hot_v2
        pad2d pad3d pool_rows randint random_crop range reshape reshape2 set_value shuffle_batch
        slice split strided_slice tile top_k top_k_v2 uniform_random unsqueeze unsqueeze2""",
    "shapes of results depend on values": """
        add_item assign_pos bincount class_center_sample graph_khop_sampler graph_reindex
        graph_sample_neighbors index_put last_item masked_select mean_iou merge_lod_tensor
        merge_lod_tensor_infer nms precision_recall put_item repeat_interleave segment_argmax
        segment_max segment_pool segment_spread segment_sum segment_top sequence_mask sequence_unpad
        split_lod_tensor take_item target_assign unique unique_consecutive unique_with_counts
        viterbi_decode weighted_sample_neighbors where_index""",
    "kernels go through values in Python": """
        auc bipartite_match check_numerics chunk_eval ctc_align decode_jpeg deformable_psroi_pooling
        edit_distance perspective_points prroi_pool psroi_pool psroi_weights roi_align
        roi_align_weights roi_blend roi_blend_adjoint roi_blend_rows roi_images
        roi_perspective_transform roi_pool sample_logits similarity_focus tdm_sampler tree_conv
        tree_places truncated_gaussian_random warpctc warprnnt yolov3_loss yolov3_targets""",
    "sequences: each set of lengths would be compiled anew": """
        attention_lstm beam_search collect_fpn_proposals detection_map distribute_fpn_proposals
        filter_by_instag fused_embedding_fc_lstm fused_embedding_seq_pool fusion_gru fusion_lstm
        fusion_seqconv_eltadd_relu fusion_seqexpand_concat_fc fusion_seqpool_concat
        fusion_seqpool_cvm_concat generate_mask_labels generate_proposal_labels generate_proposals
        generate_proposals_v2 gru like_rows locality_aware_nms lstm lstmp match_matrix_tensor
        matrix_nms mine_hard_examples multiclass_nms multiclass_nms2 multiclass_nms3 pyramid_hash
        retinanet_detection_output retinanet_target_assign rpn_target_assign selected_rows
        sequence_concat sequence_conv sequence_enumerate sequence_erase sequence_expand
        sequence_expand_as sequence_pad sequence_pool sequence_reshape sequence_reverse
        sequence_scatter sequence_slice sequence_softmax sequence_topk_avg_pooling var_conv_2d""",
}


#: examples of the documents of 1.8.5 that end, or print, otherwise here: why -> what they are of
EXAMPLES = {
    "no process keeps parameters": """
        DistributeTranspiler.get_pserver_programs DistributeTranspiler.get_trainer_program""",
    "1.8.5 prints how NumPy spells a C type, `dtype=int64` behind whole numbers; the arrays are "
    "of the same type": """
        layers.While layers.while_loop""",
    "an element type prints as NumPy names it, and not as `VarType.FP32`, so that "
    "`np.dtype(str(x.dtype))` is it": """
        Variable.astype Variable.dtype layers.lrn""",
    "random numbers are those of another generator, and other ones in each process": """
        layers.randn""",
    "1.8.5 prints where its own sources appended each operator, in the order of a hash table": """
        Program Program.clone""",
    "a list shows its variables in one line each": "gradients",
    "a layer shows its sizes in place of its address in memory": "Layer.named_sublayers",
    "1.8.5 prints a hint on sparse tables, although the table is not sparse": "NCE",
    "the value stands in one line, without a number of seconds": "layers.array_length",
    "the table has a line of the user's for each operator": """
        profiler.start_profiler profiler.stop_profiler""",
    "the message says what to use": "optimizer.RecomputeOptimizer.load",
}
#: how many examples end well in 1.8.5, and here; how many of these print the same twice there, and
#: how many the same here; of the half whose digests are even
EXAMPLES_RUN = (314, 312, 96, 80)


def on_host():
    """Operators that the backend "jax" leaves to the host, at least for some inputs, and why."""
    return dict(reasons(ON_HOST))


#: public names that are left out: reason -> ``MODULE.NAME``; the module of ``fluid`` is a point
NAMES = {
    reason: " ".join(f".{name}" if name[0] == "." else name for name in names)
    for reason, names in LEFT_OUT.items()
}


def read(path):
    return json.loads(gzip.decompress(path.read_bytes()))


def reasons(table):
    """Entries of a table and their reasons, in its order."""
    return [(entry, why) for why, entries in table.items() for entry in entries.split()]


def why(table, name):
    """Why a name is left out; None where the table does not say."""
    found = [reason for entry, reason in reasons(table) if fnmatch.fnmatchcase(name, entry)]
    return found[0] if found else None


def forward_operators():
    """The types of fluid's operators, without those of gradients."""
    types = read(TESTS / "data" / "op_schema.json.gz")
    return [t for t in types if not t.endswith("_grad") and "_grad_" not in t]


def operators_of_paddle_2():
    """The types of paddle 2.6's operators that fluid does not have, without those of gradients."""
    fluids = {*read(TESTS / "data" / "op_schema.json.gz")}
    types = read(TESTS / "data" / "paddle_2" / "op_protos.json.gz")
    return [type for type in types if type not in fluids]


def why_not_of_paddle_2(type):
    """Why an operator of paddle 2.6 is left out; None where no table does say."""
    return why(OPERATORS_OF_PADDLE_2, type) or why(OPERATORS, type)


def family_of(type):
    """The module that an operator is defined in."""
    return lookup(type).__module__.removeprefix("fluidlite.").removeprefix("ops.")


def public_names():
    """``MODULE.NAME`` -> whether it is there; the module of ``fluid`` itself is a point."""
    found = {}
    for module, names in read(TESTS / "api" / "fluid18.json.gz").items():
        ours = module_of(module)
        for name in names:
            here = getattr(ours, name, None)
            found[f"{module}.{name}"] = here is not None and callable(here)
    return found


def module_of(name):
    """The library's module of that name, or None."""
    try:
        return fluid if name == "." else importlib.import_module(f"fluidlite.{name}")
    except ImportError:
        return None


def table(heads, rows):
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def by_family(types):
    """A table of operators by the files that they stand in."""
    families = {}
    for type in types:
        families.setdefault(family_of(type), []).append(type)
    return table(
        ["family", "how many", "which"],
        [
            [family, len(each), " ".join(f"`{one}`" for one in each)]
            for family, each in sorted(families.items())
        ],
    )


def left_out(names, reasons_of):
    """Names and why they are left out, by reason."""
    groups = {}
    for name in names:
        groups.setdefault(reasons_of(name) or "?", []).append(name)
    order = sorted(groups.items(), key=lambda group: -len(group[1]))
    return table(
        ["why", "how many", "which"],
        [[reason, len(each), " ".join(f"`{one}`" for one in each)] for reason, each in order],
    )


def tables_of_forms():
    """The tables of what has no form as ONNX or NumPy source, which tests check."""
    spec = importlib.util.spec_from_file_location("without", TESTS / "exported" / "without.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def aid(name):
    """A module that tests share."""
    if str(TESTS / "aids") not in sys.path:
        sys.path.insert(0, str(TESTS / "aids"))
    return importlib.import_module(name)


def tested_types():
    """The operators with samples that tests write and run: by family."""
    generators = aid("samples.form").GENERATORS
    aid("samples")  # fills it
    families = {}
    for op in registered():
        if op.type in generators and op.type not in ("feed", "fetch") and not op.random:
            families.setdefault(family_of(op.type), []).append(op.type)
    return families


def written_elsewhere():
    """How many operators can be written as what, and by family those that cannot."""
    tables, families = tables_of_forms(), tested_types()
    forms = {"ONNX": tables.WITHOUT, "NumPy source": tables.SOURCE_WITHOUT}
    types = [t for each in families.values() for t in each]
    whole = [len([t for t in types if t not in without]) for without in forms.values()]
    rows = [["**all**", len(types), *(f"{n} can, {n / len(types):.0%}" for n in whole)]]
    for family, listed in sorted(families.items()):
        gone = [[f"`{t}`" for t in listed if t in without] for without in forms.values()]
        if any(gone):
            rows.append([family, len(listed), *(" ".join(each) or "all can" for each in gone)])
    return table(["family", "how many", *(f"not as {form}" for form in forms)], rows)


def quoted(names):
    """Names in order, as code."""
    return " ".join(f"`{name}`" for name in sorted(names))


def layers_as_onnx():
    """How the recorded calls of layers are written as ONNX."""
    tables = tables_of_forms()
    names = {case["id"] for case in read(TESTS / "data" / "layer_cases.json.gz")}
    rest = names - tables.LAYERS_WITHOUT - tables.LAYERS_OF_SIZES
    rows = [
        ["sizes stay unknown, as far as they were", len(rest), "the others"],
        [
            "for the sizes of what is fed",
            len(tables.LAYERS_OF_SIZES),
            quoted(tables.LAYERS_OF_SIZES),
        ],
        *(
            [f"no form: {why}", len(each.split()), quoted(each.split())]
            for why, each in tables.LAYER_REASONS.items()
        ),
    ]
    return table(["as ONNX", "how many", "which"], rows)


def page():
    """The text of ``coverage.md``."""
    types, newer = forward_operators(), operators_of_paddle_2()
    there, newer_there = ([t for t in each if is_defined(t)] for each in (types, newer))
    names = public_names()
    missing = [name for name, here in names.items() if not here]
    modules = {}
    for name, here in names.items():
        modules.setdefault(title(name), []).append(here)
    return "\n\n".join(
        [
            "# Coverage of fluid 1.8 and paddle 2",
            "Written by `python docs/coverage.py`; a test fails where it is out of date.",
            "## Operators",
            f"{len(there)} of {len(types)} operators are there, each with its gradients of every "
            "order unless nothing flows through it. A family is a file of `fluidlite/ops`.",
            by_family(there),
            "### Left out",
            left_out([t for t in types if t not in there], lambda name: why(OPERATORS, name)),
            "### Operators of paddle 2.6",
            f"{len(newer_there)} of {len(newer)} operators that paddle 2.6.2 has beside those of "
            "fluid are there, with its slots and attributes.",
            by_family(newer_there),
            "### Left out of the operators of paddle 2.6",
            left_out([t for t in newer if t not in newer_there], why_not_of_paddle_2),
            "### Operators on JAX",
            "The backend `jax` compiles all operators but these, which run on the host, some of "
            "them for some inputs only. Tests compare every other one with NumPy, in float32 and "
            "float64, with gradients of two orders. Operators on arrays of tensors are compiled "
            "where positions are known, those that print, read files or call Python never.",
            left_out(sorted(on_host()), on_host().get),
            "## Operators as ONNX and as NumPy source",
            "How many operators can be written for each of the samples that are tested, and then, "
            "by family, those that cannot, or not for each; families that are not here can be "
            "written whole. The reasons are in "
            "`tests/exported/without.py`. Operators that draw random numbers, drive blocks or hold "
            "arrays of tensors are not counted here.",
            written_elsewhere(),
            "The calls of layers that were recorded:",
            layers_as_onnx(),
            "## Public names",
            f"{sum(names.values())} of {len(names)} functions and classes are there. Their "
            "parameters are fluid's; where they differ is listed with reasons in "
            "`tests/api/differences.py`.",
            table(
                ["module", "there", "of"],
                [[module, sum(here), len(here)] for module, here in modules.items()],
            ),
            "### Left out",
            left_out(missing, lambda name: why(NAMES, name)).replace("`..", "`"),
            "## Examples of its documents",
            examples(),
            "## Public names of paddle 2",
            names_of_paddle_2(),
            "",
        ]
    ).removesuffix("\n")


def names_of_paddle_2():
    """How many of the names of paddle 2.6.2 there are, by module, and which are not."""
    paddle = aid("paddle_names")
    states = paddle.states()
    modules = {}
    for name, state in states.items():
        modules.setdefault(name.rpartition(".")[0], []).append(state)
    kinds = ["served", "refused"]
    heads = {"served": "there", "refused": "left out"}
    listed = {kind: [name for name in states if states[name] == kind] for kind in kinds}
    told = (
        f"{len(listed['served'])} of {len(states)} names of paddle 2.6.2 are there. Their "
        "parameters are paddle's; where they differ is listed with reasons in "
        "`tests/aids/paddle_names.py`."
    )
    whys = paddle.why_left_out()
    return "\n\n".join(
        [
            told,
            table(
                ["module", *(heads[kind] for kind in kinds), "of"],
                [
                    [f"`{module}`", *(each.count(kind) for kind in kinds), len(each)]
                    for module, each in modules.items()
                ],
            ),
            "### Left out of paddle 2",
            left_out(listed["refused"], whys.get),
        ]
    )


def examples():
    """What became of the examples of the documents of 1.8.5."""
    ends, here, firm, alike = EXAMPLES_RUN
    told = (
        f"Half of the examples in the documents of 1.8.5 were run on both. {here} of the {ends} "
        f"that end well there end well here, and {alike} of the {firm} that print the same each "
        f"time print the same here. The others are those of:"
    )
    rows = [[why, " ".join(f"`{e}`" for e in each.split())] for why, each in EXAMPLES.items()]
    return told + "\n\n" + table(["why", "which"], rows)


def title(name):
    """How the module of a public name is called."""
    module = name.rpartition(".")[0]
    return "`fluid`" if module == "." else f"`fluid.{module}`"


if __name__ == "__main__":
    (HERE / "coverage.md").write_text(page(), encoding="utf-8")
