#!/bin/sh
# instantiate.sh TO FILE... - write templates of several element types out once per type that the tests use, as
# TO/<template>_<suffix>.h, with the TPL_ names replaced as the embed tool replaces them.
to=$1
shift
types="f32=float f64=double i8=int8_t i16=int16_t i32=int32_t i64=int64_t u8=uint8_t u16=uint16_t u32=uint32_t u64=uint64_t
bool=uint8_t f16=uint16_t"
pairs="f64:i8 f64:u8 f64:i32 f64:i64 f64:u64 f32:u8 f32:i32 f32:i64 i64:i4 f32:i4 u8:i32 i8:i32 f64:f64 u8:u8 u8:i8 u8:f32 i8:i8"

type_of()
{
    for pair in $types; do
        [ "${pair%%=*}" = "$1" ] && echo "${pair#*=}"
    done
    case $1 in i4) echo int8_t ;; esac
}

# Includes of other such templates become includes of their instances.
templates=$(grep -l TPL_ "$@")
renames()
{
    for file in $templates; do
        name=${file##*/}
        grep -q TPL_N2 "$file" || printf 's/#include "%s"/#include "%s_%s.h"/;' "$name" "${name%.*}" "$1"
    done
}

make_one() # file, suffix, second suffix or nothing
{
    name=${1##*/}
    name=${name%.*}_$2${3:+_$3}
    sed -e "$(renames "$2")" -e '/^#ifndef TPL_/,/^#endif/d' -e '/^#include "/!s/_H$/_'"$2$3"'_H/' \
        -e "s/TPL_N2/$3/g" -e "s/TPL_T2/$(type_of "$3")/g" -e "s/TPL_N/$2/g" -e "s/TPL_T/$(type_of "$2")/g" \
        "$1" > "$to/$name.h"
}

for file in $templates; do
    if grep -q TPL_N2 "$file"; then
        for pair in $pairs; do
            make_one "$file" "${pair%%:*}" "${pair#*:}"
        done
    else
        for pair in $types; do
            make_one "$file" "${pair%%=*}"
        done
    fi
done
