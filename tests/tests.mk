# Tests; included by the top Makefile.
-include $(wildcard tests/*/*.mk)
include tests/deps.mk tests/onnx.mk
