package script

import (
	"strings"
	"testing"
)

// A flow is a script in which a value reaches an act by a detour, and a change of that
// value.
type flow struct {
	lang           Language
	why            string
	text, old, new string
}

// TestFlows: what an act is given is followed to where it comes from.
func TestFlows(t *testing.T) {
	t.Parallel()
	for _, f := range []flow{
		{Python, "starred arguments", "import os\n\n\ndef put(text, path):\n    os.mkdir(path)\n\n\nput('a', '/tmp/a')\nx = ['b', '/tmp/b']\nlen(x)\n", "len(x)", "put(*x)"},
		{Python, "the second of the rest", "import subprocess\n\n\ndef git(*args):\n    subprocess.run(['git', *args])\n\n\ngit('status', '--short')\n", "'--short'", "'--ignored'"},
		{Python, "keywords by a dict", "import os\n\n\ndef put(text='', path='/tmp/a'):\n    os.mkdir(path)\n\n\nput('a')\nx = {'path': '/tmp/b'}\nlen(x)\n", "len(x)", "put(**x)"},
		{Python, "a lambda's parameter", "import os\nA = ['/tmp/a']\nB = ['/tmp/b']\nlist(map(lambda p: os.mkdir(p), A))\nlen(B)\n", "os.mkdir(p), A)", "os.mkdir(p), B)"},
		{Python, "a function as a value", "import os\nA = ['/tmp/a']\nB = ['/tmp/b']\n\n\ndef put(p):\n    os.mkdir(p)\n\n\nlist(map(put, A))\nlen(B)\n", "map(put, A)", "map(put, B)"},
		{Python, "a handle's method", "import requests\ns = requests.Session()\ns.get('http://a.example')\n", "a.example", "b.example"},
		{Python, "a slice", "import os\nx = ['a', 'b']\nos.mkdir(x[1:][0])\n", "x[1:]", "x[:1]"},
		{Python, "a value within a value", "import subprocess\nx = {'a': ['git', 'status']}\nx['a'].append('-s')\nsubprocess.run(x['a'])\n", "'-s'", "'-v'"},
		{Python, "a variable by unpacking", "import os\na, b = '/tmp/a', '/tmp/b'\nos.mkdir(a)\n", "a, b =", "b, a ="},
		{Python, "a default", "import os\n\n\ndef put(p='/tmp/a'):\n    os.mkdir(p)\n\n\nput()\n", "'/tmp/a'", "'/tmp/b'"},
		{Python, "a name in another scope", "import os\np = '/tmp/a'\n\n\ndef put():\n    os.mkdir(p)\n\n\nput()\n", "p = '/tmp/a'", "p = '/tmp/b'"},
		{JavaScript, "a callback's parameter", "const fs = require('fs');\nconst a = ['/tmp/a'], b = ['/tmp/b'];\na.forEach((p) => fs.mkdirSync(p));\nb.map((p) => p);\n", "a.forEach", "b.forEach"},
		{JavaScript, "a rest parameter", "const { execFileSync } = require('child_process');\nfunction git(...args) { execFileSync('git', args); }\ngit('status', '--short');\n", "'--short'", "'--ignored'"},
		{JavaScript, "a handle's method", "const { DatabaseSync } = require('node:sqlite');\nconst db = new DatabaseSync('/tmp/a');\ndb.exec('SELECT 1');\n", "SELECT 1", "DROP TABLE x"},
		{JavaScript, "an option of an object", "const { execFileSync } = require('child_process');\nconst o = { cwd: '/' };\no.cwd = '/tmp';\nexecFileSync('git', [], o);\n", "'/tmp'", "'/home'"},
		{JavaScript, "an option under a new key", "const { execFileSync } = require('child_process');\nconst o = { cwd: '/' };\nexecFileSync('git', [], o);\n", "execFileSync('git'", "o.shell = true;\nexecFileSync('git'"},
		{JavaScript, "destructured parameters", "const fs = require('fs');\nfunction put({ p }) { fs.mkdirSync(p); }\nput({ p: '/tmp/a' });\n", "/tmp/a", "/tmp/b"},
		{JavaScript, "a promise's value", "const fs = require('fs');\nPromise.resolve('/tmp/a').then((p) => fs.mkdirSync(p));\n", "/tmp/a", "/tmp/b"},
		{Shell, "all arguments", "run() { git \"$@\"; }\nrun status\n", "run status", "run push"},
		{Shell, "all arguments in a loop", "run() { for x; do git \"$x\"; done; }\nrun status\n", "run status", "run push"},
		{Shell, "the second argument after a shift", "run() { shift; git \"$1\"; }\nrun a status\n", "a status", "a push"},
		{Shell, "a slice of the arguments", "run() { git \"${@:2}\"; }\nrun a status\n", "a status", "a push"},
		{Shell, "code on stdin", "python3 - <<'EOF'\nprint(1)\nEOF\n", "print(1)", "print(2)"},
		{Shell, "code by a pipe", "echo id | sh\n", "echo id", "echo ls"},
		{Shell, "code by a pipe from a variable", "x=id\necho \"$x\" | sh\n", "x=id", "x=ls"},
		{Shell, "code by a pipe into a function", "run() { sh; }\necho id | run\n", "echo id", "echo ls"},
		{Shell, "an exported variable", "export MODE=a\ngit status\n", "git status", "MODE=b\ngit status"},
		{Shell, "an element of an array", "a=(git status)\na[1]=log\n\"${a[@]}\"\n", "log", "push"},
		{Shell, "a default of a variable", "x=${Y:-status}\ngit \"$x\"\n", "status", "push"},
		{Shell, "printf into a variable", "x=$(printf '%s' status)\ngit \"$x\"\n", "status", "push"},
		{Shell, "read from a text", "read -r x <<<status\ngit \"$x\"\n", "status", "push"},
		{Shell, "a function's output", "which() { echo status; }\nx=$(which)\ngit \"$x\"\n", "echo status", "echo push"},
	} {
		candidate := strings.Replace(f.text, f.old, f.new, 1)
		if candidate == f.text {
			t.Fatalf("%s: nothing changes", f.why)
		}
		if found := check(t, f.text, candidate, f.lang); len(found) == 0 {
			t.Errorf("%s: passes: %s", f.lang, f.why)
		}
	}
}
