/* checksum.c - the checksum of weights that generated code computes (occ_sum.h), here of bytes in pieces. */
#include "emit/emit.h"

#include "codegen_templates/c/base/occ_sum.h"

/* The number of bytes so far, and the bytes after the last whole block of 32. */
typedef struct Checksum {
    uint64_t      lane[4], bytes;
    unsigned char rest[32];
} Checksum;

static void take(Checksum *sum, const unsigned char *data, size_t bytes)
{
    size_t have = sum->bytes % sizeof sum->rest;

    sum->bytes += bytes;
    if (have) {
        size_t more = sizeof sum->rest - have < bytes ? sizeof sum->rest - have : bytes;

        memcpy(sum->rest + have, data, more);
        if (have + more < sizeof sum->rest)
            return;
        occ_sum_blocks(sum->lane, sum->rest, 1);
        data += more;
        bytes -= more;
    }
    occ_sum_blocks(sum->lane, data, bytes / sizeof sum->rest);
    memcpy(sum->rest, data + bytes / sizeof sum->rest * sizeof sum->rest, bytes % sizeof sum->rest);
}

uint64_t emit_checksum(Arena *arena, uint64_t before, const FilePiece *piece, int count)
{
    ArenaMark mark = arena_mark(arena);
    void     *room = arena_alloc(arena, FILE_BLOCK);
    Checksum  sum = {.bytes = 0};

    occ_sum_begin(sum.lane, before);
    for (int i = 0; i < count; i++)
        for (size_t at = 0, bytes; at < piece[i].bytes; at += bytes) {
            const void *block = file_piece_block(&piece[i], at, room, &bytes);

            take(&sum, block, bytes);
        }
    arena_release(arena, mark);
    return occ_sum_end(sum.lane, sum.rest, sum.bytes);
}
