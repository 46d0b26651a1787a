/* test_csv.c - the CSV reader on good, bad and mutilated text, and the command occamplan end to end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "oracle.h"
#include "tools/occamplan/csv.h"

static int read_text(const char *text, CsvTable *table, char why[160])
{
    return csv_read(text, strlen(text), table, why);
}

static void every_column_is_read(void **state)
{
    const char *text = "size,id,upper,lower,alignment,offset,gaps,colour\r\n"
                       "10,first,9,1,4,8,,red\r\n"
                       "20,second,20,2,1,,4-6 8-10@5:15,blue\r\n\r\n";
    CsvTable    t;
    char        why[160];

    (void)state;
    assert_int_equal(read_text(text, &t, why), 0);
    assert_int_equal(t.problem.nbuffer, 2);
    assert_int_equal(t.problem.nstep, 19);
    assert_int_equal(t.problem.buffer[0].align, 4);
    assert_int_equal(t.offset[0], 8);
    assert_int_equal(t.offset[1], -1);
    assert_int_equal(t.problem.nspan, 5); /* 1-9; 2-4, 6-8, 8-10 in part, 10-20 */
    assert_int_equal(t.problem.span[3].lo, 5);
    assert_int_equal(t.problem.span[3].hi, 15);
    assert_int_equal(t.problem.span[3].begin, 8 - 1);
    csv_fix(&t);
    assert_int_equal(t.problem.buffer[0].fixed, 8);
    assert_int_equal(t.problem.buffer[1].fixed, -1);
    csv_free(&t);
}

static void an_end_column_counts_the_last_step_in(void **state)
{
    CsvTable t;
    char     why[160];

    (void)state;
    assert_int_equal(read_text("buffer_id,start,end,size\na,0,3,7\nb,4,4,7\n", &t, why), 0);
    assert_int_equal(t.problem.span[0].end, 4);
    assert_int_equal(t.problem.span[1].end, 5);
    csv_free(&t);
}

static void times_may_be_any_numbers(void **state)
{
    CsvTable t;
    char     why[160];

    (void)state;
    assert_int_equal(read_text("id,lower,upper,size\na,-900000000000000000,0,7\nb,0,900000000000000000,7\n", &t, why),
                     0);
    assert_int_equal(t.problem.nstep, 2);
    csv_free(&t);
}

static void offsets_are_written_back(void **state)
{
    const int64_t offset[] = {5, 0};
    CsvTable      t;
    char          why[160], *text;

    (void)state;
    assert_int_equal(read_text("id,lower,upper,size\na,0,3,7\nb,1,4,5\n", &t, why), 0);
    text = csv_write(&t, offset, NULL);
    assert_string_equal(text, "id,lower,upper,size,offset\na,0,3,7,5\nb,1,4,5,0\n");
    csv_free(&t);
    assert_int_equal(read_text(text, &t, why), 0);
    free(text);
    assert_int_equal(t.offset[0], 5);
    text = csv_write(&t, (const int64_t[]){6, 1}, NULL);
    assert_string_equal(text, "id,lower,upper,size,offset\na,0,3,7,6\nb,1,4,5,1\n");
    free(text);
    csv_free(&t);
}

static void bad_text_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "no header"},
        {"\n\n", "no header"},
        {"id,lower,upper\n", "lacks the column 'size'"},
        {"id,lower,upper,size,size\n", "two columns say 'size'"},
        {"id,lower,upper,size,end\n", "two columns say"},
        {"id,lower,upper,size\na,0,3\n", "line 2: 3 fields, but the header has 4"},
        {"id,lower,upper,size\na,0,3,1,1\n", "line 2: more than 4 fields"},
        {"id,lower,upper,size\na,0,3,4\nb,0,x,4\n", "line 3: upper: 'x'"},
        {"id,lower,upper,size\na,0,3,\n", "size: ''"},
        {"id,lower,upper,size\na,0,3,9999999999999999999\n", "size: '9999999999999999999'"},
        {"id,lower,upper,size\na,4,3,1\n", "lower is beyond upper"},
        {"id,lower,upper,size\na,0,3,-1\n", "negative"},
        {"id,lower,upper,size,alignment\na,0,3,1,0\n", "alignment"},
        {"id,lower,upper,size,gaps\na,0,9,1,3\n", "gaps"},
        {"id,lower,upper,size,gaps\na,0,9,1,5-3\n", "gaps"},
        {"id,lower,upper,size,gaps\na,0,9,1,5-11\n", "gaps"},
        {"id,lower,upper,size,gaps\na,0,9,1,5-6 4-5\n", "gaps"},
        {"id,lower,upper,size,gaps\na,0,9,4,5-6@2:5\n", "gaps"},
        {"id,lower,upper,size\na,0,3,900000000000000000\nb,0,3,900000000000000000\n", "2^60"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CsvTable t;
        char     why[160];
        assert_int_equal(read_text(bad[i].text, &t, why), PLAN_EINVAL);
        if (!strstr(why, bad[i].says))
            fail_msg("'%s' should say '%s'", why, bad[i].says);
    }
}

static void mutilated_text_never_hurts(void **state)
{
    static const char good[] =
        "id,lower,upper,size,alignment,gaps,offset\na,0,9,10,2,3-5 6-7@1:4,\nb,2,12,8,1,,4\nc,1,5,3,4,2-3@0:1,\n";
    static const char letters[] = "0123456789,-@:\n\r .azE+";
    uint64_t          seed = 31;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        char     text[sizeof good], why[160];
        CsvTable t;
        size_t   length = sizeof good - 1;
        memcpy(text, good, sizeof good);
        for (int k = 1 + oracle_below(&seed, 4); k > 0; k--)
            text[oracle_below(&seed, (int)length)] = oracle_below(&seed, 50)
                                                         ? letters[oracle_below(&seed, sizeof letters - 1)]
                                                         : (char)oracle_below(&seed, 256);
        if (oracle_below(&seed, 4) == 0)
            length = (size_t)oracle_below(&seed, (int)length);
        if (csv_read(text, length, &t, why) == 0) {
            int64_t   *offset = calloc((size_t)t.problem.nbuffer + 1, sizeof *offset);
            PlanLimits limits = {.nodes = 100};
            PlanResult r = {.offset = offset};
            char      *out;
            csv_fix(&t);
            (void)plan_place(&t.problem, &limits, &r);
            out = csv_write(&t, offset, NULL);
            assert_non_null(out);
            free(out);
            free(offset);
            csv_free(&t);
        } else {
            assert_true(strlen(why) > 0);
        }
    }
}

/* -- the command --------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/occamplan.XXXXXX";

static int run(const char *arguments)
{
    const char *command = getenv("OCCAMPLAN");
    char        line[1024];

    snprintf(line, sizeof line, "OCCAMPLAN=%s; D=%s; %s >$D/stdout 2>$D/stderr", command ? command : "build/occamplan",
             folder, arguments);
    return WEXITSTATUS(system(line));
}

static void put(const char *name, const char *text)
{
    char  path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void the_file_says(const char *name, const char *what)
{
    char   path[256], text[8192];
    size_t length;
    FILE  *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "r");
    assert_non_null(file);
    length = fread(text, 1, sizeof text - 1, file);
    text[length] = 0;
    fclose(file);
    if (!strstr(text, what))
        fail_msg("%s should say '%s': %s", name, what, text);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    put("small.csv", "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n");
    put("bad.csv", "id,lower,upper\nb1,0,3\n");
    put("clash.csv", "id,lower,upper,size,offset\nb1,0,3,4,0\nb2,1,9,4,2\n");
    return 0;
}

static int tear_down(void **state)
{
    char line[128];

    (void)state;
    snprintf(line, sizeof line, "rm -r %s", folder);
    return system(line);
}

static void the_command_plans_and_checks(void **state)
{
    (void)state;
    assert_int_equal(run("$OCCAMPLAN --input=$D/small.csv --output=$D/out.csv --map=$D/out.svg --capacity=12"), 0);
    the_file_says("stdout", "peak 12 bytes, bound 12, optimal: equals the bound");
    the_file_says("stdout", "buffers alone need the bound: b");
    the_file_says("out.csv", "id,lower,upper,size,offset\nb1,0,3,4,");
    the_file_says("out.svg", "</svg>");
    assert_int_equal(run("$OCCAMPLAN --check $D/out.csv"), 0);
    assert_int_equal(run("$OCCAMPLAN --check=$D/out.csv --input=$D/small.csv"), 0);
    the_file_says("stdout", "right: peak 12 bytes, bound 12");
    assert_int_equal(run("$OCCAMPLAN <$D/small.csv"), 0);
    the_file_says("stdout", "id,lower,upper,size,offset\n");
    the_file_says("stderr", "peak 12 bytes");
    /* a pipe is written to, not replaced by a file */
    assert_int_equal(
        run("mkfifo $D/pipe; cat $D/pipe >$D/piped.csv & $OCCAMPLAN --input=$D/small.csv --output=$D/pipe; "
            "wait; test -p $D/pipe && grep -q offset $D/piped.csv"),
        0);
}

static void the_command_is_deterministic(void **state)
{
    (void)state;
    assert_int_equal(run("$OCCAMPLAN --input=$D/small.csv --seed=3 --nodes=100 --output=$D/one.csv"), 0);
    assert_int_equal(run("$OCCAMPLAN --input=$D/small.csv --seed=3 --nodes=100 --output=$D/two.csv"), 0);
    assert_int_equal(run("cmp $D/one.csv $D/two.csv"), 0);
}

static void the_command_fails_with_the_right_status(void **state)
{
    (void)state;
    assert_int_equal(run("$OCCAMPLAN --input=$D/bad.csv"), 2);
    the_file_says("stderr", "lacks the column 'size'");
    assert_int_equal(run("$OCCAMPLAN --input=$D/absent.csv"), 2);
    assert_int_equal(run("$OCCAMPLAN --nonsense"), 2);
    assert_int_equal(run("$OCCAMPLAN --capacity=-3 --input=$D/small.csv"), 2);
    assert_int_equal(run("$OCCAMPLAN --planner=none --input=$D/small.csv"), 2);
    the_file_says("stderr", "--planner=none: no such planner; wanted one of best, exact, ");
    assert_int_equal(run("$OCCAMPLAN --check $D/clash.csv"), 2);
    the_file_says("stderr", "buffers 0 and 1 overlap");
    assert_int_equal(run("$OCCAMPLAN --input=$D/clash.csv"), 4);
    the_file_says("stderr", "buffers 0 and 1 are fixed on each other");
    assert_int_equal(run("$OCCAMPLAN --input=$D/clash.csv --region=64 --region=64:4"), 0);
    assert_int_equal(run("$OCCAMPLAN --input=$D/clash.csv --region=64:4"), 2);
    the_file_says("stderr", "buffer 1: fixed at 2, which the alignment of each of its regions forbids");
    assert_int_equal(run("$OCCAMPLAN --input=$D/small.csv --capacity=11 --output=$D/none.csv"), 4);
    the_file_says("stdout", "infeasible at 11: proven");
    assert_int_equal(run("test -e $D/none.csv"), 1);
    assert_int_equal(run("$OCCAMPLAN --input=$D/small.csv --output=$D/no/such/folder.csv"), 3);
    assert_int_equal(run("$OCCAMPLAN --help"), 0);
    the_file_says("stdout", "bigger-first");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_is_read),
        cmocka_unit_test(an_end_column_counts_the_last_step_in),
        cmocka_unit_test(times_may_be_any_numbers),
        cmocka_unit_test(offsets_are_written_back),
        cmocka_unit_test(bad_text_is_refused_with_its_line),
        cmocka_unit_test(mutilated_text_never_hurts),
    };
    const struct CMUnitTest command[] = {
        cmocka_unit_test(the_command_plans_and_checks),
        cmocka_unit_test(the_command_is_deterministic),
        cmocka_unit_test(the_command_fails_with_the_right_status),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);

    return (failures + cmocka_run_group_tests(command, set_up, tear_down)) != 0;
}
