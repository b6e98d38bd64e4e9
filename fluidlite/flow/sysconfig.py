"""How the library was built, for programs that ask, in OneFlow's spelling."""

from __future__ import annotations

from typing import Final

from ..ground.constant_functions import always
from ..ground.public_names import list_public_names

__all__ = [
    "cmake_build_type", "get_cuda_version", "has_rpc_backend_grpc", "has_rpc_backend_local",
    "with_cuda", "with_mlir", "with_mlir_cuda_codegen", "with_rdma",
]  # fmt: skip


with_cuda: Final = always("with_cuda", False, "False: tensors are on the CPU.")
get_cuda_version: Final = always("get_cuda_version", 0, "0: there is none.")
with_rdma: Final = always("with_rdma", False, "False: processes reach each other by MPI alone.")
with_mlir: Final = always("with_mlir", False, "False: programs are compiled by fluidlite itself.")
with_mlir_cuda_codegen: Final = always(
    "with_mlir_cuda_codegen", False, "False: programs are compiled for the CPU."
)
has_rpc_backend_grpc: Final = always(
    "has_rpc_backend_grpc", False, "False: processes reach each other by MPI alone."
)
has_rpc_backend_local: Final = always(
    "has_rpc_backend_local", True, "True: one process serves itself."
)
cmake_build_type: Final = always("cmake_build_type", "Release", '"Release".')
list_public_names(globals())
