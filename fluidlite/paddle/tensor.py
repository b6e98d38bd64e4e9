"""``paddle.tensor`` of paddle 2.6: the functions of ``paddle`` once more, by families."""

from __future__ import annotations

from importlib import import_module

from ..ground.module_tables import Homes, Table, give_names, hold_modules

#: module -> the functions that it has; those that ``paddle`` has not, either, are missing
_FAMILIES = {
    "attribute": """
        imag is_complex is_floating_point is_integer rank real shape""",
    "creation": """
        arange assign cauchy_ clone complex create_global_var create_parameter create_tensor
        diag diag_embed diagflat empty empty_like eye fill_constant full full_like geometric_
        linspace logspace meshgrid ones ones_like polar to_tensor tril tril_ tril_indices triu
        triu_ triu_indices zeros zeros_like""",
    "einsum": """
        einsum""",
    "linalg": """
        bincount bmm cdist cholesky cholesky_solve cond corrcoef cov cross det dist dot eig
        eigh eigvals eigvalsh histogram householder_product lstsq lu lu_unpack matmul
        matrix_power matrix_rank multi_dot mv norm pca_lowrank pinv qr slogdet solve svd t t_
        transpose transpose_ triangular_solve""",
    "logic": """
        allclose bitwise_and bitwise_and_ bitwise_not bitwise_not_ bitwise_or bitwise_or_
        bitwise_xor bitwise_xor_ equal equal_ equal_all greater_equal greater_equal_
        greater_than greater_than_ is_empty is_tensor isclose less_equal less_equal_ less_than
        less_than_ logical_and logical_and_ logical_not logical_not_ logical_or logical_or_
        logical_xor logical_xor_ not_equal not_equal_""",
    "manipulation": """
        as_complex as_real as_strided atleast_1d atleast_2d atleast_3d broadcast_tensors
        broadcast_to cast cast_ chunk concat crop diagonal_scatter expand expand_as fill_
        fill_diagonal_ fill_diagonal_tensor fill_diagonal_tensor_ flatten flatten_ flip gather
        gather_nd index_add index_add_ index_fill index_fill_ index_put index_put_
        infer_broadcast_shape masked_fill masked_fill_ moveaxis non_negative_axis
        put_along_axis put_along_axis_ repeat_interleave reshape reshape_ roll rot90 scatter
        scatter_ scatter_nd scatter_nd_add select_scatter shard_index slice split squeeze
        squeeze_ stack strided_slice take_along_axis tensor_array_to_tensor tensordot tile
        tolist transpose unbind unflatten unfold unique unique_consecutive unsqueeze
        unsqueeze_ unstack view view_as vsplit zero_""",
    "math": """
        add add_ add_n addmm addmm_ all amax amin angle any atan2 broadcast_shape clip clip_
        combinations conj count_nonzero cummax cummin cumprod cumprod_ cumsum cumsum_
        cumulative_trapezoid deg2rad diagonal diff digamma digamma_ divide divide_ erfinv
        erfinv_ floor_divide floor_divide_ floor_mod floor_mod_ fmax fmin frac frac_ frexp gcd
        gcd_ heaviside hypot hypot_ i0 i0_ i0e i1 i1e increment inner inverse isfinite isinf
        isnan kron lcm lcm_ ldexp ldexp_ lerp lerp_ lgamma lgamma_ log log10 log10_ log1p
        log1p_ log2 log2_ log_ logaddexp logcumsumexp logit logit_ logsumexp max maximum min
        minimum mm mod mod_ multigammaln multigammaln_ multiply multiply_ nan_to_num
        nan_to_num_ nanmean nansum neg neg_ nextafter outer polygamma polygamma_ pow pow_ prod
        rad2deg remainder remainder_ renorm renorm_ scale scale_ sgn sign stanh subtract
        subtract_ sum take tanh tanh_ trace trapezoid trunc trunc_ vander multiplex""",
    "ops": """
        abs_ acos acos_ acosh acosh_ asin asin_ asinh asinh_ atan atan_ atanh atanh_ ceil
        ceil_ cos cos_ cosh cosh_ erf erf_ exp exp_ expm1 expm1_ floor floor_ reciprocal
        reciprocal_ round round_ rsqrt rsqrt_ sigmoid sigmoid_ sin sin_ sinh sinh_ sqrt sqrt_
        square square_ tan tan_""",
    "random": """
        bernoulli exponential_ gaussian gaussian_ multinomial normal normal_ poisson rand
        randint randint_like randn randperm standard_normal uniform uniform_
        uniform_random_batch_size_like""",
    "search": """
        argmax argmin argsort bucketize index_sample index_select kthvalue masked_select mode
        nonzero searchsorted sort top_p_sampling topk where where_""",
    "stat": """
        mean median nanmedian nanquantile numel quantile std var""",
    "to_string": """
        set_printoptions""",
}
_ARRAYS = {"paddle.arrays": "array_length array_read array_write create_array"}
#: functions of matrices that ``paddle`` itself does not have
_LINALG = """
    cholesky_solve cond corrcoef cov det eig eigh eigvals householder_product lstsq lu lu_unpack
    matrix_power matrix_rank multi_dot pca_lowrank pinv qr slogdet solve svd triangular_solve"""
#: what ``paddle`` itself does not have, by module
_OWN: Table = {
    "linalg": {"paddle.linalg": _LINALG},
    "creation": {"layers": "create_global_var create_tensor fill_constant"},
    "manipulation": {"layers": "tensor_array_to_tensor"},
    "random": {"layers": "uniform_random_batch_size_like"},
}
_paddle = import_module(__package__)


def _homes(module: str) -> Homes:
    there = " ".join(name for name in _FAMILIES[module].split() if name in vars(_paddle))
    return {"paddle": there, **_OWN.get(module, {})}


_MODULES: dict[str, Homes] = {"array": _ARRAYS, **{each: _homes(each) for each in _FAMILIES}}
_below = hold_modules(globals(), _MODULES)
_given = {f"paddle.tensor.{each}": " ".join(_below[each].__all__) for each in _below}
give_names(globals(), _given, _below)
