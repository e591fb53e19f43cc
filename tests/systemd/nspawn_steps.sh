#!/bin/bash
# What is done in the booted container, as a unit of its own. alice is in the group gputrace, bob is
# not. Exits with 0 when the service does what it should.
set -euo pipefail
export LC_ALL=C.UTF-8 TERM=dumb
step=start
tell() {
  local status=$? command=$BASH_COMMAND
  ((status != 0)) || return 0
  echo "failed at: $step: $command (status $status)"
  systemctl status --no-pager gputraced.service gputraced.socket || true
  journalctl -b --no-pager -u gputraced.service -o short-monotonic | tail -n 60
}
trap tell EXIT
begin() {
  step=$*
  echo "== $step"
}
as() { # USER COMMAND...
  local user=$1
  shift
  (cd "/home/$user" && runuser -u "$user" -- env -i HOME="/home/$user" PATH=/usr/bin:/bin LC_ALL=C.UTF-8 "$@")
}
main_pid() { systemctl show -P MainPID gputraced.service; }
now_ms() { awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime; }
# Waits until COMMAND succeeds; fails after MILLISECONDS.
until_ok() {
  local end=$(($(now_ms) + $1))
  shift
  until "$@" > /dev/null 2>&1; do
    (($(now_ms) < end)) || return 1
  done
}

begin "the socket listens, the service is not there until somebody asks"
[[ $(systemctl is-active gputraced.socket) == active ]]
[[ $(systemctl is-enabled gputraced.socket) == enabled ]]
[[ $(stat -c '%a %U %G' /run/gputrace/gputraced.socket) == '660 root gputrace' ]]
[[ $(systemctl is-active gputraced.service || true) == inactive ]]

begin "a member of the group starts it by asking"
as alice gputrace status
[[ $(systemctl is-active gputraced.service) == active ]]

begin "it has the capabilities it keeps and no other"
pid=$(main_pid)
bits=$(sed -n 's/^CapEff:\s*//p' "/proc/$pid/status")
(((0x$bits & ~((1 << 23) | (1 << 38))) == 0))
[[ $(sed -n 's/^NoNewPrivs:\s*//p' "/proc/$pid/status") == 1 ]]
[[ $(sed -n 's/^Seccomp:\s*//p' "/proc/$pid/status") == 2 ]]

begin "it sees what it needs and no more"
inside() { nsenter --mount --target "$pid" -- "$@"; }
for path in /etc/gputrace/gputraced.toml /sys/class/drm/renderD128 /dev/dri/renderD128 /var/lib/gputrace; do
  inside test -e "$path" || { echo "the daemon does not see $path"; inside ls -la "$(dirname "$path")"; false; }
done
inside test -w /var/lib/gputrace
for path in /etc/shadow /etc/machine-id /run/systemd/private /run/dbus /var/log /home/alice; do
  if inside test -e "$path"; then
    echo "the daemon sees $path"
    false
  fi
done
if inside touch /usr/gputrace-was-here 2> /dev/null; then
  false
fi

begin "a member of the group records through it, and gets the file"
as alice gputrace record --label nspawn -o alice.gputrace -- sleep 3
[[ $(stat -c '%U' /home/alice/alice.gputrace) == alice ]]
as alice gputrace report --json alice.gputrace > /tmp/report.json
cat /tmp/report.json | head -n 40
samples=$(sed -n 's/.*"samples": *\([0-9]*\).*/\1/p' /tmp/report.json | sort -n | tail -n 1)
((samples > 300))

begin "one who is not in the group is refused, with what to do"
if as bob gputrace status > /tmp/bob.txt 2>&1; then
  echo "bob was served: $(cat /tmp/bob.txt)"
  false
fi
cat /tmp/bob.txt
grep -q 'usermod -aG gputrace' /tmp/bob.txt
# The command is run all the same, or refused for a reason of its own; never through the daemon.
as bob gputrace record -o bob.gputrace -- true > /tmp/bob.txt 2>&1 || true
cat /tmp/bob.txt
grep -q gputrace /tmp/bob.txt
[[ ! -e /var/lib/gputrace/sessions/$(id -u bob) ]]

begin "killed, it is back within a second, and so is the socket"
old=$(main_pid)
systemctl kill --signal=KILL gputraced.service
changed() {
  local new
  new=$(main_pid)
  ((new != 0 && new != old)) && [[ $(systemctl is-active gputraced.service) == active ]]
}
start=$(now_ms)
until_ok 5000 changed
echo "back after $(($(now_ms) - start)) ms"
(($(now_ms) - start < 1000))
as alice gputrace status

begin "killed during a recording it leaves a file that opens"
as alice gputrace record -o killed.gputrace -- sleep 4 > /tmp/killed.txt 2>&1 &
recorder=$!
recording() { as alice gputrace status --json | grep -q '"your_recordings": 1'; }
until_ok 5000 recording
sessions=/var/lib/gputrace/sessions/$(id -u alice)
written() { [[ -n $(find "$sessions" -name '*.gputrace*' -size +8k) ]]; }
until_ok 5000 written
old=$(main_pid)
systemctl kill --signal=KILL gputraced.service
until_ok 1000 changed
wait "$recorder" || true
cat /tmp/killed.txt
as alice gputrace list
file=$(find /home/alice "$sessions" -name '*.gputrace' -newer /tmp/bob.txt | head -n 1)
gputrace report --json "$file" | grep -q '"samples"'

begin "a reload keeps the process"
old=$(main_pid)
systemctl reload gputraced.service
[[ $(main_pid) == "$old" ]]
as alice gputrace status

begin "it stops within its 2 seconds, and a client starts it again"
start=$(now_ms)
systemctl stop gputraced.service
(($(now_ms) - start < 3000))
[[ $(systemctl show -P Result gputraced.service) == success ]]
as alice gputrace status

begin "its log has priorities and nothing that is an error but the two kills"
journalctl -b --no-pager -u gputraced.service -o cat -p info | head -n 40
journalctl -b --no-pager _SYSTEMD_UNIT=gputraced.service -p err -o cat > /tmp/errors.txt || true
if grep -v '^-- No entries' /tmp/errors.txt; then
  false
fi

echo "all steps passed"
