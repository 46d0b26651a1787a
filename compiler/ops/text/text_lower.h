/* text_lower.h - what elementwise rules do where elements are text. */
#ifndef OCC_OPS_TEXT_TEXT_LOWER_H
#define OCC_OPS_TEXT_TEXT_LOWER_H

#include "lower/call.h"
#include "ops/text/regex.h"

bool text_given(const Node *node); /* some input holds text */
int  text_lower_equal(Lower *lower, const Node *node);
int  text_lower_where(Lower *lower, const Node *node);
int  text_lower_cast(Lower *lower, const Node *node); /* between text and numbers */

/* A pattern's table as the kernels take it. */
typedef struct TableParts {
    Operand class_of, next, accepts;
} TableParts;

TableParts text_table(Lower *lower, const RegexTable *table);

#endif
