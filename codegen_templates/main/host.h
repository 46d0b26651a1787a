/* host.h - the host program that tries a generated model: what its files share, and the description of the model's
 * ports that occamyc writes for it. Linux and other POSIX systems. Knows nothing of what the model computes. */
#ifndef OCC_HOST_H
#define OCC_HOST_H

#define _GNU_SOURCE 1 /* mmap with MAP_ANONYMOUS, clock_gettime; threads on processors of their own */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef HOST_THREADS
#define HOST_THREADS 1
#endif

/* An axis: fixed, or a member of the inputs (outputs) struct at `member` bytes. */
typedef enum HostSide { HOST_FIXED, HOST_IN, HOST_OUT } HostSide;
typedef struct HostAxis {
    HostSide side;
    int64_t  extent; /* the largest */
    size_t   member;
} HostAxis;

/* Where the memory of a port is: at a pointer in the struct, or at an offset in the arena or the state. */
typedef enum HostPlace { HOST_POINTER, HOST_ARENA, HOST_STATE } HostPlace;

/* A sequence or optional in memory: int64_t count (optional: 1 or 0), int64_t extent[capacity][rank], members from byte
 * `data` on, `distance` bytes apart. capacity 0: the port has no such header. */
typedef struct HostLayout {
    int64_t capacity;
    int64_t data, distance; /* bytes */
} HostLayout;

/* The keys of a map, of which the port holds the values; count 0: it is no map, -1: any keys, values in ascending order
 * of them. */
typedef struct HostKeys {
    int64_t     count;
    int         is_text;
    const void *key; /* int64_t, or const char * */
} HostKeys;

typedef struct HostPort {
    const char *name, *type; /* as in the model: "x", "float" */
    int         bits, bytes; /* of an element in a file, in memory */
    int         is_signed, is_text;
    int         rank;    /* -1: each member says its own, in front of its extents; axis[0] is the most elements */
    HostAxis    axis[8]; /* members of a sequence: the largest extents */
    HostPlace   place;
    size_t      at;     /* bytes: of the pointer in its struct, of the tensor in its block */
    int         region; /* of HOST_ARENA: which memory */
    int64_t     size;   /* bytes at most, headers included */
    HostLayout  optional, sequence;
    HostKeys    keys;
} HostPort;

/* A memory that the arena, or a part of it, lies in. */
typedef struct HostRegion {
    const char *name;
    int64_t     size, align; /* bytes */
} HostRegion;

enum { HOST_REGIONS = 8 };

typedef struct HostBlocks {
    void       *arena[HOST_REGIONS], *state;
    const void *weights;
    void       *pool;                /* the threads' pool; HOST_THREADS 1: none */
    void       *kept, *swap, *loads; /* HOST_SWAP: weights that stay, the state of loads, the loader */
} HostBlocks;

/* State that stays in a device's memory, and the copy of it in HostBlocks.state. */
typedef struct HostState {
    int64_t here, there, bytes; /* offsets in HostBlocks.state and in the device's memory */
} HostState;

typedef struct HostModel {
    const char       *name;
    const HostPort   *in, *out;
    int               nin, nout;
    size_t            in_size, out_size; /* bytes of the structs of inputs and outputs */
    const HostRegion *region;
    int               nregion;
    int64_t           state_size, state_align, weights_size;
    const char       *weights_file; /* NULL: the weights are linked in */
    int (*run)(const HostBlocks *blocks, const void *in, void *out);
    int (*init)(HostBlocks *blocks, int64_t bytes); /* checks blocks->weights */
    int64_t  kept_size;                             /* the fields from here on are for HOST_SWAP */
    size_t   swap_size;
    uint64_t weights_id;
    int64_t (*read)(const HostBlocks *blocks); /* bytes that the last run loaded */
    int     ahead;                             /* loads begun and not yet waited for, at most */
    int64_t ram;                               /* bytes that occamyc said a run takes, without the stack */
} HostModel;

static const HostModel host_model;

/* Memory that ends at an unreadable page and starts behind another. */
typedef struct HostFence {
    unsigned char *map;   /* the first, unreadable page */
    int64_t        pages; /* bytes between the two */
    unsigned char *data;
    int64_t        size;
} HostFence;

#endif
