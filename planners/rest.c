/* rest.c - the last bytes of a plan.
 * Where offsets are multiples of a grain, a buffer whose size is none leaves a rest of its last cell unused. Two of the
 * rests at the fullest step need not be lost (bound.c): that of the buffer on top, and one in which a buffer of a
 * smaller alignment begins, a stray. So a buffer is chosen for the top, and a host, whose rest the stray takes, or else
 * the stray lies above all. The host and others of its size that live at other times lie at the bottom with the stray
 * upon them. For the rest a plan is made upward from the buffer for the top (skyline.c) and then turned upside down:
 * first fit from its top to its bottom. */
#include "rest.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RESTS = 12 };  /* buffers that are thought of as hosts and for the top */
enum { MOST_GUESSES = 4 }; /* pairs of those that are tried */

typedef struct Guess {
    int     top, host; /* host -1: none, the stray lies above all */
    int64_t peak;      /* bytes to be used at the step, if it is right */
} Guess;

typedef struct Rests {
    const Space *space;
    int32_t      section;                   /* the fullest */
    int64_t      grain, cells;              /* bytes; cells: of all that is live there */
    int          buffer[MOST_RESTS], count; /* those at the grain, of different sizes, the largest rests first */
    int          stray;                     /* the largest one, or -1 */
    Guess        guess[MOST_RESTS * (MOST_RESTS + 1)];
    int          nguess;
} Rests;

static int64_t size_of(const Space *s, int b)
{
    return s->problem->buffer[b].size;
}

/* Unused of the last cell of a buffer that begins with one. */
static int64_t rest_of(const Rests *r, int b)
{
    return round_up(size_of(r->space, b), r->grain) - size_of(r->space, b);
}

static bool is_live(const Space *s, int b, int32_t section)
{
    for (int i = s->span_at[b]; i < s->span_at[b + 1]; i++)
        if (span_is_live(&s->span[i], section))
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------------ the guesses */

static void add_buffer(Rests *r, int b)
{
    int at = r->count;

    for (int i = 0; i < r->count; i++)
        if (size_of(r->space, r->buffer[i]) == size_of(r->space, b))
            return;
    while (at > 0 && rest_of(r, r->buffer[at - 1]) < rest_of(r, b))
        at--;
    if (at == MOST_RESTS)
        return;
    r->count += r->count < MOST_RESTS;
    memmove(&r->buffer[at + 1], &r->buffer[at], (size_t)(r->count - 1 - at) * sizeof *r->buffer);
    r->buffer[at] = b;
}

/* What is live in the section. */
static void find_rests(Rests *r)
{
    const Space *s = r->space;

    for (int b = 0; b < s->n; b++)
        if (space_align(s, b, 0) > r->grain && is_live(s, b, r->section))
            r->grain = space_align(s, b, 0);
    for (int b = 0; b < s->n; b++) {
        if (!is_live(s, b, r->section))
            continue;
        r->cells += round_up(size_of(s, b), r->grain);
        if (space_align(s, b, 0) % r->grain == 0)
            add_buffer(r, b);
        else if (r->stray < 0 || size_of(s, b) > size_of(s, r->stray))
            r->stray = b;
    }
}

static int by_peak(const void *left, const void *right)
{
    const Guess *a = left, *b = right;

    if (a->peak != b->peak)
        return a->peak < b->peak ? -1 : 1;
    return a->top != b->top ? a->top - b->top : a->host - b->host;
}

/* Those that promise less than `peak`, the least first. */
static void find_guesses(Rests *r, int64_t peak)
{
    int64_t own = r->stray < 0 ? 0 : rest_of(r, r->stray);

    for (int t = 0; t < r->count; t++)
        for (int h = -1; h < (r->stray < 0 ? 0 : r->count); h++) {
            Guess guess = {r->buffer[t], h < 0 ? -1 : r->buffer[h], r->cells - rest_of(r, r->buffer[t])};
            if (h == t || (h >= 0 && rest_of(r, guess.host) + own < r->grain))
                continue;
            guess.peak -= h < 0 ? own : r->grain;
            if (guess.peak < peak)
                r->guess[r->nguess++] = guess;
        }
    qsort(r->guess, (size_t)r->nguess, sizeof *r->guess, by_peak);
}

/* -------------------------------------------------------------------------------------------------------- the plans */

/* What one guess is tried with. */
typedef struct Trial {
    Greedy  *greedy;
    bool    *apart;        /* [n] the hosts and the stray */
    int     *order, *rank; /* [n] */
    int64_t *offset;       /* [n] */
} Trial;

/* The host and, from the first on, those of its size that are dead when it is born and do not live at the same time as
 * one chosen before: what comes later finds the bottom free. */
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

/* Hosts, stray, then the others from the top of their plan to its bottom; without a host the stray comes last. */
static int rank_trial(const Rests *r, const Guess *guess, Trial *t)
{
    int n = r->space->n, at = 0, status;

    for (int b = 0; b < n; b++)
        t->offset[b] = -t->offset[b] - size_of(r->space, b);
    status = greedy_rank_plan(r->space, t->offset, t->rank);
    for (int i = 0; i < n && !status; i++)
        if (t->apart[t->rank[i]] && t->rank[i] != r->stray)
            t->order[at++] = t->rank[i];
    if (guess->host >= 0)
        t->order[at++] = r->stray;
    for (int i = 0; i < n && !status; i++)
        if (!t->apart[t->rank[i]])
            t->order[at++] = t->rank[i];
    if (guess->host < 0 && r->stray >= 0)
        t->order[at++] = r->stray;
    return status;
}

/* Every order of the skyline for one guess; better plans go to offset. */
static int try_guess(const Rests *r, const Guess *guess, Effort *effort, int64_t enough, Trial *t, int64_t *offset)
{
    const Space *s = r->space;
    int          status = PLAN_OK;

    choose_hosts(s, guess->host, t->apart);
    if (r->stray >= 0)
        t->apart[r->stray] = true;
    for (int order = 0;
         order < SKYLINE_ORDERS && !status && space_peak(s, offset, NULL) > enough && !effort_is_over(effort);
         order++) {
        status = skyline_place_some(s, order, guess->top, t->apart, t->offset);
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

static int try_guesses(const Rests *r, Effort *effort, int64_t enough, int64_t *offset)
{
    size_t n = (size_t)r->space->n + 1;
    Trial  t = {greedy_open(r->space), malloc(n * sizeof(bool)), malloc(n * sizeof(int)), malloc(n * sizeof(int)),
                malloc(n * sizeof(int64_t))};
    int    status = t.greedy && t.apart && t.order && t.rank && t.offset ? PLAN_OK : PLAN_ENOMEM;

    for (int i = 0; i < r->nguess && i < MOST_GUESSES && !status; i++)
        if (r->guess[i].peak < space_peak(r->space, offset, NULL))
            status = try_guess(r, &r->guess[i], effort, enough, &t, offset);
    free(t.apart);
    free(t.order);
    free(t.rank);
    free(t.offset);
    greedy_close(t.greedy);
    return status;
}

int rest_improve(const Space *s, Effort *effort, int32_t step, int64_t enough, int64_t *offset)
{
    int64_t peak = space_peak(s, offset, NULL);
    Rests   r = {.space = s, .grain = 1, .stray = -1};

    if (s->fixed || s->nregion > 1 || step < 0)
        return PLAN_OK;
    r.section = space_section(s, step);
    find_rests(&r);
    if (peak - enough >= 2 * r.grain)
        return PLAN_OK;
    find_guesses(&r, peak);
    return try_guesses(&r, effort, enough, offset);
}
