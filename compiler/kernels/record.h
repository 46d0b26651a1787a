/* record.h - what the compiler knows of a kernel beside its signature: one record for each family, which a row of
 * schemas/kernels.def names, in a file of this folder. Knows nothing of plans, or of how many parts are wanted. */
#ifndef OCC_KERNELS_RECORD_H
#define OCC_KERNELS_RECORD_H

#include "kernels/cost.h"

/* A way to cut: `units` pieces of work along an axis, which are given out in multiples of `grain`. */
typedef struct Cut {
    int     axis; /* what the record means by it; -1: none */
    int64_t units, grain;
    double  weight;  /* at least 1: how much worse this cut is than one that is as even */
    bool    weights; /* each piece reads a part of the weights of its own: output channels */
} Cut;

enum { MAX_CUTS = 8 };
typedef struct Cuts {
    Cut cut[MAX_CUTS];
    int count;
} Cuts;

/* A result that runs after an input through the same memory. */
typedef struct Follow {
    const Operand *from, *to;
    int64_t
        distance; /* elements from the first one of the result up to that of the input, at least: see safe_distance.h */
} Follow;

struct TileChanges;

/* The size of a small tile of rows: at most `bytes` of results, but at least `pixels`, since the weights are read once
 * for each tile. */
typedef struct BlockSize {
    int64_t bytes, pixels;
} BlockSize;

/* How steps are cut for threads and slices. A kernel that may fail is not: a part could not stop the others. */
typedef struct CutRule {
    void (*offer)(const Step *step, Cuts *cuts);                /* NULL: the step stays whole */
    void (*take)(Step *part, int axis, int64_t lo, int64_t hi); /* units [lo,hi) of a copy of the step */
    double (*work)(const Step *step);                           /* nanoseconds on one core, roughly */
    bool both; /* a part may be taken along one axis and then along another; it has no scratch */
} CutRule;

/* Smaller tiles: small rows let the result follow its input at a smaller distance, small scratch takes less memory.
 * NULL: the kernel has no such tiles. */
typedef struct TileRule {
    bool (*can_make_small_rows)(const Step *step, int64_t pixels); /* of at least so many pixels each */
    void (*small_rows)(Program *program, Step *step, BlockSize size, struct TileChanges *changes);
    void (*small_scratch)(Program *program, Step *step, struct TileChanges *changes);
} TileRule;

/* What a kernel touches of an operand, from its first element on: "extent:stride" for a list of extents and the
 * distances of what they count, both by the names of arguments; extents without distances lie densely. */
typedef struct Touched {
    const char *operand, *terms;
} Touched;

/* Extents that two shapes share, "xdim" and "ydim": axes from the first or, below 0, from behind the last. */
typedef struct Shared {
    const char *a, *b;
    int         a_axis, b_axis;
} Shared;

enum { MAX_TOUCHED = 4, MAX_SHARED = 6 }; /* the lists end with NULL */

typedef struct KernelRecord {
    CutRule cut;

    /* Nanoseconds but those of the expression; 0: some extents are known only while running. Where it is NULL or 0,
     * they follow from bytes and vector operations; `operations` NULL: there are none. */
    double (*time)(const Core *core, const Step *step);
    double (*operations)(const Core *core, const Step *step);
    bool picks; /* of what it reads, only as many elements as it makes count */

    /* Whether the result of a whole step may follow an input, and how closely. NULL: it never may. */
    bool (*follow)(const Program *program, const Step *step, Follow *follow);
    int columns; /* of a kernel over windows that makes rows in rising order: neighbouring pixels made together */

    TileRule tiles;
    Touched  touched[MAX_TOUCHED];
    Shared   shared[MAX_SHARED];
} KernelRecord;

#define KERNEL(name, file, types, record, flags) extern const KernelRecord kernel_##record;
#define TEMPLATE(file, types)
#include "schemas/kernels.def"

/* ---------------------------------------------------------------------------------------- what records are made of */

/* Number `index` of an argument, or of the extents of a shape, at its most: "xdim" (step_extents_of); 1: the
 * kernel has none. */
int64_t step_value(const Step *step, const char *name, int index);
double  step_product(const Step *step, const char *name); /* of all of them */

/* The constant integers of an argument or shape, if it is of `count` of them; false where one is known only while
 * running. */
bool step_constants(const Step *step, const char *name, int count, int64_t *value);

/* The step's first operand and its only result, if nothing else of it lies in their buffers. */
bool step_pair(const Program *program, const Step *step, const Operand **x, const Operand **y);

/* Elements that a step writes. */
double step_results(const Step *step);

/* The operand that a parameter is, by name; NULL: absent, or the kernel has none. */
Operand *step_operand_of(const Step *step, const char *name);

/* Elements between neighbours along the innermost axis, as the expression reads its operand k. */
int64_t step_inner_stride(const Step *step, int k);

/* Another value for an argument or extent of a part. */
void part_set(Step *part, const char *name, int index, int64_t to);

/* Move an operand of a part, by number or by the name of its parameter; absent operands stay. */
void part_shift(Step *part, int operand, int64_t elements);
void part_shift_named(Step *part, const char *name, int64_t elements);

/* Add a way to cut, where there is more than one grain. */
void cut_offer(Cuts *cuts, int axis, int64_t units, int64_t grain, double weight);

/* The same, where each unit has weights of its own. */
void cut_offer_channels(Cuts *cuts, int axis, int64_t units, int64_t grain, double weight);

#endif
