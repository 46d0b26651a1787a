/* recheck_file.c - checks the weights file that is loaded while the model runs, from the fetches and the places of
 * their blocks alone: each block, and each table of rows, lies between the header and the end of the file, at places
 * that the loader can address, and shares bytes with another block only if they are equal. Blocks that stay share bytes
 * of their memory only if they are equal and no run has both. */
#include "plan/plan.h"
#include "program/flow.h"
#include "program/loaded.h"
#include "program/weight.h"

#include <stdlib.h>

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

static bool same_row(const Program *p, int a, int b)
{
    return flow_row_of(p, a).begin == flow_row_of(p, b).begin;
}

/* Checks the memory of the blocks that stay. */
static int check_kept(const Program *p, const Plan *plan, Diag *diag, const FileRange *range, int count)
{
    for (int i = 0; i < count; i++) {
        const Buffer *b = &p->buffer[range[i].buffer];

        if (b->kept < 0 || b->kind != BUFFER_BLOCK)
            continue;
        if (b->kept + b->size > plan->swap->kept)
            return complain(p, diag, &range[i], "to behind the end of what stays");
        for (int k = 0; k < i; k++) {
            const Buffer *other = &p->buffer[range[k].buffer];

            if (other->kind != BUFFER_BLOCK || other->kept < 0 || other->kept >= b->kept + b->size ||
                b->kept >= other->kept + other->size)
                continue;
            if (other->kept != b->kept || range[k].from != range[i].from || same_row(p, range[k].step, range[i].step))
                return complain(p, diag, &range[i], "to where another block stays");
        }
    }
    return 0;
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
        if (range[i].from != before->from ||
            !loaded_same(program, &program->buffer[before->buffer], &program->buffer[range[i].buffer]))
            return complain(program, diag, &range[i], "where another block lies");
    }
    return check_kept(program, plan, diag, range, count);
}
