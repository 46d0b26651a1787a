/* drive_state.c - runs of listed sizes that share one state: reads the input of each size of the command line and
 * prints the first output, which is OUTPUT or, with --io=arena, at PLACE. GROWS: the state has the rows of all runs
 * before. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static _Alignas(MODEL_ARENA_ALIGN) unsigned char arena[MODEL_ARENA_SIZE + 1];
static _Alignas(MODEL_STATE_ALIGN) unsigned char state[MODEL_STATE_SIZE];

int main(int argc, char **argv)
{
    model_memory memory = {.arena = arena, .state = state};
    int64_t      past = 0;

    for (int i = 1; i < argc; i++) {
        int    n = atoi(argv[i]);
        size_t count = (size_t)n * COLUMNS;
#ifdef MODEL_IN_x
        float        *x = (float *)(arena + MODEL_IN_x), *y = (float *)(arena + PLACE);
        model_inputs  in = {.n = n};
        model_outputs out = {0};
#else
        float         x[MOST], y[MOST];
        model_inputs  in = {.x = x, .n = n};
        model_outputs out = {.OUTPUT = y};
#endif
#ifdef GROWS
        in.past = past;
#endif
        memset(arena, 0xa5, sizeof arena);
        if (fread(x, sizeof *x, count, stdin) != count || model_run(&memory, &in, &out))
            return 1;
        past += n;
#ifdef GROWS
        if (out.t0_dim0 != past)
            return 2;
        count = (size_t)(n * past);
#else
        count = (size_t)n * 3;
#endif
        fwrite(y, sizeof *y, count, stdout);
    }
    return 0;
}
