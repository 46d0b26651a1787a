"""Tensors that are wrong, in the model and in files beside it. See make_errors.py."""
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from broken import asked, case, info, model, relu, weight


# ----------------------------------------------------------------------------------------------------------------- tensors

def with_weight(tensor, **more):
    return model([helper.make_node("Add", ["x", "w"], ["y"])], initializers=[tensor], **more)


@case
def contents_too_short():
    tensor = weight()
    tensor.ClearField("float_data")
    tensor.raw_data = b"1234567"
    return with_weight(tensor)


@case
def contents_too_long():
    tensor = weight()
    tensor.float_data.append(1.0)
    return with_weight(tensor)


@case
def contents_missing():
    tensor = weight()
    tensor.ClearField("float_data")
    return with_weight(tensor)


@case
def contents_in_wrong_field():
    tensor = weight()
    tensor.ClearField("float_data")
    tensor.int64_data.extend([1, 2])
    return with_weight(tensor)


@case
def strings_too_few():
    tensor = helper.make_tensor("w", TensorProto.STRING, (2,), [b"one", b"two"])
    tensor.dims[0] = 3
    return with_weight(tensor)


@case
def extent_negative():
    tensor = weight()
    tensor.dims[0] = -2
    return with_weight(tensor)


@case
def size_overflow():
    tensor = weight()
    tensor.dims[:] = [1 << 31, 1 << 31, 4]
    return with_weight(tensor)


@case
def size_that_no_file_holds():
    tensor = weight()
    tensor.dims[:] = [1 << 40]
    return with_weight(tensor)


@case
def too_many_axes():
    tensor = weight(shape=(1,) * 9)
    return with_weight(tensor)


@case
def too_many_axes_of_input():
    return model([relu()], inputs=[info("x", (1,) * 9)])


@case
def element_type_unknown():
    tensor = weight()
    tensor.data_type = 99
    return with_weight(tensor)


@case
def element_type_of_six_bits():
    tensor = weight()
    tensor.data_type = 27
    return with_weight(tensor)


@case
def segmented():
    tensor = weight()
    tensor.segment.begin = 0
    tensor.segment.end = 1
    return with_weight(tensor)


@case
def wrong_type_of_initializer():
    return with_weight(weight(), inputs=[info("x"), info("w", (2,), TensorProto.INT64)])


@case
def input_without_type():
    made = model([relu()])
    made.graph.input[0].ClearField("type")
    return made


@case
def input_of_maps():
    made = model([relu()])
    made.graph.input[0].type.map_type.key_type = TensorProto.INT64
    made.graph.input[0].type.map_type.value_type.tensor_type.elem_type = TensorProto.FLOAT
    return made


def of_maps(op, key=TensorProto.STRING, value=TensorProto.FLOAT, **attributes):
    """A node that reads a map 'x'."""
    nodes = [helper.make_node(op, ["x"], ["y"], domain="ai.onnx.ml", **attributes)]
    kind = helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, None))
    graph = helper.make_graph(nodes, "g", [helper.make_value_info("x", kind)], [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)])


def zip_map(columns=2, outputs=("y",), more=(), **attributes):
    nodes = [helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", **attributes), *more]
    graph = helper.make_graph(nodes, "g", [info("x", (3, columns))], [helper.make_empty_tensor_value_info(n) for n in outputs])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)])


@case
def map_without_vocabulary():
    return of_maps("DictVectorizer")


@case
def map_with_two_vocabularies():
    return of_maps("DictVectorizer", string_vocabulary=["a"], int64_vocabulary=[1])


def either_rank(reader, output):
    """s is a scalar or [1]; what reads it decides whether that matters."""
    branches = [helper.make_graph([helper.make_node(op, [source], [name])], name, [], [info(name, shape)])
                for op, source, name, shape in (("Neg", "a", "p", ()), ("Neg", "b", "q", (1,)))]
    choice = helper.make_node("If", ["c"], ["s"], name="choice", then_branch=branches[0], else_branch=branches[1])
    return model([choice] + reader, [info("c", (), TensorProto.BOOL), info("a", ()), info("b", (1,))], [output])


@case
def either_rank_joined():
    return either_rank([helper.make_node("Concat", ["s", "b"], ["y"], name="joined", axis=0)], info("y"))


@case
def either_rank_given():
    return either_rank([helper.make_node("Add", ["s", "a"], ["y"], name="sum")], info("y", (1,)))


@case
def map_with_other_keys():
    return of_maps("DictVectorizer", int64_vocabulary=[1])


@case
def map_cast_between_text_and_numbers():
    return of_maps("CastMap", key=TensorProto.INT64, map_form="SPARSE", max_map=3, cast_to="TO_STRING")


@case
def map_cast_beyond_counting():
    return of_maps("CastMap", key=TensorProto.INT64, map_form="SPARSE", max_map=1 << 40)


@case
def map_cast_without_bound():
    return of_maps("CastMap", key=TensorProto.INT64)


@case
def zip_map_of_other_columns():
    return zip_map(columns=3, classlabels_int64s=[1, 2])


@case
def zip_map_of_equal_labels():
    return zip_map(classlabels_strings=["a", "a"])


@case
def zip_map_without_labels():
    return zip_map()


@case
def zip_map_read_by_an_operator():
    return zip_map(outputs=("z",), more=[helper.make_node("Identity", ["y"], ["z"])], classlabels_int64s=[1, 2])


@case
def zip_map_of_another_type():
    made = zip_map(classlabels_int64s=[1, 2])
    made.graph.output[0].CopyFrom(info("y", (3, 2)))
    return made


def sparse(values, indices, dims):
    tensor = numpy_helper.from_array(np.array(values, np.float32), "w")
    return helper.make_sparse_tensor(tensor, numpy_helper.from_array(np.array(indices, np.int64)), dims)


def tokenizer(**attributes):
    settings = dict(mark=0, mincharnum=1, pad_value="")
    nodes = [helper.make_node("Tokenizer", ["x"], ["y"], domain="com.microsoft", **{**settings, **attributes})]
    graph = helper.make_graph(nodes, "g", [info("x", (3,), TensorProto.STRING)], [info("y", (3, 4), TensorProto.STRING)])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


BYTES = "--dim", "y:bytes=0..99"


@asked(*BYTES)
def tokens_at_the_edges_of_words():
    return tokenizer(tokenexp="\\b[a-z]+\\b")


@asked(*BYTES)
def tokens_between_empty_separators():
    return tokenizer(separators=[" *"])


@asked(*BYTES)
def tokens_between_several_patterns():
    return tokenizer(separators=[" ", "and|or"])


@asked(*BYTES)
def tokens_by_nothing():
    return tokenizer()


@case
def sparse_index_outside():
    return model([helper.make_node("Add", ["x", "w"], ["y"])], sparse=[sparse([1, 2], [0, 9], [4])])


@case
def sparse_without_fit():
    return model([helper.make_node("Add", ["x", "w"], ["y"])], sparse=[sparse([1, 2], [0, 1, 2], [4])])


@case
def sparse_too_large():
    return model([helper.make_node("Add", ["x", "w"], ["y"])], sparse=[sparse([1, 2], [0, 1], [1 << 33])])


# ----------------------------------------------------------------------------------------------------------- external data

def external(location, offset=None, length=None, shape=(2,)):
    tensor = weight(shape=shape)
    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        if value is not None:
            entry = tensor.external_data.add()
            entry.key, entry.value = key, str(value)
    return with_weight(tensor)


@case
def external_missing():
    return external("nowhere.bin")


@case
def external_above():
    return external("../occamyc_outside.bin")


@case
def external_absolute():
    return external("/etc/hostname")


@case
def external_through_link(folder):
    link = os.path.join(folder, "link.bin")
    if not os.path.islink(link):
        os.symlink("/etc/passwd", link)
    return external("link.bin")


@case
def external_folder(folder):
    os.makedirs(os.path.join(folder, "sub"), exist_ok=True)
    return external("sub")


@case
def external_too_short(folder):
    with open(os.path.join(folder, "seven.bin"), "wb") as file:
        file.write(b"1234567")
    return external("seven.bin")


@case
def external_offset_outside():
    return external("seven.bin", offset=1 << 62)


@case
def external_offset_no_number():
    return external("seven.bin", offset="-4")


@case
def external_length_wrong(folder):
    with open(os.path.join(folder, "sixteen.bin"), "wb") as file:
        file.write(bytes(16))
    return external("sixteen.bin", offset=0, length=12)


@case
def external_without_place():
    return external(None)
