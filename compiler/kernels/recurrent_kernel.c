/* recurrent_kernel.c - LSTM, GRU and simple recurrent cells. */
#include "kernels/record.h"

#include <string.h>

/* Units of a panel of the recurrence matrix; nanoseconds of a time step below which its slices cost more than they
 * save: each waits for the others in every step. */
enum { PANEL = 32, LEAST_STEP = 3000 };

/* Products of one time step; the activations of a unit count as 40. */
static double products_of_step(const Step *step)
{
    double hidden = (double)step_value(step, "hidden", 0), gates = 3.0;

    if (strcmp(step->kernel->name, "gru_f32"))
        gates = strcmp(step->kernel->name, "lstm_f32") ? 1.0 : 4.0;
    return (double)step_value(step, "batch", 0) * gates * hidden * (hidden + 40.0);
}

static double work_step(const Step *step)
{
    return products_of_step(step) / 20.0;
}

static double work_recurrent(const Step *step)
{
    return (double)step_value(step, "time", 0) * work_step(step);
}

/* The matrix is read in every step, from a cache: twice the time of its products. */
static double operations_recurrent(const Core *core, const Step *step)
{
    return 2.0 * (double)step_value(step, "time", 0) * products_of_step(step) / core->lanes;
}

/* Hidden units, in panels. */
static void offer_units(const Step *step, Cuts *cuts)
{
    Extent hidden = step_extent(step, "hidden", 0);

    if (hidden.max % PANEL == 0 && work_step(step) >= LEAST_STEP)
        cut_offer(cuts, 0, hidden, PANEL, 1.0);
}

static void take_units(Step *slice, const UnitRange *range)
{
    static const char *const moved[] = {"y", "h", "c", "xg"};

    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
        if (step_operand_of(slice, moved[i]))
            slice_move_named(slice, range, moved[i], extent_const(1));
    slice_set(slice, "first", 0, range->lo);
    slice_set(slice, "units", 0, range->count);
}

/* One for each time step, two where a GRU's last gate needs the reset states of all units, and one for the final
 * states. */
static Extent rounds_recurrent(Model *model, const Step *step)
{
    bool   twice = !strcmp(step->kernel->name, "gru_f32") && !step_value(step, "before", 0);
    Extent steps = extent_op(model, EXPR_MUL, step_extent(step, "time", 0), extent_const(twice ? 2 : 1));

    return extent_op(model, EXPR_ADD, steps, extent_const(1));
}

const KernelRecord kernel_recurrent = {.cut = {offer_units, take_units, work_recurrent, false},
                                       .rounds = rounds_recurrent,
                                       .fails_by = "lengths",
                                       .operations = operations_recurrent,
                                       .line = {{"batch", "y=yb, h=sb, c=cb, xg=gb, lengths=1"}}};
