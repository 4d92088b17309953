"""tf.compat.v1.logging: a program's messages."""
import logging as _python
import sys

from ...namespace import export, offer

_logger = _python.getLogger("tensorflow")
_seen = {}

for _word, _level in (("DEBUG", 10), ("INFO", 20), ("WARN", 30), ("ERROR", 40), ("FATAL", 50)):
    offer(_level, f"compat.v1.logging.{_word}")

for _word in ("debug", "info", "warning", "warn", "error", "fatal", "log"):
    offer(getattr(_logger, "warning" if _word == "warn" else "critical" if _word == "fatal" else _word),
          f"compat.v1.logging.{_word}")


@export("compat.v1.logging.vlog")
def vlog(level, msg, *args, **kwargs):
    """Logs at a level."""
    _logger.log(level, msg, *args, **kwargs)


@export("compat.v1.logging.log_if")
def log_if(level, msg, condition, *args):
    """Logs if the condition holds."""
    if condition:
        _logger.log(level, msg, *args)


def _count():
    """How often the user's line was reached before. Its message may be another each time, so it does not count."""
    place = sys._getframe(2)
    key = (place.f_code, place.f_lineno)
    _seen[key] = _seen.get(key, -1) + 1
    return _seen[key]


@export("compat.v1.logging.log_every_n")
def log_every_n(level, msg, n, *args):
    """Logs every n-th time that this line is reached."""
    log_if(level, msg, not _count() % n, *args)


@export("compat.v1.logging.log_first_n")
def log_first_n(level, msg, n, *args):
    """Logs the first n times that this line is reached."""
    log_if(level, msg, _count() < n, *args)


@export("compat.v1.logging.set_verbosity")
def set_verbosity(v):
    """Messages below this level are not shown."""
    names = {"DEBUG": 10, "INFO": 20, "WARN": 30, "WARNING": 30, "ERROR": 40, "FATAL": 50}
    _logger.setLevel(names.get(v, v) if isinstance(v, str) else v)


@export("compat.v1.logging.get_verbosity")
def get_verbosity():
    """The level below which messages are not shown."""
    return _logger.getEffectiveLevel()


@export("compat.v1.logging.flush")
def flush():
    """Flushes the handlers of the logger."""
    for handler in _logger.handlers:
        handler.flush()
