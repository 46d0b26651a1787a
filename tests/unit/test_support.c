/* test_support.c - the arena, messages, growing text and whole-file writes. */
#include "support/arena.h"
#include "support/diag.h"
#include "support/files.h"
#include "support/map.h"
#include "support/sha256.h"
#include "support/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void allocations_are_zeroed_aligned_and_apart(void **state)
{
    Arena         *arena = arena_new(0);
    unsigned char *last = NULL;

    (void)state;
    for (size_t bytes = 0; bytes < 300000; bytes = bytes * 3 / 2 + 7) {
        unsigned char *now = arena_alloc(arena, bytes);
        assert_int_equal((uintptr_t)now % 64, 0);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(now[i], 0);
        memset(now, 0xa5, bytes);
        if (last)
            assert_int_equal(last[0], 0xa5);
        last = bytes ? now : NULL;
    }
    arena_free(arena);
}

static void released_memory_is_zeroed_again(void **state)
{
    Arena    *arena = arena_new(0);
    ArenaMark mark;
    size_t    before;

    (void)state;
    arena_alloc(arena, 10);
    mark = arena_mark(arena);
    before = arena_bytes(arena);
    memset(arena_alloc(arena, 1000), 1, 1000);
    memset(arena_alloc(arena, 1000000), 1, 1000000);
    assert_true(arena_bytes(arena) > before);
    arena_release(arena, mark);
    assert_int_equal(arena_bytes(arena), before);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(((char *)arena_alloc(arena, 1))[0], 0);
    arena_free(arena);
}

static void the_limit_jumps_out(void **state)
{
    Arena       *arena = arena_new(1000);
    jmp_buf      where;
    volatile int allocated = 0;

    (void)state;
    if (!setjmp(where)) {
        arena_on_exhausted(arena, &where);
        for (;;) {
            arena_alloc(arena, 100);
            allocated = allocated + 1;
        }
    }
    assert_in_range(allocated, 7, 10);
    arena_free(arena);
}

static void an_overflowing_array_counts_as_exhausted(void **state)
{
    Arena  *arena = arena_new(0);
    jmp_buf where;

    (void)state;
    if (!setjmp(where)) {
        arena_on_exhausted(arena, &where);
        arena_calloc(arena, SIZE_MAX / 4, 8);
        fail();
    }
    arena_free(arena);
}

static void pushed_elements_stay_in_order(void **state)
{
    Arena *arena = arena_new(0);
    int   *list = NULL, count = 0, capacity = 0;

    (void)state;
    for (int i = 0; i < 1000; i++)
        ARENA_PUSH(arena, list, count, capacity, i * i);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(list[i], i * i);
    assert_true(capacity >= count);
    arena_free(arena);
}

static void a_message_names_file_node_and_operator(void **state)
{
    Arena *arena = arena_new(0);
    Diag   diag = {.arena = arena, .file = "model.onnx"};
    Loc    loc = {.node = 12, .name = "conv3", .op = "Conv"},
        nested = {.graph = "body", .node = 1, .name = "", .op = "Add"};

    (void)state;
    diag_note(&diag, (Loc){0}, "ran");
    assert_int_equal(diag.status, DIAG_NONE);
    assert_int_equal(diag_error(&diag, loc, "found %d, wanted %d", 3, 4), -1);
    diag_unsupported(&diag, nested, "line\nbreak");
    assert_int_equal(diag.status, DIAG_INVALID);
    assert_int_equal(diag.nmessage, 3);
    assert_string_equal(diag.message[0], "model.onnx: ran");
    assert_string_equal(diag.message[1], "model.onnx: node 12 'conv3' (Conv): found 3, wanted 4");
    assert_string_equal(diag.message[2], "model.onnx: graph 'body': node 1 (Add): line?break");
    for (int i = 0; i < 1000; i++)
        diag_error(&diag, loc, "again");
    assert_int_equal(diag.nmessage, 100);
    arena_free(arena);
}

static void names_become_identifiers(void **state)
{
    static const char *const pair[][2] = {{"Plus214_Output_0", "Plus214_Output_0"},
                                          {"a:0", "a_0"},
                                          {"0x", "_0x"},
                                          {"int", "_int"},
                                          {"", "_"},
                                          {"class", "_class"},
                                          {"/a/b.c", "_a_b_c"},
                                          {"\xc3\xa4", "__"}};
    Arena                   *arena = arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
        assert_string_equal(text_identifier(arena, pair[i][0]), pair[i][1]);
    arena_free(arena);
}

static void floats_read_back_to_the_same_bits(void **state)
{
    static const float value[] = {0.0f, -0.0f, 1.5f, 3.14159274f, 1e-45f, 3.4028235e38f, -1e-38f};
    Arena             *arena = arena_new(0);
    Text               special = text_new(arena);

    (void)state;
    for (size_t i = 0; i < sizeof value / sizeof *value; i++) {
        Text  text = text_new(arena);
        float back;
        text_float(&text, value[i]);
        assert_int_equal(text.data[text.size - 1], 'f');
        back = strtof(text.data, NULL);
        assert_memory_equal(&back, &value[i], sizeof back);
    }
    text_float(&special, -INFINITY);
    text_put(&special, " ");
    text_double(&special, NAN);
    text_put(&special, " ");
    text_int64(&special, INT64_MIN);
    text_put(&special, " ");
    text_int64(&special, 5000000000);
    assert_string_equal(special.data, "-INFINITY (double)NAN (-9223372036854775807LL - 1) 5000000000LL");
    arena_free(arena);
}

static void quoted_text_and_comments_cannot_be_left(void **state)
{
    Arena *arena = arena_new(0);
    Text   text = text_new(arena);

    (void)state;
    text_quoted(&text, "a\"\\\n\0001?", 7);
    assert_string_equal(text.data, "\"a\\\"\\\\\\012\\0001\\?\"");
    assert_null(strstr(text_comment(arena, "x */ y /* z"), "*/"));
    assert_null(strchr(text_comment(arena, "a\nb"), '\n'));
    assert_string_equal(text_comment(arena, "conv1/Relu:0"), "conv1/Relu:0");
    arena_free(arena);
}

static void long_text_grows(void **state)
{
    Arena *arena = arena_new(0);
    Text   text = text_new(arena);

    (void)state;
    for (int i = 0; i < 5000; i++)
        text_printf(&text, "%04d ", i);
    assert_int_equal(text.size, 25000);
    assert_int_equal(strlen(text.data), 25000);
    assert_memory_equal(text.data + 4999 * 5, "4999 ", 5);
    arena_free(arena);
}

static void a_file_is_written_whole_or_not_at_all(void **state)
{
    char   path[] = "/tmp/occamyc_test_XXXXXX", back[8] = {0};
    int    file = mkstemp(path);
    Arena *arena = arena_new(0);
    Diag   diag = {.arena = arena, .file = "occamyc"};
    FILE  *read;

    (void)state;
    assert_true(file >= 0);
    close(file);
    assert_int_equal(files_write("/tmp", path + 5, "hello", 5, &diag), 0);
    read = fopen(path, "r");
    assert_int_equal(fread(back, 1, sizeof back, read), 5);
    fclose(read);
    assert_string_equal(back, "hello");
    assert_int_equal(files_write("/nowhere/at", "all", "x", 1, &diag), -1);
    if (!access("/dev/full", W_OK))
        assert_int_equal(files_write("/dev", "full", "x", 1, &diag), -1);
    arena_free(arena);
    remove(path);
}

/* The examples of FIPS 180-4, and lengths around a block's end against digests made by coreutils. */
static void digests_are_those_of_the_standard(void **state)
{
    static const struct {
        size_t      count; /* of the letter a; 0: the text */
        const char *text, *digest;
    } example[] = {
        {0, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {0, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {0, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {1000000, NULL, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof example / sizeof *example; i++) {
        size_t  bytes = example[i].count ? example[i].count : strlen(example[i].text);
        char   *data = malloc(bytes + 1), hex[65] = {0};
        uint8_t digest[32];
        memset(data, 'a', bytes + 1);
        if (example[i].text)
            memcpy(data, example[i].text, bytes);
        sha256(data, bytes, digest);
        for (int k = 0; k < 32; k++)
            snprintf(hex + 2 * k, 3, "%02x", digest[k]);
        assert_string_equal(hex, example[i].digest);
        free(data);
    }
}

static void a_map_finds_what_was_put(void **state)
{
    Arena *arena = arena_new(0);
    Map    map = {.arena = arena};
    int    number[1000];

    (void)state;
    assert_null(map_find(&map, "nothing"));
    for (int i = 0; i < 1000; i++)
        *map_put(&map, arena_printf(arena, "name%d", i)) = &number[i];
    for (int i = 0; i < 1000; i++)
        assert_ptr_equal(*map_find(&map, arena_printf(arena, "name%d", i)), &number[i]);
    assert_null(map_find(&map, "name1000"));
    assert_int_equal(map.count, 1000);
    arena_free(arena);
}

static int freed;

static void count_free(void *data)
{
    freed = freed * 10 + *(int *)data;
}

static void a_child_goes_with_its_parent(void **state)
{
    Arena     *parent = arena_new(0), *child = arena_child(parent);
    static int first = 1, second = 2;

    (void)state;
    freed = 0;
    arena_at_free(child, count_free, &first);
    arena_free(arena_child(parent));
    assert_int_equal(freed, 0);
    arena_at_free(parent, count_free, &second);
    arena_free(parent);
    assert_int_equal(freed, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_zeroed_aligned_and_apart),
        cmocka_unit_test(released_memory_is_zeroed_again),
        cmocka_unit_test(the_limit_jumps_out),
        cmocka_unit_test(an_overflowing_array_counts_as_exhausted),
        cmocka_unit_test(pushed_elements_stay_in_order),
        cmocka_unit_test(a_message_names_file_node_and_operator),
        cmocka_unit_test(names_become_identifiers),
        cmocka_unit_test(floats_read_back_to_the_same_bits),
        cmocka_unit_test(quoted_text_and_comments_cannot_be_left),
        cmocka_unit_test(long_text_grows),
        cmocka_unit_test(digests_are_those_of_the_standard),
        cmocka_unit_test(a_map_finds_what_was_put),
        cmocka_unit_test(a_child_goes_with_its_parent),
        cmocka_unit_test(a_file_is_written_whole_or_not_at_all),
    };

    return cmocka_run_group_tests_name("support", tests, NULL, NULL);
}
