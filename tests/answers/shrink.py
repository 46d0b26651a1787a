"""Makes a failing model small: fewer variants and options, fewer sets, fewer nodes, fewer attributes, smaller extents, as long as it
fails in the same way. The result is written as a case folder with a line that says how to see it."""

import copy
import os
import shlex

import numpy as np
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.ops.op_dequantize_linear import DequantizeLinear_25
from onnx.reference.ops.op_grid_sample import GridSample

import batch
import judge
import oracle
import seen
import tuned
from batch import cases

MOST_TRIES = 60


def keep(trial, index, build, arguments, stats):
    """Shrink the failure of a variant and write it below found/; what is said of it."""
    state, reason = trial.outcomes[index].state, trial.outcomes[index].reason
    folder = os.path.join(arguments["work"], "found", trial.name)
    small = Failing.of(trial, index, build)
    if state == "wrong" and reference_agrees(small):     # asked before, too: what is made smaller may be no valid model
        stats["the reference says what occamyc says, not ONNX Runtime: " + " ".join(cases.model_operators(small.model))] += 1
        return None
    if trial.said:
        line = small.write(folder, state, trial.wanted)
        return {"name": trial.name, "state": state, "line": line, "reason": reason, "operators": cases.model_operators(trial.model)}
    try:
        small = Shrinker(trial, index, build, arguments).run()
    except Exception as error:                       # the failure itself is kept however shrinking ends
        small, reason = Failing.of(trial, index, build), f"{reason} (not made smaller: {type(error).__name__}: {error})"
    if state == "wrong" and reference_agrees(small):
        stats["the reference says what occamyc says, not ONNX Runtime: " + " ".join(cases.model_operators(small.model))] += 1
        return None
    line = small.write(folder, state)
    return {"name": trial.name, "state": state, "line": line, "reason": small.reason or reason,
            "operators": cases.model_operators(small.model)}


def reference_agrees(small):
    """Whether ONNX's reference evaluator decides for what was found, on every set."""
    if not small.ours:
        return False
    names = [i.name for i in small.model.graph.input]
    try:
        evaluator = ReferenceEvaluator(without_regions(small.model), new_ops=older_operators(small.model))
        wanted = [[batch.tensor(v) for v in evaluator.run(None, dict(zip(names, values)))] for values in small.sets]
    except Exception:                                # it lacks operators, and forms of others
        return False
    trial = batch.Trial("reference", small.model, small.sets, wanted, small.granted, [], rare=small.rare)
    return all(judge.judge_set(trial, k, ours) is None for k, ours in enumerate(small.ours))


def without_regions(model):
    """The model without those regions of Resize that have no effect: the evaluator reads them, and fails where they were made smaller."""
    model = copy.deepcopy(model)
    for node in model.graph.node:
        crops = any(a.name == "coordinate_transformation_mode" and a.s == b"tf_crop_and_resize" for a in node.attribute)
        if node.op_type == "Resize" and len(node.input) > 2 and not crops:
            node.input[1] = ""
    return model


def sample_by_older_word(self, x, grid, mode=None, **more):
    return GridSample._run(self, x, grid, mode={"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode), **more)


def older_operators(model):
    """What the reference evaluator lacks of older models, as the newer operator computes it: DequantizeLinear of 8 bits before opset 19, and
    the words for GridSample's modes before opset 20."""
    opset = next((o.version for o in model.opset_import if not o.domain), 1)
    found = [type("DequantizeLinear", (DequantizeLinear_25,), {})] if opset < 19 else []
    return found + ([type("GridSample", (GridSample,), {"_run": sample_by_older_word})] if opset < 20 else [])


class Failing:
    """A model, its inputs as numpy values, the options of the reference variant and of the failing one, and the build."""

    def __init__(self, model, sets, options, rare):
        self.model, self.sets, self.options, self.rare, self.reason = model, sets, options, rare, ""
        self.flags, self.ours, self.granted = [], [], []   # ours, granted: per set and output, once it was run

    @staticmethod
    def of(trial, index, build):
        options = [trial.variants[0].options] + ([trial.variants[index].options] if index else [])
        sets = [[numpy_value(v) for v in values] for values in trial.sets]
        small = Failing(trial.model, sets, options, trial.rare)
        small.build, small.reason, small.flags = build, trial.outcomes[index].reason, trial.flags
        small.ours, small.granted = ([] if "other bits" in small.reason else trial.outcomes[index].outputs), trial.granted
        return small

    def write(self, folder, state, wanted=None):
        """wanted: what is right, where ONNX Runtime is not asked."""
        wanted = wanted or [[batch.tensor(v) for v in values] for values in oracle.answers(self.model, self.sets)]
        pairs = list(zip([[batch.tensor(v) for v in values] for values in self.sets], wanted))
        batch.shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        options = tuned.keep(self.options[-1], folder)
        cases.write_case(folder, self.model, pairs, "found", "random", 1e-4, 1e-5, flags=[*self.flags, *options])
        operators = " ".join(n.op_type for n in self.model.graph.node)
        line = f"{os.path.basename(folder)}: {operators}: {shlex.join([*self.flags, *options])} [{self.build.cc}]: {self.reason}"
        with open(os.path.join(folder, "line.txt"), "w", encoding="utf-8") as file:
            file.write(f"{state} {line}\n")
        return line


def numpy_value(value):
    if isinstance(value, list):
        return [numpy_value(v) for v in value]
    return None if value is None else value.array()


def kind_of_failure(outcome):
    """What a smaller model's failure must have in common: the state, bits or answers, and what a refusal or message says."""
    said = seen.without_names(outcome.reason) if outcome.state in ("invalid", "crash") else "other bits" in outcome.reason
    return outcome.state, said


class Shrinker:
    def __init__(self, trial, index, build, arguments):
        self.best = Failing.of(trial, index, build)
        self.equal, self.alone = trial.variants[index].equal, trial.variants[index].alone
        self.bits = "other bits" in trial.outcomes[index].reason
        self.kind = kind_of_failure(trial.outcomes[index])
        self.occamyc, self.tries = arguments["occamyc"], 0
        self.folder = os.path.join(arguments["work"], f"shrink_{trial.name}")

    def fails(self, small):
        """Whether the smaller one fails in the same way; notes its reason."""
        self.tries += 1
        try:
            wanted = oracle.answers(small.model, small.sets)
            granted = oracle.tolerances(small.model, small.sets, wanted)
        except Exception:
            return False
        ways = [judge_variant(options, self.equal, self.alone) for options in small.options]
        trial = batch.Trial("s", small.model, [[batch.tensor(v) for v in values] for values in small.sets],
                            [[batch.tensor(v) for v in values] for values in wanted], granted, ways, rare=small.rare)
        batch.run([trial], self.folder, self.occamyc, small.build.cc)
        judge.judge(trial)
        last = trial.outcomes[-1]
        if len(trial.outcomes) != len(small.options) or kind_of_failure(last) != self.kind:
            return False
        small.reason, small.flags, small.ours, small.granted = last.reason, trial.flags, last.outputs, granted
        return True

    def attempt(self, change):
        """Apply a change to a copy; keep it where it still fails."""
        if self.tries >= MOST_TRIES:
            return False
        small = copy.copy(self.best)
        small.model = type(small.model)()
        small.model.CopyFrom(self.best.model)
        small.options = [list(o) for o in self.best.options]
        small.sets = [list(s) for s in self.best.sets]
        try:
            if change(small) is False or not self.fails(small):
                return False
        except Exception:
            return False
        self.best = small
        return True

    def run(self):
        if not self.bits and len(self.best.options) > 1:
            self.attempt(lambda s: s.options.pop(0))
        self.shrink_options()
        for k in range(len(self.best.sets)):
            if len(self.best.sets) > 1 and self.attempt(lambda s: keep_set(s, k)):
                break
        self.shrink_outputs()
        self.shrink_nodes()
        self.shrink_attributes()
        self.shrink_extents()
        batch.shutil.rmtree(self.folder, ignore_errors=True)
        return self.best

    def shrink_options(self):
        i = 0
        while i < len(self.best.options[-1]):
            if not self.attempt(lambda s: s.options[-1].pop(i)):
                i += 1

    def shrink_outputs(self):
        for i in reversed(range(len(self.best.model.graph.output))):
            if len(self.best.model.graph.output) > 1:
                self.attempt(lambda s: drop_output(s, i))

    def shrink_nodes(self):
        """Each node in turn becomes inputs that hold what it makes."""
        i = 0
        while i < len(self.best.model.graph.node):
            if len(self.best.model.graph.node) == 1 or not self.attempt(lambda s: feed_node(s, i)):
                i += 1

    def shrink_attributes(self):
        for i, node in enumerate(self.best.model.graph.node):
            for name in [a.name for a in node.attribute if a.name not in KEPT]:
                self.attempt(lambda s: drop_attribute(s, i, name))

    def shrink_extents(self):
        for _ in range(2):
            extents = {n for values in self.best.sets for v in values if isinstance(v, np.ndarray) for n in v.shape}
            extents |= {n for t in self.best.model.graph.initializer for n in t.dims}
            for extent in sorted((n for n in extents if n > 1), reverse=True):
                if not self.attempt(lambda s: cut_extent(s, extent, max(1, extent // 2))):
                    self.attempt(lambda s: cut_extent(s, extent, extent - 1))


def judge_variant(options, equal, alone):
    import variants
    return variants.Variant(list(options), equal, alone=alone)


def keep_set(small, k):
    small.sets = [small.sets[k]]


def drop_output(small, i):
    del small.model.graph.output[i]
    prune(small)


KEPT = {"activation_alpha", "activation_beta"}      # whose defaults differ: docs/differences.md


def drop_attribute(small, i, name):
    node = small.model.graph.node[i]
    kept = [a for a in node.attribute if a.name != name]
    del node.attribute[:]
    node.attribute.extend(kept)


def feed_node(small, i):
    """The results of node i become inputs with the values that ONNX Runtime computes for them."""
    graph = small.model.graph
    made = [n for n in graph.node[i].output if n]
    probe = type(small.model)()
    probe.CopyFrom(small.model)
    known = {o.name for o in graph.output}
    if known & set(made):
        return False
    probe.graph.output.extend(helper.make_empty_tensor_value_info(n) for n in made)
    values = [outputs[-len(made):] for outputs in oracle.answers(probe, small.sets)]
    if not all(isinstance(v, np.ndarray) for outputs in values for v in outputs):
        return False
    del graph.node[i]
    for k, name in enumerate(made):
        columns = [outputs[k] for outputs in values]
        dtype = batch.tensor(columns[0]).dtype
        dims = [sizes[0] if len(set(sizes)) == 1 else f"{name}{axis}" for axis, sizes in enumerate(zip(*(c.shape for c in columns)))]
        graph.input.append(helper.make_tensor_value_info(name, dtype, dims))
        for inputs, column in zip(small.sets, columns):
            inputs.append(column)
    prune(small)


def prune(small):
    """Drop nodes, inputs and constants that no output needs."""
    from net import names_read
    graph = small.model.graph
    needed = {o.name for o in graph.output}
    kept = []
    for node in reversed(graph.node):
        if needed & set(node.output):
            kept.append(node)
            needed |= set(names_read(node))
    nodes = [copy.deepcopy(n) for n in reversed(kept)]
    del graph.node[:]
    graph.node.extend(nodes)
    used = {name for node in nodes for name in names_read(node)} | {o.name for o in graph.output}
    places = [i for i, info in enumerate(graph.input) if info.name in used]
    infos = [copy.deepcopy(graph.input[i]) for i in places]
    del graph.input[:]
    graph.input.extend(infos)
    small.sets = [[values[i] for i in places] for values in small.sets]
    constants = [copy.deepcopy(t) for t in graph.initializer if t.name in used]
    del graph.initializer[:]
    graph.initializer.extend(constants)


def cut_extent(small, extent, smaller):
    """Every axis of this extent becomes shorter, in inputs and constants."""
    def cut(array):
        return np.ascontiguousarray(array[tuple(slice(0, smaller) if n == extent else slice(None) for n in array.shape)])
    graph = small.model.graph
    small.sets = [[cut(v) if isinstance(v, np.ndarray) and v.ndim else v for v in values] for values in small.sets]
    for i, info in enumerate(graph.input):
        if isinstance(small.sets[0][i], np.ndarray):
            for axis, dim in enumerate(info.type.tensor_type.shape.dim):
                if dim.HasField("dim_value"):
                    dim.dim_value = small.sets[0][i].shape[axis]
    for tensor in graph.initializer:
        if extent in tensor.dims and tensor.data_type != 8:
            tensor.CopyFrom(numpy_helper.from_array(cut(numpy_helper.to_array(tensor)), tensor.name))
