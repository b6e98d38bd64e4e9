"""How the library was built, for programs that ask, in OneFlow's spelling."""

from __future__ import annotations

from ..ground.public_names import list_public_names

__all__ = [
    "cmake_build_type", "get_cuda_version", "has_rpc_backend_grpc", "has_rpc_backend_local",
    "with_cuda", "with_mlir", "with_mlir_cuda_codegen", "with_rdma",
]  # fmt: skip


def with_cuda() -> bool:
    """False: tensors are on the CPU."""
    return False


def get_cuda_version() -> int:
    """0: there is none."""
    return 0


def with_rdma() -> bool:
    """False: processes reach each other by MPI alone."""
    return False


def with_mlir() -> bool:
    """False: programs are compiled by fluidlite itself."""
    return False


def with_mlir_cuda_codegen() -> bool:
    """False: programs are compiled for the CPU."""
    return False


def has_rpc_backend_grpc() -> bool:
    """False: processes reach each other by MPI alone."""
    return False


def has_rpc_backend_local() -> bool:
    """True: one process serves itself."""
    return True


def cmake_build_type() -> str:
    """ "Release"."""
    return "Release"


list_public_names(globals())
