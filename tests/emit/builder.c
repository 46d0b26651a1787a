/* builder.c - see builder.h. */
#include "builder.h"
#include "plan/check.h"
#include "plan/plan.h"
#include "support/files.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

Build *build_new(const char *name)
{
    Arena *arena = arena_new(0);
    Build *b = arena_one(arena, Build);

    b->arena = arena;
    b->diag = (Diag){.arena = arena, .file = name};
    b->model = model_new(arena, arena_printf(arena, "folder/%s.onnx", name));
    b->model->main = graph_new(b->model, NULL, "main");
    b->program = arena_one(arena, Program);
    *b->program = (Program){.model = b->model, .arena = arena, .dims = -1};
    b->program->in = arena_array(arena, Port, 8);
    b->program->out = arena_array(arena, Port, 8);
    b->options = (Options){.output = arena_printf(arena, "%s.c", name),
                           .max_ram = -1,
                           .max_flash = -1,
                           .max_stack = -1,
                           .command_line = arena_printf(arena, "occamyc %s.onnx", name),
                           .plan = {.planner = "auto"}};
    b->emission =
        (Emission){.options = &b->options, .program = b->program, .plan = &b->plan, .name = name, .diag = &b->diag};
    b->emission.upper = arena_strdup(arena, name);
    for (char *c = (char *)b->emission.upper; *c; c++)
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
    return b;
}

void build_free(Build *b)
{
    arena_free(b->arena);
}

Type tensor(DType dtype, int rank, int64_t a, int64_t b, int64_t c)
{
    const int64_t dim[] = {a, b, c};

    return type_tensor(dtype, rank, dim);
}

static int add_buffer(Build *b, BufferKind kind, const char *name, DType dtype, int64_t bytes)
{
    Program *p = b->program;
    Buffer   buffer = {.id = p->nbuffer,
                       .kind = kind,
                       .dtype = dtype,
                       .size = bytes,
                       .align = 16,
                       .copies = 1,
                       .port = -1,
                       .name = arena_printf(b->arena, "%d:%s", p->nbuffer, name)};

    ARENA_PUSH(b->arena, p->buffer, p->nbuffer, p->cbuffer, buffer);
    return buffer.id;
}

static int add_port(Build *b, Port *port, int *count, BufferKind kind, const char *name, Type type)
{
    Value *value = value_new(b->model->main, name);
    int    id = add_buffer(b, kind, name, type.dtype, type_bytes(&type));

    value->type = type;
    b->program->buffer[id].value = value;
    b->program->buffer[id].port = *count;
    port[(*count)++] = (Port){value, type, id, text_identifier(b->arena, name)};
    return id;
}

int build_in(Build *b, const char *name, Type type)
{
    return add_port(b, b->program->in, &b->program->nin, BUFFER_IN, name, type);
}

int build_out(Build *b, const char *name, Type type)
{
    return add_port(b, b->program->out, &b->program->nout, BUFFER_OUT, name, type);
}

int build_act(Build *b, const char *name, DType dtype, int64_t elements)
{
    return add_buffer(b, BUFFER_ACT, name, dtype, elements * dtype_info(dtype)->bytes);
}

int build_weight(Build *b, const char *name, DType dtype, int64_t elements, const void *data)
{
    int id = add_buffer(b, BUFFER_WEIGHT, name, dtype, elements * dtype_info(dtype)->bytes);

    b->program->buffer[id].source = data;
    return id;
}

int build_dims(Build *b)
{
    Program *p = b->program;

    if (p->dims < 0)
        p->dims = add_buffer(b, BUFFER_DIMS, "extents", DTYPE_I64, 8 * 16);
    return p->dims;
}

Extent build_slot(Build *b, Extent extent)
{
    Program *p = b->program;

    build_dims(b);
    if (!p->slot) {
        p->nslot_of = 256;
        p->slot = arena_array(b->arena, int, 256);
        for (int i = 0; i < 256; i++)
            p->slot[i] = -1;
    }
    if (p->slot[extent.expr] < 0)
        p->slot[extent.expr] = p->nslot++;
    return extent;
}

Operand whole(const Build *b, int buffer, Type type, int access)
{
    Operand x = {.buffer = buffer, .dtype = type.dtype, .rank = type.rank, .offset = extent_const(0), .access = access};
    Extent  stride = extent_const(1);

    for (int i = type.rank; i-- > 0;) {
        x.dim[i] = type.dim[i];
        x.stride[i] = stride;
        stride = extent_op(b->model, EXPR_MUL, stride, type.dim[i]);
    }
    return x;
}

Step *build_step(Build *b, StepKind kind)
{
    Program *p = b->program;
    Step     step = {.kind = kind, .until = -1};

    ARENA_PUSH(b->arena, p->step, p->nstep, p->cstep, step);
    return &p->step[p->nstep - 1];
}

Step *build_kernel(Build *b, const char *kernel, const char *op, const char *node)
{
    Step  *step = build_step(b, STEP_KERNEL);
    Node  *origin = arena_one(b->arena, Node);
    Value *none = NULL;

    (void)none;
    origin->loc = (Loc){.node = b->program->nstep - 1, .name = node, .op = op};
    origin->graph = b->model->main;
    step->kernel = kernel_find(kernel);
    if (!step->kernel)
        fail_msg("there is no kernel %s", kernel);
    step->operand = arena_array(b->arena, Operand, 16);
    step->arg = arena_array(b->arena, Arg, 16);
    step->origin = arena_array(b->arena, const Node *, 1);
    step->origin[0] = origin;
    step->norigin = 1;
    return step;
}

void step_operand(Build *b, Step *step, Operand operand, bool is_param)
{
    (void)b;
    step->operand[step->noperand++] = operand;
    if (is_param)
        step->nparam = step->noperand;
}

void step_arg_ints(Build *b, Step *step, int count, const Extent *values)
{
    Extent *copy = arena_array(b->arena, Extent, count + 1);

    memcpy(copy, values, (size_t)count * sizeof *copy);
    step->arg[step->narg++] = (Arg){.kind = ARG_INTS, .count = count, .ints = copy};
}

void step_arg_int(Build *b, Step *step, Extent value)
{
    step_arg_ints(b, step, 1, &value);
    step->arg[step->narg - 1].kind = ARG_INT;
}

/* ------------------------------------------------------------------------------------------------------ expressions */

Scalar *scalar_new(Build *b, bool vector, DType stored)
{
    Scalar *s = arena_one(b->arena, Scalar);

    s->vector = vector;
    s->stored = stored;
    return s;
}

static int add_node(Build *b, Scalar *s, ScalarNode node)
{
    ARENA_PUSH(b->arena, s->node, s->nnode, s->cnode, node);
    return s->nnode - 1;
}

int node_acc(Build *b, Scalar *s)
{
    return add_node(b, s, (ScalarNode){.op = SCALAR_ACC, .dtype = s->stored, .a = -1, .b = -1, .c = -1});
}

int node_load(Build *b, Scalar *s, DType dtype, int operand, int stride)
{
    DType computed = dtype_info(dtype)->class == 'L' || s->vector ? DTYPE_F32 : dtype;

    if (operand >= s->noperand)
        s->noperand = operand + 1;
    return add_node(b, s,
                    (ScalarNode){.op = SCALAR_LOAD,
                                 .dtype = computed,
                                 .a = -1,
                                 .b = -1,
                                 .c = -1,
                                 .operand = operand,
                                 .stride = stride,
                                 .stored = dtype});
}

int node_literal(Build *b, Scalar *s, DType dtype, double value)
{
    return add_node(b, s,
                    (ScalarNode){.op = SCALAR_LITERAL,
                                 .dtype = dtype,
                                 .a = -1,
                                 .b = -1,
                                 .c = -1,
                                 .literal = value,
                                 .integer = (int64_t)value});
}

int node_op(Build *b, Scalar *s, ScalarOp op, int x, int y, int z)
{
    DType dtype = op < SCALAR_FIRST_ROW || scalar_info(op)->result == 'S' ? s->node[z >= 0 ? z : x].dtype : DTYPE_BOOL;

    return add_node(b, s, (ScalarNode){.op = op, .dtype = dtype, .a = x, .b = y, .c = z});
}

Step *build_map(Build *b, const char *node, Scalar *expr, Operand y, Extent n, int nx, const Operand *x)
{
    Step *step =
        build_kernel(b, arena_printf(b->arena, expr->vector ? "map_vf_%s" : "map_%s", dtype_info(expr->stored)->suffix),
                     "Map", node);
    const Extent one = extent_const(1);
    Extent       strides[8];
    int          nload = 0;

    for (int i = 0; i < expr->nnode; i++)
        if (expr->node[i].op == SCALAR_LOAD) {
            strides[expr->node[i].operand] = extent_const(expr->node[i].stride);
            nload = expr->node[i].operand >= nload ? expr->node[i].operand + 1 : nload;
        }
    step_operand(b, step, y, true);
    step_arg_int(b, step, one);
    step_arg_ints(b, step, 1, &n);
    step_arg_ints(b, step, 1, &one);
    step_arg_int(b, step, extent_const(nload));
    step_arg_ints(b, step, nload, strides);
    for (int i = 0; i < nx; i++)
        step_operand(b, step, x[i], false);
    step->expr = expr;
    return step;
}

/* ---------------------------------------------------------------------------------------------------------- results */

static void must(Build *b, int result, const char *what)
{
    if (result < 0)
        fail_msg("%s: %s", what, b->diag.nmessage ? b->diag.message[0] : "no message");
}

void build_emit_again(Build *b)
{
    must(b, emit_program(&b->emission), "emit");
}

void build_emit(Build *b)
{
    program_liveness(b->program);
    must(b, program_check(b->program, &b->diag), "program_check");
    must(b, program_plan(&b->program, &b->options.plan, &b->plan, &b->diag), "program_plan");
    b->emission.program = b->program; /* another one, perhaps */
    must(b, program_confirm(b->program, &b->options.plan, &b->plan, &b->diag), "program_confirm");
    build_emit_again(b);
}

const char *build_write(Build *b, const char *tag)
{
    FileSet     set = {.arena = b->arena};
    const char *folder = arena_printf(b->arena, "%s/gen/%s", TEST_FOLDER, tag);
    const char *stem = arena_printf(b->arena, "%s/%s", folder, b->emission.name);

    mkdir(TEST_FOLDER "/gen", 0777);
    mkdir(folder, 0777);
    files_add(&set, arena_printf(b->arena, "%s.c", stem), b->emission.source.data, b->emission.source.size);
    files_add(&set, arena_printf(b->arena, "%s.h", stem), b->emission.header.data, b->emission.header.size);
    if (b->emission.nweights)
        files_add_pieces(&set, arena_printf(b->arena, "%s.c.weights", stem), b->emission.weights, b->emission.nweights);
    if (b->emission.main.size)
        files_add(&set, arena_printf(b->arena, "%s/main.c", folder), b->emission.main.data, b->emission.main.size);
    must(b, files_publish(&set, &b->diag), "files_publish");
    return folder;
}

char *run_text(const char *command, int *status)
{
    char  *text = calloc(1, 65536);
    FILE  *pipe = popen(command, "r");
    size_t n;

    assert_non_null(pipe);
    n = fread(text, 1, 65535, pipe);
    text[n] = 0;
    *status = pclose(pipe);
    return text;
}

void run_quiet(const char *command)
{
    int   status;
    char *text = run_text(command, &status);

    if (status || *text)
        fail_msg("%s: %.600s", command, text);
    free(text);
}

void *build_load(Build *b, const char *tag, const char *compiler, const char *flags)
{
    const char *stem = arena_printf(b->arena, "%s/%s", build_write(b, tag), b->emission.name);
    void       *handle;

    run_quiet(arena_printf(b->arena, "%s %s -shared -fPIC -o %s.so %s.c -lm 2>&1", compiler, flags, stem, stem));
    handle = dlopen(arena_printf(b->arena, "%s.so", stem), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    return handle;
}

void (*build_symbol(void *handle, const char *name))(void)
{
    void *object = dlsym(handle, name);
    void (*function)(void);

    if (!object)
        fail_msg("%s", dlerror());
    memcpy(&function, &object, sizeof function);
    return function;
}

Build *two_maps(const char *name, int64_t n)
{
    Build  *b = build_new(name);
    float  *w = arena_array(b->arena, float, n);
    Type    type = tensor(DTYPE_F32, 2, 1, n, 0);
    int     x = build_in(b, "x", type), z = build_out(b, "z", type), y = build_act(b, "y", DTYPE_F32, n), weight;
    Scalar *s = scalar_new(b, true, DTYPE_F32), *t = scalar_new(b, true, DTYPE_F32);
    Operand read[2];

    for (int64_t i = 0; i < n; i++)
        w[i] = (float)i * 0.5f - 3.0f;
    weight = build_weight(b, "bias*/", DTYPE_F32, n, w);
    node_op(b, s, SCALAR_mul,
            node_op(b, s, SCALAR_add, node_load(b, s, DTYPE_F32, 0, 1), node_load(b, s, DTYPE_F32, 1, 1), -1),
            node_literal(b, s, DTYPE_F32, 2.0), -1);
    read[0] = whole(b, x, type, OPERAND_READS);
    read[1] = whole(b, weight, type, OPERAND_READS);
    build_map(b, "scale", s, whole(b, y, type, OPERAND_WRITES), extent_const(n), 2, read);
    node_op(b, t, SCALAR_square, node_load(b, t, DTYPE_F32, 0, 1), -1, -1);
    read[0] = whole(b, y, type, OPERAND_READS);
    build_map(b, "square", t, whole(b, z, type, OPERAND_WRITES), extent_const(n), 1, read);
    return b;
}

Build *looping(void)
{
    Build  *b = build_new("looping");
    Type    type = tensor(DTYPE_F32, 1, 4, 0, 0), one = tensor(DTYPE_I64, 0, 0, 0, 0);
    int     x = build_in(b, "x", type), trips = build_in(b, "trips", one), y = build_out(b, "y", type);
    Extent  counter = build_slot(b, extent_symbol(b->model, EXPR_VAR, 0, 0, 0, 8));
    Extent  limit = build_slot(b, extent_symbol(b->model, EXPR_ELEM, 1, 0, 0, 8));
    Extent  early = build_slot(b, extent_op(b->model, EXPR_LT, counter, extent_const(2)));
    Operand read[2];
    Step   *load = build_step(b, STEP_READ);

    load->slot = b->program->slot[limit.expr];
    load->set = limit;
    load->operand = arena_one(b->arena, Operand);
    load->operand[0] = whole(b, trips, one, OPERAND_READS);
    load->noperand = load->nparam = 1;
    for (int branch = -1; branch < 2; branch++) {
        Scalar *s = scalar_new(b, true, DTYPE_F32);
        if (branch == 0) {
            Step *loop = build_step(b, STEP_LOOP);
            loop->slot = b->program->slot[counter.expr];
            loop->set = limit;
            loop->body[0] = (Range){3, 7};
            loop = build_step(b, STEP_SET);
            loop->slot = b->program->slot[early.expr];
            loop->set = early;
            loop = build_step(b, STEP_IF);
            loop->set = early;
            loop->body[0] = (Range){5, 6};
            loop->body[1] = (Range){6, 7};
        }
        read[0] = whole(b, branch < 0 ? x : y, type, OPERAND_READS);
        read[1] = whole(b, x, type, OPERAND_READS);
        if (branch < 0)
            node_op(b, s, SCALAR_mul, node_load(b, s, DTYPE_F32, 0, 1), node_literal(b, s, DTYPE_F32, 0.0), -1);
        else
            node_op(b, s, SCALAR_add, node_load(b, s, DTYPE_F32, 0, 1),
                    node_op(b, s, SCALAR_mul, node_load(b, s, DTYPE_F32, 1, 1),
                            node_literal(b, s, DTYPE_F32, branch ? 10.0 : 1.0), -1),
                    -1);
        build_map(b, "step", s, whole(b, y, type, OPERAND_WRITES), extent_const(4), branch < 0 ? 1 : 2, read);
    }
    return b;
}
