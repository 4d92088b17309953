"""A tiny meter: times every call, samples resident memory, prints one JSON line.

    m = Meter("name")
    m.run(call, 2000)              # call(i) is timed 2000 times
    m.note(traces=3, ratio=4.2)    # case-specific numbers
    m.bar(ratio=1.5)               # the most a case-specific number may be
    m.done()                       # prints the JSON line

Noise rules
  * the first calls are reported separately (first_ms, second_ms) and enter
    no median;
  * early = calls 10%..20%, late = the last 10%; both are medians of at least
    20 samples (the windows widen when there are few calls);
  * `drift` compares the medians, `floor_drift` compares the 20th percentiles
    of the same windows. A slowdown that the engine causes moves both; a busy
    machine moves mostly the median;
  * a yardstick (a fixed piece of plain Python) is timed all along, and its
    own drift is `machine_drift`. The bar is judged on the smaller of median
    and floor drift, divided by the machine's own slowdown if it had one;
    this is `drift_judged`;
  * `cost` is the typical call in yardsticks: a price that can be compared
    between two runs on machines of different speed;
  * processor time per call (all threads) in the same windows is reported as
    cpu_early_us and cpu_late_us: it tells waiting from working;
  * the call that a ratio compares with is timed during the whole run too, once
    at each sampling point (see per_call_us);
  * the meter allocates its memory before the first call, and none after it;
  * memory growth is the Theil-Sen slope (median of pairwise slopes) of the
    resident set sampled after the first 30% of the calls (at least 100 calls,
    or 60% when there are few). It ignores single steps such as one arena
    growing once.
"""
import array
import gc
import json
import os
import sys
import time

_PAGE_KB = os.sysconf("SC_PAGE_SIZE") // 1024
MOST_CALLS = int(os.environ.get("ZOO_CALLS", 1 << 62))    # for a run that only asks: does it work?
_STATM = open("/proc/self/statm", "rb", buffering=0)


def rss_kb():
    _STATM.seek(0)
    return int(_STATM.read().split()[1]) * _PAGE_KB


def yardstick_ns():
    """The time of a fixed piece of plain Python: how quick is the machine now?"""
    t0 = time.perf_counter_ns()
    s = 0
    for k in range(400):
        s += k & 7
    return time.perf_counter_ns() - t0


def median(v):
    s = sorted(v)
    n = len(s)
    if not n:
        return float("nan")
    return s[n // 2] if n % 2 else 0.5 * (s[n // 2 - 1] + s[n // 2])


def pct(v, p):
    s = sorted(v)
    return s[min(len(s) - 1, int(len(s) * p))]


def theil_sen(points):
    """Median of the slopes between all pairs of points."""
    n = len(points)
    if n < 6:
        return 0.0
    slopes = []
    for i in range(n):
        for j in range(i + 1, n):
            dx = points[j][0] - points[i][0]
            if dx > 0:
                slopes.append((points[j][1] - points[i][1]) / dx)
    return median(slopes)


class Base:
    """A time that other times are compared with; it can be used as a number."""

    SHARE_NS = 3_000_000_000    # the most a run may spend on one of these

    def __init__(self, call, first_ns):
        self.call = call
        self.first_ns = first_ns
        self.seen = array.array("q", [1]) * 400
        self.n = 0
        self.spent = 0

    def sample(self, i):
        if self.n < len(self.seen) and self.spent < self.SHARE_NS:
            if self.first_ns < 200_000:     # warm the caches for a short call
                self.call(i)
                self.call(i)
            t0 = time.perf_counter_ns()
            self.call(i)
            dt = time.perf_counter_ns() - t0
            self.seen[self.n] = dt
            self.n += 1
            self.spent += dt

    def us(self):
        if self.n < 8:
            return self.first_ns / 1e3
        return median(self.seen[self.n // 10:self.n]) / 1e3

    __float__ = us

    def __truediv__(self, o):
        return self.us() / float(o)

    def __rtruediv__(self, o):
        return float(o) / self.us()

    def __lt__(self, o):
        return self.us() < float(o)

    def __gt__(self, o):
        return self.us() > float(o)


class Meter:
    def __init__(self, name, budget_s=20.0):
        self.name = name
        self.budget = budget_s
        self.times = ()
        self.rss = []
        self.extra = {}
        self.bars = {}
        self.bases = []

    def run(self, call, calls, min_calls=60):
        """Times call(i) for i in range(calls), or until the budget is spent.

        The meter allocates and writes all its memory before the first call,
        so that it adds nothing to the memory it measures.
        """
        calls = min(calls, MOST_CALLS)
        clock, cpu = time.perf_counter_ns, time.process_time_ns
        every = max(1, calls // 300)
        room = calls // every + 3
        times = array.array("q", [1]) * calls
        at, kb, used, yard = (array.array("q", [1]) * room for _ in range(4))
        gc.collect()
        t_end = time.monotonic() + self.budget
        n = k = 0
        for i in range(calls):
            t0 = clock()
            call(i)
            times[i] = clock() - t0
            n = i + 1
            if i % every == 0 or n == calls:
                at[k], kb[k], used[k], yard[k] = i, rss_kb(), cpu(), yardstick_ns()
                k += 1
                for b in self.bases:
                    b.sample(i)
                if i >= min_calls and time.monotonic() > t_end:
                    break
        self.times = list(times[:n])
        self.rss = list(zip(at[:k], kb[:k], used[:k], yard[:k]))
        return self

    def cpu_us(self, lo, hi):
        """Processor time per call, all threads, between calls lo and hi."""
        pts = [p for p in self.rss if lo <= p[0] <= hi]
        if len(pts) < 2 or pts[-1][0] == pts[0][0]:
            return float("nan")
        return (pts[-1][2] - pts[0][2]) / (pts[-1][0] - pts[0][0]) / 1e3

    def per_call_us(self, call, calls, warm=3, budget_s=4.0):
        """The time of call(i) in microseconds: the denominator of a ratio.

        If this is called before run(), the run also makes the call at each
        of its sampling points, outside its own times, so that a busy machine
        slows both sides of the ratio; the value is then computed on reading.
        """
        calls = min(calls, MOST_CALLS)
        clock = time.perf_counter_ns
        for i in range(warm):
            call(i)
        out = []
        t_end = time.monotonic() + budget_s
        for i in range(calls):
            t0 = clock()
            call(i)
            out.append(clock() - t0)
            if i >= 10 and time.monotonic() > t_end:
                break
        base = Base(call, median(out))
        if self.times:
            return base.us()
        self.bases.append(base)
        return base

    def note(self, **kv):
        for k, v in kv.items():
            v = v.us() if isinstance(v, Base) else v
            self.extra[k] = round(v, 3) if isinstance(v, float) else v

    def bar(self, **kv):
        """Declares the largest value a noted number may have."""
        self.bars.update(kv)

    def typical_us(self):
        """The median of the calls after the first 10%, in microseconds.

        It is for ratios; calls that become slower are found by the drift.
        """
        return median(self.times[len(self.times) // 10:]) / 1e3

    def result(self):
        t = self.times
        n = len(t)
        w = max(20, n // 10)
        lo = max(2, min(n // 10, n - w))
        early = t[lo:lo + w]
        late = t[-w:]
        e, l = median(early), median(late)
        fe, fl = pct(early, 0.2), pct(late, 0.2)
        warm = max(0.3 * n, min(100, 0.6 * n))
        pts = [p for p in self.rss if p[0] >= warm]
        pts = pts[::max(1, len(pts) // 50)]
        ye = median([p[3] for p in self.rss if lo <= p[0] <= lo + w] or [1])
        yl = median([p[3] for p in self.rss if n - w <= p[0]] or [1])
        machine = yl / ye
        typical = median(t[n // 10:])
        yard = median([p[3] for p in self.rss])
        ce, cl = self.cpu_us(lo, lo + w), self.cpu_us(n - w, n)
        out = {
            "name": self.name,
            "calls": n,
            "first_ms": round(t[0] / 1e6, 3),
            "second_ms": round(t[1] / 1e6, 3),
            "median_early_us": round(e / 1e3, 2),
            "median_late_us": round(l / 1e3, 2),
            "drift": round(l / e, 3),
            "floor_drift": round(fl / fe, 3),
            "machine_drift": round(machine, 3),
            "typical_us": round(typical / 1e3, 2),
            "cost": round(typical / yard, 4),
            "drift_judged": round(min(l / e, fl / fe) / max(1.0, machine), 3),
            "rss_growth_kb_per_1000_calls": round(theil_sen(pts) * 1000, 1),
            "cpu_early_us": round(ce, 1) if ce == ce else None,
            "cpu_late_us": round(cl, 1) if cl == cl else None,
            "load": round(os.getloadavg()[0], 1),
            "rss_window_kb": pts[-1][1] - pts[0][1] if pts else 0,
            "rss_total_kb": self.rss[-1][1] - self.rss[0][1],
        }
        out.update(self.extra)
        out["bars"] = self.bars
        return out

    def done(self):
        sys.stdout.flush()
        print(json.dumps(self.result()), flush=True)


def skip(name, why):
    """Says that the module under test lacks what this program needs."""
    print(json.dumps({"name": name, "skipped": str(why)}), flush=True)
    sys.exit(0)
