/* occ_number.h - conversion between numbers and decimal text, with every digit right: the arithmetic is of whole
 * numbers of any length. Knows nothing of tensors. */
#ifndef OCC_NUMBER_H
#define OCC_NUMBER_H

#include "occ_base.h"

/* A whole number: words of 32 bits, the lowest first, the highest not 0. The longest one needed is a number of 780
 * digits times 2^room over 5^1180. */
typedef struct occ_big {
    uint32_t word[176];
    int      count;
} occ_big;

/* x = x * by + more */
OCC_HOT void occ_big_scale(occ_big *x, uint32_t by, uint32_t more)
{
    uint64_t carry = more;
    for (int i = 0; i < x->count; i++) {
        carry += (uint64_t)x->word[i] * by;
        x->word[i] = (uint32_t)(carry & 0xffffffffu);
        carry >>= 32;
    }
    if (carry)
        x->word[x->count++] = (uint32_t)carry;
}

/* x = floor(x / by). Was there a remainder? */
OCC_HOT int occ_big_divide(occ_big *x, uint32_t by)
{
    uint64_t rest = 0;
    for (int i = x->count - 1; i >= 0; i--) {
        rest = rest << 32 | x->word[i];
        x->word[i] = (uint32_t)(rest / by);
        rest %= by;
    }
    while (x->count && !x->word[x->count - 1])
        x->count--;
    return rest != 0;
}

/* Returns the highest power of a base below 2^32 that is at most base^*times, and subtracts its exponent from
 * *times. */
OCC_HOT uint32_t occ_power_of(uint32_t base, int64_t *times)
{
    uint32_t power = 1;
    for (; *times > 0 && power <= 0xffffffffu / base; *times -= 1)
        power *= base;
    return power;
}

/* x = x * base^times */
OCC_HOT void occ_big_raise(occ_big *x, uint32_t base, int64_t times)
{
    while (times > 0)
        occ_big_scale(x, occ_power_of(base, &times), 0);
}

/* x = floor(x / base^times). Was there a remainder? */
OCC_HOT int occ_big_lower(occ_big *x, uint32_t base, int64_t times)
{
    int lost = 0;
    while (times > 0)
        lost |= occ_big_divide(x, occ_power_of(base, &times));
    return lost;
}

/* x = x * 2^bits, of an x above 0 */
OCC_HOT void occ_big_left(occ_big *x, int64_t bits)
{
    const int words = (int)(bits / 32);
    occ_big_scale(x, (uint32_t)1 << bits % 32, 0);
    for (int i = x->count - 1; i >= 0; i--)
        x->word[i + words] = x->word[i];
    for (int i = 0; i < words; i++)
        x->word[i] = 0;
    x->count += words;
}

/* x = floor(x / 2^bits). Was there a remainder? */
OCC_HOT int occ_big_right(occ_big *x, int64_t bits)
{
    const int words = (int)occ_min(bits / 32, x->count);
    int       lost = 0;
    for (int i = 0; i < words; i++)
        lost |= x->word[i] != 0;
    for (int i = words; i < x->count; i++)
        x->word[i - words] = x->word[i];
    x->count -= words;
    return x->count && occ_big_divide(x, (uint32_t)1 << bits % 32) ? 1 : lost;
}

OCC_HOT int occ_big_bits(const occ_big *x)
{
    int n = x->count * 32;
    for (uint32_t top = x->count ? x->word[x->count - 1] : 0; top && !(top >> 31); top <<= 1)
        n--;
    return n;
}

/* The value of a number below 2^64. */
OCC_HOT uint64_t occ_big_value(const occ_big *x)
{
    return (x->count > 0 ? x->word[0] : 0) | (uint64_t)(x->count > 1 ? x->word[1] : 0) << 32;
}

OCC_HOT occ_big occ_big_of(uint64_t x)
{
    occ_big y;
    y.word[0] = (uint32_t)(x & 0xffffffffu);
    y.word[1] = (uint32_t)(x >> 32);
    y.count = y.word[1] ? 2 : y.word[0] ? 1 : 0;
    return y;
}

OCC_HOT uint64_t occ_f64_image(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* -------------------------------------------------------------------------------------------------- numbers to text */

/* Writes the decimal digits of x at y, without leading zeros. Returns where they end. */
OCC_HOT char *occ_put_digits(char *y, uint64_t x)
{
    uint64_t unit = 1;
    while (x / unit >= 10)
        unit *= 10;
    for (; unit; unit /= 10)
        *y++ = (char)('0' + (int)(x / unit % 10));
    return y;
}

OCC_HOT int64_t occ_print_u64(uint64_t x, char *y)
{
    char *end = occ_put_digits(y, x);
    *end = 0;
    return end - y;
}

OCC_HOT int64_t occ_print_i64(int64_t x, char *y)
{
    *y = '-';
    return x < 0 ? 1 + occ_print_u64(0 - (uint64_t)x, y + 1) : occ_print_u64((uint64_t)x, y);
}

/* Returns the eight leading digits of a positive double, rounded half to even. *power: the power of ten of the first
 * digit. 0.15 gives 15000000 and -1. image: the bits of the double. */
OCC_HOT uint64_t occ_leading_digits(uint64_t image, int *power)
{
    const int field = (int)(image >> 52), two = (field ? field : 1) - 1075;
    occ_big   x = occ_big_of((image & 0xfffffffffffffu) | (field ? 0x10000000000000u : 0u));
    const int top = two + occ_big_bits(&x) - 1, ten = (top * 30103 - (top < 0 ? 99999 : 0)) / 100000, up = 10 - ten;
    uint64_t  q, unit = 1;
    int       lost = 0;
    occ_big_raise(&x, 10, up); /* ten or eleven digits in front of the point */
    if (two > 0)
        occ_big_left(&x, two);
    lost |= occ_big_lower(&x, 10, -up);
    if (two < 0)
        lost |= occ_big_right(&x, -two);
    q = occ_big_value(&x);
    for (*power = 7 - up; q / unit >= 100000000u; *power += 1)
        unit *= 10;
    if (q % unit > unit / 2 || (q % unit == unit / 2 && (lost || q / unit % 2)))
        q += unit;
    q /= unit;
    if (q < 100000000u)
        return q;
    *power += 1;
    return q / 10;
}

/* Writes the digits of q as printf's %.8g does: the first stands for 10^power, and trailing zeros are left out. */
OCC_HOT char *occ_place_digits(char *y, uint64_t q, int power)
{
    const int plain = power >= -4 && power < 8;
    int       n = 8, point;
    char      digit[24];
    for (; q % 10 == 0; n--) /* ends with the first digit, which is not 0 */
        q /= 10;
    occ_put_digits(digit, q);
    for (int i = power; plain && i < 0; i++) {
        *y++ = '0';
        if (i == power)
            *y++ = '.';
    }
    point = plain ? power : 0;
    for (int i = 0; i < n || i <= point; i++) {
        if (i == point + 1 && point >= 0)
            *y++ = '.';
        *y++ = i < n ? digit[i] : '0';
    }
    if (!plain) {
        *y++ = 'e';
        *y++ = power < 0 ? '-' : '+';
        power = power < 0 ? -power : power;
        if (power < 10)
            *y++ = '0';
        y = occ_put_digits(y, (uint64_t)power);
    }
    return y;
}

OCC_HOT int64_t occ_put_word(char *y, occ_text word)
{
    int64_t n = 0;
    for (; word[n]; n++)
        y[n] = word[n];
    y[n] = 0;
    return n;
}

/* Writes x as printf's %.8g does, with eight significant digits at most; or NaN, INF or -INF. At most 15 characters. */
OCC_HOT int64_t occ_print_f64(double x, char *y)
{
    const uint64_t image = occ_f64_image(x), size = image & 0x7fffffffffffffffu;
    const int      minus = image >> 63 != 0;
    char          *end = y + minus;
    int            power;
    if (size > 0x7ff0000000000000u)
        return occ_put_word(y, "NaN");
    if (size == 0x7ff0000000000000u)
        return occ_put_word(y, minus ? "-INF" : "INF");
    if (minus)
        *y = '-';
    if (size) {
        const uint64_t digits = occ_leading_digits(size, &power);
        end = occ_place_digits(end, digits, power);
    } else {
        *end++ = '0';
    }
    *end = 0;
    return end - y;
}

/* -------------------------------------------------------------------------------------------------- text to numbers */

/* Returns the text behind blanks and a sign. *minus: was the sign a minus? */
OCC_HOT occ_text occ_read_sign(occ_text x, int *minus)
{
    while (*x == ' ' || (*x >= '\t' && *x <= '\r'))
        x++;
    *minus = *x == '-';
    return x + (*x == '-' || *x == '+');
}

/* The value of a digit or letter, 0 to 35; 99 for other characters. */
OCC_HOT int occ_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'z' ? c - 'a' + 10 : c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
}

/* Does x begin with a word of small letters, in either case? */
OCC_HOT int occ_begins(occ_text x, occ_text word)
{
    for (; *word; x++, word++)
        if (occ_digit(*x) != occ_digit(*word))
            return 0;
    return 1;
}

/* Reads decimal digits up to the first other character. Returns 0, or OCC_ETEXT where there is no digit or the number
 * is above 64 bits. */
OCC_HOT int occ_read_whole(occ_text x, uint64_t *y)
{
    if (occ_digit(*x) > 9)
        return OCC_ETEXT;
    for (*y = 0; occ_digit(*x) <= 9; x++) {
        const uint64_t digit = (uint64_t)occ_digit(*x);
        if (*y > (UINT64_MAX - digit) / 10)
            return OCC_ETEXT;
        *y = *y * 10 + digit;
    }
    return 0;
}

/* Reads as C's strtoull does in base 10: a number after a minus wraps around. */
OCC_HOT int occ_read_u64(occ_text x, uint64_t *y)
{
    int minus;
    x = occ_read_sign(x, &minus);
    if (occ_read_whole(x, y) < 0)
        return OCC_ETEXT;
    *y = minus ? 0 - *y : *y;
    return 0;
}

OCC_HOT int occ_read_i64(occ_text x, int64_t *y)
{
    int      minus;
    uint64_t size;
    x = occ_read_sign(x, &minus);
    if (occ_read_whole(x, &size) < 0 || size > (uint64_t)INT64_MAX + (uint64_t)minus)
        return OCC_ETEXT;
    *y = !minus ? (int64_t)size : size ? -(int64_t)(size - 1) - 1 : 0;
    return 0;
}

/* Reads digits with or without a point into x and *exponent: the number is (x + r) * base^*exponent, with r in [0, 1)
 * and above 0 if `lost`. Digits behind the 780th can only break a tie. Returns where the digits end; *found stays 0 if
 * there are none. */
OCC_HOT occ_text occ_read_digits(occ_text p, int base, occ_big *x, int64_t *exponent, int *lost, int *found)
{
    int kept = 0, point = 0;
    for (; occ_digit(*p) < base || (*p == '.' && !point); p++) {
        const int digit = occ_digit(*p);
        if (*p == '.') {
            point = 1;
        } else if (kept < 780) {
            occ_big_scale(x, (uint32_t)base, (uint32_t)digit);
            kept += x->count > 0;
            *exponent -= point;
        } else {
            *lost |= digit != 0;
            *exponent += !point;
        }
        *found |= *p != '.';
    }
    return p;
}

/* The exponent behind its letter; 0 if there is none. */
OCC_HOT int64_t occ_read_exponent(occ_text p, char letter)
{
    int     minus;
    int64_t n = 0;
    if (occ_digit(*p) != occ_digit(letter) || p[1] == ' ' || (p[1] >= '\t' && p[1] <= '\r'))
        return 0;
    for (p = occ_read_sign(p + 1, &minus); occ_digit(*p) <= 9; p++)
        n = n < 100000000 ? n * 10 + occ_digit(*p) : n;
    return minus ? -n : n;
}

/* Rounds (x + r) * 2^two to the nearest double, ties to even; r is in [0, 1), and above 0 if `lost`. Returns 0, or
 * OCC_ETEXT if the number is beyond the largest double. */
OCC_HOT int occ_round_big(occ_big *x, int64_t two, int lost, int minus, double *y)
{
    const int64_t bits = occ_big_bits(x), top = bits - 1 + two;
    const int64_t keep = top >= -1022 ? 53 : 53 + 1022 + top, drop = bits - keep;
    uint64_t      m;
    if (top > 1023)
        return OCC_ETEXT;
    if (drop > 0) {
        lost |= occ_big_right(x, drop - 1);
        m = occ_big_value(x);
        m = (m >> 1) + (m & (uint64_t)(lost || (m >> 1 & 1)));
    } else {
        m = occ_big_value(x) << -drop;
    }
    m += top >= -1022 && bits ? (uint64_t)(top + 1022) << 52 : 0;
    if (m >= 0x7ff0000000000000u)
        return OCC_ETEXT;
    m |= (uint64_t)minus << 63;
    memcpy(y, &m, sizeof m);
    return 0;
}

/* Rounds (x + r) * 10^ten in the same way. A division by 5^-ten is done behind `room` more bits, so that enough bits of
 * the quotient are left. */
OCC_HOT int occ_round_decimal(occ_big *x, int64_t ten, int lost, int minus, double *y)
{
    const int64_t size = ten + (int64_t)occ_big_bits(x) * 30103 / 100000;
    const int64_t room = ten < 0 ? (64 + -ten * 7 / 3) / 32 * 32 + 32 : 0;
    if (!x->count || size < -400) {
        x->count = 0;
        return occ_round_big(x, 0, 1, minus, y);
    }
    if (size > 400)
        return OCC_ETEXT;
    occ_big_raise(x, 10, ten);
    occ_big_left(x, room);
    lost |= occ_big_lower(x, 5, -ten);
    return occ_round_big(x, (ten < 0 ? ten : 0) - room, lost, minus, y);
}

/* Reads a number as C's strtod does, hexadecimal ones included; text behind it is ignored. A number too small for a
 * double becomes the nearest one, 0 or a denormal. Returns 0, or OCC_ETEXT where there is no number or it is beyond the
 * largest double. */
OCC_HOT int occ_read_f64(occ_text p, double *y)
{
    uint64_t image = 0x7ff0000000000000u;
    int64_t  exponent = 0;
    int      minus, lost = 0, found = 0;
    occ_big  x;
    x.count = 0;
    p = occ_read_sign(p, &minus);
    if (occ_begins(p, "inf") || occ_begins(p, "nan")) {
        image += (uint64_t)(occ_begins(p, "nan") ? 1 : 0) << 51;
        image |= (uint64_t)minus << 63;
        memcpy(y, &image, sizeof image);
        return 0;
    }
    if (occ_begins(p, "0x")) {
        p = occ_read_digits(p + 2, 16, &x, &exponent, &lost, &found);
        exponent = found ? 4 * exponent + occ_read_exponent(p, 'p') : 0;
        exponent = occ_max(-9000, occ_min(exponent, 9000));
        return occ_round_big(&x, x.count ? exponent : 0, lost, minus, y); /* no digit: the zero before the x */
    }
    p = occ_read_digits(p, 10, &x, &exponent, &lost, &found);
    return found ? occ_round_decimal(&x, exponent + occ_read_exponent(p, 'e'), lost, minus, y) : OCC_ETEXT;
}

#endif
