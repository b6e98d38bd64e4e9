"""``paddle.linalg`` of paddle 2.6: linear algebra."""

from __future__ import annotations

from typing import Final

from ..functions import linear_algebra
from ..functions.linear_algebra import cholesky as cholesky
from ..functions.linear_algebra import cholesky_solve as cholesky_solve
from ..functions.linear_algebra import cond as cond
from ..functions.linear_algebra import corrcoef as corrcoef
from ..functions.linear_algebra import cov as cov
from ..functions.linear_algebra import det as det
from ..functions.linear_algebra import eig as eig
from ..functions.linear_algebra import eigh as eigh
from ..functions.linear_algebra import eigvals as eigvals
from ..functions.linear_algebra import eigvalsh as eigvalsh
from ..functions.linear_algebra import householder_product as householder_product
from ..functions.linear_algebra import lstsq as lstsq
from ..functions.linear_algebra import lu as lu
from ..functions.linear_algebra import lu_unpack as lu_unpack
from ..functions.linear_algebra import matrix_power as matrix_power
from ..functions.linear_algebra import matrix_rank as matrix_rank
from ..functions.linear_algebra import multi_dot as multi_dot
from ..functions.linear_algebra import pca_lowrank as pca_lowrank
from ..functions.linear_algebra import pinv as pinv
from ..functions.linear_algebra import qr as qr
from ..functions.linear_algebra import slogdet as slogdet
from ..functions.linear_algebra import solve as solve
from ..functions.linear_algebra import svd as svd
from ..functions.linear_algebra import triangular_solve as triangular_solve
from ..functions.reduction import norm as norm
from ..ground.public_names import list_given_names
from ..ground.tracebacks import api_boundaries

inv: Final = linear_algebra.inverse

list_given_names(globals())
api_boundaries(globals(), quick=True, imported=True)
