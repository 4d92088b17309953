"""Lets programs that say `import tensorflow` run on Evenflow, where `evenflow run` cannot start them.

    import evenflow.alias
    evenflow.alias.install()  # before the first import of tensorflow, as in a conftest.py or a notebook's first cell
    import tensorflow as tf   # is evenflow
"""
from evenflow._src.alias import install

__all__ = ["install"]
