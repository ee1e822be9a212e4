package script

import (
	"strings"
	"testing"
)

// inMain puts a statement where the Python and the JavaScript hook decide.
func pyMain(code string) edit {
	return edit{lang: Python, old: "    for p in PATTERNS:\n", new: "    " + strings.ReplaceAll(code, "\n", "\n    ") + "\n    for p in PATTERNS:\n"}
}

func jsMain(code string) edit {
	return edit{lang: JavaScript, old: "  for (const p", new: "  " + code + "\n  for (const p"}
}

func shMain(code string) edit {
	return edit{lang: Shell, old: "if is_lossy", new: code + "\nif is_lossy"}
}

func (e edit) finds(rule string) edit { e.rule = rule; return e }

// TestRules: each rule of each language, with the smallest text that breaks it.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, e := range []edit{
		// What a text may not be.
		{Python, "#!/usr/bin/env python3", "#!/usr/bin/env -S python3 -i", "shebang"},
		{Python, `print("Blocked: "`, `print("blocked: "`, "kernel"},
		{Python, "# kernel\n", "", "kernel"},
		{Python, "# /kernel\n", "# /kernel\n# kernel\n# /kernel\n", "kernel"},
		{Python, "# kernel\n", "\"\"\"\n# kernel\n", "syntax"},
		{Python, "def main():\n", "def main()\n", "syntax"},
		{Python, "this loses work", "this loses \u202ework", "unreadable"},
		{Python, "this loses work", "this loses \u200bwork", "unreadable"},
		{Python, "this loses work", "this loses wo\u0308rk", "unreadable"},
		{Python, "\"\"\"Stops", "# coding: utf-7\n\"\"\"Stops", "unreadable"},
		{Python, "import json\n", "import json" + strings.Repeat("\n", 100), "lines"},
		{Shell, "set -euo", "\x00set -euo", "unreadable"},
		{JavaScript, "main();\n", "main()\n<!-- x\n", "syntax"},
		pyMain("ev\u0430l = 1").finds("look-alike"),
		jsMain(`\u0065val("1");`).finds("look-alike"),

		// New acts.
		pyMain("os.remove('x')").finds("call"),
		pyMain("import socket").finds("import"),
		pyMain("from os import system as s\ns('x')").finds("import"),
		pyMain("subprocess.run(['git', 'push'])").finds("call"),
		pyMain("open('/tmp/x', 'w')").finds("call"),
		pyMain("run = subprocess.run\nrun(['id'])").finds("name"),
		pyMain("os.environ['PATH'] = '.'").finds("write"),
		pyMain("data.get('x').unlink()").finds("method"),
		pyMain("x = os.environ['TOKEN']").finds("name"),
		pyMain("print('x')").finds("output"),
		pyMain("print('x', file=open('/tmp/x', 'w'))").finds("output"),
		pyMain("eval(command)").finds("computed"),
		pyMain("f = eval").finds("computed"),
		pyMain("getattr(os, 'sys' + 'tem')('x')").finds("computed"),
		pyMain("().__class__.__base__").finds("computed"),
		pyMain("[print][0]('x')").finds("computed"),
		pyMain("'{0.__class__}'.format(data)").finds("method"),
		pyMain("sys.exit(1)").finds("exit"),
		pyMain("if command:\n    raise RuntimeError").finds("raise"),
		pyMain("with open(STATE) as f:\n    pass").finds("with"),
		pyMain("global STATE\nSTATE = '/x'").finds("global"),
		pyMain("del PATTERNS[0]").finds("del"),
		pyMain("class A:\n    pass").finds("class"),
		pyMain("@staticmethod\ndef f():\n    return 1").finds("decorator"),
		pyMain("assert command").finds("assert"),
		pyMain("match command:\n    case 'x':\n        pass").finds("construct"),
		pyMain("answer = {'permissionDecision': 'x'}").finds("decision"),
		pyMain("x = 'allow'").finds("decision"),
		shMain("curl -s http://x").finds("call"),
		shMain("git push").finds("call"),
		shMain("$COMMAND").finds("computed"),
		shMain(`eval "$COMMAND"`).finds("computed"),
		shMain("echo x > /tmp/x").finds("redirect"),
		shMain("sleep 1 &").finds("background"),
		shMain("PATH=.").finds("environment"),
		shMain("export X=1").finds("environment"),
		shMain("LD_PRELOAD=x git status --porcelain").finds("environment"),
		shMain("echo $TOKEN").finds("variable"),
		shMain("echo ${!COMMAND}").finds("computed"),
		shMain("echo ${COMMAND@P}").finds("construct"),
		shMain("echo $((COMMAND))").finds("arithmetic"),
		shMain("cat <(echo x)").finds("construct"),
		shMain("for f in *; do :; done").finds("glob"),
		shMain("grep x /etc/passwd").finds("call"),
		shMain("cat").finds("input"),
		shMain("[ -f /tmp/off ] && exit 0").finds("call"),
		shMain("exit 1").finds("exit"),
		shMain("trap 'exit 0' EXIT").finds("call"),
		shMain("set +e").finds("call"),
		shMain("[[ $COMMAND -eq 1 ]]").finds("arithmetic"),
		shMain(`echo '{"permissionDecision": "x"}'`).finds("decision"),
		jsMain(`fs.writeFileSync("/tmp/x", "y");`).finds("call"),
		jsMain(`require("http");`).finds("import"),
		jsMain(`require("ht" + "tp");`).finds("computed"),
		jsMain(`await import("http");`).finds("computed"),
		jsMain(`eval("1");`).finds("computed"),
		jsMain(`new Function("return 1")();`).finds("computed"),
		jsMain(`[]["constr" + "uctor"]("x")();`).finds("computed"),
		jsMain(`[].constructor;`).finds("computed"),
		jsMain(`process.env.TOKEN;`).finds("name"),
		jsMain(`process.env.X = "1";`).finds("write"),
		jsMain(`RegExp.prototype.test = () => false;`).finds("computed"),
		jsMain(`console.log("x");`).finds("output"),
		jsMain(`fetch("http://x");`).finds("call"),
		jsMain(`throw new Error("x");`).finds("raise"),
		jsMain(`class A {}`).finds("class"),
		jsMain(`delete data.cwd;`).finds("construct"),
		jsMain(`const o = { get x() { return 1 } };`).finds("construct"),
		jsMain(`process.exit(1);`).finds("exit"),

		// Guards that no longer guard.
		pyMain("sys.exit(0)").finds("unreachable"),
		pyMain("return").finds("unreachable"),
		pyMain("if True:\n    sys.exit(0)").finds("constant-condition"),
		pyMain("if '' in command:\n    sys.exit(0)").finds("matches-everything"),
		pyMain("if re.search('.*', command):\n    sys.exit(0)").finds("matches-everything"),
		pyMain("if command == command:\n    sys.exit(0)").finds("constant-condition"),
		pyMain("if command or True:\n    sys.exit(0)").finds("constant-condition"),
		pyMain("command and sys.exit(0)").finds("exit"),
		pyMain("dirty = lambda cwd: False").finds("shadow"),
		pyMain("json = None").finds("shadow"),
		pyMain("def dirty(cwd):\n    return False").finds("shadow"),
		{Python, "    return bool(out.stdout.strip())", "    return False", "constant-result"},
		{Python, `                block("this loses work")` + "\n", "", "lost"},
		{Python, "    main()\n", "    try:\n        main()\n    except SystemExit:\n        pass\n", "handler"},
		{Python, "    main()\n", "    try:\n        main()\n    finally:\n        sys.exit(0)\n", "finally"},
		{Python, "PATTERNS = [\n    r\"git\\s+reset\\s+--hard\",\n    r\"git\\s+push\\s+--force\",\n]", "PATTERNS = []", "lost"},
		{Python, "# kernel\n", "if False:\n  pass\n# kernel\n", "constant-condition"},
		shMain("exit 0").finds("unreachable"),
		shMain("if true; then exit 0; fi").finds("constant-condition"),
		shMain("true && exit 0").finds("constant-condition"),
		shMain("case x in *) exit 0 ;; esac").finds("constant-condition"),
		shMain("git() { :; }").finds("shadow"),
		shMain("is_lossy() { return 1; }").finds("shadow"),
		{Shell, "set -euo pipefail\n", "", "lost"},
		{Shell, `if is_lossy "$COMMAND"; then`, `if echo "$COMMAND" | grep -q "."; then exit 0; fi` + "\n" + `if is_lossy "$COMMAND"; then`, "matches-everything"},
		{Shell, `    deny "this loses work"`, `    (deny "this loses work")`, "exit"},
		{Shell, `    deny "this loses work"`, `    deny "this loses work" || true`, "handler"},
		{Shell, `    deny "this loses work"`, `    :`, "lost"},
		jsMain(`process.exit(0);`).finds("unreachable"),
		jsMain(`if (1) process.exit(0);`).finds("constant-condition"),
		jsMain("const block = () => {};").finds("shadow"),
		{JavaScript, `return out.trim() !== "";`, `return false;`, "constant-result"},
		{JavaScript, "// kernel", "const x = `\n// kernel", "syntax"},
	} {
		found := check(t, hooks[e.lang], e.apply(t), e.lang)
		has := false
		for _, f := range found {
			has = has || f.Rule == e.rule
		}
		if !has {
			t.Errorf("%s: %q -> %q: want %s, found %+v", e.lang, e.old, e.new, e.rule, found)
		}
	}
}

// TestInertKernel: the kernel's bytes may be whole and do nothing.
func TestInertKernel(t *testing.T) {
	t.Parallel()
	for _, e := range []edit{
		{JavaScript, "// kernel\n", "const x = `\n// kernel\n", "// /kernel\n|// /kernel\n`;\nconst block = (r) => console.error(r);\n"},
		{Shell, "# kernel\n", ": <<'EOF'\n# kernel\n", "# /kernel\n|# /kernel\nEOF\ndeny() { echo \"$1\" >&2; }\n"},
		{Shell, "# kernel\n", "nothing() {\n# kernel\n", "# /kernel\n|# /kernel\n}\n"},
		{Python, "# kernel\n", "'''\n# kernel\n", "# /kernel\n|# /kernel\n'''\n\n\ndef block(reason):\n    print(reason, file=sys.stderr)\n"},
	} {
		text := e.apply(t)
		from, to, _ := strings.Cut(e.rule, "|")
		text = strings.Replace(text, from, to, 1)
		found := check(t, hooks[e.lang], text, e.lang)
		has := false
		for _, f := range found {
			has = has || f.Rule == "kernel" && f.Kind == Refused
		}
		if !has {
			t.Errorf("%s: %q: found %+v", e.lang, e.new, found)
		}
	}
}
