"""Type stubs of evenflow.config. Written by tools/gen_stubs.py."""

from typing import Any

class LogicalDevice:
    """LogicalDevice(name, device_type)"""
    def __getattr__(self, name: str): ...

class LogicalDeviceConfiguration:
    """LogicalDeviceConfiguration(memory_limit, experimental_priority, experimental_device_ordinal)"""
    def __getattr__(self, name: str): ...

class PhysicalDevice:
    """PhysicalDevice(name, device_type)"""
    def __getattr__(self, name: str): ...

def functions_run_eagerly():
    ...

def get_logical_device_configuration(device):
    """How a physical device is split; None if it is not."""

def get_soft_device_placement():
    """Whether ops placed on a device that is not there run on another."""

def get_visible_devices(device_type=None):
    """The physical devices that are used."""

def list_logical_devices(device_type=None):
    """The devices that ops can be placed on."""

def list_physical_devices(device_type=None):
    """The devices of this machine."""

def run_functions_eagerly(run_eagerly):
    """True: functions run as plain Python, for debugging."""

def set_logical_device_configuration(device, logical_devices):
    """Splits a physical device; before it is used. A memory limit holds for the whole device."""

def set_soft_device_placement(enabled):
    """False: placing an op on a device that is not there is an error."""

def set_visible_devices(devices, device_type=None):
    """Which physical devices are used; before the first one is."""
