/* recurrent_wide.c - LSTM, GRU and simple recurrent cells of doubles, one number at a time. */
#include "recurrent.c"
#include "scalar_math_f64.h"

/* Applies an activation, as occ_recur_activate does. */
OCC_HOT double occ_recur_apply(double x, int64_t kind, const double *table_act, double limit)
{
    const double alpha = table_act[0], beta = table_act[1];
    if (limit > 0.0)
        x = x < -limit ? -limit : x > limit ? limit : x;
    switch (kind) {
    case OCC_RECUR_SIGMOID:
        return occ_sigmoid_f64(x);
    case OCC_RECUR_TANH:
        return occ_tanh_f64(x);
    case OCC_RECUR_RELU:
        return x < 0.0 ? 0.0 : x;
    case OCC_RECUR_AFFINE:
        return alpha * x + beta;
    case OCC_RECUR_LEAKY:
        return x < 0.0 ? alpha * x : x;
    case OCC_RECUR_THRESHOLDED:
        return x < alpha ? 0.0 : x;
    case OCC_RECUR_SCALED_TANH:
        return alpha * occ_tanh_f64(beta * x);
    case OCC_RECUR_HARD_SIGMOID:
        x = alpha * x + beta;
        return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
    case OCC_RECUR_ELU:
        return x < 0.0 ? alpha * (occ_exp_f64(x) - 1.0) : x;
    case OCC_RECUR_SOFTSIGN:
        return x / (1.0 + (x < 0.0 ? -x : x));
    default:
        return occ_softplus_f64(x);
    }
}

/* y[n] += bias[n] + sum over k < count of m[n][k] * x[k], for `rows` rows n; bias may be NULL. */
OCC_HOT void occ_recur_add(double *y, const double *m, const double *x, const double *bias, int64_t rows, int64_t count)
{
    for (int64_t n = 0; n < rows; n++, m += count) {
        double sum = bias ? bias[n] : 0.0;
        for (int64_t k = 0; k < count; k++)
            sum += m[k] * x[k];
        y[n] += sum;
    }
}

/* One time step of an LSTM. gate [4 hidden], in the order i, o, f, c, is complete but for the peepholes. */
OCC_HOT void occ_recur_lstm(double *h, double *c, const double *gate, const double *peephole, int64_t hidden,
                            int64_t coupled, const occ_extent *kind, const double *table_act, double limit)
{
    for (int64_t j = 0; j < hidden; j++) {
        double i = gate[j], o = gate[hidden + j], f = gate[2 * hidden + j], now;
        if (peephole) {
            i += peephole[j] * c[j];
            f += peephole[2 * hidden + j] * c[j];
        }
        i = occ_recur_apply(i, kind[0], table_act, limit);
        f = coupled ? 1.0 - i : occ_recur_apply(f, kind[0], table_act, limit);
        now = f * c[j] + i * occ_recur_apply(gate[3 * hidden + j], kind[1], table_act + 2, limit);
        if (peephole)
            o += peephole[hidden + j] * now;
        c[j] = now;
        h[j] = occ_recur_apply(o, kind[0], table_act, limit) * occ_recur_apply(now, kind[2], table_act + 4, 0.0);
    }
}

/* One time step of a GRU. gate [5 hidden]: z and r are complete, h has the input's part, the rest is scratch. r, bias:
 * the state's, for gate h. */
OCC_HOT void occ_recur_gru(double *h, double *gate, const double *r, const double *bias, int64_t hidden, int64_t before,
                           const occ_extent *kind, const double *table_act, double limit)
{
    double *made = gate + 2 * hidden, *state = gate + 3 * hidden, *part = gate + 4 * hidden;
    for (int64_t j = 0; j < hidden; j++) {
        gate[hidden + j] = occ_recur_apply(gate[hidden + j], kind[0], table_act, limit);
        state[j] = before ? h[j] : gate[hidden + j] * h[j];
        part[j] = 0.0;
    }
    occ_recur_add(part, r, state, bias, hidden, hidden);
    for (int64_t j = 0; j < hidden; j++) {
        const double z = occ_recur_apply(gate[j], kind[0], table_act, limit);
        const double sum = made[j] + (before ? gate[hidden + j] * part[j] : part[j]);
        h[j] = (1.0 - z) * occ_recur_apply(sum, kind[1], table_act + 2, limit) + z * h[j];
    }
}

/* The sizes of a cell of doubles, the strides of its tensors in elements, and its activations. */
typedef struct occ_recurrence {
    int64_t           time, batch, input, hidden, gates, yt, yb, sb, cb, xt, xb, reverse, variant;
    const occ_extent *kind;
    const double     *table_act;
    double            limit;
} occ_recurrence;

/* recur_f64 - one direction of an LSTM (4 gates: i, o, f, c), a GRU (3: z, r, h) or a simple cell (1).
 *   y [time][batch][hidden] with strides yt, yb, or NULL
 *   h, c (of an LSTM): state [batch][hidden] with row strides sb, cb; the initial state on entry, the final on return
 *   gate: scratch [5 hidden]; x [time][batch][input] with strides xt, xb
 *   w [gates][hidden][input]; r [gates][hidden][hidden]; bias [2][gates][hidden] or NULL
 *   peephole [3 hidden] (i, o, f) or NULL; lengths [batch] or NULL
 *   variant: input_forget of an LSTM, linear_before_reset of a GRU
 *   kind, table_act: as for lstm; limit > 0: clip
 *   a length outside 0 .. time: OCC_EINDEX */
OCC_INLINE int occ_recur_f64(double *y, double *h, double *c, double *gate, const double *x, const double *w,
                             const double *r, const double *bias, const double *peephole, const int64_t *lengths,
                             const occ_recurrence *form)
{
    const int64_t     time = form->time, batch = form->batch, input = form->input, hidden = form->hidden;
    const int64_t     gates = form->gates, yt = form->yt, yb = form->yb, sb = form->sb, xt = form->xt, xb = form->xb;
    const int64_t     reverse = form->reverse, variant = form->variant;
    const occ_extent *kind = form->kind;
    const double     *table_act = form->table_act;
    const double      limit = form->limit;
    const int64_t     rows = gates * hidden, both = gates == 3 ? 2 * hidden : rows;
    const double     *more = bias ? bias + rows : 0;
    for (int64_t b = 0; b < batch; b++) {
        const int64_t length = lengths ? lengths[b] : time;
        double       *hb = h + b * sb;
        if (length < 0 || length > time)
            return OCC_EINDEX;
        for (int64_t s = 0; s < length; s++) {
            const int64_t t = occ_recur_time(s, length, reverse);
            for (int64_t n = 0; n < rows; n++)
                gate[n] = 0.0;
            occ_recur_add(gate, w, x + t * xt + b * xb, bias, rows, input);
            occ_recur_add(gate, r, hb, more, both, hidden);
            if (gates == 4)
                occ_recur_lstm(hb, c + b * form->cb, gate, peephole, hidden, variant, kind, table_act, limit);
            else if (gates == 3)
                occ_recur_gru(hb, gate, r + both * hidden, more ? more + both : 0, hidden, variant, kind, table_act,
                              limit);
            else
                for (int64_t j = 0; j < hidden; j++)
                    hb[j] = occ_recur_apply(gate[j], kind[0], table_act, limit);
            for (int64_t j = 0; y && j < hidden; j++)
                y[t * yt + b * yb + j] = hb[j];
        }
        for (int64_t t = length; y && t < time; t++)
            for (int64_t j = 0; j < hidden; j++)
                y[t * yt + b * yb + j] = 0.0;
    }
    return 0;
}
