"""Type stubs of evenflow.test. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def gpu_device_name(*unused, **also_unused):
    """The name of the first GPU, or nothing."""

def is_built_with_cuda(*unused, **also_unused):
    """Whether it was built for CUDA: it was not."""

def is_built_with_gpu_support(*unused, **also_unused):
    """Whether it was built for GPUs."""

def is_built_with_rocm(*unused, **also_unused):
    """Whether it was built for ROCm: it was not."""

def is_built_with_xla(*unused, **also_unused):
    """Whether functions may ask to be compiled: they may."""

def is_gpu_available(*unused, **also_unused):
    """Whether there is a GPU."""
