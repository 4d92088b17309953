"""The table of causes. A cause is one record: its code and title, the symptom a user sees, what the engine counts, the
rule that makes findings of the counts, and the wrong and the right way to write it.

The records stand in `repeated`, `calls`, `memory`, `pipeline` and `output`; each is the decorator of its rule. A rule takes an
`Observed` and yields findings.
"""
import dataclasses

from .prices import PRICES, tensorflow_ms

CAUSES = {}  # code -> Cause


@dataclasses.dataclass(frozen=True)
class Cause:
    code: str
    title: str
    symptom: str
    counter: str
    rule: object
    wrong: str
    right: str


@dataclasses.dataclass
class Finding:
    code: str
    place: object  # Place
    count: int
    what: str  # what the program does, with numbers
    fix: str
    cost_ms: float = 0.0  # here
    tensorflow_ms: float = None  # there; None: it was not measured
    tensorflow_kb: float = 0.0
    bytes: int = 0  # here
    subject: object = None  # Place of the function it is about
    argument: str = None  # the parameter it is about, for a patch
    priced_by: str = None  # the entry of `prices`

    def __post_init__(self):
        if self.priced_by and self.tensorflow_ms is None:
            self.tensorflow_ms = tensorflow_ms(self.priced_by, self.count)
            self.tensorflow_kb = PRICES[self.priced_by].kb * self.count

    @property
    def cost(self):
        """Findings are sorted by it: the larger of what it costs here and there, in milliseconds."""
        return max(self.cost_ms, self.tensorflow_ms or 0.0)


def cause(code, title, symptom, counter, wrong="", right=""):
    """Makes the decorated rule a cause. `title` is a short name, a colon and what happens."""

    def mark(rule):
        CAUSES[code] = Cause(code, title, symptom, counter, rule, wrong.strip("\n"), right.strip("\n"))
        return rule

    return mark


def named(place):
    """A function by its name and line."""
    if place is None:
        return "a function"
    return "a lambda" if place.function == "<lambda>" else f"{place.function}()"


def times(n):
    """1234567 as 1,234,567."""
    return f"{round(n):,}"


def amount(ms):
    """Milliseconds as people say them: 35 ns, 812 us, 4.2 ms, 61 s, 3 min."""
    if ms < 0.9995e-3:
        return f"{1e6 * ms:.3g} ns"
    if ms < 0.9995:
        return f"{1e3 * ms:.3g} us"
    if ms < 999.5:
        return f"{ms:.3g} ms"
    return f"{ms / 1e3:.3g} s" if ms < 999.5e3 else f"{ms / 60e3:,.0f} min"


def examine(observed):
    """All findings, the dearest first. The records are registered by importing the modules that hold them."""
    from . import calls, memory, output, pipeline, repeated  # noqa: F401 - they register their causes, so they need this file
    found = [f for c in sorted(CAUSES.values(), key=lambda c: c.code) if c.code != "E901" for f in c.rule(observed)]
    explained = {(f.place.file, f.place.line) for f in found}
    found += [f for f in CAUSES["E901"].rule(observed) if (f.place.file, f.place.line) not in explained]
    return sorted(found, key=lambda f: -f.cost)


def table():
    """code -> Cause, in order."""
    from . import calls, memory, output, pipeline, repeated  # noqa: F401 - they register their causes, so they need this file
    return dict(sorted(CAUSES.items()))
