/* test_check.c - program_check accepts a sound program and names each thing that can be wrong with one. */
#include "plan/check.h"
#include "world.h"

#include "program/operand.h"

#include <string.h>

static const Param  two_params[] = {{.kind = PARAM_WRITES, .ctype = "uint8_t *", .name = "y"},
                                    {.kind = PARAM_READS, .ctype = "const uint8_t *", .name = "x"},
                                    {.kind = PARAM_INT, .ctype = "int64_t", .name = "n"}};
static const Kernel two = {
    .name = "two", .record = &kernel_plain, .param = two_params, .nparam = 3, .code = {{.file = "two.c"}}};

enum { IN, ACT, OUT, SCRATCH };

/* in -> act -> out, each by the kernel `two`; the scratch is not used. */
static void sound(World *w)
{
    world_buffer(w, BUFFER_IN, 16);
    world_buffer(w, BUFFER_ACT, 16);
    world_buffer(w, BUFFER_OUT, 16);
    world_buffer(w, BUFFER_SCRATCH, 16);
    for (int s = 0; s < 2; s++) {
        Extent *n = arena_one(w->arena, Extent);
        Step   *step;

        world_step(w, STEP_KERNEL);
        step = &w->program->step[s];
        step->kernel = &two;
        world_writes(w, s, s + 1);
        world_reads(w, s, s);
        *n = (Extent){16, -1};
        step->arg = arena_one(w->arena, Arg);
        step->arg[0] = (Arg){.kind = ARG_INT, .count = 1, .ints = n};
        step->narg = 1;
    }
}

/* The check fails, and its message holds `part`. */
static void refuses(World *w, const char *part)
{
    w->diag.nmessage = 0;
    w->diag.status = DIAG_NONE;
    assert_int_equal(program_check(w->program, &w->diag), -1);
    assert_int_equal(w->diag.status, DIAG_BUG);
    if (!strstr(w->diag.message[0], part))
        fail_msg("found '%s', wanted '%s' in it", w->diag.message[0], part);
}

static void accepts(World *w)
{
    if (program_check(w->program, &w->diag) < 0)
        fail_msg("%s", w->diag.message[0]);
}

static void a_sound_program_is_accepted(void **state)
{
    sound(*state);
    accepts(*state);
}

static void buffers_are_checked(void **state)
{
    World  *w = *state;
    Buffer *b;

    sound(w);
    b = &w->program->buffer[ACT];
    b->align = 3;
    refuses(w, "alignment 3");
    b->align = 1;
    b->size = -1;
    refuses(w, "-1 bytes");
    b->size = 16;
    b->copies = 2;
    refuses(w, "is no scratch");
    b->copies = 1;
    b->id = 7;
    refuses(w, "calls itself 7");
    b->id = ACT;
    b->kind = BUFFER_WEIGHT;
    refuses(w, "no contents");
}

static void operands_stay_inside(void **state)
{
    World   *w = *state;
    Operand *x;

    sound(w);
    x = &w->program->step[1].operand[1];
    x->dim[0].max = 17;
    refuses(w, "touches bytes 0..17 of 'b1', which has 16");
    x->dim[0].max = 16;
    x->stride[0].max = -1;
    refuses(w, "touches bytes -15..1");
    x->offset.max = 15;
    accepts(w); /* backwards from the last byte */
    x->buffer = 9;
    refuses(w, "names buffer 9 of 4");
}

static void accesses_fit_kernels_and_kinds(void **state)
{
    World *w = *state;
    Step  *s;

    sound(w);
    s = &w->program->step[1];
    s->operand[1].access = 0;
    refuses(w, "neither read nor written");
    s->operand[1].access = OPERAND_READS | OPERAND_WRITES;
    refuses(w, "only reads 'x'");
    s->operand[1].access = OPERAND_READS;
    s->operand[0].access = OPERAND_READS;
    refuses(w, "writes 'y'");
    s->operand[0].access = OPERAND_WRITES;
    s->operand[0].buffer = IN;
    refuses(w, "writes to 'b0', which is constant");
    s->operand[0].buffer = OUT;
    s->narg = 0;
    refuses(w, "no argument for 'n'");
    s->narg = 1;
    s->arg[0].kind = ARG_FLOAT;
    refuses(w, "the wrong kind");
    s->arg[0].kind = ARG_INT;
    s->nparam = 1;
    refuses(w, "no operand for 'x'");
    s->nparam = 2;
    s->kernel = NULL;
    refuses(w, "no kernel");
}

static void reads_come_after_writes(void **state)
{
    World *w = *state;
    Step   first;

    sound(w);
    first = w->program->step[0];
    w->program->step[0] = w->program->step[1];
    w->program->step[1] = first;
    refuses(w, "reads 'b1' before anything was written");
}

static void scratch_belongs_to_one_step(void **state)
{
    World *w = *state;

    sound(w);
    for (int s = 0; s < 2; s++)
        w->program->step[s].operand[0].buffer = SCRATCH;
    refuses(w, "reads 'b1' before");
    for (int s = 0; s < 2; s++) {
        w->program->step[s].operand[0].buffer = s + 1;
        world_window(w, s, SCRATCH, 0, 16, OPERAND_WRITES);
        w->program->step[s].nparam = 2;
    }
    refuses(w, "uses scratch 'b3' of step 0");
}

static void ranges_nest(void **state)
{
    World *w = *state;
    Step  *loop;
    Step   body[2];

    sound(w);
    memcpy(body, w->program->step, sizeof body);
    world_step(w, STEP_KERNEL);
    loop = w->program->step;
    memcpy(loop + 1, body, sizeof body);
    loop[0] = (Step){.kind = STEP_IF, .set = {1, -1}, .body = {{1, 2}, {2, 3}}, .until = -1};
    accepts(w);
    loop[0].body[1] = (Range){1, 3};
    refuses(w, "a body is steps 1..3");
    loop[0].body[1] = (Range){2, 4};
    refuses(w, "ends by 3");
}

static void run_time_integers_have_slots_and_values(void **state)
{
    World *w = *state;
    Extent e = {16, -1};

    sound(w);
    e = extent_symbol(w->program->model, EXPR_VAR, -1, 0, 0, 16);
    w->program->step[1].arg[0].ints = &e;
    refuses(w, "which no slot holds");
    w->program->slot = arena_array(w->arena, int, w->program->model->nexpr);
    w->program->nslot_of = w->program->model->nexpr;
    w->program->nslot = 1;
    refuses(w, "which nothing gives a value");
}

static void expressions_are_checked(void **state)
{
    World     *w = *state;
    ScalarNode node = {
        .op = SCALAR_LOAD, .operand = 0, .a = -1, .b = -1, .c = -1, .dtype = DTYPE_U8, .stored = DTYPE_U8};
    Scalar expr = {.node = &node, .nnode = 1, .noperand = 1};

    sound(w);
    w->program->step[1].expr = &expr;
    refuses(w, "takes no expression");
}

/* ---------------------------------------------------------------------------------- literals that should be extents */

/* A step of a kernel over square matrices of floats whose extent n, 2 to 8, is known only while running. An argument is
 * a word: '.' ends it, n and digits are extents. */
typedef struct Square {
    const char *kernel, *words;
    int         operands; /* the first is written */
} Square;

static const Square squares[] = {
    {"copy_f32", "2. nn. n1. n1.", 2},
    {"map_f32", "2. nn. n1. 1. n1.", 1},
    {"map_vf_f32", "2. nn. n1. 1. n1.", 1},
    {"matmul_f32", "0. .", 3},
    {"matmul_f64", "", 3},
    {"matmul_integer_u8_i8", "0. 0.", 5},
    {"softmax_f32", "0. n. 1. 1. 1. n. n. n.", 2},
    {"lrn_f32", "n. 1. 1. 1. 1. f. f. f. 1. n. n. n.", 2},
    {"reduce_f32", "0. 1. n. 1. n. 1. n. 1.", 2},
    {"conv_f32", "111. 111. 111. 000. 1. 000. 0. .", 4},
    {"conv_f64", "111. 111. 111. 000. 1.", 4},
    {"convtranspose_f64", "111. 111. 111. 000. 1.", 4},
    {"depthwise_f32", "111. 111. 111. 000. 1. 0. .", 4},
    {"pool_f32", "111. 111. 111. 000. 000. 1. f.", 2},
    {"maxpool_u8", "111. 111. 111. 000. 0.", 3},
    {"pad_f32", "2. nn. n1. nn. n1. 00. 0.", 3},
    {"gather_f32", "n. n. n. 1.", 3},
    {"cumsum_f32", "n. n. 1. 0. 0.", 2},
    {"trilu_f32", "1. n. n. 0. 0.", 2},
    {"linear_scores", "n. n. n.", 4},
};

static Arg word_argument(World *w, const char **words, const Param *param, Extent n)
{
    bool    floats = **words == 'f';
    Extent *ints = arena_array(w->arena, Extent, 16);
    double *number = arena_array(w->arena, double, 1);
    Arg     arg = {.ints = ints};

    for (; **words != '.'; ++*words)
        ints[arg.count++] = **words == 'n' ? n : (Extent){**words == 'f' ? 0 : **words - '0', -1};
    *words += (*words)[1] == ' ' ? 2 : 1;
    arg.kind = param->kind == PARAM_INTS ? ARG_INTS : floats ? ARG_FLOAT : ARG_INT;
    return floats ? (Arg){.kind = ARG_FLOAT, .count = 1, .floats = number} : arg;
}

/* Elements as the parameter takes them. */
static DType param_dtype(const Param *param)
{
    static const DType known[] = {DTYPE_F64, DTYPE_I64, DTYPE_I32, DTYPE_U8, DTYPE_I8};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(param->ctype, dtype_info(known[i])->ctype))
            return known[i];
    return DTYPE_F32;
}

static void put_matrix(World *w, Step *step, Extent n, DType dtype, bool is_read)
{
    int      buffer = world_buffer(w, is_read ? BUFFER_IN : BUFFER_OUT, 8 * 8 * 8);
    Operand *x = &step->operand[step->noperand++];

    *x = (Operand){.buffer = buffer,
                   .dtype = dtype,
                   .rank = 2,
                   .dim = {n, n},
                   .stride = {n, {1, -1}},
                   .offset = {0, -1},
                   .access = is_read ? OPERAND_READS : OPERAND_WRITES};
}

/* The rows as images of one line. */
static void make_image(Operand *x, Extent n)
{
    const Extent one = extent_const(1), none = extent_const(0);

    x->rank = 5;
    for (int i = 0; i < 5; i++) {
        x->dim[i] = i % 4 ? one : n;
        x->stride[i] = i == 0 ? n : i == 4 ? one : none;
    }
}

/* The one step of a program, and what a map reads. */
static Step *square_step(World *w, const Square *square)
{
    const char *words = square->words;
    Extent      n = extent_symbol(w->program->model, EXPR_DIM, 0, 0, 2, 8);
    int         index = world_step(w, STEP_KERNEL);
    Step       *step = &w->program->step[index];

    step->kernel = kernel_find(square->kernel);
    assert_non_null(step->kernel);
    step->arg = arena_array(w->arena, Arg, 24);
    world_buffer(w, BUFFER_DIMS, 8);
    w->program->dims = 0;
    w->program->nslot = 1;
    w->program->slot = arena_array(w->arena, int, 1);
    w->program->nslot_of = 1;
    for (int i = 0; i < step->kernel->nparam; i++) {
        const Param *param = &step->kernel->param[i];

        if (param->kind == PARAM_READS || param->kind == PARAM_WRITES)
            put_matrix(w, step, n, param_dtype(param), param->kind == PARAM_READS);
        else if (param->kind == PARAM_SHAPE && !param->ranked)
            make_image(&step->operand[param->of], n);
        else if (param_is_value(param))
            step->arg[step->narg++] = word_argument(w, &words, param, n);
    }
    assert_int_equal(step->noperand, square->operands);
    step->nparam = step->noperand;
    return step;
}

static void literals_are_held_against_extents(void **state)
{
    for (size_t k = 0; k < sizeof squares / sizeof *squares; k++) {
        World *w;
        Step  *step;

        world_teardown(state);
        world_setup(state);
        w = *state;
        step = square_step(w, &squares[k]);
        accepts(w);
        for (int i = 0; i < step->narg; i++)
            for (int j = 0; step->arg[i].ints && j < step->arg[i].count; j++) {
                Extent *at = (Extent *)&step->arg[i].ints[j], kept = *at;

                if (extent_is_const(kept))
                    continue;
                *at = (Extent){8, -1};
                if (strncmp(squares[k].kernel, "map", 3) || i < 3) /* what maps read comes below */
                    refuses(w, "elements before and");
                *at = kept;
            }
    }
}

static void common_axes_are_equal(void **state)
{
    int held = 0;

    for (size_t k = 0; k < sizeof squares / sizeof *squares; k++) {
        World *w;
        Step  *step;

        world_teardown(state);
        world_setup(state);
        w = *state;
        step = square_step(w, &squares[k]);
        for (int i = 0; i < step->kernel->nparam; i++) {
            const Operand *x = step_shape(step, &step->kernel->param[i]);
            Operand       *own = x ? &step->operand[step->kernel->param[i].of] : NULL;

            if (!x)
                continue;
            own->dim[0] = extent_const(8);
            refuses(w, "which is the same");
            own->dim[0] = own->stride[0];
            held++;
        }
    }
    assert_int_equal(held, 21);
}

/* x [n][n] read along its rows, and transposed, by an expression over a matrix. */
static void literal_strides_of_expressions_are_held_against_operands(void **state)
{
    World     *w = *state;
    ScalarNode node = {
        .op = SCALAR_LOAD, .a = -1, .b = -1, .c = -1, .dtype = DTYPE_F32, .stored = DTYPE_F32, .stride = 1};
    Scalar   expr = {.node = &node, .nnode = 1, .noperand = 1, .stored = DTYPE_F32};
    Step    *step = square_step(w, &squares[1]);
    Operand *x = &step->operand[1];
    Extent  *stride = (Extent *)step->arg[4].ints, n = stride[0];

    put_matrix(w, step, n, DTYPE_F32, true);
    step->expr = &expr;
    accepts(w);
    node.stride = 8;
    refuses(w, "reads operand 0 every 8 elements");
    x->stride[0] = stride[0] = (Extent){1, -1};
    x->stride[1] = stride[1] = n;
    refuses(w, "reads operand 0 every 8 elements");
}

/* ---------------------------------------------------------------------------------------------------------- slices */

static double work_of_lines(const Step *step)
{
    return step_results(step);
}

static const Param lines_params[] = {{.kind = PARAM_WRITES, .ctype = "uint8_t *", .name = "y"},
                                     {.kind = PARAM_READS, .ctype = "const uint8_t *", .name = "x"},
                                     {.kind = PARAM_INT, .ctype = "int64_t", .name = "rows"},
                                     {.kind = PARAM_INT, .ctype = "int64_t", .name = "n"},
                                     {.kind = PARAM_INT, .ctype = "int64_t", .name = "one"}};

/* in -> out of 4 rows of 4 bytes, in two slices: by a kernel whose record says how far operands move for each row, and
 * what it touches of y. */
static void lines(World *w, const char *moves, const char *terms)
{
    KernelRecord *record = arena_one(w->arena, KernelRecord);
    Kernel       *kernel = arena_one(w->arena, Kernel);
    const int64_t value[] = {4, 4, 1};
    Step         *step;

    *record = (KernelRecord){.cut = {cut_offer_first_line, cut_take_line, work_of_lines, false},
                             .line = {{"rows", moves}},
                             .touched = {{"y", terms}}};
    *kernel =
        (Kernel){.name = "lines", .record = record, .param = lines_params, .nparam = 5, .code = {{.file = "lines.c"}}};
    w->program->nbuffer = w->program->nstep = 0;
    world_buffer(w, BUFFER_IN, 16);
    world_buffer(w, BUFFER_OUT, 16);
    world_step(w, STEP_KERNEL);
    step = &w->program->step[0];
    step->kernel = kernel;
    world_writes(w, 0, 1);
    world_reads(w, 0, 0);
    step->arg = arena_array(w->arena, Arg, 3);
    for (; step->narg < 3; step->narg++) {
        Extent *extent = arena_one(w->arena, Extent);

        *extent = extent_const(value[step->narg]);
        step->arg[step->narg] = (Arg){.kind = ARG_INT, .count = 1, .ints = extent};
    }
    step->slices = 2;
    step->remainder = -1;
}

/* Rows 2 and 3 are the second slice. */
static void slices_are_checked(void **state)
{
    World *w = *state;

    lines(w, "x=n, y=n", "rows n");
    accepts(w);
    lines(w, "x=n, y=m", "rows n"); /* an argument that does not exist */
    refuses(w, "slice 1 of lines: operand 0 is written by another slice, too");
    lines(w, "x=n", "rows n");
    refuses(w, "slice 1 of lines: operand 0 is written by another slice, too");
    lines(w, "x=n, y=5", "rows n");
    refuses(w, "slice 1 of lines: operand 0 ends behind the whole");
    lines(w, "x=n, y=n*n", "rows n");
    refuses(w, "slice 1 of lines: operand 0 ends behind the whole");
    lines(w, "x=n*n, y=n", "rows n");
    refuses(w, "slice 1 of lines: operand 1 begins outside the whole");
}

/* Rows of a slice without its last one. */
static void take_fewer(Step *slice, const UnitRange *range)
{
    cut_take_line(slice, range);
    slice_set(slice, "rows", 0, extent_const(range->count.max - 1));
}

/* Slices of columns lie between each other's rows. */
static void slices_write_all_elements(void **state)
{
    KernelRecord *record;
    World        *w = *state;

    lines(w, "x=n, y=n", "rows n");
    record = (KernelRecord *)w->program->step[0].kernel->record;
    record->cut.take = take_fewer;
    refuses(w, "slice 1 of lines: operand 0 and those before leave elements unwritten");
    lines(w, "x=1, y=1", "rows:one n:n");
    accepts(w);
    lines(w, "x=1, y=2", "rows:one n:n");
    refuses(w, "slice 1 of lines: operand 0 ends behind the whole");
    lines(w, "x=1, y=n", "rows:one n:n");
    refuses(w, "slice 1 of lines: operand 0 ends behind the whole");
}

static void names_of_what_is_touched_are_checked(void **state)
{
    lines(*state, "x=n, y=n", "rows m");
    ((World *)*state)->program->step[0].slices = 0;
    refuses(*state, "the record of lines says that it touches 'rows m' of y");
    lines(*state, "x=n, y=n", "rows:an_argument_of_a_name_that_is_far_too_long");
    ((World *)*state)->program->step[0].slices = 0;
    refuses(*state, "the record of lines says that it touches 'rows:an_argument");
}

#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_sound_program_is_accepted),
        T(buffers_are_checked),
        T(operands_stay_inside),
        T(accesses_fit_kernels_and_kinds),
        T(reads_come_after_writes),
        T(scratch_belongs_to_one_step),
        T(ranges_nest),
        T(run_time_integers_have_slots_and_values),
        T(expressions_are_checked),
        T(literals_are_held_against_extents),
        T(common_axes_are_equal),
        T(literal_strides_of_expressions_are_held_against_operands),
        T(slices_are_checked),
        T(slices_write_all_elements),
        T(names_of_what_is_touched_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
