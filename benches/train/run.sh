#!/bin/bash
# Makes samples and trains a network side by side, for some time, on a machine with many cores and an accelerator.
#
#   run.sh TOOLS OUT SECONDS [arguments of train.py]
#
# TOOLS is a folder, or a .tar.xz of its files, with
#   engram      the engine with `tune`     teachers/   networks that label positions together (teachers.py)
#   roots.epd   openings                   held.bin    samples for the validation
# OUT gets engram.net (written every minute and at the end, so that a run that is cut off leaves one too), train.log and
# sample.log. The samples stay in $WORK (/tmp/engram-train): another run goes on with them and adds more.
#
# GENERATORS: games at a time, all cores but one if not set; 0 trains on the samples that are there.
# SHARE: the part of the time in which samples are made, in percent (85); the rest is training alone.
set -uo pipefail
[ $# -ge 3 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2; }
tools=$1 out=$2 seconds=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd) work=${WORK:-/tmp/engram-train}
python=${PYTHON:-python3} generators=${GENERATORS:-$(($(nproc) - 1))} share=${SHARE:-85}
if [ "$seconds" -le 10 ] || [ $((seconds * share)) -lt 100 ]; then
    echo "run.sh: SECONDS is more than 10, and SHARE of it at least one second" >&2
    exit 2
fi
mkdir -p "$work" "$out" || exit
if [ -f "$tools" ]; then
    "$python" -m tarfile -e "$tools" "$work/tools" || exit
    tools=$work/tools
fi
sampler=
trap '[ -z "$sampler" ] || kill -INT "$sampler" 2>/dev/null' EXIT
growing=
if [ "$generators" -gt 0 ]; then
    timeout -s INT -k 10 $((seconds * share / 100)) \
        nice -n 19 "$tools/engram" tune sample "$work/samples.bin" --openings "$tools/roots.epd" --opening-share 85 \
        --plies 16 --threads "$generators" > "$out/sample.log" 2>&1 &
    sampler=$! growing="--growing $!"
fi
# Ten seconds are left for PyTorch's start and the last network.
"$python" "$here/train.py" "$work/samples.bin" $growing --teachers "$tools/teachers" --held-out "$tools/held.bin" \
    --net "$out/engram.net" --seconds $((seconds - SECONDS - 10)) "$@" 2>&1 | tee "$out/train.log"
status=$?
tail -n 1 "$out/sample.log" 2>/dev/null
exit $status
