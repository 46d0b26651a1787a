/* attention.c - attention as one step: softmax of a matmul times another matrix, computed by blocks of rows. */
#include "ops/lower/attention.h"
#include "ops/lower/matmul_steps.h"
#include "support/int.h"

enum {
    BLOCK_FLOATS = 8 * 1024, /* scores of a block, which stay in the first cache */
    LEAST_ROWS = 12,
    MOST_ROWS = 64,
    MOST_KEYS = 768, /* keys processed together; a row with more keys: PART keys for GROUP blocks of rows at a time */
    PART = 256,
    GROUP = 8,
    FEW_ROWS = 4 /* rows; for fewer rows, the kernel reads keys in place */
};

/* Rows and keys (0: all) that are processed together, and rows of a group. A line of scratch holds the scores of one
 * row. `turned` rows of the second factor are copied so that columns are contiguous. */
typedef struct Blocking {
    int64_t rows, part, group, line, turned;
} Blocking;

/* Appends matmul and softmax as steps of their own, for a reader other than the second matmul. */
static int finish_separately(Lower *lower, Deferred *p, Operand y)
{
    Operand scores = lower_temporary(lower, &p->type, LAYOUT_ROW_MAJOR, "scores");

    return matmul_finish(lower, p, scores) < 0 ? -1 : softmax_append(lower, p->node, scores, y, scores.rank - 1, 0);
}

/* The only reader of a value, if it is in the same graph; else NULL. */
static const Node *only_reader(const Lower *lower, const Value *value)
{
    const Node *user = lower->user[value->id];

    if (lower->uses[value->id] != 1 || lower->output[value->id] || lower->inside[value->id].parent || !user ||
        user->graph != value->graph)
        return NULL;
    return user;
}

/* Whether this MatMul reads the softmax's result as its first factor, over the same stack of matrices as the scores. */
static bool takes_weights(const Node *node, const Value *weights, const Matrices *scores)
{
    const Value *v = node->in[1];

    if (node->op != OP_onnx_MatMul || node->in[0] != weights || v == weights || v->data || v->type.dtype != DTYPE_F32 ||
        v->type.rank < 2 || node->out[0]->type.rank != scores->stack + 2)
        return false;
    for (int i = 0; i < scores->stack; i++)
        if (!extent_same(node->out[0]->type.dim[i], scores->dim[i]))
            return false;
    return true;
}

bool attention_softmax(Lower *lower, const Node *node)
{
    Value      *weights = node->out[0];
    const Node *user = only_reader(lower, weights);
    Deferred   *scores = matmul_deferred(lower, node->in[0]), *p;
    int64_t     axis = node_int(node, "axis", -1);

    if (!scores || !user || weights->type.dtype != DTYPE_F32 || (axis != -1 && axis != weights->type.rank - 1) ||
        scores->type.rank != ((Matrices *)scores->detail)->stack + 2 || !takes_weights(user, weights, scores->detail))
        return false;
    p = arena_one(lower->program->arena, Deferred);
    *p = *scores;
    p->node = node;
    p->finish = finish_separately;
    p->accepts = NULL;
    ARENA_PUSH(lower->program->arena, p->origin, p->norigin, p->corigin, (const Node *)node);
    lower->place[weights->id] = (Place){.kind = PLACE_DEFERRED, .deferred = p};
    return true;
}

bool attention_is_deferred(const Lower *lower, const Node *node)
{
    const Place *place = &lower->place[node->in[0]->id];

    return place->kind == PLACE_DEFERRED && place->deferred->finish == finish_separately;
}

/* Chooses even blocks of rows whose scores fit. */
static Blocking choose_blocking(const Matrices *m)
{
    int64_t       rows = int_max(m->rows.max, 1);
    Blocking      b = {.part = m->columns.max > MOST_KEYS ? PART : 0};
    const Extent *a_stride = m->a.stride + m->stack, *b_stride = m->b.stride + m->stack;
    bool near = extent_is(b_stride[1], 1) && !b.part, dots = extent_is(a_stride[1], 1) && extent_is(b_stride[0], 1);

    b.line = int_round_up(b.part ? b.part : int_max(m->columns.max, 1), 16);
    b.rows = int_ceil_div(rows, int_ceil_div(rows, int_max(LEAST_ROWS, int_min(BLOCK_FLOATS / b.line, MOST_ROWS))));
    b.group = b.part ? int_min(b.rows * GROUP, rows) : 0;
    b.turned = near || (rows < FEW_ROWS && (dots || extent_is(b_stride[1], 1))) ? 0 : m->depth.max;
    return b;
}

/* Places the result in the memory order that its only reader, a Transpose, produces, so that the Transpose is a view
 * without a copy. *turned: it was. */
static int place_result(Lower *lower, const Node *node, Operand *y, bool *turned)
{
    const Node    *user = only_reader(lower, node->out[0]);
    int            rank = node->out[0]->type.rank, axes[MAX_RANK], count;
    const int64_t *perm = user && user->op == OP_onnx_Transpose ? node_ints(user, "perm", &count) : NULL;

    *turned = perm && perm[rank - 1] == rank - 1;
    if (!*turned)
        return lower_output_dense(lower, node, 0, y);
    for (int i = 0; i < rank; i++)
        axes[perm[i]] = i;
    *y = operand_permute(lower_temporary(lower, &user->out[0]->type, LAYOUT_ROW_MAJOR, node->out[0]->name), axes);
    return 0;
}

static int append(Lower *lower, const Node *node, Deferred *p, Operand y, Operand v)
{
    const Matrices *m = p->detail;
    Extent          pitch[MATMUL_PITCHES];
    Blocking        by = choose_blocking(m);
    int64_t         scratch = (by.rows + by.turned) * by.line + 3 * by.group;

    matmul_epilogue(p, m, pitch);
    return STEP(lower, node, "attention_f32", ARG(y, y),
                ARG(scratch, lower_scratch(lower, DTYPE_F32, scratch, "scores")), ARG(q, m->a), ARG(k, m->b), ARG(v, v),
                ARG(block, by.rows), ARG(part, by.part), ARG(group, by.group), ARG(turn, by.turned > 0),
                MATMUL_FUSED(p, m, pitch));
}

int attention_matmul(Lower *lower, const Node *node)
{
    Deferred *p = lower->place[node->in[0]->id].deferred;
    Matrices *m = p->detail;
    Extent    dim[MAX_RANK];
    int       first = lower->program->nstep, rank = m->stack + 2;
    Operand   v, y;
    bool      turned;

    if (lower_input(lower, node, 1, &v) < 0 || (!extent_is(v.stride[v.rank - 1], 1) && lower_dense(lower, v, &v) < 0) ||
        place_result(lower, node, &y, &turned) < 0)
        return -1;
    for (int i = 0; i < rank; i++)
        dim[i] = i < m->stack ? m->dim[i] : v.dim[v.rank - rank + i];
    v = operand_broadcast(lower, v, rank, dim);
    v.stride[rank - 1] = y.stride[rank - 1] = extent_const(1); /* an axis of one element has any stride */
    if (append(lower, node, p, y, v) < 0)
        return -1;
    ARENA_PUSH(lower->program->arena, p->origin, p->norigin, p->corigin, (const Node *)node);
    for (int i = first; i < lower->program->nstep; i++) { /* the steps say all nodes that they compute */
        lower->program->step[i].origin = p->origin;
        lower->program->step[i].norigin = p->norigin;
    }
    return turned ? lower_output_view(lower, node, 0, y) : lower_output_done(lower, node, 0, y);
}
