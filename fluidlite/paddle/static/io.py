"""``paddle.static.io`` of paddle 2.6: programs and their variables in files and in bytes."""

from __future__ import annotations

from ...ground.public_names import list_given_names
from ...io import is_belong_to_optimizer as is_belong_to_optimizer
from ...io import is_parameter as is_parameter
from ...io import is_persistable as is_persistable
from ...io import load_program_state as load_program_state
from ...io import load_vars as load_vars
from ...io import save_vars as save_vars
from ...io import set_program_state as set_program_state
from ...io.inference import append_fetch_ops as append_fetch_ops
from ...io.inference import prepend_feed_ops as prepend_feed_ops
from ...io.variables import get_program_persistable_vars as get_program_persistable_vars
from .building import load as load
from .building import save as save
from .models import deserialize_persistables as deserialize_persistables
from .models import deserialize_program as deserialize_program
from .models import load_from_file as load_from_file
from .models import load_inference_model as load_inference_model
from .models import normalize_program as normalize_program
from .models import save_inference_model as save_inference_model
from .models import save_to_file as save_to_file
from .models import serialize_persistables as serialize_persistables
from .models import serialize_program as serialize_program

list_given_names(globals())
