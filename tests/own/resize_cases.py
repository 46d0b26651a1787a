"""Resize and Upsample of every version, by scales that are known and that are not, against ONNX Runtime."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(11)
NONE = np.zeros(0, np.float32)


def case(name, opset, scales, shape=(2, 3, 5, 7), known=True, **attributes):
    x = RNG.normal(size=shape).astype(np.float32)
    scales = np.array((1.0, 1.0) + scales, np.float32)
    extents = [int(np.floor(np.float32(d) * s)) for d, s in zip(shape, scales)]
    inputs, constants, given = ["x", "s"], [numpy_helper.from_array(scales, "s")], dict(x=x)
    if opset >= 11:
        inputs.insert(1, "none" if opset < 13 else "")
        constants += [numpy_helper.from_array(NONE, "none")] if opset < 13 else []
    if opset < 9:
        inputs, constants = ["x"], []
        attributes["scales"] = [float(s) for s in scales]
    if not known:
        given["s"] = scales
        constants = constants[1:]
    node = helper.make_node("Resize" if opset >= 10 else "Upsample", inputs, ["y"], **attributes)
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, v.shape) for n, v in given.items()]
    graph = helper.make_graph([node], "g", info, [helper.make_tensor_value_info("y", TensorProto.FLOAT, extents if known else [None] * 4)],
                              constants)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset)])
    flags = [] if known else [f"--dim=y:{axis}=0..{extent + 3}" for axis, extent in enumerate(extents)]
    return dict(name="resize_" + name, group="Resize", model=model, inputs=[given], oracle="runtime", flags=flags)


CASES = [
    case("7_nearest", 7, (2.0, 2.5), mode="nearest"),
    case("7_linear", 7, (2.0, 1.3), mode="linear"),
    case("9_nearest_computed", 9, (1.6, 3.0), mode="nearest", known=False),
    case("9_linear_computed", 9, (3.0, 1.3), mode="linear", known=False),
    case("10_nearest_smaller", 10, (0.6, 0.3), mode="nearest"),
    case("10_nearest_mixed", 10, (0.6, 2.5), mode="nearest"),
    case("10_nearest_computed", 10, (0.6, 0.75), mode="nearest", known=False),
    case("10_nearest_computed_mixed", 10, (1.6, 0.4), mode="nearest", known=False),
    case("10_linear_computed", 10, (0.6, 2.0), mode="linear", known=False),
    case("11_half_element", 11, (2.0, 3.0), mode="nearest", nearest_mode="floor", coordinate_transformation_mode="tf_half_pixel_for_nn"),
    case("11_half_element_smaller", 11, (0.4, 1.6), mode="nearest", coordinate_transformation_mode="tf_half_pixel_for_nn"),
    case("12_half_element_linear", 12, (2.5, 0.5), mode="linear", known=False, coordinate_transformation_mode="tf_half_pixel_for_nn"),
    case("12_half_element_of_one", 12, (1.0, 2.0), mode="nearest", known=False, nearest_mode="round_prefer_ceil",
         coordinate_transformation_mode="tf_half_pixel_for_nn"),
    case("11_to_one_element", 11, (0.3, 2.0), mode="linear", coordinate_transformation_mode="pytorch_half_pixel"),
    case("13_to_one_element", 13, (0.3, 0.5), mode="cubic", known=False, coordinate_transformation_mode="pytorch_half_pixel"),
    case("18_ceil", 18, (0.7, 1.9), mode="nearest", nearest_mode="ceil", coordinate_transformation_mode="asymmetric"),
    case("19_symmetric", 19, (1.5, 0.4), mode="linear", known=False, coordinate_transformation_mode="half_pixel_symmetric"),
]
