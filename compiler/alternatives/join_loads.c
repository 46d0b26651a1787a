/* join_loads.c - the loads of a joined program. All branches have one memory for the blocks that stay, and equal blocks
 * one place in it, which no other block takes:
 *
 *     H=224 keeps a, b        kept  [ a | b | c ]      after a run with H=224 and one with H=320, a run with either
 *     H=320 keeps a, c                                 size loads none of them */
#include "alternatives/joining.h"

#include "infer/listed.h"
#include "program/loaded.h"
#include "support/int.h"

/* The place of a block that stays, and of those of other branches with the same bytes. */
typedef struct KeptPlace {
    int     same, branch; /* the first block with these bytes; the last branch that has a block here */
    int64_t at;
} KeptPlace;

/* Gives the block of a branch a place. */
static void place_block(KeptPlace *place, int *count, Swap *swap, int same, int branch, Buffer *block)
{
    int i = 0;

    while (i < *count && (place[i].same != same || place[i].branch == branch))
        i++;
    if (i == *count) {
        place[(*count)++] = (KeptPlace){same, branch, int_round_up(swap->kept, block->align)};
        swap->kept = place[i].at + block->size;
    }
    place[i].branch = branch;
    block->kept = place[i].at;
}

/* Places the blocks that stay, in the order of their loads. */
static void place_kept(const Joining *j, const int *same, Swap *swap)
{
    const Program *p = j->program;
    KeptPlace     *place = arena_array(j->arena, KeptPlace, p->nbuffer + 1);
    int            count = 0;

    for (int i = 0; i < j->count; i++) {
        int begin = j->number[i].first_step;

        for (int s = begin; s < begin + j->number[i].from->nstep; s++) {
            int b = p->step[s].kind == STEP_FETCH ? p->step[s].operand[0].buffer : -1;

            if (b >= 0 && p->buffer[b].kept >= 0)
                place_block(place, &count, swap, same[b], i, &p->buffer[b]);
        }
    }
}

/* Bytes of blocks and tables, equal ones once. */
static void count_bytes(const Program *p, const int *same, Swap *swap)
{
    int        count;
    const int *order = program_file_order(p, &count);

    for (int i = 0; i < count; i++)
        if (same[order[i]] == order[i])
            *(p->buffer[order[i]].kind == BUFFER_TABLE ? &swap->tables : &swap->blocks) += p->buffer[order[i]].size;
}

/* The loads of one branch, with the numbers of the joined program. */
static Swap swap_of(const Joining *j, int index)
{
    const Renumbering *number = &j->number[index];
    const Swap        *from = j->variant[index].plan->swap;
    Swap               swap = from ? *from : (Swap){.ahead = 1, .first = -1, .last = -1};

    swap.label = listed_label(j->whole, index);
    swap.stall = arena_array(j->arena, SwapStall, swap.nstall + 1);
    for (int i = 0; i < swap.nstall; i++)
        swap.stall[i] = (SwapStall){number->first_step + from->stall[i].step, number->buffer[from->stall[i].block],
                                    from->stall[i].time};
    if (swap.first >= 0) {
        swap.first += number->first_step;
        swap.last += number->first_step;
    }
    swap.curve = NULL;
    swap.ncurve = 0;
    return swap;
}

/* The slowest branch of those with loads, with what holds for all. */
static void take_most(const Swap *size, int count, Swap *swap)
{
    int slowest = 0;

    for (int i = 1; i < count; i++)
        if (size[slowest].loader.rate <= 0.0 || (size[i].loader.rate > 0.0 && size[i].time > size[slowest].time))
            slowest = i;
    *swap = size[slowest];
    swap->label = NULL;
    swap->kept = swap->blocks = swap->tables = 0;
    for (int i = 0; i < count; i++) {
        swap->ahead = size[i].ahead > swap->ahead ? size[i].ahead : swap->ahead;
        swap->least = int_max(swap->least, size[i].least);
        swap->most = int_max(swap->most, size[i].most);
        swap->rows = int_max(swap->rows, size[i].rows);
        swap->row_bytes = int_max(swap->row_bytes, size[i].row_bytes);
    }
}

void joining_loads(Joining *j)
{
    Swap *swap = arena_one(j->arena, Swap), *size = arena_array(j->arena, Swap, j->count);
    int  *same = arena_array(j->arena, int, j->program->nbuffer + 1);
    bool  loads = false;

    for (int i = 0; i < j->count; i++) {
        size[i] = swap_of(j, i);
        loads = loads || j->variant[i].plan->swap;
    }
    if (!loads)
        return;
    take_most(size, j->count, swap);
    program_find_loaded(j->program, same);
    place_kept(j, same, swap);
    count_bytes(j->program, same, swap);
    swap->size = size;
    swap->nsize = j->count;
    j->plan->swap = swap;
}
