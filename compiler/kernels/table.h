/* table.h - what kernels share that pick rows by a table. */
#ifndef OCC_KERNELS_TABLE_H
#define OCC_KERNELS_TABLE_H

#include "kernels/record.h"

/* Rows of y [outer][count or out][inner] are made in rising order, row i of each from the rows of the second operand
 * [outer][axis or in][inner] that entries i * taps .. of the third one name, and each element after they were read at
 * that element: so y may follow it through the same memory. */
bool table_follow(const Program *program, const Step *step, Follow *follow);

#endif
