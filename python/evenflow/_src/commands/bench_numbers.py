"""Statistics of measured times: the median with its confidence interval, the drift, and plots made of characters."""
import math
import random

BARS = " ▁▂▃▄▅▆▇█"


def median(values):
    ordered = sorted(values)
    n = len(ordered)
    return ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2


def interval(values):
    """A 95 % confidence interval of the median, from the order statistics that the binomial distribution gives."""
    ordered, n = sorted(values), len(values)
    if n < 6:
        return ordered[0], ordered[-1]
    spread = 1.96 * math.sqrt(n) / 2
    return ordered[max(0, math.floor(n / 2 - spread))], ordered[min(n - 1, math.ceil(n / 2 + spread))]


def drift(values):
    """By how much the last third is slower than the first third: the ratio of their medians, minus 1."""
    third = len(values) // 3
    if third < 3:
        return 0.0
    return median(values[-third:]) / median(values[:third]) - 1


def ratio_interval(ours, theirs, rounds=400):
    """The ratio of two medians with a 95 % confidence interval, by bootstrapping with a fixed seed."""
    pick = random.Random(1).choices
    found = sorted(median(pick(ours, k=len(ours))) / median(pick(theirs, k=len(theirs))) for _ in range(rounds))
    return median(ours) / median(theirs), found[int(0.025 * rounds)], found[int(0.975 * rounds) - 1]


def over_time(values, wide):
    """A line of bars: the median of each part of the run, scaled to the highest, which shows drift."""
    wide = min(wide, len(values))
    parts = [median(values[k * len(values) // wide:(k + 1) * len(values) // wide]) for k in range(wide)]
    top = max(parts) or 1
    return "".join(BARS[max(1, round(8 * p / top))] for p in parts)


def distribution(values, wide):
    """(bars, least, highest): a histogram of the times from the least to the 95th percentile."""
    ordered = sorted(values)
    low, high = ordered[0], ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    if high <= low:
        return BARS[8], low, high
    counts = [0] * wide
    for v in values:
        if v <= high:
            counts[min(wide - 1, int((v - low) / (high - low) * wide))] += 1
    top = max(counts)
    return "".join(BARS[math.ceil(8 * c / top)] for c in counts), low, high


def summary(values):
    low, high = interval(values)
    return {"calls": len(values), "median_ns": median(values), "low_ns": low, "high_ns": high, "least_ns": min(values),
            "drift": drift(values)}
