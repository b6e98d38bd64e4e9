"""Every operator, one family per file.  Importing this package defines them all."""

from . import activation  # noqa: F401
from . import array  # noqa: F401
from . import compare  # noqa: F401
from . import control_flow  # noqa: F401
from . import conv  # noqa: F401
from . import creation  # noqa: F401
from . import dropout  # noqa: F401
from . import elementwise  # noqa: F401
from . import expand  # noqa: F401
from . import gather  # noqa: F401
from . import io  # noqa: F401
from . import join  # noqa: F401
from . import loss  # noqa: F401
from . import math  # noqa: F401
from . import metric  # noqa: F401
from . import norm  # noqa: F401
from . import optimizer  # noqa: F401
from . import pad  # noqa: F401
from . import pool  # noqa: F401
from . import reduce  # noqa: F401
from . import sampling  # noqa: F401
from . import shape  # noqa: F401
from . import slice  # noqa: F401
from . import unary  # noqa: F401
