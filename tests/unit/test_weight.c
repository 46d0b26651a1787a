/* test_weight.c - weights that are made where they are read: in any pieces the same bytes, in the order that the
 * kernels read; and the checksum of them. */
#include "world.h"

#include "emit/emit.h"
#include "lower/panels.h"
#include "ops/quant/pack4.h"
#include "ops/lower/winograd.h"
#include "program/weight.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "codegen_templates/c/base/occ_sum.h"

enum { GROUPS = 2, OUTPUTS = 37, INPUTS = 19, TAPS = 9 };

static Lower lower_of(World *w)
{
    return (Lower){
        .model = w->program->model, .program = w->program, .diag = &w->diag, .arena = w->arena, .buffer_align = 16};
}

static uint32_t roll(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Every way to cut the weight into ranges, drawn by chance, gives the bytes of the whole. */
static const char *whole_in_any_pieces(World *w, Operand x)
{
    const Buffer *b = &w->program->buffer[x.buffer];
    int64_t       size = dtype_info(b->dtype)->bytes, count = b->size / size;
    const char   *whole = weight_whole(w->arena, b, 64);
    char         *room = arena_alloc(w->arena, (size_t)b->size + 64);
    uint32_t      seed = 7;

    for (int i = 0; i < 2000; i++) {
        int64_t from = roll(&seed) % count, most = i % 2 ? count - from : 80;
        int64_t some = 1 + roll(&seed) % (most < count - from ? most : count - from);

        memset(room, 0x55, (size_t)b->size + 64);
        assert_memory_equal(weight_block(b, from * size, some * size, room), whole + from * size,
                            (size_t)(some * size));
        assert_true(b->packing == NULL || room[some * size] == 0x55);
    }
    return whole;
}

static void panels_hold_every_weight(void **state)
{
    World        *w = *state;
    Lower         lower = lower_of(w);
    PanelShape    shape = {GROUPS, OUTPUTS, INPUTS, TAPS};
    const int64_t stride[4] = {OUTPUTS * INPUTS * TAPS, INPUTS * TAPS, TAPS, 1};
    float        *data = arena_array(w->arena, float, GROUPS *OUTPUTS *INPUTS *TAPS);
    const float  *panels;
    int64_t       at = 0;

    for (int i = 0; i < GROUPS * OUTPUTS * INPUTS * TAPS; i++)
        data[i] = (float)i;
    panels = (const float *)whole_in_any_pieces(w, panels_constant(&lower, data, shape, stride, "w"));
    for (int64_t g = 0; g < GROUPS; g++)
        for (int64_t block = 0; block < OUTPUTS; block += 32)
            for (int64_t t = 0; t < TAPS; t++)
                for (int64_t i = 0; i < INPUTS; i++)
                    for (int64_t o = block; o < block + 32 && o < OUTPUTS; o++)
                        assert_true(panels[at++] == data[((g * OUTPUTS + o) * INPUTS + i) * TAPS + t]);
    for (int64_t i = 0; i < panels_margin(OUTPUTS); i++)
        assert_true(panels[at + i] == 0.0f);
}

static void quads_hold_every_weight(void **state)
{
    World        *w = *state;
    Lower         lower = lower_of(w);
    PanelShape    shape = {GROUPS, OUTPUTS, INPUTS, TAPS};
    const int64_t stride[4] = {OUTPUTS * INPUTS * TAPS, INPUTS * TAPS, TAPS, 1};
    int8_t       *data = arena_array(w->arena, int8_t, GROUPS * OUTPUTS * INPUTS * TAPS);
    const int8_t *quads;
    int64_t       at = 0;

    for (int i = 0; i < GROUPS * OUTPUTS * INPUTS * TAPS; i++)
        data[i] = (int8_t)(i * 37 % 251 - 125);
    quads = (const int8_t *)whole_in_any_pieces(w, pack4_constant(&lower, data, shape, stride, "w"));
    for (int64_t g = 0; g < GROUPS; g++)
        for (int64_t block = 0; block < 40; block += 32) /* 37 rounded up to fours */
            for (int64_t t = 0; t < TAPS; t++)
                for (int64_t four = 0; four < INPUTS; four += 4)
                    for (int64_t o = block; o < block + 32 && o < 40; o++)
                        for (int64_t i = four; i < four + 4; i++, at++)
                            assert_int_equal(quads[at], o < OUTPUTS && i < INPUTS
                                                            ? data[((g * OUTPUTS + o) * INPUTS + i) * TAPS + t]
                                                            : 0);
}

/* A filter of which only the middle is not zero: row 1 of G times its transpose, by hand. */
static void transformed_weights_hold_every_filter(void **state)
{
    static const double middle[6] = {0.0, -1.0 / 6, 1.0 / 6, 1.0 / 12, -1.0 / 12, 0.0};
    World              *w = *state;
    Lower               lower = lower_of(w);
    float              *data = arena_array(w->arena, float, OUTPUTS *INPUTS *TAPS);
    const float        *made;
    int64_t             at = 0;

    for (int i = 0; i < OUTPUTS * INPUTS; i++)
        data[i * TAPS + 4] = (float)(i + 1);
    made = (const float *)whole_in_any_pieces(w, winograd_weights(&lower, data, TAPS, INPUTS, OUTPUTS, 4, "w"));
    for (int64_t f = 0; f < 36; f++)
        for (int64_t block = 0; block < OUTPUTS; block += 32)
            for (int64_t i = 0; i < INPUTS; i++)
                for (int64_t o = block; o < block + 32 && o < OUTPUTS; o++, at++)
                    assert_float_equal(made[at], middle[f / 6] * middle[f % 6] * (double)(o * INPUTS + i + 1), 1e-5);
}

static void transformed_bytes_hold_every_filter(void **state)
{
    static const int middle[6] = {0, -4, 4, 2, -2, 0};
    World           *w = *state;
    Lower            lower = lower_of(w);
    int8_t          *data = arena_array(w->arena, int8_t, OUTPUTS * INPUTS * TAPS);
    const int16_t   *made;
    int64_t          at = 0;

    for (int i = 0; i < OUTPUTS * INPUTS; i++)
        data[i * TAPS + 4] = (int8_t)(i % 200 - 100);
    made = (const int16_t *)whole_in_any_pieces(w, winograd_q_weights(&lower, data, TAPS, INPUTS, OUTPUTS, 4, "w"));
    for (int64_t block = 0; block < 40; block += 32)
        for (int64_t f = 0; f < 36; f++)
            for (int64_t pair = 0; pair < INPUTS; pair += 2)
                for (int64_t o = block; o < block + 32 && o < 40; o++)
                    for (int64_t i = pair; i < pair + 2; i++, at++)
                        assert_int_equal(made[at], o < OUTPUTS && i < INPUTS
                                                       ? middle[f / 6] * middle[f % 6] * ((o * INPUTS + i) % 200 - 100)
                                                       : 0);
}

static void a_transposed_constant_is_another(void **state)
{
    World         *w = *state;
    Lower          lower = lower_of(w);
    const int64_t  dim[3] = {11, 13, 17};
    int16_t       *data = arena_array(w->arena, int16_t, 11 * 13 * 17);
    const int16_t *made;
    Operand        x, y;

    for (int i = 0; i < 11 * 13 * 17; i++)
        data[i] = (int16_t)i;
    x = lower_weight(&lower, data, DTYPE_I16, 3, dim, "w");
    assert_int_equal(lower_dense(&lower, operand_permute(x, (const int[]){2, 0, 1}), &y), 0);
    made = (const int16_t *)whole_in_any_pieces(w, y);
    for (int i = 0; i < 11 * 13 * 17; i++)
        assert_int_equal(made[i], i % 143 * 17 + i / 143);
}

/* Whether weights are equal is decided by what they hold, not by how they are made. */
static void equal_bytes_are_found_in_every_form(void **state)
{
    World        *w = *state;
    Lower         lower = lower_of(w);
    PanelShape    shape = {1, 64, 700, 1};
    const int64_t across[4] = {0, 700, 1, 0}, along[4] = {0, 1, 64, 0}, size = 64 * 700;
    float        *data = arena_array(w->arena, float, size), *turned = arena_array(w->arena, float, size);
    Operand       a, b, c;
    Buffer       *buffer;

    for (int i = 0; i < size; i++)
        turned[i % 700 * 64 + i / 700] = data[i] = (float)(i * 7 % 1001);
    a = panels_constant(&lower, data, shape, across, "a");
    b = panels_constant(&lower, turned, shape, along, "b");
    buffer = w->program->buffer;
    c = lower_weight(&lower, weight_whole(w->arena, &buffer[a.buffer], 4), DTYPE_F32, 1, &size, "c");
    buffer = w->program->buffer;
    assert_true(weight_same(w->arena, &buffer[a.buffer], &buffer[b.buffer]));
    assert_true(weight_same(w->arena, &buffer[b.buffer], &buffer[c.buffer]));
    turned[size - 1] += 1.0f;
    assert_false(weight_same(w->arena, &buffer[a.buffer], &buffer[b.buffer]));
}

/* -------------------------------------------------------------------------------------------------------- placement */

static int weight(World *w, const void *data, int64_t size)
{
    int id = world_buffer(w, BUFFER_WEIGHT, size);

    w->program->buffer[id].source = data;
    return id;
}

/* Three equal constants, one that no step reads, an empty one and a longer one, in a block: by hand 0, 64 to 164. */
static void constants_that_are_read_lie_once_in_the_block(void **state)
{
    static const char data[100] = "abc", same[100] = "abc", other[37] = "abd";
    World            *w = *state;
    PlanOptions       options = {.weights = WEIGHTS_FILE};
    Plan              plan = {.peak = 0};
    int               id[5] = {weight(w, other, 37), weight(w, data, 100), weight(w, other, 30), weight(w, same, 100)};
    int               x = world_buffer(w, BUFFER_ACT, 8);

    id[4] = weight(w, "", 0);
    for (int i = 0; i < 5; i++) {
        int s = world_step(w, STEP_KERNEL);

        if (i != 2)
            world_reads(w, s, id[i]);
        world_writes(w, s, x);
    }
    program_place_constants(w->program, &options, &plan);
    assert_int_equal(plan.weight_form, WEIGHTS_FILE);
    assert_int_equal(plan.weight_bytes, 164);
    assert_int_equal(plan.same[id[0]], id[0]);
    assert_int_equal(plan.stored[id[0]], 0);
    assert_int_equal(plan.same[id[1]], id[1]);
    assert_int_equal(plan.stored[id[1]], 64);
    assert_int_equal(plan.same[id[2]], -1);
    assert_int_equal(plan.same[id[3]], id[1]);
    assert_int_equal(plan.same[id[4]], id[4]);
    assert_int_equal(plan.same[x], -1);
}

/* Literals up to 2 MiB, or where there is room for nothing else. Arrays of other elements are others; in a block, bytes
 * are bytes. */
static void the_form_follows_the_bytes(void **state)
{
    World      *w = *state;
    PlanOptions options = {.weights = WEIGHTS_AUTO};
    Plan        plan = {.peak = 0};
    char       *data = arena_alloc(w->arena, 2 << 20);
    int         large = weight(w, data, 2 << 20), small = weight(w, data, 4), number = weight(w, data, 4);
    int         x = world_buffer(w, BUFFER_ACT, 8), s = world_step(w, STEP_KERNEL);

    w->program->buffer[number].dtype = DTYPE_F32;
    world_reads(w, s, large);
    world_writes(w, s, x);
    program_place_constants(w->program, &options, &plan);
    assert_int_equal(plan.weight_form, WEIGHTS_INLINE);
    world_reads(w, s, small);
    world_reads(w, s, number);
    program_place_constants(w->program, &options, &plan);
    assert_int_equal(plan.weight_form, WEIGHTS_OBJECT);
    assert_int_equal(plan.same[number], small);
    options.one_file = true;
    program_place_constants(w->program, &options, &plan);
    assert_int_equal(plan.weight_form, WEIGHTS_INLINE);
    assert_int_equal(plan.same[number], number);
}

/* --------------------------------------------------------------------------------------------------------- checksum */

/* By a separate program, with integers of any size. */
static void sums_are_those_of_the_definition(void **unused)
{
    static const struct {
        int      bytes;
        uint64_t sum;
    } known[] = {{0, 0xd694f53c11d605f8},  {1, 0x937dc6ae706fb1d6},  {8, 0xc09a5c3f9c262d1f},
                 {31, 0x080be78b9be2d998}, {32, 0x8221378742794b6a}, {33, 0x78ce09a6446f1bdb},
                 {64, 0xec74961e4aa2fb73}, {100, 0x565cccf76b56b5a6}};
    unsigned char data[100];

    (void)unused;
    for (int i = 0; i < 100; i++)
        data[i] = (unsigned char)(i * 7 + 3);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(occ_sum(0, data, (uint64_t)known[i].bytes) == known[i].sum);
    assert_true(occ_sum(occ_sum(0, data, 37), data + 37, 63) == 0x283b0674b23f3c83);
}

static void count_up(const void *of, int64_t from, int64_t bytes, void *to)
{
    (void)of;
    for (int64_t i = 0; i < bytes; i++)
        ((unsigned char *)to)[i] = (unsigned char)((from + i) * 11);
}

/* Stored pieces, pieces that are made, gaps; more than a block of each. */
static void sums_of_pieces_are_those_of_the_whole(void **state)
{
    enum { MADE = 2 * FILE_BLOCK + 77, GAP = FILE_BLOCK + 5, STORED = 1003, ALL = STORED + MADE + GAP + STORED };
    World         *w = *state;
    unsigned char *all = arena_alloc(w->arena, ALL);
    FilePiece      piece[4] = {{.data = all, .bytes = STORED},
                               {.bytes = MADE, .make = count_up},
                               {.bytes = GAP},
                               {.data = all, .bytes = STORED}};

    for (int i = 0; i < STORED; i++)
        all[i] = all[STORED + MADE + GAP + i] = (unsigned char)(i * 3);
    count_up(NULL, 0, MADE, all + STORED);
    assert_true(emit_checksum(w->arena, 5, piece, 4) == occ_sum(5, all, ALL));
}

/* Any wrong bit, and any two in words of the same lane. */
static void wrong_bits_are_found(void **unused)
{
    uint64_t data[40], sum;

    (void)unused;
    for (int i = 0; i < 40; i++)
        data[i] = (uint64_t)i * 0x0123456789abcdefu;
    sum = occ_sum(0, data, sizeof data);
    for (int bit = 0; bit < 40 * 64; bit++) {
        data[bit / 64] ^= (uint64_t)1 << bit % 64;
        assert_true(occ_sum(0, data, sizeof data) != sum);
        data[(bit / 64 + 4) % 40] ^= (uint64_t)1 << (bit + 13) % 64;
        assert_true(occ_sum(0, data, sizeof data) != sum);
        data[(bit / 64 + 4) % 40] ^= (uint64_t)1 << (bit + 13) % 64;
        data[bit / 64] ^= (uint64_t)1 << bit % 64;
    }
    assert_true(occ_sum(0, data, sizeof data - 1) != sum);
}

/* What is written is what the sum was made of. */
static void pieces_are_written_as_they_are_summed(void **state)
{
    enum { MADE = FILE_BLOCK + 77, GAP = FILE_BLOCK + 5 };
    World         *w = *state;
    char           path[] = "/tmp/occamyc_pieces_XXXXXX";
    int            descriptor = mkstemp(path);
    FilePiece      piece[3] = {{.bytes = GAP}, {.bytes = MADE, .make = count_up}, {.data = "end", .bytes = 3}};
    unsigned char *read_back = arena_alloc(w->arena, GAP + MADE + 4);
    FileSet        set = {.arena = w->arena};
    FILE          *file;

    assert_true(descriptor >= 0);
    close(descriptor);
    files_add_pieces(&set, path, piece, 3);
    assert_int_equal(files_publish(&set, &w->diag), 0);
    file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(read_back, 1, GAP + MADE + 4, file), GAP + MADE + 3);
    fclose(file);
    unlink(path);
    assert_true(emit_checksum(w->arena, 0, piece, 3) == occ_sum(0, read_back, GAP + MADE + 3));
    assert_memory_equal(read_back + GAP + MADE, "end", 3);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(panels_hold_every_weight),
        CASE(quads_hold_every_weight),
        CASE(transformed_weights_hold_every_filter),
        CASE(transformed_bytes_hold_every_filter),
        CASE(a_transposed_constant_is_another),
        CASE(equal_bytes_are_found_in_every_form),
        CASE(constants_that_are_read_lie_once_in_the_block),
        CASE(the_form_follows_the_bytes),
        cmocka_unit_test(sums_are_those_of_the_definition),
        CASE(sums_of_pieces_are_those_of_the_whole),
        cmocka_unit_test(wrong_bits_are_found),
        CASE(pieces_are_written_as_they_are_summed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
