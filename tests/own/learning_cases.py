"""ai.onnx.ml: tables, scalings, linear models, trees."""

LEARNING = []
