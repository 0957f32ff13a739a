#!/usr/bin/env python3
"""Lists everything that is linked into the programs of cross/build.sh, with its licence: as text and as SPDX 2.3.

    cross/licences.py --text FILE --spdx FILE --version VERSION

Rust crates come from `cargo metadata` (normal dependencies for the targets, with llama.cpp); the C and C++ that crates
carry, and the libraries of the tool chain, are the table below.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGETS = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"]

# Parts inside crates: crate, folder of the part in it, name, licence, file with its licence (or its head).
VENDORED = [
    ("llama-cpp-sys-2", "llama.cpp", "llama.cpp and ggml", "MIT", "LICENSE"),
    ("llama-cpp-sys-2", "llama.cpp/vendor/nlohmann", "JSON for Modern C++", "MIT", "json.hpp"),
    ("llama-cpp-sys-2", "llama.cpp/vendor/stb", "stb_image", "MIT OR Unlicense", "stb_image.h"),
    ("llama-cpp-sys-2", "llama.cpp/vendor/miniaudio", "miniaudio", "Unlicense OR MIT-0", "miniaudio.h"),
    ("llama-cpp-sys-2", "llama.cpp/vendor/sheredom", "subprocess.h", "Unlicense", "subprocess.h"),
    ("llama-cpp-sys-2", "llama.cpp/vendor/cpp-httplib", "cpp-httplib", "MIT", "LICENSE"),
    ("llama-cpp-sys-2", "llama.cpp/vendor/hash/sha256", "SHA-256 by Igor Pavlov", "LicenseRef-public-domain", "LICENSE"),
    ("llama-cpp-sys-2", "llama.cpp/vendor/hash/sha1", "SHA-1 by Steve Reid", "LicenseRef-public-domain", "sha1.h"),
    ("llama-cpp-sys-2", "llama.cpp/vendor/hash/xxhash", "xxHash", "BSD-2-Clause", "LICENSE"),
    ("llama-cpp-sys-2", "llama.cpp/vendor/hash/rotate-bits", "rotate-bits", "MIT", "LICENSE.md"),
    ("llama-cpp-sys-2", "llama.cpp/ggml/src/ggml-cpu/llamafile", "llamafile's matrix kernels", "MIT", "sgemm.cpp"),
    ("zstd-sys", "zstd", "Zstandard", "BSD-3-Clause OR GPL-2.0-only", "LICENSE"),
]

# What the tool chain adds to a static program.
TOOLCHAIN = [
    ("Rust standard library", "MIT OR Apache-2.0", "https://github.com/rust-lang/rust"),
    ("GNU C library, linked statically", "LGPL-2.1-or-later", "https://www.gnu.org/software/libc/"),
    ("GCC run-time libraries (libgcc, libstdc++)", "GPL-3.0-or-later WITH GCC-exception-3.1", "https://gcc.gnu.org/"),
]


def metadata():
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--features", "llama", "--manifest-path"]
    command.append(str(ROOT / "runner/Cargo.toml"))
    for target in TARGETS:
        command += ["--filter-platform", target]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def linked(found):
    """Packages that end in the programs: normal dependencies, and what procedural macros bring is not among them."""
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    macros = {
        id for id, package in packages.items() if any("proc-macro" in target["kind"] for target in package["targets"])
    }
    start = [id for id, package in packages.items() if package["name"] in ("runner", "worker") and package["source"] is None]
    seen, left = set(), start
    while left:
        id = left.pop()
        if id in seen or id in macros:
            continue
        seen.add(id)
        for dependency in nodes[id]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                left.append(dependency["pkg"])
    return sorted((packages[id] for id in seen), key=lambda package: (package["name"], package["version"]))


def licence_files(folder):
    names = [path for path in folder.iterdir() if re.match(r"(?i)(licen[sc]e|copying|notice|unlicense)", path.name) and path.is_file()]
    return sorted(names)


def head(path):
    """The text of a licence file; of a source file, the comments that speak of the licence."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix not in (".h", ".hpp", ".cpp", ".c"):
        return text
    lines = text.splitlines()
    marked = [at for at, line in enumerate(lines) if re.search(r"(?i)licen[sc]e|public domain|copyright", line)]
    kept = sorted({near for at in marked for near in range(max(at - 2, 0), min(at + 22, len(lines)))})
    return "\n".join(lines[at] for at in kept[:120])


def spdx_id(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", text)


def package(name, version, licence, location, purl=None):
    found = {
        "SPDXID": spdx_id(f"{name}-{version}"),
        "name": name,
        "versionInfo": version,
        "downloadLocation": location or "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": licence or "NOASSERTION",
        "copyrightText": "NOASSERTION",
    }
    if purl:
        locator = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}
        found["externalRefs"] = [locator]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--spdx", type=Path, required=True)
    parser.add_argument("--version", required=True)
    choice = parser.parse_args()
    crates = linked(metadata())
    folders = {crate["name"]: Path(crate["manifest_path"]).parent for crate in crates}
    own = [crate for crate in crates if crate["source"] is None]
    foreign = [crate for crate in crates if crate["source"] is not None]
    without = [crate["name"] for crate in foreign if not crate["license"]]
    if without:
        sys.exit(f"licences: no licence is declared by {', '.join(without)}: look into them")

    rows, texts, packages = [], {}, []
    for crate in foreign:
        licence = crate["license"].replace("/", " OR ")
        rows.append((crate["name"], crate["version"], licence))
        purl = f"pkg:cargo/{crate['name']}@{crate['version']}"
        packages.append(package(crate["name"], crate["version"], licence, crate["repository"], purl))
        for path in licence_files(folders[crate["name"]]):
            texts.setdefault(head(path).strip(), []).append(f"{crate['name']} {crate['version']}")
    for crate, folder, name, licence, file in VENDORED:
        version = next(known["version"] for known in foreign if known["name"] == crate)
        path = folders[crate] / folder / file
        if not path.is_file():
            sys.exit(f"licences: {path} is gone: the table of vendored parts in cross/licences.py is out of date")
        rows.append((name, f"in {crate} {version}", licence))
        packages.append(package(name, f"in-{crate}-{version}", licence, ""))
        texts.setdefault(head(path).strip(), []).append(name)
    for name, licence, location in TOOLCHAIN:
        rows.append((name, "of the tool chain", licence))
        packages.append(package(name, "toolchain", licence, location))

    width = max(len(row[0]) for row in rows)
    lines = [f"edge-eval {choice.version} is licensed under MIT OR Apache-2.0. Linked into it:", ""]
    lines += [f"{name:<{width}}  {version:<28}  {licence}" for name, version, licence in rows]
    lines += ["", "The GNU C library is linked statically under the LGPL: the project's source, Cargo.lock and cross/build.sh",
              "are what it takes to link the program with another version of it.", ""]
    for text, names in texts.items():
        lines += ["=" * 100, ", ".join(sorted(set(names))), "-" * 100, text, ""]
    choice.text.write_text("\n".join(lines))

    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"edge-eval-{choice.version}",
        "documentNamespace": "https://spdx.org/spdxdocs/edge-eval-"
        + hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()[:32],
        "creationInfo": {"created": created(), "creators": ["Tool: edge-eval-cross-licences"]},
        "hasExtractedLicensingInfos": [
            {"licenseId": "LicenseRef-public-domain", "extractedText": "Dedicated to the public domain by its author."}
        ],
        "packages": [package("edge-eval", choice.version, "MIT OR Apache-2.0", "NOASSERTION"), *packages],
    }
    program = document["packages"][0]["SPDXID"]
    document["relationships"] = [
        {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": program},
        *(
            {"spdxElementId": program, "relationshipType": "STATIC_LINK", "relatedSpdxElement": one["SPDXID"]}
            for one in packages
        ),
    ]
    choice.spdx.write_text(json.dumps(document, indent=1) + "\n")
    print(f"licences: {len(own)} own crates, {len(foreign)} others, {len(VENDORED)} parts inside them, {len(TOOLCHAIN)} of the tool chain")


def created():
    """The time of the commit: the same source gives the same list."""
    import datetime

    epoch = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True).stdout.strip() or "0"
    return datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    main()
