#!/usr/bin/env bash
# Hours of gputraced at 1 kHz before a simulated GPU that fails at random, watched for what grows.
#
#   tests/soak.sh [HOURS | --minutes N] [--build FOLDER]    default: 20 minutes, build/release
#
# Prints a line a minute and a table at the end. Exit status 1: over 30 MB resident, memory or
# descriptors that grow, a recording lost, an end that takes long. CPU time is told and never a
# failure: what else a machine does doubles it. In user mode it is to stay near 2 % of a core (the
# reads are system calls: their cost is the recorder's system time, shown apart).
# 77: no root, no FUSE. GPUTRACE_SEED chooses other faults.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

usage() {
  sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

if [[ ${1:-} != --inside ]]; then
  seconds=1200
  build=$root/build/release
  while (($# > 0)); do
    case $1 in
      --minutes) [[ ${2:-} =~ ^[0-9]+$ ]] || usage; seconds=$(($2 * 60)); shift ;;
      --build) [[ -d ${2:-} ]] || usage; build=$(cd "$2" && pwd); shift ;;
      *) [[ $1 =~ ^[0-9]+$ ]] || usage; seconds=$(($1 * 3600)) ;;
    esac
    shift
  done
  for program in daemon/gputraced cli/gputrace tests/rig/gputrace-rig; do
    [[ -x $build/$program ]] || { echo "soak.sh: $build/$program is not built" >&2; exit 77; }
  done
  exec "$root/tests/rig/with_gpu.sh" "$build/tests/rig/gputrace-rig" --gpu rx7600 --scenario idle \
    -- "$0" --inside "$seconds" "$build"
fi

seconds=$2
gputrace=$3/cli/gputrace
gputraced=$3/daemon/gputraced
control=$GPUTRACE_RIG/control
folder=$(mktemp -d)
export GPUTRACE_SOCKET=$folder/socket
export XDG_DATA_HOME=$folder/home
RANDOM=${GPUTRACE_SEED:-20261130}
failures=0
daemon=
clients=()

finish() {
  [[ -z $daemon ]] || kill -KILL "$daemon" 2> /dev/null
  rm -rf "$folder"
}
trap finish EXIT

fault() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# Nobody ever writes into this pipe.
mkfifo "$folder/quiet"
exec 9<> "$folder/quiet"
pause() { # SECONDS
  read -r -t "$1" -u 9
  return 0
}

cat > "$folder/gputraced.toml" << 'TOML'
[daemon]
group = "root"
[background]
enabled = true
every_s = 2
TOML
"$gputraced" --foreground --config "$folder/gputraced.toml" --socket "$GPUTRACE_SOCKET" \
  --data-dir "$folder/data" 2> "$folder/log" &
daemon=$!
for ((i = 0; i < 100; i++)); do
  "$gputrace" status > /dev/null 2>&1 && break
  pause 0.1
done
"$gputrace" status > /dev/null || { cat "$folder/log" >&2; fault "gputraced does not answer"; exit 1; }

# Records again and again, marks, and throws the file away. Faults end recordings early: that is
# told in the file, and never a reason for having none.
client() { # NAME
  local name=$1 round=0 status
  while [[ ! -e $folder/stop ]]; do
    round=$((round + 1))
    "$gputrace" record -q --rate 1000 --duration $((3 + RANDOM % 10)) \
      -o "$folder/$name.gputrace" --force > /dev/null 2> "$folder/$name.err"
    status=$?
    if ((status == 0)); then
      echo ok >> "$folder/$name.count"
      "$gputrace" report "$folder/$name.gputrace" > /dev/null 2> "$folder/$name.report.err" ||
        { echo "round $round"; cat "$folder/$name.report.err"; } >> "$folder/$name.unreadable"
    else
      echo refused >> "$folder/$name.count"
      pause 0.5
    fi
  done
}
for name in one two three; do
  client "$name" &
  clients+=($!)
done

children() { cat "/proc/$daemon/task/$daemon/children" 2> /dev/null; }
resident_kb() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status" 2> /dev/null; }
descriptors() { ls "/proc/$1/fd" 2> /dev/null | wc -l; }
# "USER SYSTEM" ticks of the daemon, with those of children that have ended, and of those that live.
cpu_ticks() {
  local pid line user=0 system=0
  local -a field
  for pid in $daemon $(children); do
    line=$(cat "/proc/$pid/stat" 2> /dev/null) || continue
    read -r -a field <<< "${line##*) }"
    user=$((user + field[11]))
    system=$((system + field[12]))
    if [[ $pid == "$daemon" ]]; then
      user=$((user + field[13]))
      system=$((system + field[14]))
    fi
  done
  echo "$user $system"
}
counter() { sed -n "s/^$1=//p" "$control"; }

random_fault() {
  case $((RANDOM % 6)) in
    0) echo all_ones=1 ;;
    1) echo read_errno=2 ;;
    2) echo read_errno=5 ;;
    3) echo suspended=1 ;;
    4) echo unplugged=1 ;;
    5) echo hold_reads=1 ;;
  esac
}

most_daemon=0 most_recorder=0
samples_daemon=() samples_fds=()
start=$SECONDS
begin_ns=$(date +%s%N)
read -r user_before system_before <<< "$(cpu_ticks)"
reads_before=$(counter register_reads)
next_fault=$((SECONDS + 3)) next_line=$((SECONDS + 60)) faults=0
while ((SECONDS - start < seconds)); do
  pause 1
  kill -0 "$daemon" 2> /dev/null || { fault "gputraced has ended"; cat "$folder/log" >&2; exit 1; }
  kb=$(resident_kb "$daemon")
  ((kb <= most_daemon)) || most_daemon=$kb
  samples_daemon+=("$kb")
  samples_fds+=("$(descriptors "$daemon")")
  for pid in $(children); do
    kb=$(resident_kb "$pid")
    ((${kb:-0} <= most_recorder)) || most_recorder=$kb
  done
  if ((SECONDS >= next_fault)); then
    switch=$(random_fault)
    echo "$switch" > "$control"
    pause "0.$((2 + RANDOM % 8))"
    echo "${switch%=*}=0" > "$control"
    faults=$((faults + 1))
    next_fault=$((SECONDS + 2 + RANDOM % 6))
    "$gputrace" mark "after $switch" > /dev/null 2>&1
  fi
  if ((SECONDS >= next_line)); then
    next_line=$((SECONDS + 60))
    echo "$((SECONDS - start)) s: daemon ${samples_daemon[-1]} kB, ${samples_fds[-1]} descriptors," \
      "recorders at most $most_recorder kB, $faults faults"
  fi
done
read -r user_after system_after <<< "$(cpu_ticks)"
length_ns=$(($(date +%s%N) - begin_ns))
reads=$(($(counter register_reads) - reads_before))

touch "$folder/stop"
wait "${clients[@]}"
stop_ns=$(date +%s%N)
kill -TERM "$daemon"
wait "$daemon"
status=$?
stop_ms=$((($(date +%s%N) - stop_ns) / 1000000))
daemon=

# Medians of the second and of the last fifth: growth, not noise. The first fifth fills caches.
median_of() { # FIRST COUNT VALUE...
  local first=$1 count=$2
  shift 2
  printf '%s\n' "${@:first+1:count}" | sort -n | sed -n "$((count / 2 + 1))p"
}
fifth=$((${#samples_daemon[@]} / 5))
last=$((${#samples_daemon[@]} - fifth))
daemon_early=$(median_of "$fifth" "$fifth" "${samples_daemon[@]}")
daemon_late=$(median_of "$last" "$fifth" "${samples_daemon[@]}")
fds_early=$(median_of "$fifth" "$fifth" "${samples_fds[@]}")
fds_late=$(median_of "$last" "$fifth" "${samples_fds[@]}")
percent() { awk -v t="$1" -v ns="$length_ns" -v hz="$(getconf CLK_TCK)" \
  'BEGIN { printf "%.2f", t / hz / (ns * 1e-9) * 100 }'; }
user=$(percent $((user_after - user_before)))
system=$(percent $((system_after - system_before)))
recorded=$(cat "$folder"/*.count | grep -c ok)
refused=$(cat "$folder"/*.count | grep -c refused)

cat << TABLE
length                        $((length_ns / 1000000000)) s, $faults faults
register reads                $reads ($((reads * 1000000000 / length_ns)) a second)
recordings                    $recorded read back, $refused refused while the GPU was away
daemon resident               $daemon_early kB early, $daemon_late kB late, $most_daemon kB at most
recorder resident             $most_recorder kB at most
daemon descriptors            $fds_early early, $fds_late late
CPU, user mode                $user % of a core
CPU, system calls with reads  $system % of a core
end after SIGTERM             $stop_ms ms, status $status
TABLE

((recorded > 0)) || fault "nothing was recorded"
for file in "$folder"/*.unreadable; do
  [[ ! -e $file ]] || fault "a recording cannot be read: $(head -5 "$file")"
done
((most_daemon < 30000 && most_recorder < 30000)) || fault "over 30 MB resident"
((daemon_late <= daemon_early + 2000)) || fault "the daemon's memory grows"
((fds_late <= fds_early + 4)) || fault "the daemon's descriptors grow"
((status == 0 && stop_ms < 5000)) || fault "gputraced did not end as it should"
((failures == 0)) || { echo "gputraced's last words:" >&2; tail -20 "$folder/log" >&2; }
exit "$((failures > 0))"
