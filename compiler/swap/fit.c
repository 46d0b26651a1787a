/* fit.c - the largest sum of bytes whose places have a layout, and what is tried where its layout nearly fits. */
#include "swap/fit.h"

#include "support/int.h"

#include <math.h>
#include <string.h>

typedef struct FitSearch {
    const Fitter  *with;
    const FitGoal *goal;
    int64_t        least; /* sum of bytes with each load right before its reader */
    int64_t        peak;  /* of the last layout */
    int           *place; /* [nblock] of the last layout */
    Fit            best;
    double         best_time; /* nanoseconds of a run with the best places; INFINITY: there are none */
    double        *to;        /* [nblock] */
    bool          *core;
    int            left; /* layouts that may still be made */
} FitSearch;

static FitSearch search_new(const Fitter *fitter, const FitGoal *goal)
{
    const Pipeline *p = fitter->p;
    FitSearch       f = {.with = fitter, .goal = goal, .best_time = INFINITY, .left = fitter->packs};

    f.least = pipeline_peak(p, NULL, goal->kept, fitter->arena).bytes;
    f.place = arena_array(fitter->arena, int, p->nblock + 1);
    f.best.place = arena_array(fitter->arena, int, p->nblock + 1);
    f.core = arena_array(fitter->arena, bool, p->nblock + 1);
    f.to = arena_array(fitter->arena, double, p->nblock + 1);
    return f;
}

/* 0: it fits, 1: it does not, -1: failed. */
static int lay_out(FitSearch *f)
{
    const Pipeline *p = f->with->p;
    const FitPack  *pack = f->with->pack;

    memset(f->core, 0, (size_t)p->nblock * sizeof *f->core);
    f->left--;
    if (!pack)
        f->peak = pipeline_peak(p, f->place, f->goal->kept, f->with->arena).bytes;
    else if (pack->pack(pack->context, f->place, f->goal->kept, f->goal->arena, &f->peak, f->core) < 0)
        return -1;
    return f->peak > f->goal->arena;
}

/* The last layout becomes the best one. */
static void take(FitSearch *f, int64_t sum)
{
    memcpy(f->best.place, f->place, (size_t)f->with->p->nblock * sizeof *f->place);
    f->best.peak = f->peak;
    f->best.sum = sum;
}

/* The same if a run with its places takes less time. */
static void take_faster(FitSearch *f, int64_t sum)
{
    PipelineTrace trace = {f->to, NULL, NULL};
    double        time = pipeline_run(f->with->p, f->place, f->goal->kept, &trace).time;

    if (time >= f->best_time)
        return;
    f->best_time = time;
    take(f, sum);
}

/* Takes the block in the layout's core that waits longest for its reader, and loads it one step later. Blocks behind it
 * whose loads would then begin earlier move along. False: there is no such block. */
static bool delay_one(FitSearch *f)
{
    const Pipeline *p = f->with->p;
    const bool     *kept = f->goal->kept;
    int             longest = -1;

    for (int b = 0; b < p->nblock; b++)
        if (f->core[b] && !kept[b] && f->place[b] < p->block[b].first &&
            (longest < 0 || p->block[b].first - f->place[b] > p->block[longest].first - f->place[longest]))
            longest = b;
    if (longest < 0)
        return false;
    f->place[longest]++;
    for (int b = longest + 1; b < p->nblock; b++)
        if (!kept[b] && f->place[b] < f->place[longest])
            f->place[b] = f->place[longest];
    return true;
}

/* Finds places for a sum of bytes, with so many loads at a time (0: any number), and lays them out. If that nearly
 * fits, a few blocks are loaded later. Returns as lay_out does. */
static int fit_sum(FitSearch *f, int64_t sum, int ahead)
{
    enum { DELAYS = 3 };
    int64_t arena = f->goal->arena;
    int     status;

    places_earliest(f->with->places, f->goal->kept, sum, ahead, f->place);
    places_latest(f->with->places, f->goal->kept, f->goal->margin, f->place);
    status = lay_out(f);
    for (int i = 0; i < DELAYS && status == 1 && f->left > 0 && f->peak < arena + arena / 32; i++) {
        if (!delay_one(f))
            return 1;
        status = lay_out(f);
    }
    if (status == 0)
        take_faster(f, sum);
    return status;
}

/* Blocks that wait long for their readers cut the free bytes beside the largest tensors into pieces. So fewer loads are
 * begun at a time: the most with which the sum has a layout. Returns as lay_out does. */
static int fit_fewer(FitSearch *f, int64_t sum)
{
    static const int ahead[] = {8, 4, 3, 2};
    int              status = 1;

    for (int i = 0; i < 4 && status == 1 && f->left > 0; i++)
        status = fit_sum(f, sum, ahead[i]);
    return status;
}

/* Finds the places of the largest sum whose layout fits. The first sum is one that layouts of about that size had room
 * for. A sum that does not fit shrinks by as much as its layout was too large, at least by 2 %. From a sum that fits,
 * the search goes twice half the way back to the last sum that failed, or to the largest sum. Returns as lay_out does;
 * *failed: the least sum that did not fit, 0: none. */
static int fit_largest(FitSearch *f, int64_t most, int64_t *failed)
{
    double  arena = (double)f->goal->arena;
    int64_t sum = int_max(f->least, int_min((int64_t)(arena / f->goal->loss), most));
    int     status = 1;

    *failed = sum < most ? most : 0;
    while (status == 1 && f->left > 0) {
        status = fit_sum(f, sum, 0);
        if (status != 1 || sum == f->least)
            break;
        *failed = sum;
        sum = (int64_t)((double)sum * fmin(0.98, arena / (double)f->peak));
        sum = int_max(sum, f->least);
    }
    for (int i = 0; i < 2 && status == 0 && *failed - f->best.sum > *failed / 50 && f->left > 0; i++) {
        sum = f->best.sum + (*failed - f->best.sum) / 2;
        status = fit_sum(f, sum, 0);
        *failed = status == 1 ? sum : *failed;
        status = status == 1 ? 0 : status;
    }
    return status;
}

/* Each load right before its reader. Returns as lay_out does. */
static int fit_at_readers(FitSearch *f)
{
    int status;

    for (int b = 0; b < f->with->p->nblock; b++)
        f->place[b] = f->with->p->block[b].first;
    status = lay_out(f);
    take(f, f->least);
    return status;
}

int fit_arena(const Fitter *fitter, const FitGoal *goal, Fit *fit)
{
    FitSearch f = search_new(fitter, goal);
    int64_t   most = int_max(f.least, (int64_t)((double)goal->arena / fmin(fitter->loss, 1))), failed;
    int       status = 0;

    if (fit_largest(&f, most, &failed) < 0)
        return -1;
    if ((f.best_time == INFINITY || failed) && fit_fewer(&f, most) < 0)
        return -1;
    if (f.best_time == INFINITY && fit_fewer(&f, f.least) < 0)
        return -1;
    if (f.best_time == INFINITY)
        status = fit_at_readers(&f);
    if (status == 0)
        *fit = f.best;
    return status;
}

int fit_least(const Fitter *fitter, const bool *kept, Fit *fit)
{
    FitGoal   goal = {.kept = kept};
    FitSearch f = search_new(fitter, &goal);

    if (fit_at_readers(&f) < 0)
        return -1;
    *fit = f.best;
    return 0;
}
