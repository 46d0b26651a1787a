/* overlap.c - results that run after their input through the same memory: permits of kernels that work row by row, and
 * convolutions told to work in small blocks where that lets them.
 * requires: spans */
#include "program/lag.h"
#include "program/operand.h"
#include "program/plan.h"
#include "ops/winograd.h"
#include "support/int.h"

#include <string.h>

enum { BATCH, CHANNELS, DEPTH, HEIGHT, WIDTH, AXES }; /* of xdim, xstride, ydim, ystride */
enum { ROWS = 1 };                                    /* of tile: rows of a block */
enum { SCRATCH_BYTES = 6400, SCRATCH_PIXELS = 4 };    /* of the values of an expression, at most; pixels, at least */
enum { FEW_TILES = 6 };                               /* of Winograd's, together */
enum {
    NEAR_WEIGHTS = 2560 * 1024,
    FAR_BYTES = 32 << 20
};                                                 /* of weights read for so few tiles; read in all, of larger ones */
enum { FEW_QUERIES = 6 };                          /* of attention, together */
enum { MOST_COLUMNS = 8, MOST_LONG_COLUMNS = 24 }; /* of a kernel that works by tiles, or by long ones */
enum { MOST_WEIGHTS = 160 * 1024 };                /* floats that stay in the cache */

/* What a block of a convolution holds: bytes of results, at most, but so many pixels at least, which are a few tiles:
 * weights are read for each block. */
typedef struct BlockSize {
    int64_t bytes, pixels;
} BlockSize;

static const BlockSize coarse = {16384, 24}, fine = {4096, 16};

/* The constant integers of an argument; false where one is known only while running, or the kernel has no such
 * argument. */
static bool constants(const Step *step, const char *name, int count, int64_t *value)
{
    int           all;
    const Extent *list = step_extents_of(step, name, &all);

    if (!list || all != count)
        return false;
    for (int i = 0; i < count; i++) {
        if (!extent_is_const(list[i]))
            return false;
        value[i] = list[i].max;
    }
    return true;
}

/* The geometry of a step by rows. */
typedef struct Geometry {
    int64_t xdim[AXES], xstride[AXES], ydim[AXES], ystride[AXES];
    int64_t stride[3], pad[3], block, tile; /* rows made together; pixels of a row, 0: all */
} Geometry;

/* One image without depth or groups, of constant extents, all strides rising. */
static bool read_geometry(const Step *step, Geometry *g)
{
    int64_t groups, tile[3];

    if (!constants(step, "xdim", AXES, g->xdim) || !constants(step, "xstride", AXES, g->xstride) ||
        !constants(step, "ydim", AXES, g->ydim) || !constants(step, "ystride", AXES, g->ystride) ||
        !constants(step, "stride", 3, g->stride) || !constants(step, "pad", 3, g->pad))
        return false;
    if (g->ydim[BATCH] != 1 || g->ydim[DEPTH] != 1 || g->xdim[DEPTH] != 1 ||
        (constants(step, "groups", 1, &groups) && groups != 1))
        return false;
    for (int i = 0; i < AXES; i++)
        if (g->xstride[i] < 0 || g->ystride[i] < 0)
            return false;
    g->block = 1;
    g->tile = step->kernel->by_tiles ? MOST_COLUMNS : step->kernel->by_long_tiles ? MOST_LONG_COLUMNS : 1;
    if (step_argument(step, "tile")) {
        if (!constants(step, "tile", 3, tile))
            return false;
        g->block = tile[ROWS];
        g->tile = 0;
    }
    return true;
}

static RowWalk walk_of(const Geometry *g)
{
    RowWalk walk = {.rows = g->ydim[HEIGHT],
                    .block = g->block,
                    .stride = g->stride[1],
                    .pad = g->pad[1],
                    .input_rows = g->xdim[HEIGHT],
                    .xrow = g->xstride[HEIGHT],
                    .yrow = g->ystride[HEIGHT],
                    .tile = g->tile,
                    .columns = g->ydim[WIDTH],
                    .across = g->stride[2],
                    .left = g->pad[2],
                    .xcolumn = g->xstride[WIDTH],
                    .ycolumn = g->ystride[WIDTH]};

    walk.ytail = (g->ydim[CHANNELS] - 1) * g->ystride[CHANNELS] + 1;
    return walk;
}

/* Parts of a step do not follow each other. */
static bool works_by_rows(const Step *step)
{
    return step->kind == STEP_KERNEL &&
           (step->kernel->by_rows || step->kernel->by_tiles || step->kernel->by_long_tiles) && step->parts < 2;
}

static bool is_scratch(const Program *program, const Operand *x)
{
    return x->buffer >= 0 && program->buffer[x->buffer].kind == BUFFER_SCRATCH;
}

/* The step's input and only result, if nothing else of it lies in their buffers. */
static bool find_pair(const Program *program, const Step *step, const Operand **x, const Operand **y)
{
    *x = &step->operand[0];
    *y = NULL;
    for (int k = 0; k < step->noperand; k++) {
        if (step->operand[k].access & OPERAND_WRITES && step->operand[k].buffer >= 0 &&
            !is_scratch(program, &step->operand[k])) {
            if (*y || step->operand[k].access & OPERAND_READS)
                return false;
            *y = &step->operand[k];
        }
        if (k > 0 && step->operand[k].buffer == (*x)->buffer)
            return false;
    }
    return *y && (*x)->buffer >= 0 && (*x)->dtype == (*y)->dtype && operand_is_static(*x) && operand_is_static(*y);
}

/* In elements, for what find_pair found. */
static bool lag_by_rows(const Step *step, int64_t *lag)
{
    Geometry g;
    RowWalk  walk;

    if (!works_by_rows(step) || !read_geometry(step, &g) || g.block < 1)
        return false;
    walk = walk_of(&g);
    *lag = lag_of_rows(&walk);
    return true;
}

/* The same for groups of tiles. */
static bool lag_by_groups(const Step *step, int64_t *lag)
{
    int64_t   xdim[AXES], ydim[AXES], xstride[AXES], ystride[AXES], pad[3], side, group;
    GroupWalk walk;

    if (!step->kernel->by_groups || step->parts > 1 || !constants(step, "m", 1, &side) ||
        !constants(step, "group", 1, &group) || !constants(step, "xdim", AXES, xdim) ||
        !constants(step, "ydim", AXES, ydim) || !constants(step, "xstride", AXES, xstride) ||
        !constants(step, "ystride", AXES, ystride) || !constants(step, "pad", 3, pad) || xdim[BATCH] != 1)
        return false;
    for (int i = 0; i < AXES; i++)
        if (xstride[i] < 0 || ystride[i] < 0)
            return false;
    walk = (GroupWalk){.rows = ydim[HEIGHT],
                       .columns = ydim[WIDTH],
                       .side = side,
                       .group = group,
                       .top = pad[1],
                       .left = pad[2],
                       .xrow = xstride[HEIGHT],
                       .yrow = ystride[HEIGHT],
                       .xcolumn = xstride[WIDTH],
                       .ycolumn = ystride[WIDTH],
                       .ytail = (ydim[CHANNELS] - 1) * ystride[CHANNELS] + 1};
    *lag = lag_of_groups(&walk);
    return *lag < INT64_MAX;
}

/* The same for a copy from one place into another. */
static bool lag_by_copy(const Step *step, const Operand **from, const Operand **to, int64_t *lag)
{
    const Arg *dim;
    int64_t    extent[LAG_AXES], ystride[LAG_AXES], xstride[LAG_AXES];

    if (step->kind != STEP_KERNEL || !step->kernel->copies || step->parts > 1)
        return false;
    dim = step_argument(step, "dim");
    if (dim->count > LAG_AXES)
        return false;
    *to = &step->operand[0];
    *from = &step->operand[1];
    if ((*from)->dtype != (*to)->dtype || (*from)->buffer < 0 || !operand_is_static(*from) || !operand_is_static(*to) ||
        !constants(step, "dim", dim->count, extent) || !constants(step, "ystride", dim->count, ystride) ||
        !constants(step, "xstride", dim->count, xstride))
        return false;
    *lag = lag_of_copy(dim->count, extent, ystride, xstride);
    return *lag < INT64_MAX / 16;
}

/* The rows that the table names, in TableWalk's form; false where some are not known, or of the other end of the
 * axis. */
static bool read_table(const Program *program, const Operand *table, TableWalk *walk)
{
    bool           computed;
    const int64_t *named = program_table(program, table, &computed);
    int64_t       *row = arena_array(program->arena, int64_t, walk->out * walk->taps + 1);

    for (int64_t i = 0; named && i < walk->out * walk->taps; i++) {
        if (named[i] < 0 || named[i] >= walk->in)
            return false;
        row[i] = named[i] - (computed && named[i] > 0); /* the target's rounding may find the row below */
    }
    walk->row = row;
    return named != NULL;
}

/* The same for rows of the input that a table names. */
static bool lag_by_table(const Program *program, const Step *step, const Operand **from, const Operand **to,
                         int64_t *lag)
{
    TableWalk walk = {.taps = 1};
    ArenaMark mark;
    bool      known;

    if (step->kind != STEP_KERNEL || !step->kernel->by_table || step->parts > 1 ||
        !constants(step, "outer", 1, &walk.outer) || !constants(step, "inner", 1, &walk.inner) ||
        (!constants(step, "in", 1, &walk.in) && !constants(step, "axis", 1, &walk.in)) ||
        (!constants(step, "out", 1, &walk.out) && !constants(step, "count", 1, &walk.out)) ||
        (step_argument(step, "taps") && !constants(step, "taps", 1, &walk.taps)))
        return false;
    *to = &step->operand[0];
    *from = &step->operand[1];
    if ((*from)->dtype != (*to)->dtype || (*from)->buffer < 0 ||
        program->buffer[(*from)->buffer].kind == BUFFER_WEIGHT || !operand_is_static(*from) || !operand_is_static(*to))
        return false;
    mark = arena_mark(program->arena);
    known = read_table(program, &step->operand[2], &walk);
    if (known)
        *lag = lag_of_table(&walk);
    arena_release(program->arena, mark);
    return known;
}

bool step_overlaps(const Program *program, int index, int *x, int *y, int64_t *lag)
{
    const Step    *step = &program->step[index];
    const Operand *from, *to;

    if (program->no_overlap || step->kind != STEP_KERNEL || !step->noperand)
        return false;
    if (!(find_pair(program, step, &from, &to) && (lag_by_rows(step, lag) || lag_by_groups(step, lag))) &&
        !lag_by_copy(step, &from, &to, lag) && !lag_by_table(program, step, &from, &to, lag))
        return false;
    *x = from->buffer;
    *y = to->buffer;
    *lag = (*lag + to->offset.max - from->offset.max) * operand_bytes_per_element(to);
    *lag = int_round_up(int_max(*lag, 0),
                        int_min(program->buffer[*x].align, program->buffer[*y].align)); /* as offsets are */
    return *lag < program->buffer[*y].size;
}

/* ----------------------------------------------------------------------------------------------------------- blocks */

/* Pixels that follow each other in both operands, each a result of its own: rows may be cut anywhere. */
static bool is_flat(const Step *step, const Geometry *g)
{
    int64_t kernel[3];

    return constants(step, "kernel", 3, kernel) && kernel[0] * kernel[1] * kernel[2] == 1 && g->stride[1] == 1 &&
           g->stride[2] == 1 && g->pad[1] == 0 && g->pad[2] == 0 && g->xdim[HEIGHT] == g->ydim[HEIGHT] &&
           g->xdim[WIDTH] == g->ydim[WIDTH] && g->xstride[HEIGHT] == g->xdim[WIDTH] * g->xstride[WIDTH] &&
           g->ystride[HEIGHT] == g->ydim[WIDTH] * g->ystride[WIDTH];
}

static void set_argument(Program *program, const Step *step, const char *name, const int64_t *value, int count,
                         Blocks *blocks)
{
    Blocked before = {.buffer = -1};

    before.list = step_extents_of(step, name, &before.count);
    for (int i = 0; i < count; i++) {
        before.extent[i] = before.list[i];
        before.list[i] = extent_const(value[i]);
    }
    ARENA_PUSH(program->arena, blocks->blocked, blocks->count, blocks->capacity, before);
}

/* The image as rows of so many pixels. */
static void cut_rows(Program *program, Step *step, Geometry *g, int64_t width, Blocks *blocks)
{
    g->ydim[HEIGHT] = g->xdim[HEIGHT] = g->ydim[HEIGHT] * g->ydim[WIDTH] / width;
    g->ydim[WIDTH] = g->xdim[WIDTH] = width;
    g->xstride[HEIGHT] = width * g->xstride[WIDTH];
    g->ystride[HEIGHT] = width * g->ystride[WIDTH];
    set_argument(program, step, "xdim", g->xdim, AXES, blocks);
    set_argument(program, step, "ydim", g->ydim, AXES, blocks);
    set_argument(program, step, "xstride", g->xstride, AXES, blocks);
    set_argument(program, step, "ystride", g->ystride, AXES, blocks);
}

static void block_step(Program *program, Step *step, Geometry g, BlockSize size, Blocks *blocks)
{
    int64_t tile[3], pixels = g.ydim[HEIGHT] * g.ydim[WIDTH],
                     width = size.bytes / (g.ydim[CHANNELS] * (int64_t)sizeof(float));

    constants(step, "tile", 3, tile);
    width = int_min(int_max(width, size.pixels), pixels);
    if (is_flat(step, &g)) {
        while (pixels % width)
            width--;
        cut_rows(program, step, &g, width, blocks);
    }
    tile[ROWS] = int_ceil_div(size.pixels, g.ydim[WIDTH]);
    set_argument(program, step, "tile", tile, 3, blocks);
}

/* A convolution that makes whole rows or all of them together, with weights small enough to be read again for every
 * block. */
static bool can_block(const Program *program, int index, Geometry *g)
{
    const Step    *step = &program->step[index];
    const Operand *x, *y;
    int64_t        kernel[3];

    if (program->no_overlap || !works_by_rows(step) || !find_pair(program, step, &x, &y) || !read_geometry(step, g))
        return false;
    if (g->block || !constants(step, "kernel", 3, kernel))
        return false;
    return kernel[0] * kernel[1] * kernel[2] * g->xdim[CHANNELS] * g->ydim[CHANNELS] <= MOST_WEIGHTS &&
           g->ydim[HEIGHT] * g->ydim[WIDTH] >= 2 * coarse.pixels;
}

/* The step's result is born where its input dies. */
static bool wants_block(const Program *program, int index)
{
    const Operand *x, *y;

    return find_pair(program, &program->step[index], &x, &y) &&
           buffer_dies_beside(program, x->buffer, y->buffer, index);
}

/* Bytes that a step saves whose result follows its input. */
static int64_t joint_bytes(const Program *program, int index)
{
    int64_t lag;
    int     x, y;

    if (!step_overlaps(program, index, &x, &y, &lag))
        return 0;
    return int_min(program->buffer[x].size, program->buffer[y].size - lag);
}

/* Scratch lives whole, so its spans stay right. */
static void resize(Buffer *buffer, int64_t bytes)
{
    buffer->size = bytes;
    for (int i = 0; i < buffer->nspan; i++)
        buffer->span[i].hi = buffer->size;
}

/* Another size along an axis of a step's scratch, and in all, remembered with the one before. */
static void set_scratch(Program *program, Operand *scratch, int axis, int64_t extent, int64_t elements, Blocks *blocks)
{
    Buffer *buffer = &program->buffer[scratch->buffer];
    Blocked before = {&scratch->dim[axis], {scratch->dim[axis]}, 1, scratch->buffer, buffer->size};

    scratch->dim[axis] = extent_const(extent);
    resize(buffer, elements * operand_bytes_per_element(scratch));
    ARENA_PUSH(program->arena, blocks->blocked, blocks->count, blocks->capacity, before);
}

/* The block of a kernel that computes its input, cut down. */
static void shrink_scratch(Program *program, Step *step, Blocks *blocks)
{
    int64_t block[AXES], ydim[AXES], rows;

    if (!constants(step, "blockdim", AXES, block) || !constants(step, "ydim", AXES, ydim))
        return;
    rows = int_max(SCRATCH_BYTES / (block[CHANNELS] * (int64_t)sizeof(float)), SCRATCH_PIXELS);
    while (ydim[WIDTH] % rows)
        rows--;
    if (rows < block[WIDTH])
        set_scratch(program, &step->operand[step->nparam - 1], WIDTH, rows, rows * block[CHANNELS], blocks);
}

/* Tiles that are transformed together where memory is short: their weights, `bytes`, are read again for each lot. The
 * lots are even: the last one costs as much as the others. */
static int64_t few_tiles(int64_t tiles, int64_t bytes)
{
    int64_t most = bytes <= NEAR_WEIGHTS ? FEW_TILES : int_max(FEW_TILES, int_ceil_div(tiles * bytes, FAR_BYTES));

    return int_ceil_div(tiles, int_ceil_div(tiles, most));
}

/* Fewer of Winograd's tiles transformed together. */
static void shrink_tiles(Program *program, Step *step, Blocks *blocks)
{
    int64_t m, group, xdim[AXES], ydim[AXES], elements, few;

    if (!constants(step, "m", 1, &m) || !constants(step, "group", 1, &group) || !constants(step, "xdim", AXES, xdim) ||
        !constants(step, "ydim", AXES, ydim))
        return;
    few = few_tiles(int_ceil_div(ydim[HEIGHT], m) * int_ceil_div(ydim[WIDTH], m),
                    program->buffer[step->operand[1].buffer].size);
    if (group <= few)
        return;
    group = few;
    set_argument(program, step, "group", &group, 1, blocks);
    elements = !strcmp(step->kernel->name, "winograd_f32")
                   ? winograd_scratch((WinogradPlan){m, group}, xdim[CHANNELS], ydim[CHANNELS])
                   : winograd_q_scratch((WinogradPlan){m, group}, xdim[CHANNELS]);
    set_scratch(program, &step->operand[step->nparam - 1], 0, elements, elements, blocks);
}

/* Fewer queries of attention taken together: their keys and values are read more often. */
static void shrink_scores(Program *program, Step *step, Blocks *blocks)
{
    const Operand *k = &step->operand[3];
    const Extent  *all = &k->dim[k->rank - 1];
    int64_t        keys, block, elements, few = FEW_QUERIES; /* keys that are taken together: part, or all */
    Operand       *scores = &step->operand[1];

    if (!constants(step, "part", 1, &keys) || (!keys && !extent_is_const(*all)) ||
        !constants(step, "block", 1, &block) || block <= few)
        return;
    keys = keys ? keys : all->max;
    set_argument(program, step, "block", &few, 1, blocks);
    elements = scores->dim[0].max - (block - few) * int_round_up(keys, 16);
    set_scratch(program, scores, 0, elements, elements, blocks);
}

/* Less scratch for a step of one of these kernels. */
static void shrink(Program *program, Step *step, Blocks *blocks)
{
    if (!strcmp(step->kernel->name, "conv_after_f32"))
        shrink_scratch(program, step, blocks);
    else if (!strncmp(step->kernel->name, "winograd_", 9))
        shrink_tiles(program, step, blocks);
    else if (!strcmp(step->kernel->name, "attention_f32"))
        shrink_scores(program, step, blocks);
}

Blocks program_block(Program *program, int io_arena, int64_t above)
{
    Blocks   blocks = {.count = 0};
    int64_t *live = program_live_bytes(program, io_arena);

    for (int s = 0; s < program->nstep; s++) {
        Step    *step = &program->step[s];
        Geometry g;

        if (step->kind != STEP_KERNEL || live[s] <= above)
            continue;
        if (can_block(program, s, &g) && (above == EVERY_STEP || wants_block(program, s))) {
            block_step(program, step, g, coarse, &blocks);
            if (above == EVERY_STEP || live[s] - joint_bytes(program, s) > above)
                block_step(program, step, g, fine, &blocks);
        } else
            shrink(program, step, &blocks);
    }
    return blocks;
}

void program_unblock(Program *program, Blocks *blocks)
{
    while (blocks->count > 0) {
        const Blocked *before = &blocks->blocked[--blocks->count];

        for (int i = 0; i < before->count; i++)
            before->list[i] = before->extent[i];
        if (before->buffer >= 0)
            resize(&program->buffer[before->buffer], before->bytes);
    }
}
