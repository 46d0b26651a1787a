/* sort.c - nodes in an order that respects data flow. */
#include "graph/ir.h"

typedef struct Sorting {
    Graph *graph;
    Arena *arena;
    Node **need; /* producers that the nodes on the search path read, one run of entries for each node */
    int    nneed, cneed;
} Sorting;

enum { SEEN = -1, PATH = -2, PLACED = -3 }; /* Node.mark while searching */

static void add_need(Sorting *search, const Value *value)
{
    if (value && value->def && value->graph == search->graph && value->def->graph == search->graph)
        ARENA_PUSH(search->arena, search->need, search->nneed, search->cneed, value->def);
}

/* Adds the producers of all values that the node and its bodies read. The reader limits how deep bodies nest. */
static void add_needs(Sorting *search, const Node *node)
{
    for (int i = 0; i < node->nin; i++)
        add_need(search, node->in[i]);
    for (int b = 0; b < 2; b++) {
        const Graph *body = node->body[b];
        for (int i = 0; body && i < body->nnode; i++)
            add_needs(search, body->node[i]);
        for (int i = 0; body && i < body->nout; i++)
            add_need(search, body->out[i]);
    }
}

static bool is_sorted(Sorting *search)
{
    for (int i = 0; i < search->graph->nnode; i++)
        search->graph->node[i]->mark = i;
    for (int i = 0; i < search->graph->nnode; i++) {
        search->nneed = 0;
        add_needs(search, search->graph->node[i]);
        for (int k = 0; k < search->nneed; k++)
            if (search->need[k]->mark >= i)
                return false;
    }
    return true;
}

/* A node whose needs are being placed; its needs are search->need[next, ...) down to `first`. */
typedef struct Visit {
    Node *node;
    int   first;
} Visit;

static void visit(Sorting *search, Visit **path, int *npath, int *cpath, Node *node)
{
    node->mark = PATH;
    ARENA_PUSH(search->arena, *path, *npath, *cpath, ((Visit){node, search->nneed}));
    add_needs(search, node);
}

/* A depth-first walk in the present order, so a sorted graph stays as it is. */
static int place_all(Sorting *search, Diag *diag, Node **order)
{
    Visit *path = NULL;
    int    npath = 0, cpath = 0, placed = 0, count = search->graph->nnode;

    for (int i = 0; i < count; i++) {
        if (search->graph->node[i]->mark == SEEN)
            visit(search, &path, &npath, &cpath, search->graph->node[i]);
        while (npath) {
            Visit *top = &path[npath - 1];
            if (search->nneed > top->first) {
                Node *next = search->need[--search->nneed];
                if (next->mark == PATH)
                    return diag_error(diag, next->loc, "a cycle: what it reads depends on what it makes");
                if (next->mark == SEEN)
                    visit(search, &path, &npath, &cpath, next);
                continue;
            }
            top->node->mark = PLACED;
            order[placed++] = top->node;
            npath--;
        }
    }
    for (int i = 0; i < count; i++)
        search->graph->node[i] = order[i];
    return 0;
}

int graph_sort(Graph *graph, Diag *diag)
{
    Arena    *arena = graph->model->arena;
    ArenaMark mark = arena_mark(arena);
    Sorting   search = {.graph = graph, .arena = arena};
    int       result = 0;

    if (!is_sorted(&search)) {
        for (int i = 0; i < graph->nnode; i++)
            graph->node[i]->mark = SEEN;
        result = place_all(&search, diag, arena_array(arena, Node *, graph->nnode));
    }
    if (!result)
        arena_release(arena, mark); /* only on success: a message lies in this arena, too */
    return result;
}
