#!/usr/bin/env python3
"""Checks every #include of src/ and include/ against the arrows of the design. Usage: check_includes.py [ROOT]"""
import re
import sys
from pathlib import Path

ARROWS = {  # folder of src/ -> the folders it may include; itself and the public headers pgdlm/ always
    "base": "",
    "events": "base",
    "gguf": "base",
    "text": "base gguf",
    "dist": "base",
    "kernels": "base",
    "smc": "base events",
    "diffusion": "base events smc",
    "models": "base gguf diffusion kernels",
    "catalog": "base gguf text diffusion models",
    "rewards": "base diffusion models text catalog",
    "convert": "base gguf text",
    "engine": "base events smc diffusion dist",
    "options": "base text smc diffusion catalog",
    "serve": "base events smc diffusion engine options text catalog rewards eval",
    "eval": "base events smc diffusion engine options text catalog rewards",
    "cli": "*",
    "pgdlm": "",  # include/pgdlm
}
LIBRARIES = [  # header -> the only places that may include it
    (r"(ggml|gguf)[\w-]*\.h", r"src/(gguf|models|convert|kernels)/"),
    (r"nlohmann/.*", r"src/(events|serve|eval|cli|options|convert|rewards)/"),
    (r"mpi\.h", r"src/dist/comm_mpi\.cpp"),
]


def complaints(path, folder, header, quoted):
    yield from (f"{header} belongs to {where} only" for name, where in LIBRARIES
                if re.fullmatch(name, header) and not re.match(where, path))
    target = header.split("/")[0]
    if quoted and "/" not in header:
        yield f'"{header}" is not written from an include root, as "{folder}/{header}"'
    elif (quoted or target in ARROWS) and target not in {"pgdlm", folder, *ARROWS.get(folder, "").split()}:
        if ARROWS.get(folder) != "*":
            yield f"{folder} -> {target} is no arrow of the design"


root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
found = 0
for file in sorted(f for top in ("src", "include") for f in (root / top).rglob("*") if f.suffix in {".h", ".cpp"}):
    path = file.relative_to(root).as_posix()
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if match := re.match(r'\s*#\s*include\s*(["<])([^">]+)', line):
            for complaint in complaints(path, path.split("/")[1], match[2], match[1] == '"'):
                print(f"{path}:{number}: {complaint}")
                found += 1
sys.exit(1 if found else 0)
