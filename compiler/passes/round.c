/* pass_round - products whose model allows bytes (MatMulNBits with accuracy_level 4 and weights of 4 bits) read rows
 * that a node of its own has rounded (RoundBlocks, NBitsProduct): products of one tensor share it, and threads do.
 * ONNX Runtime rounds the same inputs: those of products whose zero points are no floats, without g_idx.
 * requires: order, types    keeps: order, types    breaks: use counts */
#include "graph/make.h"
#include "ops/quant/nbits.h"
#include "passes/passes.h"
#include "passes/quant.h"

#include <string.h>

enum { X, W, SCALE, ZERO, GROUP, BIAS };

/* The accuracy_level that allows bytes, and the most places whose products 32 bits hold, by far: each is 15 * 127 at
 * most. */
enum { BYTES_ALLOWED = 4, MOST_BLOCK = 1 << 16 };

static Value *input(const Node *node, int index)
{
    return index < node->nin ? node->in[index] : NULL;
}

static bool takes_bytes(const Node *node)
{
    const Value *zero = node->op == OP_msft_MatMulNBits ? input(node, ZERO) : NULL;

    return node->op == OP_msft_MatMulNBits && node_int(node, "accuracy_level", 0) == BYTES_ALLOWED &&
           node_int(node, "bits", 4) == 4 && node_int(node, "block_size", 32) <= MOST_BLOCK &&
           node->in[X]->type.dtype == DTYPE_F32 && (!zero || zero->type.dtype == DTYPE_U8) && !input(node, GROUP);
}

static int round_graph(Graph *graph, Diag *diag)
{
    int changes = 0;

    (void)diag;
    for (int i = 0; i < graph->nnode; i++) {
        Node  *node = graph->node[i];
        Value *rounded, *in[] = {NULL, NULL, NULL, NULL, NULL};

        if (!takes_bytes(node))
            continue;
        rounded = quant_value(graph, &node->in[X]->type, DTYPE_U8);
        rounded->type.dim[rounded->type.rank - 1] =
            extent_const(nbits_row_bytes(node_int(node, "K", 0), node_int(node, "block_size", 32)));
        node_set_int(quant_insert(graph, i++, OP_ours_RoundBlocks, &node->in[X], 1, rounded, node), "block_size",
                     node_int(node, "block_size", 32));
        in[0] = rounded;
        in[1] = node->in[W];
        in[2] = node->in[SCALE];
        in[3] = input(node, ZERO);
        in[4] = input(node, BIAS);
        node->op = OP_ours_NBitsProduct;
        node->nin = in[4] ? 5 : in[3] ? 4 : 3;
        node->in = arena_array(graph->model->arena, Value *, 5);
        memcpy(node->in, in, sizeof in);
        changes++;
    }
    return changes;
}

int pass_round(Model *model, Diag *diag)
{
    return model->allows_bytes ? passes_each_graph(model, diag, round_graph) : 0;
}
