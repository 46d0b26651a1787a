/* plan.h - from a program to offsets: liveness, overlap constraints, the problem that planners/ solve, and the recheck
 * from the steps. Knows nothing of graphs or generated text. */
#ifndef OCC_PLAN_PLAN_H
#define OCC_PLAN_PLAN_H

#include "program/program.h"

/* Gives every buffer its spans: Algorithm 1 of Occamy (liveness.c). */
void program_liveness(Program *program);

/* The best plan of a program, by planners/, and the program that it is a plan of: *program becomes a copy in another
 * order, with smaller tiles or coalesced buffers, where that needs less memory (plan.c). Needs spans. Returns 0, or -1
 * with a message. */
int program_plan(Program **program, const PlanOptions *options, Plan *plan, Diag *diag);

/* Completes a plan that is to be run: places of constants, and the recheck. Returns 0, or -1 with a message
 * (plan.c). */
int program_confirm(Program *program, const PlanOptions *options, Plan *plan, Diag *diag);

/* The peak of a plan where inputs and outputs lie on each other at the offsets that the options give them. Nothing but
 * its peak, bound and overflow is to be read. */
#define PLAN_IMPOSSIBLE ((int64_t)1 << 60)

/* The buffer has an offset in the arena; io_arena: inputs and outputs too. */
bool buffer_is_planned(const Buffer *buffer, int io_arena);

/* The end of the last memory in the numbering of Plan.offset, where memories lie one behind the other. */
int64_t plan_extent(const Plan *plan);

/* The bytes of a span, of all copies of the buffer together. */
int64_t span_bytes(const Buffer *buffer, const Span *span);

/* Bytes of the buffer that are live in `step`. */
int64_t buffer_live_bytes(const Buffer *buffer, int step);

/* Bytes of planned buffers that are live in each step, overlaps counted twice: [nstep], in the program's arena. */
int64_t *program_live_bytes(const Program *program, int io_arena);

/* Bytes of the arena that are in use in each step, those that several buffers share counted once: [nstep], in the
 * program's arena (in_use.c). Needs spans. */
int64_t *program_in_use(const Program *program, const Plan *plan);

/* The alignment of a library's workspace, in bytes: that of cudaMalloc. */
enum { WORKSPACE_ALIGN = 256 };

/* The bytes of one memory during a step. */
typedef struct Room {
    int64_t live; /* bytes in use; those that several buffers share count once */
    int64_t hole; /* bytes of the largest gap between buffers, where a workspace fits without any other being moved */
} Room;

/* The room of each step in a memory: [nstep], in the program's arena (in_use.c). Needs spans. */
Room *program_rooms(const Program *program, const Plan *plan, int memory);

/* Bytes of the largest hole in the memory of a planned buffer, at any step of its life free of all others; *offset is
 * its first byte in the numbering of Plan.offset, aligned as the buffer wants it (in_use.c). Needs spans. */
int64_t program_hole_of(const Program *program, const Plan *plan, const Buffer *buffer, int64_t *offset);

/* Bytes that one run reads and writes in each buffer, by Buffer.id (traffic.c). A loop counts as often as it is known
 * to run, else once; each of two branches counts half. */
void program_traffic(const Program *program, int64_t *traffic);

/* Computes the overlap constraints: results that may take the memory of an input that dies at their step (in_place.c).
 * Needs spans. */
void program_find_overlaps(Program *program);

/* Whether buffer `read` dies where `written` is born: both hold activations, inputs or outputs, are live together in
 * `step` only, and no later step, nor the caller, needs the bytes of `read`. Needs spans. */
bool buffer_dies_beside(const Program *program, int read, int written, int step);

/* Step `index` makes buffer *y row by row from buffer *x, and may do so in the same memory when x begins at least
 * *distance bytes above y (overlap.c). It does not check whether other steps keep the two apart. */
bool step_overlaps(const Program *program, int index, int *x, int *y, int64_t *distance);

/* Gives smaller tiles to steps in which more than `above` bytes are live, or to EVERY_STEP (overlap.c): small rows
 * where the input dies and the result may then follow it closely, small scratch where the kernel offers it. Changes
 * arguments and sizes of scratch. Needs spans. */
enum { EVERY_STEP = -1 };

void program_use_smaller_tiles(Program *program, int io_arena, int64_t above);

/* Enlarges the small scratch of steps as far as the plan has room for it, which takes no byte of the arena and saves
 * time (larger_tiles.c). Changes arguments, sizes of scratch and its offsets. Needs spans. */
void program_use_larger_tiles(Program *program, Plan *plan);

/* Coalesces buffers: two become one because a kernel can store its result only exactly where it reads an operand
 * (in_place.c). Needs spans, and updates them. */
bool program_can_coalesce(const Program *program);
void program_coalesce(Program *program);

/* A program as a problem of planners/ (problem_builder.c). */
typedef struct BuiltProblem BuiltProblem;

/* One search for a plan: what is asked of it, and the problems that it has solved. */
typedef struct Solved Solved;

typedef struct Planning {
    const PlanOptions *options;
    Diag              *diag;
    int64_t            upper_bound; /* bytes: larger plans are not searched for */
    int64_t            nodes;       /* effort for a plan; 0: the planner's own */
    int64_t            capacity;    /* bytes: the first plan within them is the answer; 0: the smallest one is */
    const int64_t     *like;        /* by Buffer.id: offsets of a similar program's plan, tried first; NULL: none */
    Solved            *solved;
    int                nsolved, csolved;
} Planning;

/* The problem of the program, whose overlap constraints are computed. Needs spans. */
BuiltProblem *problem_build(Program *program, const PlanOptions *options);

/* Changes the life of a buffer with one span, in the problem only, to steps [begin, end); begin == end: it takes no
 * bytes. The problem must then differ from every solved one. */
void plan_set_life(BuiltProblem *built, int buffer, int begin, int end);

/* Finds one plan of the problem. Above planning->upper_bound bytes the plan may be larger than necessary. Returns 0, or
 * -1 with a message. */
int plan_once(Planning *planning, const BuiltProblem *built, Plan *plan);

/* A lower bound of the problem, found with little effort. */
int64_t plan_bound(const Planning *planning, const BuiltProblem *built);

/* Fills the peaks of Occamy's four greedy planners for the program, and the planner that found the plan; both are only
 * shown. */
int plan_compare(const PlanOptions *options, Program *program, Plan *plan, Diag *diag);

/* Checks the plan from the operands of the steps alone, without spans or the planner's tables: nothing that a step
 * wrote is overwritten before its last reader (recheck.c). Returns 0, or -1 with a message (a bug of occamyc). */
int program_recheck(const Program *program, const Plan *plan, Diag *diag);

/* Checks the places of blocks in the weights file: inside the file, where the loader can read them, and no two on the
 * same bytes unless these are equal (recheck_file.c). Returns 0, or -1 with a message (a bug of occamyc). */
int program_recheck_file(const Program *program, const Plan *plan, Diag *diag);

#endif
