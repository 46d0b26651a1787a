/* recurrent_lower.c - LSTM, GRU and RNN: one matmul of the input for all gates and times, then the cell over time, once
 * for each direction. */
#include "ops/lower/linear_lower.h"
#include "ops/lower/matmul_steps.h"
#include "ops/rules.h"
#include <string.h>

enum { MAX_ACTIVATIONS = 3 };

/* Inputs and attributes that the three operators share. */
typedef struct Cell {
    const char *kernel;
    int         gates;
    int         nactivation;
    const char *activation[MAX_ACTIVATIONS]; /* ONNX's defaults */
    bool        has_cell;                    /* LSTM: a second state */
} Cell;

static const Cell lstm_cell = {"lstm_f32", 4, 3, {"Sigmoid", "Tanh", "Tanh"}, true};
static const Cell gru_cell = {"gru_f32", 3, 2, {"Sigmoid", "Tanh", ""}, false};
static const Cell rnn_cell = {"rnn_f32", 1, 1, {"Tanh", "", ""}, false};

typedef struct Recurrent {
    const Cell  *cell;
    const Node  *node;
    int64_t      input, hidden, directions;
    Extent       time, batch;
    bool         batch_first;
    Operand      x, y, h, c; /* x [time][batch][input]; y [time][directions][batch][hidden] or absent */
    Operand      lengths;
    const float *w, *r, *b, *p; /* constants; b, p NULL when absent */
    bool         computed;      /* some weights are computed, so all of them are read as such */
    Operand      weight[8];     /* by input, dense; buffer -1 when absent */
} Recurrent;

/* Names in the order of OCC_RECUR_*, with the defaults of their parameters and how many of the two each has. */
typedef struct Activation {
    const char *name;
    double      alpha, beta;
    int         parameters;
} Activation;

static const Activation activations[] = {
    {"Sigmoid", 0, 0, 0},      {"Tanh", 0, 0, 0},
    {"Relu", 0, 0, 0},         {"Affine", 1, 0, 2},
    {"LeakyRelu", 0.01, 0, 1}, {"ThresholdedRelu", 1, 0, 1},
    {"ScaledTanh", 1, 1, 2},   {"HardSigmoid", 0.2, 0.5, 2},
    {"Elu", 1, 0, 1},          {"Softsign", 0, 0, 0},
    {"Softplus", 0, 0, 0},
};

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a | 32) != (*b | 32))
            return false;
    return *a == *b;
}

/* Activation `at` of all directions. Reading has checked the names. */
static int activation_at(const Recurrent *r, int at)
{
    const Attr *names = node_attr(r->node, "activations");
    const char *name = names && at < names->count ? names->strings[at] : r->cell->activation[at % r->cell->nactivation];
    int         k = 0;

    while (k + 1 < (int)(sizeof activations / sizeof *activations) && !same_name(activations[k].name, name))
        k++;
    return k;
}

/* Takes the next parameter of a list, for an activation that has one, while there are any. */
static double consume(const Attr *list, bool takes, int *used, double otherwise)
{
    return takes && list && *used < list->count ? (double)list->floats[(*used)++] : otherwise;
}

/* The activations of a direction: kinds and parameters. The lists of alphas and betas hold those of all directions, in
 * order, for the activations that take them: [Sigmoid, LeakyRelu, Tanh] with alphas [0.3] is a LeakyRelu of 0.3. */
static void read_activations(const Recurrent *r, int64_t direction, int64_t *kind, double *table)
{
    const Attr *alpha = node_attr(r->node, "activation_alpha"), *beta = node_attr(r->node, "activation_beta");
    int         count = r->cell->nactivation, alphas = 0, betas = 0;

    for (int at = 0; at < (int)(direction + 1) * count; at++) {
        const Activation *activation = &activations[activation_at(r, at)];

        kind[at % count] = activation - activations;
        table[2 * (at % count)] = consume(alpha, activation->parameters > 0, &alphas, activation->alpha);
        table[2 * (at % count) + 1] = consume(beta, activation->parameters > 1, &betas, activation->beta);
    }
}

/* The elements of a constant input; NULL when it is absent, or when some weights are `computed`. */
static const float *constant_floats(Lower *lower, const Recurrent *r, int index)
{
    const Node *node = r->node;

    return r->computed || index >= node->nin || !node->in[index]
               ? NULL
               : const_aligned(lower->program->arena, node->in[index]);
}

static int read_weights(Lower *lower, Recurrent *r)
{
    static const int inputs[] = {1, 2, 3, 7};
    int              count = r->cell->has_cell ? 4 : 3;

    for (int i = 0; i < count; i++) {
        Value *value = inputs[i] < r->node->nin ? r->node->in[inputs[i]] : NULL;

        r->computed |= value && !lower_constant(lower, value);
    }
    for (int i = 0; r->computed && i < count; i++)
        if (lower_input_dense(lower, r->node, inputs[i], &r->weight[inputs[i]]) < 0)
            return -1;
    r->w = constant_floats(lower, r, 1);
    r->r = constant_floats(lower, r, 2);
    r->b = constant_floats(lower, r, 3);
    r->p = r->cell->has_cell ? constant_floats(lower, r, 7) : NULL;
    return 0;
}

/* Elements of a computed weight from `start` on, as one axis; absent if the weight is. */
static Operand part_of(Lower *lower, const Recurrent *r, int input, int64_t start, int64_t count)
{
    Operand x = r->weight[input];

    if (x.buffer < 0)
        return x;
    x.rank = 1;
    x.dim[0] = extent_const(count);
    x.stride[0] = extent_const(1);
    return operand_window(lower, x, 0, extent_const(start), extent_const(count), 1);
}

static Operand list_of_floats(Lower *lower, int64_t count, const char *name)
{
    Type type = type_tensor(DTYPE_F32, 1, &count);

    return lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, name);
}

/* The sum of both biases for all gates, except the last one of a GRU that resets after the matmul. */
static const float *input_bias(Lower *lower, const Recurrent *r, int64_t direction, bool keep_last)
{
    int64_t gh = r->cell->gates * r->hidden;
    float  *bias = arena_array(lower->program->arena, float, gh + 1);

    for (int64_t i = 0; r->b && i < gh; i++) {
        const float *b = r->b + direction * 2 * gh;

        bias[i] = b[i] + (keep_last && i >= 2 * r->hidden ? 0.0f : b[gh + i]);
    }
    return bias;
}

/* [gates][hidden] as panels [gates / 32][hidden][32]. */
static void pack_panels(float *to, const float *from, int64_t gates, int64_t hidden)
{
    for (int64_t p = 0; p < gates; p += 32) {
        int64_t n = gates - p < 32 ? gates - p : 32;

        for (int64_t k = 0; k < hidden; k++)
            for (int64_t i = 0; i < n; i++)
                *to++ = from[(p + i) * hidden + k];
    }
}

/* Packs weights that are computed at run time, by one step. */
static int append_panels(Lower *lower, const Recurrent *r, Operand to, int64_t start, int64_t from, int64_t gates)
{
    int64_t count = gates * r->hidden;

    return STEP(lower, r->node, "recur_pack",
                ARG(to, operand_window(lower, to, 0, extent_const(start), extent_const(count), 1)),
                ARG(from, part_of(lower, r, 2, from, count)), ARG(gates, gates), ARG(hidden, r->hidden));
}

static int computed_recurrence(Lower *lower, const Recurrent *r, int64_t direction, Operand *out)
{
    int64_t h = r->hidden, gh = r->cell->gates * h, from = direction * gh * h,
            first = r->cell == &gru_cell ? 2 * h : gh;

    *out = list_of_floats(lower, gh * h, "recurrence");
    if (append_panels(lower, r, *out, 0, from, first) < 0)
        return -1;
    return first == gh ? 0 : append_panels(lower, r, *out, first * h, from + first * h, gh - first);
}

/* The sum of both biases, as input_bias. */
static int computed_bias(Lower *lower, const Recurrent *r, int64_t direction, bool keep_last, Operand *out)
{
    int64_t gh = r->cell->gates * r->hidden;
    Operand from = part_of(lower, r, 3, direction * 2 * gh, 2 * gh);

    *out = from;
    if (from.buffer < 0)
        return 0;
    *out = list_of_floats(lower, gh, "bias");
    return STEP(lower, r->node, "recur_bias", ARG(to, *out), ARG(from, from), ARG(gates, gh),
                ARG(both, keep_last ? 2 * r->hidden : gh));
}

static Operand recurrence(Lower *lower, const Recurrent *r, int64_t direction)
{
    int64_t      h = r->hidden, gh = r->cell->gates * h, size = gh * h;
    const float *from = r->r + direction * size;
    float       *to = arena_array(lower->program->arena, float, size + 1);

    if (r->cell == &gru_cell) {
        pack_panels(to, from, 2 * h, h);
        pack_panels(to + 2 * h * h, from + 2 * h * h, h, h);
    } else {
        pack_panels(to, from, gh, h);
    }
    return lower_weight(lower, to, DTYPE_F32, 1, &size, "recurrence");
}

/* The input's contribution to all gates at all times: [time * batch][gates * hidden]. */
static int input_gates(Lower *lower, const Recurrent *r, int64_t direction, bool keep_last, Operand *out)
{
    int64_t       gh = r->cell->gates * r->hidden;
    Extent        rows = extent_op(lower->model, EXPR_MUL, r->time, r->batch);
    const Extent  flat[] = {rows, extent_const(r->input)};
    Type          type = {.kind = TYPE_TENSOR, .dtype = DTYPE_F32, .rank = 2, .dim = {rows, extent_const(gh)}};
    LinearWeights weights = {NULL, r->input, gh, 1, r->input, NULL, "input gates"};
    Operand       x, w, bias;

    if (!operand_reshape(lower, r->x, 2, flat, &x))
        return diag_bug(lower->diag, r->node->loc, "the input of a recurrent cell is not dense");
    *out = lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "gates");
    if (!r->computed) {
        weights.data = r->w + direction * gh * r->input;
        weights.bias = input_bias(lower, r, direction, keep_last);
        return linear_append(lower, x, *out, &weights);
    }
    if (computed_bias(lower, r, direction, keep_last, &bias) < 0)
        return -1;
    w = part_of(lower, r, 1, direction * gh * r->input, gh * r->input);
    w.rank = 2;
    w.dim[0] = extent_const(r->input);
    w.dim[1] = extent_const(gh);
    w.stride[0] = extent_const(1);
    w.stride[1] = extent_const(r->input);
    return matmul_append(lower, r->node, x, w, bias, *out);
}

/* The state of one direction: its part of the final state, which is initialised from the initial one. */
static int start_state(Lower *lower, const Recurrent *r, Operand whole, int initial, int64_t direction, Operand *out)
{
    static const double zero;
    Operand             x;
    int                 axis = r->batch_first ? 1 : 0;

    *out = operand_window(lower, whole, axis, extent_const(direction), extent_const(1), 1);
    if (initial < r->node->nin && r->node->in[initial]) {
        if (lower_input(lower, r->node, initial, &x) < 0)
            return -1;
        x = operand_window(lower, x, axis, extent_const(direction), extent_const(1), 1);
    } else {
        x = operand_broadcast(lower, lower_weight(lower, &zero, out->dtype, 0, NULL, "zero"), out->rank, out->dim);
    }
    return lower_copy(lower, NULL, x, *out);
}

/* The bias of a GRU's last gate that is added before the reset, from element `start` of all biases; zeros without
 * any. */
static Operand state_bias(Lower *lower, const Recurrent *r, int64_t start)
{
    int64_t h = r->hidden;
    float  *bias;

    if (r->weight[3].buffer >= 0)
        return part_of(lower, r, 3, start, h);
    bias = arena_array(lower->program->arena, float, h);
    for (int64_t i = 0; r->b && i < h; i++)
        bias[i] = r->b[start + i];
    return lower_weight(lower, bias, DTYPE_F32, 1, &h, "state bias");
}

static int lower_direction(Lower *lower, const Recurrent *r, int64_t direction)
{
    bool    before = r->cell == &gru_cell && node_int(r->node, "linear_before_reset", 0);
    bool    reverse = direction == 1 || !strcmp(node_string(r->node, "direction", "forward"), "reverse");
    bool    lstm = r->cell->has_cell, gru = r->cell == &gru_cell, first = r->batch_first;
    int64_t kind[MAX_ACTIVATIONS], h = r->hidden, gh = r->cell->gates * h, peepholes = 3 * h;
    double  table[2 * MAX_ACTIVATIONS];
    Operand absent = operand_absent(DTYPE_F32), xg, state, cell = absent, y = r->y, recur, gate = absent,
            peephole = absent, hbias = absent;
    Extent row, rows, none = extent_const(0);

    if (!r->computed)
        recur = recurrence(lower, r, direction);
    else if (computed_recurrence(lower, r, direction, &recur) < 0)
        return -1;
    read_activations(r, direction, kind, table);
    if (input_gates(lower, r, direction, before, &xg) < 0 || start_state(lower, r, r->h, 5, direction, &state) < 0 ||
        (r->cell->has_cell && start_state(lower, r, r->c, 6, direction, &cell) < 0))
        return -1;
    if (y.buffer >= 0)
        y = operand_window(lower, y, r->batch_first ? 2 : 1, extent_const(direction), extent_const(1), 1);
    if (gru)
        gate = lower_scratch(lower, DTYPE_F32, 4 * h, "gate");
    if (lstm)
        peephole = r->p ? lower_weight(lower, r->p + direction * 3 * h, DTYPE_F32, 1, &peepholes, "peephole")
                        : part_of(lower, r, 7, direction * 3 * h, peepholes);
    if (before)
        hbias = state_bias(lower, r, direction * 2 * gh + gh + 2 * h);
    row = xg.stride[0];
    rows = extent_op(lower->model, EXPR_MUL, first ? r->time : r->batch,
                     row); /* of the gates: [time][batch] or [batch][time] */
    return STEP(
        lower, r->node, r->cell->kernel, ARG(y, y), UPDATED(h, state), GIVE_IF(lstm, UPDATED(c, cell)),
        ARG_IF(gru, gate, gate), UPDATED(xg, xg), ARG(r, recur), ARG_IF(lstm, peephole, peephole),
        ARG_IF(gru, hbias, hbias), ARG(lengths, r->lengths), ARG(time, r->time), ARG(batch, r->batch), ARG(hidden, h),
        /* y is [time][directions][batch][hidden] or [batch][time][directions][hidden] */
        ARG(yt, y.buffer < 0 ? none : y.stride[first ? 1 : 0]), ARG(yb, y.buffer < 0 ? none : y.stride[first ? 0 : 2]),
        ARG(sb, state.stride[first ? 0 : 1]), ARG_IF(lstm, cb, cell.stride[first ? 0 : 1]), ARG(gt, first ? row : rows),
        ARG(gb, first ? rows : row), ARG(reverse, reverse), ARG_IF(lstm, coupled, node_int(r->node, "input_forget", 0)),
        ARG_IF(gru, before, before), ARG(first, 0), ARG(units, h), ARG(round_index, -1),
        ARGS(kind, r->cell->nactivation, kind), ARGS(table_act, 2 * r->cell->nactivation, table),
        ARG(limit, node_float(r->node, "clip", 0.0f)));
}

/* One direction in double: one step from the input on, with weights that are not packed. */
static int wide_direction(Lower *lower, const Recurrent *r, int64_t direction)
{
    bool    reverse = direction == 1 || !strcmp(node_string(r->node, "direction", "forward"), "reverse");
    int     time_axis = r->batch_first ? 1 : 0;
    int64_t kind[MAX_ACTIVATIONS], h = r->hidden, gh = r->cell->gates * h;
    double  table[2 * MAX_ACTIVATIONS];
    Operand state, cell = operand_absent(DTYPE_F64), y = r->y;

    read_activations(r, direction, kind, table);
    if (start_state(lower, r, r->h, 5, direction, &state) < 0 ||
        (r->cell->has_cell && start_state(lower, r, r->c, 6, direction, &cell) < 0))
        return -1;
    if (y.buffer >= 0)
        y = operand_window(lower, y, r->batch_first ? 2 : 1, extent_const(direction), extent_const(1), 1);
    return STEP(lower, r->node, "recur_f64", ARG(y, y), UPDATED(h, state), UPDATED(c, cell),
                ARG(gate, lower_scratch(lower, DTYPE_F64, 5 * h, "gate")), ARG(x, r->x),
                ARG(w, part_of(lower, r, 1, direction * gh * r->input, gh * r->input)),
                ARG(r, part_of(lower, r, 2, direction * gh * h, gh * h)),
                ARG(bias, part_of(lower, r, 3, direction * 2 * gh, 2 * gh)),
                ARG(peephole, part_of(lower, r, 7, direction * 3 * h, 3 * h)), ARG(lengths, r->lengths),
                ARG(time, r->time), ARG(batch, r->batch), ARG(input, r->input), ARG(hidden, h),
                ARG(gates, r->cell->gates), ARG(yt, y.buffer < 0 ? extent_const(0) : y.stride[r->batch_first ? 1 : 0]),
                ARG(yb, y.buffer < 0 ? extent_const(0) : y.stride[r->batch_first ? 0 : 2]),
                ARG(sb, state.stride[r->batch_first ? 0 : 1]),
                ARG(cb, cell.buffer < 0 ? extent_const(0) : cell.stride[r->batch_first ? 0 : 1]),
                ARG(xt, r->x.stride[time_axis]), ARG(xb, r->x.stride[!time_axis]), ARG(reverse, reverse),
                ARG(variant, node_int(r->node, r->cell->has_cell ? "input_forget" : "linear_before_reset", 0)),
                ARGS(kind, r->cell->nactivation, kind), ARGS(table_act, 2 * r->cell->nactivation, table),
                ARG(limit, (double)node_float(r->node, "clip", 0.0f)));
}

/* The place of a final state; scratch if the model does not use it. */
static int state_place(Lower *lower, Recurrent *r, int index, Operand *out)
{
    Type type = {.kind = TYPE_TENSOR, .dtype = r->x.dtype, .rank = 3};

    if (index < r->node->nout && r->node->out[index])
        return lower_output(lower, r->node, index, LAYOUT_ROW_MAJOR, out);
    type.dim[r->batch_first ? 1 : 0] = extent_const(r->directions);
    type.dim[r->batch_first ? 0 : 1] = r->batch;
    type.dim[2] = extent_const(r->hidden);
    *out = lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "state");
    return 0;
}

static int lower_cell(Lower *lower, const Node *node, const Cell *cell)
{
    const Type *w = &node->in[1]->type;
    DType       dtype = node->in[0]->type.dtype;
    Recurrent   r = {
          .cell = cell, .node = node, .batch_first = node_int(node, "layout", 0) != 0, .computed = dtype == DTYPE_F64};

    if (dtype != DTYPE_F32 && dtype != DTYPE_F64)
        return diag_unsupported(lower->diag, node->loc, "found %s elements, wanted float or double; cast the input",
                                dtype_info(dtype)->name);
    if (!type_is_static(w) || !type_is_static(&node->in[2]->type))
        return diag_unsupported(lower->diag, node->loc,
                                "the extents of W or R are known only while running; pin them with --dim");
    for (int i = 0; i < 8; i++)
        r.weight[i] = operand_absent(dtype);
    if (read_weights(lower, &r) < 0)
        return -1;
    r.directions = w->dim[0].max;
    r.hidden = w->dim[1].max / cell->gates;
    r.input = w->dim[2].max;
    r.time = node->in[0]->type.dim[r.batch_first ? 1 : 0];
    r.batch = node->in[0]->type.dim[r.batch_first ? 0 : 1];
    if (lower_input_dense(lower, node, 0, &r.x) < 0 || lower_output(lower, node, 0, LAYOUT_ROW_MAJOR, &r.y) < 0 ||
        state_place(lower, &r, 1, &r.h) < 0 || (cell->has_cell && state_place(lower, &r, 2, &r.c) < 0))
        return -1;
    r.lengths = operand_absent(DTYPE_I64);
    if (node->nin > 4 && node->in[4] && lower_indices(lower, node, 4, &r.lengths) < 0)
        return -1;
    for (int64_t d = 0; d < r.directions; d++)
        if (dtype == DTYPE_F64 ? wide_direction(lower, &r, d) < 0 : lower_direction(lower, &r, d) < 0)
            return -1;
    return 0;
}

int lower_lstm(Lower *lower, const Node *node)
{
    return lower_cell(lower, node, &lstm_cell);
}

int lower_gru(Lower *lower, const Node *node)
{
    return lower_cell(lower, node, &gru_cell);
}

int lower_rnn(Lower *lower, const Node *node)
{
    return lower_cell(lower, node, &rnn_cell);
}
