"""tf.__operators__: operators as functions."""
import operator

from ..namespace import export


@export("__operators__.eq")
def eq(self, other):
    """`self == other`, element by element."""
    return operator.eq(self, other)


@export("__operators__.ne")
def ne(self, other):
    """`self != other`, element by element."""
    return operator.ne(self, other)
