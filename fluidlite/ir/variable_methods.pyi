# Written by docs/stubs.py.
from collections.abc import Sequence
from typing import Any, Literal, overload

from ..functions.arguments import ArrayLike, Axes, DTypeLike, Numbers, Other
from ..opdef.arithmetic import Arithmetic
from .variable import Variable

class VariableMethods(Arithmetic):
    def __hash__(self) -> int: ...
    def __add__(self, other: Any) -> Variable: ...
    def __sub__(self, other: Any) -> Variable: ...
    def __mul__(self, other: Any) -> Variable: ...
    def __truediv__(self, other: Any) -> Variable: ...
    def __pow__(self, other: Any) -> Variable: ...
    def __mod__(self, other: Any) -> Variable: ...
    def __floordiv__(self, other: Any) -> Variable: ...
    def __matmul__(self, other: Any) -> Variable: ...
    def __lt__(self, other: Any) -> Variable: ...
    def __le__(self, other: Any) -> Variable: ...
    def __gt__(self, other: Any) -> Variable: ...
    def __ge__(self, other: Any) -> Variable: ...
    def __eq__(self, other: Any) -> Variable: ...  # type: ignore[override]
    def __ne__(self, other: Any) -> Variable: ...  # type: ignore[override]
    def __radd__(self, other: Any) -> Variable: ...
    def __rsub__(self, other: Any) -> Variable: ...
    def __rmul__(self, other: Any) -> Variable: ...
    def __rtruediv__(self, other: Any) -> Variable: ...
    def __rpow__(self, other: Any) -> Variable: ...
    def __rmod__(self, other: Any) -> Variable: ...
    def __rfloordiv__(self, other: Any) -> Variable: ...
    def __rmatmul__(self, other: Any) -> Variable: ...

    @property
    def T(self) -> Variable:
        """The tensor with its dimensions in reverse order."""

    def abs(self, name: str | None = None) -> Variable:
        """|x|; its gradient at 0 is 0."""

    def abs_(self, name: str | None = None) -> Variable:
        """|x|, in place; its gradient at 0 is 0."""

    def acos(self, name: str | None = None) -> Variable:
        """The angle in [0, pi] whose cosine is x."""

    def acos_(self, name: str | None = None) -> Variable:
        """The angle in [0, pi] whose cosine is x, in place."""

    def acosh(self, name: str | None = None) -> Variable:
        """The inverse hyperbolic cosine."""

    def acosh_(self, name: str | None = None) -> Variable:
        """The inverse hyperbolic cosine, in place."""

    def add(self, y: Other, name: str | None = None) -> Variable:
        """x + y."""

    def add_(self, y: Other, name: str | None = None) -> Variable:
        """x + y, in place."""

    def add_n(self, name: str | None = None) -> Variable:
        """The sum of tensors of one shape."""

    def addmm(self, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None) -> Variable:
        """``beta input + alpha x y`` with matrices x and y."""

    def addmm_(self, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None) -> Variable:
        """``beta input + alpha x y`` with matrices x and y, in place."""

    def alias(self) -> Variable:
        """The variable."""

    def all(self, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Variable:
        """Whether all elements are true."""

    def allclose(self, y: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False, name: str | None = None) -> Variable:
        """Whether |x - y| <= atol + rtol |y| everywhere."""

    def amax(self, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Variable:
        """The largest element, over some dimensions or all; equal ones share the gradient."""

    def amin(self, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Variable:
        """The smallest element, over some dimensions or all; equal ones share the gradient."""

    def angle(self, name: str | None = None) -> Variable:
        """The angles of numbers, in (-pi, pi]: those between them and the positive real numbers."""

    def any(self, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Variable:
        """Whether some element is true."""

    def argmax(self, axis: int | None = None, keepdim: bool = False, dtype: DTypeLike = "int64", name: str | None = None) -> Variable:
        """The place of the largest element; the first one where several are."""

    def argmin(self, axis: int | None = None, keepdim: bool = False, dtype: DTypeLike = "int64", name: str | None = None) -> Variable:
        """The place of the smallest element; the first one where several are."""

    def argsort(self, axis: int = -1, descending: bool = False, name: str | None = None) -> Variable:
        """The places of the elements in order along a dimension; equal ones stay in theirs."""

    def as_complex(self, name: str | None = None) -> Variable:
        """Complex numbers of pairs of real ones."""

    def as_real(self, name: str | None = None) -> Variable:
        """The real and the imaginary parts of complex numbers, in a new last dimension of size 2."""

    def as_strided(self, shape: Sequence[int], stride: Sequence[int], offset: int = 0, name: str | None = None) -> Variable:
        """The elements that lie at equal distances in memory; one may be taken several times."""

    def asin(self, name: str | None = None) -> Variable:
        """The angle in [-pi/2, pi/2] whose sine is x."""

    def asin_(self, name: str | None = None) -> Variable:
        """The angle in [-pi/2, pi/2] whose sine is x, in place."""

    def asinh(self, name: str | None = None) -> Variable:
        """The inverse hyperbolic sine."""

    def asinh_(self, name: str | None = None) -> Variable:
        """The inverse hyperbolic sine, in place."""

    def atan(self, name: str | None = None) -> Variable:
        """The angle in (-pi/2, pi/2) whose tangent is x."""

    def atan2(self, y: Other, name: str | None = None) -> Variable:
        """The angle of the point (y, x) seen from the origin."""

    def atan_(self, name: str | None = None) -> Variable:
        """The angle in (-pi/2, pi/2) whose tangent is x, in place."""

    def atanh(self, name: str | None = None) -> Variable:
        """The inverse hyperbolic tangent."""

    def atanh_(self, name: str | None = None) -> Variable:
        """The inverse hyperbolic tangent, in place."""

    def atleast_1d(*self, name: str | None = None) -> Variable | list[Variable]:
        """Tensors of at least 1 dimension; a list of several."""

    def atleast_2d(*self, name: str | None = None) -> Variable | list[Variable]:
        """Tensors of at least 2 dimensions: vectors become rows; a list of several."""

    def atleast_3d(*self, name: str | None = None) -> Variable | list[Variable]:
        """Tensors of at least 3 dimensions; a list of several."""

    def bincount(self, weights: Variable | None = None, minlength: int = 0, name: str | None = None) -> Variable:
        """How often each number from 0 occurs."""

    def bitwise_and(self, y: Other, out: Variable | None = None, name: str | None = None) -> Variable:
        """The bits that are set in both of two integers; of truth values whether both are true."""

    def bitwise_and_(self, y: Other, name: str | None = None) -> Variable:
        """The bits that are set in both of two integers, in place; of truth values whether both are true."""

    def bitwise_not(self, out: Variable | None = None, name: str | None = None) -> Variable:
        """The bits that are not set in integers; of truth values the others."""

    def bitwise_not_(self, name: str | None = None) -> Variable:
        """The bits that are not set in integers, in place; of truth values the others."""

    def bitwise_or(self, y: Other, out: Variable | None = None, name: str | None = None) -> Variable:
        """The bits that are set in one of two integers, or in both."""

    def bitwise_or_(self, y: Other, name: str | None = None) -> Variable:
        """The bits that are set in one of two integers, or in both, in place."""

    def bitwise_xor(self, y: Other, out: Variable | None = None, name: str | None = None) -> Variable:
        """The bits that are set in one of two integers and not in the other."""

    def bitwise_xor_(self, y: Other, name: str | None = None) -> Variable:
        """The bits that are set in one of two integers and not in the other, in place."""

    def bmm(self, y: Any, name: str | None = None) -> Variable:
        """The products of the matrices in two stacks."""

    def broadcast_shape(self, y_shape: Sequence[int]) -> list[int]:
        """The shape that two shapes broadcast to."""

    def broadcast_tensors(self, name: str | None = None) -> list[Variable]:
        """Tensors in the shape that they all broadcast to."""

    def broadcast_to(self, shape: Numbers, name: str | None = None) -> Variable:
        """x repeated along dimensions of size 1, and new ones in front."""

    def bucketize(self, sorted_sequence: Any, out_int32: bool = False, right: bool = False, name: str | None = None) -> Variable:
        """The places at which the elements of ``x`` keep a vector sorted."""

    def cast(self, dtype: DTypeLike) -> Variable:
        """x in another element type."""

    def cast_(self, dtype: DTypeLike) -> Variable:
        """x in another element type, in place."""

    def cauchy_(self, loc: float = 0, scale: float = 1, name: str | None = None) -> Variable:
        """Random numbers in the shape of x, of Cauchy's distribution, in place."""

    def cdist(self, y: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary", name: str | None = None) -> Variable:
        """The p-norms of the differences of all pairs of vectors."""

    def ceil(self, name: str | None = None) -> Variable:
        """The smallest integer that is not below x."""

    def ceil_(self, name: str | None = None) -> Variable:
        """The smallest integer that is not below x, in place."""

    def cholesky(self, upper: bool = False, name: str | None = None) -> Variable:
        """Triangular matrices whose products with their transposes are symmetric positive definite"""

    def cholesky_solve(self, y: Any, upper: bool = False, name: str | None = None) -> Variable:
        """What symmetric positive definite matrices are multiplied by to give others, by their"""

    def chunk(self, chunks: int, axis: int = 0, name: str | None = None) -> list[Variable]:
        """``chunks`` parts of one size along a dimension."""

    def clip(self, min: Other | None = None, max: Other | None = None, name: str | None = None) -> Variable:
        """x, kept in [min, max]; no gradient flows where it is outside."""

    def clip_(self, min: Other | None = None, max: Other | None = None, name: str | None = None) -> Variable:
        """x, kept in [min, max], in place; no gradient flows where it is outside."""

    def clone(self, name: str | None = None) -> Variable:
        """A copy of x that gradients flow through."""

    def combinations(self, r: int = 2, with_replacement: bool = False, name: str | None = None) -> Variable:
        """All choices of some elements of a vector, a row for each."""

    def concat(self, axis: int = 0, name: str | None = None) -> Variable:
        """Tensors, one after the other along a dimension."""

    def cond(self, p: float | str | None = None, name: str | None = None) -> Variable:
        """How much larger a relative error of a solution may be than that of the right side."""

    def conj(self, name: str | None = None) -> Variable:
        """The conjugates of complex numbers, whose imaginary parts have the other sign; real numbers"""

    def contiguous(self) -> Variable:
        """The tensor; a copy where it is a view whose elements lie apart."""

    def corrcoef(self, rowvar: bool = True, name: str | None = None) -> Variable:
        """The correlations of variables, in [-1, 1]."""

    def cos(self, name: str | None = None) -> Variable:
        """The cosine of x."""

    def cos_(self, name: str | None = None) -> Variable:
        """The cosine of x, in place."""

    def cosh(self, name: str | None = None) -> Variable:
        """The hyperbolic cosine of x."""

    def cosh_(self, name: str | None = None) -> Variable:
        """The hyperbolic cosine of x, in place."""

    def count_nonzero(self, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Variable:
        """How many elements are not 0."""

    def cov(self, rowvar: bool = True, ddof: bool = True, fweights: Variable | None = None, aweights: Variable | None = None, name: str | None = None) -> Variable:
        """The covariances of variables."""

    def cpu(self) -> Any:
        """The tensor: there is one place."""

    def cross(self, y: Any, axis: int | None = 9, name: str | None = None) -> Variable:
        """The products of vectors of three elements that are at right angles to both."""

    def cummax(self, axis: int | None = None, dtype: DTypeLike = "int64", name: str | None = None) -> tuple[Variable, Variable]:
        """The largest element up to each one, and its place."""

    def cummin(self, axis: int | None = None, dtype: DTypeLike = "int64", name: str | None = None) -> tuple[Variable, Variable]:
        """The smallest element up to each one, and its place."""

    def cumprod(self, dim: int | None = None, dtype: DTypeLike = None, name: str | None = None) -> Variable:
        """The products of all elements up to each one."""

    def cumprod_(self, dim: int | None = None, dtype: DTypeLike = None, name: str | None = None) -> Variable:
        """The products of all elements up to each one, in place."""

    def cumsum(self, axis: int | None = None, dtype: DTypeLike = None, name: str | None = None) -> Variable:
        """The sums of all elements up to each one."""

    def cumsum_(self, axis: int | None = None, dtype: DTypeLike = None, name: str | None = None) -> Variable:
        """The sums of all elements up to each one, in place."""

    def cumulative_trapezoid(self, x: Variable | None = None, dx: float | Variable | None = None, axis: int = -1, name: str | None = None) -> Variable:
        """The areas under a curve up to each point but the first."""

    @property
    def data(self) -> Variable:
        """The same value, at which gradients stop."""

    def deg2rad(self, name: str | None = None) -> Variable:
        """Degrees as radians."""

    def detach(self) -> Variable:
        """The same value, at which gradients stop."""

    def diag(self, offset: int = 0, padding_value: float = 0, name: str | None = None) -> Variable:
        """A matrix with a vector on a diagonal, or the diagonal of a matrix."""

    def diag_embed(self, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Variable:
        """Square matrices of zeros with the last dimension of a tensor on a diagonal."""

    def diagflat(self, offset: int = 0, name: str | None = None) -> Variable:
        """A matrix of zeros with all elements of a tensor on a diagonal."""

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Variable:
        """The elements on a diagonal of matrices, in the last dimension."""

    def diagonal_scatter(self, y: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Variable:
        """x with other elements on a diagonal of its matrices."""

    def diff(self, n: int = 1, axis: int = -1, prepend: Variable | None = None, append: Variable | None = None, name: str | None = None) -> Variable:
        """What each element is more than the one before it."""

    def digamma(self, name: str | None = None) -> Variable:
        """The derivative of ``lgamma``; NaN at 0 and at negative integers."""

    def digamma_(self, name: str | None = None) -> Variable:
        """The derivative of ``lgamma``, in place; NaN at 0 and at negative integers."""

    def dim(self) -> int:
        """The number of dimensions."""

    def dist(self, y: Any, p: float = 2, name: str | None = None) -> Variable:
        """The p-norm of x - y."""

    def divide(self, y: Other, name: str | None = None) -> Variable:
        """x / y; that of two tensors of one integer type has this type, rounded towards zero, with a"""

    def divide_(self, y: Other, name: str | None = None) -> Variable:
        """x / y, in place; that of two tensors of one integer type has this type, rounded towards zero, with a"""

    def dot(self, y: Any, name: str | None = None) -> Variable:
        """The sum of the products of the elements, along the last dimension."""

    def eig(self, name: str | None = None) -> tuple[Variable, Variable]:
        """Eigenvalues of square matrices and eigenvectors in columns, as complex numbers."""

    def eigvals(self, name: str | None = None) -> Variable:
        """Eigenvalues of square matrices, as complex numbers."""

    def eigvalsh(self, UPLO: str = "L", name: str | None = None) -> Variable:
        """Eigenvalues of symmetric matrices, the least first."""

    def element_size(self) -> int:
        """How many bytes an element has."""

    def equal(self, y: Other, name: str | None = None) -> Variable:
        """x == y, element by element, as truth values."""

    def equal_(self, y: Other, name: str | None = None) -> Variable:
        """x == y, element by element, as truth values, in place."""

    def equal_all(self, y: Any, name: str | None = None) -> Variable:
        """Whether x and y have one shape and are equal everywhere."""

    def erf(self, name: str | None = None) -> Variable:
        """2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x."""

    def erf_(self, name: str | None = None) -> Variable:
        """2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x, in place."""

    def erfinv(self, name: str | None = None) -> Variable:
        """The number whose ``erf`` is x; infinite outside of ]-1, 1[."""

    def erfinv_(self, name: str | None = None) -> Variable:
        """The number whose ``erf`` is x, in place; infinite outside of ]-1, 1[."""

    def exp(self, name: str | None = None) -> Variable:
        """e to the power of x."""

    def exp_(self, name: str | None = None) -> Variable:
        """e to the power of x, in place."""

    def expand(self, shape: Numbers, name: str | None = None) -> Variable:
        """x repeated along dimensions of size 1, and new ones; the same as ``broadcast_to``."""

    def expand_as(self, y: Any, name: str | None = None) -> Variable:
        """x broadcast to the shape of y."""

    def expm1(self, name: str | None = None) -> Variable:
        """e to the power of x, less 1; exact for small x."""

    def expm1_(self, name: str | None = None) -> Variable:
        """e to the power of x, less 1, in place; exact for small x."""

    def exponential_(self, lam: float = 1.0) -> Variable:
        """Draw all elements anew in every run, exponentially distributed, in place."""

    def fill_(self, value: Any) -> Any:
        """Make all elements one number, in place."""

    def fill_diagonal_(self, value: Any, offset: int = 0, wrap: bool = False, name: str | None = None) -> Any:
        """Make the elements on the diagonal of a matrix, or of a cube, one number, in place."""

    def fill_diagonal_tensor(self, y: Any, offset: int = 0, dim1: int = 0, dim2: int = 1, name: str | None = None) -> Variable:
        """x with other elements on a diagonal of its matrices."""

    def fill_diagonal_tensor_(self, y: Any, offset: int = 0, dim1: int = 0, dim2: int = 1, name: str | None = None) -> Variable:
        """x with other elements on a diagonal of its matrices, in place."""

    def flatten(self, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Variable:
        """x with some dimensions, from the first to the last that is named, made one."""

    def flatten_(self, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Variable:
        """x with some dimensions, from the first to the last that is named, made one, in place."""

    def flip(self, axis: Numbers, name: str | None = None) -> Variable:
        """x with its elements in reverse order along some dimensions."""

    def floor(self, name: str | None = None) -> Variable:
        """The largest integer that is not above x."""

    def floor_(self, name: str | None = None) -> Variable:
        """The largest integer that is not above x, in place."""

    def floor_divide(self, y: Other, name: str | None = None) -> Variable:
        """x / y, rounded down as by Python's ``//``."""

    def floor_divide_(self, y: Other, name: str | None = None) -> Variable:
        """x / y, rounded down as by Python's ``//``, in place."""

    def floor_mod(self, y: Other, name: str | None = None) -> Variable:
        """What x // y leaves, with the sign of y as by Python's ``%``."""

    def floor_mod_(self, y: Other, name: str | None = None) -> Variable:
        """What x // y leaves, with the sign of y as by Python's ``%``, in place."""

    def fmax(self, y: Any, name: str | None = None) -> Variable:
        """The larger element, or the one that is a number; x gets the gradient of equal ones."""

    def fmin(self, y: Any, name: str | None = None) -> Variable:
        """The smaller element, or the one that is a number; x gets the gradient of equal ones."""

    def frac(self, name: str | None = None) -> Variable:
        """What is behind the point, with the sign of x."""

    def frac_(self, name: str | None = None) -> Variable:
        """What is behind the point, with the sign of x, in place."""

    def frexp(self, name: str | None = None) -> tuple[Variable, Variable]:
        """Fractions in [0.5, 1), with the sign of x, and the powers of 2 that make x of them."""

    def gather(self, index: Any, axis: int | Variable | None = None, name: str | None = None) -> Variable:
        """The slices of x along a dimension that an index names; those named twice add up backwards."""

    def gather_nd(self, index: Any, name: str | None = None) -> Variable:
        """What stands at places of x, whose numbers are in the last dimension of the index."""

    def gcd(self, y: Any, name: str | None = None) -> Variable:
        """The greatest divisor that two integers have in common."""

    def gcd_(self, y: Any, name: str | None = None) -> Variable:
        """The greatest divisor that two integers have in common, in place."""

    def geometric_(self, probs: float | Variable, name: str | None = None) -> Variable:
        """Random numbers in the shape of x, of the geometric distribution before it is rounded up, in place."""

    def greater_equal(self, y: Other, name: str | None = None) -> Variable:
        """x >= y, element by element, as truth values."""

    def greater_equal_(self, y: Other, name: str | None = None) -> Variable:
        """x >= y, element by element, as truth values, in place."""

    def greater_than(self, y: Other, name: str | None = None) -> Variable:
        """x > y, element by element, as truth values."""

    def greater_than_(self, y: Other, name: str | None = None) -> Variable:
        """x > y, element by element, as truth values, in place."""

    def heaviside(self, y: Any, name: str | None = None) -> Variable:
        """0 where x is negative, 1 where it is positive, and y where it is 0."""

    def histogram(self, bins: int = 100, min: float = 0, max: float = 0, name: str | None = None) -> Variable:
        """How many elements lie in each of some intervals of one length."""

    def householder_product(self, tau: Any, name: str | None = None) -> Variable:
        """The first columns of products of reflections, 1 - t v v', as LAPACK's ``geqrf`` gives them."""

    def hypot(self, y: Any, name: str | None = None) -> Variable:
        """The length of the long side of right-angled triangles."""

    def hypot_(self, y: Any, name: str | None = None) -> Variable:
        """The length of the long side of right-angled triangles, in place."""

    def i0(self, name: str | None = None) -> Variable:
        """Bessel's modified function of the first kind, of order 0."""

    def i0_(self, name: str | None = None) -> Variable:
        """Bessel's modified function of the first kind, of order 0, in place."""

    def i0e(self, name: str | None = None) -> Variable:
        """``i0(x)`` times ``e^-|x|``."""

    def i1(self, name: str | None = None) -> Variable:
        """Bessel's modified function of the first kind, of order 1."""

    def i1e(self, name: str | None = None) -> Variable:
        """``i1(x)`` times ``e^-|x|``."""

    def imag(self, name: str | None = None) -> Variable:
        """The imaginary parts of complex numbers."""

    def increment(self, value: float = 1.0, name: str | None = None) -> Variable:
        """x, which becomes x + value."""

    def index_add(self, index: Any, axis: int, value: Any, name: str | None = None) -> Variable:
        """x with slices added at places along a dimension; what is named twice gets both."""

    def index_add_(self, index: Any, axis: int, value: Any, name: str | None = None) -> Variable:
        """x with slices added at places along a dimension, in place; what is named twice gets both."""

    def index_fill(self, index: Any, axis: int, value: Other, name: str | None = None) -> Variable:
        """x with a number at places along a dimension."""

    def index_fill_(self, index: Any, axis: int, value: Other, name: str | None = None) -> Variable:
        """x with a number at places along a dimension, in place."""

    def index_put(self, indices: Sequence[Variable], value: Any, accumulate: bool = False, name: str | None = None) -> Variable:
        """x with elements written, or added, at places."""

    def index_put_(self, indices: Sequence[Variable], value: Any, accumulate: bool = False, name: str | None = None) -> Variable:
        """x with elements written, or added, at places, in place."""

    def index_sample(self, index: Any) -> Variable:
        """For each row of x the elements that the same row of the index names."""

    def index_select(self, index: Any, axis: int = 0, name: str | None = None) -> Variable:
        """The slices of x along a dimension that an index names; the same as ``gather``."""

    def inner(self, y: Any, name: str | None = None) -> Variable:
        """Products of the vectors along the last dimensions; of one element with what the other is."""

    def inverse(self, name: str | None = None) -> Variable:
        """The inverses of square matrices."""

    def is_empty(self, name: str | None = None) -> Variable:
        """Whether x has no elements."""

    def is_floating_point(self) -> bool:
        """Whether the elements are fractions."""

    def isclose(self, y: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False, name: str | None = None) -> Variable:
        """Whether |x - y| <= atol + rtol |y|, element by element."""

    def isfinite(self, name: str | None = None) -> Variable:
        """Whether each element is a finite number."""

    def isinf(self, name: str | None = None) -> Variable:
        """Whether each element is infinite."""

    def isnan(self, name: str | None = None) -> Variable:
        """Whether each element is not a number."""

    def istft(self, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Variable | None = None, center: bool = True, normalized: bool = False, onesided: bool = True, length: int | None = None, return_complex: bool = False, name: str | None = None) -> Variable:
        """The inverse of :func:`stft`: the signal with these transforms of its frames."""

    def kron(self, y: Any, name: str | None = None) -> Variable:
        """The products of all elements of x with y, in blocks."""

    def kthvalue(self, k: int, axis: int | None = None, keepdim: bool = False, name: str | None = None) -> tuple[Variable, Variable]:
        """The k-th smallest elements along a dimension, and their places."""

    def lcm(self, y: Any, name: str | None = None) -> Variable:
        """The least multiple that two integers have in common."""

    def lcm_(self, y: Any, name: str | None = None) -> Variable:
        """The least multiple that two integers have in common, in place."""

    def ldexp(self, y: Any, name: str | None = None) -> Variable:
        """x times 2 to the power of y."""

    def ldexp_(self, y: Any, name: str | None = None) -> Variable:
        """x times 2 to the power of y, in place."""

    def lerp(self, y: Any, weight: Other, name: str | None = None) -> Variable:
        """x + weight (y - x)."""

    def lerp_(self, y: Any, weight: Other, name: str | None = None) -> Variable:
        """x + weight (y - x), in place."""

    def less_equal(self, y: Other, name: str | None = None) -> Variable:
        """x <= y, element by element, as truth values."""

    def less_equal_(self, y: Other, name: str | None = None) -> Variable:
        """x <= y, element by element, as truth values, in place."""

    def less_than(self, y: Other, name: str | None = None) -> Variable:
        """x < y, element by element, as truth values."""

    def less_than_(self, y: Other, name: str | None = None) -> Variable:
        """x < y, element by element, as truth values, in place."""

    def lgamma(self, name: str | None = None) -> Variable:
        """The natural logarithm of the absolute value of the gamma function."""

    def lgamma_(self, name: str | None = None) -> Variable:
        """The natural logarithm of the absolute value of the gamma function, in place."""

    def log(self, name: str | None = None) -> Variable:
        """The natural logarithm of x."""

    def log10(self, name: str | None = None) -> Variable:
        """The logarithm of x to the base 10."""

    def log10_(self, name: str | None = None) -> Variable:
        """The logarithm of x to the base 10, in place."""

    def log1p(self, name: str | None = None) -> Variable:
        """The natural logarithm of 1 + x, exact for small x."""

    def log1p_(self, name: str | None = None) -> Variable:
        """The natural logarithm of 1 + x, exact for small x, in place."""

    def log2(self, name: str | None = None) -> Variable:
        """The logarithm of x to the base 2."""

    def log2_(self, name: str | None = None) -> Variable:
        """The logarithm of x to the base 2, in place."""

    def log_(self, name: str | None = None) -> Variable:
        """The natural logarithm of x, in place."""

    def logaddexp(self, y: Any, name: str | None = None) -> Variable:
        """The logarithm of ``e^x + e^y``, without overflow."""

    def logcumsumexp(self, axis: int | None = None, dtype: DTypeLike = None, name: str | None = None) -> Variable:
        """The logarithms of the sums of e^x up to each element, without overflow."""

    def logical_and(self, y: Any, out: Variable | None = None, name: str | None = None) -> Variable:
        """Whether x and y are both true; numbers but 0 are true."""

    def logical_and_(self, y: Any, name: str | None = None) -> Variable:
        """Whether x and y are both true, in place; numbers but 0 are true."""

    def logical_not(self, out: Variable | None = None, name: str | None = None) -> Variable:
        """Whether x is not true; what is not 0 is true."""

    def logical_not_(self, name: str | None = None) -> Variable:
        """Whether x is not true, in place; what is not 0 is true."""

    def logical_or(self, y: Any, out: Variable | None = None, name: str | None = None) -> Variable:
        """Whether x or y is true; numbers but 0 are true."""

    def logical_or_(self, y: Any, name: str | None = None) -> Variable:
        """Whether x or y is true, in place; numbers but 0 are true."""

    def logical_xor(self, y: Any, out: Variable | None = None, name: str | None = None) -> Variable:
        """Whether one of x and y is true and the other not; numbers but 0 are true."""

    def logical_xor_(self, y: Any, name: str | None = None) -> Variable:
        """Whether one of x and y is true and the other not, in place; numbers but 0 are true."""

    def logit(self, eps: float | None = None, name: str | None = None) -> Variable:
        """The logarithm of ``x / (1 - x)``."""

    def logit_(self, eps: float | None = None, name: str | None = None) -> Variable:
        """The logarithm of ``x / (1 - x)``, in place."""

    def logsumexp(self, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Variable:
        """The logarithm of the sum of e^x, without overflow."""

    def lstsq(self, y: Any, rcond: float | None = None, driver: str | None = None, name: str | None = None) -> tuple[Variable, Variable, Variable, Variable]:
        """The solutions of linear equations whose errors are least in their squares, with the sums of"""

    def lu(self, pivot: bool = True, get_infos: bool = False, name: str | None = None) -> tuple[Variable, ...]:
        """The triangular factors of matrices whose rows are exchanged, both in one matrix, and with"""

    def lu_unpack(self, y: Any, unpack_ludata: bool = True, unpack_pivots: bool = True, name: str | None = None) -> tuple[Variable, Variable, Variable]:
        """The matrix that exchanges rows, and the two triangular factors that ``lu`` gives in one."""

    def masked_fill(self, mask: Any, value: Other, name: str | None = None) -> Variable:
        """x with a number, or a tensor of one element, where a mask holds; both in the type of x."""

    def masked_fill_(self, mask: Any, value: Other, name: str | None = None) -> Variable:
        """x with a number, or a tensor of one element, where a mask holds, in place; both in the type of x."""

    def masked_select(self, mask: Any, name: str | None = None) -> Variable:
        """The elements of x where a mask holds, as a vector."""

    def matmul(self, y: Any, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None) -> Variable:
        """The product of matrices, of stacks of them, or of vectors."""

    def matrix_power(self, n: int, name: str | None = None) -> Variable:
        """Square matrices multiplied by themselves."""

    def max(self, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Variable:
        """The largest element, over some dimensions or all; each of equal ones gets the gradient."""

    def maximum(self, y: Other, name: str | None = None) -> Variable:
        """The larger of x and y, element by element; where they are equal, y gets the gradient."""

    def mean(self, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Variable:
        """The mean of the elements, over some dimensions or all."""

    def median(self, axis: int | None = None, keepdim: bool = False, name: str | None = None) -> Variable:
        """The element in the middle of the order, or the mean of the two that are."""

    def min(self, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Variable:
        """The smallest element, over some dimensions or all; each of equal ones gets the gradient."""

    def minimum(self, y: Other, name: str | None = None) -> Variable:
        """The smaller of x and y, element by element; where they are equal, y gets the gradient."""

    def mm(self, mat2: Any, name: str | None = None) -> Variable:
        """The product of matrices; the same as :func:`matmul`."""

    def mod(self, y: Other, name: str | None = None) -> Variable:
        """What x // y leaves, with the sign of y as by Python's ``%``."""

    def mod_(self, y: Other, name: str | None = None) -> Variable:
        """What x // y leaves, with the sign of y as by Python's ``%``, in place."""

    def mode(self, axis: int = -1, keepdim: bool = False, name: str | None = None) -> tuple[Variable, Variable]:
        """The elements that occur most often along a dimension, and where they stand last."""

    def moveaxis(self, source: Numbers, destination: Numbers, name: str | None = None) -> Variable:
        """x with some dimensions moved to other places."""

    def multi_dot(self, name: str | None = None) -> Variable:
        """The product of several matrices, in the order of least work."""

    def multigammaln(self, p: int, name: str | None = None) -> Variable:
        """The logarithm of the gamma function of symmetric positive matrices with p rows."""

    def multigammaln_(self, p: int, name: str | None = None) -> Variable:
        """The logarithm of the gamma function of symmetric positive matrices with p rows, in place."""

    def multinomial(self, num_samples: int = 1, replacement: bool = False, name: str | None = None) -> Variable:
        """Places that are drawn by their weights."""

    def multiplex(self, index: Any, name: str | None = None) -> Variable:
        """Each row from one of several tensors."""

    def multiply(self, y: Other, name: str | None = None) -> Variable:
        """x * y, element by element."""

    def multiply_(self, y: Other, name: str | None = None) -> Variable:
        """x * y, element by element, in place."""

    def mv(self, vec: Any, name: str | None = None) -> Variable:
        """The product of a matrix and a vector."""

    def nan_to_num(self, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, name: str | None = None) -> Variable:
        """x with numbers in place of NaN and infinities."""

    def nan_to_num_(self, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, name: str | None = None) -> Variable:
        """x with numbers in place of NaN and infinities, in place."""

    def nanmean(self, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Variable:
        """The mean of what is no NaN."""

    def nanmedian(self, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Variable:
        """The median of what is no NaN: the element in the middle, or the mean of the two that are."""

    def nanquantile(self, q: float | Sequence[float] | Variable, axis: Axes = None, keepdim: bool = False) -> Variable:
        """The value below which a share of what is no NaN lies, interpolated between two, float64."""

    def nansum(self, axis: Axes = None, dtype: DTypeLike = None, keepdim: bool = False, name: str | None = None) -> Variable:
        """The sum of what is no NaN."""

    def neg(self, name: str | None = None) -> Variable:
        """-x; truth values stay as they are."""

    def neg_(self, name: str | None = None) -> Variable:
        """-x, in place; truth values stay as they are."""

    def nextafter(self, y: Any, name: str | None = None) -> Variable:
        """The next number after x towards y that its element type has."""

    @overload
    def nonzero(self, as_tuple: Literal[False]=False) -> Variable:
        """The places of the elements that are not 0."""
    @overload
    def nonzero(self, as_tuple: Literal[True]) -> tuple[Variable, ...]:
        """The places of the elements that are not 0."""

    def norm(self, p: float | str = "fro", axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Variable:
        """The p-norm of the elements: (the sum of |x|^p)^(1/p)."""

    def normal_(self, mean: float = 0.0, std: float = 1.0) -> Variable:
        """Draw all elements anew in every run, normally distributed, in place."""

    def not_equal(self, y: Other, name: str | None = None) -> Variable:
        """x != y, element by element, as truth values."""

    def not_equal_(self, y: Other, name: str | None = None) -> Variable:
        """x != y, element by element, as truth values, in place."""

    def numel(self, name: str | None = None) -> Variable:
        """The number of elements of x."""

    def outer(self, y: Any, name: str | None = None) -> Variable:
        """The products of every element of x with every element of y."""

    def pca_lowrank(self, q: int | None = None, center: bool = True, niter: int = 2, name: str | None = None) -> tuple[Variable, Variable, Variable]:
        """The largest singular values of matrices and what belongs to them, from random directions"""

    def pinv(self, rcond: float | Variable = 1e-15, hermitian: bool = False, name: str | None = None) -> Variable:
        """The inverses of matrices on what they reach (Moore and Penrose)."""

    def polar(self, angle: Any, name: str | None = None) -> Variable:
        """Complex numbers of their distances from 0 and their angles."""

    def polygamma(self, n: int, name: str | None = None) -> Variable:
        """The n-th derivative of ``digamma``."""

    def polygamma_(self, n: int, name: str | None = None) -> Variable:
        """The n-th derivative of ``digamma``, in place."""

    def pow(self, y: Other, name: str | None = None) -> Variable:
        """x to the power of y."""

    def pow_(self, y: Other, name: str | None = None) -> Variable:
        """x to the power of y, in place."""

    def prod(self, axis: Axes = None, keepdim: bool = False, dtype: DTypeLike = None, name: str | None = None) -> Variable:
        """The product of the elements, over some dimensions or all; its gradient is right at zeros."""

    def put_along_axis(self, indices: Any, values: float | Variable, axis: int, reduce: str = "assign", include_self: bool = True, broadcast: bool = True) -> Variable:
        """A tensor with other elements at indices along a dimension."""

    def put_along_axis_(self, indices: Any, values: float | Variable, axis: int, reduce: str = "assign", include_self: bool = True, broadcast: bool = True) -> Variable:
        """A tensor with other elements at indices along a dimension, in place."""

    def qr(self, mode: str = "reduced", name: str | None = None) -> Variable | tuple[Variable, Variable]:
        """Matrices whose columns are orthogonal, and triangular ones; their products are x."""

    def quantile(self, q: float | Sequence[float] | Variable, axis: Axes = None, keepdim: bool = False) -> Variable:
        """The value below which a share of the elements lies, interpolated between two, float64."""

    def rad2deg(self, name: str | None = None) -> Variable:
        """Radians as degrees."""

    def rank(self) -> Variable:
        """The number of dimensions of a tensor."""

    def real(self, name: str | None = None) -> Variable:
        """The real parts of complex numbers."""

    def reciprocal(self, name: str | None = None) -> Variable:
        """1 / x."""

    def reciprocal_(self, name: str | None = None) -> Variable:
        """1 / x, in place."""

    def remainder(self, y: Other, name: str | None = None) -> Variable:
        """What x // y leaves, with the sign of y as by Python's ``%``."""

    def remainder_(self, y: Other, name: str | None = None) -> Variable:
        """What x // y leaves, with the sign of y as by Python's ``%``, in place."""

    def renorm(self, p: float, axis: int, max_norm: float, name: str | None = None) -> Variable:
        """x with each slice along a dimension shrunk until its p-norm is at most a number."""

    def renorm_(self, p: float, axis: int, max_norm: float, name: str | None = None) -> Variable:
        """x with each slice along a dimension shrunk until its p-norm is at most a number, in place."""

    def repeat_interleave(self, repeats: int | Variable, axis: int | None = None, name: str | None = None) -> Variable:
        """x with each element repeated in its place, along a dimension, or flattened when None."""

    def reshape(self, shape: Numbers, *more: int, name: str | None = None) -> Variable:
        """The elements of x, in their order, in another shape."""

    def reshape_(self, shape: Numbers, name: str | None = None) -> Variable:
        """The elements of x, in their order, in another shape, in place."""

    def reverse(self, axis: Numbers, name: str | None = None) -> Variable:
        """x with its elements in reverse order along some dimensions; the same as ``flip``."""

    def roll(self, shifts: Numbers, axis: Numbers | None = None, name: str | None = None) -> Variable:
        """x with its elements moved, those that fall off one end coming back at the other."""

    def rot90(self, k: int = 1, axes: Sequence[int] = (0, 1), name: str | None = None) -> Variable:
        """A tensor turned by right angles in the plane of two dimensions."""

    def round(self, name: str | None = None) -> Variable:
        """The integer nearest to x; halves go away from zero."""

    def round_(self, name: str | None = None) -> Variable:
        """The integer nearest to x, in place; halves go away from zero."""

    def rsqrt(self, name: str | None = None) -> Variable:
        """1 over the square root of x."""

    def rsqrt_(self, name: str | None = None) -> Variable:
        """1 over the square root of x, in place."""

    def scale(self, scale: float | Variable = 1.0, bias: float = 0.0, bias_after_scale: bool = True, act: str | None = None, name: str | None = None) -> Variable:
        """scale x + bias, or scale (x + bias); of truth values, whether it is not 0."""

    def scale_(self, scale: float | Variable = 1.0, bias: float = 0.0, bias_after_scale: bool = True, act: str | None = None, name: str | None = None) -> Variable:
        """scale x + bias, or scale (x + bias), in place; of truth values, whether it is not 0."""

    def scatter(self, index: Any, updates: Any, overwrite: bool = True, name: str | None = None) -> Variable:
        """x with some rows replaced."""

    def scatter_(self, index: Any, updates: Any, overwrite: bool = True, name: str | None = None) -> Variable:
        """x with some rows replaced, in place."""

    def scatter_nd(self, updates: Any, shape: Numbers, name: str | None = None) -> Variable:
        """Zeros with updates added at places."""

    def scatter_nd_add(self, index: Any, updates: Any, name: str | None = None) -> Variable:
        """x with updates added at places, whose numbers are in the last dimension of the index."""

    def select_scatter(self, values: Any, axis: int, index: int, name: str | None = None) -> Variable:
        """x with other elements at one place along a dimension."""

    def sgn(self, name: str | None = None) -> Variable:
        """-1, 0 or 1; of complex numbers those in the same direction at distance 1, and 0 of 0."""

    def shard_index(self, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Variable:
        """Indices counted within their shard, where that is a certain one."""

    def sigmoid(self, name: str | None = None) -> Variable:
        """1 / (1 + e^-x)."""

    def sigmoid_(self, name: str | None = None) -> Variable:
        """1 / (1 + e^-x), in place."""

    def sign(self, name: str | None = None) -> Variable:
        """-1, 0 or 1, the sign of x."""

    def sin(self, name: str | None = None) -> Variable:
        """The sine of x."""

    def sin_(self, name: str | None = None) -> Variable:
        """The sine of x, in place."""

    def sinh(self, name: str | None = None) -> Variable:
        """The hyperbolic sine of x."""

    def sinh_(self, name: str | None = None) -> Variable:
        """The hyperbolic sine of x, in place."""

    @property
    def size(self) -> Variable:
        """The number of elements."""

    def slice(self, axes: Sequence[int], starts: Numbers, ends: Numbers, name: str | None = None) -> Variable:
        """The elements from some places up to others."""

    def solve(self, y: Any, name: str | None = None) -> Variable:
        """What square matrices are multiplied by to give others: the solutions of linear equations."""

    def sort(self, axis: int = -1, descending: bool = False, name: str | None = None) -> Variable:
        """x with its elements in order along a dimension."""

    def split(self, num_or_sections: Numbers, axis: int = 0, name: str | None = None) -> list[Variable]:
        """The parts of x along a dimension."""

    def sqrt(self, name: str | None = None) -> Variable:
        """The square root of x."""

    def sqrt_(self, name: str | None = None) -> Variable:
        """The square root of x, in place."""

    def square(self, name: str | None = None) -> Variable:
        """x * x."""

    def square_(self, name: str | None = None) -> Variable:
        """x * x, in place."""

    def squeeze(self, axis: Numbers | None = None, name: str | None = None) -> Variable:
        """x without dimensions of size 1."""

    def squeeze_(self, axis: Numbers | None = None, name: str | None = None) -> Variable:
        """x without dimensions of size 1, in place."""

    def stack(self, axis: int = 0, name: str | None = None) -> Variable:
        """Tensors of one shape, side by side along a new dimension."""

    def stanh(self, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None) -> Variable:
        """``scale_b tanh(scale_a x)``."""

    def std(self, axis: Axes = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None) -> Variable:
        """The root of the mean square distance from the mean."""

    def stft(self, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Variable | None = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool = True, name: str | None = None) -> Variable:
        """The Fourier transforms of the frames of a signal."""

    def strided_slice(self, axes: Sequence[int], starts: Numbers, ends: Numbers, strides: Numbers, name: str | None = None) -> Variable:
        """The elements from some places up to others, in steps."""

    def subtract(self, y: Other, name: str | None = None) -> Variable:
        """x - y."""

    def subtract_(self, y: Other, name: str | None = None) -> Variable:
        """x - y, in place."""

    def sum(self, axis: Axes = None, dtype: DTypeLike = None, keepdim: bool = False, name: str | None = None) -> Variable:
        """The sum of the elements, over some dimensions or all."""

    def swapaxes(self, axis0: int, axis1: int, name: str | None = None) -> Variable:
        """x with two dimensions exchanged."""

    def t(self, name: str | None = None) -> Variable:
        """The transpose of a matrix; vectors and numbers as they are."""

    def t_(self, name: str | None = None) -> Variable:
        """The transpose of a matrix, in place; vectors and numbers as they are."""

    def take(self, index: Any, mode: str = "raise", name: str | None = None) -> Variable:
        """Elements by their number in a row of all."""

    def take_along_axis(self, indices: Any, axis: int, broadcast: bool = True) -> Variable:
        """The elements at indices along a dimension."""

    def tan(self, name: str | None = None) -> Variable:
        """The tangent of x."""

    def tan_(self, name: str | None = None) -> Variable:
        """The tangent of x, in place."""

    def tanh(self, name: str | None = None) -> Variable:
        """The hyperbolic tangent of x."""

    def tanh_(self, name: str | None = None) -> Variable:
        """The hyperbolic tangent of x, in place."""

    def tensordot(self, y: Any, axes: int | Sequence[int | Sequence[int]] = 2, name: str | None = None) -> Variable:
        """Sums of products over some dimensions of both tensors."""

    def tile(self, repeat_times: Numbers, name: str | None = None) -> Variable:
        """x repeated along its dimensions."""

    def to(self, *wishes: Any, **named: Any) -> Any:
        """The tensor with another element type; there is one place."""

    def topk(self, k: int | Variable, axis: int | None = None, largest: bool = True, sorted: bool = True, name: str | None = None) -> tuple[Variable, Variable]:
        """The k largest or smallest elements along a dimension, and their places."""

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Variable:
        """The sum of a diagonal of matrices; arguments as of :func:`diagonal`."""

    def transpose(self, perm: Numbers, *more: int, name: str | None = None) -> Variable:
        """x with its dimensions in another order."""

    def transpose_(self, perm: Numbers, name: str | None = None) -> Variable:
        """x with its dimensions in another order, in place."""

    def trapezoid(self, x: Variable | None = None, dx: float | Variable | None = None, axis: int = -1, name: str | None = None) -> Variable:
        """The area under a curve, whose points are joined by straight lines."""

    def tril(self, diagonal: int = 0, name: str | None = None) -> Variable:
        """x with zeros above a diagonal of its last two dimensions."""

    def tril_(self, diagonal: int = 0, name: str | None = None) -> Variable:
        """x with zeros above a diagonal of its last two dimensions, in place."""

    def triu(self, diagonal: int = 0, name: str | None = None) -> Variable:
        """x with zeros below a diagonal of its last two dimensions."""

    def triu_(self, diagonal: int = 0, name: str | None = None) -> Variable:
        """x with zeros below a diagonal of its last two dimensions, in place."""

    def trunc(self, name: str | None = None) -> Variable:
        """A tensor without its fractions; integers stay integers."""

    def trunc_(self, name: str | None = None) -> Variable:
        """A tensor without its fractions, in place; integers stay integers."""

    def unbind(self, axis: int = 0) -> list[Variable]:
        """The slices of a tensor along a dimension; the same as ``unstack``."""

    def unflatten(self, axis: int, shape: Numbers, name: str | None = None) -> Variable:
        """One dimension as several."""

    def unfold(self, axis: int, size: int, step: int, name: str | None = None) -> Variable:
        """Windows that move along a dimension; the places within a window are the last dimension."""

    def uniform_(self, min: float = -1.0, max: float = 1.0, seed: int = 0) -> Variable:
        """Draw all elements anew in every run, equally likely in [min, max), in place."""

    @overload
    def unique(self, return_index: Literal[False]=False, return_inverse: Literal[False]=False, return_counts: Literal[False]=False, axis: int | None=None, dtype: DTypeLike='int64', name: str | None=None) -> Variable:
        """The values that occur, in ascending order."""
    @overload
    def unique(self, return_index: bool=False, return_inverse: bool=False, return_counts: bool=False, axis: int | None=None, dtype: DTypeLike='int64', name: str | None=None) -> Variable | tuple[Variable, ...]:
        """The values that occur, in ascending order."""

    @overload
    def unique_consecutive(self, return_inverse: Literal[False]=False, return_counts: Literal[False]=False, axis: int | None=None, dtype: DTypeLike='int64', name: str | None=None) -> Variable:
        """The elements, or slices, that differ from the one before them."""
    @overload
    def unique_consecutive(self, return_inverse: bool=False, return_counts: bool=False, axis: int | None=None, dtype: DTypeLike='int64', name: str | None=None) -> Variable | tuple[Variable, ...]:
        """The elements, or slices, that differ from the one before them."""

    def unsqueeze(self, axis: Numbers, name: str | None = None) -> Variable:
        """x with further dimensions of size 1."""

    def unsqueeze_(self, axis: Numbers, name: str | None = None) -> Variable:
        """x with further dimensions of size 1, in place."""

    def unstack(self, axis: int = 0, num: int | None = None) -> list[Variable]:
        """The slices of x along a dimension, which they do not have."""

    def vander(self, n: int | None = None, increasing: bool = False, name: str | None = None) -> Variable:
        """The powers of the elements of a vector, a row for each."""

    def var(self, axis: Axes = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None) -> Variable:
        """The mean square distance from the mean."""

    def view(self, shape_or_dtype: Numbers | DTypeLike, *more: int, name: str | None = None) -> Variable:
        """The elements in another shape, or of another element type."""

    def view_as(self, other: Any, name: str | None = None) -> Variable:
        """The elements in the shape of another tensor."""

    def vsplit(self, num_or_sections: Numbers, name: str | None = None) -> list[Variable]:
        """A tensor cut into parts along its first dimension; arguments as of ``split``."""

    @overload
    def where(self, x: None=None, y: None=None, name: str | None=None) -> tuple[Variable, ...]:
        """The elements of x where a condition holds, and those of y elsewhere."""
    @overload
    def where(self, x: Other, y: Other, name: str | None=None) -> Variable:
        """The elements of x where a condition holds, and those of y elsewhere."""

    def write(self, change: Any, reshaped: bool = False) -> Variable:
        """The variable with another value from here on."""

    def write_shape(self, change: Any) -> Variable:
        """The same as ``write`` for a function that changes the shape."""

    def write_type(self, change: Any) -> Variable:
        """What a function makes of a variable that changes the element type: another variable, as in"""

    def zero_(self) -> Any:
        """Make all elements 0, in place."""
    # Layers give tensors where they run at once, which have these, too.
    backward: Any
    clear_gradient: Any
    gradient: Any
    grad: Any
    item: Any
    set_value: Any
    tolist: Any
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
