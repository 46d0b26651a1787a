/* slack.c - win the last bytes of a plan: tail slack and fillers.
 * Where offsets are multiples of a granule, a buffer of another size leaves a tail slack behind it. With granules of 64
 * bytes a buffer of 80 leaves 48:
 *
 *    192 +---------------+    the topmost buffer's slack costs nothing, since the peak is the end of the buffer
 *        |///|           |
 *    128 +---------------+
 *        |///| filler    |    a filler, that is a buffer of a smaller alignment, fits into the slack of its host
 *     80 |   +-----------+
 *        |     host      |
 *      0 +---------------+
 *
 * So a guess names the buffer on top and the host of the largest filler, or puts the filler above all. Host and filler
 * lie at the bottom, together with buffers of the host's size that live at other times. The other buffers are planned
 * upward from the one that is to be on top (skyline.c). That plan is turned upside down: first fit in the order from
 * its top to its bottom. */
#include "slack.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SLACKS = 12 }; /* candidates for the host and for the top */
enum { MOST_GUESSES = 4 }; /* pairs of candidates that are tried */

typedef struct Guess {
    int     top, host; /* host -1: none, the filler lies above all buffers */
    int64_t peak;      /* bytes used at the fullest step, if the guess succeeds */
} Guess;

typedef struct Slacks {
    const Space *space;
    int32_t      section;                    /* the fullest */
    int64_t      granule, granules;          /* bytes; granules: sum of what is live there, rounded up */
    int          buffer[MOST_SLACKS], count; /* aligned buffers of different sizes, the largest slack first */
    int          filler;                     /* the largest filler, or -1 */
    Guess        guess[MOST_SLACKS * (MOST_SLACKS + 1)];
    int          nguess;
} Slacks;

static int64_t size_of(const Space *s, int b)
{
    return s->problem->buffer[b].size;
}

/* Bytes of a buffer's last granule behind the buffer. */
static int64_t tail_slack(const Slacks *r, int b)
{
    return round_up(size_of(r->space, b), r->granule) - size_of(r->space, b);
}

static bool is_live(const Space *s, int b, int32_t section)
{
    for (int i = s->span_at[b]; i < s->span_at[b + 1]; i++)
        if (span_is_live(&s->span[i], section))
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------------ the guesses */

static void add_buffer(Slacks *r, int b)
{
    int at = r->count;

    for (int i = 0; i < r->count; i++)
        if (size_of(r->space, r->buffer[i]) == size_of(r->space, b))
            return;
    while (at > 0 && tail_slack(r, r->buffer[at - 1]) < tail_slack(r, b))
        at--;
    if (at == MOST_SLACKS)
        return;
    r->count += r->count < MOST_SLACKS;
    memmove(&r->buffer[at + 1], &r->buffer[at], (size_t)(r->count - 1 - at) * sizeof *r->buffer);
    r->buffer[at] = b;
}

/* Collects the candidates: what is live in the fullest section. */
static void find_slacks(Slacks *r)
{
    const Space *s = r->space;

    for (int b = 0; b < s->n; b++)
        if (space_align(s, b, 0) > r->granule && is_live(s, b, r->section))
            r->granule = space_align(s, b, 0);
    for (int b = 0; b < s->n; b++) {
        if (!is_live(s, b, r->section))
            continue;
        r->granules += round_up(size_of(s, b), r->granule);
        if (space_align(s, b, 0) % r->granule == 0)
            add_buffer(r, b);
        else if (r->filler < 0 || size_of(s, b) > size_of(s, r->filler))
            r->filler = b;
    }
}

static int by_peak(const void *left, const void *right)
{
    const Guess *a = left, *b = right;

    if (a->peak != b->peak)
        return a->peak < b->peak ? -1 : 1;
    return a->top != b->top ? a->top - b->top : a->host - b->host;
}

/* The guesses that promise less than `peak`, the least first. */
static void find_guesses(Slacks *r, int64_t peak)
{
    int64_t own = r->filler < 0 ? 0 : tail_slack(r, r->filler);

    for (int t = 0; t < r->count; t++)
        for (int h = -1; h < (r->filler < 0 ? 0 : r->count); h++) {
            Guess guess = {r->buffer[t], h < 0 ? -1 : r->buffer[h], r->granules - tail_slack(r, r->buffer[t])};
            if (h == t || (h >= 0 && tail_slack(r, guess.host) + own < r->granule))
                continue;
            guess.peak -= h < 0 ? own : r->granule;
            if (guess.peak < peak)
                r->guess[r->nguess++] = guess;
        }
    qsort(r->guess, (size_t)r->nguess, sizeof *r->guess, by_peak);
}

/* -------------------------------------------------------------------------------------------------------- the plans */

/* The working memory of one guess. */
typedef struct GuessPlan {
    Greedy  *greedy;
    bool    *aside;        /* [n] is a host or the filler */
    int     *order, *rank; /* [n] */
    int64_t *offset;       /* [n] */
} GuessPlan;

/* The host, and buffers like it that can lie at the bottom before it: of the same size and alignment, dead when the
 * host is born, and no two of them live at the same time. */
static void choose_hosts(const Space *s, int host, bool *chosen)
{
    memset(chosen, 0, (size_t)s->n * sizeof *chosen);
    for (int b = 0; host >= 0 && b < s->n; b++) {
        bool like = size_of(s, b) == size_of(s, host) && space_align(s, b, 0) == space_align(s, host, 0) &&
                    space_live(s, b) && s->end[b] <= s->begin[host];
        for (int i = 0; i < s->n && like; i++)
            like = !chosen[i] || s->end[i] <= s->begin[b] || s->end[b] <= s->begin[i];
        chosen[b] = like;
    }
    if (host >= 0)
        chosen[host] = true;
}

/* The order of placement: hosts, filler, then the others from the top of their plan to its bottom. Without a host the
 * filler comes last. */
static int rank_trial(const Slacks *r, const Guess *guess, GuessPlan *t)
{
    int n = r->space->n, at = 0, status;

    for (int b = 0; b < n; b++)
        t->offset[b] = -t->offset[b] - size_of(r->space, b);
    status = greedy_rank_plan(r->space, t->offset, t->rank);
    for (int i = 0; i < n && !status; i++)
        if (t->aside[t->rank[i]] && t->rank[i] != r->filler)
            t->order[at++] = t->rank[i];
    if (guess->host >= 0)
        t->order[at++] = r->filler;
    for (int i = 0; i < n && !status; i++)
        if (!t->aside[t->rank[i]])
            t->order[at++] = t->rank[i];
    if (guess->host < 0 && r->filler >= 0)
        t->order[at++] = r->filler;
    return status;
}

/* Tries one guess with every order of the skyline; a better plan goes to offset[]. */
static int try_guess(const Slacks *r, const Guess *guess, Effort *effort, int64_t target, GuessPlan *t, int64_t *offset)
{
    const Space *s = r->space;
    int          status = PLAN_OK;

    choose_hosts(s, guess->host, t->aside);
    if (r->filler >= 0)
        t->aside[r->filler] = true;
    for (int order = 0;
         order < SKYLINE_ORDERS && !status && space_peak(s, offset, NULL) > target && !effort_is_over(effort);
         order++) {
        status = skyline_place_some(s, order, guess->top, t->aside, t->offset);
        if (!status)
            status = rank_trial(r, guess, t);
        if (status)
            break;
        greedy_place_ranked(t->greedy, t->order, false, t->offset, NULL);
        effort->nodes -= 2 * s->n;
        if (space_peak(s, t->offset, NULL) < space_peak(s, offset, NULL))
            memcpy(offset, t->offset, (size_t)s->n * sizeof *offset);
    }
    return status;
}

static int try_guesses(const Slacks *r, Effort *effort, int64_t target, int64_t *offset)
{
    size_t    n = (size_t)r->space->n + 1;
    GuessPlan t = {greedy_open(r->space), malloc(n * sizeof(bool)), malloc(n * sizeof(int)), malloc(n * sizeof(int)),
                   malloc(n * sizeof(int64_t))};
    int       status = t.greedy && t.aside && t.order && t.rank && t.offset ? PLAN_OK : PLAN_ENOMEM;

    for (int i = 0; i < r->nguess && i < MOST_GUESSES && !status; i++)
        if (r->guess[i].peak < space_peak(r->space, offset, NULL))
            status = try_guess(r, &r->guess[i], effort, target, &t, offset);
    free(t.aside);
    free(t.order);
    free(t.rank);
    free(t.offset);
    greedy_close(t.greedy);
    return status;
}

int slack_improve(const Space *s, Effort *effort, int32_t step, int64_t target, int64_t *offset)
{
    int64_t peak = space_peak(s, offset, NULL);
    Slacks  r = {.space = s, .granule = 1, .filler = -1};

    if (s->fixed || s->nregion > 1 || step < 0)
        return PLAN_OK;
    r.section = space_section(s, step);
    find_slacks(&r);
    if (peak - target >= 2 * r.granule)
        return PLAN_OK;
    find_guesses(&r, peak);
    return try_guesses(&r, effort, target, offset);
}
