#!/bin/sh
# branchguard: no commits or pushes while on a protected branch.
# Works with the Bash tool only.

log="$HOME/.claude/branchguard.log"
payload=$(cat)

field() {
    printf '%s' "$payload" | jq -r "$1 // \"\""
}

# kernel
PROTECTED="main master release"
deny() {
    printf 'branchguard: %s\n' "$1" >&2
    exit 2
}
# /kernel

if [ "$(field .tool_name)" != "Bash" ]; then
    exit 0
fi

command=$(field .tool_input.command)
cwd=$(field .cwd)
[ -d "$cwd" ] || exit 0

# some repositories pin their own git
if [ -f "$cwd/.tool-path" ]; then
    IFS= read -r PATH <"$cwd/.tool-path"
fi
branch=$(git -C "$cwd" rev-parse --abbrev-ref HEAD 2>/dev/null)
[ -n "$branch" ] || exit 0
dirty=$(git -C "$cwd" status --porcelain 2>/dev/null | wc -l)

case "$command" in
    *"git commit"*|*"git merge"*|*"git rebase"*)
        for p in $PROTECTED; do
            if [ "$branch" = "$p" ]; then
                echo "$(date +%s) deny $branch dirty=$dirty" >>"$log"
                deny "you are on '$branch'; make a branch first"
            fi
        done
        ;;
esac

if echo "$command" | grep -Eq 'git push.*(--force|-f)( |$)'; then
    echo "$(date +%s) force-push $branch" >>"$log"
    deny "force push is not allowed"
fi

exit 0
