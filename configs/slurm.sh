#!/bin/bash
# A run in parts on a Slurm cluster: every task of the array runs every so-many-th group of one plan.
#
#   CONFIG=configs/text-tasks.toml MODEL=my.gguf sbatch configs/slurm.sh
#   edge-eval merge runs/parts/* -o runs/whole        # when all have ended
#
# A part that was cut short goes on when it is submitted again. Parts are one run only with the same program, model file,
# configuration and number of threads: set `threads` under [engine] where nodes differ in their cores.
#SBATCH --job-name=edge-eval
#SBATCH --array=0-3
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --time=04:00:00
set -eu
exec "${EDGE_EVAL:-edge-eval}" run "${CONFIG:-configs/quickstart.toml}" ${MODEL:+--model "$MODEL"} \
    --shard auto --out "${OUT:-runs/parts}/$SLURM_ARRAY_TASK_ID"
