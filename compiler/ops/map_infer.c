/* map_infer.c - operators on maps: generated code has tensors, sequences and optionals only, so these are refused. */
#include "ops/infer.h"

static int refuse_map(Infer *infer, const Node *node, const char *remedy)
{
    return diag_unsupported(infer->diag, node->loc, "maps are not supported; %s", remedy);
}

int infer_cast_map(Infer *infer, Node *node)
{
    return refuse_map(infer, node, "feed a tensor of the map's values in the order of its keys");
}

int infer_dict_vectorizer(Infer *infer, Node *node)
{
    return refuse_map(infer, node, "feed a tensor of the map's values in the order of the vocabulary");
}

int infer_zip_map(Infer *infer, Node *node)
{
    return refuse_map(infer, node, "convert the model without ZipMap (zipmap=False) to get the scores as a tensor");
}
