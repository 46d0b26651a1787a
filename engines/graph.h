/* graph.h - a question as an operation graph of cuDNN. Knows nothing of engines and devices. */
#ifndef OCC_ENGINES_GRAPH_H
#define OCC_ENGINES_GRAPH_H

#include "question.h"

#include <cudnn_backend.h>

enum { MOST_DESCRIPTORS = 256 };

/* The descriptors made for one question, destroyed together. */
typedef struct Descriptors {
    cudnnBackendDescriptor_t made[MOST_DESCRIPTORS];
    int                      count;
    const char              *failed; /* the first step that the library refused; NULL: none */
    cudnnStatus_t            status; /* its answer */
} Descriptors;

/* A new descriptor; NULL where the library refused something before. */
cudnnBackendDescriptor_t descriptor_new(Descriptors *d, cudnnBackendDescriptorType_t type);

/* Set an attribute, of one descriptor or of any type. Nothing happens where the library refused something before. */
void descriptor_set(Descriptors *d, cudnnBackendDescriptor_t to, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, int64_t count, const void *value);
void descriptor_link(Descriptors *d, cudnnBackendDescriptor_t to, cudnnBackendAttributeName_t name,
                     cudnnBackendDescriptor_t value);

/* Finalises a descriptor and returns it; `what` names it where the library refuses. */
cudnnBackendDescriptor_t descriptor_finish(Descriptors *d, cudnnBackendDescriptor_t made, const char *what);

/* An attribute of one element. */
void descriptor_get(Descriptors *d, cudnnBackendDescriptor_t from, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, void *value);

void descriptors_destroy(Descriptors *d);

/* Why the question is no graph of two-dimensional convolutions of floats; NULL: it is one. */
const char *graph_lacks(const Question *q);

/* y = function(x * w + addend + bias), or, without `whole`, y = x * w + bias. NULL: refused (d->failed). */
cudnnBackendDescriptor_t graph_build(Descriptors *d, const Question *q, bool whole);

#endif
