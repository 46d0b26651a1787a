/* search.c - the loop over changes. */
#include "alternatives/search.h"

static int search_change(Trials *s, const Change *change)
{
    s->failures = 0;
    for (int round = 0;; round++) {
        Form form = s->best.form;
        int  made;

        s->upper_bound = 0;
        if (!change->offer(s, round, &form))
            return 0;
        s->last = s->tried;
        s->tried = (Alternative){.form = form};
        made = change->make(s);
        if (made <= 0)
            return made;
        s->failures++;
        if (change->is_better(s)) {
            s->best = s->tried;
            s->failures = 0;
        }
    }
}

int alternatives_search(Trials *s, const Change *list, Alternative *alternative)
{
    s->first = s->best = s->last = s->tried = *alternative;
    for (; list->name; list++)
        if (search_change(s, list) < 0)
            return -1;
    *alternative = s->best;
    return 0;
}

bool search_fits(const Trials *s, const Alternative *alternative, int64_t most)
{
    return alternative->plan.peak <= most && alternative->ram <= s->budget;
}
