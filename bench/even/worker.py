"""One worker process of the sweep: reads cases and writes its measurements, one line of JSON each.

    {"do": "measure", "case": [...], "seconds": s, "least": n}   memory and drift of one case, n calls per block or more
    {"do": "age", "case": [...], "seconds": s}       makes the case and calls it for so long; then
    {"do": "block", "calls": n}                      times n more calls of it
    {"do": "golden", "id": ..., "mode": ..., "warm": n}   n calls of a golden case, then 240 that count
"""
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def main():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import evenflow as tf
    import golden
    import meter
    aged = None
    print(json.dumps({"ok": True}), file=out, flush=True)
    for line in sys.stdin:
        ask = json.loads(line)
        try:
            if ask["do"] == "measure":
                answer = meter.Meter(tf, ask["case"], ask["seconds"], least=ask["least"]).measure()
            elif ask["do"] == "golden":
                answer = golden.measure(tf, ask["id"], ask["mode"], ask["warm"])
            elif ask["do"] == "age":
                aged = meter.Meter(tf, ask["case"], ask["seconds"])
                block, end = aged.warm(), time.perf_counter() + ask["seconds"]
                while time.perf_counter() < end:
                    aged.make(block)
                answer = {"block": block, "calls": aged.calls}
            else:
                answer = {"each": aged.make(ask["calls"])}
        except Exception as e:
            answer = {"error": f"{type(e).__name__}: {str(e)[:200]}"}
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
