/* fake.h - what tests set and ask of the fake CUDA runtime (runtime.cc): a device of as much memory as they say, on
 * which nothing runs before something waits for it, and then in any order that the program has allowed. C and C++.
 *
 * A program that knows nothing of it is steered by the environment:
 *   OCC_FAKE_SEED=n     the orders of operations, threads and blocks; printed with every complaint
 *   OCC_FAKE_MEMORY=n   bytes of the device's memory
 *   OCC_FAKE_DEVICES=0  no device;  OCC_FAKE_DRIVER=old  a driver that is too old;  OCC_FAKE_ARCH=75  another device
 *   OCC_FAKE_FAIL=n     the n-th call fails
 *   OCC_FAKE_REPORT=FILE  writes the counts there when the program ends, as lines `name value` */
#ifndef OCC_FAKE_H
#define OCC_FAKE_H

#include <stddef.h>
#include <stdint.h>

#include "cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a program may do; the phases of a generated one are open, run and close. */
enum { FAKE_ALLOCATE = 1, FAKE_CALL = 2, FAKE_ALL = 3 };

typedef enum FakeKind { FAKE_KERNEL, FAKE_TO_DEVICE, FAKE_TO_HOST, FAKE_ON_DEVICE, FAKE_MARK } FakeKind;

typedef struct FakeSettings {
    uint64_t    seed;
    size_t      memory;     /* bytes that cudaMalloc may give out in all */
    int         devices;    /* 0: there is none */
    int         old_driver; /* every call fails as with a driver that is too old */
    int         arch;       /* 80: compute capability 8.0 */
    int         processors;
    int         integrated;  /* host and device share their memory */
    int64_t     fail_call;   /* the number of the call that fails, from 1; 0: none */
    cudaError_t fail_code;   /* 0: one that fits the call */
    int         in_order;    /* operations run when they are enqueued, in that order */
    int         allowed;     /* FAKE_ALLOCATE | FAKE_CALL */
    int         count_wrong; /* misuse is counted; else the first is printed and ends the program */
    int64_t (*cost)(FakeKind kind, const char *name, size_t bytes); /* nanoseconds; NULL: a copy takes 8000 and 1 for
                                                                       16 bytes, a kernel 3000 */
} FakeSettings;

typedef struct FakeCounts {
    int64_t calls, wrong; /* wrong: misuse of the runtime */
    int64_t graph_launches, graph_nodes, host_waits;
    int64_t kernels, to_device, to_host, on_device;  /* operations, alone or in graphs; the last three are copies */
    int64_t bytes_to_device, bytes_to_host;          /* and theirs */
    int64_t device_blocks, pinned_blocks;            /* calls that allocated */
    int64_t device_bytes, device_peak, pinned_bytes; /* now, at most, now */
    int64_t live_blocks, live_handles;               /* blocks; streams, events, graphs: not given back */
    int64_t clock;                                   /* nanoseconds of the virtual clock, as the host sees it */
} FakeCounts;

/* One operation as the virtual clock has seen it. */
typedef struct FakeSpan {
    FakeKind    kind;
    const char *name;
    int         stream; /* by order of creation; 0: the default one */
    int64_t     begin, end;
} FakeSpan;

/* Forgets all: settings as the environment has them, counts 0, blocks and handles gone. The settings may be
 * changed. */
FakeSettings *fake_reset(void);
FakeSettings *fake_settings(void);
FakeCounts    fake_counts(void);

/* Ordinary memory of a caller, which kernels must not touch: while one runs it cannot be read or written. */
void *fake_caller_block(size_t bytes);
void  fake_caller_free(void *block);

/* The host computes for so long. */
void fake_host_work(int64_t nanoseconds);

/* The operations enqueued since the reset, in that order; returns how many. */
int64_t fake_timeline(const FakeSpan **spans);

#ifdef __cplusplus
}
#endif

#endif
