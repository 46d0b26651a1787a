/* summary.c - the plan's figures, a line for each kind. */
#include "limits/summary.h"

#include "device/device.h"
#include "infer/listed.h"
#include "program/flow.h"

#include <inttypes.h>

static void tell_queues(const Emission *e, Text *text)
{
    const Program *p = e->program;

    if (e->options->queues > 1 && p->nqueue < 2)
        text_put(text, "queues              1: more would gain nothing worth having, or not fit\n");
    else if (p->nqueue > 1)
        text_printf(text, "queues   %12d with %d waits, predicted to take %.2f of the time on one\n", p->nqueue,
                    p->nwait, p->queued_time / p->sum_time);
}

/* How much of a row of steps runs on the device. */
static void tell_row(const Program *p, Range row, Text *text)
{
    int     steps = 0, waits = 0, copies = 0, rows = 0, held;
    int64_t nodes;
    int     graphs = program_graphs(p, row, &held, &nodes);

    for (int s = row.begin; s < row.end; s++) {
        steps += step_on_device(&p->step[s]);
        waits += p->step[s].waits;
        copies += step_is_transfer(p, &p->step[s]);
    }
    for (int i = 0; i < p->ndecided; i++)
        rows += range_holds(row, p->decided[i].begin);
    text_printf(text, "%12d on the device; %d copies to it or back, %d waits of the host", steps, copies, waits);
    if (rows)
        text_printf(text, "; %d graph%s with branches", rows, rows > 1 ? "s" : "");
    if (program_has_graph(p))
        text_put(text,
                 program_has_open_extents(p) ? "; one graph for each size that comes twice in a row" : "; one graph");
    else if (graphs || rows)
        text_printf(text, "%s%d graph%s of %d steps", rows ? ", or else " : "; ", graphs, graphs != 1 ? "s" : "", held);
    if (nodes > held)
        text_printf(text, ", %" PRId64 " nodes with loops unrolled", nodes);
}

/* The memories of a program for a device, and how much of it runs there: of listed sizes, at each combination. */
static void tell_device(const Emission *e, Text *text)
{
    const Program   *p = e->program;
    const PlanShare *share = e->plan->share;
    Range           *row;
    int              count = flow_rows(p->arena, p, &row);

    text_printf(text, "device   %12" PRId64 " bytes, %" PRId64 " of them constants\n", share[MEMORY_DEVICE].peak,
                program_constant_bytes(p));
    text_printf(text, "pinned   %12" PRId64 " bytes of the host, page-locked\nhost     %12" PRId64 " bytes\n",
                share[MEMORY_PINNED].peak, share[MEMORY_HOST].peak);
    for (int i = 0; i < count; i++) {
        text_put(text, "steps    ");
        tell_row(p, row[i], text);
        text_printf(text, "%s%s\n", count > 1 ? "; at " : "", count > 1 ? listed_label(p->model, i) : "");
    }
}

static void tell_rows(const Swap *swap, Text *text)
{
    if (swap->rows)
        text_printf(text,
                    "tables   %12" PRId64 " bytes, of which a run loads up to %" PRId64 " rows, %" PRId64 " bytes\n",
                    swap->tables, swap->rows, swap->row_bytes);
}

static void tell_reads(const Swap *swap, Text *text)
{
    text_printf(text,
                "%" PRId64 " are read by a run in %d loads; predicted %.3f ms (resident %.3f, no schedule below "
                "%.3f)\n",
                swap->read, swap->loads, swap->time * 1e-6, swap->resident * 1e-6, swap->bound * 1e-6);
}

static void tell_swap(const Swap *swap, Text *text)
{
    if (!swap)
        return;
    tell_rows(swap, text);
    text_printf(text, "swap     %12" PRId64 " bytes of weights stay, ", swap->kept);
    if (!swap->nsize)
        tell_reads(swap, text);
    else
        text_put(text, "of which\n");
    for (int i = 0; i < swap->nsize; i++) {
        text_printf(text, "         %12" PRId64 " for %s, and ", swap->size[i].kept, swap->size[i].label);
        tell_reads(&swap->size[i], text);
    }
}

void summary_tell(const Emission *e, const Usage *usage, bool no_winograd, Text *text)
{
    const Plan *plan = e->plan;

    text_printf(text, "%s: %d steps, %d buffers\n", e->options->model, e->program->nstep, e->program->nbuffer);
    text_printf(text, "arena    %12" PRId64 " bytes, lower bound %" PRId64 ", by %s: %s%s\n", plan->peak, plan->bound,
                plan->planner, plan->status, plan->any_order ? "; no order of these steps needs less" : "");
    if (e->program->language == LANGUAGE_DEVICE)
        tell_device(e, text);
    for (int r = 0; r < e->options->plan.nregion && e->options->plan.ranked; r++)
        text_printf(text,
                    "region   %12" PRId64 " bytes of %" PRId64 " in %s, which serves %" PRId64 " bytes of traffic\n",
                    plan->share[r].peak, e->options->plan.region[r].size, e->options->plan.region[r].name,
                    plan->share[r].traffic);
    text_put(text, "planners");
    for (int i = 0; i < 4; i++)
        text_printf(text, "%s %s %" PRId64, i ? "," : "", plan_greedy_name[i], plan->greedy[i]);
    text_put(text, "\n");
    tell_queues(e, text);
    text_printf(text, "RAM      %12" PRId64 " bytes: ", usage->ram);
    usage_list(usage, text);
    if (usage->stack >= 0)
        text_printf(text, ", stack %" PRId64, usage->stack);
    if (usage->flash >= 0)
        text_printf(text, "\nflash    %12" PRId64 " bytes", usage->flash);
    text_printf(text, "\nweights  %12" PRId64 " bytes\n", usage->weights);
    tell_swap(plan->swap, text);
    if (no_winograd)
        text_put(text, e->options->plan.weights == WEIGHTS_SWAP
                           ? "kernels  without Winograd's, whose weights take longer to load than they save\n"
                           : "kernels  without Winograd's, which are faster, to stay within --max-ram\n");
}
