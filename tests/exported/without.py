"""Operators of which at least one sample has no form in ONNX, and why."""

#: reason -> types
REASONS = {
    "how many results there are depends on values": """
        beam_search bincount chunk_eval collect_fpn_proposals ctc_align distribute_fpn_proposals
        filter_by_instag generate_proposals generate_proposals_v2 locality_aware_nms matrix_nms
        retinanet_detection_output retinanet_target_assign sequence_erase
        selected_rows unique_consecutive viterbi_decode""",
    "the kernel chooses what it computes by values": """
        assign_pos auc bipartite_match check_numerics detection_map edit_distance
        fake_quantize_range_abs_max generate_mask_labels mine_hard_examples perspective_points
        precision_recall psroi_weights
        roi_align_weights roi_perspective_transform sequence_pad sequence_scatter
        sequence_topk_avg_pooling similarity_focus target_assign warpctc warprnnt yolov3_loss
        yolov3_targets""",
    "complex numbers": """
        angle as_complex as_real complex conj fft_c2c fft_c2r fft_r2c imag real stft""",
    "an index of several kinds": "tdm_child",
    "bits of numbers are taken for other numbers": "frexp hash nextafter pyramid_hash view_dtype",
    "runtimes count no divisors": "gcd lcm",
    "runtimes have no running maximum": "mode mode_place",
    "runtimes do not search in rows": "searchsorted",
    "runtimes decompose no matrices": """
        cholesky cholesky_solve cofactors determinant eig eigh eigvals eigvalsh
        factored_determinant factored_slogdeterminant factored_solve inverse
        inverse_or_nan lstsq
        lu lu_unpack matrix_rank pseudo_inverse qr slogdeterminant solve svd
        triangular_solve""",
    "several images, of which NonMaxSuppression's rows form sequences": """
        multiclass_nms multiclass_nms2 multiclass_nms3""",
    "pictures are decoded by Pillow": "decode_jpeg",
}
WITHOUT = {type: reason for reason, types in REASONS.items() for type in types.split()}

#: the same of NumPy source: reason -> types
SOURCE_REASONS = {
    "how many results there are depends on values": "distribute_fpn_proposals sequence_mask",
    "a composition asks for values": """
        ctc_align filter_by_instag im2sequence sequence_pad sequence_scatter warpctc""",
    "bits of numbers are taken for other numbers": "pyramid_hash",
    "the kernel makes another operator": "roi_pool",
    "the kernel was made by a function": "locality_aware_nms",
    "pictures are decoded by Pillow": "decode_jpeg",
}
SOURCE_WITHOUT = {type: why for why, types in SOURCE_REASONS.items() for type in types.split()}

#: recorded calls of layers without a form: reason -> their names
LAYER_REASONS = {
    "how many results there are depends on values": """
        ctc_greedy sequence_scatter sequence_unpad""",
    "the kernel chooses what it computes by values": "auc linear_chain_crf",
    "it calls Python": "py_func",
    "places in arrays of tensors depend on values": "rank_table_arrays",
}
LAYERS_WITHOUT = {name for names in LAYER_REASONS.values() for name in names.split()}
#: those whose compositions or kernels are written out for the sizes of what is fed
LAYERS_OF_SIZES = {"im2sequence", "sequence_expand", "sequence_expand_as"}
