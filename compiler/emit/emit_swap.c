/* emit_swap.c - weights that are loaded while the model runs: the lines that begin loads and wait for them, the file
 * that they come from, and what the header says of both. */
#include "codegen_templates/c/base/occ_sum.h"
#include "emit/emit.h"
#include "program/fetch.h"
#include "program/flow.h"
#include "program/loaded.h"
#include "program/weight.h"
#include "support/int.h"

#include <string.h>

/* The source of the bytes of a block or of a table. */
typedef struct BlockPiece {
    const Program *program;
    const Buffer  *block;
} BlockPiece;

/* ------------------------------------------------------------------------------------------------------------- sums */

static void make_block(const void *of, int64_t from, int64_t bytes, void *to)
{
    const BlockPiece *piece = of;

    loaded_bytes(piece->program, piece->block, from, bytes, to);
}

static FilePiece piece_of(Emit *emit, int id)
{
    BlockPiece *piece = arena_one(emit->arena, BlockPiece);

    *piece = (BlockPiece){emit->program, &emit->program->buffer[id]};
    return (FilePiece){.bytes = (size_t)piece->block->size, .make = make_block, .of = piece};
}

/* The sum of a block or table, which the fetch, the header and the file name: its bytes are made once. */
static uint64_t sum_of(Emit *emit, int buffer)
{
    int       id = emit->plan->same[buffer];
    FilePiece piece = piece_of(emit, id);

    if (!emit->sum) {
        emit->sum = arena_array(emit->arena, uint64_t, emit->program->nbuffer + 1);
        emit->summed = arena_array(emit->arena, bool, emit->program->nbuffer + 1);
    }
    if (!emit->summed[id])
        emit->sum[id] = emit_checksum(emit->arena, 0, &piece, 1);
    emit->summed[id] = true;
    return emit->sum[id];
}

/* ------------------------------------------------------------------------------------------------------------ lines */

/* The bits of the sizes in which a block stays at this place. */
static unsigned sizes_that_keep(Emit *emit, const Buffer *block)
{
    const Program *p = emit->program;
    Range         *row;
    unsigned       sizes = 0;
    int            count = flow_rows(emit->arena, p, &row);

    for (int i = 0; i < count; i++)
        for (int s = row[i].begin; s < row[i].end; s++) {
            const Buffer *b = p->step[s].kind == STEP_FETCH ? &p->buffer[p->step[s].operand[0].buffer] : NULL;

            if (b && b->kept == block->kept)
                sizes |= 1U << i;
        }
    return sizes;
}

void emit_fetch(Emit *emit, int index, const char *blanks)
{
    const Program *p = emit->program;
    const Operand *x = p->step[index].operand;
    const Buffer  *block = &p->buffer[x->buffer];

    text_printf(&emit->run, "%sOCC_TRY%s(%d, %s(loads, ", blanks, emit_in_regions(emit) ? "_IN_REGIONS" : "", index,
                block->kept < 0 ? "occ_fetch" : "occ_keep");
    if (block->kept >= 0)
        text_printf(&emit->run, "%u, ", sizes_that_keep(emit, block));
    text_printf(&emit->run, "%lld, %lld, ", (long long)emit->plan->stored[x->buffer], (long long)block->size);
    emit_operand(emit, &emit->run, x);
    text_printf(&emit->run, ", 0x%016llxULL)); /* %d load %d: %s */\n", (unsigned long long)sum_of(emit, x->buffer),
                index, fetch_number(p, index), text_comment(emit->arena, block->name));
}

void emit_await(Emit *emit, int index, const char *blanks)
{
    const Program *p = emit->program;
    const Step    *step = &p->step[index];
    int            last = 0;

    for (int s = 0; s < index; s++)
        for (int k = 0; k < step->noperand; k++)
            if (p->step[s].kind == STEP_FETCH && p->step[s].operand[0].buffer == step->operand[k].buffer)
                last = s;
    text_printf(&emit->run, "%sOCC_AWAIT(%d);\n", blanks, fetch_number(p, last));
}

/* The bit of the sizes that a run is given: that of its row of steps. */
static const char *bit_of_run(Emit *emit)
{
    Text   text = text_new(emit->arena);
    Range *row;
    int    count = flow_rows(emit->arena, emit->program, &row);

    for (int i = 0; i + 1 < count; i++)
        text_printf(&text, "(%s) ? %u : ", emit_condition(emit, &emit->program->step[row[i].begin - 1]), 1U << i);
    text_printf(&text, "%u", 1U << (count - 1));
    return text.data;
}

/* The public run function: whatever happens in the steps, no load is in flight when it returns. */
void emit_swap_run(Emit *emit, Text *text)
{
    const char *name = emit->name;

    text_printf(text,
                "OCC_CODE int %s_run(const %s_memory *memory, const %s_inputs *in, %s_outputs *out)\n{\n"
                "    occ_load  ring[%s_LOADS] = {{0}}; /* GCC -Os sees no load begin */\n    occ_loads loads = {0};\n"
                "    int       status = %s_check(memory, in, out);\n\n"
                "    if (status)\n        return status;\n"
                "    loads.load = memory->load;\n    loads.wait = memory->wait;\n"
                "    loads.context = memory->load_context;\n    loads.ring = ring;\n    loads.room = %s_LOADS;\n"
                "    loads.size = %s;\n    loads.held = memory->swap->held;\n"
                "    loads.check = memory->swap->verify > 0 || (memory->swap->verify == 0 && !(loads.held & "
                "loads.size));\n"
                "    status = %s_steps(memory, in, out, &loads);\n"
                "    occ_drain(&loads);\n    memory->swap->read = loads.read;\n"
                "    if (!status)\n        memory->swap->held |= loads.size;\n"
                "    return status;\n}\n",
                name, name, name, name, emit->upper, name, emit->upper, bit_of_run(emit), name);
}

/* ------------------------------------------------------------------------------------------------------------- file */

static void put_u64(unsigned char *to, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        to[i] = (unsigned char)(value >> (8 * i));
}

/* The identity of the weights file: the hash of its blocks, their places and bytes. */
static uint64_t file_id(Emit *emit)
{
    uint64_t   id = 0;
    int        count;
    const int *order = program_file_order(emit->program, &count);

    for (int i = 0; i < count; i++) {
        unsigned char row[24];

        if (emit->plan->same[order[i]] != order[i])
            continue;
        put_u64(row, (uint64_t)emit->plan->stored[order[i]]);
        put_u64(row + 8, (uint64_t)emit->program->buffer[order[i]].size);
        put_u64(row + 16, sum_of(emit, order[i]));
        id = occ_sum(id, row, sizeof row);
    }
    return id;
}

void emit_swap_file(Emit *emit, Emission *e)
{
    unsigned char *header = arena_alloc(emit->arena, WEIGHT_HEADER);
    FilePiece      head = {.data = header, .bytes = WEIGHT_HEADER};
    int64_t        at = WEIGHT_HEADER;
    int            capacity = 0, count;
    const int     *order = program_file_order(emit->program, &count);

    memcpy(header, "occswap1", 8);
    memcpy(header + 8, emit->model->sha256, 32);
    put_u64(header + 40, file_id(emit));
    put_u64(header + 48, (uint64_t)emit->plan->swap->file);
    put_u64(header + WEIGHT_HEADER - 8, occ_sum(0, header, WEIGHT_HEADER - 8));
    ARENA_PUSH(emit->arena, e->weights, e->nweights, capacity, head);
    for (int i = 0; i < count; i++) {
        FilePiece piece = piece_of(emit, order[i]), gap = {.bytes = (size_t)(emit->plan->stored[order[i]] - at)};

        if (emit->plan->same[order[i]] != order[i])
            continue;
        if (gap.bytes)
            ARENA_PUSH(emit->arena, e->weights, e->nweights, capacity, gap);
        ARENA_PUSH(emit->arena, e->weights, e->nweights, capacity, piece);
        at = emit->plan->stored[order[i]] + (int64_t)piece.bytes;
    }
}

/* ----------------------------------------------------------------------------------------------------------- header */

void emit_swap_sizes(Emit *emit, Text *text)
{
    const Swap *swap = emit->plan->swap;

    text_printf(text,
                "#define %s_KEPT_SIZE %lld /* bytes of weights that stay */\n"
                "#define %s_KEPT_ALIGN %lld /* bytes */\n"
                "#define %s_LOADS %d /* loads begun and not yet waited for, at most */\n"
                "#define %s_WEIGHTS_SIZE %lld /* bytes of the file beside the C file */\n"
                "#define %s_WEIGHTS_ID 0x%016llxULL /* bytes 40 to 47 of the file, little-endian */\n",
                emit->upper, (long long)swap->kept, emit->upper,
                (long long)int_max(swap->loader.align, emit->buffer_align), emit->upper, swap->ahead, emit->upper,
                (long long)swap->file, emit->upper, (unsigned long long)file_id(emit));
}

void emit_swap_type(Emit *emit, Text *text)
{
    text_printf(/* SWAP_STATE bytes */
                text,
                "/* What a memory knows from run to run. Set it to zero before the first run in that memory. */\n"
                "typedef struct {\n"
                "    int32_t held;   /* not 0: a run succeeded, the weights that stay are there%s */\n"
                "    int32_t verify; /* sums of what was loaded are compared; 0: in the first run%s, 1: always, -1: "
                "never */\n"
                "    int64_t read;   /* bytes that the last run loaded */\n"
                "} %s_swap;\n\n",
                emit->plan->swap->nsize ? "; a bit for each of the listed sizes" : "",
                emit->plan->swap->nsize ? " of each" : "", emit->name);
}

void emit_swap_members(Emit *emit, Text *text)
{
    if (emit->plan->swap->kept)
        text_printf(text, "    void *kept; /* %s_KEPT_SIZE bytes, left alone between runs */\n", emit->upper);
    text_printf(
        text,
        "    %s_swap *swap;\n"
        "    /* Begins to load bytes [from, from + bytes) of the weights file to `to`; may return before they are "
        "there. Returns a\n     * ticket, 0 or more, or a negative number, which ends the run with %s_ELOAD. "
        "*/\n"
        "    int64_t (*load)(void *load_context, int64_t from, int64_t bytes, void *to);\n"
        "    /* Returns when that load and all begun before it have ended: 0 if their bytes are there and visible "
        "to the\n     * processor, or a negative number, as above. */\n"
        "    int (*wait)(void *load_context, int64_t ticket);\n    void *load_context;\n",
        emit->name, emit->upper);
}
