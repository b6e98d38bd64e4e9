"""``paddle.sysconfig`` of paddle 2.6: it has nothing to say, as there is no library of C++."""

from __future__ import annotations

from ..ground.missing_names import answer_of_paddle_2
from ..ground.public_names import list_public_names

list_public_names(globals())
answer_of_paddle_2(globals())
