"""Tensor values as the tests see them: ONNX protobuf files on one side, the host program's raw files on the other.

A value is a Tensor, a list of values (sequence), a dict of them by key (map) or None (absent optional). Raw files are little-endian, C order; types
narrower than a byte are packed as in TensorProto.raw_data; text is each string followed by a zero byte.
"""

from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Names that a host program may print for a type, by ONNX's number of the type.
PRINTED = {"float": 1, "float32": 1, "double": 11, "float64": 11, "text": 8, "string": 8}
PRINTED.update({TensorProto.DataType.Name(n).lower(): n for n in TensorProto.DataType.values() if n})

BITS = {TensorProto.UINT4: 4, TensorProto.INT4: 4, TensorProto.FLOAT4E2M1: 4, TensorProto.UINT2: 2, TensorProto.INT2: 2}
STRING = TensorProto.STRING
BFLOAT16 = TensorProto.BFLOAT16


@dataclass
class Tensor:
    """dtype: ONNX's number; shape: extents, outermost first; raw: the bytes of the raw file."""

    dtype: int
    shape: tuple
    raw: bytes

    def array(self):
        """The tensor as numpy sees it: text as objects, narrow types widened to one element each."""
        if self.dtype == STRING:
            return np.array(split_text(self.raw, self.count()), dtype=object).reshape(self.shape)
        proto = TensorProto(data_type=self.dtype, dims=self.shape, raw_data=self.raw)
        return numpy_helper.to_array(proto)

    def count(self):
        return int(np.prod(self.shape, dtype=np.int64))


def raw_size(dtype, shape):
    """Bytes of a raw file, or None for text, whose size depends on its contents."""
    if dtype == STRING:
        return None
    count = int(np.prod(shape, dtype=np.int64))
    bits = BITS.get(dtype) or 8 * np.dtype(helper.tensor_dtype_to_np_dtype(dtype)).itemsize
    return (count * bits + 7) // 8


def split_text(raw, count):
    """The strings of a text file; the last zero byte may be missing (a separator) or present (a terminator)."""
    parts = raw.split(b"\0")
    if len(parts) == count + 1 and parts[-1] == b"":
        parts.pop()
    if count == 0 and raw == b"":
        parts = []
    if len(parts) != count:
        raise ValueError(f"found {len(parts)} strings, wanted {count}")
    return [part.decode("utf-8", "surrogateescape") for part in parts]


def join_maps(table, keys):
    """The maps that a tensor of their values stands for: a row for each, of a vector one map."""
    rows = [[from_numpy(v if table.dtype != STRING else np.array(v, dtype=object)) for v in row]
            for row in table.array().reshape(-1, max(1, len(keys)))]
    maps = [dict(zip(keys, row)) for row in rows]
    return maps if len(table.shape) > 1 else maps[0]


def join_text(strings):
    return b"".join((s if isinstance(s, bytes) else str(s).encode("utf-8", "surrogateescape")) + b"\0" for s in strings)


def from_proto(proto):
    if proto.data_type == STRING:
        return Tensor(STRING, tuple(proto.dims), join_text(proto.string_data))
    if not proto.HasField("raw_data"):
        proto = numpy_helper.from_array(numpy_helper.to_array(proto))
    return Tensor(proto.data_type, tuple(proto.dims), proto.raw_data)


def from_numpy(value):
    array = np.asarray(value)
    if array.dtype == object or array.dtype.kind in "SU":
        return Tensor(STRING, array.shape, join_text(array.reshape(-1)))
    return from_proto(numpy_helper.from_array(array))


# ONNX Runtime gives the values of maps as Python's own numbers.
ELEMENT = {float: np.float32, int: np.int64, str: object}


def from_python(value):
    """A value as ONNX's case generators and ONNX Runtime give it: numpy, TensorProto, list, dict or None."""
    if value is None:
        return None
    if isinstance(value, dict):
        return {k: from_numpy(np.array(v, dtype=ELEMENT.get(type(v), getattr(v, "dtype", None)))) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [from_python(item) for item in value]
    return from_proto(value) if isinstance(value, TensorProto) else from_numpy(value)


def from_sequence(proto):
    if proto.elem_type == onnx.SequenceProto.TENSOR:
        return [from_proto(item) for item in proto.tensor_values]
    if proto.elem_type == onnx.SequenceProto.SEQUENCE:
        return [from_sequence(item) for item in proto.sequence_values]
    if proto.elem_type == onnx.SequenceProto.UNDEFINED:
        return []
    if proto.elem_type == onnx.SequenceProto.MAP:
        return [from_map(item) for item in proto.map_values]
    raise ValueError("only sequences of tensors, of maps and of sequences are read")


def from_map(proto):
    keys = [k.decode("utf-8", "surrogateescape") for k in proto.string_keys] if proto.key_type == STRING else list(proto.keys)
    return dict(zip(keys, from_sequence(proto.values)))


def from_optional(proto):
    if proto.elem_type == onnx.OptionalProto.TENSOR:
        return from_proto(proto.tensor_value)
    if proto.elem_type == onnx.OptionalProto.SEQUENCE:
        return from_sequence(proto.sequence_value)
    return None


def read_value(path, kind):
    """One stored input or output (`kind` is its onnx.TypeProto)."""
    with open(path, "rb") as file:
        content = file.read()
    if kind.HasField("sequence_type"):
        return from_sequence(onnx.SequenceProto.FromString(content))
    if kind.HasField("optional_type"):
        return from_optional(onnx.OptionalProto.FromString(content))
    if kind.HasField("map_type"):
        return from_map(onnx.MapProto.FromString(content))
    return from_proto(TensorProto.FromString(content))


def map_proto(value, kind, name):
    proto = onnx.MapProto(name=name, key_type=kind.map_type.key_type)
    if proto.key_type == STRING:
        proto.string_keys.extend(k.encode("utf-8", "surrogateescape") for k in value)
    else:
        proto.keys.extend(value)
    proto.values.elem_type = onnx.SequenceProto.TENSOR
    proto.values.tensor_values.extend(value_proto(v, kind.map_type.value_type, "") for v in value.values())
    return proto


def value_proto(value, kind, name):
    """The protobuf message of a value of the type `kind` (an onnx.TypeProto)."""
    if kind.HasField("optional_type"):
        inner = kind.optional_type.elem_type
        proto = onnx.OptionalProto(name=name)
        sequence = inner.HasField("sequence_type")
        proto.elem_type = proto.SEQUENCE if sequence else proto.TENSOR
        if value is not None:
            target = proto.sequence_value if sequence else proto.tensor_value
            target.CopyFrom(value_proto(value, inner, name))
        else:
            proto.elem_type = proto.UNDEFINED
        return proto
    if kind.HasField("map_type"):
        return map_proto(value, kind, name)
    if kind.HasField("sequence_type") and kind.sequence_type.elem_type.HasField("map_type"):
        return onnx.SequenceProto(name=name, elem_type=onnx.SequenceProto.MAP,
                                  map_values=[map_proto(v, kind.sequence_type.elem_type, "") for v in value])
    if kind.HasField("sequence_type"):
        inner = kind.sequence_type.elem_type
        proto = onnx.SequenceProto(name=name)
        nested = inner.HasField("sequence_type")
        proto.elem_type = proto.SEQUENCE if nested else proto.TENSOR
        (proto.sequence_values if nested else proto.tensor_values).extend(value_proto(v, inner, "") for v in value)
        return proto
    proto = TensorProto(name=name, data_type=value.dtype, dims=value.shape)
    if value.dtype == STRING:
        proto.string_data.extend(s.encode("utf-8", "surrogateescape") for s in split_text(value.raw, value.count()))
    else:
        proto.raw_data = value.raw
    return proto
