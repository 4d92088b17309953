"""Datasets whose elements are split between replicas: all of them for the one replica there is."""
from . import _core
from .composite import CompositeTensor
from .dataset_iterators import OwnedIterator
from .datasets import DatasetSpec, for_dataset
from .distribute import DistributedDataset, DistributedIterator, Strategy


class OneReplicaIterator(OwnedIterator, DistributedIterator):
    """Goes through a distributed dataset."""

    __module__ = "tensorflow.python.distribute.input_lib"


class OneReplicaDataset(CompositeTensor, DistributedDataset):
    """A dataset whose elements all go to the one replica there is."""

    __module__ = "tensorflow.python.distribute.input_lib"

    def __init__(self, dataset):
        self._variant_tensor, self._dataset = dataset._variant_tensor, dataset

    @property
    def element_spec(self):
        """The spec of an element."""
        return self._dataset.element_spec

    @property
    def cardinality(self):
        """How many elements there are; -1 without end, -2 not known. A property, unlike that of tf.data.Dataset."""
        return self._dataset.cardinality().numpy()

    @property
    def _type_spec(self):
        return DatasetSpec(self._dataset.element_spec)

    def _ef_graph_for(self, *loop):
        return for_dataset(self._dataset, *loop)

    def __iter__(self):
        return OneReplicaIterator(self._dataset) if _core.executing_eagerly() else iter(self._dataset)


Strategy._dataset_class = OneReplicaDataset
