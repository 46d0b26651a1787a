/* bounds.h - the bounds of the command line after inference has used them. */
#ifndef OCC_INFER_BOUNDS_H
#define OCC_INFER_BOUNDS_H

#include "graph/ir.h"
#include "support/diag.h"

/* A --dim bound that no extent used is a mistake of the user. Returns 0 or -1 with a message. */
int bounds_check(const Model *model, Diag *diag);

#endif
