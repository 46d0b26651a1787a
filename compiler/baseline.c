/* baseline.c - --baseline: the figures of an older report held against this plan, and the tensors that made it worse. */
#include "figures.h"

#include "emit/report.h"

#include "support/command.h"
#include "support/json_read.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Bytes of the tensor (or nameless buffer) in the old report; -1: it was not there. */
static int64_t old_bytes(const JsonNode *report, const char *tensor, const char *name)
{
    const JsonNode *list = json_member(report, "buffers");

    for (const JsonNode *b = list ? list->child : NULL; b; b = b->next) {
        const char *old_tensor = json_string(b, "tensor"), *old_name = json_string(b, "name");

        if (tensor ? old_tensor && !strcmp(old_tensor, tensor) : old_name && !strcmp(old_name, name))
            return json_number(b, "bytes", 0);
    }
    return -1;
}

static int64_t live_in(const Buffer *buffer, int step)
{
    int64_t bytes = 0;

    for (int i = 0; i < buffer->nspan; i++)
        if (buffer->span[i].begin <= step && step < buffer->span[i].end)
            bytes += buffer->copies > 1 ? buffer_bytes(buffer) : buffer->span[i].hi - buffer->span[i].lo;
    return bytes;
}

/* Which of the tensors at the new peak are new, or larger than they were; where neither is true the overlap in time is new. */
static void tell_changes(const JsonNode *report, const Emission *e)
{
    const Program *program = e->program;
    const Buffer  *largest = NULL;
    int            step, told = 0;

    report_in_use(e, &step);
    for (int b = 0; b < program->nbuffer && program->nstep; b++) {
        const Buffer *buffer = &program->buffer[b];
        const char   *tensor = buffer->value ? buffer->value->name : NULL;
        int64_t       before = old_bytes(report, tensor, buffer->name), live = live_in(buffer, step);

        if (e->plan->offset[b] < 0 || !live)
            continue;
        if (!largest || live > live_in(largest, step))
            largest = buffer;
        if (before >= buffer_bytes(buffer))
            continue;
        told++;
        if (before < 0)
            diag_limit(e->diag, "  tensor '%s' is new: %" PRId64 " bytes alive at the peak (step %d)", tensor ? tensor : buffer->name,
                       live, step);
        else
            diag_limit(e->diag, "  tensor '%s' grew from %" PRId64 " to %" PRId64 " bytes (alive at the peak, step %d)",
                       tensor ? tensor : buffer->name, before, buffer_bytes(buffer), step);
    }
    if (!told && largest)
        diag_limit(e->diag, "  no tensor grew: others now live at the same time as '%s' (%" PRId64 " bytes, step %d)",
                   largest->value ? largest->value->name : largest->name, live_in(largest, step), step);
}

static bool worse(const Emission *e, const char *what, int64_t before, int64_t now)
{
    if (before < 0 || now < 0 || now <= before)
        return false;
    diag_limit(e->diag, "--baseline: %s grew from %" PRId64 " to %" PRId64 " bytes", what, before, now);
    return true;
}

int baseline_check(const Figures *figures, const Emission *emission)
{
    const char     *path = emission->options->baseline;
    Diag           *diag = emission->diag;
    size_t          bytes = 0;
    char           *text = file_read_whole(diag->arena, path, &bytes);
    const JsonNode *report = text ? json_read(diag->arena, text, bytes) : NULL;
    const JsonNode *memory = json_member(report, "memory"), *code = json_member(report, "code");
    int64_t         old_arena = json_number(memory, "arena", -1), old_ram;
    bool            failed;

    if (!text)
        return diag_usage(diag, "--baseline: cannot read '%s': %s", path, strerror(errno));
    if (old_arena < 0)
        return diag_usage(diag, "--baseline: '%s' is no report of occamyc; wanted a file written by --report", path);
    old_ram = old_arena + json_number(memory, "state", 0) + json_number(memory, "inputs", 0) + json_number(memory, "outputs", 0);
    failed = worse(emission, "RAM (arena, state, inputs and outputs)", old_ram,
                   figures->arena + figures->state + figures->inputs + figures->outputs);
    if (failed)
        tell_changes(report, emission);
    failed |= worse(emission, "the weights", json_number(memory, "weights", -1), figures->weights);
    failed |= worse(emission, "the stack", json_number(code, "stack", -1), figures->stack);
    return failed ? -1 : 0;
}
