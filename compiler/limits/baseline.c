/* baseline.c - --baseline: compares the memory usage with an older report, and names the tensors that made it worse. */
#include "limits/usage.h"

#include "device/device.h"
#include "emit/report.h"
#include "support/command.h"
#include "support/int.h"
#include "support/json_read.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The member of a list of objects whose `key` is the text; NULL: none. */
static const JsonNode *find_text(const JsonNode *list, const char *key, const char *text)
{
    for (const JsonNode *item = list ? list->child : NULL; item; item = item->next) {
        const char *found = json_string(item, key);

        if (found && !strcmp(found, text))
            return item;
    }
    return NULL;
}

static const JsonNode *find_number(const JsonNode *list, const char *key, int64_t number)
{
    for (const JsonNode *item = list ? list->child : NULL; item; item = item->next)
        if (json_number(item, key, -1) == number)
            return item;
    return NULL;
}

/* The name of a buffer without its number, which changes when others are added. */
static const char *bare_name(const char *name)
{
    const char *colon = strchr(name, ':');

    return colon ? colon + 1 : name;
}

/* Finds a buffer without a tensor of the model in the old report: the buffer of the same name that a step of the same
 * node writes. */
static const JsonNode *find_unnamed(const JsonNode *report, const Emission *e, const Buffer *buffer)
{
    const JsonNode *steps = json_member(report, "steps"), *buffers = json_member(report, "buffers");
    int             maker = usage_maker_of(e->program, buffer->id);
    const Step     *step = maker < 0 ? NULL : &e->program->step[maker];
    const char     *node = step && step->norigin ? step->origin[0]->loc.name : NULL;

    for (const JsonNode *s = steps && node ? steps->child : NULL; s; s = s->next) {
        const JsonNode *writes = json_member(s, "writes");

        if (!find_text(json_member(s, "nodes"), "name", node))
            continue;
        for (const JsonNode *id = writes ? writes->child : NULL; id; id = id->next) {
            const JsonNode *other = find_number(buffers, "id", id->number);
            const char     *name = json_string(other, "name");

            if (name && !json_string(other, "tensor") && !strcmp(bare_name(name), bare_name(buffer->name)))
                return other;
        }
    }
    return NULL;
}

static const char *name_of(const Buffer *buffer)
{
    return buffer->value ? buffer->value->name : bare_name(buffer->name);
}

/* A buffer that is live at the new peak, as the old plan had it. */
typedef struct Before {
    const JsonNode *buffer; /* NULL: it had none of its own */
    const char     *place; /* place of the tensor, see the report's schema; NULL: the old model had none of this name */
    const char
        *parent; /* the buffer that it was a view of, or whose memory it took over; NULL: none, or without a name */
} Before;

static const char *tensor_of(const JsonNode *report, int64_t id)
{
    return json_string(find_number(json_member(report, "buffers"), "id", id), "tensor");
}

static Before look_up(const JsonNode *report, const Emission *e, const Buffer *buffer)
{
    const char     *tensor = buffer->value ? buffer->value->name : NULL;
    const JsonNode *over, *entry;
    Before          before = {0};

    if (!tensor) {
        before.buffer = find_unnamed(report, e, buffer);
        before.place = before.buffer ? "own" : NULL;
        return before;
    }
    before.buffer = find_text(json_member(report, "buffers"), "tensor", tensor);
    before.place = before.buffer ? "own" : NULL;
    entry = find_text(json_member(report, "tensors"), "name", tensor);
    if (entry)
        before.place = json_string(entry, "place");
    over = json_member(before.buffer, "over");
    if (over && over->child)
        before.parent = tensor_of(report, over->child->number);
    else if (entry && before.place && !strcmp(before.place, "view"))
        before.parent = tensor_of(report, json_number(entry, "buffer", -1));
    return before;
}

static bool takes_over(const Emission *e, const Buffer *buffer)
{
    for (int i = 0; i < e->program->noverlap; i++)
        if (e->program->overlap[i].a == buffer->id && report_takes_over(e, &e->program->overlap[i]))
            return true;
    return false;
}

static int last_step(const Buffer *buffer)
{
    int last = -1;

    for (int i = 0; i < buffer->nspan; i++)
        last = buffer->span[i].end > last ? buffer->span[i].end : last;
    return last - 1;
}

/* The first node of the step that used the buffer last in the old plan; NULL: not known. */
static const char *old_last_user(const JsonNode *report, const JsonNode *buffer)
{
    const JsonNode *spans = json_member(buffer, "spans"), *nodes;
    int64_t         last = -1;

    for (const JsonNode *s = spans ? spans->child : NULL; s; s = s->next)
        if (s->child && s->child->next && s->child->next->number > last)
            last = s->child->next->number;
    nodes = json_member(find_number(json_member(report, "steps"), "step", last - 1), "nodes");
    return nodes && nodes->child ? json_string(nodes->child, "name") : NULL;
}

/* The node that now uses the buffer last, if it is another one than before; NULL: the same, or not known. */
static const char *later_use_of(const JsonNode *report, const Emission *e, const Buffer *buffer, const Before *before)
{
    int         last = last_step(buffer);
    const char *old = old_last_user(report, before->buffer);
    const Step *step = last >= 0 && last < e->program->nstep ? &e->program->step[last] : NULL;

    for (int i = 0; step && i < step->norigin && old; i++)
        if (step->origin[i]->loc.name && !strcmp(step->origin[i]->loc.name, old))
            return NULL;
    if (!old || !step || !step->norigin)
        return NULL;
    return arena_printf(e->diag->arena, "was needed until '%s': it is now needed until step %d, %s", old, last,
                        usage_step_name(e->diag->arena, e->program, last));
}

/* "'name'", or what to say in its stead. */
static const char *quoted(const Emission *e, const char *name, const char *otherwise)
{
    return name ? arena_printf(e->diag->arena, "'%s'", name) : otherwise;
}

/* Why the buffer takes more memory than before; NULL: it does not. */
static const char *change_of(const Emission *e, const Buffer *buffer, const Before *before)
{
    Arena  *arena = e->diag->arena;
    int64_t bytes = json_number(before->buffer, "bytes", 0);

    if (!before->place)
        return "is new";
    if (!strcmp(before->place, "none"))
        return "was fused into its readers and never stored: it is stored now";
    if (!strcmp(before->place, "view"))
        return arena_printf(arena, "was a view of %s: it has memory of its own now",
                            quoted(e, before->parent, "another"));
    if (!strcmp(before->place, "joined"))
        return "was made in place, in the memory of an operand: it has memory of its own now";
    if (buffer_bytes(buffer) > bytes)
        return arena_printf(arena, "grew from %" PRId64 " to %" PRId64 " bytes", bytes, buffer_bytes(buffer));
    if (before->parent && !takes_over(e, buffer))
        return arena_printf(arena, "was made in the memory of '%s': it has memory of its own now", before->parent);
    return NULL;
}

/* Names inputs and outputs outside of the arena that are new or larger. */
static void tell_ports(const JsonNode *report, const Emission *e)
{
    for (int b = 0; b < e->program->nbuffer; b++) {
        const Buffer *buffer = &e->program->buffer[b];
        bool          input = buffer->kind == BUFFER_IN;
        Before        before;
        const char   *change;

        if ((!input && buffer->kind != BUFFER_OUT) || e->plan->offset[b] >= 0)
            continue;
        before = look_up(report, e, buffer);
        change = change_of(e, buffer, &before);
        if (change)
            diag_limit(e->diag, "  %s '%s' %s; %" PRId64 " bytes", input ? "input" : "output", name_of(buffer), change,
                       buffer_bytes(buffer));
    }
}

/* Says what changed for the tensors at the new peak of a memory (-1: of all); where nothing did, other tensors are live
 * at the same time now. */
static void tell_changes(const JsonNode *report, const Emission *e, int memory)
{
    const Program *program = e->program;
    const Buffer  *largest = NULL;
    int            step = usage_fullest_step(e, memory), told = 0;

    for (int b = 0; b < program->nbuffer && program->nstep; b++) {
        const Buffer *buffer = &program->buffer[b];
        int64_t       live = buffer_live_bytes(buffer, step);
        Before        before;
        const char   *change;

        if (e->plan->offset[b] < 0 || !live || (memory >= 0 && e->plan->region[b] != memory))
            continue;
        if (!largest || live > buffer_live_bytes(largest, step))
            largest = buffer;
        before = look_up(report, e, buffer);
        change = change_of(e, buffer, &before);
        if (!change)
            change = later_use_of(report, e, buffer, &before);
        if (!change)
            continue;
        told++;
        diag_limit(e->diag, "  %s '%s' %s; %" PRId64 " bytes of it are alive at the peak, step %d",
                   buffer->value ? "tensor" : "working memory", name_of(buffer), change, live, step);
    }
    if (!told && largest)
        diag_limit(e->diag, "  no tensor grew: others now live at the same time as '%s' (%" PRId64 " bytes, step %d)",
                   name_of(largest), buffer_live_bytes(largest, step), step);
}

static bool worse(const Emission *e, const char *what, int64_t before, int64_t now)
{
    if (before < 0 || now < 0 || now <= before)
        return false;
    diag_limit(e->diag, "--baseline: %s grew from %" PRId64 " to %" PRId64 " bytes", what, before, now);
    return true;
}

/* The peak that a memory of a device's program had in the old plan; `without`: where that was none for a device. */
static int64_t old_peak(const JsonNode *memory, const Emission *e, int which, int64_t without)
{
    return json_number(find_text(json_member(memory, "regions"), "name", e->options->plan.region[which].name), "peak",
                       without);
}

/* Says what changed in each memory that grew. */
static void tell_grown(const JsonNode *report, const Usage *usage, const Emission *e)
{
    const JsonNode *memory = json_member(report, "memory");

    tell_ports(report, e);
    if (e->program->language != LANGUAGE_DEVICE && usage->arena > json_number(memory, "arena", 0))
        tell_changes(report, e, -1);
    for (int m = 0; m < MEMORIES && e->program->language == LANGUAGE_DEVICE; m++)
        if (e->plan->share[m].peak > old_peak(memory, e, m, 0))
            tell_changes(report, e, m);
}

/* Compares the host's RAM and the device's memory, each by itself. */
static bool is_larger(const JsonNode *report, const Usage *usage, const Emission *e)
{
    const JsonNode *memory = json_member(report, "memory");
    int64_t         device = e->program->language == LANGUAGE_DEVICE ? old_peak(memory, e, MEMORY_DEVICE, -1) : -1;
    int64_t         ram = json_number(memory, "arena", 0) - int_max(device, 0);
    bool            larger;

    ram += json_number(memory, "state", 0) + json_number(memory, "inputs", 0) + json_number(memory, "outputs", 0);
    larger = worse(e, "RAM (arena, state, inputs and outputs)", ram,
                   usage->arena + usage->state + usage->inputs + usage->outputs);
    larger |= worse(e, "the device's memory", device, usage->device);
    if (larger)
        tell_grown(report, usage, e);
    return larger;
}

int baseline_check(const Usage *usage, const Emission *emission, const Remedy *remedy)
{
    const char     *path = emission->options->baseline;
    Diag           *diag = emission->diag;
    size_t          bytes = 0;
    char           *text = file_read_whole(diag->arena, path, &bytes);
    const JsonNode *report = text ? json_read(diag->arena, text, bytes) : NULL;
    const JsonNode *memory = json_member(report, "memory"), *code = json_member(report, "code");
    bool            failed;

    if (!text)
        return diag_usage(diag, "--baseline: cannot read '%s': %s", path, strerror(errno));
    if (json_number(memory, "arena", -1) < 0)
        return diag_usage(diag, "--baseline: '%s' is no report of occamyc; wanted a file written by --report", path);
    failed = is_larger(report, usage, emission);
    if (failed)
        usage_complain(usage, emission, remedy);
    failed |= worse(emission, "the weights", json_number(memory, "weights", -1), usage->weights);
    failed |= worse(emission, "the stack", json_number(code, "stack", -1), usage->stack);
    return failed ? -1 : 0;
}
