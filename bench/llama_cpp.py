# SPDX-License-Identifier: Apache-2.0
"""llama.cpp for the benchmarks that measure it beside Quire: built once, for this machine, from the
source package of llama-cpp-python that pip fetches."""
import argparse
import os
import pathlib
import subprocess
import sys
import tarfile

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
OPTIONS = ("-DCMAKE_BUILD_TYPE=Release", "-DGGML_NATIVE=ON", "-DLLAMA_CURL=OFF",
           "-DLLAMA_BUILD_UI=OFF", "-DBUILD_SHARED_LIBS=OFF")


def parser(description):
    """The options that all of them have; the model is the packaged one unless named."""
    options = argparse.ArgumentParser(description=description.splitlines()[0])
    home = os.environ.get("QUIRE_HOME", os.path.expanduser("~/.cache/quire"))
    options.add_argument("--model", default=os.path.join(home, "models/smollm2", FILE))
    options.add_argument("--build", type=pathlib.Path, default="build/release", help="of Quire")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--peer", type=pathlib.Path, default="build/llama.cpp",
                         help="where llama.cpp is, or is to be built (some ten minutes)")
    return options


def run(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def source(folder):
    """Its source tree, fetched if it is not there."""
    if not any(folder.glob("llama_cpp_python-*/vendor/llama.cpp")):
        folder.mkdir(parents=True, exist_ok=True)
        run([sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", "llama-cpp-python",
             "llama-cpp-python", "-d", folder])
        with tarfile.open(next(folder.glob("llama_cpp_python-*.tar.gz"))) as archive:
            archive.extractall(folder)
    return next(folder.glob("llama_cpp_python-*/vendor/llama.cpp"))


def build(folder, *targets):
    """Paths of the programs `targets`, built if they are not there."""
    programs = [folder / "build/bin" / target for target in targets]
    if not all(program.exists() for program in programs):
        print("building", *targets, "in", folder, file=sys.stderr)
        run(["cmake", "-S", source(folder), "-B", folder / "build", *OPTIONS])
        run(["cmake", "--build", folder / "build", "--target", *targets, "--parallel",
             os.cpu_count()])
    return programs
