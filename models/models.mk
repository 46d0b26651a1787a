# Our own models; included by the top Makefile.
