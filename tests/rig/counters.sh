# Counters and switches of the rig whose control file is $control; for tests and, sourced from
# $counters, for the commands that they record.

value() { # NAME: a switch or counter, in $found
  found=$(sed -n "s/^$1=//p" "$control")
}

until_more() { # NAME HOW_MANY
  value "$1"
  goal=$((found + $2))
  while value "$1"; [ "$found" -lt "$goal" ]; do :; done
}
