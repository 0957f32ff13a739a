#!/usr/bin/env python3
"""Runs llama-bench and `edge-eval bench` in turn on one model with the same threads, and prints their ratio.

    cross/bench-compare.py MODEL [--rounds 5] [-p 512] [-n 128] [-r 5] [-t 2]

A round runs both, each first in every other round, so that a drift of the machine meets both alike. A figure of a round is
the median of its repetitions; a ratio is that of one round, edge-eval over llama-bench, and above 1 edge-eval is faster.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys


def measured(command, name):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"bench-compare: {name} failed ({done.returncode}): {done.stderr.strip()[-400:]}")
    speeds = {}
    for row in json.loads(done.stdout):
        test = f"pp{row['n_prompt']}" if row["n_prompt"] else f"tg{row['n_gen']}"
        speeds[test] = statistics.median(row["samples_ts"])
    return speeds


def spread(values):
    return f"{statistics.median(values):9.2f} ({min(values):.2f} - {max(values):.2f})"


def main():
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("model")
    flags.add_argument("--rounds", type=int, default=5)
    flags.add_argument("-p", default="512", help="tokens of prompts, with commas")
    flags.add_argument("-n", default="128", help="tokens to generate, with commas")
    flags.add_argument("-r", default="5", help="repetitions in a round")
    flags.add_argument("-t", default="", help="threads; what edge-eval chooses when absent")
    flags.add_argument("--edge-eval", default=f"{target}/release/edge-eval")
    flags.add_argument("--llama-bench", default=".tools/llama-bench/llama-bench")
    flags.add_argument("--bound", type=float, help="fail when the median of a ratio is below this")
    asked = flags.parse_args()
    for program in (asked.edge_eval, asked.llama_bench):
        if not os.path.exists(program):
            sys.exit(f"bench-compare: {program} is missing: `make build` and cross/llama-bench.sh make them")
    own = [asked.edge_eval, "bench", asked.model, "--kind", "speed", "-o", "json", "-q"]
    if not asked.t:
        probe = subprocess.run(own + ["-p", "1", "-n", "0", "-r", "1"], stdout=subprocess.PIPE, text=True, check=True)
        asked.t = str(json.loads(probe.stdout)[0]["n_threads"])
    same = ["-p", asked.p, "-n", asked.n, "-r", asked.r, "-t", asked.t]
    own += same
    # The same limits of a batch as edge-eval's.
    reference = [asked.llama_bench, "-m", asked.model, "-b", "512", "-ub", "512", "-o", "json"] + same
    both = [("edge-eval", own), ("llama-bench", reference)]
    rounds = []
    for number in range(asked.rounds):
        order = both if number % 2 == 0 else both[::-1]
        rounds.append({name: measured(command, name) for name, command in order})
        shown = ", ".join(
            f"{test} {rounds[-1]['edge-eval'][test]:.1f} / {rounds[-1]['llama-bench'][test]:.1f}"
            for test in rounds[-1]["edge-eval"]
        )
        print(f"round {number + 1}: {shown}", file=sys.stderr, flush=True)
    print(f"{os.path.basename(asked.model)}, {asked.t} threads, {asked.rounds} rounds of {asked.r} repetitions")
    print(f"{'test':8} {'edge-eval t/s':>32} {'llama-bench t/s':>32} {'ratio':>28}")
    poor = False
    for test in rounds[0]["edge-eval"]:
        ours = [one["edge-eval"][test] for one in rounds]
        theirs = [one["llama-bench"][test] for one in rounds]
        ratios = [a / b for a, b in zip(ours, theirs)]
        ratio = f"{statistics.median(ratios):.3f} ({min(ratios):.3f} - {max(ratios):.3f})"
        print(f"{test:8} {spread(ours):>32} {spread(theirs):>32} {ratio:>28}")
        poor |= asked.bound is not None and statistics.median(ratios) < asked.bound
    return 1 if poor else 0


if __name__ == "__main__":
    sys.exit(main())
