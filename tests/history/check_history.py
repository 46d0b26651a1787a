"""Every version of every operator, and every element type of the newest: check_history.py --occamyc=PROGRAM history|types

One node each (tests/history/forms_*.py say in which forms), against ONNX Runtime at that opset (oracle.py says what decides where it
does not run one). What occamyc refuses with a message is listed in --page; what nobody else runs is listed with it; anything else
fails. Those that compile share programs, GROUP to each.
"""

import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import sys

import onnx
from onnx import helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import cases        # noqa: E402
import compare      # noqa: E402
import host         # noqa: E402
import oracle       # noqa: E402
import pages        # noqa: E402
import run_case     # noqa: E402
import tensors      # noqa: E402
import units        # noqa: E402
from form import NAMES  # noqa: E402

GROUP = 24
OPEN = {"NonZero", "Unique", "Compress", "NonMaxSuppression", "StringSplit"}      # operators whose data decide extents
RANDOM = "draws random numbers: tests/own/random_cases.py and tests/cli hold what all right answers share"
UNTRIED = {"Bernoulli": RANDOM, "Multinomial": RANDOM, "RandomNormal": RANDOM, "RandomNormalLike": RANDOM, "RandomUniform": RANDOM,
           "RandomUniformLike": RANDOM, "ImageDecoder": "refused: needs codecs", "CastMap": "takes a map: tests/own",
           "DictVectorizer": "takes a map: tests/own", "ZipMap": "makes maps: tests/own"}


def type_proto(word, value, free):
    """`free`: extents are left to bounds."""
    if word.startswith("optional("):
        return helper.make_optional_type_proto(type_proto(word[9:-1], value, free))
    if word.startswith("seq("):
        return helper.make_sequence_type_proto(type_proto(word[4:-1], value[0] if value else None, True))
    shape = [None] * value.ndim if free and value is not None else None if value is None else value.shape
    return helper.make_tensor_type_proto(NAMES[word[7:-1]], shape)


def parts(unit, prefix):
    """(nodes, inputs, outputs, initializers) of one unit, its names beginning with `prefix`."""
    names = [f"{prefix}i{k}" if x is not None else "" for k, x in enumerate(unit.inputs)]
    node = helper.make_node(unit.op, names, unit.output_names(prefix + "o"), name=unit.name, domain=unit.domain, **unit.attributes)
    inputs, held = [], []
    for name, word, value, known in zip(names, unit.words, unit.inputs, unit.known):
        if value is None:
            continue
        if known:
            held.append(oracle.contents(name, NAMES[word[7:-1]], value))
        if not known or unit.opset < 9 and not unit.domain:
            inputs.append(helper.make_value_info(name, type_proto(word, value, False)))
    outputs = [helper.make_value_info(f"{prefix}o{k}", type_proto(w, x, unit.op in OPEN))
               for k, (w, x) in zip(unit.kept(), unit.outputs)]
    return [node], inputs, outputs, held


def write_model(folder, chosen):
    """A case folder of several units of one opset and domain."""
    pieces = [parts(u, f"u{n}_") for n, u in enumerate(chosen)]
    nodes, inputs, outputs, held = ([x for p in pieces for x in p[k]] for k in range(4))
    opset, domain = chosen[0].opset, chosen[0].domain
    opsets = [helper.make_opsetid("", 20 if domain else opset)] + ([helper.make_opsetid(domain, opset)] if domain else [])
    ir = 3 if opset < 9 and not domain else 10 if opset < 25 else onnx.IR_VERSION
    model = helper.make_model(helper.make_graph(nodes, "g", inputs, outputs, held), opset_imports=opsets, ir_version=ir)
    fed = [value(x, w) for u in chosen for x, w, k in zip(u.inputs, u.words, u.known) if x is not None and not k]
    want = [value(x, w) for u in chosen for w, x in u.outputs]
    shutil.rmtree(folder, ignore_errors=True)
    rtol, atol = tolerance(chosen[0])
    cases.write_case(folder, model, [(fed, want)], chosen[0].op, "own", rtol, atol)


def value(x, word):
    if isinstance(x, list):
        return [tensors.from_python(e) for e in x]
    if x is None:
        return None
    if word == "tensor(string)":
        return tensors.from_numpy(x.astype(object))
    return tensors.from_proto(numpy_helper.from_array(x))


def tolerance(unit):
    """Kinds that hold few digits are compared by them: two units in the last place, of what may be a sum of larger terms."""
    words = [w for w in unit.words + [w for w, _ in unit.outputs] if w]
    if any("bfloat16" in w for w in words):
        return 2.0 ** -6, 2.0 ** -5
    if any("float8" in w or "float4" in w or "float16" in w for w in words):
        return 2.0 ** -9, 2.0 ** -8
    return (1e-4, 2e-5) if unit.form.loose == 0 else (unit.form.loose, unit.form.loose)


def ask_oracle(unit):
    who, result = oracle.wanted(unit)
    unit.who, unit.outputs = who, result
    return unit


def compile_alone(arguments, unit):
    """(exit code, message) of occamyc for the unit alone; nothing is written but its case folder."""
    folder = os.path.join(arguments.work, "alone", unit.name)
    write_model(folder, [unit])
    case = cases.Case(folder)
    tools = host.Toolchain(arguments.occamyc, flags=[])
    try:
        run_case.compile_case(tools, case, os.path.join(folder, "made"))
    except host.Failure as failure:
        return failure.state, str(failure)
    finally:
        shutil.rmtree(os.path.join(folder, "made"), ignore_errors=True)
    return "pass", ""


def compare_units(case, chosen, run, rtol, atol):
    """[(unit, state, reason)], as the outputs of one run come in their order."""
    at, results = 0, []
    for unit in chosen:
        reasons = [compare.compare_value(w, x, rtol, atol) for w, x in zip(case.sets[0][1][at:], run.outputs[at:at + len(unit.outputs)])]
        at += len(unit.outputs)
        reason = next((r for r in reasons if r), "")
        results.append((unit, "wrong" if reason else "pass", reason))
    return results


def run_group(arguments, name, chosen):
    """Results of the units one by one; a program that cannot be built or run is halved until the unit is found."""
    folder, made = (os.path.join(arguments.work, part, name) for part in ("cases", "runs"))
    write_model(folder, chosen)
    cflags = host.LITERAL if arguments.what == "history" else host.STRICT  # older versions call the kernels that the newest calls
    case, tools = cases.Case(folder), host.Toolchain(arguments.occamyc, arguments.cc, cflags)
    try:
        run_case.compile_case(tools, case, made)
        host.build_program(tools, made)
        return compare_units(case, chosen, host.run_program(tools, made, case.model, case.sets[0][0]), *tolerance(chosen[0]))
    except host.Failure as failure:
        if len(chosen) == 1:
            return [(chosen[0], failure.state, failure.reason)]
    half = len(chosen) // 2
    return run_group(arguments, name + "a", chosen[:half]) + run_group(arguments, name + "b", chosen[half:])


def group(good):
    """Lists of at most GROUP units that one model can hold."""
    together = collections.defaultdict(list)
    for unit in good:
        together[(unit.domain, unit.opset, tolerance(unit))].append(unit)
    for key, members in sorted(together.items(), key=str):
        for n in range(0, len(members), GROUP):
            yield members[n:n + GROUP]


def check(arguments, found):
    """[(unit, state, reason)] of every unit; state `unknown` where nobody says what is right."""
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(ask_oracle, found))
        results = [(u, "unknown", " | ".join(u.outputs)) for u in found if not u.who]
        asked = [u for u in found if u.who]
        good = []
        for unit, (state, reason) in zip(asked, pool.map(lambda u: compile_alone(arguments, u), asked)):
            if state == "pass":
                good.append(unit)
            else:
                results.append((unit, state, reason))
        groups = list(enumerate(group(good)))
        for part in pool.map(lambda g: run_group(arguments, f"{arguments.what}_{g[0]}", g[1]), groups):
            results += part
    return results


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True, help="the compiler under test")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--work", required=True, help="folder of what is made")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="operators, by comma")
    parser.add_argument("--page", help="write what is refused and untried there")
    parser.add_argument("what", choices=["history", "types"])
    return parser.parse_args()


def write_versions(path, found, results):
    """The page of the history of operators."""
    state = collections.defaultdict(list)
    for unit, what, reason in results:
        state[(unit.domain, unit.op, unit.version)].append((unit, what, reason))
    pairs = [(s.domain, s.name, s.since_version) for s, _ in found]
    run = [p for p in pairs if any(what == "pass" for _, what, _ in state[p])]
    who = collections.Counter(u.who for u, what, _ in results if what == "pass")
    by = "; ".join(f"{count} by {name}" for name, count in sorted(who.items(), key=lambda x: (-x[1], x[0])))
    text = ("Made by `make operator-pages` from the schemas of the package onnx pinned in `tests/requirements.txt`: every version of\n"
            "every operator of the domains ai.onnx and ai.onnx.ml, as nodes that use each attribute which that version has.\n\n"
            f"**{len(run)} of {len(pairs)} versions of {len({p[:2] for p in pairs})} operators** run and give what is wanted, "
            f"in {len(results)} nodes. "
            f"What is wanted is said\nof those that pass: {by}.\n\n| not run | why |\n|---|---|\n")
    for pair in pairs:
        if pair not in run:
            reasons = UNTRIED.get(pair[1]) or "; ".join(sorted({short(r) for _, _, r in state[pair]}))
            text += f"| {pair[1]} {pair[2]} | {reasons} |\n"
    text += "\nNodes that are refused (exit 3) or that nobody else runs:\n\n| node | attributes | why |\n|---|---|---|\n"
    for unit, what, reason in sorted(results, key=lambda r: r[0].name):
        if what in ("refused", "unknown") and (unit.domain, unit.op, unit.version) in run:
            shown = ", ".join(f"{k}={v!r}" for k, v in unit.attributes.items() if isinstance(v, (int, float, str, list)) and len(repr(v)) < 30)
            text += f"| {unit.op} {unit.version} | {shown} | {short(reason) if what == 'refused' else 'nobody else runs it'} |\n"
    pages.write_section(path, "Versions of operators", text)
    texts = sorted({(u.op, u.form.text) for u, _, _ in results if u.form.text})
    pages.write_section(path, "Where the text decides against ONNX Runtime",
                        "Of these the reference evaluator, or a computation by hand, is asked instead.\n\n| operator | what decides |\n|---|---|\n"
                        + "".join(f"| {op} | {text} |\n" for op, text in texts))


def short(reason):
    """A message of occamyc without paths and names of nodes."""
    reason = reason.split("model.onnx: ")[-1]
    reason = re.sub(r"(node \d+ )?'[^']*' \((\w+)\): |input '[^']*': |initializer '[^']*': ", "", reason)
    return " ".join(reason.split()).replace("|", "/")[:160]


def used_types(unit, schema):
    """The element type that tells this unit from the usual one, or all of them."""
    return " ".join(w.replace("tensor(", "").rstrip(")") for w in dict.fromkeys(unit.words)) or " ".join(
        w.replace("tensor(", "").rstrip(")") for w in unit.types.values())


def write_types(path, found, results):
    """The page of element types: per operator what runs, what is refused and of what nobody else says what is right."""
    state = {id(unit): (what, reason) for unit, what, reason in results}
    count = collections.Counter(what for _, what, _ in results)
    text = ("Made by `make operator-pages`: the newest version of every operator, with each of its type variables in turn at every element\n"
            "type that its schema allows, in the smallest models. Refused: exit 3, which says what to convert. Unsaid: neither ONNX Runtime\n"
            "nor the reference evaluator runs it.\n\n"
            f"**{count['pass']} of {len(results)} nodes** run and give what is wanted, {count['refused']} are refused, "
            f"{count['unknown']} are unsaid.\n\n"
            "| operator | run | refused | unsaid |\n|---|---:|---|---|\n")
    for schema, members in found:
        cells = collections.defaultdict(list)
        for unit in members:
            cells[state[id(unit)][0]].append(used_types(unit, schema))
        if members:
            refused, unsaid = (", ".join(sorted(set(cells[k]))) for k in ("refused", "unknown"))
            text += f"| {schema.name} | {len(cells['pass'])} | {refused} | {unsaid} |\n"
    pages.write_section(path, "Element types of operators", text)


def main():
    arguments = parse_arguments()
    arguments.occamyc = os.path.abspath(arguments.occamyc)
    only = set(arguments.only.split(",")) - {""}
    source = units.history() if arguments.what == "history" else units.kinds()
    found = [(s, us) for s, us in source if not only or s.name in only]
    results = check(arguments, [u for _, us in found for u in us])
    for unit, state, reason in results:
        if state not in ("pass", "refused", "unknown") or only and state != "pass":
            print(f"{state:9} {unit.name} ({unit.who}): {reason}")
    if arguments.page and not only:
        (write_versions if arguments.what == "history" else write_types)(arguments.page, found, results)
    count = collections.Counter(state for _, state, _ in results)
    untried = [f"{s.name} {s.since_version}" for s, us in found if not us and s.name not in UNTRIED]
    for name in untried:
        print(f"no form: {name}")
    failed = len(results) - count["pass"] - count["refused"] - count["unknown"] + len(untried)
    print(f"{count['pass']} passed, {failed} failed, {count['refused'] + count['unknown']} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
