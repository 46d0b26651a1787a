"""Object files by text: the same C file, compiled by the same command, is compiled once.

Tests build many programs that are equal in part: two planners often find the same plan, and models with the same inputs and outputs have
the same host program. An object is kept under the digest of the compiler's version, the command, the file and the headers of its
folder that it includes. The first comment of a file, which names the model and the options, is no part of that. A file that takes in
another one while it is assembled (.incbin of weights) is compiled each time.
"""

import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile

BANNER = re.compile(rb"\A/\*.*?\*/", re.S)
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.M)


@functools.lru_cache(maxsize=None)
def version_of(compiler):
    return subprocess.run([compiler, "--version"], capture_output=True).stdout


def texts_of(folder, source):
    """Name -> text without its first comment, of the file and of what it includes from its folder."""
    texts, found = {}, [source]
    while found:
        name = found.pop()
        path = os.path.join(folder, name)
        if name not in texts and os.path.exists(path):
            with open(path, "rb") as file:
                texts[name] = BANNER.sub(b"", file.read(), count=1)
            found += [included.decode() for included in INCLUDE.findall(texts[name])]
    return texts


def digest_of(folder, command, source, headers=()):
    digest = hashlib.sha256(version_of(command[0]) + b"\0".join(word.encode() for word in [*command, source]))
    for name, text in sorted(texts_of(folder, source).items()):
        digest.update(name.encode() + b"\0" + text + b"\0")
    for path in headers:
        with open(path, "rb") as file:
            digest.update(file.read() + b"\0")
    return digest.hexdigest()


def compile_once(store, folder, command, source, run, headers=()):
    """`source` in `folder` becomes an object there: a copy of the one in the folder `store`, or what run(command) makes. `headers`: files
    that it may include from elsewhere, but for those of the system."""
    with open(os.path.join(folder, source), "rb") as file:
        if b".incbin" in file.read():
            run([*command, "-c", source])
            return
    made = os.path.join(folder, os.path.splitext(source)[0] + ".o")
    kept = os.path.join(store, digest_of(folder, command, source, headers) + ".o")
    if os.path.exists(kept):
        shutil.copyfile(kept, made)
        return
    run([*command, "-c", source])
    os.makedirs(store, exist_ok=True)
    handle, whole = tempfile.mkstemp(dir=store)
    os.close(handle)
    shutil.copyfile(made, whole)
    os.replace(whole, kept)                                     # other tests look for it at the same time
