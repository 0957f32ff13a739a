#!/usr/bin/env python3
"""Puts edge-eval's latency columns beside llama-bench's figures for the same model, in turn, and prints their ratios.

    cross/latency-compare.py MODEL [--rounds 5] [--items 10] [--task grammar] [-t 2]

A round asks single items through edge-eval (`run --latency`: each from an empty cache) and measures a prompt of as many
tokens and replies at that depth with llama-bench; who is first alternates. Compared are the time to the first token with the
time that llama-bench takes for such a prompt, and the time between tokens with the time that it takes for one. Medians of a
round; a ratio is that of one round, edge-eval over llama-bench: above 1, edge-eval takes longer.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

CONFIG = """
interfaces = ["free-cot"]
limit = {items}
[asking]
max-tokens = {tokens}
[engine]
threads = {threads}
parallel = 1
parity = 0
[telemetry]
power = "off"
[latency]
items = {items}
warm-up = 2
[[task]]
name = "{task}"
"""


def told(command, name):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"latency-compare: {name} failed ({done.returncode}): {done.stderr.strip()[-400:]}")
    return done.stdout


def alone(asked, folder, number):
    """Tokens of the prompt, time to the first token, times between tokens: medians over items, in milliseconds."""
    config = os.path.join(folder, "latency.toml")
    with open(config, "w") as file:
        file.write(CONFIG.format(items=asked.items, tokens=asked.n, threads=asked.t, task=asked.task))
    out = os.path.join(folder, f"run{number}")
    told([asked.edge_eval, "run", config, "--model", os.path.abspath(asked.model), "--out", out, "-q"], "edge-eval")
    items = []
    for line in told([asked.edge_eval, "log", "dump", out], "edge-eval log dump").splitlines():
        entry = json.loads(line)
        entry = entry.get("entry", entry)
        if isinstance(entry, dict) and "Timed" in entry and not entry["Timed"]["warm_up"]:
            items.append(entry["Timed"])
    between = [us for item in items for us in item["between_us"]]
    return {
        "n": len(items),
        "prompt": round(statistics.median(item["prompt_tokens"] for item in items)),
        "depth": round(statistics.median(item["prompt_tokens"] + item["output_tokens"] / 2 for item in items)),
        # By tokens, since prompts differ in length.
        "first_ms": statistics.median(item["first_token_us"] / item["prompt_tokens"] for item in items) / 1e3,
        "between_ms": statistics.median(between) / 1e3,
        "tokens": len(between),
    }


def bench(asked, prompt, depth):
    """Milliseconds of a prompt's token and of a reply's token."""
    base = [asked.llama_bench, "-m", asked.model, "-b", "512", "-ub", "512", "-t", str(asked.t), "-o", "json", "-r", str(asked.r)]
    rows = json.loads(told(base + ["-p", str(prompt), "-n", "0"], "llama-bench"))
    rows += json.loads(told(base + ["-p", "0", "-n", str(asked.n), "-d", str(depth)], "llama-bench"))
    times = [1e3 / statistics.median(row["samples_ts"]) for row in rows]
    return {"first_ms": times[0], "between_ms": times[1]}


def spread(values, digits=3):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def main():
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("model")
    flags.add_argument("--rounds", type=int, default=5)
    flags.add_argument("--items", type=int, default=10)
    flags.add_argument("--task", default="grammar")
    flags.add_argument("-n", type=int, default=32, help="tokens of a reply")
    flags.add_argument("-r", type=int, default=5, help="llama-bench's repetitions in a round")
    flags.add_argument("-t", type=int, default=2, help="threads of both")
    flags.add_argument("--edge-eval", default=f"{target}/release/edge-eval")
    flags.add_argument("--llama-bench", default=".tools/llama-bench/llama-bench")
    asked = flags.parse_args()
    for program in (asked.edge_eval, asked.llama_bench):
        if not os.path.exists(program):
            sys.exit(f"latency-compare: {program} is missing: `make build` and cross/llama-bench.sh make them")
    with tempfile.TemporaryDirectory() as folder:
        # The first one only tells how long prompts are, and warms up.
        size = alone(asked, folder, "size")
        rounds = []
        for number in range(asked.rounds):
            if number % 2:
                theirs = bench(asked, size["prompt"], size["depth"])
                ours = alone(asked, folder, number)
            else:
                ours = alone(asked, folder, number)
                theirs = bench(asked, size["prompt"], size["depth"])
            rounds.append((ours, theirs))
            print(f"round {number + 1}: {ours} / {theirs}", file=sys.stderr, flush=True)
    print(f"{os.path.basename(asked.model)}, {asked.t} threads, {asked.rounds} rounds of {size['n']} items")
    print("| figure | edge-eval ms | llama-bench ms | ratio |\n|---|---|---|---|")
    names = {
        "first_ms": (f"first token, {size['prompt']} prompt tokens", size["prompt"]),
        "between_ms": (f"between tokens, at {size['depth']}", 1),
    }
    for key, (name, tokens) in names.items():
        ours = [tokens * one[key] for one, _ in rounds]
        theirs = [tokens * one[key] for _, one in rounds]
        ratios = [a / b for a, b in zip(ours, theirs)]
        print(f"| {name} | {spread(ours, 2)} | {spread(theirs, 2)} | {spread(ratios)} |")


if __name__ == "__main__":
    main()
