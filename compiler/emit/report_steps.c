/* report_steps.c - the part of the report that is about steps: what each does, and who runs it. */
#include "emit/report.h"

#include "device/device.h"
#include "device/gpu.h"
#include "emit/lanes.h"
#include "infer/listed.h"
#include "kernels/cost.h"
#include "program/fetch.h"
#include "program/flow.h"
#include "support/int.h"
#include "support/json.h"

static const char *const step_names[] = {
    [STEP_KERNEL] = "kernel", [STEP_SET] = "set",     [STEP_READ] = "read",
    [STEP_CHECK] = "check",   [STEP_FETCH] = "fetch", [STEP_AWAIT] = "await",
    [STEP_COPY] = "copy",     [STEP_IF] = "if",       [STEP_LOOP] = "loop",
};
_Static_assert(STEP_LOOP == 8, "step_names has a word for each StepKind");

const Core *report_core(const Emission *e)
{
    return target_core(target_of(e->options));
}

static void put_accesses(Json *json, const char *key, const Step *step, int access)
{
    json_list(json, key);
    for (int i = 0; i < step->noperand; i++)
        if (step->operand[i].buffer >= 0 && step->operand[i].access & access)
            json_int(json, NULL, step->operand[i].buffer);
    json_close(json, ']');
}

/* Puts the work of each queue and the predicted time of a run. */
static void put_queues(Json *json, const Emission *e)
{
    const Program *p = e->program;
    const double  *time = cost_steps(report_core(e), p);

    if (p->nqueue < 2)
        return;
    json_object(json, "queues");
    json_int(json, "predicted_ns", (int64_t)p->queued_time);
    json_int(json, "one_ns", (int64_t)p->sum_time);
    json_int(json, "path_ns", (int64_t)p->path_time);
    json_int(json, "waits", p->nwait);
    json_int(json, "implied", p->nimplied);
    json_list(json, "queue");
    for (int q = 0; q < p->nqueue; q++) {
        double sum = 0.0;
        int    steps = 0;

        for (int s = 0; s < p->nstep; s++) {
            sum += p->step[s].queue == q ? time[s] : 0.0;
            steps += p->step[s].queue == q;
        }
        json_object(json, NULL);
        json_flat(json);
        json_int(json, "steps", steps);
        json_int(json, "predicted_ns", (int64_t)sum);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

/* Puts the waits of a step. */
static void put_waits(Json *json, const Emission *e, int index)
{
    const Program *p = e->program;

    if (p->nqueue < 2)
        return;
    json_int(json, "queue", p->step[index].queue);
    json_list(json, "after");
    for (int i = 0; i < p->nwait; i++)
        if (p->wait[i].step == index)
            json_int(json, NULL, p->wait[i].of);
    json_close(json, ']');
}

/* Puts who runs which steps. */
static void put_lanes(Json *json, const Program *p)
{
    if (!lane_count(p))
        return;
    json_list(json, "lanes");
    for (int lane = 0; lane < lane_count(p); lane++) {
        json_object(json, NULL);
        json_flat(json);
        json_text(json, "name", lane_name(p, lane));
        json_list(json, "steps");
        for (int s = 0; s < p->nstep; s++)
            if (lane_of(p, &p->step[s]) == lane)
                json_int(json, NULL, s);
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

static int64_t bytes_into(const Program *p, const Step *step, int memory)
{
    return step_is_transfer(p, step) && buffer_memory(p, step->operand[0].buffer) == memory ? copy_bytes(p, step) : 0;
}

static int64_t bytes_to_device(const Program *p, const Step *step)
{
    return bytes_into(p, step, MEMORY_DEVICE);
}

static int64_t bytes_to_host(const Program *p, const Step *step)
{
    return bytes_into(p, step, MEMORY_PINNED);
}

static int64_t waits_before(const Program *p, const Step *step)
{
    (void)p;
    return step->waits;
}

/* The sum over all steps, of listed sizes over those of the sizes with the most. */
static int64_t most_of(const Program *p, int64_t (*amount)(const Program *p, const Step *step))
{
    Range  *row;
    int     count = flow_rows(p->arena, p, &row);
    int64_t most = 0;

    for (int i = 0; i < count; i++) {
        int64_t sum = 0;

        for (int s = row[i].begin; s < row[i].end; s++)
            sum += amount(p, &p->step[s]);
        most = int_max(most, sum);
    }
    return most;
}

static void put_ranges(Json *json, const char *name, const Range *range, int count)
{
    if (!count)
        return;
    json_list(json, name);
    for (int i = 0; i < count; i++) {
        json_list(json, NULL);
        json_flat(json);
        json_int(json, NULL, range[i].begin);
        json_int(json, NULL, range[i].end);
        json_close(json, ']');
    }
    json_close(json, ']');
}

static void put_device(Json *json, const Emission *e)
{
    const Program *p = e->program;
    const Gpu     *gpu = gpu_find(e->options->gpu);
    int            held;
    int64_t        nodes;

    if (p->language != LANGUAGE_DEVICE)
        return;
    json_object(json, "device");
    json_text(json, "gpu", gpu->name);
    if (options_factors(e->options))
        json_text(json, "factors",
                  options_factors(e->options)); /* of convolutions and products: not the processor's bits */
    json_int(json, "constants", program_constant_bytes(p));
    json_int(json, "to_device", most_of(p, bytes_to_device));
    json_int(json, "to_host", most_of(p, bytes_to_host));
    json_int(json, "waits", most_of(p, waits_before));
    if (program_has_graph(p) && !e->options->no_graph) {
        json_list(json, "graph");
        json_flat(json);
        json_int(json, NULL, p->graph.begin);
        json_int(json, NULL, p->graph.end);
        json_close(json, ']');
    }
    put_ranges(json, "graphs", p->stretch, p->nstretch);
    if (program_graphs(p, (Range){0, p->nstep}, &held, &nodes))
        json_int(json, "nodes", nodes);
    put_ranges(json, "decided", p->decided, p->ndecided);
    json_close(json, '}');
}

/* Puts how a step runs on the device, or why the host runs it, and that the host waits before it. */
static void put_home(Json *json, const Program *p, const Step *step)
{
    static const char *const form[] = {[HOME_TWIN] = "twin", [HOME_UNITS] = "units", [HOME_ONE] = "one"};

    if (p->language != LANGUAGE_DEVICE)
        return;
    if (step_on_device(step))
        json_text(json, "form", form[step->home]);
    else if (step->kind == STEP_KERNEL && step->of_host)
        json_text(json, "host", step->of_host);
    if (step->waits)
        json_int(json, "waits", 1);
    if (step->captured)
        json_int(json, "unrolled", 1);
}

static void put_load(Json *json, const Program *p, int index)
{
    if (p->step[index].kind != STEP_FETCH)
        return;
    json_int(json, "load", fetch_number(p, index));
    json_int(json, "awaited_by", fetch_awaited_by(p, index));
}

static void put_step(Json *json, const Emission *e, int index, int64_t live)
{
    const Step *step = &e->program->step[index];

    json_object(json, NULL);
    json_flat(json);
    json_int(json, "step", index);
    json_text(json, "kind", step_names[step->kind]);
    if (step->kernel)
        json_text(json, "kernel", step->kernel->name);
    json_list(json, "nodes");
    for (int i = 0; i < step->norigin; i++) {
        json_object(json, NULL);
        json_int(json, "node", step->origin[i]->loc.node);
        json_text(json, "op", step->origin[i]->loc.op);
        json_text(json, "name", step->origin[i]->loc.name);
        json_close(json, '}');
    }
    json_close(json, ']');
    put_accesses(json, "reads", step, OPERAND_READS);
    put_accesses(json, "writes", step, OPERAND_WRITES);
    put_waits(json, e, index);
    put_load(json, e->program, index);
    put_home(json, e->program, step);
    json_int(json, "live", live);
    json_int(json, "predicted_ns", (int64_t)cost_step(report_core(e), e->program, step));
    json_close(json, '}');
}

/* Puts which steps a run takes at each combination of listed sizes. */
static void put_sizes(Json *json, const Program *p)
{
    Range *row;
    int    count = flow_rows(p->arena, p, &row);

    if (count < 2)
        return;
    json_list(json, "sizes");
    for (int i = 0; i < count; i++) {
        json_object(json, NULL);
        json_flat(json);
        json_text(json, "sizes", listed_label(p->model, i));
        json_int(json, "begin", row[i].begin);
        json_int(json, "end", row[i].end);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void report_steps(Json *json, const Emission *e, const int64_t *in_use)
{
    put_sizes(json, e->program);
    put_queues(json, e);
    put_lanes(json, e->program);
    put_device(json, e);
    json_list(json, "steps");
    for (int i = 0; i < e->program->nstep; i++)
        put_step(json, e, i, in_use[i]);
    json_close(json, ']');
}
