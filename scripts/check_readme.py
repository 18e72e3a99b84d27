#!/usr/bin/env python3
"""The C++ of README.md is part of an example that is compiled and run. Usage: check_readme.py"""
import re
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent
example = (root / "examples/hello.cpp").read_text()
blocks = re.findall(r"```cpp\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)
stale = [block for block in blocks if block not in example]
for block in stale:
    print("README.md shows C++ that examples/hello.cpp does not have:\n" + block)
sys.exit(1 if stale or not blocks else 0)
