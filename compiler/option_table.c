/* option_table.c - the table of options, and the functions that read their values. */
#include "option_table.h"

#include "device/gpu.h"
#include "emit/target.h"
#include "option_value.h"
#include "planners/planner.h"
#include "support/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int bad_value(WordReader *reader, const OptionRow *row, const char *value, const char *wanted)
{
    return diag_usage(reader->diag, "option %s: found '%s', wanted %s", row->name, value, wanted);
}

/* ----------------------------------------------------------------------------------------------------- plain values */

static int set_output(WordReader *reader, const OptionRow *row, const char *value)
{
    (void)row;
    reader->options->output = value;
    return 0;
}

static int set_name(WordReader *reader, const OptionRow *row, const char *value)
{
    bool good = isalpha((unsigned char)value[0]) || value[0] == '_';

    for (const char *c = value; *c; c++)
        good = good && (isalnum((unsigned char)*c) || *c == '_');
    if (!good || strcmp(text_identifier(reader->diag->arena, value), value))
        return bad_value(reader, row, value, "a C identifier");
    reader->options->name = value;
    return 0;
}

static int set_target(WordReader *reader, const OptionRow *row, const char *value)
{
    Text known = text_new(reader->diag->arena);

    reader->options->target = value;
    if (target_find(value))
        return 0;
    for (int i = 0; i < ntargets; i++)
        text_printf(&known, "%s%s", i ? ", " : "one of ", targets[i].name);
    return bad_value(reader, row, value, known.data);
}

/* The position of `value` among the NULL-terminated `word`s, or -1 with a message. */
static int find_word(WordReader *reader, const OptionRow *row, const char *value, const char *const *word)
{
    Text known = text_new(reader->diag->arena);

    for (int i = 0; word[i]; i++) {
        if (!strcmp(word[i], value))
            return i;
        text_printf(&known, "%s%s", i ? ", " : "one of ", word[i]);
    }
    return bad_value(reader, row, value, known.data);
}

static int set_place(WordReader *reader, const OptionRow *row, const char *value)
{
    (void)row;
    reader->options->placing = strcmp(value, "host") ? PLACING_AUTO : PLACING_HOST;
    reader->options->place = strcmp(value, "host") && strcmp(value, "auto") ? value : NULL;
    return 0;
}

static int set_gpu(WordReader *reader, const OptionRow *row, const char *value)
{
    Text known = text_new(reader->diag->arena);

    reader->options->gpu = value;
    if (gpu_find(value))
        return 0;
    for (int i = 0; i < ngpus; i++)
        text_printf(&known, "%s%s", i ? ", " : "one of ", gpus[i].name);
    return bad_value(reader, row, value, known.data);
}

/* One of some words, by their places in the field's type; the first unless told otherwise. */
#define WORD_OPTION(name, field, type, ...) \
    static int set_##name(WordReader *reader, const OptionRow *row, const char *value) \
    { \
        static const char *const word[] = {__VA_ARGS__, NULL}; \
        int                      which = find_word(reader, row, value, word); \
\
        reader->options->field = which < 0 ? (type)0 : (type)which; \
        return which < 0 ? -1 : 0; \
    }
WORD_OPTION(weights, plan.weights, WeightForm, [WEIGHTS_AUTO] = "auto", [WEIGHTS_INLINE] = "inline",
            [WEIGHTS_OBJECT] = "object", [WEIGHTS_FILE] = "file", [WEIGHTS_SWAP] = "swap")
WORD_OPTION(code, code, CodeForm, [CODE_AUTO] = "auto", [CODE_SHARED] = "shared")
WORD_OPTION(cascade, cascade, CascadeUse, [CASCADE_AUTO] = "auto", [CASCADE_OFF] = "off", [CASCADE_ON] = "on")
WORD_OPTION(winograd, winograd, Winograd, [WINOGRAD_AUTO] = "auto", [WINOGRAD_OFF] = "off", [WINOGRAD_ON] = "on")
WORD_OPTION(float16, rounds_float16, bool, "float", "rounded")
WORD_OPTION(in_place, no_in_place, bool, "auto", "off")
WORD_OPTION(overlap, no_overlap, bool, "auto", "off")
WORD_OPTION(elision, no_elision, bool, "auto", "off")
WORD_OPTION(graph, no_graph, bool, "auto", "off")
WORD_OPTION(order, plan.reorder, bool, "model", "auto")

static int set_io(WordReader *reader, const OptionRow *row, const char *value)
{
    static const char *const word[] = {"caller", "arena", "device", NULL};
    int                      which = find_word(reader, row, value, word);

    reader->options->plan.io_arena = which == 1;
    reader->options->io_device = which == 2;
    return which < 0 ? -1 : 0;
}

static int set_dump(WordReader *reader, const OptionRow *row, const char *value)
{
    static const char *const word[] = {"graph", "program", "plan", "libraries", NULL};

    reader->options->dump = value;
    return find_word(reader, row, value, word) < 0 ? -1 : 0;
}

static int set_planner(WordReader *reader, const OptionRow *row, const char *value)
{
    Text known = text_new(reader->diag->arena);

    reader->options->plan.planner = value;
    if (!strcmp(value, "auto") || plan_planner(value))
        return 0;
    text_put(&known, "one of auto");
    for (const PlanPlanner *planner = plan_planners; planner->name; planner++)
        text_printf(&known, ", %s", planner->name);
    return bad_value(reader, row, value, known.data);
}

#define NUMBER_OPTION(field, least, most, wanted) \
    static int set_##field(WordReader *reader, const OptionRow *row, const char *value) \
    { \
        int64_t number; \
\
        if (!value_number(value, value + strlen(value), &number) || number < (least) || number > (most)) \
            return bad_value(reader, row, value, wanted); \
        reader->options->field = (int)number; \
        return 0; \
    }
NUMBER_OPTION(threads, 0, 1024, "a number from 0 to 1024")
NUMBER_OPTION(queues, 1, 8, "a number from 1 to 8")
NUMBER_OPTION(part_time, 0, 1000000, "a whole number of microseconds from 0 to 1000000")

static int set_time_limit(WordReader *reader, const OptionRow *row, const char *value)
{
    char  *end;
    double seconds = strtod(value, &end);

    if (!*value || *end || !(seconds > 0.0) || seconds > 1e9)
        return bad_value(reader, row, value, "a number of seconds above 0");
    reader->options->plan.seconds = seconds;
    return 0;
}

static int set_winograd_error(WordReader *reader, const OptionRow *row, const char *value)
{
    char  *end;
    double error = strtod(value, &end);

    if (!*value || *end || !(error > 0.0) || error > 1.0)
        return bad_value(reader, row, value, "a number above 0, up to 1");
    reader->options->winograd_error = error;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ sizes */

#define SIZE_OPTION(field) \
    static int set_##field(WordReader *reader, const OptionRow *row, const char *value) \
    { \
        if (value_size(value, &reader->options->field)) \
            return 0; \
        return bad_value(reader, row, value, \
                         "a whole number of bytes, or one with K, KiB, M, MiB, G or GiB (powers of 1024)"); \
    }
SIZE_OPTION(max_ram)
SIZE_OPTION(max_flash)
SIZE_OPTION(max_stack)
SIZE_OPTION(device_memory)

/* Latency and alignment that are not given: of a disk. */
static int set_load_rate(WordReader *reader, const OptionRow *row, const char *value)
{
    Loader loader = {.latency = 80e3, .align = 4096};

    if (!value_loader(reader->diag->arena, value, &loader))
        return bad_value(
            reader, row, value,
            "bytes a second, as 2G, and maybe the time of a load that is alone and the alignment of loads, "
            "as 20M:300us:512");
    reader->options->loader = loader;
    return 0;
}

/* A member of the generated memory struct must not have this name. */
static bool is_claimed(const PlanOptions *plan, const char *name)
{
    static const char *const members[] = {"weights", "state", "parallel_for", "parallel_context"};
    bool                     claimed = false;

    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        claimed |= !strcmp(name, members[i]);
    for (int r = 0; r < plan->nregion; r++)
        claimed |= !strcmp(name, plan->region[r].name);
    return claimed;
}

static int set_region(WordReader *reader, const OptionRow *row, const char *value)
{
    Arena       *arena = reader->diag->arena;
    PlanOptions *plan = &reader->options->plan;
    const char  *size = strchr(value, ':'), *align = size ? strchr(size + 1, ':') : NULL;
    MemoryRegion region = {.align = 1};

    if (plan->nregion == MAX_REGIONS)
        return bad_value(reader, row, value, "at most 8 regions");
    region.name = size ? arena_strndup(arena, value, (size_t)(size - value)) : "";
    if (!*region.name || strcmp(text_identifier(arena, region.name), region.name) || is_claimed(plan, region.name) ||
        !size ||
        !value_size(align ? arena_strndup(arena, size + 1, (size_t)(align - size - 1)) : size + 1, &region.size) ||
        region.size < 1 ||
        (align && (!value_size(align + 1, &region.align) || region.align < 1 || region.align > 1 << 30 ||
                   (region.align & (region.align - 1)))))
        return bad_value(reader, row, value,
                         "NAME:SIZE or NAME:SIZE:ALIGN, NAME a C identifier of its own and ALIGN a power of two");
    plan->region[plan->nregion++] = region;
    plan->ranked = true;
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------- extents */

static int set_dim(WordReader *reader, const OptionRow *row, const char *value)
{
    DimBound bound;

    if (!value_bound(reader->diag->arena, value, &bound))
        return bad_value(reader, row, value,
                         "NAME=N, NAME=A..B, VALUE:AXIS=N or VALUE:AXIS=A..B with A <= B "
                         "(AXIS: a number, count, elements, bytes or values), or NAME=N|N|N with sizes that differ");
    ARENA_PUSH(reader->diag->arena, reader->options->bound, reader->options->nbound, reader->cbound, bound);
    return 0;
}

/* ----------------------------------------------------------------------------------------------------- other values */

static int set_state(WordReader *reader, const OptionRow *row, const char *value)
{
    const char *colon = strchr(value, ':');

    if (!colon || colon == value || !colon[1])
        return bad_value(reader, row, value, "OUT:IN, an output and the input that it feeds in the next run");
    ARENA_PUSH(reader->diag->arena, reader->state, reader->options->nstate, reader->cstate, value);
    reader->options->state = reader->state;
    return 0;
}

#define TEXT_OPTION(field, wanted) \
    static int set_##field(WordReader *reader, const OptionRow *row, const char *value) \
    { \
        if (!*value) \
            return bad_value(reader, row, value, wanted); \
        reader->options->field = value; \
        return 0; \
    }
TEXT_OPTION(cc, "a command, like 'arm-none-eabi-gcc -mcpu=cortex-m4 -Os'")
TEXT_OPTION(baseline, "a report written by --report")
TEXT_OPTION(report, "a file name")
TEXT_OPTION(tune, "a file name")
TEXT_OPTION(tuned, "a file written by --tune")
TEXT_OPTION(map, "a file name")
TEXT_OPTION(budget_curve, "a file name")
TEXT_OPTION(profile, "a file that a host program wrote")
TEXT_OPTION(main, "a file name")

static int set_verify(WordReader *reader, const OptionRow *row, const char *value)
{
    (void)row;
    reader->options->verify = value ? value : "";
    return 0;
}

#define FLAG_OPTION(field) \
    static int set_##field(WordReader *reader, const OptionRow *row, const char *value) \
    { \
        (void)row, (void)value; \
        reader->options->field = true; \
        return 0; \
    }
FLAG_OPTION(explain_peak)
FLAG_OPTION(verify_nodes)
FLAG_OPTION(tf32)
FLAG_OPTION(fp16)
FLAG_OPTION(quiet)
FLAG_OPTION(version)
FLAG_OPTION(help)

const OptionRow option_rows[] = {
    /* name          value                     bare   shapes set             help */
    {"-o", "MODEL.c", false, false, set_output,
     "write the source there and the header beside it; - writes the source to standard output; without -o the plan is "
     "only made and checked"},
    {"--name", "IDENT", false, true, set_name, "prefix of everything generated (default: the model file's stem)"},
    {"--target", "T", false, true, set_target, "what to generate for, as listed below (default: portable)"},
    {"--gpu", "NAME", false, true, set_gpu,
     "with --target=cuda: the device that grids are made for, as h100, a100 or orin (default: generic); any other one "
     "gives "
     "the same bits"},
    {"--tf32", NULL, false, true, set_tf32,
     "with --target=cuda: float convolutions, matrix products and attention on tensor cores where the device has them "
     "(sm_80 and newer), their factors rounded to 11 significant bits; not the same bits as the processor's"},
    {"--fp16", NULL, false, true, set_fp16,
     "likewise with factors of half precision: those from 65520 on become infinity; sums, and tensors in memory, are "
     "float; not with --tf32"},
    {"--place", "auto|host|FILE", false, true, set_place,
     "with --target=cuda: run steps on the device where they can (default), or all on the host, or those of the nodes "
     "that the file names, one a line"},
    {"--graph", "auto|off", false, true, set_graph,
     "with --target=cuda: open captures what the device does in a run as one graph, which a run launches at once, "
     "where every run does the same, else a graph for each stretch of steps between those of the host (default), or "
     "steps are put into the stream one by one"},
    {"--dim", "NAME=N|NAME=A..B|VALUE:AXIS=A..B|'NAME=N|N|N'", false, true, set_dim,
     "pin or bound a run-time extent; AXIS may be count, elements, bytes, or values (of a small integer tensor); "
     "N|N|N: code of its own for each of these sizes, chosen by each run; repeatable"},
    {"--weights", "auto|inline|object|file|swap", false, true, set_weights,
     "constants as C arrays, as an object made from a side file, read from a file at init, or loaded block by block "
     "while the model runs, within --max-ram (swap)"},
    {"--load-rate", "RATE[:LATENCY[:ALIGN]]", false, true, set_load_rate,
     "with --weights=swap: the assumed speed of loads, as 2G:80us:4096 of a disk (default), 20M:300us:32 of a memory "
     "card (cortex-m)"},
    {"--threads", "N", false, true, set_threads,
     "cut steps into slices for N threads, which your parallel_for (or runtime/pool.h) runs"},
    {"--part-time", "MICROSECONDS", false, true, set_part_time,
     "with --threads: least predicted work of a slice; smaller steps stay whole (default: 10)"},
    {"--queues", "N", false, true, set_queues,
     "run independent branches at the same time, on N queues of steps (2, say) that your parallel_for or "
     "runtime/pool.h runs as N tasks; order and waits are decided at compile time; not with --threads"},
    {"--io", "caller|arena|device", false, true, set_io,
     "inputs and outputs stay with the caller (default), are planned into the arena, or, with --target=cuda, lie in "
     "the device's memory"},
    {"--region", "NAME:SIZE[:ALIGN]", false, true, set_region,
     "split the arena over several memories; repeated, fast to slow: the first serves the most bytes that steps read "
     "and write"},
    {"--state", "OUT:IN", false, true, set_state,
     "keep an output as the next run's input in the state block; repeatable"},
    {"--code", "auto|shared", false, true, set_code, "specialise kernels for each shape, or share one copy of each"},
    {"--float16", "float|rounded", false, true, set_float16,
     "keep results of float16 and bfloat16 that are computed in float as float until they leave the network (default), "
     "or round each to its type: two bytes an element in the arena where it is kept, slower"},
    {"--winograd", "auto|off|on", false, true, set_winograd,
     "3x3 convolutions by Winograd's transform: faster, with 1.8 or 4 times their weights, or 3.6 or 8 times for bytes "
     "(auto: where the target has room)"},
    {"--winograd-error", "R", false, true, set_winograd_error,
     "greatest expected rounding error of such a layer, relative to the root mean square of its results (default: "
     "5e-5)"},
    {"--cascade", "auto|off|on", false, true, set_cascade,
     "compute chains of convolutions and pools strip by strip of rows, so that the tensors between them are never "
     "whole "
     "in memory (auto: where these are large); with Winograd the last bits may differ"},
    {"--in-place", "auto|off", false, true, set_in_place,
     "store a result over an operand that dies with it, or (off) never"},
    {"--overlap", "auto|off", false, true, set_overlap,
     "let the result of a convolution, pool, copy, resize or Gather follow its dying input through the same memory, or "
     "(off) never"},
    {"--elision", "auto|off", false, true, set_elision,
     "compute the members of Concat in place and let readers of Split and Slice read the whole tensor, or (off) copy "
     "them"},
    {"--tune", "FILE", false, false, set_tune,
     "build the network once with each algorithm for its convolutions, time the steps here (with --cc, default: cc -O2 "
     "-march=native) and write the fastest"},
    {"--tuned", "FILE", false, SHAPES_FILE, set_tuned,
     "use the algorithms that a file written by --tune lists, for the shapes in it; with --target=cuda, the engines of "
     "cuDNN and the products for cuBLASLt that occam-engines wrote"},
    {"--planner", "auto|NAME", false, true, set_planner,
     "one of the planners below instead of the best plan of all (default)"},
    {"--order", "auto|model", false, true, set_order,
     "search for an order of steps with a smaller peak (default), or keep the model's"},
    {"--time-limit", "SECONDS", false, true, set_time_limit,
     "stop searching after this time; the output then depends on the machine"},
    {"--explain-peak", NULL, false, false, set_explain_peak,
     "name the step at the arena's peak, the tensors live there, and what each remedy would save"},
    {"--max-ram", "SIZE", false, false, set_max_ram,
     "fail with status 4 when arena, state, inputs, outputs and stack need more"},
    {"--device-memory", "SIZE", false, false, set_device_memory,
     "with --target=cuda: fail with status 4 when constants, tensors and scratch need more of the device's memory"},
    {"--max-flash", "SIZE", false, false, set_max_flash,
     "fail with status 4 when weights and code need more (needs --cc)"},
    {"--max-stack", "SIZE", false, false, set_max_stack,
     "fail with status 4 when the deepest call chain needs more (needs --cc)"},
    {"--cc", "COMMAND", false, false, set_cc, "the target's compiler and its flags, for stack and code size"},
    {"--baseline", "OLD.json", false, false, set_baseline,
     "fail with status 4 where the plan got worse than that report's, naming the tensor"},
    {"--report", "FILE.json", false, false, set_report, "write the plan for machines"},
    {"--map", "FILE.svg|.html", false, false, set_map, "draw the plan for people"},
    {"--profile", "FILE", false, SHAPES_FILE, set_profile,
     "with --weights=swap or --queues: plan for the times of steps and loads that a host program measured"},
    {"--budget-curve", "FILE.svg", false, false, set_budget_curve,
     "with --weights=swap: draw the predicted time of a run over the memory that it may take"},
    {"--main", "FILE.c", false, false, set_main, "write a host program that reads and writes raw files"},
    {"--verify", "DIR", true, false, set_verify,
     "build, run and compare with the stored inputs and outputs under DIR, or with ONNX Runtime"},
    {"--verify-nodes", NULL, false, false, set_verify_nodes,
     "with --verify: compare the value of every node with ONNX Runtime's, to find the first that differs"},
    {"--dump", "graph|program|plan|libraries", false, false, set_dump,
     "print that stage as text, or the steps of the device that a vendor's library could compute"},
    {"--quiet", NULL, false, false, set_quiet, "no summary"},
    {"--version", NULL, false, false, set_version, "print the version"},
    {"--help", NULL, false, false, set_help, "print this text"},
};
const int noption_rows = sizeof option_rows / sizeof *option_rows;
