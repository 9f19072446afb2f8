#!/usr/bin/env bash
# usage.sh: help of every command; command lines that are refused, with code 2 and what is wrong. Needs no device.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1

scene="--mesh --builtin --instances --of --instance-worlds --origin --one-geometry --unit --skip-invalid --import-seconds"
for kind in "${kinds[@]}"; do
  if [[ $kind != triangles ]]; then scene+=" --$kind"; fi
done
camera="--from --to --up --fov --size"
declare -A options=(
  [demo]="-o --size --device --threads"
  [cast]="$scene --up --rays -o --query --tree --layout --segments --t-min --t-max --mask --masks --after --worlds --cull --edges
          --max-hits --face-forward --points --in --out --check --resume --shard --json --device --threads"
  [lidar]="$scene --up --beams --fan --poses --spin --range --returns -o --tree --layout --mask --cull --edges
           --face-forward --points --out --check --resume --shard --json --device --threads"
  [join]="-o"
  [rays]="$scene $camera --count --seed -o --out --device --threads"
  [render]="$scene $camera -o --shade --tree --device --threads"
  [verify]="--rays --seed --group --lanes --json --device --threads"
  [bench]="--csv --json --compare --group --seconds --quick --full --processor-time --device --threads"
  [devices]="--json"
  [info]="$scene --up --tree --json --device --threads"
  [explain]="$scene --up --ray --rays --index --in --segments --masks --after --worlds --geometry --primitive --cull --edges
             --face-forward -o --json --device --threads"
)

# ---- help ----
for command in "${!options[@]}"; do
  expect_exit 0 slabcast "$command" --help
  [[ ! -s err ]] || fail "$command --help says something on stderr"
  expect_stdout "usage: slabcast $command" "  --help"
  for option in ${options[$command]}; do
    grep -qE -- "^  $option( |$)" out || fail "$command --help does not list $option"
  done
  listed=$(grep -oE '^  -[-a-z]+' out | wc -l)
  expected=$(wc -w <<<"${options[$command]} --help")
  [[ $listed == "$expected" ]] || fail "$command --help lists $listed options, not $expected"
  awk 'length > 100 { exit 1 }' out || fail "$command --help has lines longer than 100"
  mv out long
  expect_exit 0 slabcast "$command" -h
  expect_same long out
  expect_exit 0 slabcast help "$command"
  expect_same long out
done

expect_exit 0 slabcast --help
expect_stdout "${!options[@]}" "Exit codes"
mv out long
expect_exit 0 slabcast help
expect_same long out
expect_exit 0 slabcast help help
expect_same long out
grep -q 'every one' out && fail "--help promises that the demo checks every ray, of which it checks 1,000"
expect_exit 0 slabcast --version
grep -qE '^slabcast [0-9]+\.[0-9]+\.[0-9]+$' out || fail "--version says $(cat out)"
mv out version
expect_exit 0 slabcast -V
expect_same version out
rm version
expect_exit 2 slabcast
[[ ! -s out ]] || fail "without a command something is printed on stdout"
expect_same long err

# ---- refusals: code 2, the error, the usage line ----
refused() {
  local text=$1
  shift
  expect_refusal 2 "$text" slabcast "$@"
}
refused 'unknown command "dance"' dance
refused 'unknown command ""' ""
refused 'unknown command "dance"' help dance
refused 'unexpected argument "rays"' help cast rays
refused 'unknown command "dance"' dance --help=man
refused 'unknown command "--help=dance"' --help=dance
refused 'unknown option --help=bash' cast --help=bash

# ---- what may have been meant: a letter changed, left out, added, or two exchanged ----
refused 'unknown command "randr": did you mean "render"?' randr
refused 'unknown command "csat": did you mean "cast"?' csat
refused 'unknown command "infos": did you mean "info"?' help infos
refused 'unknown option --qurey: did you mean --query?' cast --qurey any
refused 'unknown option --sed=3: did you mean --seed?' rays --sed=3
refused 'unknown option -size: did you mean --size?' demo -size 4x4
for unknown in dance "" x verifydemobench "$(printf 'cast%.0s' {1..20})"; do
  refused "unknown command \"$unknown\"; \`slabcast --help\` lists them" "$unknown"
done

# ---- a value may be right behind -o, and behind any other option's = ----
expect_refusal 1 'cannot write nowhere/o.npy' slabcast cast -onowhere/o.npy --builtin=boxes:3 --rays=r.npy
expect_exit 0 slabcast rays random -oone.npy --count=2
expect_exit 0 slabcast rays random -o two.npy --count 2
expect_same one.npy two.npy
rm one.npy two.npy
for command in "${!options[@]}"; do
  refused "unknown option --dance" "$command" --dance
  expect_stderr "usage: slabcast $command"
done
refused 'unknown option --dance=3' cast --dance=3
refused 'option --query: "what" is not one of closest|distance|any|count|all|interval|nearest' cast --query what
refused 'option --query: "" is not one of' cast --query=
refused 'option --query wants' cast --query
refused 'option --check takes no value' cast --check=1
refused 'option --tree: "tall" is not one of' cast --tree tall
refused 'option --layout: "tall" is not one of' cast --layout tall
refused 'option --cull: "side" is not one of' cast --cull side
refused 'option --mask: "0" is not' cast --mask 0
refused 'option --mask: "4294967296" is not' cast --mask 4294967296
refused 'option --mask: "0xg" is not' cast --mask 0xg
refused 'option --mask: "-1" is not' cast --mask -1
refused 'option --t-min: "nan" is not a number' cast --t-min nan
refused 'option --t-max: "1x" is not a number' cast --t-max 1x
refused 'option --t-max: "" is not a number' cast --t-max ""
for shard in 3/3 4/3 0/0 1 1/ /2 a/2 -1/2 1/2/3; do refused "option --shard: \"$shard\" is not I/N" cast --shard "$shard"; done
for value in boxes boxes: boxes:x boxes:-1 boxes:4294967281 :3; do
  refused "option --builtin" cast --builtin "$value"
  expect_stderr "${value%:3}"
done
refused 'option --builtin: there is no scene "castle"; there are boxes, city' info --builtin castle:3
for size in 0x4 4x0 4x 4 x4 65537x1 1x65537 -1x4 4x4x4 ax4; do
  refused "option --size: \"$size\" is not WxH, each from 1 to 65536" demo --size "$size"
done
for point in 1,2 1,2,3,4 1,2,x inf,0,0 nan,0,0 "1, 2,3" ""; do
  refused "option --from: \"$point\" is not three numbers X,Y,Z" rays camera --from "$point"
done
for degrees in 0 180 -1 nan wide; do refused "option --fov: \"$degrees\" is not a number from 0.01 to 179" render --fov "$degrees"; done
for count in 0 -1 1.5 1e3 99999999999999999999; do refused "option --count: \"$count\" is not" rays random --count "$count"; done
refused 'option --seed: "x" is not a whole number' rays random --seed x
refused 'option --shade: "dark" is not one of normal|depth|id' render --shade dark
refused 'option --out: "png" is not one of' rays random --out png

# ---- missing options, and options that exclude each other ----
refused '--rays is missing' cast --builtin boxes:3
refused 'the scene is missing' cast --rays rays.npy
refused '--points does not go with --query any or count' cast --builtin boxes:3 --rays r.npy -o o --query any --points
refused '--points does not go with' cast --builtin boxes:3 --rays r.npy -o o --query count --points
refused '--query all writes two files: -o -' cast --builtin boxes:3 --rays r.npy -o - --query all --out npy
refused '--resume wants -o FILE' cast --builtin boxes:3 --rays r.npy --check --resume
refused '--resume wants -o FILE' cast --builtin boxes:3 --rays r.npy -o - --resume
refused '--resume wants -o FILE' cast --builtin boxes:3 --rays r.npy -o /dev/stdout --query all --out csv --resume
refused '-o and --json cannot both go to stdout' cast --builtin boxes:3 --rays r.npy -o - --json -
refused 'the kind of rays is missing' rays
refused '"sun" is not one of camera, lidar, hemisphere, random' rays sun
refused 'unexpected argument "lidar"' rays camera lidar
refused 'camera takes --size WxH, not --count' rays camera --count 3
refused 'random takes --count N, not --size' rays random --size 4x4
for command in "rays camera" "rays hemisphere" "render --builtin boxes:3 -o o.png"; do
  # shellcheck disable=SC2086 # several words
  {
    refused '--from 1,-0.5,0 and --to 1,-0.5,0 are the same point' $command --from 1,-0.5,0 --to 1.0,-.5,0
    refused '--up 0,0,0 has no length' $command --up 0,0,0
  }
done
refused '--t-max 2 is below --t-min 5' cast --builtin boxes:3 --rays r.npy --t-min 5 --t-max 2
refused '--t-max -inf is below --t-min 0' cast --builtin boxes:3 --rays r.npy --t-max -inf --t-min 0

# ---- formats that are not offered ----
for name in o.parquet o.JPG folder.npy/o.h5 o.npy.gz; do
  ending=${name##*.}
  refused "-o $name: $ending files cannot be written, only npy, raw, bin, txt, csv or ply; --out" cast --builtin boxes:3 --rays r.npy -o "$name"
  refused "-o $name: $ending files cannot be written, only npy, raw, bin, txt or csv; --out" rays random -o "$name"
  refused "-o $name: $ending files cannot be written, only npy" join a.npy -o "$name"
done
for name in o.jpg o.npy; do
  refused "-o $name: ${name##*.} files cannot be written, only png" render --builtin boxes:3 -o "$name"
  refused "-o $name: ${name##*.} files cannot be written, only png" demo -o "$name"
done
refused '-o: its value is empty, FILE|- is wanted' cast --builtin boxes:3 --rays r.npy -o ""
refused '--rays: its value is empty, FILE|- is wanted' cast --builtin boxes:3 --rays=
refused '--mesh: its value is empty, FILE is wanted' info --mesh ""
refused '--device: its value is empty, SEL is wanted' info --builtin boxes:3 --device=
refused '--out is the format of -o FILE, which is missing' cast --builtin boxes:3 --rays r.npy --out csv
# Names of other files, or none, are no formats; --out is.
expect_exit 0 slabcast rays random --count 2 -o /dev/null
mkdir a.parquet
for name in o o.2 a.parquet/o .hidden; do
  expect_exit 0 slabcast rays random --count 2 -o "$name"
  head -c 6 "$name" | grep -aq NUMPY || fail "$name is not npy"
done
expect_exit 0 slabcast rays random --count 2 -o o.parquet --out text
expect_exit 0 slabcast rays random --count 2 -o O.CSV
[[ $(wc -l <O.CSV) == 3 ]] || fail "O.CSV is not csv"
rm -r o o.2 a.parquet .hidden o.parquet O.CSV

# ---- names with control characters are printed without them, in every message ----
# escaped NAME SHOWN: every message has SHOWN, and no byte that would control a terminal.
escaped() {
  local name=$1 shown=$2 command
  for command in "" "cast --builtin boxes:3 --rays" "info --mesh" "info --boxes" "join -o o.npy" "rays random" "cast --query" \
    "render --builtin boxes:3 -o nowhere/o.png --shade"; do
    # shellcheck disable=SC2086 # several words
    slabcast $command "$name" 2>err && fail "$command takes such a name: $shown"
    grep -qF -- "$shown" err || fail "$command does not tell $shown: $(cat -v err)"
    LC_ALL=C tr -d '\n' <err | LC_ALL=C grep -q $'[\x01-\x1f\x7f]\|\xc2[\x80-\x9f]\|\xff' && fail "$command tells it raw: $(cat -v err)"
    (($(wc -l <err) <= 3)) || fail "$command: the name makes lines: $(cat err)"
  done
}
escaped $'a\x1b[31mb' 'a\x1b[31mb'
escaped $'a\nslabcast:b' 'a\nslabcast:b'
escaped $'a\rb\tc' 'a\rb\tc'
escaped $'\x07\x7f' '\x07\x7f'
escaped $'a\xc2\x9b31mb' 'a\xc2\x9b31mb'
escaped $'a\xffb\xc3' 'a\xffb\xc3'
escaped $'\xe0\x80\x80\xed\xa0\x80' '\xe0\x80\x80\xed\xa0\x80'
expect_refusal 1 'cannot read größe-数-😀.txt: No such file' slabcast cast --builtin boxes:3 --rays größe-数-😀.txt

# ---- one thing at a time from stdin ----
refused '--mesh - and --rays - cannot both come from stdin' cast --mesh - --rays -
refused '--boxes - and --rays - cannot both come from stdin' cast --rays - --boxes -
refused '--mesh - and --spheres - cannot both come from stdin' info --mesh - --spheres -

for threads in 0 -1 1025 two 1.5 ""; do
  refused "option --threads: \"$threads\" is not a whole number from 1 to 1024" info --builtin boxes:3 --threads "$threads"
done
refused '--quick and --full do not go together' bench --quick --full
refused '--csv and --json cannot both go to stdout' bench --csv - --json -
refused 'option --group: there is no group "trees"' bench --group work,trees
refused 'option --group: there is no group ""' bench --group work,
for seconds in -1 61 nan long; do refused "option --seconds: \"$seconds\" is not a number from 0 to 60" bench --seconds "$seconds"; done
refused 'no shards are named' join -o o.npy
refused '-o FILE is missing' join a.npy
refused '-o is missing' render --builtin boxes:3
refused 'the scene is missing' render -o o.png
refused 'the scene is missing' info
refused 'unexpected argument "more"' devices more
refused 'unexpected argument "more"' cast more
refused 'unexpected argument "--json"' devices -- --json
# A file without its option, in each command that takes one; elsewhere it is no mesh.
for command in cast info render "rays camera" explain; do
  read -ra words <<<"$command"
  refused 'unexpected argument "err"; files stand behind their options: --mesh err' "${words[@]}" err
done
refused 'unexpected argument "err"' devices err
[[ $(<err) != *--mesh* ]] || fail "devices wants a mesh"

[[ -z $(find . -type f ! -name out ! -name err ! -name long) ]] || fail "a refused command left a file"
