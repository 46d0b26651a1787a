/* tree_read.c - the attributes of tree ensembles, of both forms, made into one table. */
#include "ops/ml/tree.h"
#include "support/int.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------- attributes */

static double tensor_element(const Attr *attr, int64_t i)
{
    size_t      width = (size_t)dtype_info(attr->type.dtype)->bytes;
    const char *at = (const char *)attr->tensor->data + (attr->tensor->broadcast ? 0 : (size_t)i * width);
    float       narrow;
    double      wide;

    if (attr->type.dtype == DTYPE_F32) {
        memcpy(&narrow, at, sizeof narrow);
        return (double)narrow;
    }
    if (attr->type.dtype == DTYPE_F64) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    return (double)*(const unsigned char *)at;
}

void *forest_numbers(Lower *lower, const Node *node, const char *name, DType dtype, int64_t *count)
{
    const Attr *attr = node_attr(node, name);
    bool        tensor = attr && attr->tensor && attr->tensor->data;
    float      *narrow;
    double     *wide;

    *count = tensor ? type_elements(&attr->type) : attr && attr->floats ? attr->count : 0;
    if (*count <= 0)
        return NULL;
    narrow = arena_array(lower->program->arena, float, *count);
    wide = arena_array(lower->program->arena, double, *count);
    for (int64_t i = 0; i < *count; i++) {
        wide[i] = tensor ? tensor_element(attr, i) : (double)attr->floats[i];
        narrow[i] = (float)wide[i];
    }
    return dtype == DTYPE_F64 ? (void *)wide : (void *)narrow;
}

static const int64_t *ints_of(const Node *node, const char *name, int64_t *count)
{
    int            n;
    const int64_t *list = node_ints(node, name, &n);

    *count = n;
    return list;
}

/* "<prefix>_<name>", as floats or as a tensor of doubles. */
static void *weights_of(Lower *lower, const Node *node, const char *name, DType dtype, int64_t *count)
{
    void *list = forest_numbers(lower, node, arena_printf(lower->arena, "%s_as_tensor", name), dtype, count);

    return list ? list : forest_numbers(lower, node, name, dtype, count);
}

/* ----------------------------------------------------------------------------------------------------- classic form */

/* A node of the classic form by its two numbers; sorted for the search. */
typedef struct Name {
    int64_t tree, node, place; /* place: among the lists */
} Name;

static int compare_names(const void *a, const void *b)
{
    const Name *x = a, *y = b;

    if (x->tree != y->tree)
        return x->tree < y->tree ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static int64_t find_name(const Name *name, int64_t count, int64_t tree, int64_t node)
{
    Name  key = {tree, node, 0};
    Name *found = bsearch(&key, name, (size_t)count, sizeof *name, compare_names);

    return found ? found->place : -1;
}

static int64_t mode_of(const char *name)
{
    static const char *const names[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                        "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};

    for (int i = 0; i < 6; i++)
        if (!strcmp(name, names[i]))
            return i;
    return !strcmp(name, "LEAF") ? -1 : -2;
}

/* The lists of a classic node, all of equal length. */
typedef struct Classic {
    const int64_t *tree, *id, *feature, *yes, *no, *missing;
    const Attr    *mode;
    void          *value;
    int64_t        count;
    Name          *name;
    int64_t       *number; /* by place: node number, or -1 - leaf */
} Classic;

static int read_lists(Lower *lower, const Node *node, Classic *c, DType dtype)
{
    int64_t n[7];

    c->tree = ints_of(node, "nodes_treeids", &c->count);
    c->id = ints_of(node, "nodes_nodeids", &n[0]);
    c->feature = ints_of(node, "nodes_featureids", &n[1]);
    c->yes = ints_of(node, "nodes_truenodeids", &n[2]);
    c->no = ints_of(node, "nodes_falsenodeids", &n[3]);
    c->missing = ints_of(node, "nodes_missing_value_tracks_true", &n[4]);
    c->mode = node_attr(node, "nodes_modes");
    c->value = weights_of(lower, node, "nodes_values", dtype, &n[5]);
    n[6] = c->mode && c->mode->strings ? c->mode->count : 0;
    for (int i = 0; i < 7; i++)
        if (n[i] != c->count && !(i == 4 && !n[i]))
            return diag_error(lower->diag, node->loc, "the lists nodes_* have different lengths: %lld and %lld",
                              (long long)c->count, (long long)n[i]);
    return c->count ? 0 : diag_error(lower->diag, node->loc, "the trees have no nodes");
}

/* Sort the names, number nodes and leaves in the order of the lists. */
static int number_nodes(Lower *lower, const Node *node, Classic *c, Forest *f)
{
    c->name = arena_array(lower->arena, Name, c->count);
    c->number = arena_array(lower->arena, int64_t, c->count);
    for (int64_t i = 0; i < c->count; i++) {
        int64_t mode = mode_of(c->mode->strings[i]);

        c->name[i] = (Name){c->tree[i], c->id[i], i};
        if (mode < -1)
            return diag_error(lower->diag, node->loc, "nodes_modes has '%s'", c->mode->strings[i]);
        c->number[i] = mode < 0 ? -1 - f->leaves++ : f->nodes++;
        if (i == 0 || c->tree[i] != c->tree[i - 1])
            f->trees++;
    }
    qsort(c->name, (size_t)c->count, sizeof *c->name, compare_names);
    for (int64_t i = 1; i < c->count; i++)
        if (!compare_names(&c->name[i - 1], &c->name[i]))
            return diag_error(lower->diag, node->loc, "node %lld of tree %lld is there twice",
                              (long long)c->name[i].node, (long long)c->name[i].tree);
    return 0;
}

static int fill_nodes(Lower *lower, const Node *node, const Classic *c, Forest *f)
{
    size_t  width = (size_t)dtype_info(f->dtype)->bytes;
    int64_t trees = 0;

    f->node = arena_calloc(lower->program->arena, (size_t)f->nodes + 1, sizeof *f->node);
    f->split = arena_calloc(lower->program->arena, (size_t)f->nodes + 1, width);
    f->root = arena_array(lower->program->arena, int64_t, f->trees + 1);
    for (int64_t i = 0; i < c->count; i++) {
        int64_t n = c->number[i], yes, no;

        if (i == 0 || c->tree[i] != c->tree[i - 1])
            f->root[trees++] = n; /* the first node of each tree */
        if (n < 0)
            continue;
        yes = find_name(c->name, c->count, c->tree[i], c->yes[i]);
        no = find_name(c->name, c->count, c->tree[i], c->no[i]);
        if (yes < 0 || no < 0)
            return diag_error(lower->diag, node->loc, "node %lld of tree %lld leads to a node that is not there",
                              (long long)c->id[i], (long long)c->tree[i]);
        f->node[n][0] = c->feature[i];
        f->node[n][1] = mode_of(c->mode->strings[i]);
        f->node[n][2] = c->missing ? c->missing[i] : 0;
        f->node[n][3] = c->number[yes];
        f->node[n][4] = c->number[no];
        memcpy((char *)f->split + (size_t)n * width, (const char *)c->value + (size_t)i * width, width);
    }
    return 0;
}

/* Votes sorted by leaf. */
static int fill_votes(Lower *lower, const Node *node, const Classic *c, const char *prefix, Forest *f)
{
    size_t         width = (size_t)dtype_info(f->dtype)->bytes;
    int64_t        count[4], *next;
    const int64_t *tree = ints_of(node, arena_printf(lower->arena, "%s_treeids", prefix), &count[0]);
    const int64_t *id = ints_of(node, arena_printf(lower->arena, "%s_nodeids", prefix), &count[1]);
    const int64_t *target = ints_of(node, arena_printf(lower->arena, "%s_ids", prefix), &count[2]);
    const char *weight = weights_of(lower, node, arena_printf(lower->arena, "%s_weights", prefix), f->dtype, &count[3]);

    if (count[0] != count[1] || count[0] != count[2] || count[0] != count[3])
        return diag_error(lower->diag, node->loc, "the lists %s_* have different lengths", prefix);
    f->votes = count[0];
    f->leaf = arena_array(lower->program->arena, int64_t, f->leaves + 2);
    f->target = arena_array(lower->program->arena, int64_t, f->votes + 1);
    f->weight = arena_calloc(lower->program->arena, (size_t)f->votes + 1, width);
    next = arena_array(lower->arena, int64_t, f->leaves + 2);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < f->votes; i++) {
            int64_t place = find_name(c->name, c->count, tree[i], id[i]), leaf;

            if (place < 0 || c->number[place] >= 0)
                return diag_error(lower->diag, node->loc, "node %lld of tree %lld votes, but is no leaf",
                                  (long long)id[i], (long long)tree[i]);
            leaf = -1 - c->number[place];
            if (pass == 0) {
                f->leaf[leaf + 1]++;
                continue;
            }
            f->target[next[leaf]] = target[i];
            memcpy((char *)f->weight + (size_t)next[leaf]++ * width, weight + (size_t)i * width, width);
        }
        for (int64_t k = 0; pass == 0 && k < f->leaves; k++) {
            f->leaf[k + 1] += f->leaf[k];
            next[k] = f->leaf[k];
        }
    }
    return 0;
}

int forest_read_classic(Lower *lower, const Node *node, const char *prefix, Forest *out)
{
    Classic c = {0};

    out->member = arena_calloc(lower->program->arena, 1, 8);
    if (read_lists(lower, node, &c, out->dtype) < 0 || number_nodes(lower, node, &c, out) < 0 ||
        fill_nodes(lower, node, &c, out) < 0)
        return -1;
    return fill_votes(lower, node, &c, prefix, out);
}

/* --------------------------------------------------------------------------------------------------------- new form */

static bool ends_set(const Forest *f, int64_t at)
{
    if (f->dtype == DTYPE_F64)
        return ((double *)f->member)[at] != ((double *)f->member)[at];
    return ((float *)f->member)[at] != ((float *)f->member)[at];
}

/* Members are one list: a set for each node of mode MEMBER in order, with a NaN behind it. */
static int give_members(Lower *lower, const Node *node, Forest *f)
{
    int64_t at = 0;

    for (int64_t i = 0; i < f->nodes; i++) {
        if (f->node[i][1] != TREE_MEMBER)
            continue;
        f->node[i][5] = at;
        while (at < f->members && !ends_set(f, at))
            at++;
        if (at >= f->members)
            return diag_error(lower->diag, node->loc, "membership_values has too few sets");
        f->node[i][6] = at++;
    }
    return 0;
}

int forest_read(Lower *lower, const Node *node, Forest *out)
{
    int64_t        n[7], weights, modes;
    const int64_t *feature = ints_of(node, "nodes_featureids", &out->nodes),
                  *yes = ints_of(node, "nodes_truenodeids", &n[0]);
    const int64_t *no = ints_of(node, "nodes_falsenodeids", &n[1]), *yes_leaf = ints_of(node, "nodes_trueleafs", &n[2]);
    const int64_t *no_leaf = ints_of(node, "nodes_falseleafs", &n[3]);
    const int64_t *missing = ints_of(node, "nodes_missing_value_tracks_true", &n[4]);
    const int64_t *root = ints_of(node, "tree_roots", &out->trees),
                  *target = ints_of(node, "leaf_targetids", &out->leaves);
    double *mode = forest_numbers(lower, node, "nodes_modes", DTYPE_F64, &modes);

    out->split = forest_numbers(lower, node, "nodes_splits", out->dtype, &n[5]);
    out->weight = forest_numbers(lower, node, "leaf_weights", out->dtype, &weights);
    out->member = forest_numbers(lower, node, "membership_values", out->dtype, &out->members);
    n[6] = modes;
    for (int i = 0; i < 7; i++)
        if (n[i] != out->nodes && !(i == 4 && !n[i]))
            return diag_error(lower->diag, node->loc, "the lists nodes_* have different lengths");
    if (weights != out->leaves || !out->leaves)
        return diag_error(lower->diag, node->loc, "the lists leaf_* have different lengths, or none");
    if (!out->member)
        out->member = arena_calloc(lower->program->arena, 1, 8);
    out->node = arena_calloc(lower->program->arena, (size_t)out->nodes + 1, sizeof *out->node);
    out->leaf = arena_array(lower->program->arena, int64_t, out->leaves + 1);
    out->votes = out->leaves;
    out->target = (int64_t *)(uintptr_t)target;
    out->root = (int64_t *)(uintptr_t)root;
    for (int64_t i = 0; i <= out->leaves; i++)
        out->leaf[i] = i;
    for (int64_t i = 0; i < out->nodes; i++) {
        out->node[i][0] = feature[i];
        out->node[i][1] = (int64_t)mode[i];
        out->node[i][2] = missing ? missing[i] : 0;
        out->node[i][3] = yes_leaf[i] ? -1 - yes[i] : yes[i];
        out->node[i][4] = no_leaf[i] ? -1 - no[i] : no[i];
        if (mode[i] < 0 || mode[i] > TREE_MEMBER)
            return diag_error(lower->diag, node->loc, "nodes_modes has %g", mode[i]);
    }
    return give_members(lower, node, out);
}

/* ----------------------------------------------------------------------------------------------------------- checks */

/* Mark what `at` leads to; false when it is outside or was reached before. Leaves may be shared. */
static bool reach(const Forest *f, int64_t at, bool *reached, int64_t *list, int64_t *count)
{
    if (at < -f->leaves || at >= f->nodes)
        return false;
    if (at < 0)
        return true;
    if (reached[at])
        return false;
    reached[at] = true;
    list[(*count)++] = at;
    return true;
}

int forest_check(Lower *lower, const Node *node, const Forest *f, int64_t features, int64_t targets)
{
    bool    *reached = arena_array(lower->arena, bool, f->nodes + 1);
    int64_t *list = arena_array(lower->arena, int64_t, f->nodes + 1), count = 0;
    bool     fine = true;

    for (int64_t i = 0; i < f->trees && fine; i++)
        fine = reach(f, f->root[i], reached, list, &count);
    for (int64_t i = 0; i < count && fine; i++)
        fine = reach(f, f->node[list[i]][3], reached, list, &count) &&
               reach(f, f->node[list[i]][4], reached, list, &count);
    if (!fine)
        return diag_error(lower->diag, node->loc,
                          "the branches form no trees: a node is reached twice, or is not there");
    for (int64_t i = 0; i < f->nodes; i++)
        if (f->node[i][0] < 0 || f->node[i][0] >= features)
            return diag_error(lower->diag, node->loc, "a branch asks for feature %lld of %lld",
                              (long long)f->node[i][0], (long long)features);
    for (int64_t i = 0; i < f->votes; i++)
        if (f->target[i] < 0 || f->target[i] >= targets)
            return diag_error(lower->diag, node->loc, "a leaf votes for target %lld of %lld", (long long)f->target[i],
                              (long long)targets);
    return 0;
}
