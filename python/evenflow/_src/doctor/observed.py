"""What the engine has counted, by line of the user's program."""
import collections
import time

from evenflow import _core

Place = collections.namedtuple("Place", "file line function")
KINDS, REASONS = _core.event_kinds()


class Row:
    """Events of one kind and reason at one place about one function, added up."""

    __slots__ = ("kind", "reason", "place", "subject", "note", "samples", "count", "ms", "sums", "least", "most",
                 "first", "last", "early_us", "late_us")

    def __init__(self, tally, place):
        (kind, reason, where, subject, note, self.samples, self.count, ns, a, b, c, self.least, self.most, first, last,
         early, late) = tally
        self.kind, self.reason = KINDS[kind], REASONS[reason]
        self.place, self.subject = place(where), place(subject)
        self.note = _core.event_note(note) if note else None
        self.ms, self.sums = ns / 1e6, [a, b, c]
        self.first, self.last = first / 1e6, last / 1e6
        self.early_us, self.late_us = early / 1e3, late / 1e3

    def add(self, other):
        self.samples += other.samples
        self.count += other.count
        self.ms += other.ms
        self.sums = [x + y for x, y in zip(self.sums, other.sums)]
        self.least, self.most = min(self.least, other.least), max(self.most, other.most)
        if other.last > self.last:
            self.last, self.note = other.last, other.note or self.note
        self.first = min(self.first, other.first)

    @property
    def mean(self):
        """Of the first value, per event."""
        return self.sums[0] / max(1, self.count)


def _line(place):
    return place and (place.file, place.line)


def _function(place):
    return place and (place.file, place.function)


class Observed:
    """The sums of a run that took `wall_ms` milliseconds."""

    def __init__(self, wall_ms):
        self.wall_ms = wall_ms
        known = {}

        def place(number):
            if number not in known:
                found = _core.event_place(number) if number else None
                known[number] = Place(*found) if found else None
            return known[number]

        self._tallies = _core.event_tallies()
        self.place = place
        self.kept = [(place(where), weight, held) for where, weight, held in _core.event_kept()]
        self.kept = [k for k in self.kept if k[0]]

    def rows(self, kind, *reasons, by=("place", "subject")):
        """Rows of a kind (and of these reasons, if any are given) at known places, added up by line (`place`), by the
        function they are about (`subject`), or by the function that holds the line (`function`). A row's place is the
        line with most of it."""
        made = {}
        for t in self._tallies:
            if KINDS[t[0]] != kind or (reasons and REASONS[t[1]] not in reasons):
                continue
            row = Row(t, self.place)
            if row.place is None:
                continue
            key = tuple({"place": _line(row.place), "subject": _line(row.subject), "function": _function(row.place),
                         "reason": row.reason}[b] for b in by)
            made.setdefault(key, []).append(row)
        found = []
        for rows in made.values():
            rows.sort(key=lambda r: -r.count)
            first = rows[0]
            for other in rows[1:]:
                first.add(other)
            found.append(first)
        return sorted(found, key=lambda r: (-r.ms, -r.count))

    def total(self, kind):
        """How many events of a kind there were, at any place."""
        return sum(t[6] for t in self._tallies if KINDS[t[0]] == kind)


class Watch:
    """Begins to count now; `observed()` is what was counted since."""

    PERIOD = 64  # under the doctor one call in this many is sampled

    def __init__(self):
        self._before = _core.event_period(self.PERIOD)
        _core.event_reset()
        self._began = time.perf_counter()

    def observed(self):
        return Observed(1e3 * (time.perf_counter() - self._began))

    def end(self):
        _core.event_period(self._before)
