/* python.c - which Python is asked. */
#include "trial/python.h"

#include "support/command.h"

#include <string.h>
#include <unistd.h>

/* The virtual environment beside this program: build/venv of build/occamyc. NULL: no such folder can be named. */
static const char *venv_beside(Arena *arena)
{
    const char *folder = program_folder(arena);

    return folder ? arena_printf(arena, "%s/venv", folder) : NULL;
}

const char *python_command(Arena *arena)
{
    const char *python = command_variable("OCCAMYC_PYTHON", ""), *here = path_absolute(arena, "");
    const char *venv = venv_beside(arena), *beside = venv ? arena_printf(arena, "%s/bin/python", venv) : NULL;

    if (!*python)
        return beside && access(beside, X_OK) == 0 ? command_word(arena, beside) : "python3";
    if (*python == '/' || strcspn(python, "/") >= strcspn(python, " ") || !here)
        return python;
    return arena_printf(arena, "%s%s", command_quote(arena, here), python);
}

int python_refuse(Arena *arena, Diag *diag, const char *python, const char *lacks)
{
    const char *venv = venv_beside(arena);

    diag_usage(diag, "--verify: '%s' was asked for ONNX Runtime's answers and %s", python, lacks);
    return diag_usage(diag,
                      "--verify: type python3 -m venv venv && venv/bin/pip install onnx onnxruntime, and set "
                      "OCCAMYC_PYTHON=venv/bin/python; or have them in %s, which `make deps` does and needs no "
                      "variable; --verify=DIR compares with stored sets",
                      venv ? command_word(arena, venv) : "venv beside this program");
}
