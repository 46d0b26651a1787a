/* recurrent_infer.c - types of RNN, GRU and LSTM. */
#include "infer/infer.h"
#include "ops/rules.h"

#include <string.h>

/* Extents that all three share. */
typedef struct RecurrentExtents {
    Extent steps, batch, directions, hidden;
    bool   batch_first; /* layout 1 */
} RecurrentExtents;

/* x [steps][batch][in], W [directions][gates * hidden][in], R [directions][gates * hidden][hidden], B [directions][2
 * gates * hidden]; with layout 1 the batch is x's first axis. */
static int read_extents(Infer *infer, const Node *node, int gates, RecurrentExtents *out)
{
    const Type *x = infer_in(node, 0), *w, *r;

    for (int i = 0; i < 3; i++)
        if (infer_need(infer, node, i, "FL", 3, 3) < 0 || infer_need_same_dtype(infer, node, 0, i) < 0)
            return -1;
    w = infer_in(node, 1);
    r = infer_in(node, 2);
    out->batch_first = node_int(node, "layout", 0) != 0;
    out->steps = x->dim[out->batch_first];
    out->batch = x->dim[!out->batch_first];
    out->directions = w->dim[0];
    out->hidden = r->dim[2];
    if (infer_need_equal(infer, node, x->dim[2], w->dim[2], "features of the input and of W") < 0 ||
        infer_need_equal(infer, node, w->dim[0], r->dim[0], "directions of W and R") < 0 ||
        infer_need_equal(infer, node, w->dim[1], infer_mul(infer, out->hidden, extent_const(gates)),
                         "rows of W and gates times hidden") < 0 ||
        infer_need_equal(infer, node, r->dim[1], w->dim[1], "rows of R and W") < 0)
        return -1;
    return infer_need_equal(infer, node, extent_const(node_int(node, "hidden_size", out->hidden.max)), out->hidden,
                            "attribute 'hidden_size' and the last extent of R");
}

static int check_direction(Infer *infer, const Node *node, const RecurrentExtents *r)
{
    const char *direction = node_string(node, "direction", "forward");
    int         wanted = strcmp(direction, "bidirectional") ? 1 : 2;

    if (strcmp(direction, "forward") && strcmp(direction, "reverse") && wanted == 1)
        return diag_error(infer->diag, node->loc,
                          "attribute 'direction' is '%s', wanted forward, reverse or bidirectional", direction);
    return infer_need_equal(infer, node, r->directions, extent_const(wanted), "directions of W and of the attribute");
}

static int need_extents(Infer *infer, const Node *node, int input, int rank, const Extent *wanted)
{
    if (!infer_has(node, input))
        return 0;
    if (infer_need_rank(infer, node, input, rank, rank) < 0)
        return -1;
    for (int i = 0; i < rank; i++)
        if (infer_need_equal(infer, node, node->in[input]->type.dim[i], wanted[i],
                             "extents of a bias or an initial state") < 0)
            return -1;
    return 0;
}

/* B (3), sequence_lens (4), initial states (5, 6), peepholes (7). */
static int check_options(Infer *infer, const Node *node, int gates, const RecurrentExtents *r, const Extent *state)
{
    Extent bias[2] = {r->directions, infer_mul(infer, r->hidden, extent_const(2 * gates))};
    Extent peep[2] = {r->directions, infer_mul(infer, r->hidden, extent_const(3))};

    if (need_extents(infer, node, 3, 2, bias) < 0 || infer_need_vector(infer, node, 4, r->batch) < 0 ||
        need_extents(infer, node, 5, 3, state) < 0 || need_extents(infer, node, 6, 3, state) < 0 ||
        need_extents(infer, node, 7, 2, peep) < 0)
        return -1;
    return 0;
}

int infer_recurrent(Infer *infer, Node *node)
{
    int              gates = node->op == OP_onnx_LSTM ? 4 : node->op == OP_onnx_GRU ? 3 : 1;
    RecurrentExtents r;
    Extent           state[3], all[4];
    DType            dtype;

    if (read_extents(infer, node, gates, &r) < 0 || check_direction(infer, node, &r) < 0)
        return -1;
    dtype = node->in[0]->type.dtype;
    state[0] = r.batch_first ? r.batch : r.directions;
    state[1] = r.batch_first ? r.directions : r.batch;
    state[2] = r.hidden;
    if (check_options(infer, node, gates, &r, state) < 0)
        return -1;
    all[0] = r.batch_first ? r.batch : r.steps;
    all[1] = r.batch_first ? r.steps : r.directions;
    all[2] = r.batch_first ? r.directions : r.batch;
    all[3] = r.hidden;
    if (infer_set_tensor(infer, node, 0, dtype, 4, all) < 0 || infer_set_tensor(infer, node, 1, dtype, 3, state) < 0)
        return -1;
    return infer_set_tensor(infer, node, 2, dtype, 3, state);
}
