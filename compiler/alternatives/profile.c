/* profile.c - measured times of steps and loads. */
#include "alternatives/profile.h"

#include "program/flow.h"
#include "program/step_key.h"
#include "support/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- file */

/* Loads of several sizes: the line through their times is latency and rate. */
typedef struct TimeFit {
    double n, x, y, xx, xy; /* sums over loads: bytes, nanoseconds */
} TimeFit;

static void add_load(TimeFit *fit, double bytes, double time)
{
    fit->n++;
    fit->x += bytes;
    fit->y += time;
    fit->xx += bytes * bytes;
    fit->xy += bytes * time;
}

/* Latency and rate from the line through the loads. Loads of a single size say nothing of the latency: it is 0 then. */
static void take_fit(const TimeFit *fit, Profile *profile)
{
    double width = fit->n * fit->xx - fit->x * fit->x;
    double slope = width > 0 ? (fit->n * fit->xy - fit->x * fit->y) / width : 0;

    if (fit->n < 1 || fit->y <= 0)
        return;
    if (slope <= 0) {
        profile->rate = fit->x / fit->y;
        return;
    }
    profile->rate = 1 / slope;
    profile->latency = (fit->y - slope * fit->x) / fit->n;
    profile->latency = profile->latency > 0 ? profile->latency : 0;
}

/* The next word of a line, which it is cut from; NULL: there is none. */
static char *next_word(char **line)
{
    char *word = *line + strspn(*line, " ");

    *line = word + strcspn(word, " ");
    if (**line)
        *(*line)++ = 0;
    return *word ? word : NULL;
}

/* The next word as a number of at least `least`. */
static bool next_number(char **line, double least, double *number)
{
    char *word = next_word(line), *end = word;

    *number = word ? strtod(word, &end) : -1;
    return word && !*end && *number >= least && *number < 1e15;
}

static int read_line(Profile *profile, TimeFit *fit, Diag *diag, const char *path, int number, char *line)
{
    char  *word = next_word(&line);
    double time, count, bytes;

    if (!word || !next_number(&line, 0, &time) || !next_number(&line, 1, &count) || !*line)
        return diag_usage(diag, "--profile: %s:%d: wanted a word, nanoseconds, a count and what they are of", path,
                          number);
    if (!strcmp(word, "step")) {
        ProfileStep step = {time, count, line};

        ARENA_PUSH(diag->arena, profile->step, profile->nstep, profile->cstep, step);
    } else if (!strcmp(word, "load")) {
        if (!next_number(&line, 1, &bytes))
            return diag_usage(diag, "--profile: %s:%d: wanted the bytes of a load", path, number);
        add_load(fit, bytes, time);
    } else if (!strcmp(word, "run")) {
        if (!next_number(&line, 1, &bytes))
            return diag_usage(diag, "--profile: %s:%d: wanted the bytes of RAM of a run's plan", path, number);
        ARENA_PUSH(diag->arena, profile->run, profile->nrun, profile->crun, ((SwapRun){(int64_t)bytes, time}));
    }
    return 0;
}

int profile_read(Profile *profile, const char *path, Diag *diag)
{
    static const char first[] = "occamyc profile 1";
    size_t            bytes = 0;
    char             *text = file_read_whole(diag->arena, path, &bytes);
    TimeFit           fit = {.n = 0};
    int               number = 0;

    *profile = (Profile){.step = NULL};
    if (!text)
        return diag_usage(diag, "--profile: cannot read '%s': %s", path, strerror(errno));
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        number++;
        if (number == 1 && strcmp(line, first))
            return diag_usage(diag, "--profile: %s: found '%.40s', wanted '%s' in the first line", path, line, first);
        if (number > 1 && *line && read_line(profile, &fit, diag, path, number, line) < 0)
            return -1;
    }
    take_fit(&fit, profile);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ apply */

/* "conv_f32": the first word. */
static bool same_kernel(const char *a, const char *b)
{
    size_t length = strcspn(a, " ");

    return length == strcspn(b, " ") && !strncmp(a, b, length);
}

int profile_find(const Profile *profile, const char *key)
{
    for (int i = 0; i < profile->nstep && *key; i++)
        if (!strcmp(profile->step[i].key, key))
            return i;
    return -1;
}

/* The steps of a program and the lines of the profile that they match. */
typedef struct Match {
    const Profile *profile;
    const char   **key;   /* by step */
    int           *found; /* by step: number of its step in the profile, or -1 */
    bool          *used;  /* by step of the profile: whether some step of the program is of its kind */
} Match;

/* Measured nanoseconds of the kernel's steps in the profile that match no step of the program, in sum. */
static double left_of(const Match *m, const char *key)
{
    double sum = 0;

    for (int i = 0; i < m->profile->nstep; i++)
        if (!m->used[i] && same_kernel(m->profile->step[i].key, key))
            sum += m->profile->step[i].time * m->profile->step[i].count;
    return sum;
}

/* Predicted nanoseconds of the kernel's steps in the program that match no step of the profile, in sum. */
static double predicted_of(const Match *m, const Program *program, const double *time, const char *key)
{
    double sum = 0;

    for (int s = 0; s < program->nstep; s++)
        if (m->found[s] < 0 && same_kernel(m->key[s], key))
            sum += time[s];
    return sum;
}

static Match match(const Profile *profile, const Program *program)
{
    Match m = {.profile = profile,
               .key = arena_array(program->arena, const char *, program->nstep + 1),
               .found = arena_array(program->arena, int, program->nstep + 1),
               .used = arena_array(program->arena, bool, profile->nstep + 1)};

    for (int s = 0; s < program->nstep; s++) {
        m.key[s] = step_key(program->arena, &program->step[s]);
        m.found[s] = profile_find(profile, m.key[s]);
        if (m.found[s] >= 0)
            m.used[m.found[s]] = true;
    }
    return m;
}

void profile_apply(const Profile *profile, const Program *program, double *time)
{
    Match   m = match(profile, program);
    double *before = arena_array(program->arena, double, program->nstep + 1);
    double *runs = flow_runs(program->arena, program);
    double  measured = 0, predicted = 0;

    memcpy(before, time, (size_t)program->nstep * sizeof *before);
    for (int s = 0; s < program->nstep; s++)
        if (m.found[s] >= 0) {
            time[s] = profile->step[m.found[s]].time * runs[s];
            measured += time[s];
            predicted += before[s];
        }
    for (int s = 0; s < program->nstep; s++) {
        double left = m.found[s] < 0 && before[s] > 0 ? left_of(&m, m.key[s]) : 0;

        if (left > 0)
            time[s] = left * before[s] / predicted_of(&m, program, before, m.key[s]);
        else if (m.found[s] < 0 && measured > 0 && predicted > 0)
            time[s] = before[s] * measured / predicted;
    }
}
