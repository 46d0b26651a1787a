/* interpret.c - scalar expressions run node by node. Every operator is the template's own function, so folding a
 * constant and running the generated code give the same bits. */
#include "program/interpret.h"

#include "codegen_templates/c/base/occ_vpow.h"

#include <stdio.h>
#include <string.h>

/* The kernel copies its occ_expr and passes it to the expression; the pointer of the last operand carries the
 * interpreter. */
enum { SELF = SCALAR_MAX_OPERANDS - 1, MAX_CALLS = 3 };

/* One scalar of any type. */
typedef union Element {
    float    f32;
    double   f64;
    int64_t  i64;
    uint64_t bits[2];
} Element;

/* A prepared node: the cells of its operands, then functions, each applied to the result of the one before. */
typedef struct Ready {
    const ScalarNode *node;
    int               bytes; /* LOAD: of an element */
    void (*call[MAX_CALLS])(void *result, const void *const *operand);
    int ncall;
} Ready;

struct Interpreter {
    occ_expr      bound;
    const Scalar *expr;
    DType         stored;
    bool          vector;
    Ready        *ready; /* by node, and one more that stores the result */
    Element      *cell;  /* by node */
    occ_vf       *lane;  /* by node, in the vector class */
    void (*function)(void);
};

/* -------------------------------------------------------------------------------------------------------- preparing */

static bool is_low(DType dtype)
{
    return dtype_info(dtype)->class == 'L';
}

/* Appends a function by its name, composed of up to two suffixes; false: there is no such function. */
static bool push_call(Ready *ready, const char *format, const char *first, const char *second)
{
    const ScalarFunction *function;
    char                  name[64];

    snprintf(name, sizeof name, format, first, second);
    function = scalar_function_find(name);
    if (!function || ready->ncall == MAX_CALLS)
        return false;
    ready->call[ready->ncall++] = function->call;
    return true;
}

static bool push_cast(Ready *ready, DType from, DType to)
{
    return from == to || push_call(ready, "cast_%s_%s", dtype_info(from)->suffix, dtype_info(to)->suffix);
}

static bool push_narrow(Ready *ready, DType low, bool saturate)
{
    bool plain = saturate || low == DTYPE_F16 || low == DTYPE_BF16 || low == DTYPE_F4E2M1;

    return push_call(ready, plain ? "f32_to_%s%s" : "f32_to_%s_unsaturated%s", dtype_info(low)->suffix, "");
}

static bool push_round(Ready *ready, DType low, bool saturate)
{
    return push_narrow(ready, low, saturate) && push_call(ready, "%s_to_f32%s", dtype_info(low)->suffix, "");
}

static bool prepare_node(Interpreter *in, Ready *ready, const ScalarNode *n)
{
    DType from = n->a >= 0 && n->op != SCALAR_LOAD && n->op != SCALAR_LITERAL && n->op != SCALAR_ACC
                     ? dtype_computed(in->expr->node[n->a].dtype)
                     : DTYPE_NONE;

    ready->node = n;
    switch (n->op) {
    case SCALAR_ACC:
        return !is_low(in->stored) || push_call(ready, "%s_to_f32%s", dtype_info(in->stored)->suffix, "");
    case SCALAR_LOAD:
        ready->bytes = dtype_info(n->stored)->bytes;
        return !is_low(n->stored) || push_call(ready, "%s_to_f32%s", dtype_info(n->stored)->suffix, "");
    case SCALAR_LITERAL:
        return true;
    case SCALAR_CAST:
        return is_low(n->dtype) ? push_cast(ready, from, DTYPE_F32) && push_round(ready, n->dtype, n->saturate)
                                : push_cast(ready, from, n->dtype);
    case SCALAR_ROUND_TO:
        return push_round(ready, n->dtype_to, n->saturate);
    default:
        if (scalar_info(n->op)->arity == 3)
            from = dtype_computed(in->expr->node[n->b].dtype);
        return push_call(ready, "%s_%s", scalar_info(n->op)->name, dtype_info(from)->suffix);
    }
}

/* The last step: the result as the kernel stores it. */
static bool prepare_store(Interpreter *in, Ready *ready)
{
    const ScalarNode *last = &in->expr->node[in->expr->nnode - 1];
    DType             from = dtype_computed(last->dtype);

    if (!is_low(in->stored))
        return push_cast(ready, from, in->stored);
    return push_cast(ready, from, DTYPE_F32) &&
           push_narrow(ready, in->stored, last->op != SCALAR_ROUND_TO || last->saturate);
}

static bool vector_node_is_known(const Interpreter *in, const ScalarNode *n)
{
    const ScalarInfo *info = scalar_info(n->op);

    if (n->op == SCALAR_CAST)
        return n->dtype == DTYPE_F32 || n->dtype == DTYPE_BOOL || n->dtype == in->expr->node[n->a].dtype;
    if (n->op == SCALAR_LOAD)
        return n->stored == DTYPE_F32 || dtype_is_byte(n->stored) || n->stored == DTYPE_BOOL || n->stored == DTYPE_I32;
    return info ? info->vector : n->op != SCALAR_ROUND_TO;
}

static Scalar *identity(Arena *arena, DType stored)
{
    Scalar *expr = arena_one(arena, Scalar);

    expr->node = arena_one(arena, ScalarNode);
    expr->node[0] = (ScalarNode){.op = SCALAR_ACC, .dtype = dtype_computed(stored), .a = -1, .b = -1, .c = -1};
    expr->nnode = 1;
    return expr;
}

/* ----------------------------------------------------------------------------------------------------- scalar class */

static void run_calls(const Ready *ready, const void *const *operand, Element *out)
{
    for (int i = 0; i < ready->ncall; i++) {
        const void *before[1];
        Element     kept = *out;

        before[0] = &kept;
        *out = (Element){.bits = {0, 0}};
        ready->call[i](out, i ? before : operand);
    }
}

static void put_literal(const ScalarNode *n, Element *out)
{
    DType dtype = dtype_computed(n->dtype);

    if (dtype == DTYPE_F32)
        out->f32 = (float)n->literal;
    else if (dtype == DTYPE_F64)
        out->f64 = n->literal;
    else
        memcpy(out, &n->integer,
               sizeof n->integer); /* narrower types are its first bytes, which holds on little-endian hosts only */
}

static void run_node(Interpreter *in, int index, const occ_expr *e, const void *acc, int64_t c)
{
    const Ready      *ready = &in->ready[index];
    const ScalarNode *n = ready->node;
    Element          *out = &in->cell[index];
    const void       *operand[3] = {NULL, NULL, NULL};

    if (n->op == SCALAR_LITERAL) {
        put_literal(n, out);
    } else if (n->op == SCALAR_ACC || n->op == SCALAR_LOAD) {
        operand[0] = n->op == SCALAR_ACC
                         ? acc
                         : (const char *)e->x[n->operand] + (e->at[n->operand] + c * n->stride) * ready->bytes;
        if (ready->ncall)
            run_calls(ready, operand, out);
        else
            memcpy(out, operand[0], (size_t)(n->op == SCALAR_ACC ? dtype_info(in->stored)->bytes : ready->bytes));
    } else {
        const int part[3] = {n->a, n->b, n->c};

        for (int i = 0; i < 3; i++)
            if (part[i] >= 0)
                operand[i] = &in->cell[part[i]];
        if (ready->ncall)
            run_calls(ready, operand, out);
        else
            *out = in->cell[n->a];
    }
}

static void run_scalar(const occ_expr *e, const void *acc, int64_t c, void *result)
{
    Interpreter *in = (Interpreter *)e->x[SELF];
    int          last = in->expr->nnode - 1;
    const void  *operand[1];
    Element      stored;

    for (int i = 0; i <= last; i++)
        run_node(in, i, e, acc, c);
    stored = in->cell[last];
    operand[0] = &in->cell[last];
    run_calls(&in->ready[last + 1], operand, &stored);
    memcpy(result, &stored, (size_t)dtype_info(in->stored)->bytes);
}

/* One function for each stored type that kernels have expressions of. */
#define STORED(suffix, ctype) \
    static ctype run_##suffix(const occ_expr *e, ctype acc, int64_t c) \
    { \
        ctype result; \
\
        run_scalar(e, &acc, c, &result); \
        return result; \
    }
#define DTYPE(name, code, ctype, bits, bytes, suffix, class) STORED_##class(suffix, ctype)
#define STORED_F(suffix, ctype) STORED(suffix, ctype)
#define STORED_I(suffix, ctype) STORED(suffix, ctype)
#define STORED_U(suffix, ctype) STORED(suffix, ctype)
#define STORED_B(suffix, ctype) STORED(suffix, ctype)
#define STORED_L(suffix, ctype) STORED(suffix, ctype)
#define STORED_C(suffix, ctype)
#define STORED_S(suffix, ctype)
#include "schemas/dtypes.def"

static const struct {
    const char *function;
    DType       stored;
    void (*run)(void);
} stored_row[] = {
#undef STORED
#define STORED(suffix, code) {"occ_fn_" #suffix, (DType)(code), (void (*)(void))run_##suffix},
#define DTYPE(name, code, ctype, bits, bytes, suffix, class) STORED_##class(suffix, code)
#include "schemas/dtypes.def"
};

/* ----------------------------------------------------------------------------------------------------- vector class */

static float load_as_float(const ScalarNode *n, const occ_expr *e, int64_t index)
{
    const char *x = e->x[n->operand];
    float       value;

    if (n->stored == DTYPE_I32)
        return (float)((const int32_t *)(const void *)x)[index];
    if (n->stored == DTYPE_I8)
        return ((const int8_t *)(const void *)x)[index];
    if (n->stored != DTYPE_F32)
        return ((const uint8_t *)(const void *)x)[index];
    memcpy(&value, x + index * 4, sizeof value);
    return value;
}

static occ_vf load_lanes(const ScalarNode *n, const occ_expr *e, int64_t c, int count)
{
    float  lane[OCC_W] = {0};
    occ_vf v;

    for (int i = 0; i < count; i++)
        lane[i] = load_as_float(n, e, e->at[n->operand] + (c + i) * n->stride);
    memcpy(&v, lane, sizeof v);
    return v;
}

#define VECTOR_CALL_1(name) occ_v##name(a)
#define VECTOR_CALL_2(name) occ_v##name(a, b)
#define VECTOR_CALL_3(name) occ_v##name(a, b, c)
#define VECTOR_CASE_0(name, arity)
#define VECTOR_CASE_1(name, arity) \
    case SCALAR_##name: \
        return VECTOR_CALL_##arity(name);
#define VECTOR_CASE_2 VECTOR_CASE_1

static occ_vf vector_operator(ScalarOp op, occ_vf a, occ_vf b, occ_vf c)
{
    (void)c;
    switch (op) {
#define SCALAR(name, arity, vector, result) VECTOR_CASE_##vector(name, arity)
#include "schemas/scalars.def"
    default:
        return a;
    }
}

static occ_vf vector_node(const Interpreter *in, const ScalarNode *n, const occ_expr *e, occ_vf acc, int64_t c,
                          int count)
{
    occ_vf zero = occ_vset(0.0f), a = n->a >= 0 ? in->lane[n->a] : zero;

    switch (n->op) {
    case SCALAR_ACC:
        return acc;
    case SCALAR_LOAD:
        return load_lanes(n, e, c, count);
    case SCALAR_LITERAL:
        return occ_vset(n->dtype == DTYPE_F32 || n->dtype == DTYPE_F64 ? (float)n->literal : (float)n->integer);
    case SCALAR_CAST:
        return n->dtype == DTYPE_BOOL && in->expr->node[n->a].dtype != DTYPE_BOOL ? occ_vnot(occ_veq(a, zero)) : a;
    default:
        return vector_operator(n->op, a, n->b >= 0 ? in->lane[n->b] : zero, n->c >= 0 ? in->lane[n->c] : zero);
    }
}

static occ_vf run_vector(const occ_expr *e, occ_vf acc, int64_t c, int count)
{
    const Interpreter *in = e->x[SELF];

    for (int i = 0; i < in->expr->nnode; i++)
        in->lane[i] = vector_node(in, &in->expr->node[i], e, acc, c, count);
    return in->lane[in->expr->nnode - 1];
}

/* ----------------------------------------------------------------------------------------------------- entry points */

Interpreter *interpret_prepare(Arena *arena, const Scalar *expr, const char *function)
{
    Interpreter *in = arena_one(arena, Interpreter);
    bool         good = true;

    in->vector = !strcmp(function, "occ_fn_vf");
    in->stored = in->vector ? DTYPE_F32 : DTYPE_NONE;
    in->function = (void (*)(void))run_vector;
    for (size_t i = 0; !in->vector && i < sizeof stored_row / sizeof *stored_row; i++)
        if (!strcmp(stored_row[i].function, function)) {
            in->stored = stored_row[i].stored;
            in->function = stored_row[i].run;
        }
    if (in->stored == DTYPE_NONE || (expr && expr->noperand > SELF))
        return NULL;
    in->expr = expr ? expr : identity(arena, in->stored);
    in->ready = arena_array(arena, Ready, in->expr->nnode + 1);
    in->cell = arena_array(arena, Element, in->expr->nnode);
    in->lane = arena_array(arena, occ_vf, in->expr->nnode);
    for (int i = 0; good && i < in->expr->nnode; i++)
        good = in->vector ? vector_node_is_known(in, &in->expr->node[i])
                          : prepare_node(in, &in->ready[i], &in->expr->node[i]);
    return good && (in->vector || prepare_store(in, &in->ready[in->expr->nnode])) ? in : NULL;
}

const occ_expr *interpret_bind(Interpreter *interpreter, void *const *x, int count)
{
    interpreter->bound = (occ_expr){.at = {0}};
    for (int i = 0; i < count && i < SELF; i++)
        interpreter->bound.x[i] = x[i];
    interpreter->bound.x[SELF] = interpreter;
    return &interpreter->bound;
}

void (*interpret_function(const Interpreter *interpreter))(void)
{
    return interpreter->function;
}
