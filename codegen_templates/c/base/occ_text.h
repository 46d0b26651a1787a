/* occ_text.h - comparison, length and letter case of text: UTF-8 characters that end with a zero byte. Knows nothing of
 * tensors. */
#ifndef OCC_TEXT_H
#define OCC_TEXT_H

#include "occ_base.h"

OCC_HOT int64_t occ_text_bytes(occ_text x)
{
    int64_t n = 0;
    while (x[n])
        n++;
    return n;
}

/* Equality of elements of any type. NaN equals NaN, as keys of a table must. */
OCC_HOT int occ_same_text(occ_text a, occ_text b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* Returns a number less than, equal to or greater than 0 as a comes before b, is equal or comes behind it, by the
 * values of bytes. */
OCC_HOT int occ_order_text(occ_text a, occ_text b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return (int)(unsigned char)*a - (int)(unsigned char)*b;
}

OCC_HOT int occ_same_i16(int16_t a, int16_t b)
{
    return a == b;
}

OCC_HOT int occ_same_i32(int32_t a, int32_t b)
{
    return a == b;
}

OCC_HOT int occ_same_i64(int64_t a, int64_t b)
{
    return a == b;
}

OCC_HOT int occ_same_f32(float a, float b)
{
    return a == b || (a != a && b != b);
}

OCC_HOT int occ_same_f64(double a, double b)
{
    return a == b || (a != a && b != b);
}

/* Changes the case of a letter: to upper case if `upper`, else to lower case. It knows ASCII, Latin-1, Latin
 * Extended-A, Greek (up to U+03CE) and Cyrillic (up to U+045F), where the two forms of a letter take equally many
 * bytes. Any other character stays. */
OCC_HOT int occ_letter_case(int c, int upper)
{
    int up = c, low = c;
    if ((c >= 0x41 && c <= 0x5a) || (c >= 0xc0 && c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3ab && c != 0x3a2) ||
        (c >= 0x410 && c <= 0x42f))
        low = c + 32;
    else if ((c >= 0x61 && c <= 0x7a) || (c >= 0xe0 && c <= 0xfe && c != 0xf7) ||
             (c >= 0x3b1 && c <= 0x3cb && c != 0x3c2) || (c >= 0x430 && c <= 0x44f))
        up = c - 32;
    else if (c >= 0x400 && c <= 0x40f)
        low = c + 80;
    else if (c >= 0x450 && c <= 0x45f)
        up = c - 80;
    else if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e)) {
        low = c + (c & 1);
        up = c - !(c & 1);
    } else if (c >= 0x100 && c <= 0x177 && c != 0x130 && c != 0x131 && c != 0x138 && c != 0x149) {
        low = c | 1;
        up = c & ~1;
    } else if (c == 0x178)
        low = 0xff;
    else if (c == 0xff)
        up = 0x178;
    else if (c == 0xb5)
        up = 0x39c;
    else if (c == 0x3c2)
        up = 0x3a3;
    else if (c == 0x386 || c == 0x3ac) {
        up = 0x386;
        low = 0x3ac;
    } else if (c >= 0x388 && c <= 0x38a)
        low = c + 37;
    else if (c >= 0x3ad && c <= 0x3af)
        up = c - 37;
    else if (c == 0x38c || c == 0x3cc) {
        up = 0x38c;
        low = 0x3cc;
    } else if (c == 0x38e || c == 0x38f)
        low = c + 63;
    else if (c == 0x3cd || c == 0x3ce)
        up = c - 63;
    return upper ? up : low;
}

/* Reads the character at *at, which then points behind it. size: 2 for a letter below 0x800 in two bytes, else 1. */
OCC_HOT int occ_letter(occ_text *at, int *size)
{
    const unsigned char *p = (const unsigned char *)*at;
    *size = p[0] >= 0xc2 && p[0] <= 0xdf && (p[1] & 0xc0) == 0x80 ? 2 : 1;
    *at += *size;
    return *size == 2 ? (p[0] & 0x1f) << 6 | (p[1] & 0x3f) : p[0] < 0x80 ? p[0] : 0x10000 + p[0];
}

/* Equality of texts apart from case. */
OCC_HOT int occ_same_letters(occ_text a, occ_text b)
{
    while (*a && *b) {
        int       na, nb;
        const int x = occ_letter(&a, &na), y = occ_letter(&b, &nb);
        if (occ_letter_case(x, 0) != occ_letter_case(y, 0))
            return 0;
    }
    return !*a && !*b;
}

/* Writes x to y with all letters in one case; y has as many bytes. */
OCC_HOT void occ_text_case(occ_text x, char *y, int upper)
{
    while (*x) {
        int n, c = occ_letter_case(occ_letter(&x, &n), upper);
        if (n == 2) {
            *y++ = (char)(unsigned char)(0xc0 | c >> 6);
            *y++ = (char)(unsigned char)(0x80 | (c & 0x3f));
        } else {
            *y++ = c >= 0x10000 ? x[-1] : (char)c;
        }
    }
    *y = 0;
}

#endif
