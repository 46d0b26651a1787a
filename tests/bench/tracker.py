"""The traces and the replay of docs/occamy.md, held against the memory tracker that PyTorch brings along: writes a section of that page.

The tracker runs under a newer PyTorch than the traces; both run the same networks on tensors without data. What is absent is skipped, loudly."""

import argparse

import caching_allocator
import memory
import occamy
from occamy import pages

TEXT = """Written by `make bench-tracker`. *tracker*: the peak that `MemTracker` of PyTorch {tracker} counts for an eager run on fake tensors of a CUDA
device: weights, inputs and storages in use, each rounded to 512 bytes. *live*: the same of the trace that the replay reads (PyTorch {trace}).
*allocated*: what the replay has in use; more than *live* where it takes a free block whole, whose rest is 1 MiB at most. Bytes.

"""


def rounded_peak(trace):
    """Weights, and inputs and storages at their most, each rounded to 512 bytes."""
    def rounded(sizes):
        return [caching_allocator.rounded(size) if size else 0 for size in sizes]

    events = [[number, *rounded(size)] for number, *size in trace["events"]]
    return sum(rounded(trace["weights"])) + caching_allocator.live_peak({"inputs": rounded(trace["inputs"]), "events": events})[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch", required=True, help="a Python with PyTorch 1.13 and torchvision")
    parser.add_argument("--tracker", required=True, help="a Python with PyTorch 2.5 or newer and torchvision")
    parser.add_argument("--write", required=True)
    args = parser.parse_args()
    versions = {"trace": occamy.torch_version(args.torch), "tracker": occamy.torch_version(args.tracker)}
    if not all(versions.values()):
        print(f"SKIPPED: {args.torch} or {args.tracker} has no torch and torchvision; {args.write} stays as it is")
        return
    rows, widest = [], 0.0
    for name in occamy.SIX:
        for batch in occamy.BATCHES:
            trace = occamy.run_script(args.torch, "eager_trace.py", name, batch)
            live = rounded_peak(trace)
            allocated = caching_allocator.replay(trace).most_allocated
            tracker = occamy.run_script(args.tracker, "mem_tracker.py", name, batch)["bytes"]
            widest = max(widest, abs(live / tracker - 1.0))
            rows.append([name, str(batch), *map(memory.number, (tracker, live, allocated)), f"{live / tracker:.4f}", f"{allocated / tracker:.4f}"])
            print(*rows[-1], flush=True)
    text = TEXT.format(**versions) + occamy.table(["network", "batch", "tracker", "live", "allocated", "live / tracker", "allocated / tracker"], rows)
    pages.write_section(args.write, occamy.TRACKER, text + f"\nLive bytes differ by {100 * widest:.2f} % at most.\n")


if __name__ == "__main__":
    main()
