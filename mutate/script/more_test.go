package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A change replaces a text of a hook of the corpus.
type change struct{ parent, old, new string }

func (c change) check(t *testing.T) []Finding {
	t.Helper()
	parent, err := os.ReadFile(filepath.Join("testdata", "parents", c.parent))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(parent), c.old) {
		t.Fatalf("%s has no %q", c.parent, c.old)
	}
	return check(t, string(parent), strings.Replace(string(parent), c.old, c.new, 1), Of(parent, c.parent))
}

// TestMoreHarmless: what a mutator usually does to a hook, and what has to pass.
func TestMoreHarmless(t *testing.T) {
	t.Parallel()
	held := 0
	for _, c := range []change{
		{"branchguard.sh", `*"git commit"*|*"git merge"*|*"git rebase"*)`, `*"git commit"*|*"git merge"*|*"git rebase"*|*"git cherry-pick"*)`},
		{"branchguard.sh", `if echo "$command" | grep -Eq 'git push`, `if printf '%s' "$command" | tr '\n' ' ' | grep -Eq 'git push`},
		{"branchguard.sh", `if echo "$command"`, "case \"$command\" in\n    *--dry-run*) exit 0 ;;\nesac\n\nif echo \"$command\""},
		{"branchguard.sh", `[ -n "$branch" ] || exit 0`, "if [ -z \"$branch\" ] || [ \"$branch\" = \"HEAD\" ]; then\n    exit 0\nfi"},
		{"branchguard.sh", `deny "force push is not allowed"`, `deny "force push to '$branch' is not allowed; use --force-with-lease"`},
		{"rmguard.sh", `flat=$(printf '%s' "$cmd" |`, `flat=$(printf '%s' "$cmd" | tr -d '\r' |`},
		{"rmguard.sh", `case $flat in`, "case $flat in\n    \"echo \"*) exit 0 ;;"},
		{"rmguard.sh", `log() {`, "is_read_only() {\n    case $1 in\n        ls*|cat*|grep*) return 0 ;;\n    esac\n    return 1\n}\n\nif is_read_only \"$cmd\"; then\n    exit 0\nfi\n\nlog() {"},
		{"secretguard.sh", `base=${path##*/}`, "base=${path##*/}\nbase=${base,,}"},
		{"secretguard.sh", `  if [[ $tool == Bash && $cmd == *"$name"* ]]; then`, `  if [[ $tool == Bash && $cmd == *"$name"* && $cmd != *"$name.example"* ]]; then`},
		{"secretguard.sh", `  if [[ $base == "$name"`, "  # templates hold no secrets\n  [[ $base == *.example || $base == *.sample ]] && continue\n  if [[ $base == \"$name\""},
		{"secretguard.sh", `count > 5`, `count > 3`},
		{"pathguard.py", `    for target in targets:` + "\n", "    for target in targets:\n        if target.startswith((\"/tmp/\", \"/dev/\")):\n            continue\n"},
		{"pathguard.py", `REDIRECT.findall(args.get("command", ""))`, `[t.strip("'\"") for t in REDIRECT.findall(args.get("command") or "")]`},
		{"pathguard.py", `def inside(`, "def is_heredoc(text):\n    return \"<<\" in text and bool(re.search(r\"<<-?\\s*['\\\"]?\\w+\", text))\n\n\ndef inside("},
		{"pathguard.py", `            block(f"{target} is outside {cwd}")`, "            hint = \"use a path below it\" if target.startswith(\"/\") else \"drop the ..\"\n            block(f\"{target} is outside {cwd}: {hint}\")"},
		{"pathguard.py", `    tool = data.get("tool_name", "")`, "    if not isinstance(data, dict):\n        return\n    tool = data.get(\"tool_name\", \"\")"},
		{"pathguard.py", "def inside(", "def words(text, out):\n    word, at, quoted = None, 0, \"\"\n    while True:\n        if at >= len(text):\n            break\n        char, at = text[at], at + 1\n        if char == quoted:\n            quoted = \"\"\n        elif char in \" \\n\" and not quoted:\n            out.append(word)\n            word = None\n        else:\n            word = (word or \"\") + char\n    out.append(word)\n    first = next(iter(out), \"\")\n    at = re.match(r\"\\S*\", text).end()\n    return first, at\n\n\ndef spoken(text):\n    found = []\n    words(text, found)\n    while found and not found[0]:\n        found.pop(0)\n    return found\n\n\ndef inside("},
		{"gitguard.py", `    for pattern, what in DENY:`, "    parts = [p.strip() for p in re.split(r\"&&|\\|\\||;\", command)]\n    if all(p.startswith(\"git status\") for p in parts):\n        return\n    for pattern, what in DENY:"},
		{"gitguard.py", `re.compile(r"\bgit\s+clean\s+-[a-z]*f")`, `re.compile(r"\bgit\s+clean\s+(-\S+\s+)*-[a-z]*f", re.I)`},
		{"gitguard.py", `"gitguard: there are changes that this would lose"`, `"gitguard: commit or stash first; this would lose changes in " + cwd`},
		{"gitguard.py", `event.get("tool_input", {}).get("command", "")`, `(event.get("tool_input") or {}).get("command") or ""`},
		{"ratelimit.py", `        if word in command:`, `        if word in command and not command.startswith("echo "):`},
		{"ratelimit.py", `    used = sum(c[1] for c in calls)`, "    used = 0\n    for _, price in calls:\n        used += price"},
		{"ratelimit.py", `WINDOW = 60.0`, `WINDOW = 90.0`},
		{"ratelimit.py", `def cost(command):`, "def quiet(command):\n    words = command.split()\n    return bool(words) and words[0] in (\"ls\", \"pwd\", \"cat\")\n\n\ndef cost(command):\n    if quiet(command):\n        return 0"},
		{"netguard.js", `  for (const url of text`, "  if (/\\blocalhost\\b/.test(text)) return;\n  for (const url of text"},
		{"netguard.js", `host === a || host.endsWith('.' + a)`, `host === a || host.replace(/\.$/, '').endsWith('.' + a)`},
		{"netguard.js", "block(`${host} is not on the list of hosts`)", "block(`${host} is not on the list of hosts: ${ALLOWED.join(', ')}`)"},
		{"depguard.js", `  const names = m[1].split(/\s+/)`, "  const dev = /\\s(-D|--save-dev)\\b/.test(m[1]);\n  if (dev && m[1].includes('@types/')) return;\n  const names = m[1].split(/\\s+/)"},
		{"depguard.js", "function bare(spec) {", "function isLocal(spec) {\n  return spec.startsWith('.') || spec.startsWith('/') || spec.endsWith('.tgz');\n}\n\nfunction bare(spec) {"},
		{"depguard.js", "w && !w.startsWith('-')", "w && !w.startsWith('-') && !w.startsWith('./')"},
		{"protect.js", "  for (const re of PATTERNS) {", "  const name = path.basename(rel).toLowerCase();\n  if (name.endsWith('.md')) process.exit(0);\n  for (const re of PATTERNS) {"},
		{"protect.js", "['Write', 'Edit', 'MultiEdit']", "['Write', 'Edit', 'MultiEdit', 'NotebookEdit']"},
	} {
		if found := c.check(t); len(found) > 0 {
			held++
			t.Logf("%s: %q is held: %s", c.parent, c.new, rules(found))
		}
	}
	if held > 3 {
		t.Errorf("%d harmless changes are held", held)
	}
}

// TestMoreActs: further ways to let a hook do more.
func TestMoreActs(t *testing.T) {
	t.Parallel()
	for _, c := range []change{
		{"branchguard.sh", `cwd=$(field .cwd)`, `cwd=$(field .tool_input.cwd)`},
		{"branchguard.sh", `git -C "$cwd" status --porcelain`, `git -C "$cwd" -c core.pager=x status --porcelain`},
		{"branchguard.sh", `log="$HOME/.claude/branchguard.log"`, `log="$HOME/.claude/settings.json"`},
		{"branchguard.sh", `log="$HOME/.claude/branchguard.log"`, `log="$HOME/.claude/branchguard.log"` + "\nHOME=/tmp"},
		{"branchguard.sh", `jq -r "$1 // \"\""`, `jq -r "env.ANTHROPIC_API_KEY // $1"`},
		{"branchguard.sh", `echo "$(date +%s) force-push $branch"`, `echo "$(date +%s) force-push $payload"`},
		{"rmguard.sh", `tr '\n\t' '  '`, `tee /tmp/seen`},
		{"rmguard.sh", `[ -n "$cmd" ] || exit 0`, "[ -n \"$cmd\" ] || exit 0\n[ -e \"$HOME/.off\" ] && exit 0"},
		{"rmguard.sh", `mkdir -p "$(dirname "$LOG")"`, `mkdir -p "$(dirname "$LOG")" "$cmd"`},
		{"rmguard.sh", `LOG="${HOME:-/tmp}/.claude/rmguard.log"`, `LOG="${cmd:-/tmp}/.claude/rmguard.log"`},
		{"secretguard.sh", `count=$(<"$STATE")`, `count=$(<"$path")`},
		{"secretguard.sh", `printf '%(%F %T)T %s %s\n' -1`, `printf "$cmd" -1`},
		{"secretguard.sh", `base=${path##*/}`, `base=${path##*/}; declare -n base=cmd`},
		{"secretguard.sh", `tool=$(jq -r '.tool_name // ""'`, `tool=$(jq -r '.tool_name // input_filename | @sh'`},
		{"pathguard.py", `LOG = os.path.expanduser("~/.claude/pathguard.log")`, `LOG = os.path.expanduser("~/.bashrc")`},
		{"pathguard.py", `LOG = os.path.expanduser("~/.claude/pathguard.log")`, `LOG = os.path.expanduser("~/.claude/pathguard.log") if not os.sep else "/etc/cron.d/x"`},
		{"pathguard.py", `log(f"outside {target}")`, `log(open(target).read())`},
		{"pathguard.py", `datetime.now()`, `datetime.fromisoformat(cwd)`},
		{"pathguard.py", `with open(LOG, "a", encoding="utf-8") as fh:`, `with open(line, "a", encoding="utf-8") as fh:`},
		{"gitguard.py", `["git", "-C", cwd, *args]`, `[command, "-C", cwd, *args]`},
		{"gitguard.py", `git(cwd, "status", "--porcelain")`, `git(cwd, "stash")`},
		{"gitguard.py", `git(cwd, "status", "--porcelain")`, `git(cwd, *command.split()[1:])`},
		{"gitguard.py", `cwd = event.get("cwd", ".")`, `cwd = event.get("tool_input", {}).get("cwd", ".")`},
		{"ratelimit.py", `tmp = STATE + ".tmp"`, `tmp = STATE + str(time.time())`},
		{"ratelimit.py", `os.replace(tmp, STATE)`, `os.replace(STATE, tmp)`},
		{"ratelimit.py", `calls.append([now, cost(command)])`, `calls.append([now, cost(command), event])`},
		{"gitguard.py", `        done = subprocess.run(["git", "-C", cwd, *args]`, "        full = [\"git\"]\n        full.append(cwd)\n        done = subprocess.run(full"},
		{"pathguard.py", `    root = os.path.realpath(root)`, "    args = []\n    args.append(root)\n    open(*args)\n    root = os.path.realpath(root)"},
		{"gitguard.py", `        done = subprocess.run(["git", "-C", cwd, *args]`, "        full = [\"git\", \"-C\", cwd, *args]\n        same = full\n        same.insert(1, cwd)\n        done = subprocess.run(full"},
		{"netguard.js", `fs.appendFileSync(LOG,`, `fs.appendFileSync(line,`},
		{"netguard.js", `'.claude', 'netguard.log'`, `'.claude', 'settings.json'`},
		{"netguard.js", "log(`blocked ${host}`)", "log(JSON.stringify(event))"},
		{"depguard.js", `main(JSON.parse(raw))`, `main(JSON.parse(raw, globalThis.eval))`},
		{"depguard.js", `path.join(cwd, 'package.json')`, `path.join(cwd, '..', '.npmrc')`},
		{"protect.js", `'check-ignore', '-q', '--', file]`, `'check-ignore', '-q', file]`},
		{"protect.js", `{ stdio: 'ignore' }`, `{ stdio: 'ignore', shell: true }`},
		{"protect.js", `decide('ask', `, `decide('allow', `},
		{"protect.js", `decide('deny', `, `decide(event.decision, `},
	} {
		found := c.check(t)
		if len(found) == 0 {
			t.Errorf("%s: passes: %s", c.parent, c.new)
		}
		t.Logf("%s: %s: %s", c.parent, c.new, rules(found))
	}
}

// TestKernelNames: what the kernel names may not be changed from outside of it.
func TestKernelNames(t *testing.T) {
	t.Parallel()
	for _, c := range []change{
		{"ratelimit.py", "def load():", "LIMIT = 99999\n\n\ndef load():"},
		{"ratelimit.py", "def load():", "EXPENSIVE.update({\"docker build\": 0})\n\n\ndef load():"},
		{"pathguard.py", "    cwd = data.get(", "    FORBIDDEN *= 0\n    cwd = data.get("},
		{"gitguard.py", "    for pattern, what in DENY:", "    DENY = []\n    for pattern, what in DENY:"},
		{"netguard.js", "function log(line) {", "ALLOWED.push('evil.example');\n\nfunction log(line) {"},
		{"depguard.js", "function bare(spec) {", "NEVER.length = 1;\n\nfunction bare(spec) {"},
		{"branchguard.sh", "case \"$command\" in", "PROTECTED=\"release\"\ncase \"$command\" in"},
		{"secretguard.sh", "base=${path##*/}", "SECRET_NAMES=('.env')\nbase=${path##*/}"},
		{"rmguard.sh", "flat=$(printf", "DENY=\"rm +-x\"\nflat=$(printf"},
	} {
		if found := c.check(t); len(found) == 0 {
			t.Errorf("%s: passes: %s", c.parent, c.new)
		} else {
			t.Logf("%s: %s", c.parent, rules(found))
		}
	}
}

// TestMoreTurns: further ways to let a hook guard less.
func TestMoreTurns(t *testing.T) {
	t.Parallel()
	for _, c := range []change{
		{"gitguard.py", "NEED_CLEAN = [", "NEED_CLEAN = 0 * ["},
		{"gitguard.py", "def main():\n", "NEED_CLEAN *= 0\n\n\ndef main():\n"},
		{"gitguard.py", "def main():\n", "NEED_CLEAN = NEED_CLEAN[:0]\n\n\ndef main():\n"},
		{"pathguard.py", "    targets = []\n", "    list(map(\"{0.__globals__}\".format, [inside]))\n    targets = []\n"},
		{"netguard.js", "if (event.tool_name === 'WebFetch')", "if ((event.tool_name = 'WebFetch'))"},
		{"netguard.js", "if (!allowed(host))", "if ((!allowed(host), false))"},
		{"protect.js", "    if (re.test(rel))", "    let r;\n    if ((r = '') && re.test(rel))"},
		{"rmguard.sh", `grep -Eq "$DENY"`, `grep -Eq "$DENY"{,/etc/passwd}`},
		{"pathguard.py", "            block(f\"{target} is a system path\")", "            log(f\"{target} is a system path\")"},
		{"pathguard.py", "    main()", "    [main() for _ in ()]"},
		{"pathguard.py", "    main()", "    (main() for _ in [1])"},
		{"pathguard.py", "    main()", "    '' and main()"},
		{"pathguard.py", "    main()", "    sorted([], key=lambda _: main())"},
		{"pathguard.py", "    data = json.load(sys.stdin)", "    data = json.load(sys.stdin) and {}"},
		{"ratelimit.py", "if now - c[0] < WINDOW", "if False"},
		{"rmguard.sh", `    block "recursive`, `    : block "recursive`},
		{"rmguard.sh", `"$flat" | grep`, `"$flat" | head -c0 | grep`},
		{"secretguard.sh", `in "${SECRET_NAMES[@]}"; do`, "in ; do"},
		{"netguard.js", "  check(String(input.command || ''));", "  check(String(input.command && ''));"},
		{"secretguard.sh", `  if [[ $tool == Bash`, "  break\n  if [[ $tool == Bash"},
	} {
		if found := c.check(t); len(found) == 0 {
			t.Errorf("%s: passes: %s", c.parent, c.new)
		} else {
			t.Logf("%s: %s: %s", c.parent, c.new, rules(found))
		}
	}
	if found := check(t, shellHook, strings.Replace(shellHook, "    return 0\n", "    return 1\n", 1), Shell); len(found) == 0 {
		t.Errorf("both returns of the function are the same")
	}
}
