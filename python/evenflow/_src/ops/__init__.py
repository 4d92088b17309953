"""The families of functions around ops: TensorFlow's functions that do more than call one op.

A function that only calls an op comes directly from the C extension (`offer_ops`). The modules here have the functions
that convert arguments, choose defaults or combine several ops.
"""
