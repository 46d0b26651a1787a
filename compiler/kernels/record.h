/* record.h - what the compiler knows of a kernel beside its signature: one record for each family, which a row of
 * schemas/kernels.def names, in a file of this folder. Knows nothing of plans, or of how many parts are wanted. */
#ifndef OCC_KERNELS_RECORD_H
#define OCC_KERNELS_RECORD_H

#include "kernels/cost.h"

/* A possible cut of a step: `units` pieces of work along an axis, given out in multiples of `grain`. Example: 56 rows
 * in tiles of 4 rows: units 56, grain 4. */
typedef struct Cut {
    int     axis;  /* meaning is the record's own; -1: none */
    Extent  units; /* a run-time integer where the axis has as many places */
    int64_t grain;
    double  weight;  /* at least 1: a factor that makes this cut less attractive than one that is equally even */
    bool    weights; /* each piece reads weights of its own: output channels */
    bool    alone;   /* only where a run brings one image */
} Cut;

/* Units [lo, lo + count) along an axis, in numbers or in run-time integers of `model`. */
typedef struct UnitRange {
    Model *model;
    int    axis;
    Extent lo, count;
} UnitRange;

/* Units [lo, hi) of a cut, in numbers. */
static inline UnitRange unit_range(Model *model, const Cut *cut, int64_t lo, int64_t hi)
{
    return (UnitRange){model, cut->axis, extent_const(lo), extent_const(hi - lo)};
}

/* Weights of output channels in panels, of which a part of the channels can be gathered where one panel is too large to
 * be loaded as a whole: [panel of `width`][row][channel][lane]. Channels of the last panel are rounded up to `even`. */
typedef struct Panels {
    int64_t units, width; /* channels in all, and of a panel */
    int64_t lane, even;
} Panels;

enum { MAX_CUTS = 8 };
typedef struct Cuts {
    Cut cut[MAX_CUTS];
    int count;
} Cuts;

/* A result that follows an input through the same memory. */
typedef struct Follow {
    const Operand *from, *to;
    int64_t distance; /* least elements from the first one of the result up to that of the input: see safe_distance.h */
} Follow;

/* The size of a small tile of rows: at most `bytes` of results, but at least `pixels`, since the weights are read once
 * for each tile. */
typedef struct BlockSize {
    int64_t bytes, pixels;
} BlockSize;

/* How steps are cut for threads and for loaded weights. */
typedef struct CutRule {
    void (*offer)(const Step *step, Cuts *cuts);       /* NULL: the step stays whole */
    void (*take)(Step *slice, const UnitRange *range); /* of a copy of the step */
    double (*work)(const Step *step);                  /* nanoseconds on one core, roughly */
    bool both; /* equal slices along one axis may leave a remainder that is cut along another; only without scratch */
} CutRule;

/* How a step falls into units for the threads of a device: along several axes at once, each in the smallest grains.
 * Without this rule, the cuts for threads are tried. Outer axes are offered first. */
typedef struct UnitRule {
    void (*offer)(const Step *step, Cuts *cuts);
    void (*take)(Step *slice, const UnitRange *range);
} UnitRule;

/* Units along an argument. extent "outer" with moves "y=count*inner, x=axis*inner": for each further unit along
 * `outer`, y moves by count * inner elements and x by axis * inner. Factors are numbers, arguments or products of
 * lists; "dim.1" is entry 1 of a list. Outer axes come first. All moves are computed before any axis is cut. */
typedef struct UnitLine {
    const char *extent, *moves;
} UnitLine;

enum { MAX_LINES = 3 }; /* the list ends with NULL where it is shorter */

/* Smaller tiles: small rows let the result follow its input at a smaller distance, small scratch takes less memory. A
 * large scratch is the opposite of a small one: as large as is of use within so many bytes, and no larger than that of
 * step->large; unchanged where none is larger. NULL: the kernel has no such tiles. */
typedef struct TileRule {
    bool (*can_make_small_rows)(const Program *program, const Step *step,
                                int64_t pixels); /* of at least so many pixels each */
    void (*small_rows)(const Program *program, Step *step, BlockSize size);
    void (*small_scratch)(Program *program, Step *step);
    void (*large_scratch)(Program *program, Step *step, int64_t bytes);
} TileRule;

/* The elements that a kernel touches of an operand, from its first one on. A term "extent:stride" names the arguments
 * that hold a list of extents and their distances; extents without distances are contiguous: {"y", "rows n"}. Optional:
 * code does not depend on it, but every program is checked by it. Each step stays inside its operands
 * (plan/check_extents.c), and slices write each element of the whole once (plan/check_slices.c). */
typedef struct Touched {
    const char *operand, *terms;
} Touched;

/* Extents that two shapes have in common, as "xdim" and "ydim"; axes count from the first or, if negative, from the
 * end. */
typedef struct Shared {
    const char *a, *b;
    int         a_axis, b_axis;
} Shared;

enum { MAX_TOUCHED = 4, MAX_SHARED = 6 }; /* the lists end with NULL */

typedef struct KernelRecord {
    CutRule cut;

    /* How often each slice is called, where it needs what the others computed: all are called for round 0, then all for
     * round 1 and so on. The kernel's argument `round_index` says which one it is. NULL: once. */
    Extent (*rounds)(Model *model, const Step *step);

    /* The operand whose values may make the kernel fail. A step that has it stays whole: a slice could not stop the
     * others. NULL: the kernel never fails. */
    const char *fails_by;

    Panels (*panels)(const Step *step); /* what a cut of axis 1 reads; NULL, or no units: panels stay whole */
    UnitRule units;
    UnitLine line[MAX_LINES]; /* where there is no rule for units */

    /* Nanoseconds, without the expression's; 0: some extents are run-time integers. Where `time` is NULL or 0, the time
     * follows from the bytes moved and from `operations`: instructions on whole vectors, each as long as a multiply-add
     * (`lanes` elements); NULL: there are none. */
    double (*time)(const Core *core, const Step *step);
    double (*operations)(const Core *core, const Step *step);
    bool picks; /* the kernel reads only as many elements as it makes */

    /* Whether the result of a whole step may follow an input, and how closely. NULL: it never may. */
    bool (*follow)(const Program *program, const Step *step, Follow *follow);
    int columns; /* neighbouring pixels that a kernel over windows makes together when it makes rows in rising order */

    /* Whether columns that miss taps may be more than a tile has, for some width of vectors. NULL: the kernel has no
     * code of its own for that. */
    bool (*wide_border)(const Step *step);

    /* The function that a step in C calls, without occ_, where its extents ask for another than the kernel's own, with
     * the same arguments. Returns NULL where they do not. `model` gets the products that the rule compares. */
    const char *(*form)(Model *model, const Step *step);

    TileRule tiles;
    Touched  touched[MAX_TOUCHED];
    Shared   shared[MAX_SHARED];
} KernelRecord;

#define KERNEL(name, file, types, record, flags) extern const KernelRecord kernel_##record;
#define TEMPLATE(file, types)
#include "schemas/kernels.def"

/* ---------------------------------------------------------------------------------------- what records are made of */

/* Entry `index` of an argument or of the extents of a shape ("xdim", step_extents_of); 1 if there is none. step_value:
 * at its maximum. */
Extent  step_extent(const Step *step, const char *name, int index);
int64_t step_value(const Step *step, const char *name, int index);
double  step_product(const Step *step, const char *name); /* product of all entries */

/* The `count` constant integers of an argument or shape; false where there are others or one is a run-time integer. */
bool step_constants(const Step *step, const char *name, int count, int64_t *value);

/* The step's first operand and its only result, provided that no other operand lies in their buffers. */
bool step_pair(const Program *program, const Step *step, const Operand **x, const Operand **y);

/* Elements that a step writes. */
double step_results(const Step *step);

/* The elements that a step touches of an operand, from its first one on. */
enum { MAX_TOUCHED_AXES = 4 * MAX_RANK };
typedef struct TouchedAxes {
    int    rank;
    bool   is_dense; /* contiguous: strides follow from the extents */
    Extent dim[MAX_TOUCHED_AXES], stride[MAX_TOUCHED_AXES];
} TouchedAxes;

/* The axes that a record tells; false: it names what the step does not have. */
bool step_touched(const Step *step, const Touched *touched, TouchedAxes *axes);

/* The operand of a parameter, by the parameter's name; NULL: absent, or the kernel has no such parameter. */
Operand *step_operand_of(const Step *step, const char *name);

/* The innermost stride of the expression's operand k, in elements. */
int64_t step_inner_stride(const Step *step, int k);

/* Changes an argument or extent of a slice. */
void slice_set(Step *slice, const char *name, int index, Extent to);

/* Moves an operand of a slice, by number or by the name of its parameter, to the first unit of a range: by so many
 * elements for each unit before it. Absent operands stay. */
void slice_move(Step *slice, const UnitRange *range, int operand, Extent elements);
void slice_move_named(Step *slice, const UnitRange *range, const char *name, Extent elements);

/* Offers a cut, if it has more than one grain. */
void cut_offer(Cuts *cuts, int axis, Extent units, int64_t grain, double weight);

/* Offers each axis of the argument `dim`, which has `rank` of them; the innermost in multiples of `grain`. */
void cut_offer_axes(const Step *step, Cuts *cuts, const char *rank, const char *dim, int64_t grain);

/* The lines of a record as a cut, of which the axis is the number of the line. For threads mostly the first one: the
 * rule {cut_offer_first_line, cut_take_line, work}. */
void cut_offer_first_line(const Step *step, Cuts *cuts);
void cut_offer_lines(const Step *step, int most, Cuts *cuts);
void cut_take_line(Step *slice, const UnitRange *range);

/* Offers a cut whose units each have weights of their own. */
void cut_offer_channels(Cuts *cuts, int axis, Extent units, int64_t grain, double weight);

#endif
