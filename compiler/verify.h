/* verify.h - build the generated code, run it on stored inputs, compare with stored outputs. */
#ifndef OCC_VERIFY_H
#define OCC_VERIFY_H

#include "emit/target.h"

/* Before inference: extents of inputs that no --dim bounds are bounded by those of the stored inputs under `folder`; a note
 * says so. Adds to model->bound. Returns 0 or -1. */
int verify_bounds(Model *model, const char *folder, Diag *diag);

/* `folder`: of stored sets (test_data_set_0 and so on, or one set); "": ONNX Runtime computes the outputs of random inputs,
 * through Python. Appends a line for each output to `report`. Returns 0, or -1 with messages: of class limit where an output
 * differs. */
int verify_run(const Emission *like, const char *folder, Text *report);

#endif
