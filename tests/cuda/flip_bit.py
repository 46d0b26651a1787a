"""A device that computes one bit otherwise: runs the command that it is given, then changes the lowest bit of out/0.bin."""

import subprocess
import sys

done = subprocess.run(sys.argv[1:])
if done.returncode == 0:
    with open("out/0.bin", "r+b") as file:
        byte = file.read(1)[0]
        file.seek(0)
        file.write(bytes([byte ^ 1]))
sys.exit(done.returncode)
