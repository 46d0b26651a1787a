"""Types and shapes that are wrong, and good models with bad command lines. See make_errors.py."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from broken import asked, case, info, model, relu, weight


# -------------------------------------------------------------------------------------------------------- types and shapes

@case
def wrong_operand_type():
    return model([helper.make_node("Add", ["x", "w"], ["y"], "sum")], initializers=[weight(kind=TensorProto.INT64)])


@case
def bad_shape():
    return model([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], inputs=[info("x", (2, 3))],
                 outputs=[info("y", (2, 5))], initializers=[weight(shape=(4, 5))])


@case
def extents_that_do_not_broadcast():
    return model([helper.make_node("Add", ["x", "w"], ["y"], "sum")], initializers=[weight(shape=(3,))])


@asked("--dim=n=0..5")
def extent_that_can_only_be_zero():
    to = helper.make_tensor("to", TensorProto.INT64, (2,), [0, 7])
    return model([helper.make_node("Reshape", ["x", "to"], ["y"], "fold")], inputs=[info("x", ("n", 0))], outputs=[info("y", ("n", 7))],
                 initializers=[to])


@case
def attention_of_unknown_mode():
    return model([helper.make_node("Attention", ["q", "q", "q"], ["y", "", "", "s"], "look", qk_matmul_output_mode=4)],
                 inputs=[info("q", (1, 2, 3, 4))], outputs=[info("y", (1, 2, 3, 4)), info("s", (1, 2, 3, 3))], opset=23)


@case
def indices_larger_than_data():
    index = helper.make_tensor("w", TensorProto.INT64, (3, 2), [0] * 6)
    return model([helper.make_node("GatherElements", ["x", "w"], ["y"], "pick", axis=1)], inputs=[info("x", (2, 2))],
                 outputs=[info("y", (3, 2))], initializers=[index])


@case
def updates_larger_than_data():
    index = helper.make_tensor("w", TensorProto.INT64, (3, 2), [0] * 6)
    return model([helper.make_node("ScatterElements", ["x", "w", "u"], ["y"], "put", axis=1)],
                 inputs=[info("x", (2, 2)), info("u", (3, 2))], outputs=[info("y", (2, 2))], initializers=[index])


@case
def scale_beyond_counting():
    scales = helper.make_tensor("w", TensorProto.FLOAT, (1,), [1e8])
    return model([helper.make_node("Resize", ["x", "", "w"], ["y"], "grow")], inputs=[info("x", (1 << 40,))],
                 outputs=[info("y", ("n",))], initializers=[scales])


@case
def axis_too_long_to_index():
    return model([helper.make_node("ArgMax", ["x"], ["y"], "most")], inputs=[info("x", (1 << 31, 2))],
                 outputs=[info("y", (1, 2), TensorProto.INT64)])


@case
def axis_too_long_to_index_backwards():
    return model([helper.make_node("ArgMin", ["x"], ["y"], "least", axis=-2, select_last_index=1)], inputs=[info("x", (1 << 31, 2))],
                 outputs=[info("y", (1, 2), TensorProto.INT64)])


@case
def one_hot_of_no_categories():
    return model([helper.make_node("OneHotEncoder", ["x"], ["y"], "code", domain="ai.onnx.ml")], outputs=[info("y", (2, 0))],
                 imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)])


@case
def scan_of_fewer_than_no_inputs():
    body = helper.make_graph([helper.make_node("Relu", ["u"], ["v"])], "b", [info("u", ())], [info("v", ())])
    return model([helper.make_node("Scan", ["x"], ["y"], "walk", body=body, num_scan_inputs=-(1 << 31))])


@case
def size_beyond_counting():
    sizes = helper.make_tensor("w", TensorProto.INT64, (2,), [7, (1 << 63) - 1])
    return model([helper.make_node("Resize", ["x", "", "", "w"], ["y"], "grow", keep_aspect_ratio_policy="not_smaller")], opset=18,
                 inputs=[info("x", (3, 1))], outputs=[info("y", ("n", "m"))], initializers=[sizes])


@case
def quantized_to_text():
    return model([helper.make_node("QuantizeLinear", ["x", "s"], ["y"], "round", output_dtype=TensorProto.STRING)], opset=21,
                 inputs=[info("x"), info("s", ())], outputs=[info("y", (2,), TensorProto.STRING)])


@case
def dequantized_to_text():
    return model([helper.make_node("DequantizeLinear", ["x", "s"], ["y"], "back", output_dtype=TensorProto.STRING)], opset=23,
                 inputs=[info("x", (2,), TensorProto.INT8), info("s", ())], outputs=[info("y", (2,), TensorProto.STRING)])


@case
def filled_with_text():
    text = helper.make_tensor("value", TensorProto.STRING, (1,), [b"a"])
    shape = helper.make_tensor("w", TensorProto.INT64, (1,), [2])
    return model([helper.make_node("ConstantOfShape", ["w"], ["y"], "fill", value=text)],
                 outputs=[info("y", (2,), TensorProto.STRING)], initializers=[shape])


@case
def concat_without_axis():
    return model([helper.make_node("Concat", ["x", "x"], ["y"], "join")], outputs=[info("y", (4,))])


@case
def kernel_without_elements():
    return model([helper.make_node("ConvTranspose", ["x", "w"], ["y"], "spread")], inputs=[info("x", (1, 1, 3))],
                 outputs=[info("y", (1, 1, "n"))], initializers=[weight(shape=(1, 1, 0))])


@case
def pool_of_wide_integers():
    return model([helper.make_node("MaxPool", ["x"], ["y"], "most", kernel_shape=[2])], inputs=[info("x", (1, 1, 4), TensorProto.INT32)],
                 outputs=[info("y", (1, 1, 3), TensorProto.INT32)])


@case
def complex_numbers_of_doubles():
    kind = TensorProto.COMPLEX128
    return model([helper.make_node("Transpose", ["x"], ["y"], "turn")], inputs=[info("x", (2, 3), kind)], outputs=[info("y", (3, 2), kind)])


@case
def choice_of_complex_numbers():
    kind = TensorProto.COMPLEX64
    return model([helper.make_node("Where", ["c", "x", "x"], ["y"], "choose")], inputs=[info("c", (2,), TensorProto.BOOL), info("x", (2,), kind)],
                 outputs=[info("y", (2,), kind)])


@case
def padding_of_text():
    kind = TensorProto.STRING
    return model([helper.make_node("Pad", ["x", "by"], ["y"], "pad")], inputs=[info("x", (2,), kind)], outputs=[info("y", (4,), kind)],
                 initializers=[numpy_helper.from_array(np.array([1, 1], np.int64), "by")])


@case
def statistics_of_doubles():
    nodes = [helper.make_node("BatchNormalization", ["x", "s", "s", "m", "m"], ["y"], "norm")]
    return model(nodes, inputs=[info("x", (1, 2)), info("s"), info("m", (2,), TensorProto.DOUBLE)], outputs=[info("y", (1, 2))])


@asked("--dim=n=1..4")
def weights_of_unknown_extents():
    return model([helper.make_node("RNN", ["x", "w", "r"], ["y"], "cell", hidden_size=3)],
                 inputs=[info("x", (2, 1, 4)), info("w", ("n", 3, 4)), info("r", (1, 3, 3))], outputs=[info("y", (2, 1, 1, 3))])


@asked("--dim=h=4..8", "--dim=k=2..8")
def heads_known_only_while_running():
    return model([helper.make_node("Attention", ["q", "x", "v"], ["y"], "heads")],
                 inputs=[info("q", (1, "h", 3, 4)), info("x", (1, "k", 5, 4)), info("v", (1, "k", 5, 4))],
                 outputs=[info("y", (1, "h", 3, 4))], opset=23)


@asked("--dim=y:0=1..7")
def iteration_above_its_bound():
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Concat", ["a", "x"], ["e"], axis=0)], "body",
                             [info("i", (), TensorProto.INT64), info("c", (), TensorProto.BOOL), info("a", ("p",))],
                             [info("d", (), TensorProto.BOOL), info("e", ("q",))])
    return model([helper.make_node("Loop", ["n", "", "x"], ["y"], "grow", body=body)],
                 inputs=[info("x", (8,)), info("n", (), TensorProto.INT64)], outputs=[info("y", ("m",))])


@case
def unbounded_extent():
    return model([relu()], inputs=[info("x", ("n", 4))], outputs=[info("y", ("n", 4))])


@case
def unbounded_everywhere():
    members = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, ("k", 2)))
    inputs = [info("x", ("n", "my axis", "n")), info("z", ("n", None)), helper.make_value_info("s", members)]
    return model([relu()], inputs=inputs, outputs=[info("y", ("n", "my axis", "n"))])


@asked("--dim=rows=2..3")
def grid_of_unknown_rows():
    sizes = helper.make_tensor("size", TensorProto.INT64, [4], [1, 1, 2, 2])
    return model([helper.make_node("AffineGrid", ["theta", "size"], ["y"])], inputs=[info("theta", (1, "rows", 3))], outputs=[info("y", (1, 2, 2, 2))],
                 initializers=[sizes], opset=20, ir=9)


@asked("--dim=n=1..4")
def classified_by_unknown_features():
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)]
    node = helper.make_node("LinearRegressor", ["x"], ["y"], domain="ai.onnx.ml", coefficients=[1.0, 2.0], intercepts=[0.5])
    return model([node], inputs=[info("x", (3, "n"))], outputs=[info("y", (3, 1))], imports=imports)


@case
def unbounded_rank():
    return model([relu()], inputs=[helper.make_tensor_value_info("x", TensorProto.FLOAT, None)],
                 outputs=[helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])


@case
def extent_that_data_decides():
    return model([helper.make_node("ConstantOfShape", ["x"], ["y"], "fill")], inputs=[info("x", (1,), TensorProto.INT64)],
                 outputs=[info("y", ("n",))])


# -------------------------------------------------------------------------------------------- good models, bad command lines

@asked("--dim=m=1..4")
def bound_of_nothing():
    return model([relu()])


@asked("--dim=n=0..9223372036854775807")
def bound_too_large():
    return unbounded_extent()


def sizes(what, *arguments):
    """A case of lists of sizes, named sizes_WHAT."""
    def make():
        return unbounded_extent()
    make.__name__ = "sizes_" + what
    asked(*arguments)(make)


sizes("twice", "--dim=n=3|3")
sizes("missing", "--dim=n=3|")
sizes("no_number", "--dim=n=3|few")
sizes("too_many", "--dim=n=" + "|".join(map(str, range(1, 18))))
sizes("of_no_input", "--dim=n=3|4", "--dim=y:0=6|8")
sizes("with_curve", "--dim=n=3|4", "--weights=swap", "--budget-curve=curve.svg")
sizes("in_memories", "--dim=n=3|4", "--region=a:8", "--region=b:8", "--io=arena")
sizes("on_a_device", "--dim=n=3|4", "--target=cuda", "--state=y:x")


@asked("--dim=n=3|4", "--state=y:x")
def state_of_listed_extents():
    return unbounded_extent()


@asked("--state=y:x")
def state_of_other_extents():
    return model([helper.make_node("Concat", ["x", "x"], ["y"], axis=0)], outputs=[info("y", (4,))])


@asked("--state=y:nothing")
def state_of_nothing():
    return model([relu()])


@asked("-o", "nowhere/net.c")
def output_not_writable():
    return model([relu()])


@asked("--report=/dev/full")
def disk_full():
    return model([relu()])


@asked("-o", "disk_full_of_source.c", "limit=1024")
def disk_full_of_source():
    return model([relu()])


@asked("--max-ram=100")
def more_ram_than_allowed():
    return model([helper.make_node("MatMul", ["x", "w"], ["h"], "product"), helper.make_node("Softmax", ["h"], ["y"], "soft")],
                 inputs=[info("x", (1, 16))], outputs=[info("y", (1, 8))], initializers=[weight(shape=(16, 8))])


@asked("--max-flash=1K")
def flash_without_compiler():
    return model([relu()])


@asked("--baseline=nowhere.json")
def baseline_missing():
    return model([relu()])


@asked("--verify=nowhere")
def stored_sets_missing():
    return model([relu()])


def einsum(equation, *shapes):
    names = ["x%d" % i for i in range(len(shapes))]
    return model([helper.make_node("Einsum", names, ["y"], "sums", equation=equation)],
                 inputs=[info(n, shape) for n, shape in zip(names, shapes)], outputs=[info("y", None)])


@asked("--weights=swap", "--load-rate=20M:300us:32", "--dim=W=3..6", "--max-ram=8000", "--target=portable")
def channels_apart_by_run_time_width():
    """The weights of a convolution are only cut where the distance between the channels of its result is constant."""
    return model([helper.make_node("Conv", ["x", w], [y], "conv_" + w) for w, y in ("vy", "wz")], inputs=[info("x", (1, 8, 3, "W"))],
                 outputs=[info(y, (1, 24, 1, None)) for y in "yz"], initializers=[weight(w, (24, 8, 3, 3)) for w in "vw"])


@case
def einsum_of_many_operands():
    return einsum(",".join("a" * 17) + "->a", *[(2,)] * 17)


@case
def einsum_of_many_axes():
    """The product of the first two has ten axes: the others name all of them."""
    return einsum("abcde,fghij,abcdefgh,ij->a", (1,) * 5, (1,) * 5, (1,) * 8, (1,) * 2)


@case
def einsum_of_digits():
    return einsum("a1->a", (2, 3))
