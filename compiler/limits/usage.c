/* usage.c - --max-ram, --max-flash and --max-stack: says which limit is exceeded and where, and what each remedy would
 * save. */
#include "limits/usage.h"

#include "device/device.h"
#include "emit/emit.h"
#include "emit/report.h"
#include "program/fetch.h"
#include "program/weight.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

Usage usage_of(const Program *program, const Plan *plan, const Options *options)
{
    Usage f = {.weights = plan->weight_bytes, .stack = -1, .flash = -1, .outside = ""};

    f.device = program->language == LANGUAGE_DEVICE ? plan->share[MEMORY_DEVICE].peak : 0;
    f.arena = plan->peak - f.device;
    f.state = program_place_state(program, NULL, NULL);
    f.inputs = options->plan.io_arena ? 0 : program_bytes_on_host(program, BUFFER_IN);
    f.outputs = options->plan.io_arena ? 0 : program_bytes_on_host(program, BUFFER_OUT);
    if (plan->swap) {
        f.kept = plan->swap->kept;
        f.loads = SWAP_STATE;
        f.constants = target_of(options)->roomy ? plan->weight_bytes : 0;
        f.weights += plan->swap->blocks + plan->swap->tables;
    }
    f.ram = f.arena + f.kept + f.constants + f.loads + f.state + f.inputs + f.outputs;
    return f;
}

void usage_add(Usage *usage, const Measure *measure, const Options *options)
{
    usage->stack = measure->stack;
    usage->outside = measure->outside;
    usage->flash = measure->code + measure->constants + (options->plan.weights == WEIGHTS_FILE ? usage->weights : 0);
    if (measure->stack > 0)
        usage->ram += measure->stack;
}

/* ----------------------------------------------------------------------------------------------------- who is alive */

typedef struct Alive {
    const Buffer *buffer;
    int64_t       bytes; /* live bytes of the buffer in the step */
} Alive;

static int compare_alive(const void *a, const void *b)
{
    const Alive *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->buffer->id - y->buffer->id;
}

/* The step that waits for a load that is begun, or waited for, in this one. */
static int step_of_load(const Program *program, int step)
{
    if (program->step[step].kind == STEP_FETCH)
        step = fetch_awaited_by(program, step);
    return step + 1 < program->nstep ? step + 1 : program->nstep - 1;
}

const char *usage_step_name(Arena *arena, const Program *program, int step)
{
    Text        text = text_new(arena);
    const Step *s = &program->step[step];

    if (s->kind == STEP_FETCH || s->kind == STEP_AWAIT)
        return arena_printf(arena, "a load for %s", usage_step_name(arena, program, step_of_load(program, step)));
    for (int i = 0; i < s->norigin; i++)
        text_printf(&text, "%s%s '%s'", i ? " + " : "", s->origin[i]->loc.op ? s->origin[i]->loc.op : "?",
                    s->origin[i]->loc.name ? s->origin[i]->loc.name : "");
    return text.data ? text.data : "a copy";
}

int usage_maker_of(const Program *program, int buffer)
{
    for (int s = 0; s < program->nstep; s++)
        for (int k = 0; k < program->step[s].noperand; k++)
            if (program->step[s].operand[k].buffer == buffer && (program->step[s].operand[k].access & OPERAND_WRITES))
                return s;
    return -1;
}

static const char *tensor_name(const Buffer *buffer)
{
    return buffer->value ? buffer->value->name : buffer->name;
}

static void tell_buffer(const Emission *e, const Alive *alive, int step, Text *lines)
{
    const Buffer *b = alive->buffer;
    int           maker = usage_maker_of(e->program, b->id);
    const char   *name = tensor_name(b);

    text_printf(lines, "  %" PRId64 " bytes: ", alive->bytes);
    if (b->kind == BUFFER_SCRATCH)
        text_printf(lines, "scratch '%s' of the step itself\n", b->name);
    else if (b->kind == BUFFER_DIMS)
        text_put(lines, "run-time extents\n");
    else if (b->kind == BUFFER_IN)
        text_printf(lines, "input '%s'\n", name);
    else if (maker >= 0)
        text_printf(lines, "'%s', made by step %d%s, %s\n", name, maker, maker == step ? " (this one)" : "",
                    usage_step_name(e->diag->arena, e->program, maker));
    else
        text_printf(lines, "'%s'\n", name);
}

/* Names the buffers that prove that the arena needs more than the bytes of its fullest step. */
static void tell_core(const Emission *e, int64_t in_use, Text *lines)
{
    const char *before = "";
    int         count = 0;

    for (int b = 0; b < e->program->nbuffer; b++)
        count += e->plan->core[b];
    if (e->plan->bound <= in_use || e->plan->nshare > 1 || !count)
        return;
    text_printf(lines, "no places of these %d alone need less than %" PRId64 " bytes:", count, e->plan->bound);
    for (int b = 0; b < e->program->nbuffer; b++)
        if (e->plan->core[b]) {
            text_printf(lines, "%s '%s'", before, tensor_name(&e->program->buffer[b]));
            before = ",";
        }
    text_put(lines, "\n");
}

/* Appends the buffers that are alive in a step, the largest first, of one of the plan's memories (-1: of all). Returns
 * the sum of their bytes. */
static int64_t tell_alive(const Emission *e, int share, int step, Text *lines)
{
    enum { MOST = 12 };
    const Program *program = e->program;
    Alive         *alive = arena_array(e->diag->arena, Alive, program->nbuffer + 1);
    int64_t        sum = 0;
    int            count = 0;

    for (int b = 0; b < program->nbuffer; b++)
        if (e->plan->offset[b] >= 0 && (share < 0 || e->plan->region[b] == share) &&
            buffer_live_bytes(&program->buffer[b], step) > 0) {
            alive[count] = (Alive){&program->buffer[b], buffer_live_bytes(&program->buffer[b], step)};
            sum += alive[count++].bytes;
        }
    qsort(alive, (size_t)count, sizeof *alive, compare_alive);
    for (int i = 0; i < count && i < MOST; i++)
        tell_buffer(e, &alive[i], step, lines);
    if (count > MOST)
        text_printf(lines, "  and %d smaller ones\n", count - MOST);
    return sum;
}

int usage_fullest_step(const Emission *e, int memory)
{
    int64_t most = -1;
    int     fullest = 0;

    if (memory < 0)
        report_in_use(e, &fullest);
    for (int s = 0; s < e->program->nstep && memory >= 0; s++) {
        int64_t bytes = 0;

        for (int b = 0; b < e->program->nbuffer; b++)
            if (e->plan->offset[b] >= 0 && e->plan->region[b] == memory)
                bytes += buffer_live_bytes(&e->program->buffer[b], s);
        if (bytes > most) {
            most = bytes;
            fullest = s;
        }
    }
    return fullest;
}

void usage_tell_memory(const Emission *e, int memory, Text *lines)
{
    static const char *const name[MEMORIES] = {[MEMORY_DEVICE] = "the device's memory",
                                               [MEMORY_PINNED] = "the host's page-locked memory",
                                               [MEMORY_HOST] = "the host's arena"};
    int                      step = usage_fullest_step(e, memory);
    Text                     alive = text_new(e->diag->arena);
    int64_t                  sum = tell_alive(e, memory, step, &alive);

    text_printf(lines, "most of %s is in use in step %d, %s; alive there, %" PRId64 " bytes in all:\n%s", name[memory],
                step, usage_step_name(e->diag->arena, e->program, step), sum, alive.size ? alive.data : "");
}

static void tell_peak(const Emission *e, Text *lines)
{
    const Program *program = e->program;
    Text           alive = text_new(e->diag->arena);
    const int64_t *in_use;
    int64_t        sum;
    int            step;

    if (!program->nstep)
        return;
    if (program->language == LANGUAGE_DEVICE) {
        for (int memory = 0; memory < MEMORIES; memory++)
            if (e->plan->share[memory].peak)
                usage_tell_memory(e, memory, lines);
        return;
    }
    in_use = report_in_use(e, &step);
    sum = tell_alive(e, -1, step, &alive);
    text_printf(lines, "the arena's peak is at step %d, %s; alive there, %" PRId64 " bytes in all", step,
                usage_step_name(e->diag->arena, program, step), in_use[step]);
    if (sum > in_use[step])
        text_printf(lines, " (%" PRId64 " of them shared by a result that follows its input)", sum - in_use[step]);
    text_printf(lines, ":\n%s", alive.size ? alive.data : "");
    tell_core(e, in_use[step], lines);
}

void usage_explain(const Usage *usage, const Emission *emission, const Remedy *remedy, Text *lines)
{
    tell_peak(emission, lines);
    if (!emission->plan->swap || usage->ram > emission->options->max_ram) /* else loads use all memory that they may */
        usage_tell_remedies(emission, usage, remedy, lines);
}

void usage_say(const Emission *emission, const Text *lines)
{
    for (char *line = lines->data, *end; line && (end = strchr(line, '\n')); line = end + 1)
        diag_limit(emission->diag, "%.*s", (int)(end - line), line);
}

void usage_complain(const Usage *usage, const Emission *emission, const Remedy *remedy)
{
    Text lines = text_new(emission->diag->arena);

    usage_explain(usage, emission, remedy, &lines);
    usage_say(emission, &lines);
}

/* ----------------------------------------------------------------------------------------------------------- limits */

void usage_list(const Usage *f, Text *text)
{
    text_printf(text, "%s %" PRId64, f->device ? "pinned and host" : "arena", f->arena);
    if (f->kept || f->constants)
        text_printf(text, ", weights that stay %" PRId64 ", small constants %" PRId64, f->kept, f->constants);
    if (f->loads)
        text_printf(text, ", state of loads %" PRId64, f->loads);
    text_printf(text, ", state %" PRId64 ", inputs %" PRId64 ", outputs %" PRId64, f->state, f->inputs, f->outputs);
}

/* The fullest step, where loads are planned within the limit: "at step 7, Conv 'conv1', 4825088 of activations and
 * 258048 of weights on their way". */
static const char *fullest_step(const Emission *e)
{
    int64_t weights = 0;
    int     step;
    int64_t all = report_in_use(e, &step)[step];

    for (int b = 0; b < e->program->nbuffer; b++)
        if (e->program->buffer[b].kind == BUFFER_BLOCK && e->plan->offset[b] >= 0)
            weights += buffer_live_bytes(&e->program->buffer[b], step);
    return arena_printf(e->diag->arena,
                        "at step %d, %s, %" PRId64 " of activations and %" PRId64 " of weights on their way", step,
                        usage_step_name(e->diag->arena, e->program, step), all - weights, weights);
}

static int check_ram(const Usage *f, const Emission *e, const Remedy *remedy)
{
    const char *stack = f->stack >= 0 ? arena_printf(e->diag->arena, "%" PRId64, f->stack) : "not counted, give --cc";
    Text        list = text_new(e->diag->arena);

    if (e->options->max_ram < 0 || f->ram <= e->options->max_ram)
        return 0;
    usage_list(f, &list);
    diag_limit(e->diag, "--max-ram: found %" PRId64 " bytes%s, wanted at most %" PRId64 ": %s%s%s, stack %s", f->ram,
               e->plan->swap ? " at least" : "", e->options->max_ram, e->plan->swap ? fullest_step(e) : "",
               e->plan->swap ? "; " : "", list.data, stack);
    usage_complain(f, e, remedy);
    return -1;
}

/* Reports buffers that fit into none of the memories of --region. */
static int check_regions(const Usage *f, const Emission *e, const Remedy *remedy)
{
    const PlanOptions *plan = &e->options->plan;
    int64_t            room = 0;

    if (!e->plan->overflow)
        return 0;
    for (int r = 0; r < plan->nregion; r++)
        room += plan->region[r].size;
    diag_limit(e->diag,
               "--region: found %" PRId64 " bytes in all, %" PRId64 " more than fit (%s); any plan needs %" PRId64
               " at least",
               room, e->plan->overflow, e->plan->status, e->plan->bound);
    for (int b = 0; b < e->program->nbuffer; b++) {
        const Buffer *buffer = &e->program->buffer[b];
        int           r = e->plan->region[b];

        if (e->plan->offset[b] >= 0 &&
            e->plan->offset[b] - e->plan->share[r].base + buffer_bytes(buffer) > plan->region[r].size)
            diag_limit(e->diag, "  '%s' of %" PRId64 " bytes fits nowhere beside the others", tensor_name(buffer),
                       buffer_bytes(buffer));
    }
    usage_complain(f, e, remedy);
    diag_limit(e->diag, "remedy: %" PRId64 " bytes more in '%s'", e->plan->overflow,
               plan->region[plan->nregion - 1].name);
    return -1;
}

static int check_flash(const Usage *f, const Emission *e)
{
    if (e->options->max_flash < 0 || f->flash <= e->options->max_flash)
        return 0;
    diag_limit(e->diag,
               "--max-flash: found %" PRId64 " bytes, wanted at most %" PRId64 ": weights %" PRId64
               ", code and tables %" PRId64,
               f->flash, e->options->max_flash, f->weights, f->flash - f->weights);
    if (e->options->code != CODE_SHARED)
        diag_limit(e->diag, "remedy: --code=shared keeps one copy of each kernel");
    if (e->plan->weight_form != WEIGHTS_FILE)
        diag_limit(e->diag, "remedy: --weights=file moves %" PRId64 " bytes of weights out of the program", f->weights);
    return -1;
}

static int check_stack(const Usage *f, const Emission *e)
{
    if (e->options->max_stack < 0 || (f->stack >= 0 && f->stack <= e->options->max_stack))
        return 0;
    if (f->stack < 0)
        return diag_usage(
            e->diag, "--max-stack: the compiler of --cc tells no stack usage; wanted one that knows -fstack-usage");
    diag_limit(e->diag,
               "--max-stack: found %" PRId64 " bytes in the deepest chain of calls, wanted at most %" PRId64 "%s%s",
               f->stack, e->options->max_stack, *f->outside ? "; not counted: " : "", f->outside);
    diag_limit(e->diag, "remedy: -Os in --cc or --code=shared makes frames smaller");
    return -1;
}

int usage_check(const Usage *usage, const Emission *emission, const Remedy *remedy)
{
    int failed = check_ram(usage, emission, remedy);

    failed |= device_limit_check(emission);
    failed |= check_regions(usage, emission, remedy);
    failed |= check_flash(usage, emission);
    failed |= check_stack(usage, emission);
    return failed;
}
