/* fake_graph.h - inside the fake cuDNN: descriptors with their attributes, and what is known of graphs. */
#ifndef FAKE_GRAPH_H
#define FAKE_GRAPH_H

#include "fake_cudnn.h"

#include <stdbool.h>

enum { MOST_VALUES = 64 };

/* An attribute as it was set. */
typedef struct Attribute {
    int64_t count;
    union {
        int64_t      integer[MOST_VALUES];
        int          word[MOST_VALUES];
        bool         flag;
        char         text[MOST_VALUES];
        float        single;
        double       real;
        struct Fake *of[MOST_VALUES];
        void        *at[MOST_VALUES];
    } value;
} Attribute;

typedef struct Script {
    char    mode;
    int     epilogue, notes, behaviour, knob;
    int64_t index, workspace, needed;
} Script;

typedef struct Fake {
    cudnnBackendDescriptorType_t type;
    bool                         final, epilogue; /* epilogue: a graph, or its heuristics, with addend or function */
    Attribute                   *attribute[FAKE_ATTRIBUTES];
    Script                       script; /* of an engine, a configuration or a plan */
    const struct Fake           *graph;  /* likewise */
} Fake;

static inline const int64_t *ints(const Fake *fake, cudnnBackendAttributeName_t name)
{
    return fake->attribute[name]->value.integer;
}

static inline const Fake *link_of(const Fake *fake, cudnnBackendAttributeName_t name)
{
    return fake->attribute[name] ? fake->attribute[name]->value.of[0] : NULL;
}

/* The sentence that says what is inconsistent; NULL: nothing is. Operations of a graph read the result of the one
 * before, and the last result alone is in memory; the graph learns whether engines need an epilogue for it. */
const char *fake_check_tensor(const Fake *tensor);
const char *fake_check_convolution(const Fake *operation);
const char *fake_check_graph(Fake *graph);

/* Appends a line to the file FAKE_CUDNN_LOG. */
void fake_log_graph(const Fake *graph);

#endif
