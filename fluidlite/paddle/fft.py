"""``paddle.fft`` of paddle 2.6: discrete Fourier transforms."""

from __future__ import annotations

from ..functions.fourier import fft as fft
from ..functions.fourier import fft2 as fft2
from ..functions.fourier import fftn as fftn
from ..functions.fourier import fftshift as fftshift
from ..functions.fourier import hfft as hfft
from ..functions.fourier import hfft2 as hfft2
from ..functions.fourier import hfftn as hfftn
from ..functions.fourier import ifft as ifft
from ..functions.fourier import ifft2 as ifft2
from ..functions.fourier import ifftn as ifftn
from ..functions.fourier import ifftshift as ifftshift
from ..functions.fourier import ihfft as ihfft
from ..functions.fourier import ihfft2 as ihfft2
from ..functions.fourier import ihfftn as ihfftn
from ..functions.fourier import irfft as irfft
from ..functions.fourier import irfft2 as irfft2
from ..functions.fourier import irfftn as irfftn
from ..functions.fourier import rfft as rfft
from ..functions.fourier import rfft2 as rfft2
from ..functions.fourier import rfftn as rfftn
from ..ground.public_names import list_given_names
from ..ground.tracebacks import api_boundaries
from .frequencies import fftfreq as fftfreq
from .frequencies import rfftfreq as rfftfreq

list_given_names(globals())
api_boundaries(globals(), quick=True, imported=True, but=("fftfreq", "rfftfreq"))
