"""Makes broken models, one for each way in which a model can be wrong, into the folder given: NAME.onnx for each NAME.err here.
NAME.arguments beside it: what else occamyc is told, where the model is good and the command line is not.

The same bytes every time. `check_errors.py` runs occamyc over them and compares what it says with the .err files.
"""
import os
import sys

import graph_errors  # noqa: F401
import tensor_errors  # noqa: F401
import transformer_errors
import type_errors  # noqa: F401
from broken import CASES, case


transformer_errors.add(case)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, make in CASES.items():
        made = make(folder) if make.__code__.co_argcount else make()
        with open(os.path.join(folder, name + ".onnx"), "wb") as file:
            file.write(made if isinstance(made, bytes) else made.SerializeToString(deterministic=True))
        if hasattr(make, "arguments"):
            with open(os.path.join(folder, name + ".arguments"), "w") as file:
                file.write("\n".join(make.arguments))
    print("%d broken models in %s" % (len(CASES), folder))


main()
