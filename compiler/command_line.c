/* command_line.c - reads the words of the command line by the table of options, and prints their help. Knows nothing of
 * models. */
#include "command_line.h"

#include "emit/target.h"
#include "option_table.h"
#include "planners/planner.h"

#include <string.h>

#define WINOGRAD_ERROR 5e-5 /* a tenth of what differs anyway between two libraries after some layers */

/* The row that `argument` names and, after an equal sign, its value (else *value is NULL). */
static const OptionRow *find_row(const char *argument, const char **value)
{
    *value = NULL;
    for (int i = 0; i < noption_rows; i++) {
        const OptionRow *row = &option_rows[i];
        size_t           length = strlen(row->name);

        if (!strcmp(argument, row->name))
            return row;
        if (row->name[1] == '-' && !strncmp(argument, row->name, length) && argument[length] == '=') {
            *value = argument + length + 1;
            return row;
        }
    }
    return NULL;
}

/* One word for the banner, quoted where a shell would need it. */
static void put_word(Text *line, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%";
    bool              quote = !*word || word[strspn(word, plain)];

    text_printf(line, quote ? " '%s'" : " %s", word);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Take the option at argv[*at], with the next word when it needs one. */
static int take_option(WordReader *reader, int argc, char *const *argv, int *at, Text *line)
{
    const char      *argument = argv[*at], *value;
    const OptionRow *row = find_row(argument, &value);

    if (!row)
        return diag_usage(reader->diag, "unknown option '%s'; occamyc --help lists the options", argument);
    if (!row->value && value)
        return diag_usage(reader->diag, "option %s takes no value, found '%s'", row->name, value);
    if (row->value && !value && !row->bare) {
        if (*at + 1 >= argc)
            return diag_usage(reader->diag, "option %s needs a value: %s", row->name, row->value);
        value = argv[++*at];
    }
    if (row->shapes && !row->value)
        put_word(line, row->name);
    else if (row->shapes)
        put_word(line, arena_printf(reader->diag->arena, "%s=%s", row->name,
                                    row->shapes == SHAPES_FILE ? base_name(value) : value));
    return row->set(reader, row, value);
}

static int take_model(WordReader *reader, const char *argument)
{
    if (reader->options->model)
        return diag_usage(reader->diag, "found a second model '%s' after '%s', wanted one", argument,
                          reader->options->model);
    reader->options->model = argument;
    return 0;
}

/* An option whose work comes behind the stages that can be dumped; NULL: none is given. */
static const char *late_option(const Options *o)
{
    const struct {
        bool        given;
        const char *name;
    } late[] = {{o->verify, "--verify"},
                {o->tune, "--tune"},
                {o->report, "--report"},
                {o->map, "--map"},
                {o->main, "--main"},
                {o->budget_curve, "--budget-curve"},
                {o->baseline, "--baseline"},
                {o->max_flash >= 0, "--max-flash"},
                {o->max_stack >= 0, "--max-stack"},
                {o->explain_peak, "--explain-peak"}};

    for (size_t i = 0; i < sizeof late / sizeof *late; i++)
        if (late[i].given)
            return late[i].name;
    return NULL;
}

/* The output file must have an extension of the target; only targets that write C can be built here. */
static int check_target(const Options *options, Diag *diag)
{
    const Target *target = target_of(options);

    if (!target)
        return 0; /* reported already */
    if (options->output && strcmp(options->output, "-") && !target_writes(target, options->output))
        return diag_usage(diag, "option -o: found '%s', wanted a file name that ends in %s, or -", options->output,
                          target->printer->extension);
    if (options->io_device && target->language != LANGUAGE_DEVICE)
        return diag_usage(diag, "option --io: found 'device' with --target=%s, wanted a target with a device",
                          target->name);
    if (options_factors(options) && target->language != LANGUAGE_DEVICE)
        return diag_usage(diag, "found --%s with --target=%s, wanted --target=cuda, or none of it",
                          options_factors(options), target->name);
    if (options->tf32 && options->fp16)
        return diag_usage(diag, "found --tf32 with --fp16, wanted one of them: either kind of factors, not both");
    if ((options->cc || options->tune) && target->printer != &c_printer)
        return diag_usage(diag, "found %s with --target=%s, wanted a target of C", options->cc ? "--cc" : "--tune",
                          target->name);
    if (options->verify && target->printer != &c_printer && target->language != LANGUAGE_DEVICE)
        return diag_usage(diag, "found --verify with --target=%s, wanted a target whose code can be built and run here",
                          target->name);
    return 0;
}

int options_parse(Options *options, int argc, char *const *argv, Diag *diag)
{
    WordReader reader = {.options = options, .diag = diag};
    Text       line = text_new(diag->arena), shaping = text_new(diag->arena);
    bool       only_files = false;
    int        failures = 0;

    *options = (Options){.max_ram = -1,
                         .device_memory = -1,
                         .max_flash = -1,
                         .max_stack = -1,
                         .winograd_error = WINOGRAD_ERROR,
                         .part_time = 10,
                         .plan = {.planner = "auto", .reorder = 1}};
    for (int i = 1; i < argc; i++) {
        if (!only_files && !strcmp(argv[i], "--"))
            only_files = true;
        else if (!only_files && argv[i][0] == '-' && argv[i][1])
            failures += take_option(&reader, argc, argv, &i, &shaping) < 0;
        else
            failures += take_model(&reader, argv[i]) < 0;
    }
    if (options->queues > 1 && options->threads > 1)
        failures += diag_usage(diag,
                               "found --queues=%d with --threads=%d, wanted one of them: either branches or the parts "
                               "of a step run at "
                               "the same time",
                               options->queues, options->threads) < 0;
    if (options->queues > 1 && options->plan.weights == WEIGHTS_SWAP)
        failures +=
            diag_usage(diag,
                       "found --queues=%d with --weights=swap, wanted one of them: loads are placed between the "
                       "steps of one queue; --threads=%d uses as many processors",
                       options->queues, options->queues) < 0;
    if (options->dump && !options->output && late_option(options))
        failures +=
            diag_usage(diag,
                       "found --dump=%s with %s, wanted -o beside them, or one of them: without -o the dump is all "
                       "that is made",
                       options->dump, late_option(options)) < 0;
    if (!options->model && !options->help && !options->version && !failures)
        failures +=
            diag_usage(diag,
                       "found no model, wanted: occamyc MODEL.onnx [-o MODEL.c]; occamyc --help lists the options") < 0;
    failures += check_target(options, diag) < 0;
    options->plan.one_file = options->output && !strcmp(options->output, "-");
    text_put(&line, "occamyc");
    if (options->model)
        put_word(&line, base_name(options->model));
    if (options->output) {
        text_put(&line, " -o");
        put_word(&line, base_name(options->output));
    }
    if (shaping.data)
        text_put(&line, shaping.data);
    options->command_line = line.data;
    return failures ? -1 : 0;
}

/* `help` in lines of at most 118 columns, indented by 28. */
static void put_wrapped(Text *text, const char *help)
{
    enum { INDENT = 28, WIDTH = 118 };
    int column = INDENT;

    while (*help) {
        int length = (int)strcspn(help, " ");

        if (column > INDENT && column + 1 + length > WIDTH) {
            text_printf(text, "\n%*s", INDENT, "");
            column = INDENT;
        }
        text_printf(text, "%s%.*s", column > INDENT ? " " : "", length, help);
        column += length + (column > INDENT);
        help += length;
        help += *help == ' ';
    }
    text_put(text, "\n");
}

void options_help(Text *text)
{
    text_put(text, "occamyc MODEL.onnx [-o MODEL.c] [options]\n"
                   "compiles a trained network to C source whose memory is planned to the byte\n\n");
    for (int i = 0; i < noption_rows; i++) {
        const OptionRow *row = &option_rows[i];
        const char      *shown = row->value ? row->value : "";
        const char      *join = !row->value ? "" : row->name[1] == '-' ? (row->bare ? "[=" : "=") : " ";
        int              width = (int)(strlen(row->name) + strlen(join) + strlen(shown) + row->bare);

        text_printf(text, "  %s%s%s%s", row->name, join, shown, row->bare ? "]" : "");
        if (width > 24)
            text_printf(text, "\n%*s", 28, "");
        else
            text_printf(text, "%*s", 26 - width, "");
        put_wrapped(text, row->help);
    }
    text_put(text, "\nTargets:\n");
    for (int i = 0; i < ntargets; i++)
        text_printf(text, "  %-16s %s\n", targets[i].name, targets[i].help);
    text_put(text, "\nPlanners:\n");
    for (const PlanPlanner *planner = plan_planners; planner->name; planner++)
        text_printf(text, "  %-16s %s\n", planner->name, planner->about);
    text_put(text, "\nSIZE: bytes, or a whole number with K, M or G (powers of 1024).\n"
                   "Exit status: 0 done; 1 usage, input or output; 2 the model is invalid; 3 not supported;\n"
                   "  4 a limit is exceeded, the plan got worse or the outputs differ; 70 a bug in occamyc.\n");
}
