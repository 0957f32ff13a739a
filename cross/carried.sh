#!/usr/bin/env bash
# Copies what goes with the program into a folder: documents, configurations, and the data that they name.
#   cross/carried.sh FOLDER
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$1
carried=(
    README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md LICENSE-APACHE LICENSE-MIT
    cross/README.md
    configs/*
    docs/*.md
    datasets/docs/*.md
    tests/fixtures/tiny-vlm.gguf tests/fixtures/tiny-vlm-mmproj.gguf
    tests/fixtures/tiny-vlm/items.jsonl tests/fixtures/tiny-vlm/*.png
)
cp --parents -- "${carried[@]}" "$folder"
