/* remedies.c - which other options, and which smaller bounds, would save memory: the model is compiled under each. */
#include "limits/usage.h"

#include "support/int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct OfferedRemedy {
    const char *text;
    int64_t     saves; /* bytes of RAM */
} OfferedRemedy;

typedef struct Offers {
    const Emission *emission;
    const Remedy   *remedy;
    int64_t         now; /* RAM without the stack, bytes */
    OfferedRemedy   offer[24];
    int             count;
} Offers;

/* Offers a remedy if it saves more than `least`, which a simpler one saves. Returns the bytes that it saves. */
static int64_t try_offer(Offers *offers, const Options *options, int64_t least, const char *text)
{
    int64_t ram = offers->remedy->ram(offers->remedy->context, options), saves = ram < 0 ? 0 : offers->now - ram;

    if (saves > least && offers->count < (int)(sizeof offers->offer / sizeof *offers->offer))
        offers->offer[offers->count++] = (OfferedRemedy){text, saves};
    return saves;
}

static int compare_offers(const void *a, const void *b)
{
    const OfferedRemedy *x = a, *y = b;

    return (x->saves < y->saves) - (x->saves > y->saves);
}

static void try_bounds(Offers *offers)
{
    const Options *options = offers->emission->options;
    Arena         *arena = offers->emission->diag->arena;

    for (int i = 0; i < options->nbound; i++) {
        Options   other = *options;
        DimBound *bound = arena_array(arena, DimBound, options->nbound);

        memcpy(bound, options->bound, (size_t)options->nbound * sizeof *bound);
        bound[i].hi /= 2;
        while (bound[i].nsize && bound[i].size[bound[i].nsize - 1] > bound[i].hi)
            bound[i].nsize--;
        if (bound[i].hi < bound[i].lo || bound[i].hi < 1)
            continue;
        other.bound = bound;
        try_offer(offers, &other, 0,
                  arena_printf(arena, "a bound of at most %" PRId64 " for %s", bound[i].hi, bound[i].name));
    }
}

/* Offers to turn on ways of sharing memory that were turned off. */
static void try_sharing(Offers *offers)
{
    static const char *const text[] = {"--in-place=auto", "--overlap=auto", "--elision=auto"};

    for (int i = 0; i < 3; i++) {
        Options other = *offers->emission->options;
        bool   *off[] = {&other.no_in_place, &other.no_overlap, &other.no_elision};

        if (!*off[i])
            continue;
        *off[i] = false;
        try_offer(offers, &other, 0, text[i]);
    }
}

/* Offers cascades. `arena`: bytes that --io=arena alone saves. */
static void try_cascades(Offers *offers, int64_t arena)
{
    const Options *now = offers->emission->options;
    Options        other = *now;
    int64_t        alone;

    other.cascade = now->cascade == CASCADE_AUTO ? CASCADE_ON : CASCADE_AUTO;
    alone = try_offer(offers, &other, 0, now->cascade == CASCADE_AUTO ? "--cascade=on" : "--cascade=auto");
    other.cascade = CASCADE_ON;
    other.plan.io_arena = 1;
    if (now->cascade != CASCADE_ON && !now->plan.io_arena)
        try_offer(offers, &other, int_max(arena, alone), "--cascade=on --io=arena");
}

/* Offers what changes where a processor's inputs and outputs lie, and how it computes convolutions. */
static void try_processor(Offers *offers)
{
    const Options *now = offers->emission->options;
    Options        other = *now;
    int64_t        arena, direct = 0;

    other.plan.io_arena = !now->plan.io_arena;
    arena = try_offer(offers, &other, 0, other.plan.io_arena ? "--io=arena" : "--io=caller");
    other = *now;
    other.winograd = WINOGRAD_OFF;
    if (now->winograd != WINOGRAD_OFF)
        direct = try_offer(offers, &other, 0, "--winograd=off");
    other.plan.io_arena = 1;
    if (direct > 0 && !now->plan.io_arena)
        try_offer(offers, &other, int_max(arena, direct), "--winograd=off --io=arena");
    if (now->threads < 2)
        try_cascades(offers, arena);
}

/* Offers to leave inputs and outputs to the device, whose programs have neither Winograd's transform nor cascades. */
static void try_device(Offers *offers)
{
    Options other = *offers->emission->options;

    other.io_device = true;
    try_offer(offers, &other, 0, "--io=device");
}

/* Offers every other option that would save memory. */
static void try_options(Offers *offers)
{
    const Options *now = offers->emission->options;
    Options        other;

    if (offers->emission->program->language == LANGUAGE_DEVICE)
        try_device(offers);
    else
        try_processor(offers);
    other = *now;
    other.threads = 1;
    if (now->threads > 1)
        try_offer(offers, &other, 0, "--threads=1");
    other = *now;
    other.queues = 1;
    if (now->queues > 1)
        try_offer(offers, &other, 0, "--queues=1");
    other = *now;
    other.plan.planner = "auto";
    if (strcmp(now->plan.planner, "auto"))
        try_offer(offers, &other, 0, "--planner=auto");
    other = *now;
    other.plan.reorder = 1;
    if (!now->plan.reorder)
        try_offer(offers, &other, 0, "--order=auto");
    try_sharing(offers);
}

void usage_tell_remedies(const Emission *e, const Usage *usage, const Remedy *remedy, Text *lines)
{
    Offers offers = {.emission = e, .remedy = remedy, .now = usage->ram - (usage->stack > 0 ? usage->stack : 0)};

    try_options(&offers);
    try_bounds(&offers);
    qsort(offers.offer, (size_t)offers.count, sizeof *offers.offer, compare_offers);
    for (int i = 0; i < offers.count; i++)
        text_printf(lines, "remedy: %s saves %" PRId64 " bytes\n", offers.offer[i].text, offers.offer[i].saves);
    if (!offers.count)
        text_put(
            lines,
            "remedy: none of the options saves memory here; a smaller model, int8 values or a larger limit would\n");
}
