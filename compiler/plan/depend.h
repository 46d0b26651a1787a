/* depend.h - the dependences between the outermost steps of a program, from the bytes that each touches. Knows nothing
 * of orders, queues or offsets. */
#ifndef OCC_PLAN_DEPEND_H
#define OCC_PLAN_DEPEND_H

#include "program/program.h"

/* A control step and all that it owns move as one unit. */
typedef struct Unit {
    int begin, end; /* steps */
} Unit;

/* One unit's access: to a window of a buffer, or to a run-time integer. */
typedef struct Touch {
    int            unit;
    int64_t        lo, hi; /* bytes; of a run-time integer 0 and 1 */
    bool           writes;
    const Operand *operand; /* NULL: a run-time integer */
} Touch;

typedef struct TouchList {
    Touch *touch; /* in order of units */
    int    n, capacity;
} TouchList;

typedef struct Touches {
    const Program *program;
    Unit          *unit;
    int            nunit;
    TouchList     *buffer;  /* by Buffer.id */
    TouchList     *slot;    /* by slot */
    bool          *barrier; /* by unit: a check, on which later units may rely */
} Touches;

/* Everything that the steps touch. Memory is the arena's. */
Touches program_touches(const Program *program, Arena *arena);

/* Whether the hulls of two touches of a buffer or slot intersect and one of them writes, so that the units keep their
 * order. */
bool touches_meet(const Touch *a, const Touch *b);

/* A unit that must end before another begins. */
typedef struct Need {
    int     unit;
    int64_t bytes; /* bytes that it writes and the other reads */
} Need;

/* The units that must end before each unit; transitive ones may be missing. */
typedef struct Dependences {
    Need **before; /* by rising unit */
    int   *nbefore;
} Dependences;

/* The dependences that follow from the steps' accesses. */
Dependences program_dependences(const Touches *touches, Arena *arena);

/* The dependences of program_dependences, and those of the plan's offsets: a buffer placed over another one is written
 * after the last use of that one. */
Dependences plan_dependences(const Touches *touches, const Plan *plan, Arena *arena);

#endif
