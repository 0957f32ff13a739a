#!/usr/bin/env python3
"""Starts what cross/build.sh made on processors that have and lack what its levels need, and compares what comes of it.

    cross/dist-test.py DIST [--quick] [--model FILE]

DIST holds TARGET/edge-eval. Processors of the other kind, and older ones, are qemu's (Debian: qemu-user-static); what
cannot be tested is named with the reason. --quick: fewer processors and tasks. --model: the long run asks this GGUF
file too. Exit code 0: nothing failed, and something was tested.
"""

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TINY = ROOT / "tests/fixtures/tiny-vlm.gguf"
X86, ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"

# Target, processor (None: this machine's own), and the level that must start, given that all levels are carried.
PROCESSORS = [
    (X86, "Nehalem", "x86-64"),
    (X86, "Haswell", "x86-64-v3"),
    (X86, None, None),
    (ARM, "cortex-a53", "armv8-a"),
    (ARM, "cortex-a72", "armv8-a"),
    (ARM, "cortex-a76", "armv8.2-a-dotprod-fp16"),
    (ARM, "neoverse-n1", "armv8.2-a-dotprod-fp16"),
    (ARM, "max", "armv8.2-a-i8mm"),
]
QUICK = {(X86, "Nehalem"), (X86, None), (ARM, "cortex-a76"), (ARM, "cortex-a72")}

# Items and pictures that must be the same bytes everywhere.
EXPORTED = [("grammar", 40), ("linear-world", 20), ("logic", 20), ("lights", 20), ("glasses", 4), ("faces", 4)]

CONFIG = """
seed = 1
limit = {limit}
interfaces = ["direct", "free-cot"]
[asking]
max-tokens = 12
[engine]
threads = 1
parity = 0
parallel = 1
[[model]]
path = "{model}"
[[task]]
name = "grammar"
"""


class Machine:
    """A program on a processor."""

    def __init__(self, dist, target, cpu):
        self.program = Path(dist) / target / "edge-eval"
        self.target, self.cpu = target, cpu
        self.own = platform.machine() == target.split("-")[0]
        self.name = f"{target.split('-')[0]} {cpu or 'this machine'}"
        self.qemu = shutil.which(f"qemu-{target.split('-')[0]}-static") or shutil.which(f"qemu-{target.split('-')[0]}")

    def missing(self):
        if not self.program.exists():
            return f"{self.program} is not built"
        if self.cpu and not self.qemu:
            return f"qemu-{self.target.split('-')[0]}-static is missing (Debian: qemu-user-static)"
        if not self.cpu and not self.own:
            return "this machine is of another kind"
        if self.cpu and self.cpu not in self.models():
            return f"this qemu does not know {self.cpu}"
        return None

    def models(self):
        return subprocess.run([self.qemu, "-cpu", "help"], capture_output=True, text=True).stdout.split()

    def run(self, *arguments, qemu=(), cwd=None):
        environment = dict(os.environ)
        command = [str(self.program), *map(str, arguments)]
        if self.cpu:
            command = [self.qemu, *qemu, *command]
            environment.update(QEMU_CPU=self.cpu, EDGE_EVAL_EMULATOR=" ".join([self.qemu, *qemu]))
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd, timeout=1800)
        # What the emulator says of itself is not the program's.
        done.stderr = "".join(line for line in done.stderr.splitlines(True) if not line.startswith("qemu-"))
        return done

    def carried(self):
        """Names of the levels in the program, from its index."""
        data = self.program.read_bytes()
        tail = data[-(1 << 16):]
        names = set()
        for piece in tail.split(b"level/")[1:]:
            names.add(next(name for name in LEVELS[self.target][::-1] if piece.startswith(name.encode())))
        return [name for name in LEVELS[self.target] if name in names]


LEVELS = {
    X86: ["x86-64", "x86-64-v3", "x86-64-v4-vnni"],
    ARM: ["armv8-a", "armv8.2-a-dotprod-fp16", "armv8.2-a-i8mm"],
}

failures = []


def install_qemu():
    """As root on Debian, unless INSTALL=0; what is still missing is told where it is needed."""
    if shutil.which("qemu-aarch64-static") or os.environ.get("INSTALL") == "0" or os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    print("dist-test: installing qemu-user-static with apt-get", flush=True)
    command = ["apt-get", "-qq", "-y", "--no-install-recommends", "install", "qemu-user-static"]
    subprocess.run(command, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, stdin=subprocess.DEVNULL, capture_output=True)


def check(machine, what, good, detail=""):
    if not good:
        failures.append(f"{machine.name}: {what}: {detail}")
    print(f"  {'ok  ' if good else 'FAIL'} {what}{': ' + detail if detail and not good else ''}", flush=True)
    return good


def entries(done, reader, folder):
    """The log of a run, read by the program of this machine."""
    dump = reader.run("log", "dump", folder)
    assert dump.returncode == 0, dump.stderr
    return [json.loads(line)["entry"] for line in dump.stdout.splitlines()]


def asked(log):
    """What a run asked, and what came back."""
    items = [entry["Item"] for entry in log if "Item" in entry]
    return {
        (item["item"], item["interface"]): (
            [turn["prompt_hash"] for turn in item["turns"]],
            [turn["gold"] for turn in item["turns"]],
            item["verdict"],
        )
        for item in items
    }


def expected_level(machine, level):
    carried = machine.carried()
    possible = LEVELS[machine.target]
    if level is None:
        return carried, None
    runs = [name for name in carried if possible.index(name) <= possible.index(level)]
    return carried, runs[-1] if runs else ""


def test(machine, level, reader, reference, limit, model):
    carried, wanted = expected_level(machine, level)
    if wanted == "":
        done = machine.run("plan", "default", "--model", TINY, "--task", "grammar", "--limit", 1)
        check(machine, "a program whose lowest level is above the processor refuses in one line",
              done.returncode == 2 and "lacks" in done.stderr and done.stderr.count("\n") == 1, done.stderr.strip())
        return
    done = machine.run("doctor", "levels", "--json")
    check(machine, "known answers", done.returncode == 0, (done.stdout + done.stderr).strip())
    found = json.loads(done.stdout) if done.stdout.startswith("{") else {"model": "", "checks": []}
    chosen = found["model"]
    check(machine, f"level {chosen} starts", chosen in carried and wanted in (None, chosen), f"not {wanted}")
    for line in found["checks"][1:]:
        print(f"       {line['name']}: {line['level']}: {line['finding']}")

    above = [name for name in carried if level and LEVELS[machine.target].index(name) > LEVELS[machine.target].index(level)]
    if above:
        done = machine.run("plan", "default", "--model", TINY, "--task", "grammar", "--cpu-level", above[-1])
        check(machine, f"level {above[-1]} is refused by what is missing",
              done.returncode == 2 and "this processor lacks" in done.stderr and done.stderr.count("\n") == 1,
              done.stderr.strip())

    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.toml"
        config.write_text(CONFIG.format(limit=limit, model=model))
        began = time.monotonic()
        done = machine.run("run", config, "--out", f"{folder}/run", "--quiet")
        took = time.monotonic() - began
        if not check(machine, f"{model.name} answers a task ({took:.1f} s)", done.returncode == 0, done.stderr.strip()[-600:]):
            return
        log = entries(done, reader, f"{folder}/run")
        header = next(entry["Header"] for entry in log if "Header" in entry)
        loaded = next(entry["Loaded"] for entry in log if "Loaded" in entry)
        check(machine, "the log names the level", (header["level"], loaded["facts"]["level"]) == (chosen, chosen),
              f"{header['level']}, {loaded['facts']['level']}")
        here = asked(log)
        if reference.setdefault(model.name, here) is here:
            check(machine, f"{len(here)} answers are the reference for the other processors", bool(here))
        else:
            there = reference[model.name]
            same = here.keys() == there.keys() and all(here[key][:2] == there[key][:2] for key in here)
            check(machine, "items, prompts and golds are those of the reference", same)
            other = sum(here[key][2] != there[key][2] for key in here if key in there)
            print(f"       verdicts that differ from the reference: {other} of {len(here)}")


def items(machine, reference):
    """Items and pictures, byte by byte."""
    with tempfile.TemporaryDirectory() as folder:
        digest = hashlib.sha256()
        for task, limit in EXPORTED:
            done = machine.run("tasks", "export", task, "-n", limit, "-o", f"{folder}/{task}.jsonl",
                               "--pictures", f"{folder}/pictures")
            if done.returncode != 0:
                check(machine, "items are written", False, done.stderr.strip())
                return
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
        value = digest.hexdigest()
        check(machine, "items and pictures are the same bytes", reference.setdefault("items", value) == value, value)


def pages(machine):
    """SYS-04: page sizes of boards."""
    for size in (16384, 65536):
        done = machine.run("doctor", "levels", qemu=("-p", str(size)))
        check(machine, f"pages of {size} bytes", done.returncode == 0, (done.stdout + done.stderr).strip()[-300:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dist", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--model", type=Path)
    choice = parser.parse_args()
    own = f"{platform.machine()}-unknown-linux-gnu"
    reader = Machine(choice.dist.resolve(), own, None)
    if reader.missing():
        sys.exit(f"dist-test: {reader.missing()}: run cross/build.sh {own} first")
    install_qemu()
    reference, tested = {}, 0
    processors = [row for row in PROCESSORS if not choice.quick or row[:2] in QUICK]
    # This machine first: it is what the others are compared with.
    processors.sort(key=lambda row: row[1] is not None)
    for target, cpu, level in processors:
        machine = Machine(choice.dist.resolve(), target, cpu)
        print(machine.name)
        reason = machine.missing()
        if reason:
            print(f"  not tested: {reason}")
            continue
        tested += 1
        test(machine, level, reader, reference, 2 if choice.quick else 4, TINY)
        if choice.model and not choice.quick:
            test(machine, level, reader, reference, 1, choice.model.resolve())
        if cpu in (None, "cortex-a76", "max"):
            items(machine, reference)
        if target == ARM and cpu == "cortex-a76" and not choice.quick:
            pages(machine)
    for failure in failures:
        print(f"dist-test: FAILED: {failure}")
    print(f"dist-test: {tested} processors tested, {len(failures)} failures")
    sys.exit(1 if failures or not tested else 0)


if __name__ == "__main__":
    main()
