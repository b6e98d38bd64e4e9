"""What is installed here, and which library computes what: for reports of bugs."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

import numpy as np

from ..backend import onednn
from ..backend.native.library import description as native_description
from ..ground import state
from ..ground.console import say
from ..ground.tracebacks import api_boundaries
from ..kernels import threads
from ..kernels.blas import blas_controllers, blas_info

#: kernels of OpenBLAS that know nothing of AVX-512
OLDER = ("haswell", "zen", "sandybridge", "nehalem", "prescott", "core2", "generic")
#: what to set where they were taken although the processor has it
BETTER = "OPENBLAS_CORETYPE=SkylakeX"
CPU_FACTS = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class BlasLibrary:
    """A library that multiplies matrices."""

    name: str  #: such as "openblas 0.3.31"
    core: str  #: whose kernels it runs; empty where it does not say
    threads: int

    def __str__(self) -> str:
        kernels = f"{self.core} kernels, " if self.core else ""
        return f"{self.name}, {kernels}{self.threads} thread{'s' if self.threads != 1 else ''}"


@dataclass(frozen=True)
class Config:
    """What is installed, as text when printed.  Made by :func:`show_config`."""

    version: str  #: of fluidlite
    python: str
    system: str
    processor: str
    cores: int  #: that this process may run on
    numpy: str
    blas: tuple[BlasLibrary, ...]
    kernels: str  #: what ``FLUIDLITE_KERNELS`` says: "auto", "numpy", "onednn" or "native"
    onednn: dict[str, str] | None  #: what the library says of itself; None if there is none
    served: tuple[str, ...]  #: the operators that it may compute
    #: the compiler of generated kernels, and where they are kept; None if there is none
    native: dict[str, str] | None
    threads: int  #: of fluidlite's own pool
    flags: dict[str, object]
    warnings: tuple[str, ...]

    def __str__(self) -> str:
        serves = "NumPy computes everything"
        if self.served:
            listed = ", ".join(self.served)
            serves = f"oneDNN computes in float32, where that pays, {listed}; NumPy the rest"
        facts = [
            ("fluidlite", self.version),
            ("python", self.python),
            ("system", self.system),
            ("processor", f"{self.processor}, {self.cores} cores for this process"),
            ("numpy", self.numpy),
            *(("blas", str(each)) for each in self.blas or ["one that does not say what it is"]),
            ("kernels", f"{serves} (FLUIDLITE_KERNELS={self.kernels})"),
            ("onednn", _listed(self.onednn) if self.onednn else "not installed"),
            ("native", _listed(self.native) if self.native else "no C compiler"),
            ("threads", f"{self.threads} (FLUIDLITE_NUM_THREADS)"),
            ("flags", _listed(self.flags)),
            *(("warning", warning) for warning in self.warnings),
        ]
        lines = [f"{name + ':':<11}{text}" for name, text in facts]
        return "\n".join(_folded(line) for line in lines)

    def __repr__(self) -> str:
        return f"Config(fluidlite {self.version}, python {self.python}, numpy {self.numpy})"


def show_config() -> Config:
    """Print what is installed here, and which library computes what.

    It warns when NumPy's matrix products run on kernels older than the processor, which may halve
    their speed.

    Returns:
        the facts.

    >>> fluid.show_config().numpy == np.__version__
    fluidlite: ...
    True
    """
    found = config()
    say(found)
    return found


def config() -> Config:
    """What :func:`show_config` prints."""
    flags, blas = _cpu_flags(), _blas()
    warnings = []
    for each in blas:
        if "avx512f" in flags and each.core.lower() in OLDER:
            warnings.append(
                f"{each.name} runs on {each.core} kernels although the processor has AVX-512: "
                f"matrix products may take twice as long; set {BETTER} in the environment "
                f"before NumPy is imported"
            )
    if blas_controllers() is None:
        warnings.append(
            "threads of the BLAS cannot be counted, and its products are not divided: "
            "pip install threadpoolctl"
        )
    wanted = os.environ.get("FLUIDLITE_KERNELS") or "auto"
    library = onednn.description()
    if wanted == "onednn" and library is None:
        warnings.append(
            'FLUIDLITE_KERNELS=onednn, and the library is missing: pip install "fluidlite[fast]"'
        )
    newest = next((f for f in ("avx512f", "avx2", "avx", "neon", "asimd") if f in flags), "")
    return Config(
        version=sys.modules[__package__.partition(".")[0]].__version__,
        python=f"{platform.python_version()} ({platform.python_implementation()})",
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        processor=" ".join(filter(None, [_processor(), f"({newest})" if newest else ""])),
        cores=threads.cores(),
        numpy=np.__version__,
        blas=tuple(blas),
        kernels=wanted,
        onednn=library,
        served=() if library is None or wanted == "numpy" else tuple(onednn.served()),
        native=native_description(),
        threads=threads.count(),
        flags=dict(state.flag_values.get()),
        warnings=tuple(warnings),
    )


def _folded(line: str) -> str:
    indent = " " * 11
    return fill(line, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _listed(facts: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in facts.items()) or "none"


def _cpu_facts(name: str) -> str:
    """A line about the first processor; empty where the system does not say."""
    try:
        lines = CPU_FACTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")


def _cpu_flags() -> list[str]:
    return (_cpu_facts("flags") or _cpu_facts("Features")).split()


def _processor() -> str:
    return _cpu_facts("model name") or platform.processor() or platform.machine()


def _blas() -> list[BlasLibrary]:
    """The loaded libraries that multiply matrices, such as NumPy's."""
    return [
        BlasLibrary(
            f"{each.get('internal_api', 'blas')} {each.get('version') or ''}".strip(),
            each.get("architecture") or "",
            int(each.get("num_threads") or 1),
        )
        for each in blas_info()
    ]


api_boundaries(globals())
