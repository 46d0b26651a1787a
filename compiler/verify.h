/* verify.h - build the generated code, run it on stored inputs, compare with stored outputs. */
#ifndef OCC_VERIFY_H
#define OCC_VERIFY_H

#include "emit/target.h"

/* Before inference: extents of inputs that no --dim bounds are bounded by those of the stored inputs under `folder`; a note
 * says so. Adds to model->bound. Returns 0 or -1. */
int verify_bounds(Model *model, const char *folder, Diag *diag);

/* --verify-nodes, after inference: every tensor that a node of the main graph makes becomes an output behind the model's own, in
 * the nodes' order. The code is then another, so no file of it may be asked for. Returns 0 or -1. */
int verify_expose(Model *model, const Options *options, Diag *diag);

/* `folder`: of stored sets (test_data_set_0 and so on, or one set); "": ONNX Runtime computes the outputs of random inputs,
 * through Python; with options->verify_nodes it computes every output, of the stored inputs too. Appends a line for each output
 * to `report`, and the first node whose value differs. Returns 0, or -1 with messages: of class limit where an output
 * differs. */
int verify_run(const Emission *like, const char *folder, Text *report);

#endif
