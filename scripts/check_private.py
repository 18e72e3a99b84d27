#!/usr/bin/env python3
"""Objects compiled for one instruction set share no code with the rest of the program (src/base/plain.h says why).
Usage: check_private.py OBJECT...; only names of instruction sets in the file name are looked at."""
import re
import subprocess
import sys

objects = [path for path in sys.argv[1:] if re.search(r"_(avx2|avx512|amx)\.cpp", path)]
shared = []
for path in objects:
    for line in subprocess.run(["nm", "-C", path], capture_output=True, text=True, check=True).stdout.splitlines():
        if match := re.match(r"[0-9a-f]+ ([Wu]) (.*)", line):
            shared.append(f"{path}: {match[2]}")
print("\n".join(shared) or f"{len(objects)} objects keep to themselves")
sys.exit(1 if shared else 0)
