/* expand_rules.h - prototypes of every rule that expand.def names, made from it so that none is kept by hand. */
#ifndef OCC_OPS_EXPAND_EXPAND_RULES_H
#define OCC_OPS_EXPAND_EXPAND_RULES_H

#include "ops/expand/expand.h"

#define EXPAND(domain, name, rule) int rule(Expand *expand);
#define EXPAND_WHEN(domain, name, test, rule)
#define EXPAND_HALF(domain, name)
#include "ops/expand/expand.def"

#define EXPAND(domain, name, rule)
#define EXPAND_WHEN(domain, name, test, rule) \
    bool test(const Node *node); \
    int  rule(Expand *expand);
#define EXPAND_HALF(domain, name)
#include "ops/expand/expand.def"

int expand_half(Expand *expand); /* expand_half.c: the rows of EXPAND_HALF */

#endif
