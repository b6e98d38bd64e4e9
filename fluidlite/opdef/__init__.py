"""What an operator is; contains no operator."""

from . import gradient  # registers how gradient operators are derived
