"""LSTM, GRU and RNN of doubles: every option, with constant and with computed weights. No runtime has them but the reference evaluator, which
knows few options: the wanted numbers are ONNX Runtime's of the same model in float."""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

TIME, BATCH, INPUT, HIDDEN = 5, 3, 4, 6
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def build(op, kind, given, constants, layout, attributes):
    """`given`: name -> array of the inputs in order, None where one is left out."""
    names = [name if value is not None else "" for name, value in given.items()]
    outputs = ["Y", "Y_h"] + (["Y_c"] if op == "LSTM" else [])
    node = helper.make_node(op, names, outputs, hidden_size=HIDDEN, **attributes, **({"layout": 1} if layout else {}))
    arrays = {name: value if value.dtype != np.float32 else value.astype(helper.tensor_dtype_to_np_dtype(kind))
              for name, value in given.items() if value is not None}
    info = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in arrays.items() if n not in constants]
    graph = helper.make_graph([node], "g", info, [helper.make_tensor_value_info(n, kind, None) for n in outputs],
                              [numpy_helper.from_array(v, n) for n, v in arrays.items() if n in constants])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 14)]), {n: v for n, v in arrays.items() if n not in constants}


def case(name, op, direction="forward", lengths=None, peephole=False, constant=True, layout=0, states=True, **attributes):
    rng, ways, gates = np.random.default_rng(len(name)), 2 if direction == "bidirectional" else 1, GATES[op]

    def draw(*shape):
        return rng.normal(size=shape).astype(np.float32) * np.float32(0.5)

    given = dict(X=draw(TIME, BATCH, INPUT), W=draw(ways, gates * HIDDEN, INPUT), R=draw(ways, gates * HIDDEN, HIDDEN), B=draw(ways, 2 * gates * HIDDEN))
    given["sequence_lens"] = None if lengths is None else np.array(lengths, np.int32)
    given["initial_h"] = draw(ways, BATCH, HIDDEN) if states else None
    if op == "LSTM":
        given["initial_c"] = draw(ways, BATCH, HIDDEN) if states else None
        given["P"] = draw(ways, 3 * HIDDEN) if peephole else None
    attributes["direction"] = direction
    constants = {"W", "R", "B", "P"} if constant else set()
    in_float, feeds = build(op, TensorProto.FLOAT, given, constants, 0, attributes)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    found = onnxruntime.InferenceSession(in_float.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feeds)
    if layout:
        for key in ("X", "initial_h", "initial_c"):
            given[key] = np.swapaxes(given[key], 0, 1) if given.get(key) is not None else None
        given = {key: value for key, value in given.items() if op == "LSTM" or key not in ("initial_c", "P")}
        found = [found[0].transpose(2, 0, 1, 3)] + [np.swapaxes(state, 0, 1) for state in found[1:]]
    model, feeds = build(op, TensorProto.DOUBLE, given, constants, layout, attributes)
    for output, value in zip(model.graph.output, found):
        output.CopyFrom(helper.make_tensor_value_info(output.name, TensorProto.DOUBLE, value.shape))
    return dict(name=name, group=op, model=model, inputs=[feeds], atol=1e-6, wanted=lambda inputs: [value.astype(np.float64) for value in found])


CASES = [case(f"{op.lower()}_of_doubles_{direction}{'' if constant else '_computed'}", op, direction, constant=constant)
             for op in GATES for direction in ("forward", "reverse", "bidirectional") for constant in (True, False)]
CASES += [case(f"{op.lower()}_of_doubles_with_lengths", op, "bidirectional", lengths=[5, 0, 3], states=False) for op in GATES]
CASES += [case(f"{op.lower()}_of_doubles_by_batch", op, "bidirectional", layout=1) for op in GATES]
CASES += [
    case("lstm_of_doubles_peephole", "LSTM", peephole=True),
    case("lstm_of_doubles_coupled", "LSTM", input_forget=1, peephole=True, constant=False),
    case("lstm_of_doubles_clipped", "LSTM", clip=0.3),
    case("gru_of_doubles_before_reset", "GRU", "bidirectional", linear_before_reset=1),
    case("gru_of_doubles_clipped", "GRU", clip=0.3, linear_before_reset=1, constant=False),
]
CASES += [case(f"rnn_of_doubles_{name.lower()}", "RNN", activations=[name], **more) for name, more in (
    ("Relu", {}), ("Sigmoid", {}), ("Affine", dict(activation_alpha=[0.5], activation_beta=[0.25])), ("LeakyRelu", dict(activation_alpha=[0.2])),
    ("ThresholdedRelu", dict(activation_alpha=[0.3])), ("ScaledTanh", dict(activation_alpha=[0.7], activation_beta=[1.2])),
    ("HardSigmoid", dict(activation_alpha=[0.3], activation_beta=[0.4])), ("Elu", dict(activation_alpha=[0.6])), ("Softsign", {}), ("Softplus", {}))]


def large_softplus(kind, scale):
    """Softplus of numbers whose exponential is no float: the number itself, computed here in double, where ONNX Runtime has infinity."""
    rng, dtype = np.random.default_rng(3), helper.tensor_dtype_to_np_dtype(kind)
    given = dict(X=rng.normal(size=(TIME, BATCH, INPUT)) * scale, W=rng.normal(size=(1, HIDDEN, INPUT)), R=rng.normal(size=(1, HIDDEN, HIDDEN)) * 0.1)
    model, feeds = build("RNN", kind, {k: v.astype(np.float32) for k, v in given.items()}, {"W", "R"}, 0, dict(activations=["Softplus"]))
    for output, shape in zip(model.graph.output, ((TIME, 1, BATCH, HIDDEN), (1, BATCH, HIDDEN))):
        output.CopyFrom(helper.make_tensor_value_info(output.name, kind, shape))
    x, w, r = (given[k].astype(np.float32).astype(np.float64) for k in ("X", "W", "R"))
    state, found = np.zeros((BATCH, HIDDEN)), []
    for step in x:
        state = np.logaddexp(0.0, step @ w[0].T + state @ r[0].T)
        found.append(state)
    wanted = [np.stack(found)[:, None].astype(dtype), state[None].astype(dtype)]
    return dict(name=f"rnn_softplus_of_{scale}_{np.dtype(dtype).name}", group="RNN", model=model, inputs=[feeds], wanted=lambda inputs: wanted)


CASES += [large_softplus(kind, scale) for kind in (TensorProto.FLOAT, TensorProto.DOUBLE) for scale in (1, 200, 2000)]


def states_in_rows(kind, layout=0):
    """Final states that lie in rows of other lengths, each beside another tensor: the strides of Y_h and Y_c differ."""
    rng, dtype = np.random.default_rng(5), helper.tensor_dtype_to_np_dtype(kind)
    given = dict(X=rng.normal(size=(TIME, BATCH, INPUT)), W=rng.normal(size=(1, 4 * HIDDEN, INPUT)), R=rng.normal(size=(1, 4 * HIDDEN, HIDDEN)) * 0.3, B=None,
                 sequence_lens=None, initial_h=rng.normal(size=(1, BATCH, HIDDEN)), initial_c=rng.normal(size=(1, BATCH, HIDDEN)))
    beside = {"c_beside": rng.normal(size=(1, BATCH, 3)), "h_beside": rng.normal(size=(1, BATCH, 7))}
    given = {name: value if value is None else value.astype(np.float32) for name, value in given.items()}
    beside = {name: value.astype(np.float32) for name, value in beside.items()}

    def extended(number, by_batch):
        element = helper.tensor_dtype_to_np_dtype(number)
        turned = {n: np.swapaxes(v, 0, 1) if by_batch and v is not None and n not in ("W", "R") else v for n, v in (given | beside).items()}
        model, feeds = build("LSTM", number, {n: turned[n] for n in given}, {"W", "R"}, by_batch, {})
        graph, rows = model.graph, {n: turned[n].astype(element) for n in beside}
        del graph.output[:]
        for place, width in (("h", HIDDEN + 7), ("c", HIDDEN + 3)):
            graph.node.append(helper.make_node("Concat", ["Y_" + place, place + "_beside"], ["row_" + place], axis=2))
            graph.input.append(helper.make_tensor_value_info(place + "_beside", number, rows[place + "_beside"].shape))
            graph.output.append(helper.make_tensor_value_info("row_" + place, number, [BATCH, 1, width] if by_batch else [1, BATCH, width]))
        graph.node[0].output[0] = ""
        return model, feeds | {n: rows[n] for n in ("h_beside", "c_beside")}
    in_float, feeds = extended(TensorProto.FLOAT, 0)
    found = onnxruntime.InferenceSession(in_float.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)
    model, feeds = extended(kind, layout)
    wanted = [(np.swapaxes(value, 0, 1) if layout else value).astype(dtype) for value in found]
    return dict(name=f"lstm_states_in_rows_{np.dtype(dtype).name}{'_by_batch' * layout}", group="LSTM", model=model, inputs=[feeds], atol=1e-6,
                wanted=lambda inputs: wanted)


CASES += [states_in_rows(kind, layout) for kind in (TensorProto.FLOAT, TensorProto.DOUBLE) for layout in (0, 1)]
