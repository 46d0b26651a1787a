/* partition.c - reduces a plain problem to independent partitions, each with as few sections as decide it.
 * A section matters only if its live set is contained in no other's. For intervals these are the sections that follow a
 * birth and end with a death, with no death in between (the maximal cliques of an interval graph):
 *
 *    a -----            sections   0 1 2 3
 *    b   -------        live sets  a, ab, b, bc: sections 1 (ab) and 3 (bc) are kept,
 *    c       ---        and a partition ends between two kept sections that no buffer crosses
 *
 * A buffer that is live several times counts as several intervals here, which at worst keeps a section too many. Its
 * whole lifetime, holes included, counts as crossing. */
#include "partition.h"

#include <stdlib.h>
#include <string.h>

typedef struct LiveStretch { /* sections [begin,end) in which a buffer is live without a break */
    int     buffer, begin, end;
    int64_t life; /* steps */
} LiveStretch;

typedef struct Reduction {
    const Space *space;
    LiveStretch *stretch; /* by buffer, then begin; first in sections of the space, then in kept ones */
    int          nstretch;
    int         *kept_before; /* [nsection+1] kept sections before each */
    int          nkept;
    int         *partition_of; /* [nkept+1] the partition of each kept section */
    int          npartition;
    int64_t      rounding; /* common divisor of all alignments */
    int64_t      granule;
} Reduction;

/* Spans that touch in time become one stretch. */
static void collect_stretches(Reduction *r)
{
    const Space *s = r->space;

    for (int i = 0; i < s->span_at[s->n]; i++) {
        const PlanSpan *x = &s->span[i];
        LiveStretch    *before = r->nstretch ? &r->stretch[r->nstretch - 1] : NULL;
        if (before && before->buffer == x->buffer && before->end == x->begin)
            before->end = x->end;
        else
            r->stretch[r->nstretch++] = (LiveStretch){x->buffer, x->begin, x->end, 0};
    }
}

/* birth, death: [nsection+1] flags per boundary. */
static void keep_sections(Reduction *r, char *birth, char *death)
{
    bool born = false;

    for (int i = 0; i < r->nstretch; i++) {
        r->stretch[i].life = r->space->step_at[r->stretch[i].end] - r->space->step_at[r->stretch[i].begin];
        birth[r->stretch[i].begin] = 1;
        death[r->stretch[i].end] = 1;
    }
    for (int t = 0; t < r->space->nsection; t++) {
        r->kept_before[t] = r->nkept;
        born = born || birth[t];
        if (born && death[t + 1]) {
            r->nkept++;
            born = false;
        }
    }
    r->kept_before[r->space->nsection] = r->nkept;
    for (int i = 0; i < r->nstretch; i++) {
        r->stretch[i].begin = r->kept_before[r->stretch[i].begin];
        r->stretch[i].end = r->kept_before[r->stretch[i].end];
    }
}

/* Numbers the partitions: a new one begins at each kept section before which no buffer crosses. crossing[t], zeroes at
 * first, becomes the number of buffers that live in the kept sections t-1 and t. */
static void number_partitions(Reduction *r, int *crossing)
{
    for (int i = 0; i < r->nstretch; i++) {
        int hull_end = r->stretch[i].end, begin = r->stretch[i].begin;
        while (i + 1 < r->nstretch && r->stretch[i + 1].buffer == r->stretch[i].buffer)
            hull_end = r->stretch[++i].end;
        if (begin + 1 < hull_end) {
            crossing[begin + 1]++;
            crossing[hull_end]--;
        }
    }
    for (int t = 0; t < r->nkept; t++) {
        crossing[t] += t > 0 ? crossing[t - 1] : 0;
        r->npartition += crossing[t] == 0;
        r->partition_of[t] = r->npartition - 1;
    }
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t x = a % b;
        a = b;
        b = x;
    }
    return a;
}

/* Finds the granule. In a placement where nothing can be lowered every offset is a sum of rounded sizes, a multiple of
 * an alignment, or fixed, hence a multiple of their common divisor. With one alignment for all buffers only sizes
 * rounded up to it matter: with alignment 16 buffers of 90 and 64 bytes occupy 96 and 64, and the granule is 32. */
static void find_granule(Reduction *r)
{
    const Space *s = r->space;
    bool         mixed = false;
    int64_t      sum = 0;

    for (int i = 0; i < r->nstretch; i++) {
        int64_t align = space_align(s, r->stretch[i].buffer, 0);
        mixed |= i > 0 && align != r->rounding;
        mixed |= s->problem->buffer[r->stretch[i].buffer].fixed >= 0;
        r->rounding = common_divisor(align, r->rounding);
    }
    for (int i = 0; i < r->nstretch; i++) {
        const PlanBuffer *buffer = &s->problem->buffer[r->stretch[i].buffer];
        int64_t           align = space_align(s, r->stretch[i].buffer, 0);
        sum = common_divisor(round_up(buffer->size, r->rounding), sum);
        if (mixed && align > 1)
            sum = common_divisor(align, sum);
        if (buffer->fixed > 0)
            sum = common_divisor(buffer->fixed, sum);
    }
    r->granule = sum ? sum : 1;
}

/* Allocates one partition, for n buffers, m sections and k pairs of both. */
static bool partition_reserve(Partition *p, int n, int m, int k)
{
    size_t wide = (size_t)n + 1;

    p->origin = calloc(wide, sizeof *p->origin);
    p->size = calloc(wide, sizeof *p->size);
    p->need = calloc(wide, sizeof *p->need);
    p->align = calloc(wide, sizeof *p->align);
    p->fixed = calloc(wide, sizeof *p->fixed);
    p->life = calloc(wide, sizeof *p->life);
    p->first = calloc(wide, sizeof *p->first);
    p->last = calloc(wide, sizeof *p->last);
    p->twin = calloc(wide, sizeof *p->twin);
    p->section_at = calloc(wide, sizeof *p->section_at);
    p->section = calloc((size_t)k + 1, sizeof *p->section);
    p->member_at = calloc((size_t)m + 2, sizeof *p->member_at);
    p->member = calloc((size_t)k + 1, sizeof *p->member);
    return p->origin && p->size && p->need && p->align && p->fixed && p->life && p->first && p->last && p->twin &&
           p->section_at && p->section && p->member_at && p->member;
}

void partitions_close(Partition *partition, int count)
{
    for (int i = 0; i < count; i++) {
        Partition *p = &partition[i];
        void      *all[] = {p->origin, p->size, p->need,       p->align,   p->fixed,     p->life,  p->first,
                            p->last,   p->twin, p->section_at, p->section, p->member_at, p->member};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            free(all[k]);
    }
    free(partition);
}

/* The members of every section, from the sections of every buffer. */
static void transpose(Partition *p)
{
    for (int i = 0; i < p->section_at[p->n]; i++)
        list_count(p->member_at, p->section[i]);
    lists_begin(p->member_at, p->m);
    for (int b = 0; b < p->n; b++)
        for (int i = p->section_at[b]; i < p->section_at[b + 1]; i++)
            p->member[list_next(p->member_at, p->section[i])] = b;
}

static bool are_twins(const Partition *p, int a, int b)
{
    int count = p->section_at[a + 1] - p->section_at[a];

    return p->first[a] == p->first[b] && p->last[a] == p->last[b] && p->size[a] == p->size[b] &&
           p->need[a] == p->need[b] && p->align[a] == p->align[b] && p->fixed[a] < 0 && p->fixed[b] < 0 &&
           count == p->section_at[b + 1] - p->section_at[b] &&
           !memcmp(p->section + p->section_at[a], p->section + p->section_at[b], (size_t)count * sizeof *p->section);
}

/* The nearest twin before each buffer is a member of its first section. */
static void find_twins(Partition *p)
{
    for (int b = 0; b < p->n; b++) {
        int s = p->first[b];
        p->twin[b] = -1;
        for (int i = p->member_at[s]; i < p->member_at[s + 1] && p->member[i] < b; i++)
            if (are_twins(p, p->member[i], b))
                p->twin[b] = p->member[i];
    }
}

/* Sets the bound of one partition, as bound_live does for a problem. */
static void measure(Partition *p)
{
    p->bound = 0;
    for (int s = 0; s < p->m; s++) {
        int64_t sum = 0, slack = 0;
        for (int i = p->member_at[s]; i < p->member_at[s + 1]; i++) {
            int     b = p->member[i];
            int64_t end = p->need[b] + (p->fixed[b] > 0 ? p->fixed[b] : 0);
            sum += p->size[b];
            slack = p->size[b] - p->need[b] > slack ? p->size[b] - p->need[b] : slack;
            p->bound = end > p->bound ? end : p->bound;
        }
        p->bound = sum - slack > p->bound ? sum - slack : p->bound;
    }
}

/* Adds one stretch of a buffer to its partition; sections are renumbered from the partition's first. */
static void add_stretch(const Reduction *r, Partition *p, const LiveStretch *x, int base)
{
    const PlanBuffer *buffer = &r->space->problem->buffer[x->buffer];
    bool              more = p->n > 0 && p->origin[p->n - 1] == x->buffer;
    int               b = more ? p->n - 1 : p->n++;

    if (!more) {
        p->origin[b] = x->buffer;
        p->size[b] = round_up(buffer->size, r->rounding);
        p->need[b] = buffer->size;
        p->align[b] = common_divisor(space_align(r->space, x->buffer, 0), r->granule) == r->granule
                          ? space_align(r->space, x->buffer, 0)
                          : r->granule;
        p->fixed[b] = buffer->fixed;
        p->first[b] = x->begin - base;
        p->section_at[b + 1] = p->section_at[b];
        p->uniform = p->uniform && buffer->fixed < 0 && p->align[b] == r->granule;
    }
    p->life[b] += x->life;
    for (int t = x->begin; t < x->end; t++)
        p->section[p->section_at[b + 1]++] = t - base;
    p->last[b] = x->end - base;
}

/* The numbers of buffers, sections and pairs in a partition. */
typedef struct PartitionSize {
    int buffers, sections, pairs; /* pairs: of a buffer and a section in which it is live */
    int base;                     /* first section */
} PartitionSize;

/* Fills all partitions; size[] holds npartition zeroes. */
static bool fill_partitions(const Reduction *r, Partition *partition, PartitionSize *size)
{
    for (int t = r->nkept; t-- > 0;) {
        size[r->partition_of[t]].sections++;
        size[r->partition_of[t]].base = t;
    }
    for (int i = 0; i < r->nstretch; i++) {
        PartitionSize *one = &size[r->partition_of[r->stretch[i].begin]];
        one->buffers += i == 0 || r->stretch[i - 1].buffer != r->stretch[i].buffer;
        one->pairs += r->stretch[i].end - r->stretch[i].begin;
    }
    for (int k = 0; k < r->npartition; k++) {
        if (!partition_reserve(&partition[k], size[k].buffers, size[k].sections, size[k].pairs))
            return false;
        partition[k].m = size[k].sections;
        partition[k].granule = r->granule;
        partition[k].uniform = true;
    }
    for (int i = 0; i < r->nstretch; i++) {
        int k = r->partition_of[r->stretch[i].begin];
        add_stretch(r, &partition[k], &r->stretch[i], size[k].base);
    }
    for (int k = 0; k < r->npartition; k++) {
        transpose(&partition[k]);
        find_twins(&partition[k]);
        measure(&partition[k]);
    }
    return true;
}

static int reduce(Reduction *r, Partition **partition, int *count)
{
    PartitionSize *size;
    bool           good;

    find_granule(r);
    size = calloc((size_t)r->npartition + 1, sizeof *size);
    *partition = calloc((size_t)r->npartition + 1, sizeof **partition);
    *count = r->npartition;
    good = size && *partition && fill_partitions(r, *partition, size);
    free(size);
    if (!good && *partition)
        partitions_close(*partition, r->npartition);
    return good ? PLAN_OK : PLAN_ENOMEM;
}

int partitions_open(const Space *s, Partition **partition, int *count)
{
    size_t    wide = (size_t)s->nsection + 2;
    Reduction r = {.space = s};
    char     *birth = calloc(wide, 1), *death = calloc(wide, 1);
    int      *crossing = calloc(wide, sizeof *crossing), status = PLAN_ENOMEM;

    r.stretch = calloc((size_t)s->span_at[s->n] + 1, sizeof *r.stretch);
    r.kept_before = calloc(wide, sizeof *r.kept_before);
    r.partition_of = calloc(wide, sizeof *r.partition_of);
    *partition = NULL;
    *count = 0;
    if (birth && death && crossing && r.stretch && r.kept_before && r.partition_of) {
        collect_stretches(&r);
        keep_sections(&r, birth, death);
        number_partitions(&r, crossing);
        status = reduce(&r, partition, count);
    }
    free(birth);
    free(death);
    free(crossing);
    free(r.stretch);
    free(r.kept_before);
    free(r.partition_of);
    return status;
}
