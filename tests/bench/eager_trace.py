#!/usr/bin/python3
"""What PyTorch allocates when it runs a network eagerly: eager_trace.py MODELS_FOLDER NAME BATCH prints JSON.

The network of models/export_classic.py runs on tensors without data ("meta"), so no device and little memory is needed. weights, inputs:
bytes of each; events, in order: [number, bytes] where an operation makes a new storage, [number] where the last tensor of it is gone.
Run with Debian's python3-torch (1.13). Workspaces of vendor libraries are not in it.
"""

import json
import sys

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten


class Trace(TorchDispatchMode):
    def __init__(self, known):
        super().__init__()
        self.live = {tensor.storage()._cdata: (StorageWeakRef(tensor.storage()), None) for tensor in known}
        self.events, self.count = [], 0

    def sweep(self):
        """Notes the storages that are gone."""
        for key in [key for key, (storage, _) in self.live.items() if storage.expired()]:
            number = self.live.pop(key)[1]
            if number is not None:
                self.events.append([number])

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.sweep()
        result = function(*args, **(kwargs or {}))
        for tensor in tree_flatten(result)[0]:
            if isinstance(tensor, torch.Tensor) and tensor.storage()._cdata not in self.live:
                self.live[tensor.storage()._cdata] = (StorageWeakRef(tensor.storage()), self.count)
                self.events.append([self.count, tensor.storage().nbytes()])
                self.count += 1
        return result


def trace(build, batch):
    module, example, _ = build()
    module = module.eval().to("meta")
    inputs = [torch.empty(batch, *x.shape[1:], dtype=x.dtype, device="meta") for x in example]
    weights = [*module.parameters(), *module.buffers()]
    mode = Trace(weights + inputs)
    with torch.no_grad(), mode:
        module(*inputs)
    mode.sweep()
    storages = {x.storage()._cdata: x.storage().nbytes() for x in weights}
    return {"weights": list(storages.values()), "inputs": [x.storage().nbytes() for x in inputs], "events": mode.events}


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    import export_classic
    torch.nn.init.kaiming_normal_ = torch.nn.init.trunc_normal_ = lambda tensor, *_, **__: tensor  # values do not matter
    print(json.dumps(trace(export_classic.NETWORKS[sys.argv[2]], int(sys.argv[3]))))
