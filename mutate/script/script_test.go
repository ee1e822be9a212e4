package script

import (
	"strings"
	"testing"
)

const pythonHook = `#!/usr/bin/env python3
"""Stops commands that lose work."""
import json
import os
import re
import subprocess
import sys

PATTERNS = [
    r"git\s+reset\s+--hard",
    r"git\s+push\s+--force",
]
STATE = os.path.join(os.environ.get("HOME", ""), ".state", "log")


def log(text):
    with open(STATE, "a") as f:
        f.write(text + "\n")


# kernel
def block(reason):
    print("Blocked: " + reason, file=sys.stderr)
    sys.exit(2)
# /kernel


def dirty(cwd):
    out = subprocess.run(["git", "status", "--porcelain"], cwd=cwd, capture_output=True, text=True)
    return bool(out.stdout.strip())


def main():
    try:
        data = json.load(sys.stdin)
    except ValueError:
        sys.exit(0)
    command = data.get("tool_input", {}).get("command", "")
    for p in PATTERNS:
        if re.search(p, command):
            if dirty(data.get("cwd")):
                log("blocked")
                block("this loses work")
    sys.exit(0)


if __name__ == "__main__":
    main()
`

const shellHook = `#!/bin/bash
set -euo pipefail
INPUT=$(cat)
COMMAND=$(jq -r '.tool_input.command // ""' <<<"$INPUT")
LOG="$HOME/.state/log"

# kernel
deny() {
  echo "Blocked: $1" >&2
  exit 2
}
# /kernel

is_lossy() {
  local c="$1"
  if echo "$c" | grep -qE 'git +reset +--hard'; then
    return 0
  fi
  return 1
}

if is_lossy "$COMMAND"; then
  if [ -n "$(git status --porcelain)" ]; then
    echo "blocked" >> "$LOG"
    deny "this loses work"
  fi
fi
exit 0
`

const javaScriptHook = `#!/usr/bin/env node
const fs = require("fs");
const { execFileSync } = require("child_process");

const PATTERNS = [/git\s+reset\s+--hard/, /git\s+push\s+--force/];

// kernel
function block(reason) {
  console.error("Blocked: " + reason);
  process.exit(2);
}
// /kernel

function dirty(cwd) {
  const out = execFileSync("git", ["status", "--porcelain"], { cwd, encoding: "utf8" });
  return out.trim() !== "";
}

async function main() {
  const data = JSON.parse(fs.readFileSync(0, "utf8"));
  const command = data.tool_input?.command ?? "";
  for (const p of PATTERNS) {
    if (p.test(command) && dirty(data.cwd)) {
      block("this loses work");
    }
  }
  process.exit(0);
}

main();
`

var hooks = map[Language]string{Python: pythonHook, Shell: shellHook, JavaScript: javaScriptHook}

func check(t *testing.T, parent, candidate string, lang Language) []Finding {
	t.Helper()
	found, err := Check(t.Context(), []byte(parent), []byte(candidate), lang)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// edit is a change of a hook: old is replaced by new once.
type edit struct {
	lang     Language
	old, new string
	rule     string // of a finding that there must be; "" if there may be none
}

func (e edit) apply(t *testing.T) string {
	t.Helper()
	parent := hooks[e.lang]
	if strings.Count(parent, e.old) < 1 {
		t.Fatalf("%q does not stand in the %s hook", e.old, e.lang)
	}
	return strings.Replace(parent, e.old, e.new, 1)
}

func TestHarmless(t *testing.T) {
	t.Parallel()
	for _, e := range []edit{
		{Python, "reset", "checkout", ""},
		{Python, `    r"git\s+push\s+--force",` + "\n", `    r"git\s+push\s+--force",` + "\n" + `    r"rm\s+-rf",` + "\n", ""},
		{Python, `"this loses work"`, `"this loses what you did: commit first"`, ""},
		{Python, "    for p in PATTERNS:\n", "    if command.strip().startswith('echo '):\n        sys.exit(0)\n    for p in PATTERNS:\n", ""},
		{Python, "def main():\n", "def parts(text):\n    return [s.strip() for s in re.split(r'[;&|]+', text) if s]\n\n\ndef main():\n    # commands stand in parts\n", ""},
		{Shell, "reset", "checkout", ""},
		{Shell, "this loses work", "this loses what you did: commit first", ""},
		{Shell, "  return 1\n", "  case \"$c\" in\n    *'git push --force'*) return 0 ;;\n  esac\n  return 1\n", ""},
		{Shell, "if is_lossy", "if [[ \"$COMMAND\" == echo\\ * ]]; then\n  exit 0\nfi\n\nif is_lossy", ""},
		{JavaScript, "reset", "checkout", ""},
		{JavaScript, "push\\s+--force/]", "push\\s+--force/, /rm\\s+-rf/]", ""},
		{JavaScript, "  for (const p", "  if (command.trim().startsWith(\"echo \")) process.exit(0);\n  for (const p", ""},
		{JavaScript, "async function main", "function parts(text) {\n  return text.split(/[;&|]+/).map((s) => s.trim()).filter(Boolean);\n}\n\nasync function main", ""},
	} {
		if found := check(t, hooks[e.lang], e.apply(t), e.lang); len(found) > 0 {
			t.Errorf("%s: %q -> %q:\n%+v", e.lang, e.old, e.new, found)
		}
	}
}

func TestParentPasses(t *testing.T) {
	t.Parallel()
	for lang, h := range hooks {
		if found := check(t, h, h+"\n", lang); len(found) > 0 {
			t.Errorf("%s: %+v", lang, found)
		}
	}
}
