/* tree.c - ensembles of decision trees. Knows nothing of how they were trained. */
#include "occ_base.h"

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* Does x take the true branch of a node? mode: <=, <, >=, >, ==, !=, or 6: is x among the members [first, end)? */
OCC_HOT int occ_tree_test_TPL_N(TPL_T x, int64_t mode, TPL_T split, const TPL_T *member, int64_t first, int64_t end)
{
    switch (mode) {
    case 0:
        return x <= split;
    case 1:
        return x < split;
    case 2:
        return x >= split;
    case 3:
        return x > split;
    case 4:
        return x == split;
    case 5:
        return x != split;
    default:
        while (first < end && member[first] != x)
            first++;
        return first < end;
    }
}

/* The sizes of a forest: rows, features of a row, trees, targets; fold: how the trees of a target are combined. */
typedef struct occ_forest {
    int64_t rows, features, trees, targets, fold;
} occ_forest;

/* trees - for each row, the combined votes of the leaves that it reaches, for each target.
 *   x       [rows][features]
 *   node    [nodes][7]: feature; mode; 1: NaN takes the true branch; true branch and false branch, each a node or
 *           -1 - leaf; first and end of the members for mode 6
 *   split   [nodes]; leaf [leaves + 1]: its first vote; target, weight [votes]; root [trees]: a node or -1 - leaf
 *   y       [rows][targets]; seen [rows][targets]: 1 where a leaf voted for the target
 *   fold    0: average over the trees, 1: sum, 2: least, 3: greatest; base [targets] or NULL is added */
OCC_INLINE void occ_trees_TPL_N(const TPL_T *x, const int64_t *node, const TPL_T *split, const int64_t *leaf,
                                const int64_t *target, const TPL_T *weight, const int64_t *root, const TPL_T *member,
                                const TPL_T *base, TPL_T *y, uint8_t *seen, const occ_forest *form)
{
    const int64_t rows = form->rows, features = form->features, trees = form->trees, targets = form->targets;
    const int64_t fold = form->fold;
    for (int64_t r = 0; r < rows; r++, x += features, y += targets, seen += targets) {
        for (int64_t t = 0; t < targets; t++) {
            y[t] = 0;
            seen[t] = 0;
        }
        for (int64_t t = 0; t < trees; t++) {
            int64_t at = root[t];
            while (at >= 0) {
                const int64_t *n = node + 7 * at;
                const TPL_T    v = x[n[0]];
                const int      yes = (v != v && n[2]) || occ_tree_test_TPL_N(v, n[1], split[at], member, n[5], n[6]);
                at = yes ? n[3] : n[4];
            }
            for (int64_t k = leaf[-1 - at]; k < leaf[-at]; k++) {
                const int64_t c = target[k];
                if (fold < 2)
                    y[c] += weight[k];
                else if (!seen[c] || (fold == 2 ? weight[k] < y[c] : weight[k] > y[c]))
                    y[c] = weight[k];
                seen[c] = 1;
            }
        }
        for (int64_t t = 0; t < targets; t++) {
            if (fold == 0)
                y[t] /= (TPL_T)trees;
            if (base)
                y[t] += base[t];
        }
    }
}
