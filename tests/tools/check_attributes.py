"""Every attribute that a schema has is in schemas/attrs.def as the schema says, and a wrong one is refused: check_attributes.py OCCAMYC

Walks the schemas of the onnx package, of all versions, and ONNX Runtime's of com.microsoft, for the operators of schemas/ops.def. A string
attribute has a list of words, each of which the schema's text names, or is said to be free. Then occamyc reads one node for each attribute of
words with a word that nobody has, one for each list of numbers with a number outside it, and for each operator an attribute that nobody has:
exit status 2 and the attribute's name.
"""

import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

import onnx
from onnx import TensorProto, helper
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

import cases

DOMAINS = cases.domains()
KINDS = {"TYPE_PROTO": "TYPE", "SPARSE_TENSOR": "TENSOR"}
ROW = re.compile(r"^ATTR\((\w+), (\w+), +(\w+), +(\w+), +(\d+), +(\d+), ([01]), (.*)\)$", re.M)
OPERATOR = re.compile(r"^OP\(\s*(\w+),\s*(\w+),", re.M)
Row = collections.namedtuple("Row", "kind since until must values")
# Attributes that change no result: what nobody computes with, or what the inputs say as well.
UNREAD = {"chunk_size", "nodes_hitrates", "nodes_hitrates_as_tensor", "locale", "multi_class", "activation_gamma", "map_form", "max_map",
          "pixel_format", "mask_index_type", "qk_norm_epsilon", "is_packed_batching"}
# ONNX Runtime registers it for ONNX's domain; exporters write either.
TWICE = ("SimplifiedLayerNormalization",)
# What texts name otherwise: capitals, names of operators and types, words without quotes.
UNNAMED = {"auto_pad", "activations", "activation", "to"}


def read(path):
    with open(path) as file:
        return file.read()


def read_rows():
    """(domain, operator) -> attribute -> rows."""
    text = (read("schemas/attrs.def") + read("schemas/attrs_more.def")).replace("\\\n", " ")
    words = dict(re.findall(r'^#define (\w+)\s+"(.*)"$', text, re.M))
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for domain, op, name, kind, since, until, must, values in ROW.findall(text):
        values = "".join(quoted if quoted or not macro else words[macro] for macro, quoted in re.findall(r'(\w+)|"([^"]*)"', values))
        found[DOMAINS[domain], op][name].append(Row(kind, int(since), int(until), bool(int(must)), values))
    return found


def schemas():
    """(domain, operator) -> version -> schema."""
    found = collections.defaultdict(dict)
    ours = {(DOMAINS[domain], op) for domain, op in OPERATOR.findall(read("schemas/ops.def")) if domain in DOMAINS}
    official = onnx.defs.get_all_schemas_with_history()
    names = {(schema.domain, schema.name) for schema in official}
    theirs = [schema for schema in runtime.get_all_operator_schema() if (schema.domain, schema.name) not in names]
    for schema in official + theirs:
        if (schema.domain, schema.name) in ours:
            found[schema.domain, schema.name][schema.since_version] = schema
    for name in TWICE:
        found["com.microsoft", name] = found["", name]
    return found


def kind_of(attribute):
    name = str(attribute.type).rsplit(".", 1)[-1]
    return KINDS.get(name, name)


def functions():
    """Of each function of schemas/functions.txt that is an operator's, by name: the attributes that its head names."""
    heads = re.findall(r"^((?:\w+\.)?[A-Z]\w*)\([^;)]*;?([^)]*)\)\s+->", read("schemas/functions.txt"), re.M)
    return {name: re.findall(r"(\w+) =", attributes) for name, attributes in heads}


def misnamed(rows):
    """What heads name that is no attribute of the operator."""
    known = collections.defaultdict(set)
    words, written = {domain: word for word, domain in DOMAINS.items()}, functions()
    for (domain, name), attributes in rows.items():
        own = f"{words[domain]}.{name}"     # else the function without a word serves every domain's operator of that name
        known[own if own in written else name] |= set(attributes)
    return [f"schemas/functions.txt: {name} has no attribute {attribute}" for name, named in written.items()
            for attribute in named if attribute not in known[name]]


def unread(rows):
    """Attributes that no rule asks for by their name, whole or put together of a stem and an ending."""
    text = read("schemas/functions.txt")
    source = "".join(f'"{name}"' for name in re.findall(r"@(\w+)", text) + [name for named in functions().values() for name in named])
    source += "".join(read(os.path.join(folder, name)) for folder, _, names in os.walk("compiler") for name in names if name.endswith(".c"))
    names = {name for attributes in rows.values() for name in attributes} - UNREAD
    stems = ("class_", "target_", "keys_", "value_", "nodes_")
    return sorted(name for name in names if f'"{name}"' not in source and not name.startswith(stems))


def check_text(where, schema, attribute, row):
    text = (schema.doc or "") + attribute.description
    if not row.values:
        return [f"{where}: a string attribute says neither its words nor FREE"]
    if row.values == "*" or attribute.name in UNNAMED:
        return []
    return [f"{where}: the schema's text does not name '{word}'" for word in row.values.split() if word.lower() not in text.lower()]


def check_version(where, schema, rows):
    """What is wrong with an operator's rows for one version of it."""
    wrong, version = [], schema.since_version
    for name, attribute in schema.attributes.items():
        valid = [r for r in rows.get(name, []) if r.since <= version and (not r.until or version <= r.until)]
        at = f"{where} {name}, version {version}"
        if name == "consumed_inputs":
            continue
        if len(valid) != 1 or valid[0].kind != kind_of(attribute) or valid[0].must != attribute.required:
            wrong.append(f"{at}: has {len(valid)} rows, wanted {kind_of(attribute)}, must {int(attribute.required)}: {valid}")
        elif "STRING" in valid[0].kind:
            wrong += check_text(at, schema, attribute, valid[0])
    for name, list_of_rows in rows.items():
        if name not in schema.attributes and any(r.since <= version and (not r.until or version <= r.until) for r in list_of_rows):
            wrong.append(f"{where} {name}, version {version}: the schema has no such attribute")
    return wrong


# --------------------------------------------------------------------------------------------------------- wrong attributes

SAMPLE = {"INT": 1, "FLOAT": 1.0, "STRING": "x", "INTS": [1], "FLOATS": [1.0], "STRINGS": ["x"],
          "TENSOR": helper.make_tensor("t", TensorProto.FLOAT, [1], [1.0])}
WRONG = {"STRING": "no_such_word", "STRINGS": ["no_such_word"], "INT": -77, "INTS": [-77]}


def sample(row):
    """A value that the row takes."""
    first = row.values.split()[0] if row.values and row.values[0] not in "*>" else None
    if first is None:
        return SAMPLE.get(row.kind)
    value = int(first) if "INT" in row.kind else first.lstrip("~")
    return [value] if row.kind.endswith("S") else value


def model_of(domain, op, version, attributes):
    node = helper.make_node(op, ["x"], ["y"], domain=domain, **attributes)
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    imports = [helper.make_opsetid(domain, version)] + ([helper.make_opsetid("", 21)] if domain else [])
    return helper.make_model(helper.make_graph([node], "g", values[:1], values[1:]), opset_imports=imports, ir_version=10)


def wrong_nodes(rows):
    """(what, attribute, model) of nodes that must be refused."""
    for (domain, op), attributes in rows.items():
        newest = max(r.since for rows in attributes.values() for r in rows)
        for name, list_of_rows in list(attributes.items()) + [("no_such_attribute", [Row("INT", newest, 0, False, "0")])]:
            for row in list_of_rows:
                if row.kind not in WRONG or row.values in ("", "*"):
                    continue
                at = {n: sample(r) for n, rows in attributes.items() for r in rows
                      if r.must and r.since <= row.since and (not r.until or row.since <= r.until) and sample(r) is not None}
                at[name] = WRONG[row.kind]
                yield f"{domain or 'ai.onnx'} {op}, version {row.since}, {name} = {at[name]}", name, model_of(domain, op, row.since, at)


def refuse(occamyc, folder, number, what, name, model):
    path = os.path.join(folder, f"{number}.onnx")
    onnx.save(model, path)
    done = subprocess.run([occamyc, path], capture_output=True, text=True, timeout=60)
    fine = done.returncode == 2 and f"attribute '{name}'" in done.stderr
    return [] if fine else [f"{what}: exit status {done.returncode}, '{done.stderr.strip()}'"]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rows, known = read_rows(), schemas()
    described = {domain for domain, _ in known}     # of a domain that neither package knows, the rows are all there is
    wrong = [f"{op}: no schema has it" for op in set(rows) - set(known) if op[0] in described]
    for key, versions in sorted(known.items()):
        for schema in versions.values():
            wrong += check_version(" ".join(key).strip(), schema, rows.get(key, {}))
    wrong += [f"attribute {name}: nothing in compiler/ reads it" for name in unread(rows)] + misnamed(rows)
    tried = list(wrong_nodes(rows))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda n: refuse(sys.argv[1], folder, n, *tried[n]), range(len(tried))):
            wrong += found
    for line in wrong:
        print(line)
    print(f"attributes: {sum(map(len, rows.values()))} of {len(rows)} operators, {len(tried)} wrong ones tried")
    print(f"{len(known) + len(tried) - len(wrong)} passed, {len(wrong)} failed")
    sys.exit(bool(wrong) or not tried)


if __name__ == "__main__":
    main()
