/* verify.h - build the generated code, run it on stored inputs, compare with stored outputs. */
#ifndef OCC_TRIAL_VERIFY_H
#define OCC_TRIAL_VERIFY_H

#include "emit/target.h"

/* Options.verify_more: bounds that are taken from stored sets only where the model does not compile without. */
enum { VERIFY_OUTPUTS = 1, VERIFY_VALUES = 2 };

/* Before inference, with --verify=DIR: bounds each axis that no --dim bounds by the stored sets under DIR. A note shows
 * these bounds as --dim options. Adds to model->bound. Returns 0 or -1. (verify_bounds.c) */
int verify_bounds(Model *model, const Options *options, Diag *diag);

/* --verify-nodes, after inference: every tensor that a node of the main graph makes becomes an output behind the
 * model's own, in the nodes' order. That changes the generated code, so no options for its files are allowed. Returns 0
 * or -1. */
int verify_expose(Model *model, const Options *options, Diag *diag);

/* `folder`: of stored sets (test_data_set_0 and so on, or one set); "": ONNX Runtime computes the outputs of random
 * inputs, through Python; with options->verify_nodes it computes every output, of the stored inputs too. Appends a line
 * for each output to `report`, and the first node whose value differs. Returns 0, or -1 with messages: of class limit
 * where an output differs. */
int verify_run(const Emission *like, const char *folder, Text *report);

#endif
