"""The peak that PyTorch's own MemTracker counts for an eager run: mem_tracker.py MODELS_FOLDER NAME BATCH prints JSON.

The network of models/export_classic.py runs on fake tensors of a CUDA device, which need neither a device nor memory. bytes: weights,
inputs and storages at their most, each rounded to 512 bytes as the caching allocator rounds it. Run with PyTorch 2.5 or newer.
"""

import json
import sys

MODELS, NAME, BATCH = sys.argv[1], sys.argv[2], int(sys.argv[3])
sys.path[0] = MODELS                            # in place of this folder, some of whose files are named like modules of PyTorch

import torch  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.distributed._tools.mem_tracker import MemTracker  # noqa: E402

import export_classic  # noqa: E402


def peak(build, batch):
    with FakeTensorMode(allow_non_fake_inputs=True), torch.device("cuda"):
        module, example, _ = build()
        inputs = [torch.empty(batch, *x.shape[1:], dtype=x.dtype) for x in example]
        tracker = MemTracker()
        tracker.track_external(module.eval(), *inputs)
        with torch.no_grad(), tracker:
            module(*inputs)
    (device,) = tracker.get_tracker_snapshot("peak").values()
    return device["Total"]


if __name__ == "__main__":
    torch.nn.init.kaiming_normal_ = torch.nn.init.trunc_normal_ = lambda tensor, *_, **__: tensor  # values do not matter
    print(json.dumps({"bytes": peak(export_classic.NETWORKS[NAME], BATCH), "torch": torch.__version__}))
