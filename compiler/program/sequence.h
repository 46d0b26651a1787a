/* sequence.h - sequences and optionals in one buffer each: a count, the members' extents, the members at equal distances.
 * Everything that is not one tensor goes through here. */
#ifndef OCC_PROGRAM_SEQUENCE_H
#define OCC_PROGRAM_SEQUENCE_H

#include "program/lower.h"

/* Give `value` (a sequence or optional) a buffer of its capacity. */
int sequence_place(Lower *lower, Value *value);

/* Copy all members of `from` to where `to` lies; capacities may differ: too many members stop the run. */
int sequence_copy(Lower *lower, Value *from, Value *to);

/* `to` is what `from` is: no copy, unless `to` is an output of the model. */
int sequence_alias(Lower *lower, Value *from, Value *to);

#endif
