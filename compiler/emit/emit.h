/* emit.h - what the files of emission share. Emission decides nothing: it prints what Program and Plan say.
 * Every function appends to a text; names are made once, in names.c. */
#ifndef OCC_EMIT_EMIT_H
#define OCC_EMIT_EMIT_H

#include "emit/printer.h"
#include "emit/target.h"

/* Bytes to which the caller's tensors on a device are aligned: kernels move four floats at once. */
enum { PORT_ALIGN = 16 };

/* A run-time extent that the caller passes in or receives: a member of the inputs or outputs. */
typedef struct Member {
    int         expr; /* Model.expr index */
    int         port; /* the first port that has it */
    int         axis; /* of `port` */
    const char *name; /* C identifier */
} Member;

typedef struct StepFunction {
    const char *body; /* everything after the name: the key by which steps share a function */
    const char *name;
} StepFunction;

/* Functions of one language, each of which several steps may share. */
typedef struct EmitCode {
    Text          functions; /* expression functions and step functions */
    StepFunction *function;
    int           nfunction, cfunction;
    StepFunction *expression;
    int           nexpression, cexpression;
} EmitCode;

typedef struct Emit {
    Emission      *emission;
    const Target  *target;
    const Printer *printer; /* the target's */
    const Program *program;
    const Plan    *plan;
    const Model   *model;
    Arena         *arena;
    Diag          *diag;
    const char    *name, *upper; /* "mnist", "MNIST" */
    bool           io_arena;
    int64_t        buffer_align; /* bytes */

    Member      *in_extent; /* extents that the caller gives */
    int          nin_extent, cin_extent;
    Member      *out_extent; /* extents that the model finds */
    int          nout_extent, cout_extent;
    const char **symbol; /* by Buffer.id: name of a constant's own array; NULL: the constant has none */

    EmitCode      code;      /* of the source file */
    EmitCode      other;     /* code of the file that is not being written now: the device's, or the source file's */
    bool          on_device; /* `code` is the device's */
    StepFunction *launcher;  /* functions that launch a step on the device */
    int           nlauncher, claunch;
    Text          run;  /* the body of the run function */
    const char  **libc; /* functions of the C library that the source names */
    int           nlibc, clibc;
    uint64_t     *sum; /* by Buffer.id: checksum of a block or table */
    bool         *summed;
    const bool   *is_set;       /* by 1 + expression: whether its slot may be read; NULL: every slot may */
    bool          parallel;     /* some step runs in parts */
    bool          rounds;       /* and some in rounds */
    bool          open_extents; /* some step function takes an extent as a parameter */
    bool          wide_borders; /* KernelRecord.wide_border of some step */
    int           status;       /* -1 once something could not be printed */
} Emit;

/* c.c, c_run.c, c_steps.c - the printer of C99. */
void c_expression(Emit *emit, const char *type, const char *name, const char *body);
void c_function(Emit *emit, const Step *step, const char *name, const char *body);
void c_call(Emit *emit, const Step *step, const char *function, const char *arguments, Text *text);
void c_launch(Emit *emit, int index, const char *call, int depth);
void c_launch_failing(Emit *emit, int index, const char *call, int depth);
void c_set(Emit *emit, int index, const char *value, const Expr *within, int depth);
void c_read(Emit *emit, const Operand *operand, Text *text);
void c_check(Emit *emit, int index, const char *condition, int depth);
void c_open(Emit *emit, int index, const char *condition, int depth);
void c_otherwise(Emit *emit, int index, int depth);
void c_close(Emit *emit, int index, int depth);
void c_fetch(Emit *emit, int index, int depth);
void c_await(Emit *emit, int index, int depth);
void c_nothing(Emit *emit, int index, int depth);
void c_wait(Emit *emit, int index, int of, int depth);
void c_prologue(Emit *emit, Text *text, const Text *body, const char *between);
void c_run(Emit *emit);
void c_weight(Emit *emit, Text *text, int buffer);
void c_weight_file(Emit *emit, Text *text);

/* names.c - identifiers, and the sentences of comments. */
void          emit_names(Emit *emit);
const char   *emit_shape(Emit *emit, int rank, const Extent *dim); /* "[1][<=128][64]" */
const char   *emit_port_shape(Emit *emit, const Type *type);       /* with the names of members: "[1][seq][64]" */
const char   *emit_origin(Emit *emit, const Step *step);           /* "Conv 'conv1' + Relu" */
const char   *emit_ctype(DType dtype);                             /* of one stored element: "float", "const char *" */
const char   *emit_stem(Arena *arena, const char *path);           /* the last part of a path */
const char   *emit_header_stem(const Emit *emit);                  /* the header's file name without ".h" */
bool          emit_port_is_caller(const Emit *emit, const Port *port); /* a member of the inputs or outputs */
bool          emit_port_on_device(const Emit *emit, const Port *port); /* that member is a pointer of the device */
const Member *emit_in_extent(const Emit *emit, int expr);              /* NULL: the caller does not pass it */

bool        emit_in_regions(const Emit *emit);                /* the arena lies in several memories */
const char *emit_share_variable(const Emit *emit, int share); /* its variable in the run function: "arena", "arena_1" */
const char *emit_share_member(const Emit *emit, int share);   /* of the memory struct: "arena", or the region's name */
const char *emit_share_macro(const Emit *emit, int share);    /* "MNIST_ARENA": before _SIZE and _ALIGN */
int64_t     emit_share_offset(const Emit *emit, int buffer);  /* of a planned buffer, from its memory's first byte */

/* emit_extent.c - run-time integers as C expressions. */
void emit_extent(Emit *emit, Text *text, Extent extent);
void emit_out_extents(Emit *emit, Text *text);            /* the lines that tell the caller those that a run found */
void emit_extent_value(Emit *emit, Text *text, int expr); /* an expression, not its slot */
void emit_only_set(Emit *emit, const Step *step);         /* from now on no slot is read that the step could not read:
                                                             slices are told by new expressions; NULL: every slot is */

/* emit_expr.c - a scalar expression as a function; returns its name. `type` is the kernel's function type,
 * "occ_fn_f32"; `outlined`: long functions are called instead of inlined, since the kernel needs the registers. */
const char *emit_expression(Emit *emit, const Scalar *expr, const char *type, bool outlined, Loc loc);

/* step.c - one step function for each distinct step; returns its name. The values that the call passes after its
 * pointers go to `extra`, each with ", " in front. */
const char *emit_step_function(Emit *emit, const Step *step, Text *extra);

/* parallel.c - steps in slices, and the context of the run function that they share. */
void emit_parallel(Emit *emit, int index,
                   Text *call);                 /* the function of a step's slices, and the call that runs them all */
void emit_context(Emit *emit, Text *text);      /* the type of the context */
void emit_context_fill(Emit *emit, Text *text); /* the variable with the context, in the run function */
bool emit_uses(const char *text, const char *name); /* the text has a variable of that name */

/* queues.c - a run on several queues: the function of their units, and the body of the run function up to the `extents`
 * that it sets at its end. */
void emit_queues(Emit *emit, const Text *extents, Text *text);
void emit_queues_context(Emit *emit, Text *text); /* the context of the units */

/* cuda_engines.c - engines of cuDNN in a program for a device; each appends nothing where the program uses none. */
void emit_engine_members(Emit *emit, Text *text); /* of the context */
void emit_engine_call(Emit *emit, int index, const char *own,
                      Text *text);               /* the call of a step; own: that of its kernel */
void emit_engines(Emit *emit, Text *text);       /* the table, and the function that makes their plans */
void emit_engines_reset(Emit *emit, Text *text); /* lines of open and close */
void emit_engines_open(Emit *emit, Text *text);
void emit_engines_close(Emit *emit, Text *text);

/* c_run.c - the function that checks what the caller gave. */
void c_check_function(Emit *emit, Text *text);

/* c.c - the lines above the code: whose it is, and what it needs of the compiler. */
void c_banner(Emit *emit, Text *text, const char *extension);
void c_pointer_check(const Emit *emit, Text *text);

/* c_steps.c */
const char *c_blanks(int depth);
const char *c_step_comment(Emit *emit, int index); /* "12 Conv 'conv1' [1][8][28][28]" */

/* emit_run.c - the lines of the steps, by the printer. */
void        emit_step_call(Emit *emit, const Step *step, Text *text);     /* "mnist_conv_f32_1(arena + 64, ...)" */
void        emit_operand(Emit *emit, Text *text, const Operand *operand); /* the address of an operand */
const char *emit_condition(Emit *emit, const Step *step);                 /* that of an IF, without outer parentheses */
void        emit_range(Emit *emit, Range range, int depth);               /* the lines of some steps, to emit->run */
void        emit_stretches_of(Emit *emit, Range range, int depth);        /* the same, rows decided by the host */
void        emit_open_control(Emit *emit, int index, int depth);          /* the line in front of a body */
void        emit_steps(Emit *emit, Range range, int depth);               /* the same, stretches step by step */

/* launch.c - steps on a device: the functions that launch them, which are the device's code; emit_on_device changes to
 * the device's code and back. */
void        emit_on_device(Emit *emit, bool on_device);
const char *emit_launcher(Emit *emit, const Step *step, Text *extra);
void        emit_prototypes(Emit *emit, Text *text); /* the launchers' declarations, for the source file */
void        emit_loader(Emit *emit, Text *text);     /* the function that loads all kernels */

/* cuda_run.c - the functions of a program for a device that run it, to emit->run; what the header declares of all. */
void cuda_run(Emit *emit);
void emit_cuda_header(Emit *emit, Text *text);

/* cuda_open.c - the functions open and close; the type of a memory's context and the member `note`, which the header
 * has; the function that calls `note`. */
void emit_cuda_open(Emit *emit, Text *text);
void emit_cuda_type(Emit *emit, Text *text);
void emit_cuda_note(Text *text);
void emit_cuda_tell(Emit *emit, Text *text);

/* The body of a function behind its `head`: a graph of what `give`, an expression, puts into the stream. @: the
 * program's name. */
void emit_capture(Emit *emit, Text *text, const char *head, const char *give);

/* cuda_stretches.c - graphs of stretches of steps; each appends nothing where the program has none. */
void        emit_stretches(Emit *emit, Text *text); /* functions of the steps, and the one that launches a graph */
void        emit_locals(Emit *emit, Text *text,
                        const Text *lines);      /* what the lines use: memories of the stream, the integers of loops */
const char *emit_nodes(Emit *emit, Range range); /* ", 44 nodes with loops unrolled"; "": there are no loops */
void        emit_stretches_capture(Emit *emit, Text *text);
void        emit_stretches_open(Emit *emit, Text *text);      /* lines of open */
void        cuda_stretch(Emit *emit, int stretch, int depth); /* the line of a run, to emit->run */

/* cuda_decided.c - rows of steps whose branches the device decides; each appends nothing where the program has none. */
void emit_decided(Emit *emit, Text *text);      /* functions of the steps, and those that make graphs */
void emit_decided_open(Emit *emit, Text *text); /* lines of open */
void emit_decide(Emit *emit, Text *text);       /* the kernel that tells a graph a condition */
void cuda_row(Emit *emit, int row, int depth);  /* the lines of a run, to emit->run */

/* weights.c */
bool emit_takes_weights(const Emit *emit); /* the caller passes the bytes of the weights file */
void emit_weights(Emit *emit, Text *text); /* the declarations in the C file */
void emit_init(Emit *emit, Text *text);    /* <name>_init and <name>_verify, where needed */

/* swap.c - weights that are loaded while the model runs; only where the plan has a Swap. */
void emit_fetch(Emit *emit, int index, const char *blanks); /* the line of a fetch, to emit->run */
void emit_await(Emit *emit, int index, const char *blanks); /* the line in front of a step that waits for one */
void emit_swap_run(Emit *emit, Text *text);                 /* the run function around the function of the steps */
void emit_swap_file(Emit *emit, Emission *emission);        /* the pieces of the weights file */
void emit_swap_sizes(Emit *emit, Text *text);               /* macros of the header */
void emit_swap_type(Emit *emit, Text *text);                /* type of a memory's loader state */
void emit_swap_members(Emit *emit, Text *text);             /* members of the memory's struct */

/* checksum.c - the checksum (occ_sum) of consecutive pieces, after bytes whose checksum is `before` (0: no bytes). */
uint64_t emit_checksum(Arena *arena, uint64_t before, const FilePiece *piece, int count);

/* prune.c - the text of each template piece, by index, less what `target` cannot need, and less what
 * the steps do not need; "" where nothing is left. */
const char **prune_templates(const Emit *emit);

/* chunks.c - the template pieces that `text` needs, in order, and the standard headers. */
void emit_chunks(Emit *emit, const Text *text, Text *includes, Text *chunks);

/* header.c, host.c */
void        emit_header(Emit *emit, Text *text);
const char *emit_keys_name(Emit *emit, const Port *port,
                           bool in); /* of the table that the header declares of a map's keys */
void        emit_host(Emit *emit, Text *text);

#endif
