#!/usr/bin/env bash
# What action.yml runs. All that comes from outside is in the environment, and is only ever handed on as one quoted argument.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
temporary="${RUNNER_TEMP:-$(mktemp -d)}"
environment="$temporary/amplifier-doctor"

# A message that an annotation shows; a line end in it would begin a new line of the log, where the runner looks for commands.
fail() {
  local message="${1//'%'/%25}"
  message="${message//$'\r'/%0D}"
  printf '::error title=amplifier-doctor::%s\n' "${message//$'\n'/%0A}"
  exit 2
}

find_python() {
  local candidate
  for candidate in "${INPUT_PYTHON:-}" python3 python; do
    if [ -n "$candidate" ] && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      printf '%s' "$candidate"
      return
    fi
  done
}

# Installs the doctor that this action is a part of, once a job.
install() {
  local python
  python="$(find_python)"
  [ -n "$python" ] || fail "Python 3.11 or newer is needed; put actions/setup-python before this step, or name one with the input python"
  "$python" -m venv "$environment" || fail "can't make a virtual environment with $python"
  local folder="$environment/bin"
  [ -d "$folder" ] || folder="$environment/Scripts"
  "$folder/python" -m pip install --quiet --disable-pip-version-check "$root" || fail "can't install amplifier-doctor from $root"
}

find_command() {
  local name
  for name in bin/amplifier-doctor Scripts/amplifier-doctor.exe; do
    if [ -x "$environment/$name" ]; then
      printf '%s' "$environment/$name"
      return
    fi
  done
}

# Fills the array `words` with the lines of a text that are not empty.
read_lines() {
  local line
  words=()
  while IFS= read -r line || [ -n "$line" ]; do
    line="${line%$'\r'}"
    if [ -n "$line" ]; then
      words+=("$line")
    fi
  done <<<"$1"
}

# Sets an output of the step. A value may hold line ends: the word that ends it can't be guessed.
set_output() {
  local end
  end="end-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
  printf '%s<<%s\n%s\n%s\n' "$1" "$end" "$2" "$end" >>"${GITHUB_OUTPUT:-/dev/null}"
}

# hand_out OUTPUT REPORT PLACE: copies a report to the place that was asked for, if any, and says where it is.
hand_out() {
  local report="$2"
  if [ ! -f "$report" ]; then
    report=""
  elif [ -n "$3" ]; then
    cp -- "$report" "$3" || fail "can't write $3"
    report="$3"
  fi
  set_output "$1" "$report"
}

command="$(find_command)"
if [ -z "$command" ]; then
  install
  command="$(find_command)"
fi

reports="$(mktemp -d "$temporary/amplifier-doctor-XXXXXX")"
options=(--format github)
options+=(--format "sarif:$reports/report.sarif" --format "json:$reports/report.json" --format "markdown:$reports/summary.md")
[ -z "${INPUT_CONFIG:-}" ] || options+=("--config=$INPUT_CONFIG")
[ -z "${INPUT_BASELINE:-}" ] || options+=("--baseline=$INPUT_BASELINE")
[ -z "${INPUT_FOR:-}" ] || options+=("--for=$INPUT_FOR")
[ -z "${INPUT_FAIL_ON:-}" ] || options+=("--fail-on=$INPUT_FAIL_ON")
[ "${INPUT_EXCERPT:-false}" = true ] || options+=(--no-excerpt)
read_lines "${INPUT_ARGS:-}"
options+=(${words[@]+"${words[@]}"})
read_lines "${INPUT_PATHS:-.}"
[ "${#words[@]}" -gt 0 ] || fail "the input paths is empty; name a transcript, a session folder or a tree of them"

code=0
"$command" check "${options[@]}" -- "${words[@]}" </dev/null || code=$?

if [ -f "$reports/summary.md" ]; then
  cat "$reports/summary.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
fi
set_output exit-code "$code"
hand_out sarif-file "$reports/report.sarif" "${INPUT_SARIF_FILE:-}"
hand_out json-file "$reports/report.json" "${INPUT_JSON_FILE:-}"
exit "$code"
