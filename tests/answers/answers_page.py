"""What the random models have covered, as a page: answers_page.py --occamyc=PROGRAM --page=FILE --tally=FILE [--compiler=FILE] STATE...

STATE: a state of fuzz_answers.py, of any seeds and kinds; what is new there goes into the tally, of which the page is made. --compiler: what
compile_cover.py wrote. What can be reached is asked of the schemas: element types of tests/history, attributes of schemas/attrs.def,
kernels of schemas/kernels.def.
"""

import argparse
import collections
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "tools")]

import batch     # noqa: E402
import cases     # noqa: E402
import kernel_cover  # noqa: E402
import pages     # noqa: E402
import seen      # noqa: E402
import typed     # noqa: E402
import unreached  # noqa: E402
import variants  # noqa: E402
from draw import Draw        # noqa: E402
from net import Rejected     # noqa: E402
from tally import Tally      # noqa: E402

ROOT = os.path.join(HERE, "..", "..")
DOMAINS = cases.domains(".")
UNTRIED = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "ImageDecoder", "CastMap", "DictVectorizer",
           "ZipMap"}                # no oracle: random, or maps, which one model alone does not feed; see docs/versions.md
ELSEWHERE = {"DynamicSlice"}         # before opset 7: tests/history
NO_ORACLE = ("ai.onnx.preview.",)    # neither ONNX Runtime nor, with one exception, the reference evaluator runs them: tests/own
# Values that occamyc refuses by name (exit 3; tests/errors), or that no oracle runs: listed apart.
REFUSED = {"com.microsoft.Attention.do_rotary=1": "", "com.microsoft.QAttention.do_rotary=1": "", "com.microsoft.Attention.past_present_share_buffer=1": "",
           "com.microsoft.QAttention.past_present_share_buffer=1": "", "com.microsoft.QLinearAveragePool.channels_last=1": "",
           "com.microsoft.QLinearGlobalAveragePool.channels_last=1": "", "com.microsoft.GroupQueryAttention.k_quant_type=PER_TENSOR": "",
           "com.microsoft.GroupQueryAttention.k_quant_type=PER_CHANNEL": "", "com.microsoft.GroupQueryAttention.v_quant_type=PER_TENSOR": "",
           "com.microsoft.GroupQueryAttention.v_quant_type=PER_CHANNEL": "", "com.microsoft.FusedGemm.activation=Clip": "ONNX Runtime refuses it",
           "com.microsoft.RotaryEmbedding.is_packed_batching=1": "without effect in ONNX Runtime"}
RANDOM_KERNELS = {"multinomial", "random_normal", "random_uniform"}
MOST_SHOWN = 40


def read(path):
    with open(os.path.join(ROOT, path)) as file:
        return file.read()


def shown(names):
    """Names in one cell of a table, at most MOST_SHOWN."""
    names = sorted(names)
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(names[:MOST_SHOWN]) + more


def share(part, whole):
    return f"{len(part)} of {len(whole)} ({100 * len(part) / max(1, len(whole)):.1f} %)"


# -- element types ----------------------------------------------------------------------------------------------------------

def one_node(unit):
    """A model of one unit, and what is to be counted of it; None where nobody says what is right."""
    try:
        held = [typed.filled(Draw(unit.name), unit, {})]
    except Rejected:
        return None
    parts = typed.Parts()
    parts.add("u", held)
    return parts.model(held[0]), [[column[0] for column in parts.columns]]


def possible_types(occamyc):
    """(what of "OPERATOR VARIABLE TYPE" runs, what no oracle computes)."""
    runs, unsaid, newest = set(), set(), typed.newest()
    with tempfile.TemporaryDirectory() as folder:
        for (domain, _), members in typed.groups().items():
            for unit in members:
                if unit.version != newest[(domain, unit.op)]:
                    continue
                made, name = one_node(unit), (domain + "." if domain else "") + unit.op
                if not made:
                    unsaid |= {f"{name} {v} {word_of(w)}" for v, w in unit.types.items()}
                    continue
                trial = batch.Trial("t", made[0], [[batch.tensor(v) for v in values] for values in made[1]], [[]], [], [variants.Variant([])])
                with open(os.path.join(folder, "t.onnx"), "wb") as file:
                    file.write(made[0].SerializeToString())
                trial.flags = batch.dims.input_flags(batch.cases.true_inputs(trial.model), trial.sets)
                trial.outcomes = [batch.compile_variant(occamyc, trial, 0, folder)]
                covered = seen.Seen()
                covered.note(trial)
                runs |= {t for t in covered.data["types"] if "tensor(" not in t.split()[1]}      # a fixed type is no choice
    return runs, unsaid - runs


def word_of(text):
    """A type of a schema as seen.py writes it."""
    return re.sub(r"tensor\((\w+)\)", r"\1", text)


def write_types(data, occamyc):
    cache = os.path.join(os.path.dirname(occamyc), "answers_types.json")
    if not os.path.exists(cache) or os.path.getmtime(cache) < os.path.getmtime(occamyc):
        runs, unsaid = possible_types(occamyc)
        with open(cache, "w") as file:
            json.dump([sorted(runs), sorted(unsaid)], file)
    with open(cache) as file:
        runs, unsaid = map(set, json.load(file))
    reached = runs & set(data["types"])
    more = {t for t in data["types"] if t not in runs}
    text = ("Of each operator of ai.onnx and ai.onnx.ml, newest version: each type variable of its schema with each element type that it\n"
            "runs with and that an oracle computes (ONNX Runtime, else the reference evaluator, as `make check-types` asks them).\n\n"
            f"**{share(reached, runs)}** were compiled, run and compared; besides {len(more)} others, of older versions, of com.microsoft, and of\n"
            f"variables met by no form. Without an oracle are {len(unsaid)}.\n\n")
    missing = collections.defaultdict(list)
    for item in runs - reached:
        missing[item.split()[0]].append(" ".join(item.split()[1:]))
    text += table(("operator", "never reached"), [(op, shown(words)) for op, words in sorted(missing.items())])
    return text


def table(head, rows):
    if not rows:
        return ""
    return "| " + " | ".join(head) + " |\n|" + "---|" * len(head) + "\n" + "".join("| " + " | ".join(map(str, row)) + " |\n" for row in rows)


# -- operators and attributes -----------------------------------------------------------------------------------------------

def is_apart(name):
    """Whether no random model can hold an operator."""
    return name.split(".")[-1] in UNTRIED | ELSEWHERE or name.startswith(NO_ORACLE)


def operators():
    return {DOMAINS[domain] + name for domain, name in re.findall(r"^OP\(\s*(\w+),\s*(\w+),", read("schemas/ops.def"), re.M) if domain in DOMAINS}


def attribute_rows():
    """{OPERATOR.ATTRIBUTE: its words, or []} of versions that opsets 7 and later have."""
    text = read("schemas/attrs.def")
    words = dict(re.findall(r'^#define (\w+)[ \\\n]+((?:"[^"]*"\s*)+)$', text, re.M))
    found = {}
    for domain, op, name, kind, _, until, _, values in re.findall(
            r"^ATTR\((\w+),\s*(\w+),\s*(\w+),\s*(\w+),\s*(\d+),\s*(\d+),\s*(\d),\s*(.*)\)$", text + read("schemas/attrs_more.def"), re.M):
        if domain in DOMAINS and (domain != "onnx" or int(until) == 0 or int(until) >= 7) and kind != "GRAPH":
            listed = "".join(re.findall(r'"([^"]*)"', words.get(values.strip(), values))).lstrip("~").split()
            known = kind in ("STRING", "STRINGS") and listed not in (["*"], []) or listed == ["0", "1"]
            mine = found.setdefault(f"{DOMAINS[domain]}{op}.{name}", [])
            mine += [w for w in listed if w != "-" and w not in mine] if known else []
    return found


# Rows of com.microsoft that ONNX Runtime has in ai.onnx alone, without a schema, so that models name them so; the rows are the same.
UNNAMED = ("SimplifiedLayerNormalization",)


def in_both_domains(counts):
    return counts | {"com.microsoft." + key: n for key, n in counts.items() if key.startswith(UNNAMED)}


def write_attributes(data):
    data = {table: in_both_domains(counts) for table, counts in data.items()}
    rows, every = attribute_rows(), operators()
    apart = {op for op in every if is_apart(op)}
    ops = every - apart
    reached_ops = ops & set(data["rows"])
    skipped = {n for n in rows if is_apart(n.rpartition(".")[0])}
    classes = collections.defaultdict(set)
    for key in data["attributes"]:
        name, _, value = key.partition("=")
        classes[name] |= {value, *value.split("+")}         # of a list the classes of its numbers are joined
    wanted = {f"{n}={w}" for n, words in rows.items() if n not in skipped for w in words} - set(REFUSED)
    met = {k for k in wanted if k.partition("=")[2] in classes[k.partition("=")[0]]}
    tried = {n for n in rows if n not in skipped}
    reached = {n for n in tried if n in classes}
    text = (f"Rows of ops.def: **{share(reached_ops, ops)}**. Never reached: {shown(ops - reached_ops) or 'none'}.\n"
            f"Without an oracle, or older than opset 7, and tested by tests/own and tests/history alone: {shown(apart)}.\n\n"
            f"Attributes of schemas/attrs.def that opsets 7 and later have: **{share(reached, tried)}** were given; of the values\n"
            f"listed there (words, flags) **{share(met, wanted)}** were met. Not counted are {len(REFUSED)} values that are refused by name\n"
            "(exit 3) or that ONNX Runtime refuses: " + ", ".join(f"`{k}`" + (f" ({why})" if why else "") for k, why in sorted(REFUSED.items())) + ".\n\n")
    missing = collections.defaultdict(list)
    for name in tried - reached:
        missing[name.rpartition(".")[0]].append(name.rpartition(".")[2])
    for key in wanted - met:
        if key.partition("=")[0] in reached:
            missing[key.partition("=")[0].rpartition(".")[0]].append(key.rpartition(".")[2])
    return text + table(("operator", "attributes and values never reached"), [(op, shown(n)) for op, n in sorted(missing.items())])


# -- kernels ----------------------------------------------------------------------------------------------------------------

def kernel_rows():
    """{kernel: its element types, "-" where it has none}."""
    rows = re.findall(r'^KERNEL\(\s*(\w+),\s*"[^"]+",\s*((?:"[^"]*"\s*)+),', read("schemas/kernels.def"), re.M)
    return {name: " ".join(re.findall(r'"([^"]*)"', types)).split() for name, types in rows}


def emitted(name, kind):
    return name if kind == "-" else f"{name}_{kind.replace(':', '_')}"


class Branches:
    """How often each branch of a line that the templates have was taken, the text of the line, and how many models were asked."""

    def __init__(self):
        self.counts, self.texts, self.models = {}, {}, 0
        self.lines = kernel_cover.lines_of(os.path.join(ROOT, "codegen_templates", "c"))

    def add(self, state):
        """What a state counted; one of an older tool, which knew lines by their numbers, has nothing of use."""
        taken = {k: max(0, n) for k, n in state["seen"].get("taken", {}).items() if kernel_cover.is_there(k, self.lines)}
        seen.merge({"all": self.counts}, {"all": taken})
        self.texts.update(state.get("texts", {}) if taken else {})
        self.models += state["stats"].get("models", 0) if taken else 0
        if state["seen"].get("branches"):
            print(f"answers_page.py: seed {state['seed']}: its branches were counted by line number and are left out", file=sys.stderr)


def is_refusal(text):
    """Whether a line tells valid calls from others, or passes on that one was refused; a random model is valid, and tests/own, tests/cli
    and tests/queues hold the refusals."""
    return "OCC_E" in text or bool(re.search(r"\bstatus\b", text))


def split_branches(branches, texts):
    """(branches that are taken or that a model can take, {reason: those that none takes}); the reason "" is that the line tells refused calls."""
    counted, apart = {}, collections.defaultdict(list)
    for key, count in branches.items():
        text = texts.get(key.rpartition(":")[0], "")
        why = "" if is_refusal(text) else unreached.reason(key.split(":")[0], text)
        if count or why is None:
            counted[key] = count
        else:
            apart[why].append(key)
    return counted, apart


def missed_lines(branches, texts):
    """(kernel, branches taken, all, the lines with branches never taken), those with most first."""
    lines, cells = collections.defaultdict(dict), collections.defaultdict(lambda: [0, 0])
    for key, count in branches.items():
        line, kernel = key.rpartition(":")[0], key.split(":")[0]
        cells[kernel][0] += count > 0
        cells[kernel][1] += 1
        if not count:
            lines[kernel][line] = texts.get(line, "")
    return [(k.removeprefix("occ_"), a, n, sorted(lines[k].values())) for k, (a, n) in sorted(cells.items(), key=lambda i: i[1][0] - i[1][1]) if a < n]


def first_words(lines):
    shown_lines = "<br>".join(f"`{t[:70].replace('|', chr(92) + '|')}`" for t in lines[:3] if t)
    return shown_lines + (f" and {len(lines) - 3} more" if len(lines) > 3 else "")


def write_kernels(compiled):
    rows = {n: kinds for n, kinds in kernel_rows().items() if n not in RANDOM_KERNELS}
    pairs = {emitted(n, k) for n, kinds in rows.items() for k in kinds}
    made = set(compiled)
    reached = {n for n, kinds in rows.items() if any(emitted(n, k) in made for k in kinds)}
    return (f"Rows of kernels.def that were emitted, those of random numbers left out: **{share(reached, set(rows))}**, with their element types **{share(made & pairs, pairs)}**.\n"
            f"Never emitted: {shown(set(rows) - reached) or 'none'}; with types: {shown(pairs - made)}.\n")


def write_apart(apart):
    rows = [(len(keys), ", ".join(sorted({k.split(":")[0].removeprefix("occ_") for k in keys})), why) for why, keys in apart.items() if why]
    return table(("not counted", "functions", "why no model takes them"), sorted(rows, reverse=True))


def write_branches(branches):
    counted, apart = split_branches(branches.counts, branches.texts)
    taken = {k for k, n in counted.items() if n}
    text = (f"In batches built with --coverage (gcc -O0; scalar, SSE2, AVX2, AVX-512 where the processor has it; with literals known and not): **{share(taken, counted)}**\n"
            f"were taken by {branches.models} models. A branch is counted by function, text of the line and place, over all models and element types: not taken\n"
            "is what no model took anywhere, of the lines that the templates have. Every function of the emitted text that runs is counted, helpers too.\n"
            f"Not counted are widths that the processor lacks, as they are not built, and {len(apart[''])} branches never taken on lines that tell valid calls\n"
            "from refused ones (`return OCC_E...`, `if (!status)`); besides these, by `tests/answers/unreached.py`:\n\n")
    text += write_apart(apart) + "\nFunctions with branches never taken, the first of their lines:\n\n"
    return text + table(("function", "taken", "branches", "lines"), [(k, a, n, first_words(t)) for k, a, n, t in missed_lines(counted, branches.texts)][:60])


# -- the compiler -----------------------------------------------------------------------------------------------------------

PARTS = {"passes": r"compiler/passes/", "permits and plans (in place, overlap, views, cuts)": r"compiler/(plan/|lower/(views|place|fold|choice)\.c|program/(lag|flow)\.c)",
         "older versions": r"compiler/onnx/upgrade", "expansions": r"compiler/ops/expand", "what is known of kernels": r"compiler/kernels/",
         "cascades": r"compiler/lower/cascade", "Winograd, integers, panels": r"compiler/(lower/(conv_after|packing|panels)|ops/(lower/(winograd|product|matrix)|quant/))",
         "lowering": r"compiler/(lower/|ops/(lower|ml|text)/\w+_lower\.c)"}


def part_of(path):
    """The first of PARTS that a source belongs to."""
    return next((part for part, pattern in PARTS.items() if re.match(pattern, path)), None)


def reached_by(data, path, name):
    """"random", "named" or "never": which models call a function."""
    for word, kept in (("random", "functions"), ("named", "named")):
        if data.get(kept, {}).get(path, {}).get(name, [0])[0]:
            return word
    return "never"


def listed(title, pairs):
    by_file = collections.defaultdict(list)
    for path, name in pairs:
        by_file[path].append(name)
    return f"\n{title}\n\n" + table(("file", "functions"), [(f, shown(n)) for f, n in sorted(by_file.items())]) if pairs else ""


def write_compiler(path):
    with open(path) as file:
        data = json.load(file)
    text = (f"{data['models']} random models, each compiled with {4} sets of random options (`make answers-cover`), nothing run: functions that were\n"
            "called, and lines that were reached. Most of the other lines refuse or report lack of memory. Named: called by the official cases, our\n"
            "own and those of older versions, each with three sets of options, and by tests/cli (`make answers-cover-named`), but by no random model.\n\n")
    rows, apart = [], {"named": [], "never": []}
    for part in PARTS:
        every = [(f, n, c) for f, functions in data["functions"].items() if part_of(f) == part for n, c in functions.items()]
        by = collections.defaultdict(list)
        for f, n, _ in every:
            by[reached_by(data, f, n)].append((f, n))
        lines, met = sum(c[1] for *_, c in every), sum(c[2] for *_, c in every)
        rows.append((part, len(every), len(by["random"]), len(by["named"]), len(by["never"]), f"{met} of {lines} ({100 * met / max(1, lines):.1f} %)"))
        for word, pairs in apart.items():
            pairs += by[word]
    text += table(("part", "functions", "called by random models", "by named cases alone", "never", "lines reached"), rows)
    text += listed("Called by named cases alone:", apart["named"]) + listed("Never called:", apart["never"])
    passes = [(n, c[0]) for f, functions in data["functions"].items() if f.startswith("compiler/passes/") for n, c in functions.items()]
    return text + "\nCalls of the functions of passes:\n\n" + ", ".join(f"{n} {c}" for n, c in sorted(passes)) + ".\n", data


def read_states(paths):
    """The states, those of the smallest names first."""
    found = []
    for path in sorted(paths):
        with open(path) as file:
            found.append(json.load(file))
    return found


def write_head(tally):
    return ("Made by `make answers-page` of `tests/answers/tally.json`, to which it adds what `make fuzz-answers` has counted since.\n\n"
            f"**{tally.total('models')} models, {tally.total('variants')} variants, {tally.total('runs')} runs** in {tally.total('hours'):.1f} hours; of the models "
            f"{tally.total('models refused')} were refused (exit 3).\n{tally.data['since']} models since the last that failed.\n\n"
            + table(("kind", "models"), tally.kinds()))


def branches_shown(page):
    """How many branches the page says were taken."""
    with open(page) as file:
        found = re.search(r"literals known and not\): \*\*(\d+) of", file.read())
    return int(found[1]) if found else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--page", required=True)
    parser.add_argument("--tally", required=True)
    parser.add_argument("--compiler", default="")
    parser.add_argument("states", nargs="*")
    arguments = parser.parse_args()
    tally, branches = Tally(arguments.tally), Branches()
    for state in read_states(arguments.states):
        tally.add(state)
        branches.add(state)
    tally.write()
    pages.write_section(arguments.page, "Random models against ONNX Runtime", write_head(tally))
    pages.write_section(arguments.page, "Element types", write_types(tally.covered(), os.path.abspath(arguments.occamyc)))
    pages.write_section(arguments.page, "Operators and attributes", write_attributes(tally.covered()))
    write_built(arguments, branches)


def write_built(arguments, branches):
    """The sections of what only build/ holds: without it, or where it holds less than the page shows, they stay."""
    if os.path.exists(arguments.compiler):
        text, found = write_compiler(arguments.compiler)
        pages.write_section(arguments.page, "Passes, overlaps and rules of the compiler", text)
        pages.write_section(arguments.page, "Kernels", write_kernels(found["kernels"]))
    if sum(n > 0 for n in branches.counts.values()) >= branches_shown(arguments.page):
        pages.write_section(arguments.page, "Branches of kernels", write_branches(branches))


if __name__ == "__main__":
    main()
