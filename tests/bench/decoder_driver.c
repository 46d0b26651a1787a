/* decoder_driver.c - runs a decoder that was generated from tests/cli/decoder.py, as standard input asks for:
 *   prompt   PROMPT tokens from the first one on    answer: nanoseconds, the place of the last token's largest logit
 *   token    the next token                         the same
 *   read     sums of a large memory                 answer: bytes per second
 *   memory                                          answer: kB of the process besides its file
 * The tokens are a fixed sequence, so that every engine computes the same. */
#define _POSIX_C_SOURCE 200809L
#include "decoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { READ_BYTES = 512 * 1024 * 1024 };

static unsigned char arena[DECODER_ARENA_SIZE] __attribute__((aligned(DECODER_ARENA_ALIGN)));
static unsigned char state[DECODER_STATE_SIZE] __attribute__((aligned(DECODER_STATE_ALIGN)));
static int64_t       id[ROOM], mask[ROOM], position[ROOM];
static float         logits[(size_t)PROMPT * WORDS];

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Tokens past to past + count - 1. Returns the place of the largest logit of the last one, or -1. */
static int run(int64_t past, int64_t count, int64_t *took)
{
    decoder_memory  memory = {0};
    decoder_inputs  in = {0};
    decoder_outputs out = {0};
    const float    *last = logits + (count - 1) * WORDS;
    int64_t         start;
    int             status, best = 0;

    memory.arena = arena;
    memory.state = state;
    for (int64_t i = 0; i < count; i++) {
        position[i] = past + i;
        id[i] = (past + i) * 7919 % WORDS;
    }
    in.input_ids = id;
    in.attention_mask = mask;
    in.position_ids = position;
    in.sequence_length = count;
    in.total_sequence_length = past + count;
    out.logits = logits;
    start = now();
    status = decoder_run(&memory, &in, &out);
    *took = now() - start;
    for (int i = 1; i < WORDS; i++)
        best = last[i] > last[best] ? i : best;
    return status ? -1 : best;
}

/* Bytes per second: the best of some sums over more memory than the caches hold. */
static double read_rate(void)
{
    const size_t      count = READ_BYTES / sizeof(uint64_t);
    uint64_t         *from = malloc(READ_BYTES);
    volatile uint64_t sink = 0;
    int64_t           best = INT64_MAX;

    if (!from)
        return 0.0;
    memset(from, 1, READ_BYTES);
    for (int turn = 0; turn < 5; turn++) {
        const int64_t start = now();
        uint64_t      sum[8] = {0};

        for (size_t i = 0; i < count; i += 8)
            for (size_t k = 0; k < 8; k++)
                sum[k] += from[i + k];
        for (size_t k = 0; k < 8; k++)
            sink += sum[k];
        best = now() - start < best ? now() - start : best;
    }
    free(from);
    return READ_BYTES / (1e-9 * (double)best);
}

static long anonymous_kb(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char  line[256];
    long  kb = -1;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %ld kB", &kb) == 1)
            break;
    if (file)
        fclose(file);
    return kb;
}

int main(void)
{
    char    word[32];
    int64_t past = 0, count, took;

    for (int64_t i = 0; i < ROOM; i++)
        mask[i] = 1;
    while (scanf("%31s", word) == 1) {
        if (!strcmp(word, "read")) {
            printf("%.0f\n", read_rate());
        } else if (!strcmp(word, "memory")) {
            printf("%ld\n", anonymous_kb());
        } else {
            int best;

            count = 1;
            if (!strcmp(word, "prompt"))
                past = 0, count = PROMPT;
            if (past + count > ROOM || (best = run(past, count, &took)) < 0)
                return 1;
            past += count;
            printf("%lld %d\n", (long long)took, best);
        }
        fflush(stdout);
    }
    return 0;
}
