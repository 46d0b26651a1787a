/* sequence.h - sequences and optionals in one buffer each: a count, the members' extents, the members at equal
 * distances. Everything that is not one tensor goes through here.
 *
 *   byte 0         int64_t: members of a sequence; whether an optional is there
 *   byte 8         int64_t [capacity][rank]: extents of each member (none when the members are sequences themselves);
 *                  where members have no common rank, [capacity][1 + MAX_RANK]: the rank, then the extents
 *   byte data      member 0, dense, at its own extents
 *   byte data + distance   member 1, ...
 *
 * A sequence inside an optional is a member in this same form. An absent optional, and a sequence in one, has zeros in
 * its header. The operand of a value is the whole buffer as bytes (DTYPE_U8, rank 1); its place has the kind
 * PLACE_SEQUENCE. */
#ifndef OCC_LOWER_SEQUENCE_H
#define OCC_LOWER_SEQUENCE_H

#include "lower/call.h"

enum { SEQUENCE_ALIGN = 64 }; /* bytes: of the first member and of the distance between members */

/* Where things lie in a value's buffer; sizes and distances in bytes. */
typedef struct SequenceLayout {
    int64_t capacity; /* members; 1 for an optional, 0 for one that is never there */
    int     rank;     /* of a member; 0 when members are sequences or optionals themselves; -1: each says its own */
    int     words;    /* int64_t kept of each member */
    int64_t data;     /* first member */
    int64_t distance; /* between members */
    int64_t size;     /* in all */
} SequenceLayout;

/* The layout of a sequence or optional; false when it has no bound or is no sequence or optional. */
bool sequence_layout(const Type *type, SequenceLayout *out);

/* Give `value` (a sequence or optional) a buffer of its capacity. */
int sequence_place(Lower *lower, Value *value);

/* Gives a port of the model (a sequence or optional) its buffer: the caller's memory, in the layout above. */
int sequence_port(Lower *lower, Value *value, BufferKind kind, int index);

/* Copy all members of `from` to where `to` lies; capacities may differ: too many members stop the run. */
int sequence_copy(Lower *lower, Value *from, Value *to);
int sequence_copy_operands(Lower *lower, const Type *from, Operand x, const Type *to, Operand y);

/* `to` is what `from` is: no copy, unless `to` has a place already. */
int sequence_alias(Lower *lower, Value *from, Value *to);

/* `made` is what lies at `member`, a part of a sequence or optional in the same form. */
int sequence_view(Lower *lower, Value *made, Operand member);

/* `words` integers of the header from number `first` on, as int64_t elements. */
Operand sequence_words(Lower *lower, Operand sequence, Extent first, int64_t words);

/* The header's words for member `index`; sequence_keep: the values to store there for a member of this type. It returns
 * their number. */
Operand sequence_kept(Lower *lower, const Type *type, Operand sequence, Extent index);
int     sequence_keep(const Type *type, const Type *member, Extent *words);

/* Member `index` with these extents, dense. Members that are sequences: the member's own bytes. */
Operand sequence_member(Lower *lower, const Type *type, Operand sequence, Extent index, const Type *member);

/* The members that `value` has, as a run-time integer. */
int sequence_count(Lower *lower, Value *value, Extent *out);

/* Takes the run-time extents of tensor `made` from `words`; extents that inference knows are compared. sequence_take:
 * from the header of member `index` of a sequence, with its rank where the header has one. */
int sequence_extents(Lower *lower, const Value *made, Operand words);
int sequence_take(Lower *lower, const Value *made, const Type *type, Operand sequence, Extent index);

/* The count of a value that is now made goes to the slot where others look for it. */
int sequence_made(Lower *lower, Value *value);

/* Store integers in a header. */
int sequence_store(Lower *lower, Operand words, const Extent *value);

/* Arguments of kernels that walk over members: { capacity, data, distance, rank }, and the members' largest extents. */
void give_layout(Lower *lower, const char *name, const Type *type);
void give_limits(Lower *lower, const Type *type);

/* optional.c: `to`, an optional, holds `from` (NULL: nothing); `to` is what the optional `from` holds, a view unless it
 * has a place already. sequence_copy and sequence_alias do the same where only one side is an optional. */
int optional_wrap(Lower *lower, Value *from, Value *to);
int optional_clear(Lower *lower, const Type *type, Operand y); /* y holds nothing */
int optional_unwrap(Lower *lower, Value *from, Value *to);

#endif
