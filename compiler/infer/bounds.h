/* bounds.h - the bounds of the command line after inference has used them. */
#ifndef OCC_INFER_BOUNDS_H
#define OCC_INFER_BOUNDS_H

#include "graph/ir.h"
#include "support/diag.h"

/* A bound that met no extent is a slip of the user's. Returns 0 or -1 with a message. */
int bounds_check(const Model *model, Diag *diag);

#endif
