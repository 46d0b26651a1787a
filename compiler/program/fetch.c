/* fetch.c - blocks of weights, and the steps that bring them. */
#include "program/fetch.h"
#include "program/flow.h"
#include "program/operand.h"
#include "program/splice.h"
#include "program/weight.h"
#include "support/int.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- blocks */

/* The search for blocks: what is known of each constant, and the block that the next steps' constants may still
 * join. */
typedef struct Blocks {
    Program         *program;
    const BlockForm *form;
    int             *units; /* by Buffer.id: outermost steps that read it */
    int             *last;  /* by Buffer.id: 1 + the number of the outermost step that counted it last */
    int             *block; /* by Buffer.id: the block that contains it, or -1 */
    int64_t         *at;    /* by Buffer.id: its offset in the block, bytes */
    int              open;  /* Buffer.id of the block that grows, or -1 */
} Blocks;

static bool is_constant(const Program *p, int buffer)
{
    return buffer >= 0 && p->buffer[buffer].kind == BUFFER_WEIGHT && p->buffer[buffer].dtype != DTYPE_TEXT &&
           p->buffer[buffer].size > 0;
}

/* Calls `take` for each constant that steps [range) read, once for each outermost step. */
static void each_constant(Blocks *b, Range unit, void (*take)(Blocks *b, int buffer, void *to), void *to)
{
    for (int s = unit.begin; s < unit.end; s++)
        for (int k = 0; k < b->program->step[s].noperand; k++) {
            int id = b->program->step[s].operand[k].buffer;

            if (!is_constant(b->program, id) || b->last[id] == unit.begin + 1)
                continue;
            b->last[id] = unit.begin + 1;
            take(b, id, to);
        }
}

static void count_unit(Blocks *b, int buffer, void *to)
{
    (void)to;
    b->units[buffer]++;
}

static void add_bytes(Blocks *b, int buffer, void *to)
{
    int64_t *bytes = to;

    *bytes += int_round_up(b->program->buffer[buffer].size, WEIGHT_ALIGN);
}

static int new_block(Blocks *b, int like)
{
    Program *p = b->program;
    Buffer   block = {.kind = BUFFER_BLOCK, .dtype = DTYPE_U8, .align = b->form->align};

    block.name = arena_printf(p->arena, "block%d:%s", p->nbuffer, p->buffer[like].name);
    return program_add_buffer(p, &block);
}

static void put_into(Blocks *b, int buffer, int id)
{
    Buffer *block = &b->program->buffer[id];
    Content content = {buffer, block->ncontent ? int_round_up(block->filled, WEIGHT_ALIGN) : 0};

    ARENA_PUSH(b->program->arena, block->content, block->ncontent, block->ccontent, content);
    b->block[buffer] = id;
    b->at[buffer] = content.at;
    block->filled = content.at + b->program->buffer[buffer].size;
    block->size = int_round_up(block->filled, b->form->align);
}

/* A constant with several readers becomes a block of its own; others join the block of their step. */
static void take_constant(Blocks *b, int buffer, void *to)
{
    (void)to;
    if (b->block[buffer] >= 0)
        return;
    if (b->units[buffer] > 1) {
        if (b->program->buffer[buffer].size >= b->form->least)
            put_into(b, buffer, new_block(b, buffer));
        return;
    }
    if (b->open < 0)
        b->open = new_block(b, buffer);
    put_into(b, buffer, b->open);
}

static void add_own_bytes(Blocks *b, int buffer, void *to)
{
    if (b->units[buffer] == 1)
        add_bytes(b, buffer, to);
}

static void block_unit(Blocks *b, Range unit)
{
    int64_t own = 0, all = 0, filled = b->open < 0 ? 0 : b->program->buffer[b->open].filled;

    each_constant(b, unit, add_own_bytes, &own);
    memset(b->last, 0, (size_t)b->program->nbuffer * sizeof *b->last);
    each_constant(b, unit, add_bytes, &all);
    memset(b->last, 0, (size_t)b->program->nbuffer * sizeof *b->last);
    if (all < b->form->least)
        return;
    if (filled + own > b->form->join)
        b->open = -1;
    each_constant(b, unit, take_constant, NULL);
}

/* Turns operands on constants into windows of the blocks that hold these. */
static void move_operands(const Blocks *b)
{
    for (int s = 0; s < b->program->nstep; s++) {
        Step *step = &b->program->step[s];
        bool  own = false;

        for (int k = 0; k < step->noperand; k++) {
            int id = step->operand[k].buffer;

            if (!is_constant(b->program, id) || b->block[id] < 0)
                continue;
            if (!own) { /* a copy, since the plan that is given up keeps the old operands */
                Operand *operand = arena_array(b->program->arena, Operand, step->noperand + 1);

                memcpy(operand, step->operand, (size_t)step->noperand * sizeof *operand);
                step->operand = operand;
                own = true;
            }
            step->operand[k].buffer = b->block[id];
            step->operand[k].offset.max += b->at[id] / operand_bytes_per_element(&step->operand[k]);
        }
    }
}

/* Leaves out constants that are read at a run-time offset, because such an operand cannot be moved to a block. */
static void leave_out_moving(Blocks *b)
{
    for (int s = 0; s < b->program->nstep; s++)
        for (int k = 0; k < b->program->step[s].noperand; k++) {
            const Operand *x = &b->program->step[s].operand[k];

            if (is_constant(b->program, x->buffer) && !extent_is_const(x->offset))
                b->units[x->buffer] = 2;
        }
}

void program_make_blocks(Program *program, const BlockForm *form)
{
    int    count = program->nbuffer;
    Blocks b = {.program = program, .form = form, .open = -1};

    b.units = arena_array(program->arena, int, count + 1);
    b.last =
        arena_array(program->arena, int, 2 * count + 1); /* room for the blocks, which are added behind the constants */
    b.block = arena_array(program->arena, int, count + 1);
    b.at = arena_array(program->arena, int64_t, count + 1);
    memset(b.block, -1, (size_t)count * sizeof *b.block);
    for (int s = 0; s < program->nstep; s = flow_after(program, s))
        each_constant(&b, (Range){s, flow_after(program, s)}, count_unit, NULL);
    memset(b.last, 0, (size_t)count * sizeof *b.last);
    leave_out_moving(&b);
    for (int s = 0; s < program->nstep; s = flow_after(program, s))
        block_unit(&b, (Range){s, flow_after(program, s)});
    move_operands(&b);
}

BlockUses program_block_uses(const Program *p)
{
    BlockUses uses = {.count = 0};
    int      *known = arena_array(p->arena, int, p->nbuffer + 1); /* by Buffer.id: 1 + position */

    for (int s = 0; s < p->nstep; s = flow_after(p, s))
        for (int i = s; i < flow_after(p, s); i++)
            for (int k = 0; k < p->step[i].noperand; k++) {
                int id = p->step[i].operand[k].buffer;

                if (id < 0 || p->buffer[id].kind != BUFFER_BLOCK || !(p->step[i].operand[k].access & OPERAND_READS))
                    continue;
                if (!known[id]) {
                    BlockUse use = {id, p->buffer[id].size, s, s};

                    ARENA_PUSH(p->arena, uses.use, uses.count, uses.capacity, use);
                    known[id] = uses.count;
                }
                uses.use[known[id] - 1].last = s;
            }
    return uses;
}

/* ---------------------------------------------------------------------------------------------------------- fetches */

/* A step whose operands are `count` whole blocks. */
static Step *block_step(const Program *p, StepKind kind, const BlockUse *use, int count, int access)
{
    Step *step = arena_one(p->arena, Step);

    *step = (Step){.kind = kind, .until = -1, .noperand = count, .nparam = count};
    step->operand = arena_array(p->arena, Operand, count);
    for (int k = 0; k < count; k++)
        step->operand[k] = operand_of_bytes(use[k].buffer, use[k].bytes, access);
    return step;
}

/* Lists the insertions: in front of the first reader of a block stand the fetches that begin there, then the wait. */
static int list_splices(const Program *p, const BlockUses *uses, const int *place, Splice *list)
{
    int count = 0, fetched = 0, awaited = 0;

    for (int s = 0; s < p->nstep; s = flow_after(p, s)) {
        int from = awaited;

        for (; fetched < uses->count && place[fetched] == s; fetched++)
            list[count++] = (Splice){s, 0, block_step(p, STEP_FETCH, &uses->use[fetched], 1, OPERAND_WRITES), 1};
        while (awaited < uses->count && uses->use[awaited].first == s)
            awaited++;
        if (awaited > from)
            list[count++] =
                (Splice){s, 0, block_step(p, STEP_AWAIT, &uses->use[from], awaited - from, OPERAND_READS), 1};
    }
    return count;
}

Program *program_with_fetches(const Program *base, const BlockUses *uses, const int *place)
{
    Program *p = arena_one(base->arena, Program);
    Splice  *list = arena_array(base->arena, Splice, 2 * uses->count + 1);

    *p = *base;
    p->buffer = arena_array(p->arena, Buffer, base->nbuffer + 1);
    p->cbuffer = base->nbuffer + 1;
    memcpy(p->buffer, base->buffer, (size_t)base->nbuffer * sizeof *p->buffer);
    for (int b = 0; b < p->nbuffer; b++) {
        p->buffer[b].span = NULL;
        p->buffer[b].nspan = p->buffer[b].cspan = 0;
    }
    p->overlap = NULL;
    p->noverlap = p->coverlap = 0;
    program_splice(p, list, list_splices(base, uses, place, list));
    return p;
}

int fetch_number(const Program *p, int step)
{
    int number = 0;

    for (int i = flow_row_of(p, step).begin; i < step; i++)
        number += p->step[i].kind == STEP_FETCH;
    return number;
}

int fetch_awaited_by(const Program *p, int fetch)
{
    for (int s = fetch + 1; s < p->nstep; s++)
        for (int k = 0; k < p->step[s].noperand && p->step[s].kind == STEP_AWAIT; k++)
            if (p->step[s].operand[k].buffer == p->step[fetch].operand[0].buffer)
                return s;
    return p->nstep;
}

/* Bytes [from, to) of one content, which begins `at` bytes into the block, to where the block's byte 0 is `base`. */
static void copy_content(const Program *p, const Content *content, int64_t from, int64_t to, char *base)
{
    const Buffer *weight = &p->buffer[content->weight];
    int64_t       lo = int_max(from, content->at), hi = int_min(to, content->at + weight->size);
    int64_t       unit = int_max(dtype_info(weight->dtype)->bytes, 1);

    for (int64_t at = lo; at < hi;) {
        _Alignas(16) char room[4096];
        int64_t           first = (at - content->at) / unit * unit;
        int64_t           bytes = int_min(int_round_up(hi - content->at, unit) - first, (int64_t)sizeof room);
        const char       *block = weight_block(weight, first, bytes, room);
        int64_t           skip = at - content->at - first, taken = int_min(bytes - skip, hi - at);

        memcpy(base + at, block + skip, (size_t)taken);
        at += taken;
    }
}

void block_bytes(const Program *p, const Buffer *block, int64_t from, int64_t bytes, void *to)
{
    memset(to, 0, (size_t)bytes);
    for (int i = 0; i < block->ncontent; i++) {
        const Content *content = &block->content[i];

        if (content->at < from + bytes && content->at + p->buffer[content->weight].size > from)
            copy_content(p, content, from, from + bytes, (char *)to - from);
    }
}

/* ------------------------------------------------------------------------------------------------------------ check */

static int wrong(const Program *p, Diag *diag, int step, const char *what)
{
    return diag_bug(diag, step_loc(&p->step[step]), "the program is wrong: step %d: %s", step, what);
}

/* The state of each block while the steps are walked. */
typedef enum Arrival { NOT_FETCHED, ON_ITS_WAY, ARRIVED } Arrival;

/* Checks a fetch (one whole block, not fetched before) or a wait (whole blocks that are being fetched). */
static int check_block_step(const Program *p, Diag *diag, int step, Arrival *arrival)
{
    const Step *s = &p->step[step];
    bool        is_fetch = s->kind == STEP_FETCH;

    if (s->noperand < 1 || (is_fetch && s->noperand != 1))
        return wrong(p, diag, step, "fetches or awaits other than it should");
    for (int k = 0; k < s->noperand; k++) {
        const Operand *x = &s->operand[k];

        if (x->buffer < 0 || p->buffer[x->buffer].kind != BUFFER_BLOCK)
            return wrong(p, diag, step, "fetches or awaits what is no block");
        if (arrival[x->buffer] != (is_fetch ? NOT_FETCHED : ON_ITS_WAY))
            return wrong(p, diag, step, is_fetch ? "fetches a block again" : "awaits what is not on its way");
        if (x->offset.max || x->rank != 1 || x->dim[0].max != p->buffer[x->buffer].size ||
            x->access != (is_fetch ? OPERAND_WRITES : OPERAND_READS))
            return wrong(p, diag, step, "fetches or awaits a part of a block");
        arrival[x->buffer] = is_fetch ? ON_ITS_WAY : ARRIVED;
    }
    return 0;
}

static int check_reads(const Program *p, Diag *diag, int step, const Arrival *arrival)
{
    for (int k = 0; k < p->step[step].noperand; k++) {
        const Operand *x = &p->step[step].operand[k];

        if (x->buffer < 0 || p->buffer[x->buffer].kind != BUFFER_BLOCK)
            continue;
        if (x->access != OPERAND_READS)
            return wrong(p, diag, step, "writes to a block");
        if (arrival[x->buffer] != ARRIVED)
            return wrong(p, diag, step, "reads a block that need not be there yet");
    }
    return 0;
}

/* Checks an outermost step of its row, with the steps that it owns. */
static int check_unit(const Program *p, Diag *diag, int unit, Arrival *arrival)
{
    for (int i = unit; i < flow_after(p, unit); i++) {
        bool moves = p->step[i].kind == STEP_FETCH || p->step[i].kind == STEP_AWAIT;

        if (moves && i > unit)
            return wrong(p, diag, i, "fetches or awaits inside a body");
        if ((moves ? check_block_step(p, diag, i, arrival) : check_reads(p, diag, i, arrival)) < 0)
            return -1;
    }
    return 0;
}

int program_check_fetches(const Program *p, Diag *diag)
{
    Arrival *arrival = arena_array(p->arena, Arrival, p->nbuffer + 1);
    Range   *row;
    int      rows = flow_rows(p->arena, p, &row);

    for (int r = 0; r < rows; r++)
        for (int s = row[r].begin; s < row[r].end; s = flow_after(p, s))
            if (check_unit(p, diag, s, arrival) < 0)
                return -1;
    for (int b = 0; b < p->nbuffer; b++)
        if (arrival[b] == ON_ITS_WAY)
            return wrong(p, diag, p->nstep - 1, "leaves a block on its way");
    return 0;
}
