/* scores.h - what linear models and trees share: rows of floats in, scores and labels out. */
#ifndef OCC_OPS_ML_SCORES_H
#define OCC_OPS_ML_SCORES_H

#include "lower/lower.h"

/* The transforms of scores: the numbers of TreeEnsemble's post_transform, in the order of the score_transform
 * kernel. */
enum { SCORE_NONE, SCORE_SOFTMAX, SCORE_LOGISTIC, SCORE_SOFTMAX_ZERO, SCORE_PROBIT };

int scores_transform_of(Lower *lower, const Node *node); /* attribute post_transform, by name; -1 with a message */
int scores_input(Lower *lower, const Node *node, DType dtype, Operand *x, Extent *rows, Extent *features); /* dense */
Operand scores_temporary(Lower *lower, DType dtype, Extent rows, int64_t columns, const char *name);

/* Output `index` is `x` [rows][n] transformed; signed_pair as in the kernel. */
int scores_finish(Lower *lower, const Node *node, int index, Operand x, int64_t n, int how, int signed_pair);

/* Output 0 is the label of each row; `seen` absent: every class has a score. */
int scores_label(Lower *lower, const Node *node, Operand x, Operand seen, int64_t n, const char *texts,
                 const char *numbers, double limit);

#endif
