"""tf.compat.v2: the same names as tf."""
import sys

from .. import namespace

namespace.space("compat.v2")
namespace.find_others("compat.v2", lambda name: getattr(sys.modules["evenflow"], name))
