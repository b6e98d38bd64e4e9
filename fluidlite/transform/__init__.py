"""Programs to programs: transformations that users write, read and trust.

Each takes a program and gives another one, whose shapes are inferred anew and which keeps the rules
of :meth:`Program.verify`; the program that it was given stays as it was.
"""

from __future__ import annotations

from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from .attribute_values import set_attributes
from .batched_programs import vmap
from .certificate import Certificate, CertifiedGradient, CertifiedOperator
from .certification import certify, check_certificate
from .cutting import cut, extract
from .derivative_matrices import hessian, jacobian
from .derivatives import hvp, jvp, vjp
from .freezing import freeze, unfreeze
from .inlining import inline
from .inserting import insert_after, insert_before
from .linearization import Linearized, linearize
from .matching import Match
from .merging import merge, names_in_merge
from .naming import rename, renamed_states
from .outlining import outline
from .patch_text import Patch
from .patches import apply_patch, make_patch
from .per_sample import per_sample_gradients
from .replacing import replace
from .results import Transformed
from .rewriting import Rewriting, rewrite, rewriting
from .rules import Rule, any_of, attributes, optional, rule
from .selecting import ValueAt
from .stages import run_stages, split
from .three_way import Conflict, merge3

__all__ = [
    "Conflict",
    "Match",
    "Patch",
    "Rewriting",
    "Rule",
    "Transformed",
    "any_of",
    "apply_patch",
    "attributes",
    "make_patch",
    "merge3",
    "optional",
    "rewrite",
    "rewriting",
    "rule",
]

__all__ += ["ValueAt", "cut", "extract", "merge", "names_in_merge"]
__all__ += ["rename", "renamed_states", "replace", "set_attributes"]
__all__ += ["Linearized", "hessian", "hvp", "jacobian", "jvp", "linearize", "vjp"]

__all__ += ["Certificate", "CertifiedGradient", "CertifiedOperator", "certify"]
__all__ += ["check_certificate"]
__all__ += ["per_sample_gradients", "vmap"]
__all__ += ["run_stages", "split"]
__all__ += ["freeze", "inline", "insert_after", "insert_before", "outline", "unfreeze"]

list_public_names(globals())
api_boundaries(globals())
answer(globals())
