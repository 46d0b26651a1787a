/* tune.c - measures each algorithm in the whole network: the network is built with it and all its steps are timed,
 * because a layer that runs alone finds its weights in the cache. The time of a shape is the mean over its steps of the
 * least of several runs. */
#include "trial/tune.h"

#include "infer/listed.h"
#include "ops/lower/winograd.h"
#include "program/kernels.h"
#include "program/operand.h"
#include "support/command.h"
#include "support/files.h"
#include "trial/build.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The algorithms to compare. A later one must be faster by a margin, since clocks are not exact. */
static const Algorithm algorithms[] = {{0, 0, 0}, {4, 0, 0}, {2, 0, 0}, {0, 1, 0}, {0, 2, 0}, {0, 4, 0}, {0, 0, -1}};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms, REPEAT = 9 };
#define BEATEN 0.97

typedef struct Measured {
    ConvShape   shape;
    const char *text;             /* the shape as a line begins */
    double      time[ALGORITHMS]; /* nanoseconds of one step; 0: not possible */
    double      now[ALGORITHMS];  /* of the current build: the sum of `steps[algorithm]` steps */
    int         steps[ALGORITHMS];
} Measured;

typedef struct Tune {
    const Options *options;
    Arena         *arena;
    Diag          *diag;
    const char    *folder, *cc;
    Measured      *measured;
    int            nmeasured, cmeasured;
} Tune;

/* ---------------------------------------------------------------------------------------------------- one way built */

/* Writes a made-up input `index`: floats between 0 and 1, everything else zeros, at its largest extents. */
static int write_input(const Tune *tune, const Port *port, const char *name)
{
    int64_t  count = 1, bytes;
    uint32_t random = 1;
    char    *raw;

    if (port->type.kind != TYPE_TENSOR)
        return diag_usage(tune->diag, "--tune: input '%s' is no tensor, and others cannot be made up",
                          port->value->name);
    for (int i = 0; i < port->type.rank; i++)
        count *= port->type.dim[i].max;
    bytes = dtype_info(port->type.dtype)->class == 'S' ? count : (count * dtype_info(port->type.dtype)->bits + 7) / 8;
    raw = arena_array(tune->arena, char, bytes + 1);
    for (int64_t i = 0; port->type.dtype == DTYPE_F32 && i < count; i++) {
        float value;

        random = random * 1664525u + 1013904223u;
        value = (float)(random >> 8) / 16777216.0f;
        memcpy(raw + 4 * i, &value, sizeof value);
    }
    return files_write(tune->folder, name, raw, (size_t)bytes, tune->diag);
}

static int run_line(const Tune *tune, const char *line)
{
    Text said = text_new(tune->arena);

    if (command_run(tune->folder, line, &said) == 0)
        return 0;
    return diag_usage(tune->diag, "--tune: '%s' failed: %.400s", line, said.data ? said.data : "");
}

static int build_and_run(const Tune *tune, const Emission *emission)
{
    const Program *program = emission->program;
    const char    *timer = template_text("timer.h");
    Text           line = text_new(tune->arena);

    if (build_write(emission, tune->folder, true) < 0)
        return -1;
    if (files_write(tune->folder, "timer.h", timer, strlen(timer), tune->diag) < 0)
        return -1;
    if (run_line(tune, arena_printf(tune->arena,
                                    "%s -include timer.h -c -o model.o model.c && %s -o model main.c model.o -lm",
                                    tune->cc, tune->cc)) < 0)
        return -1;
    text_put(&line, "./model -o out");
    if (emission->plan->weight_form == WEIGHTS_FILE)
        text_put(&line, " --weights model.c.weights");
    for (int i = 0; i < program->nin; i++) {
        const char *name = arena_printf(tune->arena, "in_%d.bin", i);

        if (write_input(tune, &program->in[i], name) < 0)
            return -1;
        text_printf(&line, " %s", name);
        for (int k = 0; k < program->in[i].type.rank; k++)
            text_printf(&line, "%s%" PRId64, k ? "x" : ":", program->in[i].type.dim[k].max);
    }
    text_printf(&line, " --repeat %d", REPEAT);
    return run_line(tune, line.data);
}

/* ----------------------------------------------------------------------------------------------------- what it took */

static Measured *measured_of(Tune *tune, const ConvShape *shape)
{
    Measured fresh = {.shape = *shape};
    Text     text;

    for (int i = 0; i < tune->nmeasured; i++)
        if (choice_same_shape(&tune->measured[i].shape, shape))
            return &tune->measured[i];
    text = text_new(tune->arena);
    choice_put_shape(&text, shape);
    fresh.text = text.data;
    ARENA_PUSH(tune->arena, tune->measured, tune->nmeasured, tune->cmeasured, fresh);
    return &tune->measured[tune->nmeasured - 1];
}

/* The number of the algorithm that a step uses; -1: none of the table's. */
static int algorithm_of(const Step *step)
{
    const Arg *m = step_argument(step, "m"), *tile = step_argument(step, "tile");

    for (int i = 0; i < ALGORITHMS; i++)
        if (m ? algorithms[i].m == m->ints[0].max
              : !algorithms[i].m && algorithms[i].vectors == tile->ints[0].max &&
                    algorithms[i].pace == tile->ints[2].max)
            return i;
    return -1;
}

/* Adds the times of this build, a line for each step, to the shapes. */
static int collect(Tune *tune, const Program *program)
{
    size_t bytes = 0;
    char  *at = file_read_whole(tune->arena, arena_printf(tune->arena, "%s/steps.txt", tune->folder), &bytes);

    if (!at)
        return diag_usage(tune->diag, "--tune: the program left no times");
    for (int s = 0; s < program->nstep && *at; s++) {
        int64_t   took = strtoll(at, &at, 10);
        ConvShape shape;
        int       algorithm;

        at += *at == '\n';
        if (!conv_shape_of(&program->step[s], &shape) || (algorithm = algorithm_of(&program->step[s])) < 0)
            continue;
        measured_of(tune, &shape)->now[algorithm] += (double)took;
        measured_of(tune, &shape)->steps[algorithm]++;
    }
    for (int i = 0; i < tune->nmeasured; i++)
        for (int w = 0; w < ALGORITHMS; w++) {
            Measured *m = &tune->measured[i];
            double    mean = m->steps[w] ? m->now[w] / m->steps[w] : 0.0;

            if (mean > 0.0 && (m->time[w] <= 0.0 || mean < m->time[w]))
                m->time[w] = mean;
            m->now[w] = 0.0;
            m->steps[w] = 0;
        }
    return 0;
}

static int measure_algorithm(void *user, const Emission *emission)
{
    Tune *tune = user;

    if (build_and_run(tune, emission) < 0)
        return -1;
    return collect(tune, emission->program);
}

/* --------------------------------------------------------------------------------------------------------- the file */

static int compare_measured(const void *a, const void *b)
{
    return strcmp(((const Measured *)a)->text, ((const Measured *)b)->text);
}

/* Chooses an algorithm: --winograd=auto counts the memory of larger weights as time. */
static int best_algorithm(const Tune *tune, const Measured *m)
{
    const Core *core = core_here();
    int         best = -1;
    double      least = 0.0;

    for (int w = 0; w < ALGORITHMS; w++) {
        double price =
            tune->options->winograd == WINOGRAD_AUTO ? winograd_price(core, &m->shape, algorithms[w].m) : 0.0;

        if (m->time[w] <= 0.0 || (best >= 0 && m->time[w] + price >= least * BEATEN))
            continue;
        best = w;
        least = m->time[w] + price;
    }
    return best;
}

/* Whether there was a choice. */
static bool has_choice(const Measured *m)
{
    int count = 0;

    for (int w = 0; w < ALGORITHMS; w++)
        count += m->time[w] > 0.0;
    return count > 1;
}

static void put_line(Text *text, const Measured *m, int best)
{
    text_printf(text, "%s : ", m->text);
    choice_put_algorithm(text, &algorithms[best]);
    text_printf(text, "  # %.0f us", m->time[best] * 1e-3);
    for (int w = 0; w < ALGORITHMS; w++)
        if (w != best && m->time[w] > 0.0) {
            text_put(text, "; ");
            choice_put_algorithm(text, &algorithms[w]);
            text_printf(text, " %.0f", m->time[w] * 1e-3);
        }
    text_put(text, "\n");
}

static int write_choices(Tune *tune, Text *summary)
{
    FileSet files = {.arena = tune->arena};
    Text    text = text_new(tune->arena);
    int     shapes = 0, transformed = 0;

    text_printf(
        &text,
        "# occamyc --tune, with %s: how each shape of convolution was fastest, and the times of one step by every "
        "way.\n"
        "# direct VECTORS PACE: tiles of so many vectors, 0 the kernel's own; pace -1: weights are not prefetched\n",
        tune->cc);
    if (tune->nmeasured)
        qsort(tune->measured, (size_t)tune->nmeasured, sizeof *tune->measured, compare_measured);
    for (int i = 0; i < tune->nmeasured; i++) {
        int best = best_algorithm(tune, &tune->measured[i]);

        if (!has_choice(&tune->measured[i]))
            continue;
        put_line(&text, &tune->measured[i], best);
        shapes++;
        transformed += algorithms[best].m > 0;
    }
    files_add(&files, tune->options->tune, text.data, text.size);
    if (files_publish(&files, tune->diag) < 0)
        return -1;
    if (!tune->options->quiet)
        text_printf(summary, "tuned    %12d shapes of convolutions, %d of them by Winograd: --tuned=%s\n", shapes,
                    transformed, tune->options->tune);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ entry */

/* Builds and measures one combination of listed sizes, with the user's options except the algorithm; the places of
 * buffers do not matter for it. */
static int measure_all(Tune *tune, const TuneCompile *compile, int combination)
{
    for (int w = 0; w < ALGORITHMS; w++) {
        Options options = *tune->options;
        Choices choices = {.every = &algorithms[w]};

        if (algorithms[w].m && options.winograd == WINOGRAD_OFF)
            continue;
        options.winograd = algorithms[w].m ? WINOGRAD_ON : WINOGRAD_OFF;
        options.cascade = CASCADE_OFF; /* choices are by the shapes of whole images */
        options.choices = &choices;
        options.bound = listed_pin(tune->arena, options.bound, options.nbound, combination);
        options.output = options.main = options.report = options.map = options.cc = options.tune =
            NULL; /* build_write emits */
        options.threads = options.queues = 0;
        options.nstate = 0;
        options.plan.reorder = 0;
        options.plan.planner = "bigger-first";
        if (compile->run(compile->context, &options, measure_algorithm, tune) < 0)
            return -1;
    }
    return 0;
}

int tune_run(const TuneCompile *compile, const Options *options, Diag *diag, Text *summary)
{
    Tune tune = {.options = options, .arena = diag->arena, .diag = diag, .folder = folder_temporary(diag->arena)};
    int  failed = 0;

    if (!tune.folder)
        return diag_usage(diag, "--tune: cannot make a temporary folder; set TMPDIR to one that can be written");
    tune.cc =
        options->cc ? options->cc : arena_printf(diag->arena, "%s -O2 -march=native", command_variable("CC", "cc"));
    for (int i = 0; i < listed_combinations(options->bound, options->nbound) && !failed; i++)
        failed = measure_all(&tune, compile, i);
    if (!failed)
        failed = write_choices(&tune, summary);
    folder_remove(diag->arena, tune.folder);
    return failed;
}
