/* program.h - the program: an ordered list of steps (one kernel call each) over buffers of bytes. Every byte that the
 * generated code touches is a buffer. Knows where operands lie inside buffers, not where buffers lie in memory. */
#ifndef OCC_PROGRAM_PROGRAM_H
#define OCC_PROGRAM_PROGRAM_H

#include "graph/ir.h"
#include "program/kernels.h"
#include "program/plan_options.h"
#include "program/scalar.h"

typedef enum BufferKind {
    BUFFER_ACT,          /* an activation */
    BUFFER_SCRATCH,      /* a kernel's working memory, live in its step only */
    BUFFER_DIMS,         /* the run-time integers, int64_t each; live throughout */
    BUFFER_WEIGHT,       /* constant; not in the arena */
    BUFFER_STATE,        /* kept across runs; not in the arena */
    BUFFER_DEVICE_STATE, /* kept across runs in a device's memory; live throughout */
    BUFFER_BLOCK,        /* constants that a STEP_FETCH loads into the arena, or that stay resident (fetch.h) */
    BUFFER_RESIDENT,     /* constants that lie in a device's memory from open on */
    BUFFER_TABLE,        /* a constant that stays in the weights file, whose rows a step loads by index (row_table.h) */
    BUFFER_IN,           /* the caller's, or in the arena with --io=arena (then live from step 0) */
    BUFFER_OUT           /* the caller's, or in the arena with --io=arena (then live to the end) */
} BufferKind;

/* Bytes [lo,hi) of the buffer live in steps [begin,end): a staircase is several spans. */
typedef struct Span {
    int     begin, end; /* steps */
    int64_t lo, hi;     /* bytes */
} Span;

/* A weight that is computed from the model's constants, block by block, whenever it is read: `make` writes bytes [from,
 * from + bytes), whole elements, to `to`. Larger structs begin with this one. */
typedef struct Packing Packing;
struct Packing {
    void (*make)(const Packing *packing, int64_t from, int64_t bytes, void *to);
};

/* One constant inside a BUFFER_BLOCK. */
typedef struct Content {
    int     weight; /* Buffer.id of a BUFFER_WEIGHT */
    int64_t at;     /* bytes from the block's start */
} Content;

typedef struct Buffer {
    int            id;
    BufferKind     kind;
    DType          dtype;   /* element type, for printing; BUFFER_SCRATCH: as the kernel uses it */
    int64_t        size;    /* bytes */
    int64_t        align;   /* bytes, a power of two */
    uint32_t       regions; /* bit r: it may live in region r of several; 0: in any */
    int            copies;  /* scratch: one copy for each slice of a step that is cut; else 1 */
    Span          *span;    /* filled by liveness */
    int            nspan, cspan;
    const void    *source;  /* BUFFER_WEIGHT: its bytes, perhaps unaligned, see weight.h; NULL: `packing` makes them */
    const Packing *packing; /* the rule that makes the bytes; NULL: none */
    bool           escapes; /* BUFFER_ACT: outputs point into it, so it lives to the end */
    const Value   *value;   /* the value that it holds, or NULL */
    Content       *content; /* BUFFER_BLOCK, BUFFER_RESIDENT: its constants; BUFFER_TABLE: its one constant */
    int            ncontent, ccontent;
    int64_t        filled; /* bytes up to the end of the last content; the rest is zeros */
    int64_t
        kept; /* BUFFER_BLOCK: its offset in the memory of resident blocks, bytes; -1: it is placed by the planner */
    int64_t     row, pitch; /* BUFFER_TABLE: bytes of a row, and from row to row in the file */
    int         port; /* BUFFER_IN, BUFFER_OUT: position among the model's inputs or outputs; states: pair; else -1 */
    const char *name; /* for people; unique */
} Buffer;

/* What a STEP_IF forgets holds nothing that is needed when the step is reached. */
enum { OPERAND_READS = 1, OPERAND_WRITES = 2, OPERAND_FORGETS = 4 };

/* A tensor as a step sees it: a view of a buffer. Layout, views and pitch are described here and nowhere else. Axes are
 * in ONNX's order. */
typedef struct Operand {
    int    buffer; /* Buffer.id; -1: absent, passed as NULL */
    DType  dtype;
    int    rank;
    Extent dim[MAX_RANK];
    Extent stride[MAX_RANK]; /* elements */
    Extent offset;           /* elements from the buffer's start */
    int    access;
} Operand;

/* An argument of a kernel, in the order of its non-pointer parameters. */
typedef enum ArgKind { ARG_INT, ARG_INTS, ARG_FLOAT, ARG_FLOATS } ArgKind;
typedef struct Arg {
    ArgKind       kind;
    int           count; /* of ints, floats; 1 for scalars */
    const Extent *ints;  /* literals, or expressions over run-time integers */
    const double *floats;
} Arg;

typedef enum StepKind {
    STEP_KERNEL, /* call a kernel */
    STEP_SET, /* dims[slot] = expression (`set`); fails with the capacity code when outside [lo,hi] of the expression */
    STEP_READ,  /* dims[slot] = element of operand[0] (its offset, as int64_t); likewise checked */
    STEP_CHECK, /* fail with the extent code unless `set` is non-zero */
    STEP_FETCH, /* begin loading operand[0], a whole block: its bytes may change until a STEP_AWAIT has read them */
    STEP_AWAIT, /* wait until the blocks that are its operands have been loaded */
    STEP_COPY,  /* operand[0] = operand[1], byte by byte, from one memory to another (device/copies.c) */
    STEP_IF,    /* if (set) run range 0 else run range 1; its operands are forgotten before, or one is what a device
                   decides it by (device/decided.c) */
    STEP_LOOP   /* for (dims[slot] = 0; dims[slot] < set && (while < 0 || dims[while]); dims[slot]++) run range 0 */
} StepKind;

typedef struct Range {
    int begin, end; /* steps, half-open; nested ranges follow their control step at once */
} Range;

/* An engine of a vendor's library that may compute steps of one kind (device/engines.h): one of cuDNN for convolutions,
 * what cuBLASLt finds while the program opens for products and for convolutions that are such. */
typedef enum Library { LIBRARY_CUDNN, LIBRARY_CUBLASLT } Library;
enum { MOST_KNOBS = 32 };

typedef struct LibraryEngine {
    Library     library;
    const char *question;            /* the step, as --dump=libraries prints it */
    int64_t     workspace;           /* bytes */
    int64_t     index;               /* cuDNN: its number in the library */
    int64_t     knob[MOST_KNOBS][2]; /* cuDNN: type, value */
    int         nknob;
} LibraryEngine;

/* Another cut of a step, which a run takes that brings fewer than `below` units of the first one. */
typedef struct FewUnits {
    int     cut, slices;
    int64_t below; /* 0: none */
} FewUnits;

typedef struct Step Step;
struct Step {
    StepKind      kind;
    const Kernel *kernel;  /* STEP_KERNEL */
    Operand      *operand; /* the kernel's pointer parameters in order, then what `expr` reads */
    int           noperand;
    int           nparam; /* operands that are pointer parameters; the rest belong to expr */
    Arg          *arg;
    int           narg;
    const Scalar *expr;  /* epilogue or elementwise expression, or NULL */
    int           slot;  /* SET, LOAD, LOOP: index into the dims buffer */
    int           until; /* LOOP: slot of the condition, or -1 */
    Extent        set;   /* SET, CHECK, IF, LOOP */
    Range         body[2];
    int           slices;    /* pieces that may run at the same time (slices.h); below 2: the step is whole */
    int           cut;       /* where slices > 1: which of the cuts that its record offers */
    int           remainder; /* likewise: the cut along which the remainder of equal slices is shared, or -1: none */
    int64_t       least;     /* likewise: units of a slice, at least, where only the run knows how many there are */
    FewUnits      few;       /* likewise: how it is cut where these are few */
    bool          rounds;    /* likewise: each slice is called in rounds (record.h) */
    const Step   *large;     /* the step as it was with more scratch, before planning made that small; or NULL */
    int           queue;     /* number of the queue that runs the step (queues.h); 0: the main one */
    bool          chooses;   /* IF: by extents that the caller gives, before the run begins (flow.h) */
    HomeForm      home;      /* form of its kernel's code on a device; HOME_NONE: no device */
    const char   *of_host;   /* why its home is the host, in words; else NULL */
    bool          waits;     /* the host first waits until the device has done what it was given */
    bool          captured;  /* of a loop that a graph holds, each iteration as nodes of its own (device/captured.c) */
    bool          unrolled;  /* likewise, but only the graph of a row does, since the device decides branches in it */
    int           engine;    /* 1 + position in Program.engine of the engine that may compute it; 0: none may */
    const Node  **origin;    /* the nodes it computes; for comments, reports and messages */
    int           norigin;
};

/* Step `step` must not begin before step `of` of another queue has ended. Both are outermost steps of one row (flow.h)
 * and include their bodies. */
typedef struct Wait {
    int step, of;
} Wait;

/* An overlap constraint: two buffers may share bytes although both are live in one step, if offset[a] >= offset[b] + d1
 * or offset[b] >= offset[a] + d2. Example: result a runs through the memory of its input b (3072 bytes), 64 bytes ahead
 * of it: d1 = 3072, d2 = 64. */
typedef struct Overlap {
    int     a, b;
    int64_t d1, d2; /* bytes */
} Overlap;

/* A port of the program: an input or output of the model and where it lies. The buffer of a sequence or optional has
 * the layout of lower/sequence.h, which the generated header declares as a struct: int64_t count (optional: present),
 * int64_t extent[capacity][rank], padding to `data`, member[capacity][distance] bytes. An optional input that is NULL
 * is replaced by a constant block of zeros of `data` bytes, inner headers included. Text elements are pointers to
 * characters. */
typedef struct Port {
    const Value *value;
    Type         type;
    int          buffer; /* -1: absent (optional that is none) */
    const char  *name;   /* C identifier, unique among inputs (outputs) */
} Port;

typedef struct StatePair {
    int output, input; /* positions among the model's outputs and inputs */
} StatePair;

/* The home of a value that no step of a joined program knows, since each branch has a value of its own in its place:
 * see alternatives/join.h. */
enum { HOME_OF_NOTHING = -2 };

/* A buffer that holds the tensor of another one in another memory (device/copies.c). */
typedef struct Replica {
    int buffer, of;
} Replica;

typedef struct Program {
    Model   *model;
    Arena   *arena;
    Language language; /* of the kernels that its steps call */
    Buffer  *buffer;
    int      nbuffer, cbuffer;
    Step    *step;
    int      nstep, cstep;
    Overlap *overlap;
    int      noverlap, coverlap;
    int      nqueue; /* below 2: everything runs by number */
    Wait    *wait;   /* by rising step */
    int      nwait, cwait;
    double   sum_time, queued_time,
        path_time;   /* predicted nanoseconds: sum of all steps, makespan on the queues, critical path */
    int    nimplied; /* dependences between queues that the waits imply */
    Range *beside;   /* by step, where nqueue > 1: the range of step numbers during which its operands are in use */
    Range  graph;    /* of a program for a device: the steps that it is given as one graph; empty: none. With run-time
                        extents (dims >= 0) all are set before, and the graph is of the last ones */
    Range *stretch;  /* of a program for a device without such a graph, by rising step: rows of steps, each a graph of
                        its own that is launched whenever the host comes by */
    int    nstretch, cstretch;
    Range *decided; /* likewise: rows of steps with branches that the device decides, each a graph that is launched in
                       the place of all its steps; where it cannot be made, they run as if there were no row */
    int    ndecided, cdecided;
    LibraryEngine *engine;
    int            nengine, cengine;
    Replica       *replica;
    int            nreplica, creplica;
    Port          *in, *out;
    int            nin, nout;
    StatePair     *state;
    int            nstate, cstate;
    int            dims;        /* Buffer.id of the run-time integers, or -1: there are none */
    int            cascades;    /* loops over strips of rows (lower/cascade.c) */
    bool           no_in_place; /* no result overwrites an operand */
    bool           no_overlap;  /* no result follows its input through the same memory */
    int            nslot;       /* int64_t entries of `dims` */
    int           *slot;        /* by Model.expr index: its entry in `dims`, or -1 */
    int            nslot_of;    /* entries of slot[] */
    int           *home;        /* by Value.id: the buffer that holds it, as a whole or as a view; -1: it is never
                             * stored; HOME_OF_NOTHING */
    int            nhome;       /* entries of home[] */
} Program;

/* The code that a STEP_KERNEL runs: what may overlap in memory is asked of it, not of the kernel. */
static inline const KernelCode *step_code(const Program *program, const Step *step)
{
    return &step->kernel->code[program->language];
}

/* The buffer of a number, or NULL: an operand without memory, or a value that is never stored, has -1. */
static inline Buffer *program_buffer(const Program *program, int number)
{
    return number < 0 ? NULL : &program->buffer[number];
}

/* The bodies that may have steps; a loop's second one has none. */
static inline int step_bodies(const Step *step)
{
    return step->kind == STEP_IF || step->kind == STEP_LOOP ? 2 : 0;
}

/* Whether the step is a branch that a device can decide: then it has its condition as an operand. */
static inline bool step_is_decided(const Step *step)
{
    return step->kind == STEP_IF && step->noperand == 1 && step->operand[0].access == OPERAND_READS;
}

/* The slot that keeps an expression's value; -1: it is computed where it is needed. */
static inline int program_slot(const Program *program, int expr)
{
    return expr >= 0 && expr < program->nslot_of ? program->slot[expr] : -1;
}

/* The first node that the step computes; nowhere if none is known. */
static inline Loc step_loc(const Step *step)
{
    return step->norigin ? step->origin[0]->loc : (Loc){0};
}

/* Whether the step gives a run-time integer its value. */
static inline bool step_sets(const Step *step)
{
    return step->kind == STEP_SET || step->kind == STEP_READ || step->kind == STEP_LOOP;
}

/* Whether the buffer is an input or output of the program. */
static inline bool buffer_is_port(const Buffer *buffer)
{
    return buffer->kind == BUFFER_IN || buffer->kind == BUFFER_OUT;
}

static inline bool buffer_is_state(const Buffer *buffer)
{
    return buffer->kind == BUFFER_STATE || buffer->kind == BUFFER_DEVICE_STATE;
}

/* The share of one memory in a plan. Without --region there is one, with base 0 and the arena's peak. */
typedef struct PlanShare {
    int64_t
        base; /* of its first byte, in the numbering of Plan.offset: the memories are numbered one behind the other */
    int64_t peak;    /* bytes used of it */
    int64_t align;   /* bytes, of its first byte */
    int64_t traffic; /* bytes that the steps of a run read and write there; see program_traffic */
} PlanShare;

/* A point of the curve of time over memory. */
typedef struct SwapPoint {
    int64_t ram;         /* bytes of RAM that were allowed */
    int64_t arena, kept; /* bytes that are used */
    int64_t read;        /* bytes that a run loads */
    double  time, bound; /* nanoseconds */
} SwapPoint;

/* A run that was measured (--profile). */
typedef struct SwapRun {
    int64_t ram;  /* bytes of RAM that its plan takes */
    double  time; /* nanoseconds */
} SwapRun;

/* A STEP_AWAIT at which the run is predicted to wait. */
typedef struct SwapStall {
    int    step, block; /* block: Buffer.id of the last one that it waits for */
    double time;        /* nanoseconds */
} SwapStall;

/* The part of a plan that only --weights=swap has. */
typedef struct Swap {
    int64_t kept;   /* bytes of blocks that stay */
    int64_t blocks; /* bytes of all */
    int64_t read;   /* bytes that a run reads when the kept blocks are there, without rows of tables */
    int64_t tables; /* bytes of tables, of which rows are loaded by index */
    int64_t rows;   /* rows that a run loads, at most; row_bytes: bytes of these loads */
    int64_t row_bytes;
    int64_t file;        /* bytes of the weights file */
    int     loads;       /* loads that such a run begins */
    int     ahead;       /* largest number of loads in flight at a time; at least 1 */
    Loader  loader;      /* loader that the plan was made for */
    int64_t least, most; /* bytes of the arena and of blocks that stay, together, that any plan needs, and
                                         with which all blocks stay */
    int64_t fixed;       /* bytes of RAM besides the arena and the blocks */
    double  time, resident,
        bound; /* nanoseconds: predicted time; time if all blocks stayed; lower bound of every schedule */
    int          first, last;   /* steps whose blocks cannot be there in time, by the bound; -1: there are none */
    int64_t      wanted, early; /* bytes that they read first, and what of it may have been there before */
    SwapStall   *stall;         /* by rising step */
    int          nstall, cstall;
    SwapPoint   *curve; /* by rising bytes; only if the options want it */
    int          ncurve;
    SwapRun     *run; /* for the curve's picture */
    int          nrun;
    const char  *label; /* the sizes that it is of, where --dim lists them; else NULL */
    struct Swap *size;  /* of such a program: one for each combination. What the program's own says of a run's reads,
                           times and waits is that of the slowest */
    int          nsize;
} Swap;

/* The offsets that the planners found, with their proof. Filled by plan.c. */
typedef struct Plan {
    int64_t    *offset; /* by Buffer.id, bytes from the arena's start, see PlanShare.base; -1: not in the arena */
    int        *region; /* by Buffer.id */
    PlanShare   share[MAX_REGIONS];
    int         nshare;   /* at least 1 */
    bool        ranked;   /* of several memories the first serves as much traffic as can be; else peak is what counts */
    int64_t     overflow; /* bytes beyond the regions' sizes; 0: it fits */
    int64_t     peak;     /* bytes of the arena, all memories together */
    int64_t     bound;    /* bytes: no plan of this order is smaller */
    bool       *core;     /* by Buffer.id: buffers that need `bound` bytes even without the others; may be none */
    bool        any_order;   /* proven: no order of these steps needs less */
    int64_t     align;       /* of the arena */
    int64_t     greedy[4];   /* of Occamy's four planners: plan_greedy_name */
    const char *status;      /* "optimal: equals the bound", ... */
    const char *planner;     /* planner that found it */
    WeightForm  weight_form; /* from here on filled by program_confirm (constants.c) */
    int *same; /* by Buffer.id: the constant, or what the weights file has, that it equals and is stored as; its own id:
                  none; -1: no step reads it */
    int64_t *stored;       /* by Buffer.id: bytes from the start of the constants' or the state's block */
    int64_t  weight_bytes; /* bytes of all distinct constants, gaps included */
    int64_t  state_bytes, state_align;
    Swap    *swap; /* NULL: no constant is loaded at run time */
} Plan;

extern const char *const plan_greedy_name[4];

/* Adds a buffer like `buffer`: the program's own (port -1), one copy, placed by the planner. Returns its id. Pointers
 * to other buffers become invalid. */
int program_add_buffer(Program *program, const Buffer *buffer);

/* Bytes that a buffer takes in its region, all copies together. */
int64_t buffer_bytes(const Buffer *buffer);

struct Text;
void program_print(struct Text *text, const Program *program); /* stable text (print_program.c) */
void plan_print(struct Text *text, const Program *program, const Plan *plan);

/* Run the program in this process, with the same kernels that it would be emitted with (run_program.c). `memory[b]`
 * is the start of buffer b; weights point at their bytes (weight.h). Returns 0, or the negative code that the
 * generated code would return. */
int program_run(const Program *program, void *const *memory);

/* ----------------------------------------------------------------------------------------------- operand arithmetic */

int  operand_bytes_per_element(const Operand *operand);
bool operand_is_dense(Model *model, const Operand *operand);  /* row-major in ONNX's order without gaps */
bool operand_is_static(const Operand *operand);               /* all extents, strides and the offset constant */
bool operand_same_layout(const Operand *a, const Operand *b); /* equal elements lie at equal addresses */

#endif
