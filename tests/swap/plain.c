/* plain.c - the same case (case.h) with its weights in the C file: what every other form must give, to the bit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"

int main(void)
{
    static unsigned char found[CASE_OUT_BYTES + 1];
    model_memory         memory = {0};

    memory.arena = aligned_alloc(MODEL_ARENA_ALIGN,
                                 (MODEL_ARENA_SIZE + MODEL_ARENA_ALIGN) / MODEL_ARENA_ALIGN * MODEL_ARENA_ALIGN);
    case_fill();
    for (int size = 0; size < CASE_SIZES; size++) {
        case_take(size);
        case_clear();
        if (!memory.arena || model_run(&memory, &case_inputs, &case_outputs))
            return 1;
        case_gather(found);
        case_print(found);
    }
    return 0;
}
