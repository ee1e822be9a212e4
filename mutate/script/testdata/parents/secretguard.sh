#!/usr/bin/env bash
# secretguard: keep secret files out of Read/Edit/Write/Bash.
# After five refusals in a day it says so to the user.

STATE_DIR="${HOME}/.claude/secretguard"
STATE="${STATE_DIR}/count-$(date +%Y%m%d)"
LOG="${STATE_DIR}/guard.log"
mkdir -p "$STATE_DIR"

json=$(cat)
tool=$(jq -r '.tool_name // ""' <<<"$json")
path=$(jq -r '.tool_input.file_path // ""' <<<"$json")
cmd=$(jq -r '.tool_input.command // ""' <<<"$json")

# kernel
SECRET_NAMES=('.env' 'id_rsa' 'id_ed25519' 'credentials.json' '.netrc')
refuse() {
  echo "secretguard: $1" >&2
  exit 2
}
# /kernel

bump() {
  local count=0
  [[ -f $STATE ]] && count=$(<"$STATE")
  [[ $count =~ ^[0-9]+$ ]] || count=0
  count=$((count + 1))
  echo "$count" >"$STATE"
  if ((count > 5)); then
    echo "secretguard: $count refusals today" >&2
  fi
}

note() {
  printf '%(%F %T)T %s %s\n' -1 "$tool" "$1" >>"$LOG"
}

base=${path##*/}
for name in "${SECRET_NAMES[@]}"; do
  if [[ $base == "$name" || $base == "$name".* ]]; then
    note "$path"
    bump
    refuse "'$base' holds secrets"
  fi
  if [[ $tool == Bash && $cmd == *"$name"* ]]; then
    note "$cmd"
    bump
    refuse "the command names '$name'"
  fi
done

exit 0
