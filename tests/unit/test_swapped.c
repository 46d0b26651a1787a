/* test_swapped.c - a small model whose weights are loaded while it runs: in every budget the steps, executed in this
 * process in an arena of the planned size, give the bits of plain loops; tables are loaded by rows or stay. */
#include "alternatives/swapped.h"
#include "graph/ops.h"
#include "limits/usage.h"
#include "program/loaded.h"
#include "program/row_table.h"
#include "program/weight.h"
#include "world.h"

#include <string.h>

enum { WORDS = 200, WIDE = 64, OUT = 96, COUNT = 6 };

static float         table[WORDS][WIDE], matrix[WIDE][OUT];
static const int64_t ids[COUNT] = {7, 8, 9, -1, 0, 199};

static Value *constant(Graph *graph, const char *name, int64_t rows, int64_t columns, const void *data)
{
    const int64_t dim[] = {rows, columns};
    Const        *bytes = arena_one(graph->model->arena, Const);

    *bytes = (Const){.data = data, .bytes = rows * columns * 4};
    return value_constant(graph, name, type_tensor(DTYPE_F32, 2, dim), bytes);
}

static Value *make_node(Graph *graph, int op, const char *name, Value *a, Value *b, int64_t columns)
{
    const int64_t dim[] = {COUNT, columns};
    Node         *node = node_new(graph, op, 2, 1, name);
    Value        *y = value_new(graph, name);

    y->type = type_tensor(DTYPE_F32, 2, dim);
    y->def = node;
    node->in[0] = a;
    node->in[1] = b;
    node->out[0] = y;
    node->loc = (Loc){.node = graph->nnode, .op = name, .name = name};
    ARENA_PUSH(graph->model->arena, graph->node, graph->nnode, graph->cnode, node);
    return y;
}

/* y = table[ids] x matrix */
static Model *make_model(World *w)
{
    const int64_t dim[] = {COUNT};
    Model        *model = model_new(w->arena, "test.onnx");
    Graph        *graph = model->main = graph_new(model, NULL, "test");
    Value        *x = value_new(graph, "ids"), *words, *y;

    for (int i = 0; i < WORDS * WIDE; i++)
        table[i / WIDE][i % WIDE] = (float)(i % 97 - 48) / 16.0F;
    for (int i = 0; i < WIDE * OUT; i++)
        matrix[i / OUT][i % OUT] = (float)(i % 89 - 44) / 8.0F;
    x->type = type_tensor(DTYPE_I64, 1, dim);
    ARENA_PUSH(w->arena, graph->in, graph->nin, graph->cin, x);
    words = make_node(graph, OP_onnx_Gather, "words", constant(graph, "table", WORDS, WIDE, table), x, WIDE);
    y = make_node(graph, OP_onnx_MatMul, "y", words, constant(graph, "matrix", WIDE, OUT, matrix), OUT);
    ARENA_PUSH(w->arena, graph->out, graph->nout, graph->cout, y);
    return model;
}

static Lowering lowering_of(World *w, int64_t budget)
{
    Lowering lowering = {.model = make_model(w), .target = target_find("portable"), .diag = &w->diag};

    lowering.options = (Options){.max_ram = budget,
                                 .max_flash = -1,
                                 .max_stack = -1,
                                 .loader = {1e-3, 1e3, 16},
                                 .plan = {.planner = "auto", .reorder = 1, .weights = WEIGHTS_SWAP}};
    return lowering;
}

static Alternative plan_within(World *w, const Lowering *lowering)
{
    Alternative v = {.form = alternative_form(lowering)};

    if (alternative_lower(lowering, &v) < 0 || alternative_plan(lowering, &v) < 0)
        fail_msg("%s", w->diag.message[w->diag.nmessage - 1]);
    return v;
}

/* Where each buffer lies: planned ones in the arena, blocks that stay and all else in memory of their own. */
static void **memory_of(World *w, const Alternative *v)
{
    const Program *p = v->program;
    void         **memory = arena_array(w->arena, void *, p->nbuffer + 1);
    char          *arena = arena_alloc(w->arena, (size_t)v->plan.peak + 1);

    memset(arena, 0xa5, (size_t)v->plan.peak);
    for (int b = 0; b < p->nbuffer; b++)
        if (v->plan.offset[b] >= 0)
            memory[b] = arena + v->plan.offset[b];
        else if (p->buffer[b].kind == BUFFER_WEIGHT)
            memory[b] = weight_whole(w->arena, &p->buffer[b], 64);
        else
            memory[b] = arena_alloc(w->arena, (size_t)p->buffer[b].size + 1);
    memcpy(memory[p->in[0].buffer], ids, sizeof ids);
    return memory;
}

/* Sums of these numbers are exact in every order. */
static void expect_product(World *w, const Alternative *v)
{
    void       **memory = memory_of(w, v);
    const float *y = memory[v->program->out[0].buffer];

    assert_int_equal(program_run(v->program, memory), 0);
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < OUT; k++) {
            const float *row = table[ids[i] < 0 ? ids[i] + WORDS : ids[i]];
            float        sum = 0;

            for (int n = 0; n < WIDE; n++)
                sum += row[n] * matrix[n][k];
            assert_true(y[i * OUT + k] == sum);
        }
}

static int64_t ram_of(const Lowering *lowering, const Alternative *v)
{
    return usage_of(v->program, &v->plan, &lowering->options).ram;
}

static void every_budget_gives_the_same(void **state)
{
    World   *w = *state;
    Lowering least = lowering_of(w, 1), all = lowering_of(w, 1000000);
    int64_t  from, to;
    double   before = 0;

    Alternative v = plan_within(w, &least), most = plan_within(w, &all);

    from = ram_of(&least, &v);
    to = ram_of(&all, &most);
    assert_true(from < to);
    for (int i = 0; i <= 8; i++) {
        Lowering lowering = lowering_of(w, from + (to - from) * i / 8);

        v = plan_within(w, &lowering);
        assert_true(ram_of(&lowering, &v) <= lowering.options.max_ram);
        assert_true(i == 0 || v.plan.swap->time <= before * 1.02);
        before = v.plan.swap->time;
        expect_product(w, &v);
    }
}

static void tables_stay_where_there_is_room(void **state)
{
    World      *w = *state;
    Lowering    least = lowering_of(w, 1), all = lowering_of(w, 1000000);
    Alternative small = plan_within(w, &least), large = plan_within(w, &all);

    assert_int_equal(small.plan.swap->rows, COUNT);
    assert_true(small.plan.swap->tables >= (int64_t)sizeof table);
    assert_true(ram_of(&least, &small) < (int64_t)sizeof table / 2);
    assert_int_equal(large.plan.swap->rows, 0);
    assert_int_equal(large.plan.swap->tables, 0);
    assert_int_equal(large.plan.swap->read, 0);
}

static void without_a_budget_there_is_a_plan_at_the_knee(void **state)
{
    World      *w = *state;
    Lowering    lowering = lowering_of(w, -1);
    Alternative v = plan_within(w, &lowering);

    assert_non_null(v.plan.swap);
    assert_true(v.plan.swap->bound <= v.plan.swap->time * (1 + 1e-9));
    expect_product(w, &v);
}

static void a_table_lies_in_the_file_row_by_row(void **state)
{
    World      *w = *state;
    Lowering    lowering = lowering_of(w, 1);
    Alternative v = plan_within(w, &lowering);
    int         count;
    const int  *order = program_file_order(v.program, &count);
    Buffer     *b = &v.program->buffer[order[count - 1]];
    char       *bytes = arena_alloc(w->arena, (size_t)b->size), piece[512];

    assert_int_equal(b->kind, BUFFER_TABLE);
    assert_int_equal(b->row, WIDE * 4);
    table_bytes(v.program, b, 0, b->size, bytes);
    for (int i = 0; i < WORDS; i++)
        assert_memory_equal(bytes + i * b->pitch, table[i], sizeof table[i]);
    for (int64_t at = 0; at < b->size; at += 300) { /* pieces that begin and end anywhere */
        int64_t taken = b->size - at < 300 ? b->size - at : 300;

        table_bytes(v.program, b, at, taken, piece);
        assert_memory_equal(bytes + at, piece, (size_t)taken);
    }
}

static void a_table_in_another_place_is_refused(void **state)
{
    World      *w = *state;
    Lowering    lowering = lowering_of(w, 1);
    Alternative v = plan_within(w, &lowering);
    int         count;
    const int  *order = program_file_order(v.program, &count);
    int         table_id = order[count - 1];
    int64_t     sound = v.plan.stored[table_id];
    int64_t     wrong[] = {0, WEIGHT_HEADER, sound - 16, sound + 8, sound + 16, -16};

    assert_int_equal(program_recheck_file(v.program, &v.plan, &w->diag), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Diag quiet = {.arena = w->arena, .file = "test"};

        v.plan.stored[table_id] = wrong[i];
        assert_int_equal(program_recheck_file(v.program, &v.plan, &quiet), -1);
    }
    v.plan.stored[table_id] = sound;
    v.plan.swap->file--;
    assert_int_equal(program_recheck_file(v.program, &v.plan, &w->diag), -1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_budget_gives_the_same),
        TEST(tables_stay_where_there_is_room),
        TEST(without_a_budget_there_is_a_plan_at_the_knee),
        TEST(a_table_lies_in_the_file_row_by_row),
        TEST(a_table_in_another_place_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
