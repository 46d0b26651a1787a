/* swapped.h - one model whose weights are loaded while it runs, lowered and planned in several ways: with smaller and
 * larger slices where its memory is fullest, without cascades, which need the weights of all their stages at once, and
 * with other kernels, whose weights are smaller. */
#ifndef OCC_ALTERNATIVES_SWAPPED_H
#define OCC_ALTERNATIVES_SWAPPED_H
#include "alternatives/alternatives.h"

/* Rows of tables that are loaded by index, and the slices that suit what weights are loaded from, in this form. */
void alternative_slice(const Lowering *lowering, const Form *form, Program *program);

/* The planned alternative with loads; another one takes its place where that is predicted to run in less time within
 * --max-ram, or to need less where nothing fits. Nothing without --weights=swap. Returns 0, or -1 with a message. */
int alternative_swap(const Lowering *lowering, Alternative *alternative);

#endif
