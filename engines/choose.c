/* choose.c - the rule of the gap. A workspace lives in its step only, and so does a result beside the addend that it no
 * longer overwrites. So they make the peak larger by what they exceed the peak's distance to the bytes that are live
 * there: the planner may have to move buffers, but the bound of live bytes does not rise. */
#include "choose.h"

#include "support/int.h"

/* Measures what the steps of a question leave. Returns the bytes of the largest workspace; below 0: none finds room. */
static int64_t find_room(const Questions *questions, const Question *q, const Rule *rule, Chosen *chosen)
{
    int64_t most = (questions->peak - questions->constants) / 100 * rule->growth;

    *chosen = (Chosen){.gap = INT64_MAX, .hole = INT64_MAX};
    for (int i = 0; i < q->nuse; i++) {
        chosen->gap = int_min(chosen->gap, questions->peak - q->use[i].live - q->use[i].shared);
        chosen->hole = int_min(chosen->hole, q->use[i].hole);
        chosen->shared = int_max(chosen->shared, q->use[i].shared);
        chosen->own += q->use[i].own / q->nuse;
    }
    most += chosen->gap;
    return rule->workspace < 0 ? most : int_min(most, rule->workspace);
}

/* Is an engine better than the one that was chosen before? Those that were not measured come in the library's order. */
static bool is_better(const Engine *e, const Chosen *chosen)
{
    if (chosen->engine)
        return e->took < chosen->engine->took;
    return !chosen->own || !e->took || e->took < chosen->own;
}

Chosen engine_choose(const Questions *questions, const Question *q, const Offer *offer, const Rule *rule)
{
    Chosen  chosen;
    int64_t most = find_room(questions, q, rule, &chosen);

    for (int i = 0; i < offer->nengine; i++) {
        const Engine *e = &offer->engine[i];

        if (e->refused != OCC_CUDNN_ALLOWED)
            continue;
        if (!chosen.first)
            chosen.first = e;
        if (e->listed.workspace <= most && is_better(e, &chosen))
            chosen.engine = e;
    }
    if (chosen.engine && chosen.engine->listed.workspace > chosen.gap)
        chosen.growth = chosen.engine->listed.workspace - chosen.gap;
    return chosen;
}

int64_t workspace_choose(const Questions *questions, const Question *q, int64_t wanted, const Rule *rule,
                         Chosen *chosen)
{
    int64_t most = find_room(questions, q, rule, chosen), bytes = int_min(wanted, int_max(chosen->gap, 0));

    if (most < 0)
        return -1;
    bytes = int_min(bytes, most);
    chosen->growth = int_max(bytes - chosen->gap, 0);
    return bytes;
}
