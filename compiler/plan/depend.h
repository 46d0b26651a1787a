/* depend.h - which of the program's outermost steps must run before which: what each touches, and where touches meet.
 * Knows nothing of orders, queues or offsets. */
#ifndef OCC_PLAN_DEPEND_H
#define OCC_PLAN_DEPEND_H

#include "program/program.h"

/* A control step and all that it owns move as one unit. */
typedef struct Unit {
    int begin, end; /* steps */
} Unit;

/* One unit's touch of something: a window of a buffer, or a run-time integer. */
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
    bool          *barrier; /* by unit: a check, which what follows may rely on */
} Touches;

/* Everything that the steps touch. Memory is the arena's. */
Touches program_touches(const Program *program, Arena *arena);

/* One of two touches of a buffer or slot writes, and their hulls meet: the units keep their order. */
bool touches_meet(const Touch *a, const Touch *b);

/* Two operands of one buffer share no byte although their hulls meet: columns beside each other, as the members of a
 * concatenation along the innermost axis are. false: they may. */
bool operands_interleave(const Operand *a, const Operand *b);

/* A unit that must end before another begins. */
typedef struct Need {
    int     unit;
    int64_t bytes; /* that it writes and the other reads */
} Need;

/* By unit; transitive ones may be left out. */
typedef struct Dependences {
    Need **before; /* by rising unit */
    int   *nbefore;
} Dependences;

/* From what the steps touch. */
Dependences program_dependences(const Touches *touches, Arena *arena);

/* The same, and from where the plan puts it: what lies over something else comes after it. */
Dependences plan_dependences(const Touches *touches, const Plan *plan, Arena *arena);

#endif
