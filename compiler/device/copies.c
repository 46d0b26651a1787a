/* copies.c - the memory of each buffer, and the copies between memories.
 *
 * A buffer that steps of one side touch lies in that side's memory. One that both touch exists twice, on the device
 * and in pinned memory of the host. A tensor of the caller that the device touches has a third place between the
 * two, since a stream copies from and to pinned memory only, unless it lies on the device itself (--io=device). State
 * that the device touches stays there from run to run, so that no run copies what only the device needs. Data
 * flow over the steps finds where a side needs what only the other has: by buffer, one bit for each side, "what was
 * written is here too"; where paths join, what holds on all of them. A reader that lacks it gets a copy in front; in
 * front of a loop, if the loop writes the buffer on the reader's side only. What nobody has written yet is valid
 * everywhere. */
#include "device/device.h"

#include "program/flow.h"
#include "program/operand.h"
#include "program/splice.h"

#include <string.h>

enum { ON_DEVICE = 1, ON_HOST = 2, ON_BOTH = 3 };

typedef struct Copies {
    Program       *program;
    int            io_arena;
    bool           io_device, state_there;
    int            count;                  /* buffers before any were added */
    unsigned char *used;                   /* by buffer: sides that touch it */
    bool          *here;                   /* by buffer: a state that the host keeps, though the device touches it */
    bool          *whole;                  /* by buffer: every write replaces all that was there */
    int           *device, *host, *pinned; /* by buffer: its places; pinned: -1, unless the host's is the caller's */
    int           *track;                  /* buffers that exist twice */
    int            ntrack;
    unsigned char *in;      /* [nstep + 1][ntrack]: sides on which it is valid when the step begins */
    unsigned char *outside; /* [nstep + 1][ntrack], of loops: the same when they are entered */
    Splice        *list;
    int            nlist, clist;
} Copies;

static int side_of(const Step *step)
{
    return step_on_device(step) ? ON_DEVICE : ON_HOST;
}

/* A tensor that the caller has in the device's memory, or that stays there from run to run. */
static bool is_given_on_device(const Copies *c, const Buffer *b)
{
    const Program *p = c->program;
    const Port    *port = b->kind == BUFFER_IN ? &p->in[b->port] : b->kind == BUFFER_OUT ? &p->out[b->port] : NULL;

    if (b->kind == BUFFER_DEVICE_STATE)
        return true;
    return c->io_device && port && port->type.kind == TYPE_TENSOR && port->type.dtype != DTYPE_TEXT;
}

/* The caller's memory, or state of the host: places of the host that the plan does not decide. */
static bool is_of_caller(const Copies *c, const Buffer *b)
{
    return b->kind == BUFFER_STATE || (!c->io_arena && buffer_is_port(b));
}

/* ----------------------------------------------------------------------------------------------------------- places */

static void find_uses(Copies *c)
{
    const Program *p = c->program;

    c->used = arena_array(p->arena, unsigned char, p->nbuffer + 1);
    c->whole = arena_array(p->arena, bool, p->nbuffer + 1);
    memset(c->whole, 1, (size_t)p->nbuffer + 1);
    for (int s = 0; s < p->nstep; s++)
        for (int k = 0; k < p->step[s].noperand; k++) {
            const Operand *x = &p->step[s].operand[k];
            int64_t        lo, hi;

            if (x->buffer < 0)
                continue;
            c->used[x->buffer] |= (unsigned char)side_of(&p->step[s]);
            operand_hull(x, p->buffer[x->buffer].size, &lo, &hi);
            if (x->access & OPERAND_WRITES)
                c->whole[x->buffer] &= operand_is_solid(x) && extent_is_const(x->offset) && lo == 0 &&
                                       (!operand_is_static(x) || hi == p->buffer[x->buffer].size);
        }
}

/* The sides of all steps but one that touch a buffer. */
static int sides_besides(const Program *p, int buffer, int step)
{
    int sides = 0;

    for (int s = 0; s < p->nstep; s++)
        for (int k = 0; k < p->step[s].noperand && s != step; k++)
            if (p->step[s].operand[k].buffer == buffer)
                sides |= side_of(&p->step[s]);
    return sides;
}

/* A copy that leaves the next run a state which only steps of the host read is the host's, too. */
static void take_state_copies(Program *p)
{
    for (int s = 0; s < p->nstep; s++) {
        Step         *copy = &p->step[s];
        const Buffer *b = copy->noperand == 2 ? program_buffer(p, copy->operand[0].buffer) : NULL;

        if (!b || b->kind != BUFFER_STATE || !step_on_device(copy) || !step_is_of(copy, "copy") ||
            sides_besides(p, b->id, s) != ON_HOST)
            continue;
        copy->home = HOME_HOST;
        copy->of_host = "a state that only the host reads";
    }
}

static int add_replica(Copies *c, const Buffer *like, const char *where, int memory)
{
    Program *p = c->program;
    Replica  replica = {.of = like->id};
    Buffer   b = {.kind = BUFFER_ACT,
                  .dtype = like->dtype,
                  .size = like->size,
                  .align = like->align,
                  .regions = 1u << memory,
                  .value = like->value};

    b.name = arena_printf(p->arena, "%s:%s", where, like->name);
    replica.buffer = program_add_buffer(p, &b);
    ARENA_PUSH(p->arena, p->replica, p->nreplica, p->creplica, replica);
    return replica.buffer;
}

/* A buffer that only one side touches. */
static void place_alone(Copies *c, int id)
{
    Buffer *b = &c->program->buffer[id];
    bool    device = c->used[id] & ON_DEVICE || is_given_on_device(c, b);

    b->regions = 1u << (device ? MEMORY_DEVICE : MEMORY_HOST);
}

/* A buffer that exists twice. */
static void place_twice(Copies *c, int id)
{
    const Buffer like = c->program->buffer[id];

    c->track[c->ntrack++] = id;
    if (like.kind == BUFFER_ACT || is_given_on_device(c, &like)) {
        c->program->buffer[id].regions = 1u << MEMORY_DEVICE;
        c->host[id] = add_replica(c, &like, "host", MEMORY_PINNED);
        return;
    }
    c->device[id] = add_replica(c, &like, "device", MEMORY_DEVICE);
    if (is_of_caller(c, &like))
        c->pinned[id] = add_replica(c, &like, "pinned", MEMORY_PINNED);
    else
        c->program->buffer[id].regions = 1u << MEMORY_PINNED;
}

static bool is_port(const Buffer *b)
{
    return buffer_is_port(b) || buffer_is_state(b);
}

static bool exists_twice(const Copies *c, int id)
{
    const Buffer *b = &c->program->buffer[id];

    if (is_given_on_device(c, b))
        return c->used[id] & ON_HOST;
    return c->used[id] == ON_BOTH || (c->used[id] & ON_DEVICE && is_port(b));
}

static void find_places(Copies *c)
{
    Program *p = c->program;

    c->device = arena_array(p->arena, int, c->count + 1);
    c->host = arena_array(p->arena, int, c->count + 1);
    c->pinned = arena_array(p->arena, int, c->count + 1);
    c->track = arena_array(p->arena, int, c->count + 1);
    for (int b = 0; b < c->count; b++) {
        c->device[b] = c->host[b] = b;
        c->pinned[b] = -1;
        if (p->buffer[b].kind == BUFFER_WEIGHT)
            continue;
        if (p->buffer[b].kind == BUFFER_STATE && !c->here[b] && (c->state_there || c->used[b] & ON_DEVICE))
            p->buffer[b].kind = BUFFER_DEVICE_STATE;
        if (exists_twice(c, b))
            place_twice(c, b);
        else
            place_alone(c, b);
    }
}

/* -------------------------------------------------------------------------------------------------------- data flow */

/* The use of a buffer by a step: it reads bytes that were written before, it writes. */
typedef struct SideUse {
    bool reads, writes;
} SideUse;

static SideUse use_of(const Copies *c, const Step *step, int buffer)
{
    SideUse use = {false, false};

    for (int k = 0; k < step->noperand; k++) {
        const Operand *x = &step->operand[k];

        if (x->buffer != buffer)
            continue;
        use.reads |= (x->access & OPERAND_READS) || !c->whole[buffer];
        use.writes |= (x->access & OPERAND_WRITES) != 0;
    }
    return use;
}

/* Whether the loop reads the buffer on `side` and writes it on that side only, so that one copy in front is enough. */
static bool is_read_by_loop(const Copies *c, const Step *loop, int buffer, int side)
{
    bool reads = false;

    for (int s = loop->body[0].begin; s < loop->body[0].end; s++) {
        SideUse use = use_of(c, &c->program->step[s], buffer);

        if (use.writes && side_of(&c->program->step[s]) != side)
            return false;
        reads |= use.reads && side_of(&c->program->step[s]) == side;
    }
    return reads;
}

static unsigned char hoisted(const Copies *c, const Step *step, int track)
{
    unsigned char sides = 0;

    for (int side = ON_DEVICE; side <= ON_HOST && step->kind == STEP_LOOP; side++)
        if (is_read_by_loop(c, step, c->track[track], side))
            sides |= (unsigned char)side;
    return sides;
}

/* The sides on which the buffer is valid behind a step; `in`: the sides in front of the step. */
static unsigned char behind(const Copies *c, const Step *step, int track, unsigned char in)
{
    SideUse       use = use_of(c, step, c->track[track]);
    unsigned char side = (unsigned char)side_of(step);

    if (use.writes)
        return side;
    return use.reads ? in | side : in;
}

static bool is_inside(const Step *loop, int step)
{
    return loop->kind == STEP_LOOP && range_holds(loop->body[0], step);
}

/* Takes what holds behind step `from` (-1: the beginning) into what holds in front of step `to`. */
static bool join_paths(Copies *c, int from, int to, int track, unsigned char out)
{
    const Step    *step = to < c->program->nstep ? &c->program->step[to] : NULL;
    unsigned char *in = &c->in[(int64_t)to * c->ntrack + track], before = *in;

    if (step && step->kind == STEP_LOOP && from != to && !is_inside(step, from)) {
        unsigned char *outside = &c->outside[(int64_t)to * c->ntrack + track];

        *outside &= out;
        out |= hoisted(c, step, track);
    }
    *in &= out;
    return *in != before;
}

static void solve_track(Copies *c, int track, const Flow *flow)
{
    const Program *p = c->program;
    const Buffer  *b = &p->buffer[c->track[track]];
    bool           given = b->kind == BUFFER_IN || buffer_is_state(b), changed = true;

    join_paths(c, -1, 0, track, !given ? ON_BOTH : is_given_on_device(c, b) ? ON_DEVICE : ON_HOST);
    while (changed) {
        changed = false;
        for (int s = 0; s < p->nstep; s++)
            for (int k = 0; k < 2; k++)
                if (flow[s].next[k] >= 0)
                    changed |= join_paths(c, s, flow[s].next[k], track,
                                          behind(c, &p->step[s], track, c->in[(int64_t)s * c->ntrack + track]));
    }
}

/* Whether some path has the buffer on one side only and another one on the other only: then no copy helps both. */
static bool is_torn(const Copies *c, int track)
{
    for (int s = 0; s <= c->program->nstep; s++)
        if (!c->in[(int64_t)s * c->ntrack + track] || !c->outside[(int64_t)s * c->ntrack + track])
            return true;
    return false;
}

static void solve(Copies *c)
{
    const Program *p = c->program;
    const Flow    *flow = flow_build(p->arena, p);
    int64_t        size = (int64_t)(p->nstep + 1) * c->ntrack;

    c->in = arena_array(p->arena, unsigned char, size + 1);
    c->outside = arena_array(p->arena, unsigned char, size + 1);
    memset(c->in, ON_BOTH, (size_t)size);
    memset(c->outside, ON_BOTH, (size_t)size);
    for (int t = 0; t < c->ntrack; t++)
        solve_track(c, t, flow);
}

/* ----------------------------------------------------------------------------------------------------------- copies */

/* An operand on the whole buffer. For a port whose extents are run-time integers, the operand has these extents. As
 * many bytes are copied as they say, one behind the other: strides are those of the largest, which span the buffer. */
static Operand whole_operand(const Copies *c, int buffer, const Buffer *port, int access)
{
    const Program *p = c->program;
    Operand        x = operand_of_bytes(buffer, port->size, access);
    int64_t        apart = 1;
    const Type    *type = port->kind == BUFFER_IN    ? &p->in[port->port].type
                          : port->kind == BUFFER_OUT ? &p->out[port->port].type
                                                     : NULL;

    if (!type || type->kind != TYPE_TENSOR || type_is_static(type) || c->io_arena)
        return x;
    x.dtype = type->dtype;
    x.rank = type->rank;
    for (int i = type->rank; i-- > 0; apart *= type->dim[i].max) {
        x.dim[i] = type->dim[i];
        x.stride[i] = extent_const(apart);
    }
    return x;
}

static void put_copy(Copies *c, Step *to, int target, int source, const Buffer *port)
{
    *to = (Step){.kind = STEP_COPY, .set = extent_const(0), .until = -1, .noperand = 2, .nparam = 2, .home = HOME_HOST};
    to->operand = arena_array(c->program->arena, Operand, 2);
    to->operand[0] = whole_operand(c, target, port, OPERAND_WRITES);
    to->operand[1] = whole_operand(c, source, port, OPERAND_READS);
}

/* Copies a buffer to `side` in front of step `at`. */
static void copy_to(Copies *c, int at, int buffer, int side)
{
    const Buffer *port = &c->program->buffer[buffer];
    int           way[3] = {c->host[buffer], c->pinned[buffer], c->device[buffer]}, n = 3;
    Splice        splice = {.at = at, .step = arena_array(c->program->arena, Step, 2)};

    if (!port->size)
        return;
    if (way[1] < 0) {
        way[1] = way[2];
        n = 2;
    }
    for (int i = 0; i + 1 < n; i++) {
        int from = side == ON_DEVICE ? i : n - 1 - i, to = side == ON_DEVICE ? i + 1 : n - 2 - i;

        put_copy(c, &splice.step[splice.count++], way[to], way[from], port);
    }
    ARENA_PUSH(c->program->arena, c->list, c->nlist, c->clist, splice);
}

/* The copies in front of step `at`; nstep: at the end. */
static void list_copies(Copies *c, int at)
{
    const Program *p = c->program;

    for (int t = 0; t < c->ntrack; t++) {
        int           b = c->track[t];
        unsigned char in = c->in[(int64_t)at * c->ntrack + t], outside = c->outside[(int64_t)at * c->ntrack + t];

        if (at == p->nstep) {
            int side = is_given_on_device(c, &p->buffer[b]) ? ON_DEVICE : ON_HOST;

            if ((p->buffer[b].kind == BUFFER_OUT || buffer_is_state(&p->buffer[b]) || p->buffer[b].escapes) &&
                !(in & side))
                copy_to(c, at, b, side);
            continue;
        }
        for (int side = ON_DEVICE; side <= ON_HOST; side++)
            if (hoisted(c, &p->step[at], t) & ~outside & side)
                copy_to(c, at, b, side);
        if (use_of(c, &p->step[at], b).reads && !(in & side_of(&p->step[at])))
            copy_to(c, at, b, side_of(&p->step[at]));
    }
}

/* Operands that are not the alternative's own are left as they are. */
static void move_operands(const Copies *c, Step *step)
{
    Operand *operand = arena_array(c->program->arena, Operand, step->noperand + 1);

    if (step->noperand)
        memcpy(operand, step->operand, (size_t)step->noperand * sizeof *operand);
    step->operand = operand;
    for (int k = 0; k < step->noperand; k++)
        if (operand[k].buffer >= 0)
            operand[k].buffer = step_on_device(step) ? c->device[operand[k].buffer] : c->host[operand[k].buffer];
}

/* ------------------------------------------------------------------------------------------------------------- pass */

/* A torn state of the device's becomes one of the host's. Steps on the device that write another torn buffer run on the
 * host instead. Returns whether there were any. */
static bool mend_torn(Copies *c)
{
    bool mended = false;

    for (int t = 0; t < c->ntrack; t++) {
        Buffer *b = &c->program->buffer[c->track[t]];
        bool    torn = is_torn(c, t);

        if (torn && b->kind == BUFFER_DEVICE_STATE) {
            b->kind = BUFFER_STATE;
            b->regions = 0;
            c->here[b->id] = mended = true;
            continue;
        }
        for (int s = 0; torn && s < c->program->nstep; s++)
            if (step_on_device(&c->program->step[s]) && use_of(c, &c->program->step[s], c->track[t]).writes) {
                c->program->step[s].home = HOME_HOST;
                c->program->step[s].of_host = "a tensor that some paths leave on the host, some on the device";
                mended = true;
            }
    }
    return mended;
}

void program_add_copies(Program *program, int io_arena, bool io_device, bool state_there)
{
    Copies c = {.program = program,
                .io_arena = io_arena,
                .io_device = io_device,
                .state_there = state_there,
                .count = program->nbuffer};

    c.here = arena_array(program->arena, bool, c.count + 1);
    if (!state_there)
        take_state_copies(program);
    do {
        program->nbuffer = c.count;
        program->nreplica = 0;
        c.ntrack = 0;
        find_uses(&c);
        find_places(&c);
        solve(&c);
    } while (mend_torn(&c));
    for (int s = 0; s <= program->nstep; s++)
        list_copies(&c, s);
    for (int s = 0; s < program->nstep; s++)
        move_operands(&c, &program->step[s]);
    program_splice(program, c.list, c.nlist);
}

int buffer_memory(const Program *program, int buffer)
{
    const Buffer *b = &program->buffer[buffer];

    for (int m = 0; m < MEMORIES; m++)
        if (b->regions == 1u << m)
            return m;
    return MEMORIES;
}

int64_t program_bytes_on_host(const Program *program, BufferKind kind)
{
    bool        device = program->language == LANGUAGE_DEVICE, in = kind == BUFFER_IN;
    const Port *port = in ? program->in : program->out;
    int64_t     bytes = 0;

    for (int i = 0; i < (in ? program->nin : program->nout); i++) {
        int b = port[i].buffer;

        if (b >= 0 && program->buffer[b].kind == kind && !(device && buffer_memory(program, b) == MEMORY_DEVICE))
            bytes += program->buffer[b].size;
    }
    return bytes;
}

bool step_is_transfer(const Program *program, const Step *step)
{
    return step->kind == STEP_COPY && (buffer_memory(program, step->operand[0].buffer) == MEMORY_DEVICE ||
                                       buffer_memory(program, step->operand[1].buffer) == MEMORY_DEVICE);
}
