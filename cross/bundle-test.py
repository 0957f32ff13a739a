#!/usr/bin/env python3
"""Makes a bundle for aarch64 on this machine and runs it as a field tester would, on a machine that has next to nothing.

    cross/bundle-test.py DIST [--keep DIR]

DIST holds TARGET/edge-eval, as cross/build.sh leaves it; x86_64 packs, aarch64 runs under qemu-aarch64-static: in an empty
folder of a chroot whose root is read-only and holds the bundle and the emulator alone, without any network. Then the
same bundle without /proc, from a writable folder, started twice, and cut short. Needs root for the chroot. Exit code 0
where nothing failed, also where something is missing: the reason is printed. DIR keeps bundles, roots and results; what an
earlier run left there is replaced.
"""

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TINY = ROOT / "tests/fixtures/tiny-vlm.gguf"
X86, ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"
JAILS = ("jail", "bare", "writable", "cut")
CONFIG = """
limit = 1
interfaces = ["direct"]
[engine]
threads = 1
parity = 0
[[task]]
name = "lights"
[[task]]
name = "logic"
"""

# Inside new namespaces: $1 is the new root, $2 whether it has /proc, $3 the folder to start in, then the command.
JAIL = """
set -eu
mount --bind "$1" "$1"
mount --bind "$1.data" "$1/data"
if [ "$2" = proc ]; then mount -t proc none "$1/proc"; fi
mount -o remount,ro,bind "$1"
if touch "$1/x" 2>/dev/null; then echo 'the root is not read-only' >&2; exit 99; fi
root=$1 place=$3
shift 3
exec env -i EDGE_EVAL_EMULATOR=/qemu unshare --root="$root" --wd="$place" "$@"
"""


def told(command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)


def fail(text):
    print(f"FAILED: {text}")
    sys.exit(1)


def expect(condition, text, done):
    if not condition:
        fail(f"{text}\ncode {done.returncode}\n{done.stdout}\n{done.stderr}")
    print(f"ok: {text}", flush=True)


class Jail:
    """A root that holds a bundle, an emulator and an empty folder."""

    def __init__(self, work, name, bundle, qemu):
        self.root = work / name
        self.data = work / f"{name}.data"
        for folder in (self.root / "data", self.root / "proc", self.data):
            folder.mkdir(parents=True)
        shutil.copy(qemu, self.root / "qemu")
        shutil.copy(bundle, self.root / "field")

    def start(self, program="/field", proc=True, more=()):
        inner = ["bash", "-c", JAIL, "jail", self.root, "proc" if proc else "none", "/data", "/qemu", program, *more]
        return told(["unshare", "--mount", "--net", "--pid", "--fork", *inner], timeout=600)


def emptied(work):
    """The folder to keep, without what an earlier run left; anything else in it stays."""
    work.mkdir(parents=True, exist_ok=True)
    for name in ["field.toml", "field", "again", *(f"native{ending}" for ending in ("", ".eval", ".html"))]:
        (work / name).unlink(missing_ok=True)
    for name in ["native.run", "edge-eval-models", *(f"{jail}{ending}" for jail in JAILS for ending in ("", ".data"))]:
        if (work / name).exists():
            shutil.rmtree(work / name)
    return work


def rows(program, log):
    done = told([program, "report", log, "--csv", "-"])
    expect(done.returncode == 0, f"{log.name} is read on this machine", done)
    columns = ("task", "interface", "item", "gold", "prompt_tokens")
    return [[row[column] for column in columns] for row in csv.DictReader(done.stdout.splitlines())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dist", type=Path)
    parser.add_argument("--keep", type=Path)
    choice = parser.parse_args()
    own, arm = (choice.dist.resolve() / target / "edge-eval" for target in (X86, ARM))
    qemu = shutil.which("qemu-aarch64-static")
    missing = [
        (not qemu, "qemu-aarch64-static is missing (Debian: qemu-user-static)"),
        (not own.exists(), f"{own} is not built: cross/build.sh {X86}"),
        (not arm.exists(), f"{arm} is not built: cross/build.sh {ARM}"),
        (os.geteuid() != 0, "a chroot needs root"),
        (told(["unshare", "--mount", "--net", "--pid", "--fork", "true"]).returncode != 0, "this system makes no namespaces"),
    ]
    for reason in (reason for is_missing, reason in missing if is_missing):
        print(f"skipped: {reason}")
        return
    with tempfile.TemporaryDirectory() as folder:
        work = emptied(choice.keep.resolve()) if choice.keep else Path(folder)
        config = work / "field.toml"
        config.write_text(CONFIG)
        bundle = work / "field"
        packed = told([own, "pack", config, "--model", TINY, "--target", "aarch64", "--base", arm, "-o", bundle])
        expect(packed.returncode == 0 and "aarch64" in packed.stdout, "a bundle for aarch64 is packed on this machine", packed)
        print(packed.stdout)
        same = told([own, "pack", config, "--model", TINY, "--target", "aarch64", "-o", work / "again"])
        expect(
            same.returncode == 0 and (work / "again").read_bytes() == bundle.read_bytes(),
            "the build beside this program is found and gives the same bytes",
            same,
        )
        jail = Jail(work, "jail", bundle, qemu)
        done = jail.start()
        expect(done.returncode == 0, "it runs in an empty folder of a read-only root without network", done)
        print(done.stderr)
        left = sorted(path.name for path in jail.data.iterdir())
        expect(left == ["edge-eval-models", "field.eval", "field.html"], f"it leaves {', '.join(left)}", done)
        before = (jail.data / "field.eval").read_bytes()
        done = jail.start()
        expect(done.returncode == 0 and "everything is done" in done.stderr, "a second start says that all is done", done)
        expect((jail.data / "field.eval").read_bytes() == before, "and leaves the result alone", done)
        native = work / "native"
        packed = told([own, "pack", config, "--model", TINY, "-o", native])
        expect(packed.returncode == 0, "the same is packed for this machine", packed)
        done = told([native], cwd=work)
        expect(done.returncode == 0, "and runs here", done)
        expect(
            rows(own, jail.data / "field.eval") == rows(own, work / "native.eval"),
            "both logs have the same items with the same prompts",
            done,
        )
        bare = Jail(work, "bare", bundle, qemu)
        done = bare.start(proc=False)
        told_so = done.returncode != 0 and len([line for line in done.stderr.splitlines() if line.startswith("edge-eval: ")]) == 1
        expect(done.returncode == 0 or told_so, f"without /proc: {(done.stderr.splitlines() or [''])[-1]}", done)
        writable = Jail(work, "writable", bundle, qemu)
        shutil.copy(bundle, writable.data / "field")
        done = writable.start("/data/field")
        expect(done.returncode == 0 and (writable.data / "field.eval").exists(), "it runs from the folder that it lies in", done)
        cut = Jail(work, "cut", bundle, qemu)
        os.truncate(cut.root / "field", bundle.stat().st_size - 1000)
        done = cut.start()
        expect(done.returncode == 3 and "damaged" in done.stderr, "one that is cut is refused", done)
        expect(not any(cut.data.iterdir()), "and leaves nothing", done)
    print("done")


main()
