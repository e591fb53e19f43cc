#!/usr/bin/env bash
# Runs every example of the README, the docs and the help texts: lines that begin with
# "    $ gputrace", and the lines under "Examples:" of each --help. An example passes when it exits
# with 0. What it needs beside gputrace (a game, radeontop, jq) is stood in for; a recording that
# names no GPU takes the simulated one. A calibration takes a minute, most of which it waits: one is
# made while the other examples run, and those of `calibrate` validate it.
# Usage: docs_examples_test.sh GPUTRACE SOURCE_FOLDER
set -eu
gputrace=$1
source_folder=$2
work=$(mktemp -d)
calibration=
trap '[[ -z $calibration ]] || kill "$calibration" 2> /dev/null || true; rm -rf "$work"' EXIT
export XDG_DATA_HOME=$work/data XDG_CACHE_HOME=$work/cache
mkdir -p "$work/bin"
cd "$work"

cat > bin/gputrace << EOF
#!/usr/bin/env bash
case " \$* " in
  *" --gpu "* | *" --dry-run "* | *" --help "*) exec "$gputrace" "\$@" ;;
  " bench list "* | " bench compare "*) exec "$gputrace" "\$@" ;;
  " bench "*) shift; exec "$gputrace" bench --gpu sim:780m --quick "\$@" ;;
  " calibrate "*)
    flock "$work/calibrating" true
    shift
    exec "$gputrace" calibrate --gpu sim:780m --quick \\
      --calibration "$work"/data/gputrace/machine/calibration-*.gputrace "\$@" ;;
  " roofline "*) shift; exec "$gputrace" roofline --gpu sim:780m --quick "\$@" ;;
  " record "*) shift; exec "$gputrace" record --gpu sim:780m:idle "\$@" ;;
  *) exec "$gputrace" "\$@" ;;
esac
EOF
printf '#!/bin/sh\nexit 0\n' | tee bin/glxgears bin/steam_game game launcher.sh > bin/sudo_target
printf '#!/bin/sh\nexec cat > /dev/null\n' > bin/jq
printf '#!/bin/sh\ncat %s\n' "$work/dump.txt" > bin/radeontop
printf '#!/bin/sh\nexec "$@"\n' > bin/sudo
printf '#!/bin/sh\ncat %s\n' "$source_folder/tests/fixtures/import/amdgpu_top.jsonl" > bin/amdgpu_top
cp "$source_folder"/tests/fixtures/import/{game_2026-11-29_22-27-15.csv,amdgpu_top.jsonl} .
chmod +x bin/* game launcher.sh
export PATH=$work/bin:$PATH

# Holds the lock for as long as it runs.
exec {lock}> calibrating
flock "$lock"
"$gputrace" calibrate --gpu sim:780m --quick > calibrate.txt 2>&1 &
calibration=$!
exec {lock}>&-

# The dump and the words that the examples import.
for second in 1 2 3; do
  echo "168358071$second.217399: bus 74, gpu 50.00%, ee 0.00%, vgt 0.00%, ta 25.00%, sx 0.00%, sh 0.00%, spi 50.00%, sc 0.00%, pa 0.00%, db 0.00%, cb 0.00%"
done > dump.txt
printf '# gputrace-regs v1\n# gc=11.0.1\ntime_ns,GRBM_STATUS\n1000000,0x00003028\n2000000,0xA0003028\n' > words.csv
cp -r "$source_folder"/tests/fixtures/sysfs/cases/phoenix/card1/device .
gputrace record -q --duration 1 -o game.gputrace
gputrace record -q --duration 1 --label quickstart
for name in 25w 54w old1 old2 new1 new2; do
  cp game.gputrace "$name.gputrace"
done

help_examples() {
  local command
  for command in $(gputrace --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    # An example starts with two spaces; deeper lines belong to the one before.
    gputrace "$command" --help | awk '
      /^Examples:/ { on = 1; next }
      on && /^ *$/ { on = 0 }
      on && /^  [^ ]/ { if (line != "") print line; line = substr($0, 3); next }
      on { sub(/^ */, ""); line = line " " $0 }
      END { if (line != "") print line }'
  done
}

examples=$(
  sed -n 's/^    \$ \(.*gputrace.*\)/\1/p' "$source_folder/README.md" "$source_folder"/docs/*.md
  help_examples
)
count=0
failures=0
while IFS= read -r example; do
  count=$((count + 1))
  # The file that an example writes may be there from one before.
  if [[ $example =~ (-o|--output)\ ([a-z0-9]+\.gputrace) ]]; then
    rm -f "${BASH_REMATCH[2]}"
  fi
  # Examples of seconds: the shortest recording shows the same.
  shortened=$(sed -E 's/--duration [0-9]+/--duration 1/; s/--from 1:00 --to 1:30/--from 0.2 --to 0.8/' <<< "$example")
  if ! bash -c "$shortened" < /dev/null > out.txt 2>&1; then
    echo "this example fails: $example"
    sed 's/^/    /' out.txt
    failures=$((failures + 1))
  fi
done <<< "$examples"
if ! wait "$calibration"; then
  sed 's/^/    calibrate: /' calibrate.txt
  failures=$((failures + 1))
fi
calibration=
echo "$count examples run, $failures failed"
((count >= 15 && failures == 0))
