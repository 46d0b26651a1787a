"""Attributes whose values decide what is computed: reductions over no axes, parameters of recurrent cells' activations."""

import numpy as np
from onnx import TensorProto, helper

RNG = np.random.default_rng(13)
F = TensorProto.FLOAT


def case(name, op, inputs, outputs, opset, flags=(), oracle="runtime", **attributes):
    kinds = {np.dtype(np.float32): F, np.dtype(np.int64): TensorProto.INT64, np.dtype(np.int32): TensorProto.INT32}
    node = helper.make_node(op, list(inputs), [n for n in outputs], **attributes)
    info = [helper.make_tensor_value_info(n, kinds[v.dtype], v.shape) for n, v in inputs.items()]
    graph = helper.make_graph([node], "g", info, [helper.make_tensor_value_info(n, F, None) for n in outputs])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset)])
    return dict(name="attribute_" + name, group=op, model=model, inputs=[inputs], oracle=oracle, flags=list(flags))


def reduced(op, empty, noop):
    """No axes, or an empty list of them given while running."""
    sign = 1 if "Log" in op else -1
    inputs = dict(x=(sign * RNG.uniform(1, 3, (2, 3, 4))).astype(np.float32))
    if empty:
        inputs["axes"] = np.zeros(0, np.int64)
    opset = {"ReduceSum": 13, "ReduceMax": 20, "ReduceMin": 20}.get(op, 18)
    return case(f"{op}_{'empty' if empty else 'without'}_axes_{noop}".lower(), op, inputs, ["y"], opset, noop_with_empty_axes=noop)


def cell(name, op, gates, activations, directions=1, **more):
    t, b, i, h = 3, 2, 3, 4
    inputs = {n: RNG.normal(size=s).astype(np.float32) * np.float32(0.7) for n, s in
              dict(x=(t, b, i), w=(directions, gates * h, i), r=(directions, gates * h, h), bias=(directions, 2 * gates * h)).items()}
    direction = "bidirectional" if directions == 2 else "forward"
    return case(name, op, inputs, ["y", "last"], 14, hidden_size=h, activations=activations, direction=direction, **more)


def places(axes):
    """Where MaxPool found its results, counted in column-major order."""
    x = RNG.permutation(2 * 3 * 4 * 5 * 6).astype(np.float32).reshape([2, 3, *(4, 5, 6)[:axes - 1], 120 // int(np.prod((4, 5, 6)[:axes - 1]))])
    node = helper.make_node("MaxPool", ["x"], ["y", "at"], kernel_shape=[2] * axes, storage_order=1, ceil_mode=1, strides=[2] * axes)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", F, x.shape)],
                              [helper.make_tensor_value_info("y", F, None), helper.make_tensor_value_info("at", TensorProto.INT64, None)])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
    return dict(name=f"attribute_storage_order_{axes}d", group="MaxPool", model=model, inputs=[dict(x=x)], oracle="runtime")


REDUCTIONS = ["ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
              "ReduceSumSquare"]

CASES = [places(axes) for axes in (1, 2, 3)] + [reduced(op, empty, noop) for op in REDUCTIONS for empty, noop in ((False, 1), (True, 1), (True, 0))] + [
    cell("lstm_alpha_of_the_second", "LSTM", 4, ["Sigmoid", "LeakyRelu", "Tanh"], activation_alpha=[0.3]),
    cell("lstm_alphas_of_two_directions", "LSTM", 4, ["HardSigmoid", "Tanh", "Elu", "Sigmoid", "LeakyRelu", "Affine"], 2,
         activation_alpha=[0.3, 0.7, 0.2, 1.2], activation_beta=[0.4, 0.1], clip=3.0),
    cell("gru_alpha_of_the_second", "GRU", 3, ["Sigmoid", "ThresholdedRelu"], activation_alpha=[0.2], linear_before_reset=1),
    cell("gru_alphas_of_two_directions", "GRU", 3, ["HardSigmoid", "Softsign", "Sigmoid", "ScaledTanh"], 2,
         activation_alpha=[0.3, 0.7], activation_beta=[0.4, 0.9]),
    cell("rnn_alpha_of_the_second_direction", "RNN", 1, ["Tanh", "LeakyRelu"], 2, activation_alpha=[0.5]),
    cell("rnn_fewer_alphas_than_takers", "RNN", 1, ["Elu", "LeakyRelu"], 2, activation_alpha=[0.5]),
]
