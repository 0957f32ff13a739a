#!/usr/bin/env python3
"""Measures what the engine's ways of working are worth, each against its plain counterpart, in turn on one model.

    cross/engine-compare.py [EXPERIMENT ...] [--rounds 5] [--model PATH|NAME]

grammar   direct and CoT-prefix scores of one grammar's 44 words: packed against each prompt alone
tracking  eleven depths of one LinearWorld episode, direct and CoT-prefix: packed against each prompt alone
parallel  free CoT of 24 items: 8 replies side by side against one after the other
growth    88 items against 44 of the same kind: time and memory

A round runs both sides, either one first in every other round; a ratio is that of one round. Seeds differ from round to
round. Times are those of the engine, from requests to replies; loading is left out.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

SCORED = 'interfaces = ["direct", "cot-prefix"]\n'
TRACKED = '[[task]]\nname = "linear-world"\nlimit = 11\nparams = { episodes = 1 }\n'
GRAMMAR = '[[task]]\nname = "grammar"\nparams = { grammars = 1 }\n'
WRITTEN = 'limit = 24\ninterfaces = ["free-cot"]\n[asking]\nmax-tokens = 64\ncue-place = "user-turn"\n[[task]]\nname = "logic"\ncue = "explain"\n'
PACKED = '[engine]\nparity = 0\nmode = "packed"\n'
EXACT = '[engine]\nparity = 0\nmode = "exact"\n'


def words(limit):
    return f'limit = {limit}\n{SCORED}[[task]]\nname = "logic"\n{PACKED}'


EXPERIMENTS = {
    "grammar": (("packed", SCORED + GRAMMAR + PACKED), ("exact", SCORED + GRAMMAR + EXACT)),
    "tracking": (("packed", SCORED + TRACKED + PACKED), ("exact", SCORED + TRACKED + EXACT)),
    "parallel": (("8 replies", WRITTEN + PACKED + "parallel = 8\n"), ("1 reply", WRITTEN + PACKED + "parallel = 1\n")),
    "growth": (("44 items", words(44)), ("88 items", words(88))),
}


def measured(program, model, config, seed):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"seed = {seed}\n" + config)
        out = os.path.join(folder, "run")
        run = [program, "run", path, "--model", model, "--out", out, "--quiet"]
        done = subprocess.run(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"engine-compare: the run failed ({done.returncode}): {done.stderr.strip()[-400:]}")
        report = json.loads(subprocess.run([program, "report", out, "--json"], stdout=subprocess.PIPE, check=True).stdout)
    cells = report["cells"]
    total = lambda key: sum(cell[key] for cell in cells)
    writing = [row for row in report["phases"] if row["phase"] == "decode"]
    return {
        "s": total("engine_s"),
        "writing": sum(row["tokens"] for row in writing) / (sum(row["time_s"] for row in writing) or 1),
        "given": total("prompt_tokens"),
        "evaluated": total("evaluated_tokens"),
        "written": total("output_tokens"),
        "right": total("right"),
        "n": total("n"),
        "peak_mb": (report["worker_peak_bytes"] or 0) / 1e6,
    }


def spread(values, digits=2):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} - {max(values):.{digits}f})"


def compare(program, model, name, rounds):
    sides = EXPERIMENTS[name]
    found = {side: [] for side, _ in sides}
    for number in range(rounds):
        for side, config in sides if number % 2 == 0 else sides[::-1]:
            found[side].append(measured(program, model, config, number + 1))
    (first, _), (second, _) = sides
    print(f"{name}: {rounds} rounds")
    for side in (first, second):
        rows = found[side]
        total = lambda key: sum(row[key] for row in rows)
        rate = [(row["evaluated"] + row["written"]) / row["s"] for row in rows]
        print(
            f"  {side:10} {spread([row['s'] for row in rows])} s, {spread(rate, 0)} tokens/s, {total('given')} tokens given, "
            f"{total('evaluated')} evaluated, {total('written')} written, {total('right'):.0f} of {total('n')} right, "
            f"peak {max(row['peak_mb'] for row in rows):.0f} MB"
        )
    pairs = list(zip(found[first], found[second]))
    print(f"  {second} / {first}: {spread([b['s'] / a['s'] for a, b in pairs])} x the time", flush=True)
    if all(row["writing"] for pair in pairs for row in pair):
        for side in (first, second):
            print(f"  {side:10} {spread([row['writing'] for row in found[side]], 0)} tokens/s while only replies are written")
        print(f"  {first} / {second}: {spread([a['writing'] / b['writing'] for a, b in pairs])} x the tokens/s", flush=True)


def main():
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("experiments", nargs="*", choices=[*EXPERIMENTS, []], default=[])
    flags.add_argument("--rounds", type=int, default=5)
    flags.add_argument("--model", default="smollm2-135m-instruct-q4_1")
    flags.add_argument("--edge-eval", default=f"{target}/release/edge-eval")
    asked = flags.parse_args()
    for name in asked.experiments or EXPERIMENTS:
        compare(asked.edge_eval, asked.model, name, asked.rounds)


if __name__ == "__main__":
    main()
