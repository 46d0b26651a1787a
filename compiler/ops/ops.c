/* ops.c - the operator table and the search in it. */
#include "graph/ops.h"
#include "ops/rules.h"

#include <string.h>

/* A column without a rule holds NULL, so that callers test for it. */
#define upgrade_none NULL
#define infer_none NULL
#define lower_none NULL

/* Domain tokens of the table. */
#define DOMAIN_onnx ""
#define DOMAIN_ml "ai.onnx.ml"
#define DOMAIN_preview "ai.onnx.preview"
#define DOMAIN_training "ai.onnx.preview.training"
#define DOMAIN_msft "com.microsoft"
#define DOMAIN_ours "occamyc"

const OpInfo op_info[] = {
#define OP(domain, name, min_in, max_in, min_out, max_out, traits, upgrade, infer, lower, types) \
    {DOMAIN_##domain, #name, min_in, max_in, min_out, max_out, traits, upgrade, infer, lower, types},
#include "schemas/ops.def"
};

static int compare_to_row(const char *domain, const char *name, const OpInfo *row)
{
    int by_domain = strcmp(domain, row->domain);

    return by_domain ? by_domain : strcmp(name, row->name);
}

OpKind op_find(const char *domain, const char *name)
{
    int lo = 0, hi = OP_COUNT;

    if (strcmp(domain, "ai.onnx") == 0)
        domain = "";
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        int order = compare_to_row(domain, name, &op_info[middle]);

        if (order == 0)
            return strcmp(domain, DOMAIN_ours) ? middle : OP_NONE;
        if (order < 0)
            hi = middle;
        else
            lo = middle + 1;
    }
    return OP_NONE;
}
