"""What the engine has counted, by line of the user's program."""
import collections
import json
import time

from evenflow import _core

Place = collections.namedtuple("Place", "file line function")
KINDS, REASONS = _core.event_kinds()


class Row:
    """Events of one kind and reason at one place about one function, added up."""

    __slots__ = ("kind", "reason", "place", "subject", "note", "samples", "count", "ms", "sums", "least", "most",
                 "first", "last", "early_us", "late_us", "opening_us", "number", "source")

    def __init__(self, tally, place, note):
        (kind, reason, where, subject, told, self.samples, self.count, ns, a, b, c, self.least, self.most, first, last,
         early, late, opening) = tally
        self.kind, self.reason = KINDS[kind], REASONS[reason]
        self.place, self.subject = place(where), place(subject)
        self.number, self.source = where, subject
        self.note = note(told) if told else None
        self.ms, self.sums = ns / 1e6, [a, b, c]
        self.first, self.last = first / 1e6, last / 1e6
        self.early_us, self.late_us, self.opening_us = early / 1e3, late / 1e3, opening / 1e3

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


class Own:
    """The sums of this process, and `peak`, the most bytes that its tensors took (None of another process, where it is unknown).
    before: sums that do not count, because they were made earlier."""

    def __init__(self, before=None):
        self.tallies, self.note = _core.event_tallies(), _core.event_note
        self.kept = _core.event_kept()
        self.peak = _core.memory("CPU:0")["peak"]
        if before is not None:
            earlier = {t[:4]: t for t in before}
            self.tallies = [made for made in (_since(t, earlier.get(t[:4])) for t in self.tallies) if made]
            self.kept = []  # it does not tell when they were made

    def place(self, number):
        return _core.event_place(number)


def _since(tally, before):
    """What a sum has grown by: samples, count, time and values. None: it has not."""
    if before is None:
        return tally
    grown = tuple(now - then for now, then in zip(tally[5:11], before[5:11]))
    return tally[:5] + grown + tally[11:] if grown[1] > 0 else None


class Other:
    """The sums of another process, at this moment. It does nothing for it."""

    def __init__(self, pid):
        self.seconds, self.tallies, self._places, self._notes = _core.doctor_open(pid)
        self.kept, self.peak = [], None
        self.place, self.note = self._places.get, self._notes.get


class Saved:
    """The sums in a file that ef_doctor_save wrote. Places and notes are numbered here."""

    def __init__(self, path):
        with open(path, encoding="utf-8", errors="replace") as file:
            read = json.load(file)
        if not isinstance(read, dict) or read.get("evenflow_doctor") != 1:
            raise ValueError("it was not written by ef_doctor_save")
        self.seconds, self.kept, self.peak, numbers = read["seconds"], [], None, {None: 0}

        def number(value):
            key = tuple(value) if isinstance(value, list) else value or None
            return numbers.setdefault(key, len(numbers))

        self.tallies = [(KINDS.index(t["kind"]), REASONS.index(t["reason"]), number(t["place"]), number(t["subject"]),
                         number(t["note"]), t["samples"], t["count"], t["ns"], *t["sum"], t["least"], t["most"], t["first"],
                         t["last"], t["early"], t["late"], t.get("opening", 0)) for t in read["tallies"]]
        values = {n: key for key, n in numbers.items()}
        self.place = self.note = values.get


class Observed:
    """The sums of a run that took `wall_ms` milliseconds."""

    def __init__(self, wall_ms, sums=None):
        self.wall_ms = wall_ms
        sums = sums or Own()
        known = {}

        def place(number):
            if number not in known:
                found = sums.place(number) if number else None
                known[number] = Place(*found) if found else None
            return known[number]

        self._tallies, self._note, self.peak = sums.tallies, sums.note, sums.peak
        self.place = place
        self.kept = [(place(where), weight, held, where) for where, weight, held in sums.kept]
        self.kept = [k for k in self.kept if k[0]]

    def rows(self, kind, *reasons, by=("place", "subject")):
        """Rows of a kind (and of these reasons, if any are given) at known places, added up by line (`place`), by the
        function they are about (`subject`), by the function that holds the line (`function`), or by the instruction (`number`) and that of its source
        (`source`). A row's place is the
        line with most of it."""
        made = {}
        for t in self._tallies:
            if KINDS[t[0]] != kind or (reasons and REASONS[t[1]] not in reasons):
                continue
            row = Row(t, self.place, self._note)
            if row.place is None:
                continue
            key = tuple({"place": _line(row.place), "subject": _line(row.subject), "function": _function(row.place),
                         "reason": row.reason, "number": row.number, "source": row.source}[b] for b in by)
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

    def total_of_all(self):
        """How many events of any kind there were, except those of the engine's own threads."""
        return sum(t[6] for t in self._tallies if KINDS[t[0]] != "thread state")


class Watch:
    """Begins to count now; `observed()` is what was counted since."""

    PERIOD = 64  # under the doctor one call in this many is sampled
    BURST = 1000  # but all of the first ones, so that a short run has figures and a picture of them

    open = []  # the watches that have not ended: one in another must leave the sums of the outer one alone

    def __init__(self):
        self._before = _core.event_period(self.PERIOD)
        _core.event_burst(self.BURST)
        self._earlier = _core.event_tallies() if Watch.open else None
        if not Watch.open:
            _core.event_reset()
        Watch.open.append(self)
        self._began = time.perf_counter()

    def observed(self):
        return Observed(1e3 * (time.perf_counter() - self._began), Own(self._earlier))

    def end(self):
        """Ends it; returns whether no other goes on."""
        Watch.open.remove(self)
        if not Watch.open:
            _core.event_burst(0)
            _core.event_period(self._before)
        return not Watch.open
