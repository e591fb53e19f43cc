#!/usr/bin/env bash
# The completions offer the commands and options of the help, no fewer and no more, and the man
# pages explain them.
# Usage: completions_test.sh GPUTRACE GPUTRACED SOURCE_FOLDER
set -euo pipefail
gputrace=$1
gputraced=$2
source_folder=$3
folder=$source_folder/cli/completions
failed=0
differ() { # WHAT EXPECTED FOUND (sorted lines)
  local difference
  difference=$(diff <(echo "$2") <(echo "$3")) || {
    echo "$1 differs from --help (< in the help, > there):"
    grep '^[<>]' <<< "$difference"
    failed=1
  }
}
commands=$("$gputrace" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | sort)
[[ -n $commands ]] || { echo "no commands in gputrace --help"; exit 1; }
long_options() { # those that begin a line of a help text
  sed -nE 's/^ +(-[a-z], )?(--[a-z-]+).*/\2/p' | sort -u
}
options_of() { # COMMAND
  "$gputrace" "$1" --help | long_options
}

bash -n "$folder/gputrace.bash"
bash_offers() { # WORD...: what is offered for the last one
  bash -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gputrace
           printf "%s\n" "${COMPREPLY[@]}"' "$folder/gputrace.bash" "$@" | sort
}
differ "bash: commands" "$commands" "$(bash_offers gputrace "" | grep -v '^-')"
for command in $commands; do
  differ "bash: $command" "$(options_of "$command")" "$(bash_offers gputrace "$command" --)"
done
# Values, the command line that is recorded, and nothing where there is nothing.
[[ $(bash_offers gputrace record --wait = t) == tree ]] || { echo "bash: --wait=t"; failed=1; }
[[ $(bash_offers gputrace record -q ls "$folder/_gp") == "$folder/_gputrace" ]] ||
  { echo "bash: a file for CMD"; failed=1; }
[[ -z $(bash_offers gputrace nonsense --) ]] || { echo "bash: options of no command"; failed=1; }

if command -v fish > /dev/null; then
  fish -n "$folder/gputrace.fish"
  fish_offers() { # LINE
    HOME=/nonexistent fish --no-config -c "source $folder/gputrace.fish; complete -C '$1'" 2> /dev/null |
      cut -f 1 | sort -u
  }
  differ "fish: commands" "$commands" "$(fish_offers 'gputrace ' | grep -v '^-')"
  for command in $commands; do
    differ "fish: $command" "$(options_of "$command")" "$(fish_offers "gputrace $command --" | grep '^--')"
  done
else
  echo "fish is not installed: its completions are read as text"
  for command in $commands; do
    for option in $(options_of "$command"); do
      grep -q "from [a-z ]*$command.*-l ${option#--} " "$folder/gputrace.fish" ||
        { echo "fish: $command $option is missing"; failed=1; }
    done
  done
fi

if command -v zsh > /dev/null; then
  zsh -n "$folder/_gputrace"
else
  echo "zsh is not installed: the syntax of its completions is not checked"
fi
differ "zsh: commands" "$commands" "$(sed -n "s/^    '\([a-z][a-z]*\):.*'$/\1/p" "$folder/_gputrace" | sort)"
for command in $commands; do
  differ "zsh: $command" "$(options_of "$command")" \
    "$(sed -n "/^_gputrace_$command()/,/^}/p" "$folder/_gputrace" | grep -oE '[{,*'\''](--[a-z-]+)' |
      cut -c 2- | sort -u)"
done

man=$source_folder/docs/man
explained() { # PAGE: the long options that begin a paragraph
  grep -oE '^(\*-[a-z]\*, )?\*--[a-z-]+\*' "$1" | grep -oE -- '--[a-z-]+' | sort -u
}
for command in $commands; do
  grep -q "^\*$command\*" "$man/gputrace.1.scd" || { echo "gputrace(1) lacks $command"; failed=1; }
  page=$man/gputrace-$command.1.scd
  [[ ! -f $page ]] || differ "man page $command" "$(options_of "$command")" "$(explained "$page")"
done
differ "gputraced(8)" "$("$gputraced" --help | long_options)" "$(explained "$man/gputraced.8.scd")"
# Keys of the configuration: those of the example, each once.
differ "gputraced.toml(5)" \
  "$(sed -nE 's/^# ([a-z_]+) = .*/\1/p' "$source_folder/systemd/gputraced.toml" | sort)" \
  "$(sed -nE 's/^\*([a-z_]+)\* = .*/\1/p' "$man/gputraced.toml.5.scd" | sort)"
exit "$failed"
