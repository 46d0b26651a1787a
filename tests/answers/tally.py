"""What random models have shown in all, kept as a file of the project (tally.json): a lost build folder loses only what is new.

Each seed, with its kind, is counted once: a state of fuzz_answers.py replaces what an earlier one of the same seed had counted, as the same
numbers are the same models. Coverage is a set that only grows.
"""

import collections
import json
import os

FIGURES = ("models", "variants", "runs", "models refused")
COVERED = ("rows", "types", "attributes")


def named(state):
    """The name of a state's seed and kind."""
    return " ".join(filter(None, [state["seed"], state["kind"]]))


def entry_of(state):
    """What one state has counted."""
    stats = state["stats"]
    counts = {figure: stats.get(figure, 0) for figure in FIGURES}
    return counts | {"kinds": {k[len("kind "):]: n for k, n in stats.items() if k.startswith("kind ")}, "found": len(state["found"]),
                     "hours": round(state["seconds"] / 3600, 2)}


class Tally:
    """before: figures from before the file was kept. seeds: {seed and kind: entry}. since: models since the last that failed."""

    def __init__(self, path):
        self.path = path
        self.data = {"before": {}, "seeds": {}, "since": 0, **{table: [] for table in COVERED}}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.data = json.load(file)

    def add(self, state):
        """Count what is new in a state."""
        name, entry = named(state), entry_of(state)
        old = self.data["seeds"].get(name, {"models": 0, "found": 0})
        for table in COVERED:
            self.data[table] = sorted({*self.data[table], *state["seen"].get(table, {})})
        if entry["models"] <= old["models"]:
            return
        self.data["seeds"][name] = entry
        failed = entry["found"] > old["found"]
        self.data["since"] = state.get("since", 0) if failed else self.data["since"] + entry["models"] - old["models"]

    def write(self):
        with open(self.path + ".tmp", "w", encoding="utf-8") as file:
            json.dump(self.data, file, indent=1, sort_keys=True, ensure_ascii=False)
            file.write("\n")
        os.replace(self.path + ".tmp", self.path)

    def entries(self):
        return [*filter(None, [self.data["before"]]), *self.data["seeds"].values()]

    def total(self, figure):
        return sum(entry.get(figure, 0) for entry in self.entries())

    def kinds(self):
        """Models of each kind."""
        counts = collections.Counter()
        for entry in self.entries():
            counts.update(entry["kinds"])
        return sorted(counts.items())

    def covered(self):
        """The sets as seen.py has them: {table: {key: 1}}."""
        return {table: dict.fromkeys(self.data[table], 1) for table in COVERED}
