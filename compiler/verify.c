/* verify.c - --verify: the generated code in a folder of its own, run by its host program on stored inputs. */
#include "verify.h"

#include "build.h"
#include "compare.h"
#include "program/kernels.h"
#include "stored.h"
#include "support/command.h"
#include "support/files.h"

#include <errno.h>
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
    int             wrong;  /* outputs that differ */
    const Node     *first;  /* the first in the graph's order whose value differs; NULL: none */
    const char     *part;   /* that value's name */
} Verify;

/* -------------------------------------------------------------------------------------------------------------- bounds */

static bool is_bounded(const Model *model, const Value *input, int axis)
{
    const char *name = input->dim_name ? input->dim_name[axis] : NULL;

    for (int i = 0; i < model->nbound; i++) {
        const DimBound *b = &model->bound[i];

        if (b->axis == axis && !strcmp(b->name, input->name))
            return true;
        if (b->axis == BOUND_NAME && name && !strcmp(b->name, name))
            return true;
    }
    return false;
}

/* The extents that stored inputs have along an axis; false: there are none. */
static bool stored_extents(Arena *arena, const char *const *sets, int nsets, int input, int axis, int64_t *lo, int64_t *hi,
                           Diag *diag)
{
    bool any = false;

    for (int i = 0; i < nsets; i++) {
        const char *path = stored_path(arena, sets[i], "input", input);
        Stored      stored;
        int64_t     extent;

        if (!path || stored_read(arena, path, TYPE_TENSOR, &stored, diag) < 0 || stored.item[0]->type.rank <= axis)
            continue;
        extent = stored.item[0]->type.dim[axis].max;
        *lo = any && *lo < extent ? *lo : extent;
        *hi = any && *hi > extent ? *hi : extent;
        any = true;
    }
    return any;
}

static void push_bound(Model *model, DimBound bound)
{
    DimBound *grown = arena_array(model->arena, DimBound, model->nbound + 1);

    if (model->nbound)
        memcpy(grown, model->bound, (size_t)model->nbound * sizeof *grown);
    grown[model->nbound++] = bound;
    model->bound = grown;
}

int verify_bounds(Model *model, const char *folder, Diag *diag)
{
    const char *const *sets;
    int                nsets = stored_sets(model->arena, folder, &sets);

    for (int k = 0; k < model->main->nin; k++) {
        const Value *input = model->main->in[k];

        for (int axis = 0; input->type.kind == TYPE_TENSOR && axis < input->type.rank; axis++) {
            DimBound    bound = {.name = input->name, .axis = axis};
            const char *name = input->dim_name ? input->dim_name[axis] : NULL;

            if (input->type.dim[axis].max >= 0 || is_bounded(model, input, axis) ||
                !stored_extents(model->arena, sets, nsets, k, axis, &bound.lo, &bound.hi, diag))
                continue;
            if (name && *name)
                bound = (DimBound){.name = name, .axis = BOUND_NAME, .lo = bound.lo, .hi = bound.hi};
            push_bound(model, bound);
            diag_note(diag, (Loc){0}, "axis %d of input '%s' is bounded by the stored inputs: --dim %s%s=%" PRId64 "..%" PRId64,
                      axis, input->name, bound.name, bound.axis >= 0 ? arena_printf(model->arena, ":%d", axis) : "", bound.lo,
                      bound.hi);
        }
    }
    return diag->status == DIAG_NONE ? 0 : -1;
}

/* --------------------------------------------------------------------------------------------------------------- nodes */

static bool is_output(const Graph *graph, const Value *value)
{
    for (int i = 0; i < graph->nout; i++)
        if (graph->out[i] == value)
            return true;
    return false;
}

int verify_expose(Model *model, const Options *options, Diag *diag)
{
    Graph *graph = model->main;

    if (!options->verify || options->output || options->main)
        return diag_usage(diag, "--verify-nodes goes with --verify, and without -o and --main: its code keeps every value");
    for (int i = 0; i < graph->nnode; i++)
        for (int k = 0; k < graph->node[i]->nout; k++) {
            Value *value = graph->node[i]->out[k];

            if (value && !value->data && value->type.kind == TYPE_TENSOR && !is_output(graph, value))
                ARENA_PUSH(model->arena, graph->out, graph->nout, graph->cout, value);
        }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------- running */

static int write_raw(const Verify *v, const char *name, const Value *tensor)
{
    Text raw = text_new(v->arena);

    stored_raw(&raw, tensor);
    if (file_write_whole(arena_printf(v->arena, "%s/%s", v->folder, name), raw.data ? raw.data : "", raw.size) < 0)
        return diag_usage(v->diag, "--verify: cannot write in '%s': %s", v->folder, strerror(errno));
    return 0;
}

/* "FILE:2x3" for one tensor; the extents are left out for rank 0. */
static void put_tensor(Text *line, const char *file, const Type *type)
{
    text_put(line, file);
    for (int i = 0; i < type->rank; i++)
        text_printf(line, "%s%" PRId64, i ? "x" : ":", type->dim[i].max);
}

/* The value of a port; a map as the tensor that stands for it. */
static int read_stored(Verify *v, const char *path, const Port *port, bool whole, Stored *out)
{
    if (port->type.keys)
        return stored_read_maps(v->arena, path, &port->type, whole, out, v->diag);
    return stored_read(v->arena, path, port->type.kind, out, v->diag);
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
    text_put(line, " "); /* inputs go by position: names of tensors may hold anything */
    if (!stored.count && !stored.sequence)
        text_put(line, "none");
    for (int i = 0; i < stored.count; i++) {
        const char *file = arena_printf(v->arena, "in_%d_%d.bin", index, i);

        text_put(line, i ? "," : "");
        put_tensor(line, file, &stored.item[i]->type);
        if (write_raw(v, file, stored.item[i]) < 0)
            return -1;
    }
    return 0;
}

/* The extents that the host program printed for an output or member: "LABEL name type [2][3]"; false: it printed none. */
static bool printed_type(const char *said, const char *label, DType dtype, Type *type)
{
    size_t length = strlen(label);

    for (const char *line = said; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *at;

        if (strncmp(line, label, length) || line[length] != ' ')
            continue;
        *type = type_tensor(dtype, 0, NULL);
        for (at = strchr(line, '['); at && *at == '[' && at[1] != ']' && type->rank < MAX_RANK; at = strchr(at, ']') + 1)
            type->dim[type->rank++] = (Extent){strtoll(at + 1, NULL, 10), -1};
        return at || !strstr(line, " none");
    }
    return false;
}

/* ----------------------------------------------------------------------------------------------------------- comparing */

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

static void compare_tensor(Verify *v, const char *set, const char *label, const char *name, const Value *wanted, const char *said)
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
        text_printf(v->report, "%s: %s '%s' text %s\n", slash ? slash + 1 : set, label, name, d.wrong ? "differs" : "same");
    } else {
        d = compare_elements(wanted->type.dtype, unpacked(v->arena, data, wanted->type.dtype, count),
                             const_aligned(v->arena, wanted), count);
        text_printf(v->report, "%s: %s '%s' %s%s: max absolute %.3g, relative %.3g, ULP %.0f%s\n", slash ? slash + 1 : set, label,
                    name, dtype_info(wanted->type.dtype)->name, shape_text(v->arena, &wanted->type), d.absolute, d.relative, d.ulp,
                    d.wrong ? ": DIFFERS" : "");
    }
    if (d.wrong)
        note_wrong(v, "%s: output '%s' differs%s", set, name,
                   arena_printf(v->arena, ": %" PRId64 " of %" PRId64 " elements, the first at %" PRId64
                                          "; max absolute error %.3g, relative %.3g",
                                d.wrong, count, d.first, d.absolute, d.relative));
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
    for (int i = 0; i < stored.count; i++) {
        const char *label = stored.sequence ? arena_printf(v->arena, "%d.%d", index, i) : arena_printf(v->arena, "%d", index);

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
    if (v->emission->options->weights == WEIGHTS_FILE)
        text_put(&line, " --weights model.c.weights");
    status = command_run(v->folder, line.data, &said);
    if (status != 0)
        return diag_limit(v->diag, "%s: the generated program ends with status %d: %.300s", set, status, said.data ? said.data : "");
    for (int i = 0; i < program->nout; i++)
        if (compare_output(v, set, i, said.data ? said.data : "") < 0)
            return -1;
    return 0;
}

/* ------------------------------------------------------------------------------------------------- ONNX Runtime's word */

/* Inputs for the script: "name:extents" at their largest and at their smallest. */
static void put_extents(Verify *v, Text *line)
{
    const Program *program = v->emission->program;

    for (int i = 0; i < program->nin; i++) {
        Text extents = text_new(v->arena);

        text_printf(&extents, "%s", program->in[i].value->name);
        for (int k = 0; k < program->in[i].type.rank; k++) {
            Extent e = program->in[i].type.dim[k];

            text_printf(&extents, "%s%" PRId64 "..%" PRId64, k ? "," : "=", extent_min(program->model, e), e.max);
        }
        text_printf(line, " %s", command_quote(v->arena, extents.data));
    }
}

/* A path as it reads from another folder; NULL: this one has no name. */
static const char *absolute_path(Arena *arena, const char *path)
{
    char here[4096];

    if (*path == '/')
        return path;
    return getcwd(here, sizeof here) ? arena_printf(arena, "%s/%s", here, path) : NULL;
}

/* The names of all outputs, a line each: those that the model does not declare are made outputs for ONNX Runtime too. */
static int write_output_names(const Verify *v)
{
    const Program *program = v->emission->program;
    Text           names = text_new(v->arena);

    for (int i = 0; i < program->nout; i++)
        text_printf(&names, "%s\n", program->out[i].value->name);
    return file_write_whole(arena_printf(v->arena, "%s/outputs.txt", v->folder), names.data ? names.data : "", names.size);
}

/* The keys of each input that is a map: their type, then the keys, a zero byte behind each; none where any keys will do. */
static int write_keys(const Verify *v)
{
    const Program *program = v->emission->program;

    for (int i = 0; i < program->nin; i++) {
        const Keys *keys = program->in[i].type.keys;
        Text        list = text_new(v->arena);

        if (!keys)
            continue;
        text_write(&list, keys->dtype == DTYPE_TEXT ? "text" : "ints", 5);
        for (int64_t k = 0; k < keys->count; k++) {
            const char *word = keys->dtype == DTYPE_TEXT ? keys->text[k] : arena_printf(v->arena, "%" PRId64, keys->ints[k]);
            text_write(&list, word, strlen(word) + 1);
        }
        if (file_write_whole(arena_printf(v->arena, "%s/input_%d.keys", v->folder, i), list.data, list.size) < 0)
            return -1;
    }
    return 0;
}

/* Test sets in the temporary folder, of the inputs under `sets_folder` or, where that is "", of random ones. */
static int make_reference(Verify *v, const char *sets_folder)
{
    const char *script = template_text("reference.py"), *python = getenv("OCCAMYC_PYTHON");
    const char *model = absolute_path(v->arena, v->diag->file), *sets = absolute_path(v->arena, sets_folder);
    Text        line = text_new(v->arena), said = text_new(v->arena);

    if (!model || !sets)
        return diag_usage(v->diag, "--verify: '%s' cannot be found from another folder", v->diag->file);
    text_printf(&line, "%s reference.py %s", python && *python ? python : "python3", command_quote(v->arena, model));
    if (*sets_folder)
        text_printf(&line, " --sets %s", command_quote(v->arena, sets));
    put_extents(v, &line);
    if (write_output_names(v) < 0 || write_keys(v) < 0 ||
        file_write_whole(arena_printf(v->arena, "%s/reference.py", v->folder), script, strlen(script)) < 0 ||
        command_run(v->folder, line.data, &said) != 0)
        return diag_usage(v->diag, "--verify: ONNX Runtime could not run the model (Python with onnx and onnxruntime is needed; "
                                   "OCCAMYC_PYTHON names another interpreter): %.400s",
                          said.data ? said.data : "");
    return 0;
}

/* -------------------------------------------------------------------------------------------------------- entry points */

static int build_host(Verify *v)
{
    const char *cc = getenv("CC");
    Text        said = text_new(v->arena);
    char       *line = arena_printf(v->arena, "%s -std=c99 -O1 -o model main.c model.c -lm", cc && *cc ? cc : "cc");

    if (build_write(v->emission, v->folder, true) < 0)
        return -1;
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
        diag_limit(v->diag, "the values part at '%s', which %s '%s' makes", v->part, v->first->loc.op ? v->first->loc.op : "a node",
                   v->first->loc.name ? v->first->loc.name : "");
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
