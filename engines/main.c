/* main.c - occam-engines: reads the lines of `occamyc --dump=libraries`, asks cuDNN about a described device, or
 * measures both libraries on the one that is there, and writes a line with an engine for each question. About described
 * devices cuBLASLt is not asked, for it answers on a device only. The only file of the program that prints and
 * exits. */
#include "choose.h"
#include "measure.h"
#include "support/command.h"
#include "support/int.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "occam-engines --device=FILE.json|here [--own=PROFILE] [--workspace=BYTES] [--growth=PERCENT]\n"
    "              [--products[=BYTES]] [--linear] FILE\n"
    "  FILE          what `occamyc MODEL.onnx --target=cuda --dump=libraries` printed\n"
    "  --device      a device as cuDNN describes it (engines/devices), or `here`: the one of this machine, on which "
    "each\n"
    "                engine is measured\n"
    "  --own         times of the steps' own kernels, as the program wrote them with --profile; a step keeps its "
    "kernel\n"
    "                if no engine is faster\n"
    "  --workspace   the largest workspace of an engine; default: what finds room\n"
    "  --growth      per cent by which a workspace may enlarge the peak, constants not counted; default: 5\n"
    "  --products    products of computed matrices may go to cuBLASLt, which is asked when the program opens, with a\n"
    "                workspace of 0 or so many BYTES, as far as they enlarge nothing\n"
    "  --linear      products with constant weights and convolutions of one tap may go to cuBLASLt, too; about a\n"
    "                described device they do, not to cuDNN\n"
    "Writes a line for each different question: the engine that the library prefers, or that is the fastest here, "
    "among\n"
    "those that keep the precision of the factors and whose workspace finds room, or `own`: the step's own kernel.\n";

typedef struct Command {
    const char *device, *questions, *own; /* paths; `own` may be NULL */
    Rule        rule;
    int64_t     products; /* bytes of workspace that a product may have; -1: products are not listed */
    bool        linear;   /* cuBLASLt computes convolutions where it can */
    bool        help;
} Command;

static int take_count(const char *word, const char *value, int64_t *to, Diag *diag)
{
    char *end;

    errno = 0;
    *to = strtoll(value, &end, 10);
    if (end == value || *end || errno || *to < 0)
        return diag_usage(diag, "found '%s', wanted a number from 0 on", word);
    return 0;
}

static int take_argument(Command *c, const char *word, Diag *diag)
{
    if (!strcmp(word, "--help")) {
        c->help = true;
        return 0;
    }
    if (!strncmp(word, "--device=", 9)) {
        c->device = word + 9;
        return 0;
    }
    if (!strncmp(word, "--own=", 6)) {
        c->own = word + 6;
        return 0;
    }
    if (!strncmp(word, "--workspace=", 12))
        return take_count(word, word + 12, &c->rule.workspace, diag);
    if (!strncmp(word, "--growth=", 9))
        return take_count(word, word + 9, &c->rule.growth, diag);
    if (!strcmp(word, "--products")) {
        c->products = 0;
        return 0;
    }
    if (!strcmp(word, "--linear")) {
        c->linear = true;
        return 0;
    }
    if (!strncmp(word, "--products=", 11))
        return take_count(word, word + 11, &c->products, diag);
    if (*word == '-' || c->questions)
        return diag_usage(diag, "found '%s', wanted an option of occam-engines --help, and one file", word);
    c->questions = word;
    return 0;
}

static int command_read(Command *c, int argc, char **argv, Diag *diag)
{
    *c = (Command){.rule = {-1, 5}, .products = -1};
    for (int i = 1; i < argc; i++)
        if (take_argument(c, argv[i], diag) < 0)
            return -1;
    if (!c->help && (!c->device || !c->questions))
        return diag_usage(diag, "found no %s, wanted --device=FILE.json FILE (occam-engines --help)",
                          c->device ? "file" : "device");
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

static void put_notes(Text *text, unsigned notes)
{
    bool any = false;

    text_put(text, " notes=");
    for (int note = 0; note < 32; note++)
        if (notes >> note & 1 && note_name(note)) {
            text_printf(text, "%s%s", any ? "," : "", note_name(note));
            any = true;
        }
    text_put(text, any ? "" : "-");
}

static void put_engine(Text *text, const Engine *engine, bool whole)
{
    const occ_cudnn_engine *e = &engine->listed;

    text_printf(text, "cudnn engine=%" PRId64 " knobs=", e->index);
    for (int i = 0; i < e->nknob; i++)
        text_printf(text, "%s%" PRId64 ":%" PRId64, i ? "," : "", e->knob[i][0], e->knob[i][1]);
    text_printf(text, "%s workspace=%" PRId64, e->nknob ? "" : "-", e->workspace);
    put_notes(text, engine->notes.numerical);
    text_printf(text, " epilogue=%s", whole ? "library" : "own");
}

/* The room that the steps leave, and the bytes by which the choice enlarges the peak. */
static void put_room(Text *text, const Chosen *chosen)
{
    text_printf(text, " gap=%" PRId64 " hole=%" PRId64 " shared=%" PRId64 " growth=%" PRId64 "\n", chosen->gap,
                chosen->hole, chosen->shared, chosen->growth);
}

/* A remark behind the answer: the numbers of engines that were offered and that were refused, by reason, and the
 * room. */
static void put_remark(Text *text, const Question *q, const Offer *offer, const Chosen *chosen)
{
    int count[REFUSALS] = {0};

    for (int i = 0; i < offer->nengine; i++)
        count[offer->engine[i].refused]++;
    text_printf(text, " steps=%d offered=%d", q->nuse, offer->nengine);
    for (int r = 0; r < REFUSALS; r++)
        if (count[r])
            text_printf(text, " %s=%d", refusal_name((occ_cudnn_refusal)r), count[r]);
    if (chosen->first)
        text_printf(text, " first=%" PRId64, chosen->first->listed.workspace);
    put_room(text, chosen);
}

/* The command, and the sources of its answers. */
typedef struct Asking {
    const Command *command;
    Questions      questions;
    Device         device;
    Meter         *meter; /* NULL: the device is described */
} Asking;

static bool may_be_product(const Question *q, const Command *c)
{
    return !q->lacks && (q->product ? c->products >= 0 : c->linear);
}

/* Why cuDNN is not asked; NULL: it is. */
static const char *lacks_of(const Question *q)
{
    return q->product ? "a product, listed with --products only" : occ_cudnn_lacks(&q->conv);
}

/* Answers the question about a step that cuBLASLt can compute. */
static void answer_product(Text *text, const Asking *a, const Question *q)
{
    Chosen  chosen;
    int64_t workspace =
        workspace_choose(&a->questions, q, int_max(a->command->products, 0), &a->command->rule, &chosen);

    if (workspace < 0)
        text_put(text, "own");
    else
        text_printf(text, "cublaslt workspace=%" PRId64, workspace);
    text_printf(text, "    # steps=%d", q->nuse);
    put_room(text, &chosen);
}

/* Answers a question about a described device: the whole of it, or where no engine can do that the sum and the bias. */
static int answer_described(Text *text, const Asking *a, const Question *q, Diag *diag)
{
    const char *lacks = q->product && a->command->products >= 0 ? q->lacks : lacks_of(q);
    const Rule *rule = &a->command->rule;
    Offer       offer = {0};
    Chosen      chosen = {0};
    bool        whole = !q->own;

    if (may_be_product(q, a->command)) {
        answer_product(text, a, q);
        return 0;
    }
    if (lacks) {
        text_printf(text, "own    # steps=%d %s\n", q->nuse, lacks);
        return 0;
    }
    if (engines_ask(&a->device, q, true, &offer, diag) < 0)
        return -1;
    chosen = engine_choose(&a->questions, q, &offer, rule);
    if (!chosen.engine && (q->conv.addend || q->conv.function)) {
        if (engines_ask(&a->device, q, false, &offer, diag) < 0)
            return -1;
        chosen = engine_choose(&a->questions, q, &offer, rule);
        whole = false;
    }
    if (chosen.engine)
        put_engine(text, chosen.engine, whole);
    else
        text_put(text, "own");
    text_put(text, "    #");
    put_remark(text, q, &offer, &chosen);
    return 0;
}

/* Answers by times on the device that is there: the fastest of cuDNN's engines, cuBLASLt and the step's own kernel. */
static int answer_measured(Text *text, const Asking *a, const Question *q, Diag *diag)
{
    const Command *c = a->command;
    Offer          offer = {0};
    Chosen         chosen, room;
    int64_t        workspace = -1;
    double         product = 0.0;

    if (!q->own && !lacks_of(q)) {
        if (engines_ask(&a->device, q, true, &offer, diag) < 0)
            return -1;
        meter_engines(a->meter, q, &offer);
    }
    chosen = engine_choose(&a->questions, q, &offer, &c->rule);
    if (may_be_product(q, c))
        workspace = workspace_choose(&a->questions, q, int_max(c->products, 0), &c->rule, &room);
    if (workspace >= 0)
        product = meter_product(a->meter, q, workspace);
    if (product > 0.0 && (!chosen.own || product < chosen.own) && (!chosen.engine || product < chosen.engine->took))
        text_printf(text, "cublaslt workspace=%" PRId64, workspace);
    else if (chosen.engine)
        put_engine(text, chosen.engine, true);
    else
        text_put(text, "own");
    text_printf(text, "    # ns: own=%.0f cudnn=%.0f cublaslt=%.0f", chosen.own,
                chosen.engine ? chosen.engine->took : 0.0, product);
    put_remark(text, q, &offer, &chosen);
    return 0;
}

static int answer_all(Text *text, const Asking *a, Diag *diag)
{
    size_t version = cudnnGetVersion();

    text_printf(text, "# cuDNN %zu.%zu.%zu of a %s device: %s\n", version / 10000, version / 100 % 100, version % 100,
                a->meter ? "measured" : "described", a->device.name);
    for (int i = 0; i < a->questions.nquestion; i++) {
        const Question *q = &a->questions.question[i];

        text_printf(text, "%s : ", q->text);
        if ((a->meter ? answer_measured : answer_described)(text, a, q, diag) < 0)
            return -1;
    }
    return 0;
}

static int run_command(const Command *c, Text *text, Diag *diag)
{
    Asking  a = {.command = c};
    Profile own = {0};
    size_t  bytes = 0;
    char   *lines = file_read_whole(diag->arena, c->questions, &bytes);
    int     status;

    if (!lines)
        return diag_usage(diag, "cannot read '%s': %s", c->questions, strerror(errno));
    if (c->own && profile_read(&own, c->own, diag) < 0)
        return -1;
    diag->file = c->questions;
    if (questions_read(&a.questions, lines, &own, diag) < 0)
        return -1;
    if (strcmp(c->device, "here")) {
        if (device_read(&a.device, c->device, diag) < 0)
            return -1;
    } else {
        a.meter = meter_open(&a.device, diag);
        if (!a.meter)
            return -1;
    }
    status = answer_all(text, &a, diag);
    meter_close(a.meter);
    return status;
}

int main(int argc, char **argv)
{
    jmp_buf exhausted;
    Arena  *arena = arena_new(0);
    Diag    diag = {.arena = arena, .file = "occam-engines"};
    Command command;
    Text    text;

    if (!arena || setjmp(exhausted)) {
        fprintf(stderr, "occam-engines: out of memory\n");
        return DIAG_USAGE;
    }
    arena_on_exhausted(arena, &exhausted);
    text = text_new(arena);
    if (command_read(&command, argc, argv, &diag) == 0) {
        if (command.help)
            text_put(&text, usage);
        else
            run_command(&command, &text, &diag);
    }
    if (!diag.status && text.size && (fwrite(text.data, 1, text.size, stdout) != text.size || fflush(stdout)))
        diag_usage(&diag, "cannot write to standard output");
    for (int i = 0; i < diag.nmessage; i++)
        fprintf(stderr, "%s\n", diag.message[i]);
    arena_free(arena);
    return (int)diag.status;
}
