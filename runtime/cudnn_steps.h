/* cudnn_steps.h - steps of a program that engines of cuDNN compute: their plans, made once, and their runs. C99, no
 * memory of its own; a program has a copy of this file behind cudnn_engine.h. */
#ifndef OCC_CUDNN_STEPS_H
#define OCC_CUDNN_STEPS_H

#ifndef OCC_CUDNN_ENGINE_H
#include "cudnn_engine.h"
#endif

enum { OCC_CUDNN_KNOBS = 32 };

/* The engine that a plan of memory was made for. */
typedef struct occ_cudnn_engine {
    occ_cudnn_conv conv;
    int64_t        index, workspace;                /* number in the library; bytes that its steps have */
    int64_t        step;                            /* the first that it computes, for messages */
    int64_t        nknob, knob[OCC_CUDNN_KNOBS][2]; /* type, value */
} occ_cudnn_engine;

/* Takes a handle of the library that works in the stream; NULL: there is none. */
static inline void *occ_cudnn_open(void *stream)
{
    cudnnHandle_t handle = NULL;

    if (cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS)
        return NULL;
    if (cudnnSetStream(handle, (cudaStream_t)stream) == CUDNN_STATUS_SUCCESS)
        return (void *)handle;
    (void)cudnnDestroy(handle);
    return NULL;
}

/* The device of a handle. */
static inline occ_cudnn occ_cudnn_device(occ_cudnn_made *d, void *library)
{
    cudnnHandle_t handle = (cudnnHandle_t)library;
    occ_cudnn     made = occ_cudnn_new(d, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);

    occ_cudnn_set(d, made, CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    return occ_cudnn_finish(d, made, "the device");
}

static inline occ_cudnn occ_cudnn_knob(occ_cudnn_made *d, const int64_t knob[2])
{
    occ_cudnn              made = occ_cudnn_new(d, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    cudnnBackendKnobType_t type = (cudnnBackendKnobType_t)knob[0];

    occ_cudnn_set(d, made, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type);
    occ_cudnn_set(d, made, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &knob[1]);
    return occ_cudnn_finish(d, made, "a knob");
}

/* The plan of the listed engine with its knobs; NULL: the library does not offer it, it has other notes than it may, or
 * it needs more workspace. One that is compiled here may be listed, for it was measured. */
static inline occ_cudnn occ_cudnn_listed(occ_cudnn_made *d, occ_cudnn graph, occ_cudnn device,
                                         const occ_cudnn_engine *e)
{
    occ_cudnn         engine = occ_cudnn_new(d, CUDNN_BACKEND_ENGINE_DESCRIPTOR), config, knob[OCC_CUDNN_KNOBS];
    occ_cudnn_refusal refused;

    occ_cudnn_link(d, engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    occ_cudnn_set(d, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &e->index);
    occ_cudnn_link(d, engine, CUDNN_ATTR_ENGINE_DEVICEPROP, device);
    if (!occ_cudnn_finish(d, engine, "an engine"))
        return NULL;
    refused = occ_cudnn_judge(occ_cudnn_notes_of(engine), &e->conv);
    if (refused != OCC_CUDNN_ALLOWED && refused != OCC_CUDNN_COMPILED)
        return NULL;
    for (int64_t i = 0; i < e->nknob; i++)
        knob[i] = occ_cudnn_knob(d, e->knob[i]);
    config = occ_cudnn_new(d, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    occ_cudnn_link(d, config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    if (e->nknob)
        occ_cudnn_set(d, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, e->nknob, knob);
    return occ_cudnn_finish(d, config, "a configuration") ? occ_cudnn_plan(d, device, config, e->workspace) : NULL;
}

/* The plan of the first engine that the heuristics of one mode offer, whose notes are allowed and whose workspace is
 * enough; NULL: there is none. */
static inline occ_cudnn occ_cudnn_other(occ_cudnn_made *d, occ_cudnn graph, occ_cudnn device, const occ_cudnn_engine *e,
                                        cudnnBackendHeurMode_t mode)
{
    enum { MOST = 32 };
    occ_cudnn heuristics = occ_cudnn_heuristics(d, graph, device, mode), config[MOST], plan = NULL;
    int64_t   count = 0;

    for (int i = 0; i < MOST; i++)
        config[i] = heuristics ? occ_cudnn_new(d, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) : NULL;
    if (!heuristics || d->failed ||
        cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, MOST, &count,
                                 config) != CUDNN_STATUS_SUCCESS)
        return NULL;
    for (int64_t i = 0; i < count && i < MOST && !plan; i++) {
        const int keep = d->count;
        occ_cudnn engine = occ_cudnn_new(d, CUDNN_BACKEND_ENGINE_DESCRIPTOR);

        occ_cudnn_get(d, config[i], CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, &engine);
        if (!d->failed && occ_cudnn_judge(occ_cudnn_notes_of(engine), &e->conv) == OCC_CUDNN_ALLOWED)
            plan = occ_cudnn_plan(d, device, config[i], e->workspace);
        if (!plan)
            occ_cudnn_destroy(d, keep);
    }
    return plan;
}

/* The plan of the listed engine, else of another that needs no more workspace; NULL: the step's own kernel. *listed
 * says whether it is the listed one. It leaves at most 96 descriptors. */
static inline void *occ_cudnn_choose(occ_cudnn_made *d, void *library, const occ_cudnn_engine *e, bool *listed)
{
    static const cudnnBackendHeurMode_t mode[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};

    const int before = d->count;
    occ_cudnn device = occ_cudnn_device(d, library), graph, plan = NULL;
    int       keep;

    graph = occ_cudnn_lacks(&e->conv) ? NULL : occ_cudnn_graph(d, &e->conv, true);
    keep = d->count;
    if (graph)
        plan = occ_cudnn_listed(d, graph, device, e);
    *listed = plan != NULL;
    for (int i = 0; i < 2 && graph && !plan; i++) {
        occ_cudnn_destroy(d, keep);
        plan = occ_cudnn_other(d, graph, device, e, mode[i]);
    }
    if (!plan)
        occ_cudnn_destroy(d, before);
    return (void *)plan;
}

/* Has the library compute a step: `given` is of occ_cudnn_give. Returns 0, or -1: it could not be put into the
 * stream. */
static inline int occ_cudnn_run(void *library, void *plan, void *given)
{
    return cudnnBackendExecute((cudnnHandle_t)library, (occ_cudnn)plan, (occ_cudnn)given) == CUDNN_STATUS_SUCCESS ? 0
                                                                                                                  : -1;
}

/* The tensors of a step as its plan takes them, once it has computed them; NULL: it cannot, or there is no plan. at: x,
 * w, bias, addend, y, by their numbers in the graph; work: the workspace, or NULL. */
static inline void *occ_cudnn_give(occ_cudnn_made *d, void *library, void *plan, const occ_cudnn_engine *e,
                                   void *const at[5], void *work, void *stream)
{
    const int      keep = d->count;
    occ_cudnn_part part[OCC_CUDNN_PARTS];
    int64_t        number[5], count = 0;
    void          *place[5];
    occ_cudnn      given;

    if (!plan)
        return NULL;
    for (int64_t i = 0; i < 5; i++)
        if (at[i]) {
            number[count] = i + (i == OCC_CUDNN_NUMBER_Y ? occ_cudnn_parts(&e->conv, true, part) : 0);
            place[count++] = at[i];
        }
    given = occ_cudnn_new(d, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    occ_cudnn_set(d, given, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, number);
    occ_cudnn_set(d, given, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, place);
    occ_cudnn_set(d, given, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &work);
    if (occ_cudnn_finish(d, given, "a step's tensors") && !occ_cudnn_run(library, plan, (void *)given) &&
        !cudaStreamSynchronize((cudaStream_t)stream))
        return (void *)given;
    occ_cudnn_destroy(d, keep);
    return NULL;
}

/* Gives back what occ_cudnn_open and the calls behind it took. */
static inline void occ_cudnn_close(void *library, void **made, int count)
{
    occ_cudnn_made d = {made, count, count, NULL, CUDNN_STATUS_SUCCESS};

    occ_cudnn_destroy(&d, 0);
    if (library)
        (void)cudnnDestroy((cudnnHandle_t)library);
}

#endif
