/* ops.c - the operator table and the search in it. */
#include "graph/ops.h"
#include "lower/lower.h"
#include "ops/rules.h"

#include <string.h>

/* A column without a rule holds NULL, so that callers test for it. */
#define upgrade_none NULL
#define infer_none NULL
#define lower_none NULL

#define DOMAIN(word, name, newest) static const char DOMAIN_##word[] = name;
#include "schemas/ops.def"

const OpInfo op_info[] = {
#define OP(domain, name, min_in, max_in, min_out, max_out, traits, upgrade, infer, lower, types) \
    {DOMAIN_##domain, #domain, #name, min_in, max_in, min_out, max_out, traits, upgrade, infer, lower, types},
#include "schemas/ops.def"
};

/* The lowering rule of operators that schemas/functions.txt writes as others. Inference has replaced them (expand.c),
 * so a call is a defect. */
int lower_text(Lower *lower, const Node *node)
{
    return diag_bug(lower->diag, node->loc, "schemas/functions.txt writes this operator, but it was not replaced");
}

int op_newest_version(const char *domain)
{
    static const struct {
        const char *name;
        int         newest;
    } known[] = {
#define DOMAIN(word, name, newest) {name, newest},
#include "schemas/ops.def"
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, domain))
            return known[i].newest;
    return 0;
}

OpKind op_find(const char *domain, const char *name)
{
    if (!strcmp(domain, "ai.onnx"))
        domain = "";
    for (OpKind op = 0; op < OP_COUNT; op++)
        if (!strcmp(op_info[op].name, name) && !strcmp(op_info[op].domain, domain))
            return strcmp(domain, DOMAIN_ours) ? op : OP_NONE;
    return OP_NONE;
}
