/* fake_cudnn.c - a library with cuDNN's interface that refuses what is missing or inconsistent, and offers the engines
 * that FAKE_CUDNN lists: entries "MODE:EPILOGUE:INDEX:WORKSPACE:NOTES:BEHAVIOUR:NEEDED:KNOB", separated by blanks.
 *   MODE      A or F: the heuristics that offer it;   EPILOGUE  0: only for graphs without addend and function
 *   NOTES, BEHAVIOUR  a bit for each note;            NEEDED  workspace that its plan takes; -1: there is no such plan
 * Each graph that heuristics are asked about is appended to the file FAKE_CUDNN_LOG. Descriptors that are left at the
 * end of the program are an error. */
#include "fake_graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int  living;
static char last[200];

static cudnnStatus_t refuse(const char *why)
{
    snprintf(last, sizeof last, "%s", why);
    return CUDNN_STATUS_BAD_PARAM;
}

static size_t size_of(cudnnBackendAttributeType_t type)
{
    switch (type) {
    case CUDNN_TYPE_INT64:
        return sizeof(int64_t);
    case CUDNN_TYPE_BOOLEAN:
        return sizeof(bool);
    case CUDNN_TYPE_FLOAT:
        return sizeof(float);
    case CUDNN_TYPE_DOUBLE:
        return sizeof(double);
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
        return sizeof(void *);
    case CUDNN_TYPE_CHAR:
        return 1;
    default:
        return sizeof(int);
    }
}

size_t cudnnGetVersion(void)
{
    return 90001;
}

const char *cudnnGetErrorString(cudnnStatus_t status)
{
    return status == CUDNN_STATUS_BAD_PARAM ? "BAD_PARAM" : "another status";
}

void cudnnGetLastErrorString(char *message, size_t size)
{
    snprintf(message, size, "%s", last);
}

/* After the functions of atexit, with which a program gives back what it took. */
__attribute__((destructor)) static void at_end(void)
{
    if (living)
        fprintf(stderr, "fake cuDNN: %d descriptors are left\n", living);
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *made)
{
    Fake *fake = calloc(1, sizeof *fake);

    living++;
    fake->type = type;
    *made = fake;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t made)
{
    Fake *fake = made;

    for (int i = 0; i < FAKE_ATTRIBUTES; i++)
        free(fake->attribute[i]);
    free(fake);
    living--;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t to, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count, const void *value)
{
    Fake *fake = to;

    if (fake->final || fake->attribute[name])
        return refuse("an attribute is set twice or too late");
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
        for (int64_t i = 0; i < count; i++) {
            Fake *const *of = value;

            if (fake->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR && !of[i]->final)
                return refuse("a descriptor is not finalised");
        }
    fake->attribute[name] = calloc(1, sizeof *fake->attribute[name]);
    fake->attribute[name]->count = count;
    memcpy(&fake->attribute[name]->value, value,
           type == CUDNN_TYPE_CHAR ? (size_t)(count < MOST_VALUES ? count : MOST_VALUES)
                                   : (size_t)count * size_of(type));
    return CUDNN_STATUS_SUCCESS;
}

/* ----------------------------------------------------------------------------------------------------- finalisation */

/* A row for each type of descriptor: the type, the attributes without which it cannot be finalised, and -1. */
static const int required[][9] = {
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_ATTR_TENSOR_DATA_TYPE,
     CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
     CUDNN_ATTR_TENSOR_IS_VIRTUAL, -1},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_ATTR_CONVOLUTION_CONV_MODE,
     CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
     CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, -1},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, -1},
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_POINTWISE_MODE, CUDNN_ATTR_POINTWISE_MATH_PREC, -1},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, -1},
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, CUDNN_ATTR_OPERATIONGRAPH_OPS, -1},
    {CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
     CUDNN_ATTR_ENGINE_DEVICEPROP, -1},
    {CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, -1},
    {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_ATTR_ENGINECFG_ENGINE, -1},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
     CUDNN_ATTR_VARIANT_PACK_WORKSPACE, -1},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_ATTR_ENGINEHEUR_MODE,
     CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, -1},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
     CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, -1},
};

static const char *missing(const Fake *fake)
{
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        for (int k = 1; required[i][0] == (int)fake->type && required[i][k] >= 0; k++)
            if (!fake->attribute[required[i][k]])
                return "an attribute is missing";
    return NULL;
}

/* A device is a handle, or described as an object. */
static const char *check_device(const Fake *fake)
{
    const Attribute *json = fake->attribute[CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION];

    if (fake->attribute[CUDNN_ATTR_DEVICEPROP_HANDLE])
        return NULL;
    return json && json->value.text[0] == '{' ? NULL : "the description is no object";
}

/* The next entry of the script, behind `*at`; false: there is none. */
static bool next_script(const char **at, Script *s)
{
    int length = 0;

    if (!*at || sscanf(*at, " %c:%d:%" SCNd64 ":%" SCNd64 ":%d:%d:%" SCNd64 ":%d%n", &s->mode, &s->epilogue, &s->index,
                       &s->workspace, &s->notes, &s->behaviour, &s->needed, &s->knob, &length) != 8)
        return false;
    *at += length;
    return true;
}

/* The entry of an engine that is named by its number and, unless it is ANY_KNOB, a knob. */
enum { ANY_KNOB = -2, NO_KNOB = -1 };

static const char *find_entry(Fake *fake, int64_t index, int64_t knob)
{
    const char *at = getenv("FAKE_CUDNN");

    while (next_script(&at, &fake->script))
        if (fake->script.index == index && (knob == ANY_KNOB || knob == fake->script.knob))
            return NULL;
    return "the library has no such engine";
}

/* Finds out what an engine, a configuration of one, or a plan stands for. */
static const char *find_script(Fake *fake)
{
    const Fake *of = fake->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR ? link_of(fake, CUDNN_ATTR_ENGINECFG_ENGINE)
                     : fake->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR
                         ? link_of(fake, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
                         : NULL;
    const Fake *knob = link_of(fake, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES);

    if (fake->type == CUDNN_BACKEND_ENGINE_DESCRIPTOR) {
        fake->graph = link_of(fake, CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
        return find_entry(fake, ints(fake, CUDNN_ATTR_ENGINE_GLOBAL_INDEX)[0], ANY_KNOB);
    }
    if (!of)
        return NULL;
    fake->graph = of->graph;
    fake->script = of->script;
    if (fake->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
        return find_entry(fake, of->script.index, knob ? ints(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE)[0] : NO_KNOB);
    return fake->script.needed < 0 ? "no plan can be made of the engine" : NULL;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t made)
{
    Fake       *fake = made;
    const char *why = missing(fake);

    if (!why && fake->type == CUDNN_BACKEND_TENSOR_DESCRIPTOR)
        why = fake_check_tensor(fake);
    if (!why && fake->type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)
        why = fake_check_convolution(fake);
    if (!why && fake->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
        why = fake_check_graph(fake);
    if (!why && fake->type == CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR)
        why = check_device(fake);
    if (!why && fake->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)
        fake_log_graph(link_of(fake, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH));
    if (!why)
        why = find_script(fake);
    fake->final = !why;
    return why ? refuse(why) : CUDNN_STATUS_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------- engines */

/* Fills descriptors with the engines that the script offers. Returns how many. */
static int64_t offer(const Fake *heuristics, Fake **config, int64_t room)
{
    bool        first = heuristics->attribute[CUDNN_ATTR_ENGINEHEUR_MODE]->value.word[0] == CUDNN_HEUR_MODE_A;
    const Fake *graph = link_of(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    const char *at = getenv("FAKE_CUDNN");
    int64_t     count = 0;
    Script      s = {0};

    while (next_script(&at, &s))
        if ((s.mode == 'A') == first && (s.epilogue || !graph->epilogue) && count < room) {
            config[count]->graph = graph;
            config[count++]->script = s;
        }
    return count;
}

static int64_t put_bits(int bits, int *to)
{
    int64_t count = 0;

    for (int i = 0; i < 31; i++)
        if (bits >> i & 1)
            to[count++] = i;
    return count;
}

/* Knobs of an engine: none, or number 2 with the script's value. */
static int64_t put_knobs(const Script *s, Fake **choice)
{
    if (s->knob < 0)
        return 0;
    choice[0]->script = *s;
    return 1;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t from, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t room, int64_t *count, void *value)
{
    Fake *fake = from;

    (void)type;
    *count = 1;
    switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
        *count = offer(fake, value, room);
        break;
    case CUDNN_ATTR_ENGINECFG_ENGINE:
        (*(Fake **)value)->script = fake->script;
        (*(Fake **)value)->graph = fake->graph;
        break;
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
        *(int64_t *)value = fake->script.workspace;
        break;
    case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES:
        *count = put_knobs(&fake->script, value);
        break;
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
        *(int64_t *)value = fake->script.index;
        break;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
        *count = put_bits(fake->script.notes, value);
        break;
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
        *count = put_bits(fake->script.behaviour, value);
        break;
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE:
        *(int *)value = 2;
        break;
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE:
        *(int64_t *)value = fake->script.knob;
        break;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
        *(int64_t *)value = fake->script.needed;
        break;
    default:
        return refuse("an attribute that cannot be read");
    }
    return CUDNN_STATUS_SUCCESS;
}
