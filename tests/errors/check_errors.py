"""Runs occamyc over the broken models of make_errors.py: exit code and messages must be those of NAME.err, to the letter.

usage: check_errors.py OCCAMYC FOLDER [--update]
A .err file holds `exit N` and then what occamyc prints to standard error; none of them leaves a file behind. --update writes the files anew, for reading in a diff.
"""
import os
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 60


def read_arguments(folder, name):
    """What occamyc is told besides the model; `limit=N` is for the system: no file may grow above N bytes."""
    path = os.path.join(folder, name + ".arguments")
    words = open(path).read().split("\n") if os.path.exists(path) else []
    limits = [int(word[6:]) for word in words if word.startswith("limit=")]
    return [word for word in words if not word.startswith("limit=")], limits


def say(occamyc, folder, name):
    """Exit status and messages; what lies in the folder must be the same before and after."""
    arguments, limits = read_arguments(folder, name)
    before = sorted(os.listdir(folder))
    done = subprocess.run([occamyc, name + ".onnx", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=SECONDS, env={"LC_ALL": "C", "PATH": os.environ["PATH"]},
                          preexec_fn=lambda: [resource.setrlimit(resource.RLIMIT_FSIZE, (n, n)) for n in limits])
    left = sorted(set(os.listdir(folder)) - set(before))
    return "exit %d\n%s%s" % (done.returncode, done.stderr.decode("utf-8", "replace"), "".join("left %s\n" % n for n in left))


def main():
    occamyc, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    update = "--update" in sys.argv
    made = sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".onnx"))
    wanted = sorted(name[:-4] for name in os.listdir(HERE) if name.endswith(".err"))
    failed = [name for name in set(made) ^ set(wanted)] if not update else []
    for name in failed:
        print("FAIL %s: model and .err file do not both exist" % name)
    for name in made:
        if name in failed:
            continue
        path = os.path.join(HERE, name + ".err")
        found = say(occamyc, folder, name)
        if update:
            with open(path, "w") as file:
                file.write(found)
        elif found != open(path).read():
            failed.append(name)
            print("FAIL %s\n--- wanted\n%s--- found\n%s" % (name, open(path).read(), found))
    print("errors: %d passed, %d failed, 0 skipped" % (len(made) - len(failed), len(failed)))
    sys.exit(bool(failed))


main()
