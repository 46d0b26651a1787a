/* verify.c - --verify: the generated code in a folder of its own, run by its host program on stored inputs. */
#include "trial/verify.h"

#include "emit/report.h"
#include "infer/listed.h"
#include "program/kernels.h"
#include "support/command.h"
#include "support/files.h"
#include "support/json.h"
#include "trial/build.h"
#include "trial/compare.h"
#include "trial/device_build.h"
#include "trial/python.h"
#include "trial/stored.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Verify {
    const Emission *emission;
    Arena          *arena;
    Diag           *diag;
    const char     *folder; /* temporary */
    Text           *report;
    int             wrong; /* outputs that differ */
    const Node     *first; /* the first node, in the graph's order, whose value differs; NULL: none */
    const char     *part;  /* the name of its differing value */
} Verify;

/* ------------------------------------------------------------------------------------------------------------ nodes */

int verify_expose(Model *model, const Options *options, Diag *diag)
{
    Graph *graph = model->main;

    if (!options->verify || options->output || options->main)
        return diag_usage(diag,
                          "--verify-nodes goes with --verify, and without -o and --main: its code keeps every value");
    for (int i = 0; i < graph->nnode; i++)
        for (int k = 0; k < graph->node[i]->nout; k++) {
            Value *value = graph->node[i]->out[k];

            if (value && !value->data && value->type.kind == TYPE_TENSOR && !graph_has_output(graph, value))
                ARENA_PUSH(model->arena, graph->out, graph->nout, graph->cout, value);
        }
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------- running */

static int write_raw(const Verify *v, const char *name, const Value *tensor)
{
    Text raw = text_new(v->arena);

    stored_raw(&raw, tensor);
    return files_write(v->folder, name, raw.data, raw.size, v->diag);
}

/* "FILE:2x3" for one tensor; the extents are left out for rank 0. */
static void put_tensor(Text *line, const char *file, const Type *type)
{
    text_put(line, file);
    for (int i = 0; i < type->rank; i++)
        text_printf(line, "%s%" PRId64, i ? "x" : ":", type->dim[i].max);
}

/* The stored value of a port; a map as the tensor that represents it. */
static int read_stored(Verify *v, const char *path, const Port *port, bool whole, Stored *out)
{
    if (port->type.keys)
        return stored_read_maps(v->arena, path, &port->type, whole, out, v->diag);
    return stored_read(v->arena, path, &port->type, out, v->diag);
}

/* One argument of the host program: the stored input `index` of a set. */
static int put_input(Verify *v, const char *set, int index, Text *line)
{
    const Port *port = &v->emission->program->in[index];
    const char *path = stored_path(v->arena, set, "input", index);
    Stored      stored = {.count = 0};

    if (!path && port->type.kind != TYPE_OPTIONAL)
        return diag_usage(v->diag, "--verify: found no %s/input_%d.pb for input '%s'", set, index, port->value->name);
    if (path && read_stored(v, path, port, false, &stored) < 0)
        return -1;
    text_put(line, " "); /* inputs are passed by position, since names of tensors may contain anything */
    if (!stored.present || !stored.count)
        text_put(line, stored.present ? "''" : "none");
    for (int i = 0; i < stored.count; i++) {
        const char *file = arena_printf(v->arena, "in_%d_%d.bin", index, i);

        text_put(line, i ? "," : "");
        put_tensor(line, file, &stored.item[i]->type);
        if (write_raw(v, file, stored.item[i]) < 0)
            return -1;
    }
    return 0;
}

/* The text that the host program prints behind the label of an output or member; NULL: no such line. */
static const char *printed_line(const char *said, const char *label)
{
    size_t length = strlen(label);

    for (const char *line = said; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (!strncmp(line, label, length) && line[length] == ' ')
            return line + length;
    return NULL;
}

/* The extents that the host program printed for an output or member: "LABEL name type [2][3]"; false: it printed
 * none. */
static bool printed_type(const char *said, const char *label, DType dtype, Type *type)
{
    const char *line = printed_line(said, label), *end = line ? strchr(line, '\n') : NULL, *at;

    if (!line)
        return false;
    *type = type_tensor(dtype, 0, NULL);
    for (at = strchr(line, '['); at && *at == '[' && at[1] != ']' && type->rank < MAX_RANK; at = strchr(at, ']') + 1)
        type->dim[type->rank++] = (Extent){strtoll(at + 1, NULL, 10), -1};
    return at && (!end || at <= end);
}

/* -------------------------------------------------------------------------------------------------------- comparing */

static void note_wrong(Verify *v, const char *format, const char *set, const char *output, const char *detail)
{
    const char *slash = strrchr(set, '/');

    diag_limit(v->diag, format, slash ? slash + 1 : set, output, detail);
    v->wrong++;
}

static const char *shape_text(Arena *arena, const Type *type)
{
    Text text = text_new(arena);

    for (int i = 0; i < type->rank; i++)
        text_printf(&text, "[%" PRId64 "]", type->dim[i].max);
    return text.data ? text.data : "[]";
}

static bool same_extents(const Type *a, const Type *b)
{
    bool same = a->rank == b->rank;

    for (int i = 0; same && i < a->rank; i++)
        same = a->dim[i].max == b->dim[i].max;
    return same;
}

/* Elements of a raw file as a buffer stores them: sub-byte types unpacked. */
static const void *unpacked(Arena *arena, const char *raw, DType dtype, int64_t count)
{
    const DTypeInfo *info = dtype_info(dtype);
    uint8_t         *out;
    int              per = info->bits < 8 && info->class != 'B' ? 8 / info->bits : 1;

    if (per == 1)
        return raw;
    out = arena_alloc(arena, (size_t)count + 1);
    for (int64_t i = 0; i < count; i++) {
        unsigned value = ((unsigned char)raw[i / per] >> (i % per * info->bits)) & ((1u << info->bits) - 1);

        if (info->class == 'I' && value >> (info->bits - 1))
            value |= 0xffu << info->bits;
        out[i] = (uint8_t)value;
    }
    return out;
}

static void compare_tensor(Verify *v, const char *set, const char *label, const char *name, const Value *wanted,
                           const char *said)
{
    size_t      bytes = 0;
    int64_t     count = type_elements(&wanted->type);
    Text        raw = text_new(v->arena);
    Type        found;
    Difference  d;
    const char *slash = strrchr(set, '/');
    char       *data = file_read_whole(v->arena, arena_printf(v->arena, "%s/out/%s.bin", v->folder, label), &bytes);

    stored_raw(&raw, wanted);
    if (!data || !printed_type(said, label, wanted->type.dtype, &found)) {
        note_wrong(v, "%s: output '%s' is missing%s", set, name, "");
        return;
    }
    if (!same_extents(&found, &wanted->type)) {
        note_wrong(v, "%s: output '%s': %s", set, name,
                   arena_printf(v->arena, "found extents %s, wanted %s", shape_text(v->arena, &found),
                                shape_text(v->arena, &wanted->type)));
        return;
    }
    if (bytes != raw.size) {
        note_wrong(v, "%s: output '%s': %s", set, name,
                   arena_printf(v->arena, "found %zu bytes, wanted %zu", bytes, raw.size));
        return;
    }
    if (wanted->data->text) {
        d = (Difference){.wrong = bytes && memcmp(data, raw.data, bytes) != 0, .first = 0};
        text_printf(v->report, "%s: %s '%s' text %s\n", slash ? slash + 1 : set, label, name,
                    d.wrong ? "differs" : "same");
    } else {
        d = compare_elements(wanted->type.dtype, unpacked(v->arena, data, wanted->type.dtype, count),
                             const_aligned(v->arena, wanted), count,
                             options_factors(v->emission->options) ? 0x1p-9 : 0.0);
        text_printf(v->report, "%s: %s '%s' %s%s: max absolute %.3g, relative %.3g, ULP %.0f%s%s\n",
                    slash ? slash + 1 : set, label, name, dtype_info(wanted->type.dtype)->name,
                    shape_text(v->arena, &wanted->type), d.absolute, d.relative, d.ulp,
                    d.blind ? arena_printf(v->arena, ", which says little: all wanted are below %g", d.floor) : "",
                    d.wrong ? ": DIFFERS" : "");
    }
    if (d.wrong && wanted->data->text)
        note_wrong(v, "%s: output '%s' differs%s", set, name, ": text");
    else if (d.wrong)
        note_wrong(v, "%s: output '%s' differs%s", set, name,
                   arena_printf(v->arena,
                                ": %" PRId64 " of %" PRId64 " elements, the first at %" PRId64
                                " (found %.6g, wanted %.6g); max absolute error %.3g, relative %.3g",
                                d.wrong, count, d.first, d.found, d.wanted, d.absolute, d.relative));
}

/* Keep the node that made a wrong value, if it comes before those noted so far. */
static void note_first(Verify *v, const Value *value)
{
    const Graph *graph = v->emission->program->model->main;

    for (int i = 0; i < graph->nnode && graph->node[i] != v->first; i++)
        if (graph->node[i] == value->def) {
            v->first = value->def;
            v->part = value->name;
        }
}

/* Whether an optional holds something, and that a sequence has no more members than wanted. */
static void compare_frame(Verify *v, const char *set, int index, const Stored *stored, const char *said)
{
    const char *name = v->emission->program->out[index].value->name, *slash = strrchr(set, '/');
    const char *line = printed_line(said, arena_printf(v->arena, "%d", index));
    const char *none = arena_printf(v->arena, " %s none\n", name);
    bool        absent = line && !strncmp(line, none, strlen(none));

    if (stored->present == absent)
        note_wrong(v, "%s: output '%s': %s", set, name,
                   absent ? "found none, wanted a value" : "found a value, wanted none");
    else if (stored->sequence && printed_line(said, arena_printf(v->arena, "%d.%d", index, stored->count)))
        note_wrong(v, "%s: output '%s': %s", set, name,
                   arena_printf(v->arena, "found more than %d members", stored->count));
    else if (absent || stored->sequence)
        text_printf(v->report, "%s: %d '%s' %s\n", slash ? slash + 1 : set, index, name,
                    absent ? "none" : arena_printf(v->arena, "sequence of %d", stored->count));
}

static int compare_output(Verify *v, const char *set, int index, const char *said)
{
    const Port *port = &v->emission->program->out[index];
    int         wrong = v->wrong;
    const char *path = stored_path(v->arena, set, "output", index);
    Stored      stored;

    if (!path)
        return 0;
    if (read_stored(v, path, port, true, &stored) < 0)
        return -1;
    if (port->type.kind != TYPE_TENSOR)
        compare_frame(v, set, index, &stored, said);
    for (int i = 0; i < stored.count; i++) {
        const char *label =
            stored.sequence ? arena_printf(v->arena, "%d.%d", index, i) : arena_printf(v->arena, "%d", index);

        compare_tensor(v, set, label, port->value->name, stored.item[i], said);
    }
    if (v->wrong > wrong)
        note_first(v, port->value);
    return 0;
}

/* Run the host program on one set and look at every output. */
static int run_set(Verify *v, const char *set)
{
    const Program *program = v->emission->program;
    Text           line = text_new(v->arena), said = text_new(v->arena);
    int            status;

    text_put(&line, "rm -rf out && mkdir out && ./model");
    for (int i = 0; i < program->nin; i++)
        if (put_input(v, set, i, &line) < 0)
            return -1;
    text_put(&line, " -o out");
    if (v->emission->plan->weight_form == WEIGHTS_FILE)
        text_put(&line, " --weights model.c.weights");
    status = command_run(v->folder, line.data, &said);
    if (status != 0)
        return diag_limit(v->diag, "%s: the generated program ends with status %d: %.300s", set, status,
                          said.data ? said.data : "");
    for (int i = 0; i < program->nout; i++)
        if (compare_output(v, set, i, said.data ? said.data : "") < 0)
            return -1;
    return 0;
}

/* ---------------------------------------------------------------------------------------------- ONNX Runtime's word */

/* The least and the most of an extent; where sizes are listed, its value in each combination. */
static void put_extent(const Model *model, Json *json, const char *key, Extent extent)
{
    const DimBound *listed = listed_bound(model, extent.expr);
    int64_t         count = model->nlisted ? listed_combinations(model->bound, model->nbound) : 2;

    json_list(json, key);
    for (int i = 0; i < count; i++)
        if (listed)
            json_int(json, NULL, listed_size(model->bound, listed, i));
        else
            json_int(json, NULL, i % 2 ? extent.max : extent_min(model, extent));
    json_close(json, ']');
}

/* The ranges from which the script may draw an input: the number of members of a sequence, and extents, at their least
 * and most. */
static void put_drawn(const Model *model, Json *json, const Port *port)
{
    const Type *type = &port->type;

    while (type->kind != TYPE_TENSOR) {
        if (type->kind == TYPE_SEQUENCE)
            put_extent(model, json, "count", type->count);
        type = type->item;
    }
    if (type->keys)
        report_keys(json, type->keys);
    json_list(json, "extents");
    for (int k = 0; k < type->rank; k++)
        put_extent(model, json, NULL, type->dim[k]);
    json_close(json, ']');
}

/* Names of inputs and of outputs: those that the model does not declare are made outputs for ONNX Runtime too. And
 * whether the code is for a device. */
static int write_ports(const Verify *v)
{
    const Program *program = v->emission->program;
    Text           text = text_new(v->arena);
    Json           json = json_new(&text);

    json_object(&json, NULL);
    json_list(&json, "inputs");
    for (int i = 0; i < program->nin; i++) {
        json_object(&json, NULL);
        json_text(&json, "name", program->in[i].value->name);
        put_drawn(program->model, &json, &program->in[i]);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_list(&json, "outputs");
    for (int i = 0; i < program->nout; i++)
        json_text(&json, NULL, program->out[i].value->name);
    json_close(&json, ']');
    json_int(&json, "device", program->language == LANGUAGE_DEVICE);
    json_close(&json, '}');
    return files_write(v->folder, "ports.json", text.data, text.size, v->diag);
}

/* The scripts that ask ONNX Runtime, in the temporary folder. */
static int write_scripts(const Verify *v)
{
    static const char *const names[] = {"reference.py", "exact_sums.py"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = template_text(names[i]);

        if (files_write(v->folder, names[i], text, strlen(text), v->diag) < 0)
            return -1;
    }
    return 0;
}

/* The last line that holds something: of what Python says of an error, the cause. */
static const char *last_line(Arena *arena, const Text *said)
{
    const char *text = said->data ? said->data : "", *begin = text, *end = text;

    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (at[strspn(at, " \t\r\n")]) {
            begin = at;
            end = at + strcspn(at, "\r\n");
        }
    return arena_printf(arena, "%.*s", (int)(end - begin), begin);
}

/* Test sets in the temporary folder, of the inputs under `sets_folder` or, where that is "", of random ones. */
static int make_reference(Verify *v, const char *sets_folder)
{
    enum { LACKS = 3, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };
    const char *python = python_command(v->arena);
    const char *model = path_absolute(v->arena, v->diag->file), *sets = path_absolute(v->arena, sets_folder);
    Text        line = text_new(v->arena), said = text_new(v->arena);
    int         status;

    if (!model || !sets)
        return diag_usage(v->diag, "--verify: '%s' cannot be found from another folder", v->diag->file);
    text_printf(&line, "%s reference.py %s", python, command_quote(v->arena, model));
    if (*sets_folder)
        text_printf(&line, " %s", command_quote(v->arena, sets));
    if (write_ports(v) < 0 || write_scripts(v) < 0)
        return -1;
    status = command_run(v->folder, line.data, &said);
    if (status == NOT_FOUND || status == NOT_EXECUTABLE)
        return python_refuse(v->arena, v->diag, python, "cannot be started");
    if (status == LACKS && said.data)
        return python_refuse(v->arena, v->diag, python,
                             arena_printf(v->arena, "lacks %.*s", (int)strcspn(said.data, "\n"), said.data));
    if (status != 0)
        return diag_usage(v->diag,
                          "--verify: ONNX Runtime could not run the model (--verify=DIR compares with stored sets): "
                          "%.400s",
                          last_line(v->arena, &said));
    return 0;
}

/* ----------------------------------------------------------------------------------------------------- entry points */

static int build_host(Verify *v)
{
    Text  said = text_new(v->arena);
    char *line = arena_printf(v->arena, "%s -std=c99 -O1 -o model main.c model.c -lm", command_variable("CC", "cc"));

    if (build_write(v->emission, v->folder, true) < 0)
        return -1;
    if (v->emission->program->language == LANGUAGE_DEVICE)
        return device_build(v->emission, v->folder, v->report);
    if (command_run(v->folder, line, &said) != 0)
        return diag_usage(v->diag, "--verify: '%s' failed: %.400s", line, said.data ? said.data : "");
    return 0;
}

static int verify_in(Verify *v, const char *sets_folder)
{
    const char *const *sets;
    bool               computed = !*sets_folder || v->emission->options->verify_nodes;
    int                count;

    if (build_host(v) < 0 || (computed && make_reference(v, sets_folder) < 0))
        return -1;
    count = stored_sets(v->arena, computed ? v->folder : sets_folder, &sets);
    if (!count)
        return diag_usage(v->diag, "--verify: found no input_0.pb or output_0.pb in '%s' or its folders", sets_folder);
    for (int i = 0; i < count; i++)
        if (run_set(v, sets[i]) < 0)
            return -1;
    if (v->first && v->emission->options->verify_nodes)
        diag_limit(v->diag, "the values part at '%s', which %s '%s' makes", v->part,
                   v->first->loc.op ? v->first->loc.op : "a node", v->first->loc.name ? v->first->loc.name : "");
    return v->wrong ? -1 : 0;
}

int verify_run(const Emission *like, const char *folder, Text *report)
{
    Verify v = {.emission = like, .arena = like->diag->arena, .diag = like->diag, .report = report};
    int    failed;

    if (like->program->nstate)
        return diag_usage(v.diag, "--verify: stored inputs say nothing of state; verify without --state");
    v.folder = folder_temporary(v.arena);
    if (!v.folder)
        return diag_usage(v.diag, "--verify: cannot make a temporary folder; set TMPDIR to one that can be written");
    failed = verify_in(&v, folder);
    folder_remove(v.arena, v.folder);
    return failed;
}
