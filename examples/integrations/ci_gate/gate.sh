#!/bin/sh
# Fails a build whose explanations became worse than those of the base.
#   gate.sh METRIC NEW.jsonl BASE_FILE [RULE]
# BASE_FILE holds the id of the batch to compare with; where there is none, the new batch becomes it.
# RULE is of the paired difference, new - base: default 'high < 0', a loss is shown. TOUCHSTONE_URL
# and TOUCHSTONE_API_KEY name the service. Exit codes: 0 not worse, 1 the service failed, 2 worse
# or scores were lost, 3 lines of the new batch failed, 64 wrong command line.
set -eu
[ $# -ge 3 ] || { echo "usage: gate.sh METRIC NEW.jsonl BASE_FILE [RULE]" >&2; exit 64; }
metric=$1 new=$2 base_file=$3 rule=${4:-high < 0}
said=$(mktemp)
trap 'rm -f "$said"' EXIT
touchstone submit "$new" --metric "$metric" --wait --json > "$said"
batch=$(sed -n 's/.*"id": *"\(batch_[0-9a-f]*\)".*/\1/p' "$said" | head -n 1)
[ -n "$batch" ] || { echo "the batch has no id" >&2; exit 1; }
if [ ! -s "$base_file" ]; then
  echo "$batch" > "$base_file"
  echo "$batch is the base from now on"
  exit 0
fi
touchstone compare "$batch" "$(cat "$base_file")" --fail-if "$rule"  # the new one minus the base
echo "$batch"
