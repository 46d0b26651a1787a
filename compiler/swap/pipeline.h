/* pipeline.h - two queues, one that computes and one that loads: when does a run end whose weights come while it
 * computes, where does it wait, and what is the least time that so many bytes allow? Pure arithmetic over arrays: knows
 * steps and bytes, nothing of kernels, offsets and files.
 *
 *     steps   0 . . . 1 . . . 2 . . . . . . 3 . .      the load of block 2 has its place in front of step 1 and begins
 *     loads   [ block 1 ][ block 2    ][ block 3 ]     when the one before it has ended; step 3 waits for block 3
 *
 * Units: bytes; nanoseconds; steps and blocks are indices from 0. The caller owns all arrays; nothing is allocated but
 * in the arena that is passed. */
#ifndef OCC_SWAP_PIPELINE_H
#define OCC_SWAP_PIPELINE_H

#include "support/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Constants that one load brings in. */
typedef struct PipelineBlock {
    int64_t bytes;       /* in memory, > 0, alignment included */
    int     first, last; /* the first and the last step that reads it */
    double  time;        /* nanoseconds for which its load keeps the queue of loads busy: see pipeline_load_time */
} PipelineBlock;

typedef struct Pipeline {
    const double        *time;   /* [nstep] nanoseconds that each step computes, >= 0 */
    const int64_t       *live;   /* [nstep] bytes in use during each step, of all but blocks */
    const PipelineBlock *block;  /* [nblock] by first reader, which is the order of the loads */
    int                  nstep;  /* >= 0 */
    int                  nblock; /* >= 0 */
    double               rate;   /* bytes a nanosecond, > 0: the bound assumes this and no latency */
    double               lead;   /* nanoseconds more for a load that finds the queue idle: see pipeline_lead */
    int ahead; /* loads begun and not yet waited for, at most; 0: any. A step that reads more may have as many */
} Pipeline;

/* How long a load takes: bytes / rate + latency if it is alone. `depth` (>= 1) loads that are served at once hide each
 * other's latency, so each of many in a row keeps the queue busy for bytes / rate + latency / depth only.
 * The rest of the latency, the lead, is lost just where the queue was idle before. */
double pipeline_load_time(int64_t bytes, double rate, double latency, int depth);
double pipeline_lead(double latency, int depth);

/* ------------------------------------------------------------------------------------------------------- simulation */

typedef struct PipelineRun {
    double  time;  /* nanoseconds: the end of the last step */
    double  stall; /* part of `time`: steps wait for loads */
    int64_t read;  /* bytes loaded */
    int     loads;
    int     ahead; /* loads begun and not yet waited for, at most */
} PipelineRun;

/* When everything happens, in nanoseconds. */
typedef struct PipelineTrace {
    double *to;    /* [nblock] when the block is in memory; of kept blocks 0, as `from` */
    double *from;  /* [nblock] when the queue takes up the load, or NULL */
    double *stall; /* [nstep] for which the step waits before it begins, or NULL */
} PipelineTrace;

/* A run with these places: the load of block b may begin when step place[b] - 1 has ended and the load before it has;
 * step s begins when step s - 1 has ended and all blocks that it reads are there. place[b] rises with b and is at most
 * block[b].first. kept: [nblock] blocks that are there already and are not loaded, whatever their places; NULL:
 * none. */
PipelineRun pipeline_run(const Pipeline *pipeline, const int *place, const bool *kept, const PipelineTrace *trace);

/* Bytes in use at most, and the step: those of `live` and of the blocks that are not kept, each from its place to its
 * last reader. Every way to lay them out needs as much. place NULL: each load right before the first reader, which is
 * the least that any places need. The arena's memory is given back. */
typedef struct PipelinePeak {
    int64_t bytes;
    int64_t live, blocks; /* live bytes and bytes of blocks in it */
    int     step;         /* -1: there are no steps */
} PipelinePeak;

PipelinePeak pipeline_peak(const Pipeline *pipeline, const int *place, const bool *kept, Arena *arena);

/* All blocks together. */
int64_t pipeline_block_bytes(const Pipeline *pipeline);

/* The steps' times together: a run with all blocks kept. */
double pipeline_resident(const Pipeline *pipeline);

/* ------------------------------------------------------------------------------------------------------------ bound */

/* No places and no kept blocks give a run of less time in so many bytes, as long as loads bring `rate` bytes a
 * nanosecond. `time` is reached by a chain of windows; this is the one that costs most: while steps first..last
 * compute, loads must bring the bytes that they read first and that found no room before. */
typedef struct PipelineBound {
    double  time;        /* nanoseconds */
    int     first, last; /* steps; -1: computing alone takes that long */
    int64_t bytes;       /* bytes that the window reads first */
    int64_t early;       /* part of them that may have been in memory when the window began */
} PipelineBound;

/* bytes: of the arena and of kept blocks together; if fewer than pipeline_peak says without places, time is INFINITY.
 * Takes O(nstep * nstep) time, and memory of the arena that it gives back. */
PipelineBound pipeline_bound(const Pipeline *pipeline, int64_t bytes, Arena *arena);

#endif
