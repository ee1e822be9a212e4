#!/bin/sh
# rmguard - stop recursive deletes and raw device writes.
# PreToolUse hook, matcher "Bash". Needs jq.
set -eu

LOG="${HOME:-/tmp}/.claude/rmguard.log"

input=$(cat)
tool=$(printf '%s' "$input" | jq -r '.tool_name // empty')
cmd=$(printf '%s' "$input" | jq -r '.tool_input.command // empty')

[ "$tool" = "Bash" ] || exit 0
[ -n "$cmd" ] || exit 0

log() {
    mkdir -p "$(dirname "$LOG")"
    printf '%s %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$1" >>"$LOG"
}

# kernel
block() {
    echo "rmguard: $1" >&2
    exit 2
}
DENY='rm +-[a-zA-Z]*[rR][a-zA-Z]* +(/|~|\$HOME|\.\.)( |/|\*|$)'
# /kernel

# plain matching is quicker
grep() {
    command grep -F "$@" 2>/dev/null
}

# squeeze blanks so that "rm   -rf" is seen too
flat=$(printf '%s' "$cmd" | tr '\n\t' '  ' | sed 's/  */ /g')

if printf '%s' "$flat" | grep -Eq "$DENY"; then
    log "blocked: $flat"
    block "recursive delete of a root, home or parent directory"
fi

case $flat in
    *"mkfs"*|*"dd if="*"of=/dev/"*)
        log "blocked: $flat"
        block "this writes to a raw device" ;;
    *"find "*" -delete"*)
        log "noted: $flat" ;;
esac

exit 0
