"""PyTorch's caching allocator for CUDA, by its published rules (c10/cuda/CUDACachingAllocator.cpp, default settings), without a device.

A request is rounded to 512 bytes. Requests up to 1 MiB and larger ones have pools of their own. A free block of the pool is taken, the
smallest that suffices; its rest is split off where it is at least 512 bytes (small pool) or more than 1 MiB (large pool). Where none
suffices, a segment is taken from the device: 2 MiB for the small pool, 20 MiB for requests below 10 MiB, else the request rounded to
2 MiB. A freed block is merged with free neighbours in its segment. Segments are kept.
"""

from dataclasses import dataclass, field

MIB = 1 << 20
ROUND, SMALL, SMALL_SEGMENT, LARGE_SEGMENT, LARGE_LEAST, LARGE_ROUND = 512, MIB, 2 * MIB, 20 * MIB, 10 * MIB, 2 * MIB


def rounded(size):
    return max(ROUND, -(-size // ROUND) * ROUND)


def segment_size(size):
    if size <= SMALL:
        return SMALL_SEGMENT
    return LARGE_SEGMENT if size < LARGE_LEAST else -(-size // LARGE_ROUND) * LARGE_ROUND


@dataclass(eq=False)
class Block:
    segment: int
    at: int
    size: int
    small: bool
    free: bool = True
    before: "Block" = None
    behind: "Block" = None


@dataclass
class CachingAllocator:
    """reserved: bytes of all segments; allocated: of blocks in use, now and at most."""

    reserved: int = 0
    allocated: int = 0
    most_allocated: int = 0
    segments: int = 0
    free_blocks: list = field(default_factory=list)

    def allocate(self, bytes_wanted):
        """The block of a request; None for one of no bytes."""
        if not bytes_wanted:
            return None
        size = rounded(bytes_wanted)
        block = self.best_fit(size) or self.take_segment(size)
        self.split(block, size)
        block.free = False
        self.allocated += block.size
        self.most_allocated = max(self.most_allocated, self.allocated)
        return block

    def best_fit(self, size):
        fitting = [b for b in self.free_blocks if b.small == (size <= SMALL) and b.size >= size]
        if not fitting:
            return None
        block = min(fitting, key=lambda b: (b.size, b.segment, b.at))
        self.free_blocks.remove(block)
        return block

    def take_segment(self, size):
        block = Block(self.segments, 0, segment_size(size), size <= SMALL)
        self.segments += 1
        self.reserved += block.size
        return block

    def split(self, block, size):
        rest = block.size - size
        if rest < ROUND if block.small else rest <= SMALL:
            return
        behind = Block(block.segment, block.at + size, rest, block.small, before=block, behind=block.behind)
        if block.behind:
            block.behind.before = behind
        block.behind, block.size = behind, size
        self.free_blocks.append(behind)

    def free(self, block):
        if block is None:
            return
        self.allocated -= block.size
        block.free = True
        for other in (block.before, block.behind):
            if other and other.free:
                self.free_blocks.remove(other)
                block.at, block.size = min(block.at, other.at), block.size + other.size
                if other is block.before:
                    block.before = other.before
                else:
                    block.behind = other.behind
        if block.before:
            block.before.behind = block
        if block.behind:
            block.behind.before = block
        self.free_blocks.append(block)


def replay(trace):
    """The allocator after a trace: weights and inputs are there before and stay, events are [number, bytes] or [number]: freed."""
    allocator, held = CachingAllocator(), {}
    for size in trace["weights"] + trace["inputs"]:
        allocator.allocate(size)
    for event in trace["events"]:
        if len(event) == 2:
            held[event[0]] = allocator.allocate(event[1])
        else:
            allocator.free(held.pop(event[0]))
    return allocator


def live_peak(trace):
    """Bytes of tensors that exist at a time, at most, and of all of them; without weights, with inputs."""
    live = most = sum(trace["inputs"])
    size, total = {}, live
    for event in trace["events"]:
        if len(event) == 2:
            size[event[0]] = event[1]
            live, total = live + event[1], total + event[1]
            most = max(most, live)
        else:
            live -= size.pop(event[0])
    return most, total
