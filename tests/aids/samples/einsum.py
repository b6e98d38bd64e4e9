"""Samples of the operators in fluidlite/ops/einsum.py."""

from .form import Sample, samples


@samples("einsum")
def einsum(rng):
    x, y, z = rng.normal(size=[2, 3]), rng.normal(size=[3, 4]), rng.normal(size=[2, 4, 3])
    yield Sample(dict(Operands=[x, y]), dict(equation="ij,jk->ik"))
    yield Sample(dict(Operands=[x, z, y]), dict(equation="ij,i...j,jk->k..."), "three")
    yield Sample(dict(Operands=[z]), dict(equation="ijk->ki"), "one")
    square = rng.normal(size=[3, 3])
    yield Sample(dict(Operands=[square, x]), dict(equation="ii,ji->j"), "diagonal")
