/* replay.c - runs the fuzz target over files, without a fuzzer: for coverage and for stored findings. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void run(const char *path)
{
    FILE    *file = fopen(path, "rb");
    uint8_t *data;
    long     bytes;

    if (!file || fseek(file, 0, SEEK_END)) {
        perror(path);
        exit(1);
    }
    bytes = ftell(file);
    rewind(file);
    data = malloc((size_t)bytes + 1);
    if (!data || fread(data, 1, (size_t)bytes, file) != (size_t)bytes) {
        perror(path);
        exit(1);
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, (size_t)bytes);
    free(data);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run(argv[i]);
    return 0;
}
