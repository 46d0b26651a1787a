#!/bin/sh
# instantiate.sh FROM TO - write templates of several element types out once per type that the tests use, as
# TO/<template>_<suffix>.h, with the TPL_ names replaced as the embed tool replaces them.
from=$1
to=$2
for file in "$from"/*; do
    grep -q TPL_ "$file" || continue
    base=$(basename "$file")
    base=${base%.*}
    for pair in f32=float f64=double i8=int8_t i16=int16_t i32=int32_t i64=int64_t u8=uint8_t u16=uint16_t u32=uint32_t \
        u64=uint64_t bool=uint8_t f16=uint16_t; do
        suffix=${pair%%=*}
        type=${pair#*=}
        sed -e '/^#ifndef TPL_/,/^#endif/d' -e '/^#include "/!s/_H$/_'"$suffix"'_H/' \
            -e "s/TPL_N\\([^2]\\|\$\\)/$suffix\\1/g" -e "s/TPL_T\\([^2]\\|\$\\)/$type\\1/g" "$file" > "$to/${base}_$suffix.h"
    done
done
