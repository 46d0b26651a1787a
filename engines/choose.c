/* choose.c - the rule of the gap. A workspace lives in its step only, and so does a result beside the addend that it no
 * longer overwrites. So they make the peak larger by what they exceed the peak's distance to the bytes that are live
 * there: the planner may have to move buffers, but the bound of live bytes does not rise. */
#include "choose.h"

#include "support/int.h"

Chosen engine_choose(const Questions *questions, const Question *q, const Offer *offer, const Rule *rule)
{
    Chosen  chosen = {.gap = INT64_MAX, .hole = INT64_MAX};
    int64_t most = (questions->peak - questions->constants) / 100 * rule->growth;

    for (int i = 0; i < q->nuse; i++) {
        chosen.gap = int_min(chosen.gap, questions->peak - q->use[i].live - q->use[i].shared);
        chosen.hole = int_min(chosen.hole, q->use[i].hole);
        chosen.shared = int_max(chosen.shared, q->use[i].shared);
    }
    most = rule->workspace < 0 ? chosen.gap + most : int_min(chosen.gap + most, rule->workspace);
    for (int i = 0; i < offer->nengine && !chosen.engine; i++) {
        const Engine *e = &offer->engine[i];

        if (e->refused != OCC_CUDNN_ALLOWED)
            continue;
        if (!chosen.first)
            chosen.first = e;
        if (e->listed.workspace <= most)
            chosen.engine = e;
    }
    if (chosen.engine && chosen.engine->listed.workspace > chosen.gap)
        chosen.growth = chosen.engine->listed.workspace - chosen.gap;
    return chosen;
}
