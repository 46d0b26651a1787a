/* failing.h - calls of the runtime that fail one after the other, while a generated program opens and while it runs.
 * What a program does with its tensors comes as functions, which get the test's own `program`. */
#ifndef OCC_TESTS_CUDA_FAILING_H
#define OCC_TESTS_CUDA_FAILING_H

#include "expect.h"
#include "fake.h"
#include "heard.h"
#include "model.h"

/* The n-th call from here fails; 0: none does. */
static void fail_call(int64_t n)
{
    fake_settings()->fail_call = n ? fake_counts().calls + n : 0;
}

/* What a call that failed must say: one sentence, and the runtime's words for it. */
static void expect_complaint(const char *text)
{
    expect("words of the runtime", heard.why && *heard.why, 1);
    expect_notes("notes of a call that fails", 1, text);
}

/* Every call of open fails once: open returns a code and says why, or `opened` tries what was opened without that call
 * and takes the notes. Nothing is left behind. At the end the program is open. Returns the calls of open. */
static int64_t fail_opens(model_memory *memory, void (*opened)(void *program), void *program)
{
    int64_t calls = fake_counts().calls, handles;

    expect("open", model_open(memory), 0);
    calls = fake_counts().calls - calls;
    model_close(memory);
    expect_notes("notes of a good open", 0, "");
    handles = fake_counts().live_handles;
    for (int64_t i = 1; i <= calls; i++) {
        int code;

        fail_call(i);
        code = model_open(memory);
        fail_call(0);
        if (!code)
            opened(program);
        else if (code != MODEL_ECUDA && code != MODEL_EDEVICE)
            expect("code of open", code, MODEL_ECUDA);
        else
            expect_complaint("");
        model_close(memory);
        expect("handles", fake_counts().live_handles, handles);
    }
    expect("open", model_open(memory), 0);
    expect_notes("notes of the next open", 0, "");
    return calls;
}

/* Every call of a run fails once; the next run is right, which `next` holds against the right bits. */
static void fail_runs(int (*run)(void *program), void (*next)(void *program), void *program)
{
    int64_t calls = fake_counts().calls;

    expect("run", run(program), 0);
    calls = fake_counts().calls - calls;
    expect_notes("notes of good runs", 0, "");
    for (int64_t i = 1; i <= calls; i++) {
        fail_call(i);
        expect("a failing run", run(program), MODEL_ECUDA);
        fail_call(0);
        expect_complaint("");
        next(program);
        expect_notes("notes of the next run", 0, "");
    }
}

#endif
