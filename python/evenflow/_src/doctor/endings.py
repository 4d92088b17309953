"""The error a program ended with: what it says in one line, and where in the program it was raised."""
import dataclasses
import re
import sys
import sysconfig
import traceback

from . import source
from .observed import Place

_LIBRARY = sysconfig.get_paths()["stdlib"]
_SAID = re.compile(r"\s*(?:[\w.]+(?:Error|Exception|Warning)|KeyboardInterrupt)\b:? ")
LONGEST = 300  # characters of the message that are shown


@dataclasses.dataclass
class Ending:
    name: str  # of the exception's class
    message: str  # in one line
    place: object  # Place of the innermost line of the program; None: it cannot be told
    through: tuple = ()  # Places of all lines of the program that it went through, the innermost last

    @property
    def what(self):
        return f"{self.name}: {self.message}" if self.message else self.name


def _message(text):
    """What an error says, in one line. A message about other lines (`in user code:`) ends with the error that it is about."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    said = [line for line in lines[1:] if _SAID.match(line)]
    line = said[-1] if said else lines[0] if lines else ""
    return line if len(line) <= LONGEST else line[:LONGEST - 4] + " ..."


def of(error):
    """The Ending of an exception; None: the program ended as it wanted to, or was interrupted."""
    if error is None or not isinstance(error, Exception):
        return None
    name = type(error).__name__
    places = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        place = Place(frame.f_code.co_filename, line, frame.f_code.co_name)
        if not source.is_library(place) and not place.file.startswith((_LIBRARY, "<frozen")):
            places.append(place)
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        places.append(Place(error.filename, error.lineno, "<module>"))
    return Ending(name, _message(str(error)).removeprefix(f"{name}: "), places[-1] if places else None, tuple(places))


def last():
    """The Ending of this process, which is about to end."""
    return of(getattr(sys, "last_value", None))
