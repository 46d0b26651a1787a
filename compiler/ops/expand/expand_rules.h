/* expand_rules.h - prototypes of all rules and tests that expand.def names, generated from it. */
#ifndef OCC_OPS_EXPAND_EXPAND_RULES_H
#define OCC_OPS_EXPAND_EXPAND_RULES_H

#include "ops/expand/expand.h"

#define EXPAND(domain, name, rule) int rule(Expand *expand);
#define EXPAND_WHEN(domain, name, test, rule)
#define EXPAND_HALF(domain, name)
#define EXPAND_WIDE(domain, name)
#include "ops/expand/expand.def"

#define EXPAND(domain, name, rule)
#define EXPAND_WHEN(domain, name, test, rule) \
    bool test(const Node *node); \
    int  rule(Expand *expand);
#define EXPAND_HALF(domain, name)
#define EXPAND_WIDE(domain, name)
#include "ops/expand/expand.def"

int expand_half(Expand *expand); /* in expand_half.c, for the rows of EXPAND_HALF and EXPAND_WIDE */

#endif
