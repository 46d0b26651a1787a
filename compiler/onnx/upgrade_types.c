/* upgrade_types.c - older forms that differ in how a type or a number is said. */
#include "onnx/upgrade.h"

#include <string.h>

/* Before version 6 the type was a name: "FLOAT", "INT64", "DOUBLE". */
int upgrade_cast(Node *node, Diag *diag)
{
    static const char *const name[] = {"UNDEFINED", "FLOAT",  "UINT8",     "INT8",      "UINT16",  "INT16",
                                       "INT32",     "INT64",  "STRING",    "BOOL",      "FLOAT16", "DOUBLE",
                                       "UINT32",    "UINT64", "COMPLEX64", "COMPLEX128"};
    const char              *to = node_string(node, "to", NULL);

    if (node->opset >= 6 || !to)
        return 0;
    for (int i = 1; i < (int)(sizeof name / sizeof *name); i++)
        if (!strcmp(name[i], to)) {
            node_set_int(node, "to", i);
            return 0;
        }
    return diag_error(diag, node->loc, "found the type '%s', wanted FLOAT, INT64 or the like", to);
}

/* Before version 11 the bounds were attributes; the defaults bound nothing. */
int upgrade_clip(Node *node, Diag *diag)
{
    static const char *const name[] = {"min", "max"};

    if (node->opset >= 11)
        return 0;
    if (!upgrade_input(node, 0))
        return diag_error(diag, node->loc, "found no input");
    for (int i = 0; i < 2; i++) {
        if (node_attr(node, name[i]))
            upgrade_set_input(node, i + 1, upgrade_float_like(node, node_float(node, name[i], 0.0f), node->in[0]));
        node_drop_attr(node, name[i]);
    }
    return 0;
}

/* Version 1 had p as a float. */
int upgrade_lp_pool(Node *node, Diag *diag)
{
    float p = node_float(node, "p", 2.0f);

    if (node->opset >= 2)
        return 0;
    if (!(p >= 1.0f && p <= 1000.0f) || p != (float)(int)p)
        return diag_unsupported(diag, node->loc, "found p %g, only whole numbers of at least 1 are supported",
                                (double)p);
    node_set_int(node, "p", (int64_t)p);
    return 0;
}

int upgrade_selu(Node *node, Diag *diag)
{
    (void)diag;
    if (node->opset < 6) {
        node_set_float(node, "alpha", node_float(node, "alpha", 1.6732f));
        node_set_float(node, "gamma", node_float(node, "gamma", 1.0507f));
    }
    return 0;
}

/* An experimental operator of version 1, which Slice took over in version 10 with the same inputs. */
int upgrade_dynamic_slice(Node *node, Diag *diag)
{
    (void)diag;
    node->op = OP_onnx_Slice;
    return 0;
}

/* Renamed in version 11. */
int upgrade_scatter(Node *node, Diag *diag)
{
    (void)diag;
    node->op = OP_onnx_ScatterElements;
    return 0;
}

/* Before version 7 an attribute told whether the first output is wanted; omitting the output means the same. */
int upgrade_recurrent(Node *node, Diag *diag)
{
    (void)diag;
    if (node->opset < 7)
        node_drop_attr(node, "output_sequence");
    return 0;
}
