"""Type stubs of evenflow.audio. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def decode_wav(contents, desired_channels=-1, desired_samples=-1, name=None) -> tuple[Tensor, Tensor]:
    """The sound of a WAV file of 16-bit samples, of shape [frames, channels], from -1 to 1."""

def encode_wav(audio, sample_rate, name=None) -> Tensor:
    """Sound of shape [frames, channels], from -1 to 1, as a WAV file of 16-bit samples."""
