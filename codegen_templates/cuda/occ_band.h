/* occ_band.h - a warp's band of the two products of attention: 16 rows and eight columns, 64 terms at a time, all
 * factors in shared memory. Knows nothing of how they came there and of what becomes of the sums.
 *
 *   scores    q [row][term] times k [column][term]
 *   results   weights [term][row] times v [term][column]
 *
 * Single lanes: four lanes share the terms of four rows and four columns, and a warp's eight fours are four down and
 * two across. Lane t adds, in rising order, the terms 4 t to 4 t + 3 of every 16 of a score, every fourth term from t
 * on of a result; a sum is then (lane 0 + lane 2) + (lane 1 + lane 3). */
#ifndef OCC_BAND_H
#define OCC_BAND_H

#include "occ_sides.h"

#define OCC_BAND_ROWS OCC_SIDE_QUERIES
#define OCC_BAND_COLUMNS 8
#define OCC_BAND_SIDE OCC_SIDE_PRODUCT               /* terms; columns of all bands together */
#define OCC_BANDS (OCC_BAND_SIDE / OCC_BAND_COLUMNS) /* one for each warp of a block */
#define OCC_BAND_PITCH (OCC_BAND_SIDE + 4)           /* floats between rows of q and k */
#define OCC_BAND_VALUES (OCC_BAND_SIDE + 8)          /* between rows of v */
#define OCC_BAND_GAP (OCC_BAND_ROWS + 4)             /* between terms of weights, and between columns of sums */

/* A lane's sums. */
typedef struct occ_band {
    float sum[16];
} occ_band;

/* How a warp multiplies: constants, so that the functions are inlined.
 *   scores   writes 16 x 8 scores to `to` [column][row], or adds them to what is there. part: which band
 *   results  p = p * factor [row] + weights times v
 *   put      writes sums to `to` [column][row], or adds them
 *   tensor   the last argument of the first two: the kind of factors that tensor cores multiply (occ_mma.h), or 0 */
typedef struct occ_band_product {
    void (*scores)(float *to, const float *q, const float *k, int part, int more, int tensor);
    void (*results)(occ_band *p, const float *factor, const float *weight, const float *v, int part, int tensor);
    void (*put)(float *to, const occ_band *p, int part, int more);
    int tensor;
} occ_band_product;

OCC_HOT occ_band occ_band_begin(void)
{
    occ_band p;
    OCC_UNROLLED
    for (int i = 0; i < 16; i++)
        p.sum[i] = 0.0f;
    return p;
}

/* The first of the four rows of a lane, and the first of its four columns. */
OCC_HOT int occ_lanes_row(void)
{
    return occ_lane() / 4 % 4 * 4;
}

OCC_HOT int occ_lanes_column(int part)
{
    return part * OCC_BAND_COLUMNS + occ_lane() / 16 * 4;
}

/* Joins the sums of four lanes, each of which gets those of one row, and writes them. */
OCC_HOT void occ_lanes_put(float *to, const occ_band *p, int part, int more)
{
    const int lane = occ_lane(), low = lane % 4 < 2, even = lane % 2 == 0;
    float     two[8];
    to += occ_lanes_column(part) * OCC_BAND_GAP + occ_lanes_row() + lane % 4;
    OCC_UNROLLED
    for (int i = 0; i < 8; i++)
        two[i] = (low ? p->sum[i] : p->sum[i + 8]) + occ_shuffle(low ? p->sum[i + 8] : p->sum[i], lane ^ 2);
    OCC_UNROLLED
    for (int j = 0; j < 4; j++) {
        const float sum = (even ? two[j] : two[j + 4]) + occ_shuffle(even ? two[j + 4] : two[j], lane ^ 1);
        to[j * OCC_BAND_GAP] = more ? to[j * OCC_BAND_GAP] + sum : sum;
    }
}

/* Eight neighbouring lanes read all banks, here and below, or fewer addresses. */
OCC_HOT void occ_lanes_scores(float *to, const float *q, const float *k, int part, int more, int tensor)
{
    occ_band p = occ_band_begin();
    (void)tensor;
    q += occ_lanes_row() * OCC_BAND_PITCH + occ_lane() % 4 * 4;
    k += occ_lanes_column(part) * OCC_BAND_PITCH + occ_lane() % 4 * 4;
    OCC_UNROLLED
    for (int d = 0; d < OCC_BAND_SIDE; d += 16) {
        occ_four a[4];
        OCC_UNROLLED
        for (int i = 0; i < 4; i++)
            a[i] = occ_load_four(q + i * OCC_BAND_PITCH + d);
        OCC_UNROLLED
        for (int j = 0; j < 4; j++) {
            const occ_four b = occ_load_four(k + j * OCC_BAND_PITCH + d);
            OCC_UNROLLED
            for (int n = 0; n < 16; n++)
                p.sum[n % 4 * 4 + j] = occ_fma(a[n % 4].value[n / 4], b.value[n / 4], p.sum[n % 4 * 4 + j]);
        }
    }
    occ_lanes_put(to, &p, part, more);
}

OCC_HOT void occ_lanes_results(occ_band *p, const float *factor, const float *weight, const float *v, int part,
                               int tensor)
{
    const occ_four by = occ_load_four(factor + occ_lanes_row());
    OCC_UNROLLED
    for (int i = 0; i < 16; i++)
        p->sum[i] *= by.value[i / 4];
    (void)tensor;
    weight += occ_lane() % 4 * OCC_BAND_GAP + occ_lanes_row();
    v += occ_lane() % 4 * OCC_BAND_VALUES + occ_lanes_column(part);
    OCC_UNROLLED
    for (int n = 0; n < OCC_BAND_SIDE; n += 4) {
        const occ_four a = occ_load_four(weight + n * OCC_BAND_GAP), b = occ_load_four(v + n * OCC_BAND_VALUES);
        OCC_UNROLLED
        for (int i = 0; i < 16; i++)
            p->sum[i] = occ_fma(a.value[i / 4], b.value[i % 4], p->sum[i]);
    }
}

#endif
