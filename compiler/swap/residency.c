/* residency.c - the blocks that stay in any of several programs, by the hashes of their bytes. */
#include "swap/residency.h"

#include "program/loaded.h"
#include "support/int.h"

bool residency_has(const Residency *residency, uint64_t hash)
{
    for (int i = 0; i < residency->nblock; i++)
        if (residency->block[i] == hash)
            return true;
    return false;
}

static bool is_new(const Residency *residency, const Program *program, const Buffer *block)
{
    return block->kind == BUFFER_BLOCK && block->kept >= 0 && !residency_has(residency, loaded_hash(program, block));
}

int64_t residency_more(const Residency *residency, const Program *program)
{
    int64_t bytes = 0;

    for (int b = 0; b < program->nbuffer; b++)
        bytes += is_new(residency, program, &program->buffer[b]) ? program->buffer[b].size : 0;
    return bytes;
}

void residency_add(Residency *residency, const Program *program, const Plan *plan)
{
    residency->nprogram++;
    residency->arena = int_max(residency->arena, plan->peak);
    residency->fixed = int_max(residency->fixed, plan->swap ? plan->swap->fixed : 0);
    for (int b = 0; b < program->nbuffer; b++)
        if (is_new(residency, program, &program->buffer[b])) {
            residency->kept += program->buffer[b].size;
            ARENA_PUSH(program->arena, residency->block, residency->nblock, residency->cblock,
                       loaded_hash(program, &program->buffer[b]));
        }
}
