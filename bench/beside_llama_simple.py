#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it takes to begin: Quire's smallest examples beside llama.cpp's `simple`.

Prints the size of what is shipped (programs and libraries stripped of symbols), the time that the
example's source takes to compile, and the time from the start of the process to the first token of
an answer, of which the two take turns and the best counts. Build Quire first (cmake/build.sh
release).

    bench/beside_llama_simple.py [--model FILE.gguf] [--rounds 5]
"""
import os
import pathlib
import subprocess
import tempfile
import time

import llama_cpp

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROMPT = "The capital of France is"
MIB = 1 << 20


def stripped_size(path):
    with tempfile.NamedTemporaryFile() as copy:
        llama_cpp.run(["strip", "-o", copy.name, path])
        return os.stat(copy.name).st_size


def libraries(program):
    """The shared libraries that it loads and that no system has of itself."""
    lines = llama_cpp.run(["ldd", program]).splitlines()
    paths = [pathlib.Path(line.split("=>")[1].split()[0]) for line in lines if "=> /" in line]
    return [path for path in paths if "torch" in str(path) or "quire" in str(path)]


def compile_seconds(source, *includes):
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        llama_cpp.run(["g++", "-std=c++20", "-O2", *(f"-I{path}" for path in includes), "-c", source,
                       "-o", f"{folder}/out.o"])
        return time.monotonic() - start


def first_token_seconds(command, echoed):
    """From the start of the process until it has written more than `echoed` bytes."""
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        written = 0
        while written <= echoed:
            part = os.read(process.stdout.fileno(), 4096)
            assert part, f"{command[0]} ended too soon"
            written += len(part)
        seconds = time.monotonic() - start
        process.kill()
    return seconds


def main():
    options = llama_cpp.parser(__doc__).parse_args()
    peer, = llama_cpp.build(options.peer, "llama-simple")
    source = llama_cpp.source(options.peer)
    hello, streaming = (options.build / "bin" / name for name in ("hello", "streaming"))
    own = [path for path in libraries(hello) if "quire" in path.name]
    torch = [path for path in libraries(hello) if "quire" not in path.name]

    quire_command = [streaming, options.model, PROMPT, "60000"]
    # It writes the prompt first, as tokens.
    llama_command = [peer, "-m", options.model, "-n", "4", PROMPT]
    quire_first, llama_first, quire_compile, llama_compile = [], [], [], []
    for _ in range(options.rounds):
        quire_first.append(first_token_seconds(quire_command, 0))
        llama_first.append(first_token_seconds(llama_command, len(PROMPT)))
        quire_compile.append(compile_seconds(ROOT / "examples/hello.cc", ROOT / "include"))
        llama_compile.append(compile_seconds(source / "examples/simple/simple.cpp",
                                             source / "include", source / "ggml/include"))

    def total(paths):
        return sum(stripped_size(path.resolve()) for path in paths) / MIB

    print(f"size, MiB: quire {total([hello, *own]):.1f} + libtorch {total(torch):.0f}; "
          f"llama.cpp, static {total([peer]):.1f}")
    print(f"compile, s: quire hello.cc {min(quire_compile):.2f}; "
          f"llama.cpp simple.cpp {min(llama_compile):.2f}")
    print(f"first token, ms: quire {1000 * min(quire_first):.0f}; "
          f"llama.cpp {1000 * min(llama_first):.0f}; ratio {min(quire_first) / min(llama_first):.2f}")


if __name__ == "__main__":
    main()
