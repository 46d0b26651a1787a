/* engine.c - asks cuDNN's heuristics. The description of a device may take the place of handle and device. */
#include "engine.h"

#include "support/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ENGINES = 64, MOST_DESCRIPTORS = 128 };

/* A list of descriptors, which occ_cudnn_destroy empties. */
#define MADE(name) \
    void          *name##_made[MOST_DESCRIPTORS]; \
    occ_cudnn_made name = {name##_made, 0, MOST_DESCRIPTORS, NULL, CUDNN_STATUS_SUCCESS}

const char *refusal_name(occ_cudnn_refusal refusal)
{
    static const char *const name[REFUSALS] = {[OCC_CUDNN_ALLOWED] = "allowed",
                                               [OCC_CUDNN_TENSOR_CORE] = "tensor_core",
                                               [OCC_CUDNN_WINOGRAD] = "winograd",
                                               [OCC_CUDNN_REDUCED] = "reduced",
                                               [OCC_CUDNN_NONDETERMINISTIC] = "nondeterministic",
                                               [OCC_CUDNN_COMPILED] = "compiled",
                                               [OCC_CUDNN_UNBUILT] = "unbuilt"};
    _Static_assert(REFUSALS == 7, "name has a word for each refusal");

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
static int complain(occ_cudnn_made *d, const char *about, Diag *diag)
{
    char said[512] = "";

    cudnnGetLastErrorString(said, sizeof said);
    said[strcspn(said, "\n")] = 0;
    diag_error(diag, (Loc){0}, "%s: cuDNN refuses %s: %s. %s", about, d->failed, cudnnGetErrorString(d->status), said);
    occ_cudnn_destroy(d, 0);
    return -1;
}

static occ_cudnn describe(occ_cudnn_made *d, const Device *device)
{
    occ_cudnn made;

    if (device->library)
        return occ_cudnn_device(d, device->library);
    made = occ_cudnn_new(d, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    occ_cudnn_set(d, made, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, (int64_t)device->bytes,
                  device->json);
    return occ_cudnn_finish(d, made, "the device's description");
}

int device_read(Device *device, const char *path, Diag *diag)
{
    MADE(d);
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
    occ_cudnn_destroy(&d, 0);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------- engines */

static void read_knobs(occ_cudnn_made *d, occ_cudnn config, occ_cudnn_engine *e)
{
    occ_cudnn choice[OCC_CUDNN_KNOBS];
    int64_t   count = 0;

    for (int i = 0; i < OCC_CUDNN_KNOBS; i++)
        choice[i] = occ_cudnn_new(d, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    if (d->failed || cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                              OCC_CUDNN_KNOBS, &count, choice) != CUDNN_STATUS_SUCCESS)
        return;
    for (e->nknob = 0; e->nknob < count && e->nknob < OCC_CUDNN_KNOBS; e->nknob++) {
        cudnnBackendKnobType_t type = CUDNN_KNOB_TYPE_COUNTS;

        occ_cudnn_get(d, choice[e->nknob], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, &type);
        occ_cudnn_get(d, choice[e->nknob], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, &e->knob[e->nknob][1]);
        e->knob[e->nknob][0] = type;
    }
}

/* Whether the library makes the engine's plan for the described device from its number and knobs, as programs do, with
 * the workspace that the heuristics told. */
static bool can_be_built(const Device *device, bool whole, const occ_cudnn_engine *e)
{
    occ_cudnn graph, about;
    bool      built;
    MADE(d);

    about = describe(&d, device);
    graph = occ_cudnn_graph(&d, &e->conv, whole);
    built = graph && occ_cudnn_listed(&d, graph, about, e);
    occ_cudnn_destroy(&d, 0);
    return built;
}

/* Reads one configuration. Returns whether the library answers all that is asked of it. */
static bool read_engine(occ_cudnn config, const occ_cudnn_conv *conv, Engine *e)
{
    occ_cudnn engine;
    bool      told;
    MADE(d);

    *e = (Engine){.listed.conv = *conv};
    engine = occ_cudnn_new(&d, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    occ_cudnn_get(&d, config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, &engine);
    occ_cudnn_get(&d, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, &e->listed.index);
    occ_cudnn_get(&d, config, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, CUDNN_TYPE_INT64, &e->listed.workspace);
    if (!d.failed) {
        e->notes = occ_cudnn_notes_of(engine);
        e->refused = occ_cudnn_judge(e->notes, conv);
        read_knobs(&d, config, &e->listed);
    }
    told = !d.failed;
    occ_cudnn_destroy(&d, 0);
    return told;
}

static bool is_offered(const Offer *offer, const occ_cudnn_engine *e)
{
    for (int i = 0; i < offer->nengine; i++) {
        const occ_cudnn_engine *other = &offer->engine[i].listed;

        if (other->index == e->index && other->nknob == e->nknob &&
            !memcmp(other->knob, e->knob, (size_t)e->nknob * sizeof *e->knob))
            return true;
    }
    return false;
}

/* Adds what the heuristics of one mode offer. Nothing where they do not know the graph. */
static void ask_mode(const Device *device, const Question *q, bool whole, cudnnBackendHeurMode_t mode, Offer *offer,
                     occ_cudnn_made *d, Arena *arena)
{
    occ_cudnn graph = occ_cudnn_graph(d, &q->conv, whole), about = describe(d, device);
    occ_cudnn heuristics = occ_cudnn_heuristics(d, graph, about, mode), config[MOST_ENGINES];
    int64_t   count = 0;

    if (!heuristics)
        return;
    for (int i = 0; i < MOST_ENGINES; i++)
        config[i] = occ_cudnn_new(d, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (d->failed || cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                              MOST_ENGINES, &count, config) != CUDNN_STATUS_SUCCESS)
        return;
    for (int64_t i = 0; i < count && i < MOST_ENGINES; i++) {
        Engine e;

        if (!read_engine(config[i], &q->conv, &e) || is_offered(offer, &e.listed))
            continue;
        if (e.refused == OCC_CUDNN_ALLOWED && !can_be_built(device, whole, &e.listed))
            e.refused = OCC_CUDNN_UNBUILT;
        ARENA_PUSH(arena, offer->engine, offer->nengine, offer->cengine, e);
    }
}

int engines_ask(const Device *device, const Question *q, bool whole, Offer *offer, Diag *diag)
{
    static const cudnnBackendHeurMode_t mode[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};

    *offer = (Offer){0};
    for (size_t i = 0; i < sizeof mode / sizeof *mode; i++) {
        MADE(d);

        ask_mode(device, q, whole, mode[i], offer, &d, diag->arena);
        if (d.failed)
            return complain(&d, q->text, diag);
        occ_cudnn_destroy(&d, 0);
    }
    return 0;
}
