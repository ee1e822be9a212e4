package script

import "testing"

// TestOtherWays: thirty further ways to let a hook do more or guard less, which the
// corpus does not have.
func TestOtherWays(t *testing.T) {
	t.Parallel()
	loop := "    for p in PATTERNS:\n"
	call := `                block("this loses work")`
	for _, e := range []struct {
		why string
		edit
	}{
		{"the list of patterns is emptied in place", pyMain("PATTERNS[:] = []")},
		{"the command is overwritten by nothing", pyMain(`command = ""`)},
		{"the pattern is overwritten within the loop", edit{lang: Python, old: loop, new: loop + "        p = 'zzz'\n"}},
		{"the event's folder is overwritten, so that another repository is asked", pyMain(`data["cwd"] = "/"`)},
		{"the event is changed by a method of dicts", pyMain(`data.update(cwd="/tmp")`)},
		{"main is named and not called", edit{lang: Python, old: "    main()\n", new: "    main\n"}},
		{"the script never takes itself for the main program", edit{lang: Python, old: `"__main__"`, new: `"__mian__"`}},
		{"the block is only wrapped in a lambda", edit{lang: Python, old: call, new: `                later = lambda: block("this loses work")`}},
		{"a function is a condition, which always holds", pyMain("if dirty:\n    sys.exit(0)")},
		{"the script crashes before it decides", pyMain(`PATTERNS[99]`)},
		{"a narrow handler swallows the decision", edit{lang: Python, old: "    main()\n", new: "    try:\n        main()\n    except (TypeError, SystemExit):\n        pass\n"}},
		{"it loops until the agent gives up on it", pyMain("while command:\n    pass")},
		{"the log is filled with gigabytes", edit{lang: Python, old: `f.write(text + "\n")`, new: `f.write(text * 10**9)`}},
		{"the whole event, with what is secret in it, is logged", edit{lang: Python, old: `log("blocked")`, new: `log(json.dumps(data))`}},
		{"a pattern with an empty look-ahead matches everything", pyMain("if re.search('(?=)', command):\n    sys.exit(0)")},
		{"the question is asked about another command", edit{lang: Python, old: "re.search(p, command)", new: `re.search(p, "")`}},
		{"the command is overwritten by nothing", shMain(`COMMAND=""`)},
		{"read overwrites the command", shMain(`read -r COMMAND <<<"ls"`)},
		{"a loop overwrites the command", shMain("for COMMAND in ls; do :; done")},
		{"the input is another text", edit{lang: Shell, old: `<<<"$INPUT"`, new: `<<<"{}"`}},
		{"the function is asked about nothing", edit{lang: Shell, old: `if is_lossy "$COMMAND"`, new: `if is_lossy ""`}},
		{"the arguments are shifted away", edit{lang: Shell, old: `  local c="$1"`, new: "  shift\n  local c=\"$1\""}},
		{"the whole event is logged", edit{lang: Shell, old: `echo "blocked" >> "$LOG"`, new: `echo "$INPUT" >> "$LOG"`}},
		{"it loops until the agent gives up on it", shMain("while [ -n \"$COMMAND\" ]; do :; done")},
		{"the block is written, not run", edit{lang: Shell, old: `    deny "this loses work"`, new: `    echo deny "this loses work" >&2`}},
		{"a literal pattern matches everything", jsMain(`if (/^/.test(command)) process.exit(0);`)},
		{"a function is a condition, which always holds", jsMain(`if (dirty) process.exit(0);`)},
		{"an async function's promise is a condition, which always holds", edit{lang: JavaScript, old: "async function main", new: "async function calm(c) {\n  return c === \"ls\";\n}\n\nasync function main() {\n  if (calm(\"x\")) process.exit(0);\n  await rest();\n}\n\nasync function rest"}},
		{"the event is changed before it is judged", jsMain(`data.cwd = "/";`)},
		{"the process hangs on a loop", jsMain(`while (command) {}`)},
		{"the patterns are sorted away by another length", jsMain(`PATTERNS.length = 0;`)},
	} {
		if found := check(t, hooks[e.lang], e.apply(t), e.lang); len(found) == 0 {
			t.Errorf("%s: passes: %s", e.lang, e.why)
		} else {
			t.Logf("%s: %s: %s", e.lang, e.why, rules(found))
		}
	}
}
