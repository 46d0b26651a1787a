"""Tests of caching_allocator.py: each rule in numbers that follow from it by hand."""

import unittest

import caching_allocator as caching
from caching_allocator import MIB, CachingAllocator


class Rules(unittest.TestCase):
    def test_requests_are_rounded(self):
        self.assertEqual([caching.rounded(n) for n in (1, 512, 513, MIB)], [512, 512, 1024, MIB])

    def test_segments(self):
        self.assertEqual([caching.segment_size(n) // MIB for n in (512, MIB, MIB + 512, 10 * MIB - 512, 10 * MIB, 10 * MIB + 512)], [2, 2, 20, 20, 10, 12])

    def test_nothing_takes_nothing(self):
        a = CachingAllocator()
        a.free(a.allocate(0))
        self.assertEqual((a.reserved, a.allocated, a.segments), (0, 0, 0))

    def test_small_and_large_do_not_mix(self):
        a = CachingAllocator()
        a.free(a.allocate(10 * MIB))
        a.allocate(512)
        self.assertEqual(a.reserved, 12 * MIB)

    def test_a_small_rest_of_a_large_block_is_not_split_off(self):
        a = CachingAllocator()
        a.free(a.allocate(12 * MIB))
        self.assertEqual(a.allocate(11 * MIB).size, 12 * MIB)
        b = CachingAllocator()
        b.free(b.allocate(14 * MIB))
        self.assertEqual((b.allocate(11 * MIB).size, b.allocate(3 * MIB).size, b.reserved), (11 * MIB, 3 * MIB, 14 * MIB))

    def test_the_smallest_block_that_suffices(self):
        a = CachingAllocator()
        blocks = [a.allocate(n * MIB) for n in (40, 12, 20)]
        for block in blocks:
            a.free(block)
        self.assertIs(a.allocate(11 * MIB), blocks[1])
        self.assertIs(a.allocate(19 * MIB), blocks[2])

    def test_neighbours_are_merged(self):
        a = CachingAllocator()
        blocks = [a.allocate(5 * MIB) for _ in range(4)]
        self.assertEqual((a.reserved, a.segments), (20 * MIB, 1))
        for k in (0, 2, 1):
            a.free(blocks[k])
        self.assertEqual(sorted(b.size // MIB for b in a.free_blocks), [15])
        a.free(blocks[3])
        self.assertEqual((a.allocate(20 * MIB).size, a.segments, a.most_allocated), (20 * MIB, 1, 20 * MIB))

    def test_fragments_do_not_serve(self):
        a = CachingAllocator()
        blocks = [a.allocate(5 * MIB) for _ in range(4)]
        a.free(blocks[0])
        a.free(blocks[2])
        a.allocate(6 * MIB)
        self.assertEqual((a.segments, a.reserved), (2, 40 * MIB))

    def test_a_trace(self):
        trace = {"weights": [512], "inputs": [1024], "events": [[0, 2048], [1, 4096], [0], [2, 2048], [1], [2]]}
        self.assertEqual(caching.live_peak(trace), (1024 + 6144, 1024 + 8192))
        a = caching.replay(trace)
        self.assertEqual((a.most_allocated, a.allocated, a.reserved), (512 + 1024 + 6144, 1536, 2 * MIB))


if __name__ == "__main__":
    unittest.main()
