"""What makers of broken models share: the table of cases, and models of one node. See make_errors.py."""
import numpy as np
from onnx import TensorProto, helper

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def asked(*arguments):
    """A case with arguments besides the model's name."""
    def keep(function):
        function.arguments = arguments
        return case(function)
    return keep


def info(name, shape=(2,), kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs=None, outputs=None, initializers=(), opset=17, ir=8, **more):
    inputs = [info("x")] if inputs is None else inputs
    outputs = [info("y")] if outputs is None else outputs
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers), sparse_initializer=more.pop("sparse", []))
    imports = more.pop("imports", [helper.make_opsetid("", opset)])
    made = helper.make_model(graph, opset_imports=imports, **more)
    made.ir_version = ir
    made.producer_name = ""
    return made


def relu(i="x", o="y", **more):
    return helper.make_node("Relu", [i], [o], **more)


def weight(name="w", shape=(2,), kind=TensorProto.FLOAT):
    count = int(np.prod(shape))
    return helper.make_tensor(name, kind, shape, [1] * count)


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content
