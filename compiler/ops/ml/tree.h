/* tree.h - ensembles of decision trees as the tables that the kernel walks. */
#ifndef OCC_OPS_ML_TREE_H
#define OCC_OPS_ML_TREE_H

#include "lower/lower.h"

enum { TREE_FIELDS = 7, TREE_MEMBER = 6 }; /* integers of a node; the mode that looks for members */

/* A node or leaf that a branch leads to: its number, or -1 - leaf. */
typedef struct Forest {
    DType dtype;                  /* of splits, weights and members: F32 or F64 */
    int64_t (*node)[TREE_FIELDS]; /* feature, mode, NaN goes to the true side, true, false, first member, end */
    int64_t  nodes;
    void    *split;
    int64_t *leaf; /* first of its votes; one more entry than leaves */
    int64_t  leaves;
    int64_t *target; /* target of each vote */
    void    *weight;
    int64_t  votes;
    int64_t *root;
    int64_t  trees;
    void    *member;
    int64_t  members;
} Forest;

/* Read the attributes; 0, or -1 with a message. `prefix`: "target" or "class". */
int forest_read_classic(Lower *lower, const Node *node, const char *prefix, Forest *out);
int forest_read(Lower *lower, const Node *node, Forest *out);

/* Every branch leads inside, no node is reached twice, features and targets exist; 0, or -1 with a message. */
int forest_check(Lower *lower, const Node *node, const Forest *forest, int64_t features, int64_t targets);

/* Numbers of an attribute as `dtype`, whether it is a list of floats or a tensor; NULL and 0: absent. */
void *forest_numbers(Lower *lower, const Node *node, const char *name, DType dtype, int64_t *count);

#endif
