#!/usr/bin/env bash
# manual.sh [SLABCAST_MPI]: manual pages and completions have the text of --help, word by word, and neither renderers
# nor shells, as far as they are here, complain of them. Needs no device. SLABCAST_MPI: of that program.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1

program=slabcast mpi=${1-}
is_here() { command -v "$1" >/dev/null; }

# words: the text on stdin as one line; `this` is bold in manuals.
words() { tr -d '`' | tr -s '\n ' '  ' | sed 's/^ //; s/ $//'; }

# ---- manual pages ----

renderers=()
if is_here mandoc; then renderers+=(render_mandoc); fi
if is_here groff; then renderers+=(render_groff); fi
((${#renderers[@]})) || fail "neither mandoc nor groff is here"

# Warnings go to stderr. No page has a date, so that the same sources make the same bytes.
render_mandoc() {
  mandoc -T lint -W warning "$1" | grep -v 'missing date' >&2 || true
  mandoc -T ascii "$1" | sed $'s/.\b//g'
}
render_groff() { groff -man -ww -T ascii -P -c -rHY=0 "$1" | sed $'s/.\b//g'; }

# sections NAME...: the words of these sections of the rendered page, in the order of the names.
sections() {
  local name
  for name in "$@"; do
    awk -v name="$name" '/^[A-Z]/ { within = $0 == name; next } /^[^ ]/ { within = 0 } within' rendered
  done | words
}

# expect_words WHAT A B
expect_words() { [[ $2 == "$3" ]] || fail "$1: $(diff <(tr ' ' '\n' <<<"$2") <(tr ' ' '\n' <<<"$3") | head -n 20)"; }

# check_page RENDERER PAGE NAME SUMMARY HELP SECTION...: the sections have HELP's words and no other.
check_page() {
  local render=$1 page=$2 name=$3 summary=$4 help=$5
  shift 5
  "$render" "$page" >rendered 2>complaints || fail "$render $page failed: $(<complaints)"
  [[ ! -s complaints ]] || fail "$render $page: $(<complaints)"
  awk 'length > 80 { exit 1 }' rendered || fail "$render $page has lines longer than 80"
  expect_words "NAME in $page" "$name - $summary" "$(sections NAME)"
  expect_words "$page by $render" "$help" "$(sections "$@")"
  expect_words "exit codes in $page" "$exit_codes" "$(sections "EXIT STATUS" | sed 's/ A signal .*//')"
  sections "SEE ALSO" | grep -oE 'slabcast[-a-z]*' >see_also || fail "$page sees nothing also"
  while read -r name; do
    [[ -s $name.1 || $name == slabcast ]] || fail "$page sees $name, of which there is no page"
  done <see_also
  sections ENVIRONMENT | grep -q NO_COLOR || fail "$page tells of no environment"
}

slabcast --help >help
mapfile -t commands < <(sed -n '/^Exit/q; s/^  \([a-z]*\)  *.*/\1/p' help)
((${#commands[@]} > 5)) || fail "--help lists hardly any commands: ${commands[*]}"
exit_codes=$(sed -n 's/^Exit codes: \(.*\)\.$/\1/p' help | tr -d ,)
[[ $exit_codes == "0 done"* ]] || fail "--help tells no exit codes"

slabcast --help=man >slabcast.1
for command in "${commands[@]}"; do
  slabcast "$command" --help=man >"slabcast-$command.1"
  grep -qF "slabcast\\-$command\\fR(1)" slabcast.1 || fail "slabcast(1) does not see slabcast-$command(1)"
done
if [[ -z $mpi ]]; then
  for render in "${renderers[@]}"; do
    check_page "$render" slabcast.1 slabcast "cast massive batches of rays at a scene" \
      "$(sed 's/^usage: //; /^Exit codes/d' help | words)" SYNOPSIS DESCRIPTION COMMANDS NOTES EXAMPLES
    for command in "${commands[@]}"; do
      check_page "$render" "slabcast-$command.1" "slabcast-$command" "$(sed -n "/^Exit/q; s/^  $command  *//p" help)" \
        "$(slabcast "$command" --help | sed 's/^usage: //' | words)" SYNOPSIS DESCRIPTION OPTIONS NOTES EXAMPLES
    done
  done
else
  program=slabcast-mpi commands=(cast near inside)
  "$mpi" --help=man >slabcast-mpi.1
  "$mpi" --help | sed 's/^usage: //' >help
  for render in "${renderers[@]}"; do
    check_page "$render" slabcast-mpi.1 slabcast-mpi "cast rays, and measure points, on every rank of an MPI job" \
      "$(words <help)" SYNOPSIS DESCRIPTION NOTES EXAMPLES
  done
fi

# ---- the offers of completions ----

# offer LINE WORD...: rows of the line before a tab and of a word that is offered then; no WORD: nothing is offered.
offer() {
  local word
  for word in "${@:2}"; do printf '%s\t%s\n' "$1" "$word"; done
  printf '%s\n' "$1" >>lines
}

# offer_words OPTION WORD...: behind it, and behind its =.
offer_words() {
  offer "$1 " "${@:2}"
  offer "$1=" "${@:2}"
}

# As --help of the command lists them, in the file help_of.
builtins() { sed -n '/NAME is one of/,/^  -/p' help_of | sed '1d; $d' | tr -d ',' | xargs printf '%s:\n'; }
groups() { sed -n 's/.*these casts alone: \([^;]*\);.*/\1/p; /^Groups: /,/\.$/{ s/^Groups: //; p }' help_of | tr ',.' '  '; }

# offer_values LINE VALUE: tests the offers for an option's value, which --help calls VALUE.
offer_values() {
  local choices
  case $2 in
    "") ;;
    *FILE* | *.json) offer "$1 " "a file.npy" folder/ ;;
    *\|*)
      IFS='|' read -ra choices < <(tr '|' '\n' <<<"$2" | grep -v '[A-Z]' | paste -sd '|') || true # others: placeholders
      if ((${#choices[@]} == 0)); then offer "$1 "; else offer_words "$1" "${choices[@]}"; fi
      ;;
    NAME:COUNT)
      mapfile -t choices < <(builtins)
      offer_words "$1" "${choices[@]}"
      ;;
    SEL) offer_words "$1" cpu gpu all ;;
    NAME,...)
      read -rd '' -a choices < <(groups) || true
      ((${#choices[@]} > 2)) || fail "hardly any groups are listed: $(<help_of)"
      offer_words "$1" "${choices[@]}"
      ;;
    *) offer "$1 " ;;
  esac
}

offer_all() {
  local command option value names
  offer "$program " "${commands[@]}" help
  offer "$program help " "${commands[@]}"
  for command in "${commands[@]}"; do
    slabcast "$command" --help >help_of
    sed -nE 's/^  (-[-a-z]+)( ([^ ]+))?( .*)?$/\1 \3/p' help_of >rows
    mapfile -t names < <(cut -d ' ' -f 1 rows)
    offer "$program $command -" "${names[@]}"
    while read -r option value; do offer_values "$program $command $option" "$value"; done <rows
    case $command in
      rays) offer "$program rays " camera lidar hemisphere random ;;
      join) offer "$program join " "a file.npy" folder/ ;;
      *) offer "$program $command " ;;
    esac
  done
}

# ---- what each shell offers ----

# Each ask_SHELL prints rows as offer does, for the lines of the file `lines`, from the folder `typing`.

# A function of bash's needs no terminal; it gets the words into which readline would split the line.
cat >ask.bash <<'END'
source ../completion.bash
while IFS= read -r line; do
  read -ra COMP_WORDS <<<"${line/=/ = }"
  if [[ $line == *" " ]]; then COMP_WORDS+=(""); fi
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  [[ $(complete -p "${COMP_WORDS[0]}") =~ -F\ ([a-z_]+) ]] || exit
  "${BASH_REMATCH[1]}"
  for word in "${COMPREPLY[@]}"; do
    if [[ -d $word ]]; then word+=/; fi # as readline does with names of files
    printf '%s\t%s\n' "$line" "$word"
  done
done <../lines
END
ask_bash() { bash --noprofile --norc ../ask.bash; }

# Completion works at a terminal alone in zsh: at one of its own a key lists all lines. Its offers pass compadd.
cat >ask.zsh <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'source ../inside.zsh'
zpty -w -n shell $'\C-t'
while zpty -r shell output; do screen+=$output; done
cat ../offered || print -r -- $screen >&2
END
cat >inside.zsh <<'END'
fpath=($PWD/../functions $fpath)
autoload -Uz compinit
compinit -u -D
compadd() {
  local -a found
  if [[ " ${(j: :)@[1,(i)(-|--)]}" == *\ -(O|A|D)\ * ]]; then # these fill arrays and offer nothing
    builtin compadd "$@"
    return
  fi
  builtin compadd -A found "$@"
  for word in ${(Q)found}; do
    [[ -d $word ]] && word+=/
    print -r -- "$typed"$'\t'"$word" >>../offered
  done
  builtin compadd "$@"
}
ask-all() {
  for typed in "${(@f)$(<../lines)}"; do
    BUFFER=$typed
    CURSOR=$#BUFFER
    zle complete-word
  done
  BUFFER=exit
  zle accept-line
}
zle -N ask-all
bindkey '^T' ask-all
END
ask_zsh() { timeout 60 zsh -f ../ask.zsh; }

cat >ask.fish <<'END'
source ../completion.fish
cat ../lines | while read -l line
  complete -C $line | string replace -r '\t.*' '' | while read -l word
    printf '%s\t%s\n' $line $word
  end
end
END
ask_fish() { HOME=$work fish --no-config ../ask.fish; }

# Shells offer options with a trailing = or without it; and options where nothing is typed, or not.
tidy() { sed -E $'s/\t(-[^=]*)=$/\t\\1/; s/\t--[a-z-]+=/\t/' | grep -vE $'[^-]\t-' | LC_ALL=C sort; }

mkdir -p typing/folder functions
touch "typing/a file.npy"
for shell in bash zsh fish; do "${mpi:-slabcast}" "--help=$shell" >"completion.$shell"; done
cp completion.zsh "functions/_$program"
offer_all | LC_ALL=C sort >expected
(($(wc -l <expected) > 90)) || fail "hardly anything is to be offered: $(<expected)"
for shell in bash zsh fish; do
  if is_here "$shell"; then
    (cd typing && "ask_$shell") 2>complaints | tidy >offers
    [[ ! -s complaints ]] || fail "$shell: $(<complaints)"
    diff expected offers | head -n 30 >&2 || fail "$shell offers something else"
  else
    echo "manual.sh: NOT TRIED: completion in $shell, which is not here" >&2
  fi
done
