/* keep.c - the search for blocks that stay. For several sizes of the arena (levels) the blocks are ranked: the next
 * block is always the one that saves most time per byte. The gain of a block nearly always falls as others are kept, so
 * only gains that were largest before are computed anew (Minoux, "Accelerated greedy algorithms", 1978). The search for
 * one budget begins with the first blocks of a rank, for each number of them, and the arena that they leave. Then
 * single blocks and pairs are exchanged. */
#include "swap/keep.h"

#include <math.h>
#include <string.h>

enum { MOST_LEVELS = 17, MOST_PREFIXES = 64 };

typedef struct RankLevel {
    int64_t arena; /* bytes, as a sum */
    int    *rank;  /* [nblock] blocks, the first one to keep in front */
} RankLevel;

struct Keeper {
    Arena          *arena;
    const Pipeline *p;
    Places         *places;
    int             most;
    RankLevel       level[MOST_LEVELS];
    int             levels;
    bool           *kept;  /* [nblock] the set that is being tried */
    double         *gain;  /* [nblock] nanoseconds per byte */
    bool           *fresh; /* [nblock] the gain was computed beside the blocks kept now */
};

/* A time just below `time`: smaller ones differ by more than rounding. */
static double less(double time)
{
    return time * (1 - 1e-9);
}

/* ------------------------------------------------------------------------------------------------------------ ranks */

/* The block with the largest gain among those that are not kept; the first of several. */
static int leader(const Keeper *k)
{
    int best = -1;

    for (int b = 0; b < k->p->nblock; b++)
        if (!k->kept[b] && (best < 0 || k->gain[b] > k->gain[best]))
            best = b;
    return best;
}

/* Computes the gain of block b beside the blocks kept now. */
static void ask(Keeper *k, int b, double time, int64_t arena)
{
    double with;

    k->kept[b] = true;
    with = places_earliest(k->places, k->kept, arena, 0, NULL);
    k->kept[b] = false;
    k->gain[b] = with < less(time) ? (time - with) / (double)k->p->block[b].bytes : 0;
    k->fresh[b] = true;
}

static int smallest_left(const Keeper *k)
{
    int best = -1;

    for (int b = 0; b < k->p->nblock; b++)
        if (!k->kept[b] && (best < 0 || k->p->block[b].bytes < k->p->block[best].bytes))
            best = b;
    return best;
}

static void rank_level(Keeper *k, RankLevel *level)
{
    int  n = k->p->nblock;
    bool gains = true;

    level->rank = arena_array(k->arena, int, n + 1);
    memset(k->kept, 0, (size_t)n * sizeof *k->kept);
    for (int b = 0; b < n; b++)
        k->gain[b] = INFINITY;
    for (int i = 0; i < n; i++) {
        double time = gains ? places_earliest(k->places, k->kept, level->arena, 0, NULL) : 0;
        int    b = leader(k);

        memset(k->fresh, 0, (size_t)n * sizeof *k->fresh);
        while (gains && !k->fresh[b]) {
            ask(k, b, time, level->arena);
            b = leader(k);
        }
        gains = gains && k->gain[b] > 0;
        b = gains ? b : smallest_left(k);
        level->rank[i] = b;
        k->kept[b] = true;
    }
}

/* Sizes from the least on, until more bytes for loads ahead make no run shorter. */
static void make_levels(Keeper *k)
{
    static const double factor[MOST_LEVELS] = {1, 1.1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256};
    int64_t             least = pipeline_peak(k->p, NULL, NULL, k->arena).bytes;
    int64_t             most = least + pipeline_block_bytes(k->p);
    double              best = places_earliest(k->places, NULL, most, 0, NULL), time = INFINITY;

    for (int i = 0; i < MOST_LEVELS && time > best; i++) {
        k->level[i].arena = i < MOST_LEVELS - 1 ? (int64_t)((double)least * factor[i]) : most;
        time = places_earliest(k->places, NULL, k->level[i].arena, 0, NULL);
        k->levels++;
    }
}

Keeper *keeper_new(Arena *arena, const Pipeline *p, Places *places, int most)
{
    Keeper *k = arena_one(arena, Keeper);

    k->arena = arena;
    k->p = p;
    k->places = places;
    k->most = most;
    k->kept = arena_array(arena, bool, p->nblock + 1);
    k->gain = arena_array(arena, double, p->nblock + 1);
    k->fresh = arena_array(arena, bool, p->nblock + 1);
    make_levels(k);
    return k;
}

int keeper_levels(const Keeper *k)
{
    return k->levels;
}

int64_t keeper_level(const Keeper *k, int level)
{
    return k->level[level].arena;
}

const int *keeper_rank(Keeper *k, int level)
{
    if (!k->level[level].rank)
        rank_level(k, &k->level[level]);
    return k->level[level].rank;
}

Keep keep_none(Arena *arena, const Pipeline *p)
{
    return (Keep){arena_array(arena, bool, p->nblock + 1), 0, INFINITY};
}

/* ----------------------------------------------------------------------------------------------------------- search */

/* One search: the best set so far, and the set that is tried. */
typedef struct KeepTrial {
    Keeper *k;
    int64_t budget; /* bytes */
    double  loss;
    int64_t bytes; /* kept in k->kept */
    Keep   *best;
    int     left; /* sets that may still be tried */
} KeepTrial;

static double time_of(const KeepTrial *t)
{
    double arena = floor((double)(t->budget - t->bytes) / t->loss + 1e-6);

    return arena < 0 ? INFINITY : places_earliest(t->k->places, t->k->kept, (int64_t)arena, 0, NULL);
}

/* Tries the set; where it is the best so far, it becomes that. */
static bool try_set(KeepTrial *t)
{
    double time = time_of(t);

    if (time == INFINITY || !(time < less(t->best->time) || (less(time) <= t->best->time && t->bytes < t->best->bytes)))
        return false;
    t->best->time = time;
    t->best->bytes = t->bytes;
    memcpy(t->best->kept, t->k->kept, (size_t)t->k->p->nblock * sizeof *t->best->kept);
    return true;
}

static void flip(KeepTrial *t, int b)
{
    t->bytes += t->k->kept[b] ? -t->k->p->block[b].bytes : t->k->p->block[b].bytes;
    t->k->kept[b] = !t->k->kept[b];
}

static void clear(KeepTrial *t)
{
    memset(t->k->kept, 0, (size_t)t->k->p->nblock * sizeof *t->k->kept);
    t->bytes = 0;
}

/* The first so many of the rank, as long as the arena has the level's size; then whatever else fits. */
static void try_prefixes(KeepTrial *t, const int *rank, int64_t arena)
{
    int n = t->k->p->nblock, every = n / MOST_PREFIXES + 1;

    clear(t);
    for (int i = 0; i < n; i++) {
        int     b = rank[i];
        int64_t bytes = t->bytes + t->k->p->block[b].bytes;

        if ((double)bytes + (double)arena * t->loss > (double)t->budget)
            continue;
        if (i % every == 0)
            try_set(t);
        flip(t, b);
    }
    try_set(t);
}

/* Flips `count` blocks, and back where it does not help. */
static bool try_flips(KeepTrial *t, const int *block, int count)
{
    for (int i = 0; i < count; i++)
        flip(t, block[i]);
    t->left--;
    if (t->bytes <= t->budget && try_set(t))
        return true;
    for (int i = 0; i < count; i++)
        flip(t, block[i]);
    return false;
}

static bool flip_one(KeepTrial *t, const int *rank)
{
    bool better = false;

    for (int i = 0; i < t->k->p->nblock && t->left > 0; i++)
        better = try_flips(t, &rank[i], 1) || better;
    return better;
}

/* Flips pairs of blocks: mostly a kept block, the lowest rank first, for one that is not kept, the highest rank
 * first. */
static bool flip_two(KeepTrial *t, const int *rank)
{
    bool better = false;

    for (int i = t->k->p->nblock; i-- > 0;)
        for (int j = 0; j < i && t->left > 0; j++)
            better = try_flips(t, (int[]){rank[i], rank[j]}, 2) || better;
    return better;
}

static bool flip_three(KeepTrial *t, const int *rank)
{
    bool better = false;

    for (int i = t->k->p->nblock; i-- > 0;)
        for (int j = 0; j < i; j++)
            for (int h = 0; h < j && t->left > 0; h++)
                better = try_flips(t, (int[]){rank[i], rank[j], rank[h]}, 3) || better;
    return better;
}

static void improve(KeepTrial *t, const int *rank)
{
    memcpy(t->k->kept, t->best->kept, (size_t)t->k->p->nblock * sizeof *t->k->kept);
    t->bytes = t->best->bytes;
    t->left = t->best->time < INFINITY ? t->k->most : 0;
    while (t->left > 0 && (flip_one(t, rank) || flip_two(t, rank) || flip_three(t, rank)))
        continue;
}

void keeper_search(Keeper *k, int64_t bytes, double loss, Keep *keep)
{
    KeepTrial t = {.k = k, .budget = bytes, .loss = loss, .best = keep};
    int       best = 0;

    memcpy(k->kept, keep->kept, (size_t)k->p->nblock * sizeof *k->kept);
    t.bytes = keep->bytes;
    keep->time = time_of(&t);
    for (int i = 0; i < k->levels && (i == 0 || (double)k->level[i].arena * loss <= (double)bytes); i++) {
        double before = keep->time;

        try_prefixes(&t, keeper_rank(k, i), k->level[i].arena);
        best = keep->time < before ? i : best;
    }
    improve(&t, keeper_rank(k, best));
}
