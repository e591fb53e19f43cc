#!/usr/bin/env bash
# The HTML report in a headless Chromium: complaints, first paint, zoom, keys, print, no scripts.
# Usage: browser_test.sh HTML_SAMPLE [FOLDER_FOR_PICTURES]
set -u
sample=$1
here=$(dirname "$0")

skip() {
  echo "skipped: $1"
  exit 77
}

command -v node > /dev/null || skip "there is no node"
browser=
for name in chromium chromium-browser google-chrome; do
  [[ -n $browser ]] || browser=$(command -v "$name" || true)
done
[[ -n $browser ]] || skip "there is no chromium"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for kind in hour day second unknown import hostile no-phases short late empty bench; do
  "$sample" "$kind" "$folder/$kind.html"
  status=$?
  ((status != 77)) || skip "this build has no uPlot"
  ((status == 0)) || {
    echo "html_sample $kind: exit status $status"
    exit 1
  }
done
node "$here/browser_test.mjs" "$browser" "$folder" "${@:2}"
