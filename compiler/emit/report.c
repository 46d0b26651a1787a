/* report.c - the report of --report: what was planned, buffer by buffer and step by step, as JSON. */
#include "emit/report.h"

#include "device/device.h"
#include "kernels/cost.h"
#include "plan/plan.h"
#include "program/fetch.h"
#include "support/json.h"
#include "support/version.h"

#include <stdio.h>
#include <string.h>

/* Raised when a field changes its meaning or goes; new fields do not raise it. */
enum { REPORT_VERSION = 1 };

static const char *const kind_names[] = {
    [BUFFER_ACT] = "activation", [BUFFER_SCRATCH] = "scratch",   [BUFFER_DIMS] = "extents",
    [BUFFER_WEIGHT] = "weight",  [BUFFER_STATE] = "state",       [BUFFER_DEVICE_STATE] = "state",
    [BUFFER_BLOCK] = "block",    [BUFFER_RESIDENT] = "resident", [BUFFER_TABLE] = "table",
    [BUFFER_IN] = "input",       [BUFFER_OUT] = "output",
};
_Static_assert(BUFFER_OUT == 10, "kind_names has a word for each BufferKind");

static void put_extents(Json *json, const char *key, int rank, const Extent *dim)
{
    json_list(json, key);
    json_flat(json);
    for (int i = 0; i < rank; i++)
        json_int(json, NULL, dim[i].max);
    json_close(json, ']');
}

static void put_model(Json *json, const Emission *e)
{
    const Model *model = e->program->model;
    const char  *slash = model->path ? strrchr(model->path, '/') : NULL;
    char         hex[65];

    for (int i = 0; i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", model->sha256[i]);
    json_object(json, "model");
    json_text(json, "file", slash ? slash + 1 : model->path);
    json_text(json, "sha256", hex);
    json_text(json, "name", e->name);
    json_close(json, '}');
}

/* The buffers that lie in a memory. */
static void put_held(Json *json, const Emission *e, int memory)
{
    json_list(json, "buffers");
    for (int b = 0; b < e->program->nbuffer; b++)
        if (e->plan->offset[b] >= 0 && e->plan->region[b] == memory)
            json_int(json, NULL, b);
    json_close(json, ']');
}

static void put_regions(Json *json, const Emission *e)
{
    const PlanOptions *options = &e->options->plan;

    if (!options->nregion)
        return;
    json_list(json, "regions");
    for (int r = 0; r < options->nregion; r++) {
        json_object(json, NULL);
        json_flat(json);
        json_text(json, "name", options->region[r].name);
        if (options->ranked || options->region[r].size < MEMORY_BYTES)
            json_int(json, "size", options->region[r].size);
        json_int(json, "align", e->plan->share[r].align);
        json_int(json, "peak", e->plan->share[r].peak);
        if (options->ranked)
            json_int(json, "traffic", e->plan->share[r].traffic);
        json_int(json, "base", e->plan->share[r].base);
        put_held(json, e, r);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* The steps that the bound is about. */
static void put_binding(Json *json, const Swap *swap)
{
    if (swap->first < 0)
        return;
    json_object(json, "binding");
    json_int(json, "first", swap->first);
    json_int(json, "last", swap->last);
    json_int(json, "bytes", swap->wanted);
    json_int(json, "early", swap->early);
    json_close(json, '}');
}

static void put_stalls(Json *json, const Swap *swap)
{
    json_list(json, "stalls");
    for (int i = 0; i < swap->nstall; i++) {
        json_object(json, NULL);
        json_flat(json);
        json_int(json, "step", swap->stall[i].step);
        json_int(json, "block", swap->stall[i].block);
        json_int(json, "ns", (int64_t)(swap->stall[i].time + 0.5));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_curve(Json *json, const Swap *swap)
{
    json_list(json, "curve");
    for (int i = 0; i < swap->ncurve; i++) {
        const SwapPoint *point = &swap->curve[i];

        json_object(json, NULL);
        json_flat(json);
        json_int(json, "ram", point->ram);
        json_int(json, "arena", point->arena);
        json_int(json, "kept", point->kept);
        json_int(json, "read", point->read);
        json_int(json, "predicted_ns", (int64_t)point->time);
        json_int(json, "bound_ns", (int64_t)point->bound);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* The loads of a run with these sizes. */
static void put_runs(Json *json, const Swap *swap)
{
    json_int(json, "kept", swap->kept);
    json_int(json, "read", swap->read);
    json_int(json, "rows", swap->rows);
    json_int(json, "row_bytes", swap->row_bytes);
    json_int(json, "loads", swap->loads);
    json_int(json, "predicted_ns", (int64_t)swap->time);
    json_int(json, "resident_ns", (int64_t)swap->resident);
    json_int(json, "bound_ns", (int64_t)swap->bound);
    put_binding(json, swap);
    put_stalls(json, swap);
}

static void put_sizes(Json *json, const Swap *swap)
{
    if (!swap->nsize)
        return;
    json_list(json, "sizes");
    for (int i = 0; i < swap->nsize; i++) {
        json_object(json, NULL);
        json_text(json, "sizes", swap->size[i].label);
        put_runs(json, &swap->size[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_swap(Json *json, const Swap *swap)
{
    if (!swap)
        return;
    json_object(json, "swap");
    put_runs(json, swap);
    json_int(json, "blocks", swap->blocks);
    json_int(json, "tables", swap->tables);
    json_int(json, "file", swap->file);
    json_int(json, "ahead", swap->ahead);
    json_int(json, "rate", (int64_t)(swap->loader.rate * 1e9 + 0.5));
    json_int(json, "latency_ns", (int64_t)(swap->loader.latency + 0.5));
    json_int(json, "align", swap->loader.align);
    json_int(json, "least", swap->least);
    json_int(json, "most", swap->most);
    put_curve(json, swap);
    put_sizes(json, swap);
    json_close(json, '}');
}

static void put_memory(Json *json, const Emission *e)
{
    static const char *const form[] = {[WEIGHTS_AUTO] = "auto",
                                       [WEIGHTS_INLINE] = "inline",
                                       [WEIGHTS_OBJECT] = "object",
                                       [WEIGHTS_FILE] = "file",
                                       [WEIGHTS_SWAP] = "swap"};
    const Plan              *plan = e->plan;
    bool                     io_arena = e->options->plan.io_arena != 0;
    _Static_assert(WEIGHTS_SWAP == 4, "form has a word for each WeightForm");

    json_object(json, "memory");
    json_int(json, "arena", plan->peak);
    json_int(json, "arena_align", plan->align);
    json_int(json, "lower_bound", plan->bound);
    json_list(json, "core");
    json_flat(json);
    for (int b = 0; b < e->program->nbuffer; b++)
        if (plan->core[b])
            json_int(json, NULL, b);
    json_close(json, ']');
    json_text(json, "status", plan->status);
    json_text(json, "planner", plan->planner);
    put_regions(json, e);
    json_object(json, "planners");
    for (int i = 0; i < 4; i++)
        json_int(json, plan_greedy_name[i], plan->greedy[i]);
    json_close(json, '}');
    json_int(json, "state", plan->state_bytes);
    json_int(json, "inputs", io_arena ? 0 : program_bytes_on_host(e->program, BUFFER_IN));
    json_int(json, "outputs", io_arena ? 0 : program_bytes_on_host(e->program, BUFFER_OUT));
    json_int(json, "weights", plan->weight_bytes);
    json_text(json, "weights_form", form[plan->weight_form]);
    put_swap(json, plan->swap);
    json_close(json, '}');
}

static void put_size(Json *json, const char *key, int64_t value)
{
    if (value >= 0)
        json_int(json, key, value);
}

static void put_code(Json *json, const Emission *e, const Measure *m)
{
    json_object(json, "code");
    json_list(json, "libc");
    json_flat(json);
    for (int i = 0; i < e->nlibc; i++)
        json_text(json, NULL, e->libc[i]);
    json_close(json, ']');
    if (m) {
        json_text(json, "compiler", e->options->cc);
        put_size(json, "stack", m->stack);
        put_size(json, "text", m->code);
        put_size(json, "constants", m->constants);
        put_size(json, "data", m->writable);
        json_text(json, "outside", m->outside);
    }
    json_close(json, '}');
}

static void put_core(Json *json, const Emission *e)
{
    const Core *core = report_core(e);

    json_object(json, "core");
    json_text(json, "name", core->name);
    json_int(json, "lanes", core->lanes);
    json_int(json, "mflops", (int64_t)(2000.0 * core->lanes * core->rate + 0.5));
    json_close(json, '}');
}

const int64_t *report_in_use(const Emission *e, int *peak)
{
    const int64_t *in_use = program_in_use(e->program, e->plan);

    *peak = 0;
    for (int step = 0; step < e->program->nstep; step++)
        if (in_use[step] > in_use[*peak])
            *peak = step;
    return in_use;
}

static void put_peak(Json *json, const Emission *e, const int64_t *in_use, int step)
{
    const Program *p = e->program;

    json_object(json, "peak");
    json_int(json, "step", step);
    json_int(json, "live", in_use[step]);
    json_list(json, "buffers");
    json_flat(json);
    for (int i = 0; i < p->nbuffer; i++)
        for (int k = 0; k < p->buffer[i].nspan && e->plan->offset[i] >= 0; k++)
            if (p->buffer[i].span[k].begin <= step && step < p->buffer[i].span[k].end) {
                json_int(json, NULL, i);
                break;
            }
    json_close(json, ']');
    json_close(json, '}');
}

void report_keys(Json *json, const Keys *keys)
{
    json_list(json, "keys");
    json_flat(json);
    for (int64_t i = 0; i < keys->count; i++)
        if (keys->dtype == DTYPE_TEXT)
            json_text(json, NULL, keys->text[i]);
        else
            json_int(json, NULL, keys->ints[i]);
    json_close(json, ']');
}

static void put_ports(Json *json, const char *key, const Port *port, int count)
{
    json_list(json, key);
    for (int i = 0; i < count; i++) {
        json_object(json, NULL);
        json_flat(json);
        json_text(json, "name", port[i].value->name);
        json_text(json, "member", port[i].name);
        json_text(json, "type", dtype_info(port[i].type.dtype)->name);
        put_extents(json, "extents", port[i].type.rank < 0 ? 0 : port[i].type.rank, port[i].type.dim);
        if (port[i].type.keys && port[i].type.keys->count >= 0)
            report_keys(json, port[i].type.keys);
        json_int(json, "buffer", port[i].buffer);
        json_close(json, '}');
    }
    json_close(json, ']');
}

bool report_takes_over(const Emission *e, const Overlap *overlap)
{
    const int64_t *offset = e->plan->offset;
    const Buffer  *buffer = e->program->buffer;

    return offset[overlap->a] >= 0 && offset[overlap->b] >= 0 &&
           offset[overlap->a] < offset[overlap->b] + buffer[overlap->b].size &&
           offset[overlap->b] < offset[overlap->a] + buffer[overlap->a].size;
}

static void put_over(Json *json, const Emission *e, int id)
{
    const Program *p = e->program;

    json_list(json, "over");
    for (int i = 0; i < p->noverlap; i++)
        if (p->overlap[i].a == id && report_takes_over(e, &p->overlap[i]))
            json_int(json, NULL, p->overlap[i].b);
    json_close(json, ']');
}

static void put_buffer(Json *json, const Emission *e, int id)
{
    const Buffer *b = &e->program->buffer[id];

    json_object(json, NULL);
    json_flat(json);
    json_int(json, "id", id);
    json_text(json, "name", b->name);
    json_text(json, "tensor", b->value ? b->value->name : NULL);
    json_text(json, "kind", kind_names[b->kind]);
    json_text(json, "type", dtype_info(b->dtype)->name);
    json_int(json, "bytes", buffer_bytes(b));
    json_int(json, "align", b->align);
    if (e->plan->offset[id] >= 0) {
        json_int(json, "offset", e->plan->offset[id]);
        if (e->options->plan.nregion)
            json_int(json, "region", e->plan->region[id]);
        json_list(json, "spans");
        for (int k = 0; k < b->nspan; k++) {
            json_list(json, NULL);
            json_int(json, NULL, b->span[k].begin);
            json_int(json, NULL, b->span[k].end);
            json_int(json, NULL, b->span[k].lo);
            json_int(json, NULL, b->span[k].hi);
            json_close(json, ']');
        }
        json_close(json, ']');
        put_over(json, e, id);
    }
    if (b->kind == BUFFER_BLOCK || b->kind == BUFFER_TABLE)
        json_int(json, "from", e->plan->stored[id]);
    if (b->kind == BUFFER_BLOCK && b->kept >= 0)
        json_int(json, "kept", b->kept);
    json_close(json, '}');
}

/* The place of a tensor: a buffer of its own, a part of another's, the buffer of an operand with which it was
 * coalesced, or none. */
static const char *place_of(const Emission *e, const Value *value, int home)
{
    const Buffer *buffer = program_buffer(e->program, home);

    if (!buffer)
        return "none";
    if (buffer->value != value)
        return "view";
    return buffer->kind == BUFFER_ACT && e->plan->offset[home] < 0 ? "joined" : "own";
}

/* Lists the place of each tensor that is no constant; --baseline compares it with a later plan. */
static void put_tensors(Json *json, const Emission *e)
{
    const Program *p = e->program;

    json_list(json, "tensors");
    for (int i = 0; i < p->nhome; i++) {
        const Value *value = p->model->value[i];

        if (value->data || p->home[i] == HOME_OF_NOTHING)
            continue;
        json_object(json, NULL);
        json_flat(json);
        json_text(json, "name", value->name);
        if (p->home[i] >= 0)
            json_int(json, "buffer", p->home[i]);
        json_text(json, "place", place_of(e, value, p->home[i]));
        json_close(json, '}');
    }
    json_close(json, ']');
}

void report_json(const Emission *e, const Measure *measure, Text *out)
{
    Json           json = json_new(out);
    int            peak;
    const int64_t *in_use = report_in_use(e, &peak);

    json_object(&json, NULL);
    json_int(&json, "version", REPORT_VERSION);
    json_text(&json, "generator", "occamyc " OCCAMYC_VERSION);
    json_text(&json, "options", e->options->command_line ? e->options->command_line : "");
    put_model(&json, e);
    put_memory(&json, e);
    put_code(&json, e, measure);
    put_core(&json, e);
    put_peak(&json, e, in_use, peak);
    put_ports(&json, "inputs", e->program->in, e->program->nin);
    put_ports(&json, "outputs", e->program->out, e->program->nout);
    json_list(&json, "buffers");
    for (int i = 0; i < e->program->nbuffer; i++)
        put_buffer(&json, e, i);
    json_close(&json, ']');
    put_tensors(&json, e);
    report_steps(&json, e, in_use);
    json_close(&json, '}');
}
