"""Parts of the host program that occamyc writes: what it says of this model, and code that is the same for all of them.

Tests compile thousands of host programs. Of each only its tables are compiled then (host_parts.split); the code is compiled once.
"""

import os
import re

FILES = ("main_tables.c", "main_code.c")
MODEL = "static const HostModel host_model"
CODE = "/* host_memory.h - "                                   # the first file of what is the same
UNUSED = re.compile(r"#include <(?!stddef|stdint).*\n")           # headers that tables need none of, half of the time that they take
SHARED = re.compile(r"\bstatic (?=\w+ +host_(?:load|wait)\()")     # functions of the code that tables name


def is_plain(text):
    """Whether its code is that of all plain programs: without threads and without a loader."""
    return "#include <pthread.h>" not in text.partition(CODE)[0]


def split(text, header):
    """(types, tables, code) of the text of a main.c whose model's header is named; tables begin with the types. None where the two
    cannot be told apart."""
    tables, mark, code = text.partition(CODE)
    if not mark:
        return None
    types = tables.partition(f'#include "{header}"')[0].replace(f"{MODEL};\n", "")
    return types, SHARED.sub("", tables), mark + SHARED.sub("", code)


def write_two_files(folder):
    """Of the host program main.c in the folder, which includes model.h, the FILES, which are one program; false where it cannot be parted."""
    with open(os.path.join(folder, "main.c")) as file:
        text = file.read()
    parts = split(text, "model.h")
    if not parts:
        return False
    tables, code = (os.path.join(folder, name) for name in FILES)
    with open(tables, "w") as file:
        calls = "#include <cuda" in parts[1] or not is_plain(text)         # functions for device memory, of a pool, of a loader
        own = parts[1] if calls else UNUSED.sub("", parts[1])
        file.write(own.replace(f"{MODEL};", "extern const HostModel host_model;").replace(MODEL, "const HostModel host_model"))
    with open(code, "w") as file:
        file.write(f"{parts[0]}extern const HostModel host_model;\n{parts[2]}")
    return True
