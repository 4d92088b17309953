"""Type stubs of evenflow.test. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def gpu_device_name(*unused, **also_unused):
    """The name of the first GPU: always empty."""

def is_built_with_cuda(*unused, **also_unused):
    """Whether the build supports CUDA: always False."""

def is_built_with_gpu_support(*unused, **also_unused):
    """Whether the build supports GPUs: always False."""

def is_built_with_rocm(*unused, **also_unused):
    """Whether the build supports ROCm: always False."""

def is_built_with_xla(*unused, **also_unused):
    """Whether tf.function accepts jit_compile=True: always True."""

def is_gpu_available(*unused, **also_unused):
    """Whether there is a GPU: always False."""
