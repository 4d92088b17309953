"""Measures one case in this process: the memory of the engine and of the process, and the time of late and early calls."""
import array
import ctypes
import gc
import os
import sys
import time
import warnings

import cases
import ways

BLOCKS = 12
PAGE = os.sysconf("SC_PAGE_SIZE")
GRAIN = 96 << 10         # growth in bytes that is within the precision of the measurement
PER_1000 = 64 << 10      # growth in bytes that is allowed per thousand calls


class MallInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


mallinfo = ctypes.CDLL(None).mallinfo2
mallinfo.restype = MallInfo


KINDS = ("in use", "heap", "blocks", "resident")


class Marks:
    """Samples of memory: bytes of tensors, bytes in use by malloc, Python's blocks, resident bytes. All samples are allocated
    in advance, so that sampling does not change the figures."""

    def __init__(self, tf):
        self.tf, self.n = tf, 0
        self.at = array.array("q", [0]) * (len(KINDS) * (BLOCKS + 1))

    def take(self):
        """Takes a sample after all work in flight has ended."""
        gc.collect()
        self.tf._core.wait()
        info, k = mallinfo(), len(KINDS) * self.n
        self.at[k] = self.tf._core.memory("CPU:0")["current"]
        self.at[k + 1] = info.uordblks + info.hblkhd
        self.at[k + 3] = resident()
        self.at[k + 2] = sys.getallocatedblocks()
        self.n += 1

    def of(self, kind):
        return list(self.at[KINDS.index(kind)::len(KINDS)])[:self.n]


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * PAGE


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


class Meter:
    def __init__(self, tf, case, seconds, block=None, least=3):
        """block: that many calls between two looks at the memory, rather than what `seconds` allow; `least`, at least so many."""
        op, dtype, self.n, way = case
        self.tf, self.seconds, self.block, self.least = tf, seconds, block, least
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.call = ways.WAYS[way].make(tf, cases.OPS[op][0], dtype, self.n)
        self.bytes = self.n * cases.BYTES.get(dtype, 4)
        self.calls = 0

    def make(self, n):
        """Makes n calls. Returns the processor time of one."""
        call, began = self.call, time.process_time()
        for _ in range(n):
            call()
        self.calls += n
        return (time.process_time() - began) / n

    def warm(self):
        """Calls until caches are full and blocks of calls take a measurable time; returns calls per block."""
        self.tf._core.event_burst(64)  # each thread gets its ring of events, 70 KB, with its first event: now, not by chance later
        began = time.perf_counter()
        if self.block:
            self.make(self.block)
            return self.block
        self.make(3)
        each = max(1e-7, (time.perf_counter() - began) / 3)
        block = int(max(self.least, min(250, self.seconds / BLOCKS / each)))
        self.make(2 * block)
        return block

    def measure(self):
        """A dictionary of what was found."""
        gc.collect()
        gc.freeze()  # existing objects need not be scanned at each collection
        block = self.warm()
        marks, times = Marks(self.tf), array.array("d")
        marks.take()
        for _ in range(BLOCKS):
            times.append(self.make(block))
            marks.take()
        gc.unfreeze()
        return {**gained(marks, BLOCKS * block), "bytes": self.bytes, "drift": min(times[-4:]) / max(1e-9, min(times[:4])),
                "each": median(times)}


def gained(marks, calls):
    """The growth of each kind of memory."""
    blocks = marks.of("blocks")
    steps = [b - a for a, b in zip(blocks, blocks[1:])]  # Python's free lists fill in bursts; a leak adds some each time
    return {"calls": calls, **{kind: growth(marks.of(kind)) for kind in KINDS}, "blocks": median(steps) * len(steps)}


def growth(values):
    """What was gained, if it was gained steadily: what is in use at the end of each third is more than at the end of the one
    before. An allocator's cache that fills and empties is not growth, nor is one that fills in the first calls: then the last
    third gains next to nothing beside the one before."""
    third = len(values) // 3
    marks = [min(values[k * third:(k + 1) * third]) for k in range(3)]
    if not marks[0] < marks[1] < marks[2] or 16 * (marks[2] - marks[1]) < marks[1] - marks[0]:
        return 0
    return marks[2] - marks[0]


def verdict(found):
    """What is uneven, or an empty list. RSS has the grain of the system's pages and of the allocator's regions."""
    limit, calls = GRAIN + PER_1000 * found["calls"] / 1000, found["calls"]
    limits = {"in use": limit, "heap": limit, "resident": limit + (1 << 20) + 4 * found["bytes"]}
    out = [f"{found[kind] >> 10} KB more {kind} after {calls} calls" for kind, most in limits.items() if found[kind] > most]
    if found["blocks"] > max(200, 0.8 * calls):
        out.append(f"{found['blocks']} more Python blocks after {calls} calls")
    return out
