"""Programs as they are: ``paddle`` 1.8 and 2.6 and ``oneflow``, served to this process.

    import fluidlite.compat

    fluidlite.compat.install()
    import paddle.fluid as fluid

``fluidlite run script.py`` does this for a script that nobody edits.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..errors import FluidError
from ..ground.public_names import list_public_names
from ..ir.foreign import OWN, allowed, checked_kinds
from . import children, dropped, editions, served, six
from .alias import AliasFinder, forget
from .packages import PACKAGES, PADDLE, another, package_of
from .served import CompatWarning

__all__ = ["AliasError", "CompatWarning", "install", "installed", "uninstall"]


class AliasError(FluidError, ImportError):
    """A paddle of another kind is there, or has been imported."""


def installed() -> bool:
    """Whether ``paddle`` is served to this process.

    >>> from fluidlite import compat
    >>> compat.installed()
    False
    """
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
    """Serve ``paddle``, ``oneflow`` and what is below them to this process.

    Another ``oneflow`` that can be imported stays what it is.

    Args:
        force: whether to do so although a package ``paddle``, or ``oneflow``, can be imported.
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
        packages = [name for name in PACKAGES if force or another(name) is None]
        forget_others = [name for name in sys.modules if package_of(name) in packages]
        for name in forget_others:
            del sys.modules[name]
        sys.meta_path.insert(0, AliasFinder(packages))
        sys.meta_path.append(six.SixFinder())
        served.forget_notices()
    served.synthetic_data.switch(synthetic_data)
    editions.print_as(editions.edition())
    allowed.switch(kinds)
    if dropped_names:
        dropped.install()
    children.announce(
        allow, force=force, synthetic_data=synthetic_data, dropped_names=dropped_names
    )
    if (means := paddle or editions.edition()) is not None:
        editions.decide(means, chosen=paddle is not None)


def uninstall() -> None:
    """Serve them no more, and take back what :func:`install` changed.  What a program has imported
    goes on working.
    """
    children.withdraw()
    dropped.uninstall()
    served.synthetic_data.switch(False)
    editions.print_as_before()
    allowed.switch(OWN)
    for finder in [f for f in sys.meta_path if isinstance(f, (AliasFinder, six.SixFinder))]:
        sys.meta_path.remove(finder)
    forget()
    six.forget()
    editions.forget()


def _refuse_another() -> None:
    where = another(PADDLE)
    if where is not None:
        raise AliasError(
            f"another paddle is there ({where}): run the program with "
            "it, or say install(force=True) (fluidlite run --force) to have fluidlite's instead"
        )


list_public_names(globals())
