"""``paddle.version``: of which version the interface is."""

from __future__ import annotations

full_version = "1.8.5"
major = "1"
minor = "8"
patch = "5"
rc = "0"
istaged = True
commit = ""
with_mkl = "OFF"


def show() -> None:
    """Print the version."""
    print("full_version:", full_version)
    print("major:", major)
    print("minor:", minor)
    print("patch:", patch)
    print("rc:", rc)


def mkl() -> str:
    """Whether MKL is used: "OFF"."""
    return with_mkl
