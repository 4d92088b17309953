"""Type stubs of evenflow.signal. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The discrete cosine transform of type 1 to 4 over an axis."""

def fft(input, name=None) -> Tensor:
    """The discrete Fourier transform over the last axis."""

def fft2d(input, name=None) -> Tensor:
    """The discrete Fourier transform over the last two axes."""

def fft3d(input, name=None) -> Tensor:
    """The discrete Fourier transform over the last three axes."""

def fftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The Fourier transform over any axes."""

def fftshift(x, axes=None, name=None):
    """Moves the zero frequency to the center."""

def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """Splits an axis into frames of `frame_length` elements, which start every `frame_step` elements."""

def hamming_window(window_length, periodic=True, dtype=..., name=None):
    """The Hamming window: 0.54 - 0.46 cos."""

def hann_window(window_length, periodic=True, dtype=..., name=None):
    """The Hann window: 0.5 - 0.5 cos."""

def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The inverse of dct. Without norm='ortho' the result is scaled by twice the length (for type 1, twice the length minus"""

def ifft(input, name=None) -> Tensor:
    """The inverse discrete Fourier transform over the last axis."""

def ifft2d(input, name=None) -> Tensor:
    """The inverse discrete Fourier transform over the last two axes."""

def ifft3d(input, name=None) -> Tensor:
    """The inverse discrete Fourier transform over the last three axes."""

def ifftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The inverse Fourier transform over any axes."""

def ifftshift(x, axes=None, name=None):
    """Undoes fftshift."""

def inverse_mdct(mdcts, window_fn=..., norm=None, name=None):
    """The signal of a modified discrete cosine transform."""

def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=..., name=None):
    """A signal from its short-time Fourier transform."""

def inverse_stft_window_fn(frame_step, forward_window_fn=..., name=None):
    """The window with which inverse_stft inverts a stft with `forward_window_fn`."""

def irfft(input_tensor, fft_length=None, name=None):
    """Real numbers from the first half of their Fourier transform."""

def irfft2d(input_tensor, fft_length=None, name=None):
    """Real numbers from the first half of their Fourier transform."""

def irfft3d(input_tensor, fft_length=None, name=None):
    """Real numbers from the first half of their Fourier transform."""

def irfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """Real numbers from the first half of their Fourier transform over any axes."""

def kaiser_bessel_derived_window(window_length, beta=12.0, dtype=..., name=None):
    """The Kaiser-Bessel-derived window: its squares at two points half a window apart add up to 1."""

def kaiser_window(window_length, beta=12.0, dtype=..., name=None):
    """The Kaiser window."""

def linear_to_mel_weight_matrix(num_mel_bins=20, num_spectrogram_bins=129, sample_rate=8000, lower_edge_hertz=125.0, upper_edge_hertz=3800.0, dtype=..., name=None):
    """A matrix that converts spectra to mel spectra: triangular filters of equal width on the mel scale."""

def mdct(signals, frame_length, window_fn=..., pad_end=False, norm=None, name=None):
    """The modified discrete cosine transform of frames that overlap by half."""

def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """Mel-frequency cepstral coefficients: the cosine transform of logarithms of mel spectra."""

def overlap_and_add(signal, frame_step, name=None):
    """Reconstructs a signal from frames that start every `frame_step` elements. Overlapping parts are added."""

def rfft(input_tensor, fft_length=None, name=None):
    """The Fourier transform of real numbers over 1 axis; only its first half."""

def rfft2d(input_tensor, fft_length=None, name=None):
    """The Fourier transform of real numbers over 2 axes; only its first half."""

def rfft3d(input_tensor, fft_length=None, name=None):
    """The Fourier transform of real numbers over 3 axes; only its first half."""

def rfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The Fourier transform of real numbers over any axes; only the first half along the last of them."""

def stft(signals, frame_length, frame_step, fft_length=None, window_fn=..., pad_end=False, name=None):
    """The short-time Fourier transform: Fourier transforms of overlapping, windowed frames."""

def vorbis_window(window_length, dtype=..., name=None):
    """The window of the Vorbis codec."""
