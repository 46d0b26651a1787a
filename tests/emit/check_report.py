"""Compiles our own models and holds the report against its schema, and report, map and header against each other.

check_report.py OCCAMYC SCHEMA FOLDER "MODEL FLAG..."...
"""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "null": type(None)}


def complaints(value, schema, root, where="report"):
    """What contradicts the schema: the part of JSON Schema that report.schema.json uses."""
    if "$ref" in schema:
        node = root
        for part in schema["$ref"].lstrip("#/").split("/"):
            node = node[part]
        yield from complaints(value, node, root, where)
    kinds = schema.get("type", list(TYPES))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not any(isinstance(value, TYPES[kind]) and not isinstance(value, bool) for kind in kinds):
        yield f"{where}: {value!r} is no {' or '.join(kinds)}"
        return
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is not allowed"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{where}: {value!r} does not match"
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{where}: {value} is too small"
    if isinstance(value, dict):
        for key in schema.get("required", []):
            if key not in value:
                yield f"{where}.{key} is missing"
        for key, member in value.items():
            inner = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            if "properties" in schema and inner is None:
                yield f"{where}.{key} is not in the schema"
            elif isinstance(inner, dict):
                yield from complaints(member, inner, root, f"{where}.{key}")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{where} has {len(value)} items"
        for i, item in enumerate(value):
            yield from complaints(item, schema.get("items", {}), root, f"{where}[{i}]")


def agreement(report, svg, header):
    """What report, picture and header say differently."""
    regions = report["memory"].get("regions", [{"name": "arena", "peak": report["memory"]["arena"], "base": 0}])
    sizes = [int(re.search(rf"_{r['name'].upper()}_SIZE (\d+)", header)[1]) for r in regions]
    for region, macro in zip(regions, sizes):
        if region["peak"] != macro:
            yield f"the report says {region['peak']} bytes in {region['name']}, the header {macro}"
    for b in report["buffers"]:
        home = regions[b.get("region", 0)]
        if "offset" in b and b["spans"] and not home["base"] <= b["offset"] <= home["base"] + home["peak"] - b["bytes"]:
            yield f"buffer {b['name']} lies outside of its memory"
    size = regions[-1]["base"] + regions[-1]["peak"]
    if report["memory"]["arena"] != sum(sizes):
        yield f"the report says an arena of {report['memory']['arena']} bytes, the header {sum(sizes)}"
    spans = [(b, s) for b in report["buffers"] if "offset" in b for s in b["spans"]]
    top = max((b["offset"] + max(s[3], b["bytes"]) for b, s in spans), default=0)
    if top > size:
        yield f"a buffer ends at {top}, behind the arena of {size} bytes"
    planned = {b["id"] for b, _ in spans}
    if not planned >= set(report["memory"]["core"]) or report["memory"]["lower_bound"] and not report["memory"]["core"] and \
            "every order" not in report["memory"]["status"]:
        yield f"the core {report['memory']['core']} is not of planned buffers"
    for step in report["steps"]:
        used = set()
        for buffer, span in spans:
            if span[0] <= step["step"] < span[1] and size < 1 << 20:   # byte by byte: small arenas only
                used.update(range(buffer["offset"] + span[2], buffer["offset"] + span[3]))
        if size < 1 << 20 and len(used) != step["live"] or step["live"] > report["peak"]["live"]:
            yield f"step {step['step']}: {step['live']} bytes live, its spans cover {len(used)}, the peak {report['peak']['live']}"
    boxes = svg.findall(".//{*}g[@class='buffer']/{*}rect")
    if len(boxes) != len(spans):
        yield f"the map has {len(boxes)} boxes for {len(spans)} spans"
    fetches = [s for s in report["steps"] if s["kind"] == "fetch"]
    bars = [bar.find("{*}title").text for bar in svg.findall(".//{*}g[@class='load']/{*}rect")]
    told = [(int(n), int(begin), int(end)) for n, begin, end in re.findall(r"^load (\d+): .* step (\d+) to (\d+)", "\n".join(bars), re.M)]
    if told != [(s["load"], s["step"], s["awaited_by"]) for s in fetches]:
        yield f"the map has loads {told}"
    hatched = [r for r in svg.findall(".//{*}rect[@class='way']") if r.get("fill") == "url(#hatch)"]
    if len(hatched) != sum("offset" in report["buffers"][s["writes"][0]] for s in fetches):
        yield f"the map has {len(hatched)} boxes of blocks on their way for {len(fetches)} loads"
    labels = [t.text or "" for t in svg.iter("{http://www.w3.org/2000/svg}text")]
    titles = [box.find("{*}title").text for box in boxes]
    for buffer, _ in spans:
        name = re.sub(r"[^ -~]", "_", buffer["tensor"] or buffer["name"].split(":", 1)[-1])
        if not any(title.startswith(name + ": ") for title in titles):
            yield f"the map does not name {name}"
        if not any(label.endswith(f" {buffer['bytes']:,}") for label in labels):
            yield f"the map has no label for {name}"
    labels = " ".join(labels)
    if "peak: step" not in labels and report["steps"]:
        yield "the map does not mark the peak"


def lanes(report, svg):
    """What of memories and lanes cannot be: a buffer in two memories or beyond the peak, a step in none or in two lanes."""
    for r, region in enumerate(report["memory"].get("regions", [])):
        held = [b for b in report["buffers"] if "offset" in b and b["region"] == r]
        if region["buffers"] != [b["id"] for b in held]:
            yield f"{region['name']} holds {region['buffers']}, its buffers are {[b['id'] for b in held]}"
        if max((b["offset"] - region["base"] + b["bytes"] for b in held), default=0) != region["peak"]:
            yield f"no buffer of {region['name']} ends at its peak of {region['peak']}"
    told = report.get("lanes", [])
    if told and sorted(s for lane in told for s in lane["steps"]) != list(range(len(report["steps"]))):
        yield "a step stands in no lane, or in several"
    if bool(told) != ("device" in report or "queues" in report):
        yield "lanes are told of a program that one thread runs, or not of one that several run"
    bars = [bar.find("{*}title").text for bar in svg.findall(".//{*}g[@class='lane']/{*}rect")]
    drawn = [re.match(r"(.*?): step (\d+)", bar).groups() for bar in bars]
    if sorted((lane["name"], str(s)) for lane in told for s in lane["steps"]) != sorted(drawn):
        yield f"the map has lanes {drawn}"
    if "queues" in report and [lane["steps"] for lane in told] != \
            [[s["step"] for s in report["steps"] if s["queue"] == q] for q in range(len(told))]:
        yield "the lanes are not the queues"
    if "device" in report:
        yield from device(report, dict(zip((lane["name"] for lane in told), (lane["steps"] for lane in told))), bars)


def device(report, lane, bars):
    """What of steps, copies and waits contradicts the memories that they touch."""
    where = {b["id"]: report["memory"]["regions"][b["region"]]["name"] if "region" in b else "caller" for b in report["buffers"]}
    size = {b["id"]: b["bytes"] for b in report["buffers"]}
    steps = report["steps"]
    sizes = [range(row["begin"], row["end"]) for row in report.get("sizes", [{"begin": 0, "end": len(steps)}])]
    moved = [max(sum(size[b] for s in set(lane["copies"]) & set(row) for b in steps[s]["writes"] if where[b] == to) for row in sizes)
             for to in ("device", "pinned")]
    for s in lane["copies"]:
        to, = steps[s]["writes"]
        of, = steps[s]["reads"]
        if steps[s]["kind"] != "copy" or "device" not in (where[to], where[of]):
            yield f"step {s} stands among the copies and moves bytes from {where[of]} to {where[to]}"
    if [report["device"]["to_device"], report["device"]["to_host"]] != moved:
        yield f"the copies move {moved}"
    for s in lane["device"]:
        if "form" not in steps[s] or {where[b] for b in steps[s]["reads"] + steps[s]["writes"]} - {"device"}:
            yield f"step {s} of the device touches memory of the host"
    rows = report["device"].get("decided", [])
    for s in lane["host"]:
        decided = steps[s]["kind"] == "if" and any(begin <= s < end for begin, end in rows)
        touched = {where[b] for b in steps[s]["reads"] + steps[s]["writes"]}
        if "form" in steps[s] or ("device" in touched and not decided) or (decided and touched - {"device"}):
            yield f"step {s} of the host touches memory of the device"
    for s in steps:
        if (s["kind"] == "kernel") != ("form" in s or "host" in s) or "form" in s and "host" in s:
            yield f"step {s['step']} says not where it runs, or says it twice"
    waits = [s["step"] for s in steps if "waits" in s]
    if report["device"]["waits"] != max(len(set(waits) & set(row)) for row in sizes) or set(waits) - set(lane["host"]) or \
            sum("first waits for the device" in bar for bar in bars) != len(waits):
        yield f"the host waits before {waits}"
    unrolled = {s["step"] for s in steps if "unrolled" in s}
    own = set(lane["host"]) - unrolled
    graph = range(*report["device"].get("graph", [0, 0]))
    if set(graph) & own or sum("in the graph" in bar for bar in bars) != len(graph):
        yield f"the graph is {graph}"
    graphs = report["device"].get("graphs", [])
    for n, held in enumerate(graphs):
        if graph or set(range(*held)) & own or sum(f"in graph {n}" in bar for bar in bars) != len(range(*held)):
            yield f"graph {n} is of steps {held}"
    for begin, end in report["device"].get("decided", []):
        if "if" not in [s["kind"] for s in steps[begin:end]] or {s["kind"] for s in steps[begin:end] if "unrolled" not in s} - {"kernel", "copy", "read", "if", "loop", "set", "check"} or \
                any("form" not in s for s in steps[begin:end] if s["kind"] == "kernel"):
            yield f"steps {begin} to {end} are a row that the device decides"
    given = [s for begin, end in [(graph.start, graph.stop), *graphs] for s in range(begin, end) if s not in lane["host"]]
    nodes = report["device"].get("nodes", 0)
    if {steps[s]["kind"] for s in unrolled} - {"loop", "set", "check", "if", "kernel", "copy"} or \
            not any(steps[s]["kind"] == "loop" for s in unrolled) and nodes != len(given):
        yield f"{nodes} nodes for {len(given)} steps that the device is given"
    if graphs != sorted(graphs) or any(a[1] > b[0] for a, b in zip(graphs, graphs[1:])):
        yield f"the graphs are {graphs}"
    held = sum(size[b["id"]] for b in report["buffers"] if b["kind"] == "resident" and where[b["id"]] == "device")
    if held != report["device"]["constants"]:
        yield f"{held} bytes of constants lie on the device"


def loads(report):
    """What of blocks and fetches cannot be: each block loaded once, in order, from bytes of the file that are its own or those of
    the same block of another size, and there when it is read."""
    swap = report["memory"].get("swap")
    fetches = [s for s in report["steps"] if s["kind"] == "fetch"]
    blocks = {b["id"]: b for b in report["buffers"] if b["kind"] == "block"}
    tables = [b for b in report["buffers"] if b["kind"] == "table"]
    if report["memory"]["weights_form"] == "swap" and not swap or bool(swap) != bool(fetches or tables):
        yield "weights are loaded that nothing is said of"
    numbers = [s["load"] for s in fetches]
    begins = [i for i, n in enumerate(numbers) if n == 0]
    if [i - max(b for b in begins if b <= i) for i in range(len(numbers))] != numbers or len(begins) > max(1, len((swap or {}).get("sizes", []))) or \
            sorted(s["writes"][0] for s in fetches) != sorted(blocks):
        yield "loads are not one for each block, in order"
    for step in fetches:
        block = blocks[step["writes"][0]]
        wait = report["steps"][step["awaited_by"]]
        readers = [s["step"] for s in report["steps"] if s["kind"] != "await" and block["id"] in s["reads"]]
        if wait["kind"] != "await" or block["id"] not in wait["reads"] or not step["step"] < wait["step"] < min(readers):
            yield f"step {step['step']} loads a block that is awaited by {wait['step']} and read by {readers}"
    if swap:
        yield from file_and_kept(swap, [blocks[s["writes"][0]] for s in fetches], tables)


def file_and_kept(swap, blocks, tables):
    """What of the places in the file and in the memory of the blocks that stay cannot be."""
    end, places, kept = 4096, {}, {}
    for piece in [*blocks, *tables]:
        if piece["from"] % swap["align"] or piece["from"] + piece["bytes"] > swap["file"] or \
                piece["from"] < end and places.get(piece["from"]) != (piece["kind"], piece["bytes"]):
            yield f"{piece['kind']} {piece['name']} lies at {piece['from']} of the file"
        places[piece["from"]] = piece["kind"], piece["bytes"]
        end = max(end, piece["from"] + piece["bytes"])
        if "kept" in piece:
            kept.setdefault(piece["kept"], set()).add((piece["from"], piece["bytes"]))
    if any(len(pieces) > 1 for pieces in kept.values()):
        yield "different blocks stay at one place"
    stay = sorted((at, at + bytes) for at, ((_, bytes),) in kept.items())
    if any(a[1] > b[0] for a, b in zip(stay, stay[1:])) or sum(end - at for at, end in stay) != swap["kept"]:
        yield "the blocks that stay are not as many bytes as the report says"
    for kind in "block", "table":
        if sum(bytes for of, bytes in places.values() if of == kind) != swap[kind + "s"]:
            yield f"the {kind}s are not as many bytes as the report says"


def dumped(report, dump):
    """What --dump=plan says of loads that the report does not."""
    blocks = {b["id"]: b for b in report["buffers"]}
    wanted = []
    for step in report["steps"]:
        if step["kind"] == "fetch":
            block = blocks[step["writes"][0]]
            wanted.append(f"load {step['load']}: b{block['id']}, file {block['from']}..{block['from'] + block['bytes']}, "
                          f"step {step['step']}, awaited by {step['awaited_by']}" + (f", stays at {block['kept']}" if "kept" in block else ""))
    if re.findall("^load .*", dump, re.M) != wanted:
        yield "--dump=plan shows other loads than the report"


def check(occamyc, schema, folder, model):
    path, *flags = model.split()
    out = os.path.join(folder, os.path.basename(path)[:-5])
    subprocess.run([occamyc, path, "-o", out + ".c", "--name=model", f"--report={out}.json", f"--map={out}.svg", "--quiet", *flags], check=True)
    subprocess.run([occamyc, path, f"--map={out}.html", "--quiet", *flags], check=True)
    with open(out + ".json") as file:
        report = json.load(file)
    with open(out + ".h") as file:
        header = file.read()
    with open(out + ".html") as file:
        page = file.read()
    svg = ET.parse(out + ".svg").getroot()
    found = list(complaints(report, schema, schema)) + list(loads(report)) + list(lanes(report, svg)) + list(agreement(report, svg, header))
    dump = subprocess.run([occamyc, path, "--dump=plan", "--quiet", *flags], check=True, capture_output=True, text=True).stdout
    found += dumped(report, dump)
    if re.search(r"(src|href)=|https?://(?!www\.w3\.org)", page):
        found.append("the page refers to something outside of it")
    for line in found[:10]:
        print(f"{path}: {line}")
    return len(found)


def main():
    occamyc, schema_path, folder, *models = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    with open(schema_path) as file:
        schema = json.load(file)
    wrong = list(complaints({"version": 2}, schema, schema))          # the check itself must be able to fail
    assert any("is missing" in w for w in wrong) and any("not allowed" in w for w in wrong)
    failed = sum(check(occamyc, schema, folder, model) > 0 for model in models)
    print(f"reports and maps: {len(models) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
