/* expect.h - numbers of a test program that are held against those wanted. Each difference is printed and counted. */
#ifndef OCC_TESTS_CUDA_EXPECT_H
#define OCC_TESTS_CUDA_EXPECT_H

#include <stdio.h>

static int wrong;

static void expect(const char *what, long long found, long long wanted)
{
    if (found == wanted)
        return;
    printf("%s: found %lld, wanted %lld\n", what, found, wanted);
    wrong++;
}

#endif
