/* nbits.c - matrix products with weights of 2, 4 or 8 bits, which stay packed in memory.
 *
 * Few rows (a decoder's next token) take as long as the weights need to arrive: these are read once, in order, and
 * expanded in registers, in an order that x is brought into. For many rows (a prompt) a few columns are decoded to a
 * panel, by which tiles of all rows are multiplied. What neither can do (2 bits, an order of groups, narrow blocks)
 * decodes a line at a time. */
#include "occ_nbits_many.h"

/* OCC_NBITS_ROWS: rows of x that are multiplied with the same decoded weights. OCC_NBITS_LINE: the most weights decoded
 * at a time. */
#define OCC_NBITS_ROWS 4
#define OCC_NBITS_LINE 256

/* sum[r] += x[r] . line over `count` elements, for some rows; a single row uses all sums in turn. */
OCC_HOT void occ_nbits_add(occ_vf *sum, const float *x, int64_t rows, int64_t k, const float *line, int64_t count)
{
    int64_t i = 0;

    for (; rows == 1 && count - i >= OCC_NBITS_ROWS * OCC_W; i += OCC_NBITS_ROWS * OCC_W)
        for (int r = 0; r < OCC_NBITS_ROWS; r++)
            sum[r] = occ_vfma(occ_vload(x + i + r * OCC_W, OCC_W), occ_vload(line + i + r * OCC_W, OCC_W), sum[r]);
    for (; i < count; i += OCC_W) {
        const int    lanes = count - i < OCC_W ? (int)(count - i) : OCC_W;
        const occ_vf w = occ_vload(line + i, lanes);

        for (int64_t r = 0; r < rows; r++)
            sum[r] = occ_vfma(occ_vload(x + r * k + i, lanes), w, sum[r]);
    }
}

/* occ_nbits_add for four rows, whose sums stay in registers. `count` is a multiple of OCC_W. */
OCC_HOT void occ_nbits_add_four(occ_vf *sum, const float *x, int64_t k, const float *line, int64_t count)
{
    occ_vf a = sum[0], b = sum[1], c = sum[2], d = sum[3];

    for (int64_t i = 0; i < count; i += OCC_W) {
        const occ_vf w = occ_vload(line + i, OCC_W);

        a = occ_vfma(occ_vload(x + i, OCC_W), w, a);
        b = occ_vfma(occ_vload(x + k + i, OCC_W), w, b);
        c = occ_vfma(occ_vload(x + 2 * k + i, OCC_W), w, c);
        d = occ_vfma(occ_vload(x + 3 * k + i, OCC_W), w, d);
    }
    sum[0] = a;
    sum[1] = b;
    sum[2] = c;
    sum[3] = d;
}

/* -------------------------------------------------------------------------------------------------------- few rows */

/* Weights that a vector of bytes holds. */
#define OCC_NBITS_STEP(bits) (OCC_W * 8 / (bits))

/* Is x turned once for all columns, into scratch? */
#define OCC_NBITS_TURNED(bits) (OCC_W > 1 && (bits) == 4)

/* The elements of x that are multiplied with the weights that the lower and the upper halves of a vector of bytes hold:
 * each second one, and the others. Of x turned they are a vector each. Elements from `left` on are not read. */
OCC_HOT occ_vf occ_nbits_half(const float *x, int64_t left, int bits, int turned, int upper)
{
    if (turned)
        return occ_vload(x + upper * OCC_W, OCC_W);
    const occ_vf a = occ_nbits_load(x, left);
    const occ_vf c = bits == 4 ? occ_nbits_load(x + OCC_W, left - OCC_W) : occ_vset(0.0f);
    return bits == 8 ? (upper ? c : a) : upper ? occ_vodd(a, c) : occ_veven(a, c);
}

/* The weights that the lower or (upper: 1) the upper halves of a vector of bytes hold, less the zero point `less`.
 * plain: it is the middle of the range, and the difference one of integers. table: 0, 1, ... less the zero point. */
OCC_HOT occ_vf occ_nbits_less(occ_vi bytes, int bits, int upper, occ_vf table, occ_vf less, int plain)
{
    const occ_vi w = upper ? bytes >> 4 : bits == 4 ? bytes & 15 : bytes;
    if (OCC_NBITS_TABLE && bits == 4)
        return occ_nbits_pick(table, upper ? bytes >> 4 : bytes);
    return plain ? occ_vfrom_int(w - occ_viset(1 << (bits - 1))) : occ_vfrom_int(w) - less;
}

/* total[row][column] += scale * the sum of x * (w - zero) over block b of columns n, n + 1, ...
 * `bits` (4 or 8), rows and columns are literals. `left`: elements of x in the block, at least 1; pitch: of a row.
 * The zero point is zero[column][at], or the middle of the range without any; it is subtracted before the sum, which
 * would lose bits by large terms that cancel. */
OCC_HOT void occ_nbits_block(const occ_nbits_call *g, occ_vf *total, const float *x, int64_t pitch, int64_t n,
                             int64_t b, int64_t left, const float *const *zero, int64_t at, int bits, int rows,
                             int columns)
{
    const uint8_t *w = g->w + n * g->bytes + b * (g->block * bits / 8);
    const float   *scale = g->scale + n * g->blocks + b;
    const int      plain = !g->zero && !g->packed, turned = OCC_NBITS_TURNED(bits);
    occ_vf         part[8], less[4], table[4];

    OCC_UNROLL(8)
    for (int i = 0; i < rows * columns; i++)
        part[i] = occ_vset(0.0f);
    OCC_UNROLL(4)
    for (int c = 0; c < columns; c++) {
        less[c] = occ_vset(plain ? (float)(1 << (bits - 1)) : zero[c][at]);
        table[c] = occ_vfrom_int(occ_viota()) - less[c];
    }
    for (int64_t i = 0; i < g->block; i += OCC_NBITS_STEP(bits), w += OCC_W) {
        occ_vf first[4], second[4];
        OCC_UNROLL(4)
        for (int r = 0; r < rows; r++) {
            first[r] = occ_nbits_half(x + r * pitch + i, left - i, bits, turned, 0);
            second[r] = occ_nbits_half(x + r * pitch + i, left - i, bits, turned, 1);
        }
        OCC_UNROLL(4)
        for (int c = 0; c < columns; c++) {
            const occ_vi bytes = occ_viload_bytes(w + c * g->bytes, OCC_W, 0);
            const occ_vf low = occ_nbits_less(bytes, bits, 0, table[c], less[c], plain);
            const occ_vf high = occ_nbits_less(bytes, bits, 1, table[c], less[c], plain);
            OCC_PREFETCH(w + (c + OCC_NBITS_AHEAD * columns) * g->bytes);
            OCC_UNROLL(4)
            for (int r = 0; r < rows; r++) {
                part[r * columns + c] = occ_vfma(low, first[r], part[r * columns + c]);
                if (bits == 4)
                    part[r * columns + c] = occ_vfma(high, second[r], part[r * columns + c]);
            }
        }
    }
    OCC_UNROLL(4)
    for (int c = 0; c < columns; c++) {
        const occ_vf s = occ_vset(scale[c * g->blocks]);
        OCC_UNROLL(4)
        for (int r = 0; r < rows; r++)
            total[r * columns + c] = occ_vfma(part[r * columns + c], s, total[r * columns + c]);
    }
}

/* Results of some rows from row r on, and of some columns from column n on; `bits`, rows and columns are literals. */
OCC_HOT void occ_nbits_tile(const occ_nbits_call *g, int64_t r, int64_t n, int bits, int rows, int columns)
{
    const int     turned = OCC_NBITS_TURNED(bits);
    const int64_t full = turned ? g->blocks : g->k / g->block, pitch = turned ? g->blocks * g->block : g->k;
    const float  *x = turned ? g->turned : g->x + r * g->k;
    occ_vf        total[8];

    OCC_UNROLL(8)
    for (int i = 0; i < 8; i++)
        total[i] = occ_vset(0.0f);
    for (int64_t b = 0; b < g->blocks; b += OCC_NBITS_ZEROS) {
        const int64_t count = occ_min(g->blocks - b, OCC_NBITS_ZEROS), whole = occ_min(full - b, count);
        const float  *zero[4] = {NULL, NULL, NULL, NULL};
        float         room[4][OCC_NBITS_ZEROS];
        OCC_UNROLL(4)
        for (int c = 0; c < columns; c++)
            if (g->zero || g->packed)
                zero[c] = occ_nbits_zeros(g, room[c], n + c, b, count);
        for (int64_t i = 0; i < whole; i++)
            occ_nbits_block(g, total, x + (b + i) * g->block, pitch, n, b + i, g->block, zero, i, bits, rows, columns);
        for (int64_t i = whole; i < count; i++)
            occ_nbits_block(g, total, x + (b + i) * g->block, pitch, n, b + i, g->k - (b + i) * g->block, zero, i, bits,
                            rows, columns);
    }
    occ_nbits_results(g, total, r, n, rows, columns);
}

/* Some rows of x, from row r on, turned: in each part of two vectors, first each second element, then the others. Rows
 * are filled up with zeros to whole blocks. */
OCC_HOT void occ_nbits_turn(const occ_nbits_call *g, int64_t r, int rows)
{
    const int64_t pitch = g->blocks * g->block;

    for (int i = 0; i < rows; i++)
        for (int64_t k = 0; k < pitch; k += 2 * OCC_W) {
            const float *x = g->x + (r + i) * g->k + k;
            occ_vstore(g->turned + i * pitch + k, occ_nbits_half(x, g->k - k, 4, 0, 0), OCC_W);
            occ_vstore(g->turned + i * pitch + k + OCC_W, occ_nbits_half(x, g->k - k, 4, 0, 1), OCC_W);
        }
}

/* All columns of some rows (literal, as is `bits`) from row r on, `columns` (literal) at a time. */
OCC_HOT void occ_nbits_columns(const occ_nbits_call *g, int64_t r, int bits, int rows, int columns)
{
    int64_t n = 0;

    if (OCC_NBITS_TURNED(bits))
        occ_nbits_turn(g, r, rows);
    for (; n + columns <= g->columns; n += columns)
        occ_nbits_tile(g, r, n, bits, rows, columns);
    for (; n < g->columns; n++)
        occ_nbits_tile(g, r, n, bits, rows, 1);
}

/* All rows: four, two, and one at a time. Wide vectors come with registers enough for two columns. */
OCC_HOT void occ_nbits_rows(const occ_nbits_call *g, int bits)
{
    int64_t r = 0;

    for (; r + 4 <= g->rows; r += 4)
        occ_nbits_columns(g, r, bits, 4, OCC_W > 8 ? 2 : 1);
    for (; r + 2 <= g->rows; r += 2)
        occ_nbits_columns(g, r, bits, 2, 2);
    for (; r < g->rows; r++)
        occ_nbits_columns(g, r, bits, 1, 4);
}

/* ------------------------------------------------------------------------------------------------------ the kernel */

/* One line of weights at a time; `group` as below. */
OCC_HOT void occ_nbits_lines(const occ_nbits_call *g, const int32_t *group)
{
    const int64_t k = g->k, bits = g->bits, piece = g->block < OCC_NBITS_LINE ? g->block : OCC_NBITS_LINE;
    float         line[OCC_NBITS_LINE];

    for (int64_t first = 0; first < g->rows; first += OCC_NBITS_ROWS) {
        const int64_t some = g->rows - first < OCC_NBITS_ROWS ? g->rows - first : OCC_NBITS_ROWS;

        for (int64_t n = 0; n < g->columns; n++) {
            const float   *by = g->scale + n * g->blocks, *zero = g->zero ? g->zero + n * g->blocks : g->zero;
            const uint8_t *packed = g->packed ? g->packed + n * g->zeros : g->packed;
            occ_vf         sum[OCC_NBITS_ROWS] = {occ_vset(0.0f), occ_vset(0.0f), occ_vset(0.0f), occ_vset(0.0f)};

            for (int64_t at = 0; at < k; at += piece) {
                const uint8_t *from = g->w + n * g->bytes + at * bits / 8;
                const int64_t  count = k - at < piece ? k - at : piece;

                if (group)
                    occ_nbits_decode_by(line, from, count, bits, group + at, by, zero, packed);
                else
                    occ_nbits_decode(line, from, piece, bits, occ_nbits_zero(zero, packed, at / g->block, bits),
                                     by[at / g->block]);
                if (some == OCC_NBITS_ROWS && count % OCC_W == 0)
                    occ_nbits_add_four(sum, g->x + first * k + at, k, line, count);
                else
                    occ_nbits_add(sum, g->x + first * k + at, some, k, line, count);
            }
            sum[0] = some == 1 ? (sum[0] + sum[1]) + (sum[2] + sum[3]) : sum[0];
            for (int64_t r = 0; r < some; r++)
                g->y[(first + r) * g->ystride + n] = occ_vsum_lanes(sum[r]) + (g->bias ? g->bias[n] : 0.0f);
        }
    }
}

/* matmul_nbits_f32 - y = x w + bias, column by column.
 *   y [rows][columns] with row stride ystride; x [rows][k]
 *   w [columns][blocks][block * bits / 8] with blocks = ceil(k / block); scale [columns][blocks]
 *   zero [columns][blocks], or packed [columns][ceil(blocks * bits / 8)], or neither (NULL)
 *   group [k]: for each of the k places its block, below `blocks`, of scale and zero point; NULL: blocks in order
 *   bias [columns] or NULL
 *   panel: scratch, or NULL: each line of weights is decoded for itself. Floats: for more than 8 rows 32 times the most
 *          of 512 and block, or 32 k where that is less; for fewer rows and 4 bits, the blocks of four rows of x */
OCC_INLINE void occ_matmul_nbits_f32(float *y, const float *x, const uint8_t *w, const float *scale, const float *zero,
                                     const uint8_t *packed, const int32_t *group, const float *bias, float *panel,
                                     const occ_nbits *form)
{
    const int64_t        blocks = (form->k + form->block - 1) / form->block, bits = form->bits, rows = form->rows;
    const int64_t        columns = form->columns;
    const occ_nbits_call g = {y,
                              x,
                              w,
                              scale,
                              zero,
                              packed,
                              bias,
                              rows,
                              columns,
                              form->k,
                              form->block,
                              bits,
                              form->ystride,
                              blocks,
                              blocks * (form->block * bits / 8),
                              (blocks * bits + 7) / 8,
                              panel};

    if (panel && !group && rows > OCC_NBITS_FEW) {
        occ_nbits_panels(&g, panel);
    } else if (!group && bits == 4 && form->block % OCC_NBITS_STEP(4) == 0 && (panel || OCC_W == 1)) {
        occ_nbits_rows(&g, 4);
    } else if (!group && bits == 8 && form->block % OCC_NBITS_STEP(8) == 0) {
        occ_nbits_rows(&g, 8);
    } else {
        occ_nbits_lines(&g, group);
    }
}
