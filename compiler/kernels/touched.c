/* touched.c - the elements of an operand that a step touches, from the words of its kernel's record. */
#include "kernels/record.h"
#include "program/operand.h"

#include <string.h>

enum { NAME_BYTES = 32 };

/* The extents that a term names up to one of `ends`; *at moves behind the name. */
static const Extent *named(const Step *step, const char **at, const char *ends, int *count)
{
    size_t length = strcspn(*at, ends);
    char   word[NAME_BYTES] = {0};

    memcpy(word, *at, length < NAME_BYTES ? length : NAME_BYTES - 1);
    *at += length;
    return step_extents_of(step, word, count);
}

/* Adds the axes of "extent:stride" or "extent"; false: there are none of that name, or too many. */
static bool add_axes(const Step *step, const char **at, TouchedAxes *axes)
{
    int           count, strides = 0;
    const Extent *extent = named(step, at, ": ", &count), *stride = NULL;

    if (**at == ':') {
        ++*at;
        stride = named(step, at, " ", &strides);
        if (!stride)
            return false;
    }
    if (!extent || axes->rank + count > MAX_TOUCHED_AXES)
        return false;
    for (int i = 0; i < count; i++) {
        axes->dim[axes->rank] = extent[i];
        axes->stride[axes->rank++] = i < strides ? stride[i] : extent_const(1);
    }
    return true;
}

bool step_touched(const Step *step, const Touched *touched, TouchedAxes *axes)
{
    const char *at = touched->terms;

    axes->rank = 0;
    axes->is_dense = !strchr(at, ':');
    for (; *at; at += *at == ' ')
        if (!add_axes(step, &at, axes))
            return false;
    return true;
}
