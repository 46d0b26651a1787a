/* engine.h - the engines that cuDNN offers for a question on a described device. Knows nothing of the choice by
 * memory. */
#ifndef OCC_ENGINES_ENGINE_H
#define OCC_ENGINES_ENGINE_H

#include "question.h"

enum { REFUSALS = OCC_CUDNN_UNBUILT + 1 };

typedef struct Engine {
    occ_cudnn_engine  listed; /* as a program has it */
    occ_cudnn_notes   notes;
    occ_cudnn_refusal refused;
    double            took; /* nanoseconds on the device; 0: not measured */
} Engine;

/* The engines for a question, the library's favourite first; the slow ones that always work come last. */
typedef struct Offer {
    Engine *engine;
    int     nengine, cengine;
} Offer;

/* A device: that of a handle of the library, or one as cuDNN's JSON describes it. */
typedef struct Device {
    const char *path, *json;
    size_t      bytes;
    void       *library;  /* a cudnnHandle_t; NULL: the device is described */
    char        name[64]; /* "": none */
} Device;

/* Reads the description and has the library take it. Returns 0, or -1 with a message. */
int device_read(Device *device, const char *path, Diag *diag);

/* Asks for the whole question, or for the sum and the bias alone. Returns 0, or -1 with a message where the library
 * fails; an offer may be empty. */
int engines_ask(const Device *device, const Question *q, bool whole, Offer *offer, Diag *diag);

/* "reduced", "tensor_core", ... */
const char *refusal_name(occ_cudnn_refusal refusal);

/* Name of a numerical note by its number; NULL: unknown. */
const char *note_name(int note);

#endif
