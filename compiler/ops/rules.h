/* rules.h - prototypes of every rule that the operator table names, made from the table so that none is kept by
 * hand. */
#ifndef OCC_OPS_RULES_H
#define OCC_OPS_RULES_H

#include "graph/ops.h"

#define OP(domain, name, min_in, max_in, min_out, max_out, traits, upgrade, infer, lower, types) \
    int upgrade(Node *node, Diag *diag); \
    int infer(Infer *context, Node *node); \
    int lower(Lower *context, const Node *node);
#include "schemas/ops.def"

#endif
