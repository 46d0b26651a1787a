/* host.c - runs the same case on this machine and prints its outputs as board.c does, to be compared with those. */
#include <stdint.h>
#include <stdio.h>

#include "case.h"

int main(void)
{
    printf("status %08x\n", (unsigned)CASE_RUN(&case_memory, &case_inputs, &case_outputs));
    for (size_t i = 0; i < sizeof case_output / sizeof *case_output; i++) {
        printf("output ");
        for (uint32_t k = 0; k < case_output[i].count; k++)
            printf("%02x", case_output[i].bytes[k]);
        printf("\n");
    }
    return 0;
}
