/* recurrent.cu - LSTM, GRU and simple recurrent cells: a block for each member of the batch, which goes through its
 * time steps. In each step the threads share out the products of the state with the recurrence matrix, then the hidden
 * units; barriers stand between. States and sums lie in shared memory up to 2048 hidden units, above in the device's.
 *
 *   a panel of the matrix: a row for each hidden unit, 32 gates; a thread reads four of them at once
 *
 *     row 0   | gates 0-3 | 4-7 | 8-11 | ... | 28-31 |
 *     row 1   |     "     |  "  |  "   | ... |   "   |
 *
 * Rows are shared out in `parts`, too, where there are fewer than 256 groups of four gates. The order of a gate's sum
 * follows from the extents alone: part p adds the products of rows p, p + parts, p + 2 * parts and so on, each fused
 * with the sum so far; then the input's part is added to part 0, and to that part 1, part 2 and so on. */
#include "occ_base.h"

#define OCC_RECUR_SHARES 256 /* parts times fours of gates, at most, where there are several parts */
#define OCC_RECUR_ROWS 8     /* rows of a part, at least; a thread reads as many ahead */
#define OCC_RECUR_SMALL 256  /* hidden units up to which little shared memory is taken, so that more is cache */
#define OCC_RECUR_LARGE 2048 /* hidden units up to which all lies in shared memory */

/* Floats of shared memory: the state and one more float for each hidden unit, then sums. */
#define OCC_RECUR_SMALL_FLOATS (2 * OCC_RECUR_SMALL + 8 * OCC_RECUR_SHARES)
#define OCC_RECUR_LARGE_FLOATS (2 * OCC_RECUR_LARGE + 4 * OCC_RECUR_LARGE)

/* recur_pack - rearranges [gates][hidden] to panels of 32 gates; the last panel has the remaining gates. */
OCC_INLINE void occ_recur_pack(float *to, const float *from, int64_t gates, int64_t hidden)
{
    for (int64_t u = occ_unit(); u < gates * hidden; u += occ_units()) {
        const int64_t panel = u / (32 * hidden) * 32, width = occ_min(32, gates - panel), at = u - panel * hidden;
        to[u] = from[(panel + at % width) * hidden + at / width];
    }
}

/* recur_bias - adds the state's bias to the input's bias for the first `both` gates: from [2][gates] to [gates]. */
OCC_INLINE void occ_recur_bias(float *to, const float *from, int64_t gates, int64_t both)
{
    for (int64_t i = occ_unit(); i < gates; i += occ_units())
        to[i] = from[i] + (i < both ? from[gates + i] : 0.0f);
}

/* Fours of gates, the last of which may have fewer. */
OCC_HOT int64_t occ_recur_fours(int64_t gates)
{
    return (gates + 3) / 4;
}

/* Parts of a gate's sum. */
OCC_HOT int64_t occ_recur_parts(int64_t hidden, int64_t gates)
{
    return occ_max(occ_min(OCC_RECUR_SHARES / occ_recur_fours(gates), hidden / OCC_RECUR_ROWS), 1);
}

/* Floats of all sums of so many gates. */
OCC_HOT int64_t occ_recur_sums(int64_t hidden, int64_t gates)
{
    return occ_recur_parts(hidden, gates) * occ_recur_fours(gates) * 4;
}

/* n neighbours, at most four; 0 for the others. whole: there are four, aligned to 16 */
OCC_HOT occ_four occ_recur_load(const float *from, int n, int whole)
{
    occ_four four;
    if (whole)
        return occ_load_four(from);
    OCC_UNROLLED
    for (int i = 0; i < 4; i++)
        four.value[i] = i < n ? from[i] : 0.0f;
    return four;
}

/* sum += h times four weights. */
OCC_HOT void occ_recur_add(occ_four *sum, float h, const occ_four *w)
{
    OCC_UNROLLED
    for (int i = 0; i < 4; i++)
        sum->value[i] = occ_fma(h, w->value[i], sum->value[i]);
}

/* Adds `here` of the eight rows in w, then reads as many as there are behind them, `there`, in their place. */
OCC_HOT void occ_recur_eight(occ_four *sum, occ_four *w, const float *h, int64_t h_step, const float *r, int64_t r_step,
                             int here, int there, int n, int whole)
{
    float factor[OCC_RECUR_ROWS];
    OCC_UNROLLED
    for (int i = 0; i < OCC_RECUR_ROWS; i++)
        factor[i] = i < here ? h[i * h_step] : 0.0f;
    OCC_UNROLLED
    for (int i = 0; i < OCC_RECUR_ROWS; i++) {
        if (i < here)
            occ_recur_add(sum, factor[i], &w[i]);
        if (i < there)
            w[i] = occ_recur_load(r + i * r_step, n, whole);
    }
}

/* One part of the sums of n gates, at most four: h times `rows` rows of r, at distances of h_step and r_step floats.
 * Eight rows come while those before are added. */
OCC_HOT occ_four occ_recur_part(const float *h, int64_t h_step, const float *r, int64_t r_step, int rows, int n,
                                int whole)
{
    occ_four sum = {{0.0f, 0.0f, 0.0f, 0.0f}}, w[OCC_RECUR_ROWS];
    OCC_UNROLLED
    for (int i = 0; i < OCC_RECUR_ROWS; i++)
        w[i] = i < rows ? occ_recur_load(r + i * r_step, n, whole) : sum;
    OCC_ROLLED
    for (; rows > 0; rows -= OCC_RECUR_ROWS, h += OCC_RECUR_ROWS * h_step) {
        r += OCC_RECUR_ROWS * r_step;
        if (rows >= 2 * OCC_RECUR_ROWS)
            occ_recur_eight(&sum, w, h, h_step, r, r_step, OCC_RECUR_ROWS, OCC_RECUR_ROWS, n, whole);
        else
            occ_recur_eight(&sum, w, h, h_step, r, r_step, rows, rows - OCC_RECUR_ROWS, n, whole);
    }
    return sum;
}

/* All parts of the sums of all gates: sums[part][gate], of which part 0 begins with x[gate]; a row has the gates of all
 * fours. sums may be x where there is one part. */
OCC_HOT void occ_recur_products(float *sums, const float *x, const float *h, const float *r, int64_t hidden,
                                int64_t gates)
{
    const int64_t fours = occ_recur_fours(gates), parts = occ_recur_parts(hidden, gates);
    for (int64_t i = occ_thread(); i < fours * parts; i += occ_threads()) {
        const int64_t  gate = i % fours * 4, part = i / fours, panel = gate / 32 * 32;
        const int64_t  pitch = occ_min(gates - panel, 32);
        const int      rows = (int)((hidden - part + parts - 1) / parts), n = (int)occ_min(gates - gate, 4);
        const float   *from = r + panel * hidden + part * pitch + gate % 32;
        const occ_four start = occ_recur_load(x + gate, part ? 0 : n, 0);
        const int      whole = pitch % 4 == 0 && (uintptr_t)r % 16 == 0;
        const occ_four sum = whole ? occ_recur_part(h + part, parts, from, parts * pitch, rows, n, 1)
                                   : occ_recur_part(h + part, parts, from, parts * pitch, rows, n, 0);
        OCC_UNROLLED
        for (int k = 0; k < 4; k++)
            if (k < n)
                sums[part * fours * 4 + gate + k] = sum.value[k] + start.value[k];
    }
}

/* The sum of a gate, of all its parts. */
OCC_HOT float occ_recur_sum(const float *sums, int64_t hidden, int64_t gates, int64_t gate)
{
    float sum = sums[gate];
    for (int64_t part = 1; part < occ_recur_parts(hidden, gates); part++)
        sum += sums[part * occ_recur_fours(gates) * 4 + gate];
    return sum;
}

/* Copies a float for each hidden unit; a thread those that it computes. */
OCC_HOT void occ_recur_copy(float *to, const float *from, int64_t hidden)
{
    for (int64_t j = occ_thread(); j < hidden; j += occ_threads())
        to[j] = from[j];
}

/* Sets y to zero for the times behind the end of a row. */
OCC_HOT void occ_recur_clear(float *y, int64_t length, int64_t time, int64_t ystride, int64_t hidden)
{
    for (int64_t i = occ_thread(); i < (time - length) * hidden; i += occ_threads())
        y[(length + i / hidden) * ystride + i % hidden] = 0.0f;
}

/* ------------------------------------------------------------------------------------------------------------- LSTM */

/* One time step: new cells and states from the sums of the gates. y: of this time, or NULL */
OCC_HOT void occ_lstm_step(float *y, float *h, float *c, const float *sums, const float *peephole,
                           const occ_lstm_form *form, const occ_extent *kind, const double *table_act, float limit)
{
    const int64_t hidden = form->hidden, gates = 4 * hidden;
    for (int64_t j = occ_thread(); j < hidden; j += occ_threads()) {
        const occ_lstm_gates gate = {
            occ_recur_sum(sums, hidden, gates, j), occ_recur_sum(sums, hidden, gates, hidden + j),
            occ_recur_sum(sums, hidden, gates, 2 * hidden + j), occ_recur_sum(sums, hidden, gates, 3 * hidden + j)};
        occ_lstm_units(h, c, &gate, peephole, form, kind, table_act, limit, j, 1);
        if (y)
            y[j] = h[j];
    }
}

/* The members of the batch, a block for each. memory: shared; with more hidden units than it has room for, states and
 * sums lie where the arguments of lstm have them */
OCC_HOT int occ_lstm_rows(float *memory, float *y, float *h, float *c, float *xg, const float *r, const float *peephole,
                          const int64_t *lengths, const occ_lstm_form *form, const occ_extent *kind,
                          const double *table_act, float limit)
{
    const int64_t hidden = form->hidden;
    const int     shares = hidden <= OCC_RECUR_LARGE;
    for (int64_t b = occ_block(); b < form->batch; b += occ_grid()) {
        const int64_t length = lengths ? lengths[b] : form->time;
        float *const hb = h + b * form->sb, *const cb = c + b * form->cb;
        float *const state = shares ? memory : hb, *const cell = shares ? memory + hidden : cb;
        if (length < 0 || length > form->time)
            return OCC_EINDEX;
        if (shares) {
            occ_recur_copy(state, hb, hidden);
            occ_recur_copy(cell, cb, hidden);
        }
        for (int64_t s = 0; s < length; s++) {
            const int64_t t = occ_recur_time(s, length, form->reverse);
            float *const x = xg + t * form->gt + b * form->gb, *const sums = shares ? memory + 2 * hidden : x;
            occ_barrier(); /* the state is there, and the sums have been used */
            occ_recur_products(sums, x, state, r, hidden, 4 * hidden);
            occ_barrier(); /* the sums are there, and the state has been used */
            occ_lstm_step(y ? y + t * form->yt + b * form->yb : y, state, cell, sums, peephole, form, kind, table_act,
                          limit);
        }
        if (shares) {
            occ_recur_copy(hb, state, hidden);
            occ_recur_copy(cb, cell, hidden);
        }
        if (y)
            occ_recur_clear(y + b * form->yb, length, form->time, form->yt, hidden);
    }
    return 0;
}

/* lstm - gates in the order i, o, f, c; arguments as of the C kernel. xg is only written where shared memory is too
 * small. */
OCC_INLINE int occ_lstm_f32(float *y, float *h, float *c, float *xg, const float *r, const float *peephole,
                            const int64_t *lengths, const occ_lstm_form *form, const occ_extent *kind,
                            const double *table_act, float limit)
{
    if (form->hidden <= OCC_RECUR_SMALL) {
        OCC_SHARED_ARRAY(float, memory, OCC_RECUR_SMALL_FLOATS);
        return occ_lstm_rows(memory, y, h, c, xg, r, peephole, lengths, form, kind, table_act, limit);
    }
    if (form->hidden <= OCC_RECUR_LARGE) {
        OCC_SHARED_ARRAY(float, memory, OCC_RECUR_LARGE_FLOATS);
        return occ_lstm_rows(memory, y, h, c, xg, r, peephole, lengths, form, kind, table_act, limit);
    }
    return occ_lstm_rows(NULL, y, h, c, xg, r, peephole, lengths, form, kind, table_act, limit);
}

/* -------------------------------------------------------------------------------------------------------------- GRU */

/* The memory in which a block computes a GRU: the state, the state that the reset gate has passed, sums of the gates z
 * and r, and of gate h. The block computes members first, first + step and so on of the batch. */
typedef struct occ_gru_work {
    float  *state, *reset, *zr, *h;
    int64_t first, step;
} occ_gru_work;

/* The state times the reset gate. */
OCC_HOT void occ_gru_reset(const occ_gru_work *m, int64_t hidden, const occ_extent *kind, const double *table_act,
                           float limit)
{
    for (int64_t j = occ_thread(); j < hidden; j += occ_threads()) {
        const float sum = occ_recur_sum(m->zr, hidden, 2 * hidden, hidden + j);
        m->reset[j] = occ_recur_activate(sum, kind[0], table_act, limit) * m->state[j];
    }
}

/* New states from the sums of all gates. y: of this time, or NULL; x: the input's part of gate h, of which the thread
 * has read its first one, `ahead` */
OCC_HOT void occ_gru_step(float *y, const occ_gru_work *m, const float *x, float ahead, const occ_gru_form *form,
                          const occ_extent *kind, const double *table_act, float limit)
{
    const int64_t hidden = form->hidden;
    for (int64_t j = occ_thread(); j < hidden; j += occ_threads()) {
        const float z = occ_recur_activate(occ_recur_sum(m->zr, hidden, 2 * hidden, j), kind[0], table_act, limit);
        float       g = occ_recur_sum(m->h, hidden, hidden, j);
        if (form->before) {
            const float sum = occ_recur_sum(m->zr, hidden, 2 * hidden, hidden + j);
            g = (j < occ_threads() ? ahead : x[j]) + occ_recur_activate(sum, kind[0], table_act, limit) * g;
        }
        g = occ_recur_activate(g, kind[1], table_act + 2, limit);
        m->state[j] = (1.0f - z) * g + z * m->state[j];
        if (y)
            y[j] = m->state[j];
    }
}

/* The members of the batch that the block computes. */
OCC_HOT int occ_gru_rows(const occ_gru_work *work, float *y, float *h, const float *xg, const float *r,
                         const float *hbias, const int64_t *lengths, const occ_gru_form *form, const occ_extent *kind,
                         const double *table_act, float limit)
{
    const int64_t hidden = form->hidden;
    const int     shares = hidden <= OCC_RECUR_LARGE;
    for (int64_t b = work->first; b < form->batch; b += work->step) {
        const int64_t length = lengths ? lengths[b] : form->time;
        float *const  hb = h + b * form->sb;
        occ_gru_work  m = *work;
        if (length < 0 || length > form->time)
            return OCC_EINDEX;
        m.state = shares ? m.state : hb;
        if (shares)
            occ_recur_copy(m.state, hb, hidden);
        for (int64_t s = 0; s < length; s++) {
            const int64_t t = occ_recur_time(s, length, form->reverse);
            const float  *x = xg + t * form->gt + b * form->gb;
            const float   ahead = form->before && occ_thread() < hidden ? x[2 * hidden + occ_thread()] : 0.0f;
            occ_barrier(); /* the state is there, and the sums have been used */
            occ_recur_products(m.zr, x, m.state, r, hidden, 2 * hidden);
            if (!form->before) {
                occ_barrier(); /* the sums of gate r are there */
                occ_gru_reset(&m, hidden, kind, table_act, limit);
                occ_barrier(); /* the reset state is there */
            }
            occ_recur_products(m.h, form->before ? hbias : x + 2 * hidden, form->before ? m.state : m.reset,
                               r + 2 * hidden * hidden, hidden, hidden);
            occ_barrier(); /* the sums are there, and the state has been used */
            occ_gru_step(y ? y + t * form->yt + b * form->yb : y, &m, x + 2 * hidden, ahead, form, kind, table_act,
                         limit);
        }
        if (shares)
            occ_recur_copy(hb, m.state, hidden);
        if (y)
            occ_recur_clear(y + b * form->yb, length, form->time, form->yt, hidden);
    }
    return 0;
}

/* The work of a block in shared memory: a member of the batch for each block. */
OCC_HOT occ_gru_work occ_gru_shared(float *memory, int64_t hidden)
{
    const occ_gru_work work = {
        memory,      memory + hidden, memory + 2 * hidden, memory + 2 * hidden + occ_recur_sums(hidden, 2 * hidden),
        occ_block(), occ_grid()};
    return work;
}

/* gru - gates in the order z, r, h; arguments as of the C kernel. gate is only used where shared memory is too small;
 * there is one for all members of the batch, so the first block computes them all. */
OCC_INLINE int occ_gru_f32(float *y, float *h, float *gate, const float *xg, const float *r, const float *hbias,
                           const int64_t *lengths, const occ_gru_form *form, const occ_extent *kind,
                           const double *table_act, float limit)
{
    const int64_t hidden = form->hidden;
    if (hidden <= OCC_RECUR_SMALL) {
        OCC_SHARED_ARRAY(float, memory, OCC_RECUR_SMALL_FLOATS);
        const occ_gru_work work = occ_gru_shared(memory, hidden);
        return occ_gru_rows(&work, y, h, xg, r, hbias, lengths, form, kind, table_act, limit);
    }
    if (hidden <= OCC_RECUR_LARGE) {
        OCC_SHARED_ARRAY(float, memory, OCC_RECUR_LARGE_FLOATS);
        const occ_gru_work work = occ_gru_shared(memory, hidden);
        return occ_gru_rows(&work, y, h, xg, r, hbias, lengths, form, kind, table_act, limit);
    }
    const occ_gru_work work = {h, gate + 3 * hidden, gate, gate + 2 * hidden, 0, 1};
    return occ_block() ? 0 : occ_gru_rows(&work, y, h, xg, r, hbias, lengths, form, kind, table_act, limit);
}

/* ----------------------------------------------------------------------------------------- a simple recurrent cell */

/* The members of the batch, a block for each. memory: as of occ_lstm_rows */
OCC_HOT int occ_rnn_rows(float *memory, float *y, float *h, float *xg, const float *r, const int64_t *lengths,
                         const occ_rnn_form *form, const occ_extent *kind, const double *table_act, float limit)
{
    const int64_t hidden = form->hidden;
    const int     shares = hidden <= OCC_RECUR_LARGE;
    for (int64_t b = occ_block(); b < form->batch; b += occ_grid()) {
        const int64_t length = lengths ? lengths[b] : form->time;
        float *const hb = h + b * form->sb, *const state = shares ? memory : hb;
        if (length < 0 || length > form->time)
            return OCC_EINDEX;
        if (shares)
            occ_recur_copy(state, hb, hidden);
        for (int64_t s = 0; s < length; s++) {
            const int64_t t = occ_recur_time(s, length, form->reverse), to = t * form->yt + b * form->yb;
            float *const x = xg + t * form->gt + b * form->gb, *const sums = shares ? memory + hidden : x;
            occ_barrier(); /* the state is there, and the sums have been used */
            occ_recur_products(sums, x, state, r, hidden, hidden);
            occ_barrier(); /* the sums are there, and the state has been used */
            for (int64_t j = occ_thread(); j < hidden; j += occ_threads()) {
                state[j] = occ_recur_activate(occ_recur_sum(sums, hidden, hidden, j), kind[0], table_act, limit);
                if (y)
                    y[to + j] = state[j];
            }
        }
        if (shares)
            occ_recur_copy(hb, state, hidden);
        if (y)
            occ_recur_clear(y + b * form->yb, length, form->time, form->yt, hidden);
    }
    return 0;
}

/* rnn - a simple recurrent cell, which has one gate; arguments as of the C kernel. */
OCC_INLINE int occ_rnn_f32(float *y, float *h, float *xg, const float *r, const int64_t *lengths,
                           const occ_rnn_form *form, const occ_extent *kind, const double *table_act, float limit)
{
    if (form->hidden <= OCC_RECUR_SMALL) {
        OCC_SHARED_ARRAY(float, memory, OCC_RECUR_SMALL_FLOATS);
        return occ_rnn_rows(memory, y, h, xg, r, lengths, form, kind, table_act, limit);
    }
    if (form->hidden <= OCC_RECUR_LARGE) {
        OCC_SHARED_ARRAY(float, memory, OCC_RECUR_LARGE_FLOATS);
        return occ_rnn_rows(memory, y, h, xg, r, lengths, form, kind, table_act, limit);
    }
    return occ_rnn_rows(NULL, y, h, xg, r, lengths, form, kind, table_act, limit);
}
