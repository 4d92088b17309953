"""Distributed datasets and iterators. There is one replica, which gets all elements."""
from . import _core
from .composite import CompositeTensor
from .dataset_iterators import OwnedIterator
from .datasets import DatasetSpec, for_dataset
from .distribute import DistributedDataset, DistributedIterator, Strategy


class OneReplicaIterator(OwnedIterator, DistributedIterator):
    """An iterator over a distributed dataset."""

    __module__ = "tensorflow.python.distribute.input_lib"


class OneReplicaDataset(CompositeTensor, DistributedDataset):
    """A distributed dataset whose elements all go to the single replica."""

    __module__ = "tensorflow.python.distribute.input_lib"

    def __init__(self, dataset):
        self._variant_tensor, self._dataset = dataset._variant_tensor, dataset

    @property
    def element_spec(self):
        """The spec of an element."""
        return self._dataset.element_spec

    @property
    def cardinality(self):
        """The number of elements; -1 for an infinite dataset, -2 if it is unknown. tf.data.Dataset has a method instead."""
        return self._dataset.cardinality().numpy()

    @property
    def _type_spec(self):
        return DatasetSpec(self._dataset.element_spec)

    def _ef_graph_for(self, *loop):
        return for_dataset(self._dataset, *loop)

    def __iter__(self):
        return OneReplicaIterator(self._dataset) if _core.executing_eagerly() else iter(self._dataset)


Strategy._dataset_class = OneReplicaDataset
