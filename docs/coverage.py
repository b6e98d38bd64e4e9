"""Writes ``coverage.md``: which operators and public names of fluid 1.8 there are.

    python docs/coverage.py

What is left out has a reason, below; an entry that is there by now fails a test.
"""

import fnmatch
import gzip
import importlib
import json
from pathlib import Path

import fluidlite as fluid
import fluidlite.io  # defines operators of its own
from fluidlite.opdef.definition import is_defined, lookup

HERE = Path(__file__).parent
TESTS = HERE.parent / "tests"

#: operators that are left out: reason -> types
OPERATORS = {
    "sequences of several lengths, still to come": """
        lod_reset sequence_concat sequence_conv sequence_enumerate sequence_erase sequence_expand
        sequence_expand_as sequence_mask sequence_pad sequence_pool sequence_reshape
        sequence_reverse sequence_scatter sequence_slice sequence_softmax
        sequence_topk_avg_pooling sequence_unpad im2sequence match_matrix_tensor var_conv_2d
        array_to_lod_tensor lod_tensor_to_array lod_rank_table max_sequence_len
        reorder_lod_tensor_by_rank shrink_rnn_memory filter_by_instag""",
    "recurrent nets over sequences of several lengths, still to come": """
        gru lstm lstmp lstm_unit cudnn_lstm attention_lstm""",
    "structured predictions, still to come": """
        beam_search beam_search_decode chunk_eval crf_decoding ctc_align edit_distance gather_tree
        linear_chain_crf precision_recall sampling_id tree_conv warpctc""",
    "whole pipelines of detection, still to come": """
        collect_fpn_proposals detection_map distribute_fpn_proposals generate_mask_labels
        generate_proposal_labels generate_proposals locality_aware_nms matrix_nms
        mine_hard_examples multiclass_nms multiclass_nms2 retinanet_detection_output
        retinanet_target_assign rpn_target_assign""",
    "fusions that fluid's passes make of other operators": """
        fused_embedding_fc_lstm fused_embedding_seq_pool fusion_gru fusion_lstm
        fusion_seqconv_eltadd_relu fusion_seqexpand_concat_fc fusion_seqpool_concat
        fusion_seqpool_cvm_concat""",
    "steps of MKL-DNN's 8-bit programs": "quantize dequantize requantize",
    "many processes and parameter servers": """
        allreduce broadcast c_allgather c_allreduce_max c_allreduce_min c_allreduce_prod
        c_allreduce_sum c_broadcast c_comm_init c_comm_init_all c_reducescatter c_sync_calc_stream
        c_sync_comm_stream checkpoint_notify dgc_clip_by_norm dgc_momentum
        distributed_lookup_table fake_init fetch_barrier fl_listen_and_serv listen_and_serv
        lookup_sparse_table lookup_table_dequant merge_ids prefetch pull_box_sparse pull_sparse
        pull_sparse_v2 push_dense pyramid_hash rank_attention recv recv_save ref_by_trainer_id
        send send_barrier shuffle_batch split_byref split_ids split_selected_rows""",
    "readers that are operators; programs are fed by Python": """
        create_double_buffer_reader create_py_reader read""",
    "inner workings of fluid's runtime": "delete_var get_places run_program",
}

#: public names that are left out: reason -> ``MODULE.NAME``, or a pattern
NAMES = {
    "sequences of several lengths, still to come": """
        layers.DynamicRNN layers.im2sequence layers.lod_append layers.lod_reset
        layers.reorder_lod_tensor_by_rank layers.sequence_* layers.filter_by_instag
        layers.row_conv nets.sequence_conv_pool""",
    "recurrent nets over sequences of several lengths, still to come": """
        layers.dynamic_gru layers.dynamic_lstm layers.dynamic_lstmp layers.lstm layers.lstm_unit
        layers.rnn layers.RNNCell layers.GRUCell layers.LSTMCell""",
    "structured predictions, still to come": """
        layers.BasicDecoder layers.BeamSearchDecoder layers.DecodeHelper layers.Decoder
        layers.GreedyEmbeddingHelper layers.SampleEmbeddingHelper layers.TrainingHelper
        layers.beam_search layers.beam_search_decode layers.chunk_eval layers.crf_decoding
        layers.ctc_greedy_decoder layers.dynamic_decode layers.edit_distance layers.gather_tree
        layers.linear_chain_crf layers.sampling_id layers.warpctc""",
    "whole pipelines of detection, still to come": """
        layers.collect_fpn_proposals layers.detection_output layers.distribute_fpn_proposals
        layers.generate_mask_labels layers.generate_proposal_labels layers.generate_proposals
        layers.locality_aware_nms layers.matrix_nms layers.multiclass_nms
        layers.retinanet_detection_output layers.retinanet_target_assign
        layers.rpn_target_assign layers.ssd_loss
        metrics.DetectionMAP""",
    "readers that are operators; programs are fed by Python": """
        layers.create_py_reader_by_data layers.double_buffer layers.py_reader layers.read_file
        layers.load io.DataLoader io.PyReader io.default_collate_fn io.multiprocess_reader""",
    "many processes and parameter servers": """
        optimizer.DGCMomentumOptimizer optimizer.PipelineOptimizer ..DataFeedDesc
        ..DatasetFactory ..DistributeTranspiler ..DistributeTranspilerConfig ..InMemoryDataset
        ..QueueDataset""",
    "inner workings of fluid that mean nothing here": """
        ..ComplexVariable ..load_op_library
        ..monkey_patch_varbase ..monkey_patch_variable""",
    "imperative mode, still to come": "dygraph.* ..*",
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


def page():
    """The text of ``coverage.md``."""
    types = forward_operators()
    there = [t for t in types if is_defined(t)]
    families = {}
    for type in there:
        families.setdefault(family_of(type), []).append(type)
    names = public_names()
    missing = [name for name, here in names.items() if not here]
    modules = {}
    for name, here in names.items():
        modules.setdefault(title(name), []).append(here)
    return "\n\n".join(
        [
            "# Coverage of fluid 1.8",
            "Written by `python docs/coverage.py`; a test fails where it is out of date.",
            "## Operators",
            f"{len(there)} of {len(types)} operators are there, each with its gradients of every "
            "order unless nothing flows through it. A family is a file of `fluidlite/ops`.",
            table(
                ["family", "how many", "which"],
                [
                    [family, len(each), " ".join(f"`{one}`" for one in each)]
                    for family, each in sorted(families.items())
                ],
            ),
            "### Left out",
            left_out([t for t in types if t not in there], lambda name: why(OPERATORS, name)),
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
            "",
        ]
    ).removesuffix("\n")


def title(name):
    """How the module of a public name is called."""
    module = name.rpartition(".")[0]
    return "`fluid`" if module == "." else f"`fluid.{module}`"


if __name__ == "__main__":
    (HERE / "coverage.md").write_text(page(), encoding="utf-8")
