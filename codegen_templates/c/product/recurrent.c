/* recurrent.c - LSTM, GRU and simple recurrent cells over time. A matrix product computes the input's part of the gates
 * for all times beforehand; these kernels add the part of the state. The recurrence matrix lies in panels of 32 gates,
 * [gates / 32][hidden][32]; the last panel has the remaining gates. */
#include "occ_base.h"
#include "occ_vec.h"
#include "occ_vapart.h"

/* The activations of ONNX. */
#define OCC_RECUR_SIGMOID 0
#define OCC_RECUR_TANH 1
#define OCC_RECUR_RELU 2
#define OCC_RECUR_AFFINE 3
#define OCC_RECUR_LEAKY 4
#define OCC_RECUR_THRESHOLDED 5
#define OCC_RECUR_SCALED_TANH 6
#define OCC_RECUR_HARD_SIGMOID 7
#define OCC_RECUR_ELU 8
#define OCC_RECUR_SOFTSIGN 9
#define OCC_RECUR_SOFTPLUS 10

/* Applies an activation. kind: one of the above; table_act: its alpha and beta; limit > 0: x is clipped to -limit ..
 * limit first. */
OCC_HOT occ_vf occ_recur_activate(occ_vf x, int64_t kind, const double *table_act, float limit)
{
    occ_vf alpha = occ_vset((float)table_act[0]), beta = occ_vset((float)table_act[1]), zero = occ_vset(0.0f),
           one = occ_vset(1.0f);

    if (limit > 0.0f)
        x = occ_vmin(occ_vmax(x, occ_vset(-limit)), occ_vset(limit));
    switch (kind) {
    case OCC_RECUR_SIGMOID:
        return occ_vsigmoid_apart(x);
    case OCC_RECUR_TANH:
        return occ_vtanh_apart(x);
    case OCC_RECUR_RELU:
        return occ_vmax(x, zero);
    case OCC_RECUR_AFFINE:
        return occ_vadd(occ_vmul(alpha, x), beta);
    case OCC_RECUR_LEAKY:
        return occ_vselect(occ_vlt(x, zero), occ_vmul(alpha, x), x);
    case OCC_RECUR_THRESHOLDED:
        return occ_vselect(occ_vlt(x, alpha), zero, x);
    case OCC_RECUR_SCALED_TANH:
        return occ_vmul(alpha, occ_vtanh_apart(occ_vmul(beta, x)));
    case OCC_RECUR_HARD_SIGMOID:
        return occ_vmin(occ_vmax(occ_vadd(occ_vmul(alpha, x), beta), zero), one);
    case OCC_RECUR_ELU:
        return occ_vselect(occ_vlt(x, zero), occ_vmul(alpha, occ_vsub(occ_vexp_apart(x), one)), x);
    case OCC_RECUR_SOFTSIGN:
        return occ_vdiv(x, occ_vadd(one, occ_vabs(x)));
    default:
        return occ_vadd(occ_vmax(x, zero), occ_vlog_apart(occ_vadd(one, occ_vexp_apart(occ_vneg(occ_vabs(x))))));
    }
}

/* Panels of 32 gates that are multiplied together, so that the sums of one do not wait for those of k before. */
#define OCC_RECUR_PANELS (OCC_W >= 8 ? 2 : 1)

/* Some panels (literal) of 32 gates: g[32] = start[32] + sum over k of h[k] * r[k][32]. */
OCC_HOT void occ_recur_panels(float *g, const float *start, const float *h, const float *r, int64_t hidden, int panels)
{
    occ_vf acc[OCC_RECUR_PANELS * 32 / OCC_W];

    OCC_UNROLL(32)
    for (int i = 0; i < panels * 32 / OCC_W; i++)
        acc[i] = occ_vset(0.0f);
    for (int64_t k = 0; k < hidden; k++) {
        const occ_vf x = occ_vset(h[k]);

        OCC_UNROLL(32)
        for (int i = 0; i < panels * 32 / OCC_W; i++)
            acc[i] = occ_vfma(x, occ_vload(r + i * OCC_W / 32 * 32 * hidden + k * 32 + i * OCC_W % 32, OCC_W), acc[i]);
    }
    OCC_UNROLL(32)
    for (int i = 0; i < panels * 32 / OCC_W; i++)
        occ_vstore(g + i * OCC_W, acc[i] + occ_vload(start + i * OCC_W, OCC_W), OCC_W);
}

/* The last panel, of n < 32 gates, a vector of them at a time. */
OCC_HOT void occ_recur_rest(float *g, const float *start, const float *h, const float *r, int64_t hidden, int64_t n)
{
    for (int64_t i = 0; i < n; i += OCC_W) {
        const int lanes = (int)occ_min(OCC_W, n - i);
        occ_vf    acc = occ_vset(0.0f);

        for (int64_t k = 0; k < hidden; k++)
            acc = occ_vfma(occ_vset(h[k]), occ_vload(r + k * n + i, lanes), acc);
        occ_vstore(g + i, acc + occ_vload(start + i, lanes), lanes);
    }
}

/* Gates from the start of a panel on: g[gates] = start[gates] + h[hidden] * r. g may be start. */
OCC_HOT void occ_recur_gates(float *g, const float *start, const float *h, const float *r, int64_t hidden,
                             int64_t gates)
{
    const int64_t some = 32 * OCC_RECUR_PANELS;
    int64_t       p = 0;

    for (; p + some <= gates; p += some)
        occ_recur_panels(g + p, start + p, h, r + p * hidden, hidden, OCC_RECUR_PANELS);
    for (; OCC_RECUR_PANELS > 1 && p + 32 <= gates; p += 32)
        occ_recur_panels(g + p, start + p, h, r + p * hidden, hidden, 1);
    if (p < gates)
        occ_recur_rest(g + p, start + p, h, r + p * hidden, hidden, gates - p);
}

/* The hidden units that a call computes: units [first, end) of all. Slices begin at multiples of 32. */
typedef struct occ_recur_units {
    int64_t first, end, all;
} occ_recur_units;

/* Adds the state's part to `gates` gates [gates][units.all] of the units. */
OCC_HOT void occ_recur_products(float *g, const float *h, const float *r, int64_t gates, occ_recur_units units)
{
    if (units.end - units.first == units.all) { /* panels may have units of two gates */
        occ_recur_gates(g, g, h, r, units.all, gates * units.all);
        return;
    }
    for (int64_t at = units.first; at < gates * units.all; at += units.all)
        occ_recur_gates(g + at, g + at, h, r + at * units.all, units.all, units.end - units.first);
}

/* recur_pack - rearranges [gates][hidden] to panels of 32 gates; the last panel has the remaining gates. */
OCC_INLINE void occ_recur_pack(float *to, const float *from, int64_t gates, int64_t hidden)
{
    for (int64_t p = 0; p < gates; p += 32)
        for (int64_t k = 0; k < hidden; k++)
            for (int64_t i = p; i < occ_min(gates, p + 32); i++)
                *to++ = from[i * hidden + k];
}

/* recur_bias - adds the state's bias to the input's bias for the first `both` gates: from [2][gates] to [gates]. */
OCC_INLINE void occ_recur_bias(float *to, const float *from, int64_t gates, int64_t both)
{
    for (int64_t i = 0; i < gates; i++)
        to[i] = from[i] + (i < both ? from[gates + i] : 0.0f);
}

/* The time of step s in a row of `length` valid times. A reversed row starts at its own end. */
OCC_HOT int64_t occ_recur_time(int64_t s, int64_t length, int64_t reverse)
{
    return reverse ? length - 1 - s : s;
}

/* The time steps of a row that a call computes: [first, end). last: it leaves the final state behind. */
typedef struct occ_recur_span {
    int64_t first, end, last;
} occ_recur_span;

/* All steps where round_index < 0. Else the step that each slice computes in this round, of `rounds` for each step,
 * before any slice begins the next one: none in the round behind the last step. */
OCC_HOT occ_recur_span occ_recur_steps(int64_t round_index, int64_t rounds, int64_t length)
{
    const int64_t        step = round_index / rounds;
    const occ_recur_span all = {0, length, 1}, one = {step, occ_min(step + 1, length), step >= length};

    return round_index < 0 ? all : one;
}

/* Copies the states of the units. */
OCC_HOT void occ_recur_copy(float *to, const float *from, occ_recur_units units)
{
    for (int64_t j = 0; j < units.end - units.first; j += OCC_W) {
        const int n = (int)occ_min(OCC_W, units.end - units.first - j);

        occ_vstore(to + j, occ_vload(from + j, n), n);
    }
}

/* A row of a batch: gates from unit 0 on, of time 0; state and results of the first unit that the call computes (y may
 * be NULL); valid times; strides of x and y between steps. */
typedef struct occ_recur_row {
    float  *x, *h, *y;
    int64_t length, gt, yt, reverse;
} occ_recur_row;

/* The gates of step s. */
OCC_HOT float *occ_recur_at(const occ_recur_row *row, int64_t s)
{
    return row->x + occ_recur_time(s, row->length, row->reverse) * row->gt;
}

/* The states of all units before step s: those of the step before lie in place of its first gates. */
OCC_HOT const float *occ_recur_state(const occ_recur_row *row, int64_t s, int64_t first)
{
    return s > 0 ? occ_recur_at(row, s - 1) : row->h - first;
}

/* Results of step s: its states. */
OCC_HOT void occ_recur_result(const occ_recur_row *row, int64_t s, occ_recur_units units)
{
    if (row->y)
        occ_recur_copy(row->y + occ_recur_time(s, row->length, row->reverse) * row->yt,
                       occ_recur_at(row, s) + units.first, units);
}

/* The end of a row: the final state, and zeros in y for the times behind. */
OCC_HOT void occ_recur_end(const occ_recur_row *row, int64_t time, occ_recur_units units)
{
    if (row->length > 0)
        occ_recur_copy(row->h, occ_recur_at(row, row->length - 1) + units.first, units);
    for (int64_t t = row->length; row->y && t < time; t++)
        for (int64_t j = 0; j < units.end - units.first; j++)
            row->y[t * row->yt + j] = 0.0f;
}

/* The sizes of an LSTM: time steps, batch, hidden units; strides of y between steps and between members (yt, yb), of h
 * and of c between members (sb, cb), of xg between steps and between members (gt, gb), all in elements.
 *   first, units: the call computes units [first, first + units); y, h, c and xg are those of unit `first`
 *   round_index: -1, or the round that the call belongs to (occ_recur_steps) */
typedef struct occ_lstm_form {
    int64_t time, batch, hidden, yt, yb, sb, cb, gt, gb, reverse, coupled, first, units, round_index;
} occ_lstm_form;

/* The gates of OCC_W hidden units before their activations. */
typedef struct occ_lstm_gates {
    occ_vf i, o, f, g;
} occ_lstm_gates;

/* The cells and states of n units from unit j on; arguments as for lstm. */
OCC_HOT void occ_lstm_units(float *h, float *c, const occ_lstm_gates *gate, const float *peephole,
                            const occ_lstm_form *form, const occ_extent *kind, const double *table_act, float limit,
                            int64_t j, int n)
{
    occ_vf i = gate->i, o = gate->o, f = gate->f, g = gate->g, old = occ_vload(c + j, n), now;

    if (peephole) {
        i = i + occ_vload(peephole + j, n) * old;
        f = f + occ_vload(peephole + 2 * form->hidden + j, n) * old;
    }
    i = occ_recur_activate(i, kind[0], table_act, limit);
    f = form->coupled ? occ_vsub(occ_vset(1.0f), i) : occ_recur_activate(f, kind[0], table_act, limit);
    g = occ_recur_activate(g, kind[1], table_act + 2, limit);
    now = f * old + i * g;
    if (peephole)
        o = o + occ_vload(peephole + form->hidden + j, n) * now;
    o = occ_recur_activate(o, kind[0], table_act, limit);
    occ_vstore(c + j, now, n);
    occ_vstore(h + j, o * occ_recur_activate(now, kind[2], table_act + 4, 0.0f), n);
}

/* lstm - gates in the order i, o, f, c.
 *   y [time][batch][hidden] with strides yt, yb, or NULL
 *   h, c: the state [batch][hidden] with row strides sb, cb; the initial state on entry, the final one on return
 *   xg [time][batch][4 hidden] with strides gt, gb: the input's part with all biases; the state's is added in place,
 *     then the new state takes the place of gate i
 *   r: panels of [hidden][4 hidden]; peephole [3 hidden] (i, o, f) or NULL; lengths [batch] or NULL
 *   kind [3], table_act [3][2]: activations f, g, h; limit > 0: clip; coupled: the forget gate is 1 - i
 *   a length outside 0 .. time: OCC_EINDEX */
OCC_INLINE int occ_lstm_f32(float *y, float *h, float *c, float *xg, const float *r, const float *peephole,
                            const int64_t *lengths, const occ_lstm_form *form, const occ_extent *kind,
                            const double *table_act, float limit)
{
    const int64_t         hidden = form->hidden, first = form->first;
    const occ_recur_units units = {first, first + form->units, hidden};

    for (int64_t b = 0; b < form->batch; b++) {
        const int64_t        length = lengths ? lengths[b] : form->time;
        const occ_recur_span span = occ_recur_steps(form->round_index, 1, length);
        float *const         yb = y ? y + b * form->yb : y;
        const occ_recur_row  row = {
             xg + b * form->gb - first, h + b * form->sb, yb, length, form->gt, form->yt, form->reverse};

        if (length < 0 || length > form->time)
            return OCC_EINDEX;
        for (int64_t s = span.first; s < span.end; s++) {
            float *gate = occ_recur_at(&row, s);

            occ_recur_products(gate, occ_recur_state(&row, s, first), r, 4, units);
            for (int64_t j = units.first; j < units.end; j += OCC_W) {
                int                  n = (int)occ_min(OCC_W, units.end - j);
                const occ_lstm_gates g = {occ_vload(gate + j, n), occ_vload(gate + hidden + j, n),
                                          occ_vload(gate + 2 * hidden + j, n), occ_vload(gate + 3 * hidden + j, n)};

                occ_lstm_units(gate, c + b * form->cb - first, &g, peephole, form, kind, table_act, limit, j, n);
            }
            occ_recur_result(&row, s, units);
        }
        if (span.last)
            occ_recur_end(&row, form->time, units);
    }
    return 0;
}

/* The sizes of a GRU, as in occ_lstm_form. */
typedef struct occ_gru_form {
    int64_t time, batch, hidden, yt, yb, sb, gt, gb, reverse, before, first, units, round_index;
} occ_gru_form;

/* The gates z and r of the units at a time step, whose gates are x; r is activated and, but where `before` is set,
 * multiplied by the state. */
OCC_HOT void occ_gru_reset(float *x, const float *state, const float *r, int64_t before, occ_recur_units units,
                           const occ_extent *kind, const double *table_act, float limit)
{
    float *reset = x + units.all;

    occ_recur_products(x, state, r, 2, units);
    for (int64_t j = units.first; j < units.end; j += OCC_W) {
        int    n = (int)occ_min(OCC_W, units.end - j);
        occ_vf gate = occ_recur_activate(occ_vload(reset + j, n), kind[0], table_act, limit);

        occ_vstore(reset + j, before ? gate : gate * occ_vload(state + j, n), n);
    }
}

/* The new state of the units, in place of gate z. gate: room for the sums of gate h; other arguments as above and as
 * for gru */
OCC_HOT void occ_gru_units(float *x, const float *state, float *gate, const float *r, const float *hbias,
                           int64_t before, occ_recur_units units, const occ_extent *kind, const double *table_act,
                           float limit)
{
    const int64_t hidden = units.all, first = units.first;
    const float  *reset = x + hidden, *part = x + 2 * hidden;

    occ_recur_gates(gate, (before ? hbias : part) + first, before ? state : reset,
                    r + 2 * hidden * hidden + first * hidden, hidden, units.end - first);
    for (int64_t j = first; j < units.end; j += OCC_W) {
        int    n = (int)occ_min(OCC_W, units.end - j);
        occ_vf z = occ_recur_activate(occ_vload(x + j, n), kind[0], table_act, limit);
        occ_vf g = occ_vload(gate + j - first, n);

        if (before)
            g = occ_vload(part + j, n) + occ_vload(reset + j, n) * g;
        g = occ_recur_activate(g, kind[1], table_act + 2, limit);
        occ_vstore(x + j, occ_vsub(occ_vset(1.0f), z) * g + z * occ_vload(state + j, n), n);
    }
}

/* gru - gates in the order z, r, h; arguments as for lstm, but for these:
 *   xg [time][batch][3 hidden] holds the biases of the input, and of the state, but for gate h where `before` is set
 *   r: panels of [hidden][2 hidden] for z and r, then panels of [hidden][hidden] for h
 *   hbias [hidden]: the state's bias of gate h, used where `before` (linear_before_reset) is set
 *   gate: scratch [4 hidden]
 * Where `before` is not set, the sums of gate h need the reset states of all units: two rounds for each time step. */
OCC_INLINE int occ_gru_f32(float *y, float *h, float *gate, float *xg, const float *r, const float *hbias,
                           const int64_t *lengths, const occ_gru_form *form, const occ_extent *kind,
                           const double *table_act, float limit)
{
    const int64_t         first = form->first, before = form->before, rounds = before ? 1 : 2;
    const int64_t         half = before || form->round_index < 0 ? -1 : form->round_index % 2;
    const occ_recur_units units = {first, first + form->units, form->hidden};

    for (int64_t b = 0; b < form->batch; b++) {
        const int64_t        length = lengths ? lengths[b] : form->time;
        const occ_recur_span span = occ_recur_steps(form->round_index, rounds, length);
        float *const         yb = y ? y + b * form->yb : y;
        const occ_recur_row  row = {
             xg + b * form->gb - first, h + b * form->sb, yb, length, form->gt, form->yt, form->reverse};

        if (length < 0 || length > form->time)
            return OCC_EINDEX;
        for (int64_t s = span.first; s < span.end; s++) {
            float       *x = occ_recur_at(&row, s);
            const float *state = occ_recur_state(&row, s, first);

            if (half != 1)
                occ_gru_reset(x, state, r, before, units, kind, table_act, limit);
            if (half == 0)
                continue;
            occ_gru_units(x, state, gate, r, hbias, before, units, kind, table_act, limit);
            occ_recur_result(&row, s, units);
        }
        if (span.last)
            occ_recur_end(&row, form->time, units);
    }
    return 0;
}

/* The sizes of a simple recurrent cell, as in occ_lstm_form. */
typedef struct occ_rnn_form {
    int64_t time, batch, hidden, yt, yb, sb, gt, gb, reverse, first, units, round_index;
} occ_rnn_form;

/* rnn - a simple recurrent cell, which has one gate; arguments as for lstm. */
OCC_INLINE int occ_rnn_f32(float *y, float *h, float *xg, const float *r, const int64_t *lengths,
                           const occ_rnn_form *form, const occ_extent *kind, const double *table_act, float limit)
{
    const int64_t         first = form->first;
    const occ_recur_units units = {first, first + form->units, form->hidden};

    for (int64_t b = 0; b < form->batch; b++) {
        const int64_t        length = lengths ? lengths[b] : form->time;
        const occ_recur_span span = occ_recur_steps(form->round_index, 1, length);
        float *const         yb = y ? y + b * form->yb : y;
        const occ_recur_row  row = {
             xg + b * form->gb - first, h + b * form->sb, yb, length, form->gt, form->yt, form->reverse};

        if (length < 0 || length > form->time)
            return OCC_EINDEX;
        for (int64_t s = span.first; s < span.end; s++) {
            float *gate = occ_recur_at(&row, s);

            occ_recur_products(gate, occ_recur_state(&row, s, first), r, 1, units);
            for (int64_t j = units.first; j < units.end; j += OCC_W) {
                int n = (int)occ_min(OCC_W, units.end - j);

                occ_vstore(gate + j, occ_recur_activate(occ_vload(gate + j, n), kind[0], table_act, limit), n);
            }
            occ_recur_result(&row, s, units);
        }
        if (span.last)
            occ_recur_end(&row, form->time, units);
    }
    return 0;
}
