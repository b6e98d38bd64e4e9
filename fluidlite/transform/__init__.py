"""Programs to programs: transformations that users write, read and trust.

Each takes a program and gives another one, whose shapes are inferred anew and which keeps the rules
of :meth:`Program.verify`; the program that it was given stays as it was.
"""

from __future__ import annotations

from ..ground.contracts import Condition, Invariant
from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from . import conditions
from .applying import apply_patch
from .attribute_values import set_attributes
from .batched_programs import batching_ways, vmap
from .batching import BatchingWay
from .certificate import Certificate, CertifiedGradient, CertifiedOperator
from .certification import certify, check_certificate
from .cutting import cut, extract
from .derivative_matrices import hessian, jacobian
from .derivatives import hvp, jvp, vjp
from .expansion import expand
from .formulas import Formula, formula
from .freezing import freeze, unfreeze
from .inlining import inline
from .inserting import insert_after, insert_before
from .linearization import Linearized, linearize
from .matches import Match
from .merging import merge, names_in_merge
from .naming import rename, renamed_states
from .outlining import outline
from .passes import ProgramPass, program_pass
from .patch_text import Patch
from .patches import make_patch
from .per_sample import per_sample_gradients
from .pipelines import Pipeline, ProgramStage, Staged
from .quantizing import quantizable, quantize
from .replacing import replace
from .results import Transformed
from .rewriting import Rewriting, rewrite, rewriting
from .rules import Rule, any_of, attributes, optional, rule
from .selecting import ValueAt
from .sharing import share
from .simplification import Simplification, simplification, simplify
from .specialization import fold_constants, specialize
from .stages import run_stages, split
from .three_way import Conflict, merge3

__all__ = [
    # rules
    *("Match", "Rewriting", "Rule", "any_of", "attributes", "optional", "rewrite", "rewriting"),
    *("rule",),
    # passes
    *("Condition", "Invariant", "Pipeline", "ProgramPass", "ProgramStage", "Staged", "conditions"),
    *("program_pass",),
    # surgery
    *("ValueAt", "cut", "extract", "merge", "names_in_merge", "rename", "renamed_states"),
    *("replace", "set_attributes", "freeze", "inline", "insert_after", "insert_before"),
    *("quantizable", "quantize"),
    *("outline", "run_stages", "split", "unfreeze"),
    # patches
    *("Conflict", "Patch", "apply_patch", "make_patch", "merge3"),
    # derivatives and batches
    *("Linearized", "Transformed", "hvp", "jvp", "linearize", "per_sample_gradients", "vjp"),
    *("hessian", "jacobian", "vmap"),
    # what is known, and formulas
    *("Formula", "Simplification", "expand", "fold_constants", "formula", "share"),
    *("simplification", "simplify", "specialize"),
    # certificates
    *("Certificate", "CertifiedGradient", "CertifiedOperator", "certify", "check_certificate"),
]

list_public_names(globals())
api_boundaries(globals())
answer(globals())
