"""Type stubs of evenflow.distribute. Written by tools/gen_stubs.py."""

from typing import Any

class DistributedDataset:
    """The base of datasets that are split between replicas."""
    def __getattr__(self, name: str): ...

class DistributedIterator:
    """The base of iterators over datasets that are split between replicas."""
    def __getattr__(self, name: str): ...

class DistributedValues:
    """The base of values that differ between replicas."""
    def __getattr__(self, name: str): ...

class InputContext:
    """What a function that makes a dataset is told of its part."""
    def __getattr__(self, name: str): ...

class MultiWorkerMirroredStrategy:
    """For several machines."""
    def __getattr__(self, name: str): ...

class OneDeviceStrategy:
    """Everything on one device."""
    def __getattr__(self, name: str): ...

class ReduceOp:
    """How values of several replicas become one."""
    def __getattr__(self, name: str): ...

class ReplicaContext:
    """A replica, as seen from inside."""
    def __getattr__(self, name: str): ...

class Strategy:
    """Where and how often a program runs; this one: once, here."""
    def __getattr__(self, name: str): ...

class StrategyExtended:
    """What libraries ask of a strategy; here with one replica."""
    def __getattr__(self, name: str): ...

class TPUStrategy:
    """For TPUs, of which there are none here."""
    def __getattr__(self, name: str): ...

def experimental_set_strategy(strategy):
    """Makes a strategy current without a `with`; None ends it."""

def get_replica_context():
    """The replica this runs in."""

def get_strategy():
    """The current strategy; there always is one."""

def has_strategy():
    """Whether the current strategy was chosen by the program."""

def in_cross_replica_context():
    """Whether this runs for all replicas at once."""
