"""The op families: what TensorFlow's functions do before and after the op itself.

A function that is just an op comes straight from the extension (`offer_ops`); here are those with
arguments to shape, defaults to find, or several ops to put together.
"""
