"""Old programs as they are: ``paddle`` and ``paddle.fluid`` 1.8, served to this process.

    import fluidlite.compat

    fluidlite.compat.install()
    import paddle.fluid as fluid

``fluidlite run script.py`` does this for a script that nobody edits.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder

from ..errors import FluidError
from ..ground.public_names import list_public_names
from ..ir.foreign import OWN, allowed, checked_kinds
from ..ir.message_text import as_messages
from . import children, dropped, editions, served, six
from .alias import PACKAGE, AliasFinder, forget
from .served import CompatWarning

__all__ = ["AliasError", "CompatWarning", "install", "installed", "uninstall"]


class AliasError(FluidError, ImportError):
    """A paddle of another kind is there, or has been imported."""


def installed() -> bool:
    """Whether ``paddle`` is served to this process."""
    return bool(_finders())


def _finders() -> list[AliasFinder]:
    """Those that serve it: where Python looks for modules says so, also after a reload of this."""
    return [finder for finder in sys.meta_path if isinstance(finder, AliasFinder)]


def install(
    *,
    force: bool = False,
    synthetic_data: bool = False,
    dropped_names: bool = False,
    allow: Sequence[str] = (),
    paddle: str | None = None,
) -> None:
    """Serve ``paddle``, ``paddle.fluid`` and what is below them to this process.

    Args:
        force: whether to do so although a package ``paddle`` can be imported.
        synthetic_data: whether ``paddle.dataset`` gives made samples instead of reading files.
        dropped_names: whether names that Python and NumPy have dropped since work, too, such as
            ``np.int``; each gives one warning.
        allow: which effects programs that are read may have: kinds that ``Program.allow`` takes.
        paddle: ``"1.8"`` or ``"2.6"``: what names mean that both have.  When None,
            ``FLUIDLITE_PADDLE`` in the environment says so, else what the program uses first.

    Raises:
        ArgumentError: there is no effect of a kind, or no such version.
        AliasError: there is another ``paddle``, and ``force`` does not say that it may be hidden;
            or the process means the other version already.

    >>> fluid.compat.install()
    >>> import paddle.fluid
    >>> paddle.fluid.layers.fc is fluid.layers.fc
    True
    >>> fluid.compat.uninstall()
    """
    kinds = checked_kinds(allow) if allow else OWN
    now = editions.edition() if installed() else None
    if editions.checked(paddle) not in (None, now) and now is not None:
        raise AliasError(f"this process means paddle {now} already, not {paddle}")
    if not installed():
        if not force:
            _refuse_another()
        forget_another = [name for name in sys.modules if name.partition(".")[0] == PACKAGE]
        for name in forget_another:
            del sys.modules[name]
        sys.meta_path.insert(0, AliasFinder())
        sys.meta_path.append(six.SixFinder())
        served.forget_notices()
    served.synthetic_data.switch(synthetic_data)
    as_messages.switch(True)
    allowed.switch(kinds)
    if dropped_names:
        dropped.install()
    children.announce(synthetic_data=synthetic_data, dropped_names=dropped_names, allow=allow)
    if (means := paddle or editions.edition()) is not None:
        editions.decide(means, chosen=paddle is not None)


def uninstall() -> None:
    """Serve them no more, and take back what :func:`install` changed.  What a program has imported
    goes on working.
    """
    children.withdraw()
    dropped.uninstall()
    served.synthetic_data.switch(False)
    as_messages.switch(False)
    allowed.switch(OWN)
    for finder in [f for f in sys.meta_path if isinstance(f, (AliasFinder, six.SixFinder))]:
        sys.meta_path.remove(finder)
    forget()
    six.forget()
    editions.forget()


def _refuse_another() -> None:
    loaded = sys.modules.get(PACKAGE)
    where = getattr(loaded, "__file__", None) if loaded else None
    if loaded is None:
        paths = [path for path in sys.path if path != children.FOLDER]
        spec = PathFinder.find_spec(PACKAGE, paths)
        where = spec.origin if spec else None
    if loaded is not None or where is not None:
        raise AliasError(
            f"another paddle is there ({where or loaded}): run the program with "
            "it, or say install(force=True) (fluidlite run --force) to have fluidlite's instead"
        )


list_public_names(globals())
