/* test_infer.c - types and small contents through graphs built by hand: what an exporter's shape arithmetic comes out
 * as. */
#include "infer/infer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct World {
    Arena   *arena;
    Diag     diag;
    Infer    infer;
    Graph   *graph;
    DimBound bound[8];
} World;

static int setup(void **state)
{
    World *w = calloc(1, sizeof *w);

    w->arena = arena_new(0);
    w->diag = (Diag){.arena = w->arena, .file = "test.onnx"};
    w->infer = (Infer){.model = model_new(w->arena, "test.onnx"), .diag = &w->diag};
    w->graph = w->infer.model->main = graph_new(w->infer.model, NULL, "test");
    w->infer.model->bound = w->bound;
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    arena_free(((World *)*state)->arena);
    free(*state);
    return 0;
}

/* -------------------------------------------------------------------------------------------- graphs in a few words */

static void bound(World *w, const char *name, int axis, int64_t lo, int64_t hi)
{
    w->bound[w->infer.model->nbound++] = (DimBound){.name = name, .axis = axis, .lo = lo, .hi = hi};
}

/* An input; an extent of -1 goes by names[axis]. */
static Value *input(World *w, const char *name, DType dtype, int rank, const int64_t *dim, const char *const *names)
{
    Value       *value = value_new(w->graph, name);
    const char **all = arena_array(w->arena, const char *, MAX_RANK);

    value->type = type_tensor(dtype, rank, dim);
    for (int i = 0; names && i < rank; i++)
        all[i] = names[i];
    value->dim_name = all;
    ARENA_PUSH(w->arena, w->graph->in, w->graph->nin, w->graph->cin, value);
    return value;
}

static Value *constant(World *w, DType dtype, int rank, int64_t count, const void *data)
{
    Const *contents = arena_one(w->arena, Const);

    *contents = (Const){.data = data, .bytes = count * dtype_info(dtype)->bytes};
    return value_constant(w->graph, NULL, type_tensor(dtype, rank, &count), contents);
}

#define VECTOR(...) constant(w, DTYPE_I64, 1, sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__})
#define SCALAR(x) constant(w, DTYPE_I64, 0, 1, (int64_t[]){x})

static Node *node_in(World *w, Graph *graph, OpKind op, int nin, Value **in, int nout)
{
    Node *node = node_new(graph, op, nin, nout, "");

    (void)w;
    memcpy(node->in, in, (size_t)nin * sizeof *in);
    for (int i = 0; i < nout; i++) {
        node->out[i] = value_new(graph, NULL);
        node->out[i]->def = node;
    }
    graph_append(graph, node);
    return node;
}

#define NODE(op, ...) \
    node_in(w, w->graph, OP_onnx_##op, sizeof((Value *[]){__VA_ARGS__}) / sizeof(Value *), (Value *[]){__VA_ARGS__}, 1)
#define MAKE(op, ...) NODE(op, __VA_ARGS__)->out[0]

static void attribute(World *w, Node *node, const char *name, int64_t value)
{
    Attr *all = arena_array(w->arena, Attr, node->nattr + 1);

    for (int i = 0; i < node->nattr; i++)
        all[i] = node->attr[i];
    all[node->nattr++] = (Attr){.name = name, .kind = ATTR_INT, .i = value};
    node->attr = all;
}

/* Vectors one behind the other. */
static Value *concat_of(World *w, int count, Value **part)
{
    Node *node = node_in(w, w->graph, OP_onnx_Concat, count, part, 1);

    attribute(w, node, "axis", 0);
    return node->out[0];
}

#define CONCAT(...) concat_of(w, sizeof((Value *[]){__VA_ARGS__}) / sizeof(Value *), (Value *[]){__VA_ARGS__})

static void infer(World *w)
{
    if (infer_graph(&w->infer, w->graph) < 0)
        fail_msg("%s", w->diag.message[0]);
}

static void refuses(World *w, DiagClass status, const char *message)
{
    assert_int_equal(infer_graph(&w->infer, w->graph), -1);
    assert_int_equal(w->diag.status, status);
    assert_string_equal(w->diag.message[0], message);
}

/* Extents as text: "3 4<=8": constant 3, one known while running of at most 8. */
static const char *extents(World *w, const Value *value)
{
    char *text = arena_alloc(w->arena, 256);

    for (int i = 0; i < value->type.rank; i++)
        sprintf(text + strlen(text), "%s%s%lld", i ? " " : "", value->type.dim[i].expr >= 0 ? "<=" : "",
                (long long)value->type.dim[i].max);
    return text;
}

#define EXTENTS(value, text) assert_string_equal(extents(w, value), text)

/* x[n,3,4] with n in 1..8. */
static Value *batch_input(World *w)
{
    static const char *const names[] = {"n", NULL, NULL};

    bound(w, "n", BOUND_NAME, 1, 8);
    return input(w, "x", DTYPE_F32, 3, (int64_t[]){-1, 3, 4}, names);
}

/* ----------------------------------------------------------------------------------------------------- shape chains */

static void a_shape_put_together_again_is_the_same_extent(void **state)
{
    World *w = *state;
    Value *x = batch_input(w), *first = MAKE(Gather, MAKE(Shape, x), SCALAR(0));
    Value *shape = CONCAT(MAKE(Unsqueeze, first, VECTOR(0)), VECTOR(-1));
    Value *flat = MAKE(Reshape, x, shape);

    infer(w);
    EXTENTS(flat, "<=8 12");
    assert_true(extent_same(flat->type.dim[0], x->type.dim[0]));
    assert_int_equal(w->infer.model->ncheck, 0);
}

static void a_constant_index_outside_is_left_to_the_run(void **state)
{
    static const float numbers[] = {5.0f, 6.0f};
    World             *w = *state;
    Value             *x = constant(w, DTYPE_F32, 1, 2, numbers), *last = MAKE(Gather, x, SCALAR(-1)),
          *above = MAKE(Gather, x, SCALAR(2));
    Value *below = MAKE(Gather, x, SCALAR(-3));

    infer(w);
    assert_non_null(last->data);
    assert_float_equal(*(const float *)const_aligned(w->arena, last), 6.0f, 0.0f);
    assert_null(above->data);
    assert_null(below->data);
}

static void a_constant_part_of_a_shape_is_a_constant(void **state)
{
    World  *w = *state;
    Value  *part = MAKE(Slice, MAKE(Shape, batch_input(w)), VECTOR(1), VECTOR(3));
    int64_t found[2];
    int     count;

    infer(w);
    assert_true(const_ints(part, found, 2, &count));
    assert_int_equal(count, 2);
    assert_int_equal(found[0], 3);
    assert_int_equal(found[1], 4);
    assert_null(part->def);
}

static void an_open_extent_is_divided_and_checked(void **state)
{
    World *w = *state;
    Value *even = MAKE(Reshape, batch_input(w), VECTOR(-1, 6)), *odd = MAKE(Reshape, w->graph->in[0], VECTOR(-1, 5));

    infer(w);
    EXTENTS(even, "<=16 6");
    EXTENTS(odd, "<=19 5");
    assert_int_equal(w->infer.model->ncheck, 1); /* 12 n need not be a multiple of 5 */
    assert_ptr_equal(w->infer.model->check[0].node, odd->def);
}

static void arithmetic_on_shapes_keeps_intervals(void **state)
{
    World *w = *state;
    Value *n = MAKE(Gather, MAKE(Shape, batch_input(w)), VECTOR(0));
    Value *half = MAKE(Div, MAKE(Add, n, VECTOR(5)), VECTOR(2)), *wide = MAKE(Mul, n, VECTOR(3));
    Value *made = MAKE(ConstantOfShape, CONCAT(half, MAKE(Max, MAKE(Sub, n, VECTOR(4)), VECTOR(0)), wide));

    infer(w);
    EXTENTS(made, "<=6 <=4 <=24");
}

static void a_scaled_extent_goes_through_floats_within_bounds(void **state)
{
    static const float scale = 0.3f;
    World             *w = *state;
    Node              *up = NODE(Cast, MAKE(Gather, MAKE(Shape, batch_input(w)), VECTOR(0))), *down;

    attribute(w, up, "to", DTYPE_F32);
    down = NODE(Cast, MAKE(Floor, MAKE(Mul, up->out[0], constant(w, DTYPE_F32, 0, 1, &scale))));
    attribute(w, down, "to", DTYPE_I64);
    infer(w);
    assert_int_equal(down->out[0]->elem[0].max, 3);
    assert_int_equal(w->infer.model->expr[down->out[0]->elem[0].expr].op, EXPR_ELEM);
    assert_int_equal(w->infer.model->expr[down->out[0]->elem[0].expr].value, down->out[0]->id);
}

static void equal_conditions_on_shapes_choose(void **state)
{
    World *w = *state;
    Value *shape = MAKE(Shape, batch_input(w)), *wanted = VECTOR(-1, 3, -1);
    Value *chosen = MAKE(Where, MAKE(Equal, wanted, VECTOR(-1, -1, -1)), shape, wanted);
    Value *made = MAKE(Expand, constant(w, DTYPE_F32, 0, 1, &(float){1.0f}), chosen);

    infer(w);
    EXTENTS(made, "<=8 3 4");
    assert_true(extent_same(made->type.dim[0], w->graph->in[0]->type.dim[0]));
}

static void top_k_of_at_most_300(void **state)
{
    static const char *const names[] = {"n"};
    World                   *w = *state;
    Value                   *x, *k;
    Node                    *top;

    bound(w, "n", BOUND_NAME, 1, 5000);
    x = input(w, "x", DTYPE_F32, 1, (int64_t[]){-1}, names);
    k = NODE(ReduceMin, CONCAT(MAKE(Shape, x), VECTOR(300)))->out[0];
    attribute(w, k->def, "keepdims", 0);
    top = node_in(w, w->graph, OP_onnx_TopK, 2, (Value *[]){x, k}, 2);
    infer(w);
    EXTENTS(top->out[0], "<=300");
    EXTENTS(top->out[1], "<=300");
}

/* ----------------------------------------------------------------------------------------------------------- bounds */

static void an_unbounded_input_is_refused_with_the_flag(void **state)
{
    static const char *const names[] = {"batch", NULL};
    World                   *w = *state;

    input(w, "x", DTYPE_F32, 2, (int64_t[]){-1, -1}, names);
    refuses(w, DIAG_UNSUPPORTED,
            "test.onnx: inputs have no bound for 'batch' (extent 0 of 'x'), extent 1 of 'x'; say how large "
            "each may be where 16 stands here: --dim batch=1..16 --dim x:1=1..16");
}

static void a_nameless_extent_is_refused_by_place(void **state)
{
    World *w = *state;

    input(w, "x", DTYPE_F32, 1, (int64_t[]){-1}, NULL);
    refuses(w, DIAG_UNSUPPORTED,
            "test.onnx: inputs have no bound for extent 0 of 'x'; say how large each may be where 16 "
            "stands here: --dim x:0=1..16");
}

static void a_name_without_bound_is_asked_for_once(void **state)
{
    static const char *const names[] = {"n"};
    World                   *w = *state;

    input(w, "a", DTYPE_F32, 1, (int64_t[]){-1}, names);
    input(w, "b", DTYPE_F32, 1, (int64_t[]){-1}, names);
    refuses(w, DIAG_UNSUPPORTED,
            "test.onnx: inputs have no bound for 'n' (extent 0 of 'a'); say how large each may be where 16 "
            "stands here: --dim n=1..16");
}

static void inputs_that_share_a_name_share_the_extent(void **state)
{
    static const char *const names[] = {"n"};
    World                   *w = *state;
    Value                   *a, *b, *sum;

    bound(w, "n", BOUND_NAME, 1, 9);
    a = input(w, "a", DTYPE_F32, 1, (int64_t[]){-1}, names);
    b = input(w, "b", DTYPE_F32, 1, (int64_t[]){-1}, names);
    sum = MAKE(Add, a, b);
    infer(w);
    assert_true(extent_same(a->type.dim[0], b->type.dim[0]));
    assert_true(extent_same(a->type.dim[0], sum->type.dim[0]));
}

static void a_pinned_extent_is_constant(void **state)
{
    static const char *const names[] = {"n"};
    World                   *w = *state;
    Value                   *a;

    bound(w, "a", 0, 7, 7);
    a = input(w, "a", DTYPE_F32, 1, (int64_t[]){-1}, names);
    infer(w);
    EXTENTS(a, "7");
}

static void data_dependent_extents_have_natural_bounds(void **state)
{
    World *w = *state;
    Value *places = MAKE(NonZero, batch_input(w));

    infer(w);
    EXTENTS(places, "3 <=96");
}

static void a_declared_extent_is_a_tighter_bound(void **state)
{
    World *w = *state;
    Value *places = MAKE(NonZero, batch_input(w));

    places->declared = type_tensor(DTYPE_I64, 2, (int64_t[]){3, 10});
    infer(w);
    EXTENTS(places, "3 <=10");
}

static void a_run_time_shape_without_bound_is_refused(void **state)
{
    World *w = *state;
    Value *shape = input(w, "shape", DTYPE_I64, 1, (int64_t[]){1}, NULL), *made = MAKE(ConstantOfShape, shape);

    made->name = "made";
    refuses(w, DIAG_UNSUPPORTED,
            "test.onnx: node 0 (ConstantOfShape): output 'made': extent 0 has no bound; declare it in the model "
            "or give --dim made:0=1..N");
}

static void a_flag_bounds_a_run_time_shape(void **state)
{
    World *w = *state;
    Value *shape = input(w, "shape", DTYPE_I64, 1, (int64_t[]){1}, NULL), *made = MAKE(ConstantOfShape, shape);

    made->name = "made";
    bound(w, "made", 0, 0, 20);
    infer(w);
    EXTENTS(made, "<=20");
    assert_true(w->infer.model->ncheck > 0); /* the run still has to look */
}

/* ------------------------------------------------------------------------------------------------------------ rules */

static void the_last_elements_are_as_many_as_asked(void **state)
{
    World *w = *state;
    Value *last = MAKE(Slice, batch_input(w), VECTOR(-2), VECTOR(INT64_MAX), VECTOR(0));
    Value *back = MAKE(Slice, w->graph->in[0], VECTOR(-1), VECTOR(INT64_MIN), VECTOR(1), VECTOR(-2));

    infer(w);
    EXTENTS(last, "<=2 3 4");
    EXTENTS(back, "<=8 2 4");
}

static void extents_that_do_not_broadcast_are_named(void **state)
{
    World *w = *state;

    NODE(Add, input(w, "a", DTYPE_F32, 2, (int64_t[]){2, 3}, NULL),
         input(w, "b", DTYPE_F32, 2, (int64_t[]){2, 4}, NULL));
    refuses(w, DIAG_INVALID,
            "test.onnx: node 0 (Add): extents 3 and 4 of axis 1 do not broadcast; wanted equal ones or a 1");
}

static void a_wrong_element_type_is_named(void **state)
{
    World *w = *state;

    NODE(Exp, input(w, "a", DTYPE_I32, 1, (int64_t[]){2}, NULL));
    refuses(w, DIAG_INVALID,
            "test.onnx: node 0 (Exp): input 0 'a' holds int32, wanted float or double or a smaller float");
}

static void axes_known_while_running_choose_extents(void **state)
{
    World *w = *state;
    Value *axes = input(w, "axes", DTYPE_I64, 1, (int64_t[]){1}, NULL);
    Node  *sum = NODE(ReduceSum, input(w, "x", DTYPE_F32, 2, (int64_t[]){5, 7}, NULL), axes);

    attribute(w, sum, "keepdims", 0);
    infer(w);
    EXTENTS(sum->out[0], "<=7"); /* 5 or 7 */
}

static void a_known_condition_leaves_one_branch(void **state)
{
    World *w = *state;
    Value *rank = MAKE(Size, MAKE(Shape, batch_input(w)));
    Node  *choice = NODE(If, MAKE(Equal, rank, SCALAR(3)));

    for (int b = 0; b < 2; b++) {
        Graph *branch = choice->body[b] = graph_new(w->infer.model, w->graph, b ? "else" : "then");
        Node  *inner =
            node_in(w, branch, b ? OP_onnx_MatMul : OP_onnx_Relu, 1 + b, (Value *[]){w->graph->in[0], rank}, 1);
        ARENA_PUSH(w->arena, branch->out, branch->nout, branch->cout, inner->out[0]);
    }
    infer(w);
    EXTENTS(choice->out[0], "<=8 3 4"); /* the other branch would have been refused */
    for (int i = 0; i < w->graph->nnode; i++)
        assert_int_not_equal(w->graph->node[i]->op, OP_onnx_If);
}

/* y = [], then 4 times y = concat(y, x[1]). */
static void a_carried_value_that_grows_has_its_bound(void **state)
{
    World *w = *state;
    Value *x = input(w, "x", DTYPE_F32, 1, (int64_t[]){3}, NULL),
          *start = input(w, "start", DTYPE_F32, 1, (int64_t[]){2}, NULL);
    Node  *loop = NODE(Loop, SCALAR(4), NULL, start);
    Graph *body = loop->body[0] = graph_new(w->infer.model, w->graph, "body");
    Node  *join;

    for (int i = 0; i < 3; i++)
        ARENA_PUSH(w->arena, body->in, body->nin, body->cin, value_new(body, i == 0 ? "i" : i == 1 ? "go" : "y"));
    join = node_in(w, body, OP_onnx_Concat, 2, (Value *[]){body->in[2], x}, 1);
    attribute(w, join, "axis", 0);
    ARENA_PUSH(w->arena, body->out, body->nout, body->cout, body->in[1]);
    ARENA_PUSH(w->arena, body->out, body->nout, body->cout, join->out[0]);
    infer(w);
    EXTENTS(loop->out[0], "<=14"); /* 2 + 4 * 3 */
    EXTENTS(body->in[2], "<=14");
}

/* ------------------------------------------------------------------------------------------------------------ table */

static void every_row_is_found_by_its_name(void **state)
{
    (void)state;
    for (int i = 0; i < OP_COUNT; i++) { /* what only passes make is in no model */
        bool made = !strcmp(op_info[i].domain, "occamyc");

        assert_int_equal(op_find(op_info[i].domain, op_info[i].name), made ? OP_NONE : i);
    }
    assert_int_equal(op_find("ai.onnx", "Add"), OP_onnx_Add);
    assert_int_equal(op_find("", "Addition"), OP_NONE);
    assert_int_equal(op_find("elsewhere", "Add"), OP_NONE);
}

static void types_of_a_set_are_each_let_in(void **state)
{
    World *w = *state;
    Node  *node = NODE(Abs, VECTOR(1, 2));

    assert_int_equal(infer_check_types(&w->infer, node, "F|f16|i64[1]"), 0);
    assert_int_equal(infer_check_types(&w->infer, node, "IU|f16"), 0);
    node->in[0]->name = "x";
    assert_int_equal(infer_check_types(&w->infer, node, "F|f16|i32"), -1);
    assert_string_equal(w->diag.message[0],
                        "test.onnx: node 0 (Abs): input 0 'x' holds int64, wanted float or double or float16 or int32");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_shape_put_together_again_is_the_same_extent),
        TEST(a_constant_index_outside_is_left_to_the_run),
        TEST(a_constant_part_of_a_shape_is_a_constant),
        TEST(an_open_extent_is_divided_and_checked),
        TEST(arithmetic_on_shapes_keeps_intervals),
        TEST(a_scaled_extent_goes_through_floats_within_bounds),
        TEST(equal_conditions_on_shapes_choose),
        TEST(top_k_of_at_most_300),
        TEST(an_unbounded_input_is_refused_with_the_flag),
        TEST(a_nameless_extent_is_refused_by_place),
        TEST(a_name_without_bound_is_asked_for_once),
        TEST(inputs_that_share_a_name_share_the_extent),
        TEST(a_pinned_extent_is_constant),
        TEST(data_dependent_extents_have_natural_bounds),
        TEST(a_declared_extent_is_a_tighter_bound),
        TEST(a_run_time_shape_without_bound_is_refused),
        TEST(a_flag_bounds_a_run_time_shape),
        TEST(the_last_elements_are_as_many_as_asked),
        TEST(extents_that_do_not_broadcast_are_named),
        TEST(a_wrong_element_type_is_named),
        TEST(types_of_a_set_are_each_let_in),
        TEST(axes_known_while_running_choose_extents),
        TEST(a_known_condition_leaves_one_branch),
        TEST(a_carried_value_that_grows_has_its_bound),
        TEST(every_row_is_found_by_its_name),
    };

    return cmocka_run_group_tests_name("inference", tests, NULL, NULL);
}
