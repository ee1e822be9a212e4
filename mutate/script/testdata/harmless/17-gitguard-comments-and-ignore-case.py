#!/usr/bin/env python3
#
# gitguard - destructive git commands need a clean tree and a side branch
#
import json
import re
import subprocess
import sys

# kernel
DENY = [
    (r"\bgit\s+push\b.*\s(-f|--force)\b", "force push"),
    (r"\bgit\s+filter-branch\b", "history rewrite"),
    (r"\bgit\s+reflog\s+expire\b", "reflog expiry"),
]


def emit(decision, reason):
    out = {"hookSpecificOutput": {"hookEventName": "PreToolUse",
                                  "permissionDecision": decision,
                                  "permissionDecisionReason": reason}}
    print(json.dumps(out))
    sys.exit(0)
# /kernel


NEED_CLEAN = [
    # the index and the tree are both lost here
    re.compile(r"\bgit\s+reset\s+--hard\b", re.IGNORECASE),
    re.compile(r"\bgit\s+clean\s+-[a-z]*f"),
    re.compile(r"\bgit\s+checkout\s+(--\s+)?\.(\s|$)"),
]


def git(cwd, *args):
    try:
        done = subprocess.run(["git", "-C", cwd, *args], capture_output=True,
                              text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def main():
    event = json.load(sys.stdin)
    if event.get("tool_name") != "Bash":
        return
    command = event.get("tool_input", {}).get("command", "")
    cwd = event.get("cwd", ".")
    for pattern, what in DENY:
        if re.search(pattern, command):
            emit("deny", "gitguard: %s is not allowed" % what)
    for pattern in NEED_CLEAN:
        if pattern.search(command) and git(cwd, "status", "--porcelain"):
            emit("ask", "gitguard: there are changes that this would lose")


main()
