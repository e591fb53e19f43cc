# Completion of gputrace(1) for bash. tests/systemd/completions_test.sh compares it with --help.

# Prints the options of a subcommand.
_gputrace_options() {
  case $1 in
    bench) echo "--device --gpu --quick --json --svg --html --no-save --color --ascii --help" ;;
    bench-compare) echo "--fail-on --json --color --ascii --help" ;;
    calibrate) echo "--device --gpu --quick --validate --calibration --json --no-save --color --ascii --help" ;;
    compare) echo "--fail-on --from --to --all --json --regdb --color --ascii --help" ;;
    decode) echo "--gc --list --gpu-metrics --sysfs --json --regdb --help" ;;
    doctor) echo "--gpu --json --help" ;;
    fetch) echo "--output --force --help" ;;
    gpus) echo "--json --simulated --help" ;;
    import) echo "--output --force --format --gc --gpu --ticks --regdb --lenient --quiet --help" ;;
    kernels) echo "--family --device --json --help" ;;
    list) echo "--json --all --help" ;;
    mark) echo "--help" ;;
    record) echo "--output --force --label --quiet --gpu --rate --sensor-rate --source --wait --no-daemon --duration --pid --help" ;;
    report) echo "--json --html --from --to --since --calibration --scenes --regdb --color --ascii --help" ;;
    roofline) echo "--device --gpu --quick --method --json --svg --no-save --color --ascii --power --set-power --restore-power --max-temp --dry-run --help" ;;
    sql) echo "--json --csv --timeout --help" ;;
    status) echo "--json --help" ;;
  esac
}

# Completes the value of an option; fails for an option without one.
_gputrace_value() {
  local option=$1 word=$2
  case $option in
    -o | --output | --gpu-metrics | --html | --svg | --calibration) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --regdb | --sysfs) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    --source) mapfile -t COMPREPLY < <(compgen -W "auto drm debugfs bar" -- "$word") ;;
    --family) mapfile -t COMPREPLY < <(compgen -W "gfx1103_r1 gfx1100 navi21 rembrandt vega10" -- "$word") ;;
    --wait) mapfile -t COMPREPLY < <(compgen -W "child tree" -- "$word") ;;
    --color) mapfile -t COMPREPLY < <(compgen -W "always never auto" -- "$word") ;;
    --format) mapfile -t COMPREPLY < <(compgen -W "auto radeontop regs-csv" -- "$word") ;;
    --method) mapfile -t COMPREPLY < <(compgen -W "gputrace article" -- "$word") ;;
    --pid) mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && echo [0-9]*)" -- "$word") ;;
    --gpu) mapfile -t COMPREPLY < <(compgen -W "$(cd /dev/dri 2> /dev/null && echo renderD*)" -- "$word") ;;
    --device | --fail-on | --label | --rate | --sensor-rate | --duration | --from | --to | --since | --gc | --ticks | --timeout | --power | --set-power | --restore-power | --max-temp) COMPREPLY=() ;;
    *) return 1 ;;
  esac
}

_gputrace() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command=${COMP_WORDS[1]-} option i
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "bench calibrate compare decode doctor fetch gpus import kernels list mark record report roofline sql status --help --version" -- "$word")
    return
  fi
  # bash splits --wait=tree at the "=".
  if [[ $word == = ]]; then
    word= option=$previous
  elif [[ $previous == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  else
    option=$previous
  fi
  if [[ $command == record ]]; then
    for ((i = 2; i < COMP_CWORD; i++)); do
      case ${COMP_WORDS[i]} in
        --) ((i++)); break ;;
        --output | --label | --gpu | --rate | --sensor-rate | --source | --wait | --duration | --pid | -o)
          [[ ${COMP_WORDS[i + 1]-} == = ]] && ((i++))
          ((i++)) ;;
        -*) ;;
        *) break ;;
      esac
    done
    # CMD begins at word i: complete it and its arguments as their own command line.
    if ((i < COMP_CWORD)) || { ((i == COMP_CWORD)) && [[ $word != -* ]]; }; then
      if declare -F _command_offset > /dev/null; then
        _command_offset "$i"
      elif ((i == COMP_CWORD)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
      fi
      return
    fi
  fi
  if _gputrace_value "$option" "$word"; then
    return
  fi
  if [[ $command == bench && ${COMP_WORDS[2]-} == compare && $COMP_CWORD -gt 2 ]]; then
    if [[ $word == -* ]]; then
      mapfile -t COMPREPLY < <(compgen -W "$(_gputrace_options bench-compare)" -- "$word")
    else
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_gputrace_options "$command")" -- "$word")
  elif [[ $command == bench ]]; then
    mapfile -t COMPREPLY < <(compgen -W "all list compare alu parallel latency stride bandwidth atomics c2c occupancy local icache lbm md rays copy host fill texture" -- "$word")
  elif [[ $command == report || $command == compare || $command == sql || $command == import ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}

complete -o filenames -F _gputrace gputrace
