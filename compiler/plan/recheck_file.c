/* recheck_file.c - checks the weights file that is loaded while the model runs, from the fetches and the places of
 * their blocks alone: each block, and each table of rows, lies between the header and the end of the file, at places
 * that the loader can address, and shares bytes with another block only if they are equal. */
#include "plan/plan.h"
#include "program/fetch.h"
#include "program/weight.h"

#include <stdlib.h>
#include <string.h>

/* A range of the weights file that a fetch reads. */
typedef struct FileRange {
    int64_t from, bytes;
    int     step, buffer;
} FileRange;

static int compare_ranges(const void *a, const void *b)
{
    const FileRange *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? -1 : 1) : x->step - y->step;
}

static FileRange *list_ranges(const Program *p, const Plan *plan, int *count)
{
    FileRange *range = arena_array(p->arena, FileRange, 2 * p->nstep + 1);

    *count = 0;
    for (int s = 0; s < p->nstep; s++) {
        int b = p->step[s].kind == STEP_FETCH ? p->step[s].operand[0].buffer : -1;

        if (b >= 0)
            range[(*count)++] = (FileRange){plan->stored[b], p->buffer[b].size, s, b};
        for (int k = 0; k < p->step[s].noperand; k++) {
            b = p->step[s].operand[k].buffer;
            if (b >= 0 && p->buffer[b].kind == BUFFER_TABLE)
                range[(*count)++] = (FileRange){plan->stored[b], p->buffer[b].size, s, b};
        }
    }
    qsort(range, (size_t)*count, sizeof *range, compare_ranges);
    return range;
}

static int complain(const Program *p, Diag *diag, const FileRange *range, const char *what)
{
    return diag_bug(diag, (Loc){0}, "step %d loads '%s' from bytes %lld to %lld of the weights file, %s", range->step,
                    p->buffer[range->buffer].name, (long long)range->from, (long long)(range->from + range->bytes),
                    what);
}

static int check_range(const Program *p, const Plan *plan, Diag *diag, const FileRange *range)
{
    int64_t align = plan->swap->loader.align;

    if (range->from < WEIGHT_HEADER)
        return complain(p, diag, range, "where its header is");
    if (range->bytes > plan->swap->file || range->from > plan->swap->file - range->bytes)
        return complain(p, diag, range, "which ends before");
    if (range->from % align || range->bytes % align)
        return complain(p, diag, range, "which are no multiples of what the loader needs");
    return 0;
}

/* Whether two blocks of the same size have the same bytes. A table is equal to itself alone. */
static bool hold_the_same(const Program *p, const FileRange *a, const FileRange *b)
{
    char *x = arena_array(p->arena, char, WEIGHT_BLOCK), *y = arena_array(p->arena, char, WEIGHT_BLOCK);

    if (p->buffer[a->buffer].kind == BUFFER_TABLE || p->buffer[b->buffer].kind == BUFFER_TABLE)
        return a->buffer == b->buffer;
    for (int64_t at = 0; at < a->bytes; at += WEIGHT_BLOCK) {
        int64_t bytes = a->bytes - at < WEIGHT_BLOCK ? a->bytes - at : WEIGHT_BLOCK;

        block_bytes(p, &p->buffer[a->buffer], at, bytes, x);
        block_bytes(p, &p->buffer[b->buffer], at, bytes, y);
        if (memcmp(x, y, (size_t)bytes))
            return false;
    }
    return true;
}

int program_recheck_file(const Program *program, const Plan *plan, Diag *diag)
{
    int        count;
    FileRange *range;

    if (!plan->swap)
        return 0;
    range = list_ranges(program, plan, &count);
    for (int i = 0; i < count; i++) {
        const FileRange *before = i ? &range[i - 1] : NULL;

        if (check_range(program, plan, diag, &range[i]) < 0)
            return -1;
        if (!before || range[i].from >= before->from + before->bytes)
            continue;
        if (range[i].from != before->from || range[i].bytes != before->bytes ||
            !hold_the_same(program, before, &range[i]))
            return complain(program, diag, &range[i], "where another block lies");
    }
    return 0;
}
