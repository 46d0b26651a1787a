/* engine.c - asks cuDNN's heuristics. No handle and no device: the description of a device takes their place. */
#include "engine.h"

#include "graph.h"
#include "support/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ENGINES = 64, MOST_NOTES = 16 };

const char *refusal_name(Refusal refusal)
{
    static const char *const name[REFUSALS] = {"allowed",          "tensor_core", "winograd", "reduced",
                                               "nondeterministic", "compiled",    "unbuilt"};

    return name[refusal];
}

const char *note_name(int note)
{
    static const char *const name[] = {
        [CUDNN_NUMERICAL_NOTE_TENSOR_CORE] = "tensor_core",
        [CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS] = "down_convert",
        [CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION] = "reduced_reduction",
        [CUDNN_NUMERICAL_NOTE_FFT] = "fft",
        [CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC] = "nondeterministic",
        [CUDNN_NUMERICAL_NOTE_WINOGRAD] = "winograd",
        [CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4] = "winograd_4x4",
        [CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6] = "winograd_6x6",
        [CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13] = "winograd_13x13",
        [CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP] = "strict_nan",
    };

    return note >= 0 && note < (int)(sizeof name / sizeof *name) ? name[note] : NULL;
}

/* ----------------------------------------------------------------------------------------------------------- device */

/* Reports what the library refused. Returns -1. */
static int complain(Descriptors *d, const char *about, Diag *diag)
{
    char said[512] = "";

    cudnnGetLastErrorString(said, sizeof said);
    said[strcspn(said, "\n")] = 0;
    diag_error(diag, (Loc){0}, "%s: cuDNN refuses %s: %s. %s", about, d->failed, cudnnGetErrorString(d->status), said);
    descriptors_destroy(d);
    return -1;
}

static cudnnBackendDescriptor_t describe(Descriptors *d, const Device *device)
{
    cudnnBackendDescriptor_t made = descriptor_new(d, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);

    descriptor_set(d, made, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, (int64_t)device->bytes,
                   device->json);
    return descriptor_finish(d, made, "the device's description");
}

int device_read(Device *device, const char *path, Diag *diag)
{
    Descriptors d = {.count = 0};
    const char *name;

    *device = (Device){.path = path};
    device->json = file_read_whole(diag->arena, path, &device->bytes);
    if (!device->json)
        return diag_usage(diag, "--device: cannot read '%s': %s", path, strerror(errno));
    name = strstr(device->json, "\"deviceName\"");
    if (name)
        sscanf(name, "\"deviceName\" : \"%63[^\"]", device->name);
    describe(&d, device);
    if (d.failed)
        return complain(&d, path, diag);
    descriptors_destroy(&d);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------- engines */

static bool has(unsigned notes, int note)
{
    return notes >> note & 1;
}

/* The refusal that follows from what the library says of an engine. */
static Refusal refusal_of(unsigned notes, unsigned behaviour, Factors factors)
{
    enum { TRANSFORMS = CUDNN_NUMERICAL_NOTE_WINOGRAD, LAST_TRANSFORM = CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13 };

    if (has(notes, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC))
        return REFUSED_NONDETERMINISTIC;
    for (int note = 0; note < 32; note++)
        if (has(notes, note) && !note_name(note))
            return REFUSED_REDUCED; /* a newer library's note: its meaning is not known here */
    if (has(notes, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) ||
        has(notes, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION))
        return REFUSED_REDUCED;
    for (int note = TRANSFORMS; note <= LAST_TRANSFORM; note++)
        if (has(notes, note) || has(notes, CUDNN_NUMERICAL_NOTE_FFT))
            return REFUSED_WINOGRAD;
    if (has(notes, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) && factors != FACTORS_TF32)
        return REFUSED_TENSOR_CORE;
    return has(behaviour, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) ? REFUSED_COMPILED : REFUSED_NOT;
}

static unsigned read_notes(cudnnBackendDescriptor_t engine)
{
    cudnnBackendNumericalNote_t note[MOST_NOTES];
    int64_t                     count = 0;
    unsigned                    bits = 0;

    if (cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, MOST_NOTES,
                                 &count, note) != CUDNN_STATUS_SUCCESS)
        return ~0u; /* nothing is known of it: refused */
    for (int64_t i = 0; i < count && i < MOST_NOTES; i++)
        bits |= 1u << note[i];
    return bits;
}

static unsigned read_behaviour(cudnnBackendDescriptor_t engine)
{
    cudnnBackendBehaviorNote_t note[MOST_NOTES];
    int64_t                    count = 0;
    unsigned                   bits = 0;

    if (cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, MOST_NOTES, &count,
                                 note) != CUDNN_STATUS_SUCCESS)
        return ~0u;
    for (int64_t i = 0; i < count && i < MOST_NOTES; i++)
        bits |= 1u << note[i];
    return bits;
}

static void read_knobs(Descriptors *d, cudnnBackendDescriptor_t config, Engine *e)
{
    cudnnBackendDescriptor_t choice[MOST_KNOBS];
    int64_t                  count = 0;

    for (int i = 0; i < MOST_KNOBS; i++)
        choice[i] = descriptor_new(d, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    if (d->failed || cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                              MOST_KNOBS, &count, choice) != CUDNN_STATUS_SUCCESS)
        return;
    for (e->nknob = 0; e->nknob < count && e->nknob < MOST_KNOBS; e->nknob++) {
        cudnnBackendKnobType_t type = CUDNN_KNOB_TYPE_COUNTS;

        descriptor_get(d, choice[e->nknob], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, &type);
        descriptor_get(d, choice[e->nknob], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64,
                       &e->knob[e->nknob].value);
        e->knob[e->nknob].type = type;
    }
}

/* Makes the engine's plan for the described device. Returns whether there is one that needs the workspace that the
 * heuristics told. */
static bool can_be_built(const Device *device, cudnnBackendDescriptor_t config, int64_t workspace)
{
    Descriptors              d = {.count = 0};
    cudnnBackendDescriptor_t about = describe(&d, device);
    cudnnBackendDescriptor_t plan = descriptor_new(&d, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    int64_t                  needed = 0;
    bool                     built;

    descriptor_link(&d, plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    descriptor_link(&d, plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, about);
    descriptor_finish(&d, plan, "a plan");
    descriptor_get(&d, plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, &needed);
    built = !d.failed && needed <= workspace;
    descriptors_destroy(&d);
    return built;
}

/* Reads one configuration. Returns whether the library answers all that is asked of it. */
static bool read_engine(const Device *device, cudnnBackendDescriptor_t config, Factors factors, Engine *e)
{
    Descriptors              d = {.count = 0};
    cudnnBackendDescriptor_t engine = descriptor_new(&d, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    bool                     told;

    *e = (Engine){0};
    descriptor_get(&d, config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, &engine);
    descriptor_get(&d, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, &e->index);
    descriptor_get(&d, config, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, CUDNN_TYPE_INT64, &e->workspace);
    if (!d.failed) {
        e->notes = read_notes(engine);
        e->refused = refusal_of(e->notes, read_behaviour(engine), factors);
        read_knobs(&d, config, e);
    }
    told = !d.failed;
    descriptors_destroy(&d);
    if (told && e->refused == REFUSED_NOT && !can_be_built(device, config, e->workspace))
        e->refused = REFUSED_UNBUILT;
    return told;
}

static bool is_offered(const Offer *offer, const Engine *e)
{
    for (int i = 0; i < offer->nengine; i++) {
        const Engine *other = &offer->engine[i];

        if (other->index == e->index && other->nknob == e->nknob &&
            !memcmp(other->knob, e->knob, (size_t)e->nknob * sizeof *e->knob))
            return true;
    }
    return false;
}

/* Adds what the heuristics of one mode offer. Nothing where they do not know the graph. */
static void ask_mode(const Device *device, const Question *q, bool whole, cudnnBackendHeurMode_t mode, Offer *offer,
                     Descriptors *d, Arena *arena)
{
    cudnnBackendDescriptor_t graph = graph_build(d, q, whole), about = describe(d, device);
    cudnnBackendDescriptor_t heuristics = descriptor_new(d, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR), config[MOST_ENGINES];
    int64_t                  count = 0;

    descriptor_link(d, heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    descriptor_set(d, heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    descriptor_link(d, heuristics, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, about);
    if (d->failed || cudnnBackendFinalize(heuristics) != CUDNN_STATUS_SUCCESS)
        return;
    for (int i = 0; i < MOST_ENGINES; i++)
        config[i] = descriptor_new(d, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (d->failed || cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                              MOST_ENGINES, &count, config) != CUDNN_STATUS_SUCCESS)
        return;
    for (int64_t i = 0; i < count && i < MOST_ENGINES; i++) {
        Engine e;

        if (read_engine(device, config[i], q->factors, &e) && !is_offered(offer, &e))
            ARENA_PUSH(arena, offer->engine, offer->nengine, offer->cengine, e);
    }
}

int engines_ask(const Device *device, const Question *q, bool whole, Offer *offer, Diag *diag)
{
    static const cudnnBackendHeurMode_t mode[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};

    *offer = (Offer){0};
    for (size_t i = 0; i < sizeof mode / sizeof *mode; i++) {
        Descriptors d = {.count = 0};

        ask_mode(device, q, whole, mode[i], offer, &d, diag->arena);
        if (d.failed)
            return complain(&d, q->text, diag);
        descriptors_destroy(&d);
    }
    return 0;
}
