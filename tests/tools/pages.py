"""Pages of docs/: whole ones, which lose no row that is not measured anew, and those whose sections are written by different
commands, each of which replaces its own and leaves the others alone."""

import os
import re

NETWORKS = "Exported networks against ONNX Runtime"
NETWORKS_TEXT = (
    "Made by `make check-networks` (of `make check-long`): the networks of `make models` and the light networks on seeded random\n"
    "inputs, generated with the default options. Sets: runs with different inputs, extents included. The error is the largest\n"
    "difference of all outputs and sets over the largest magnitude of its output; to pass, each element must be within\n"
    "1e-3 relative + 1e-4 of that magnitude. Where random weights make scores tie, only types and ranks are compared, and\n"
    "`_heads` and `_select` compare the values before and after the ties.\n\n"
    "| network | outputs | sets | largest error |\n|---|---:|---:|---:|\n")


def read(path):
    """The page; "" where there is none yet."""
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        return file.read()


def find(text, title):
    """The match of the section of this title, whose first group is what stands below the title; None where there is none."""
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)


def section(path, title):
    """The text of the section of this title; None where there is none."""
    found = find(read(path), title)
    return found[1].strip("\n") + "\n" if found else None


def write_section(path, title, text):
    """Replace the section of this title, or append it; what stands before the first section stays."""
    old, made = read(path), f"## {title}\n\n{text}"
    found = find(old, title)
    if found:
        new = old[:found.start()] + made + ("\n" if found.end() < len(old) else "") + old[found.end():]
    else:
        new = old.rstrip("\n") + ("\n\n" if old else "") + made
    with open(path, "w") as file:
        file.write(new)


def row_names(text, free):
    """The first cells of all tables but those of the sections `free`, each with its section's title."""
    title, found = "", []
    for line in text.splitlines():
        title = line[3:] if line.startswith("## ") else title
        name = line.split("|")[1].strip() if line.startswith("| ") else ""
        if name and title not in free and not name.startswith("geometric mean"):
            found.append((title, name))
    return dict.fromkeys(found)


def replace(path, text, free=()):
    """Write a page of measurements, unless rows of the one that is there would be missing, since what they measured was skipped or
    not asked for: then it stays, and the rows are named. Rows of the sections `free` come and go. Returns whether it was written."""
    made = row_names(text, free)
    missing = [name for title, name in row_names(read(path), free) if (title, name) not in made]
    if missing:
        print(f"{path} stays as it is: {', '.join(dict.fromkeys(missing))} not measured (remove the page to have one without)")
        return False
    with open(path, "w") as file:
        file.write(text)
    return True


def network_lines(path):
    """{network: its line} of a table written earlier."""
    found = find(read(path), NETWORKS)
    return dict(re.findall(r"^(?=\| (\w+) \|)(.*)$", found[1], re.M)) if found else {}


def write_networks(path, rows):
    """The lines of networks that were not measured this time stay."""
    lines = network_lines(path)
    lines.pop("network", None)
    for row in rows:
        error = "types and ranks only" if row.tied else f"{row.error:.1e}" if row.state == "pass" else f"**{row.state}**"
        lines[row.name] = f"| {row.name} | {row.outputs} | {row.sets} | {error} |"
    write_section(path, NETWORKS, NETWORKS_TEXT + "".join(line + "\n" for _, line in sorted(lines.items())))
