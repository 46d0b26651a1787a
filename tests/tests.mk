# Tests; included by the top Makefile.
-include $(wildcard tests/*/*.mk)
