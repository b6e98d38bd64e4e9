"""How operators of ONNX are built; one file per family."""

from __future__ import annotations

from . import activation as activation
from . import control as control
from . import conv as conv
from . import creation as creation
from . import detection as detection
from . import elementwise as elementwise
from . import gathering as gathering
from . import grouping as grouping
from . import image as image
from . import matrix as matrix
from . import norm as norm
from . import pool as pool
from . import quantize as quantize
from . import recurrent as recurrent
from . import reduction as reduction
from . import sequences as sequences
from . import shape as shape
from . import spectrum as spectrum
