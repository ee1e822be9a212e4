package script

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// seed adds the hooks of a language, and all that the corpora have in it.
func seed(f *testing.F, lang Language, exts ...string) {
	f.Add([]byte(hooks[lang]))
	for _, ext := range exts {
		files, err := filepath.Glob("testdata/*/*" + ext)
		if err != nil || len(files) == 0 {
			f.Fatalf("no seeds *%s: %v", ext, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
}

// same requires that a text has nothing that itself does not have.
func same(t *testing.T, text []byte, lang Language) {
	if len(text) > maxBytes || len(checkText(text, text)) > 0 {
		return
	}
	if _, err := Kernel(text, lang); err != nil {
		return
	}
	found, err := checkCode(t.Context(), text, text, lang)
	if err == nil && len(found) > 0 {
		t.Errorf("%q differs from itself: %+v", text, found)
	}
}

func FuzzShell(f *testing.F) {
	seed(f, Shell, ".sh")
	f.Add([]byte("a=() b=(x) a[1]= ${a[@]} $((a+1)) [[ a =~ b ]] <<<x 2>&1 |& cat <(x) &"))
	f.Fuzz(func(t *testing.T, text []byte) { same(t, text, Shell) })
}

func FuzzJavaScript(f *testing.F) {
	seed(f, JavaScript, ".js")
	f.Add([]byte("const {a = 1, b: [c, ...d], ...e} = x ?? (() => ({}))(); for await (const q of z) y[q]?.(`${q}`); export default class { #p; static {} }"))
	f.Fuzz(func(t *testing.T, text []byte) { same(t, text, JavaScript) })
}

// FuzzPython has few seeds: each text is a process.
func FuzzPython(f *testing.F) {
	f.Add([]byte(pythonHook))
	f.Add([]byte("async def f(*, a: int = 1, **k): return [x async for x in (yield)]\nwith a as (b, *c), d: del b[1:2]\ntry: pass\nexcept* A: pass\n"))
	f.Add([]byte("match x:\n    case {'a': [1, *_]}: pass\ntype X = int\nx: int\nprint(f'{x!r:>{y}}', *a, **b) if (n := 1) < 2 else ..."))
	f.Fuzz(func(t *testing.T, text []byte) { same(t, text, Python) })
}

// FuzzKernel: the spans are in order, do not overlap, begin and end at line ends, and a
// text whose kernels are cut out has none.
func FuzzKernel(f *testing.F) {
	for lang, h := range hooks {
		f.Add([]byte(h), string(lang))
	}
	f.Add([]byte("#!x\n# kernel\n# /kernel\n#  KERNEL \n#/kernel"), "sh")
	f.Fuzz(func(t *testing.T, text []byte, language string) {
		lang := Language(language)
		spans, err := Kernel(text, lang)
		if err != nil {
			return
		}
		var rest []byte
		at := 0
		for _, s := range spans {
			if s.Start < at || s.End <= s.Start || s.End > len(text) || s.Start > 0 && text[s.Start-1] != '\n' || s.End < len(text) && text[s.End-1] != '\n' {
				t.Fatalf("%q: spans %v", text, spans)
			}
			rest = append(rest, text[at:s.Start]...)
			at = s.End
		}
		rest = append(rest, text[at:]...)
		if left, err := Kernel(rest, lang); err != nil || len(left) > 0 && !bytes.HasPrefix(rest, []byte("#!")) {
			t.Fatalf("%q without its kernels has %v, %v", text, left, err)
		}
		if bad := checkKernel(text, text, spans, lang); len(bad) > 0 {
			t.Fatalf("%q: %v", text, bad)
		}
	})
}

// TestRenamed: what a local variable is called and in which order patterns are listed
// makes no difference.
func TestRenamed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := "my_" + rapid.StringMatching(`[a-z]{1,8}_[a-z0-9]{1,6}`).Draw(t, "name")
		var patterns []string
		for i, p := range rapid.Permutation([]string{"rm +-rf", "git +reset", "git +push +-f", "mkfs"}).Draw(t, "order") {
			if i < rapid.IntRange(1, 4).Draw(t, "patterns") {
				patterns = append(patterns, p)
			}
		}
		js := strings.ReplaceAll(javaScriptHook, "command", name)
		js = strings.Replace(js, `/git\s+reset\s+--hard/, /git\s+push\s+--force/`, "/"+strings.Join(patterns, "/, /")+"/", 1)
		js = strings.Replace(js, "tool_input?."+name, "tool_input?.command", 1)
		sh := strings.ReplaceAll(shellHook, "COMMAND", strings.ToUpper(name))
		sh = strings.ReplaceAll(sh, "local c=", "local "+name+"=")
		sh = strings.ReplaceAll(sh, `"$c"`, `"$`+name+`"`)
		sh = strings.Replace(sh, "git +reset +--hard", strings.Join(patterns, "|"), 1)
		for lang, candidate := range map[Language]string{JavaScript: js, Shell: sh} {
			found, err := Check(t.Context(), []byte(hooks[lang]), []byte(candidate), lang)
			if err != nil || len(found) > 0 {
				t.Fatalf("%s: %v %+v\n%s", lang, err, found, candidate)
			}
		}
	})
}

// TestRenamedPython is the same with a few names: each is a process.
func TestRenamedPython(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"text", "what_is_run", "_c"} {
		lines := strings.Split(strings.ReplaceAll(pythonHook, "command", name), "\n")
		for i, l := range lines {
			lines[i] = strings.ReplaceAll(l, `"`+name+`"`, `"command"`)
		}
		i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "reset") })
		lines[i], lines[i+1] = lines[i+1], lines[i]
		if found := check(t, pythonHook, strings.Join(lines, "\n"), Python); len(found) > 0 {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// TestSmallAndDeep: a few lines from which much follows are read as fast as others; a
// walk without a memory would not end.
func TestSmallAndDeep(t *testing.T) {
	t.Parallel()
	var sh, js strings.Builder
	sh.WriteString("v0=$(cat)\nf0() { exit 0; }\n")
	js.WriteString("let v0 = 1;\nfunction f0() { return [v0]; }\nfunction e0() { process.exit(0); }\n")
	for i := range 45 {
		n, m := strconv.Itoa(i), strconv.Itoa(i+1)
		sh.WriteString("v" + m + "=$((v" + n + "+v" + n + "))\nf" + m + "() { if $x; then f" + n + "; else f" + n + "; fi; }\n")
		js.WriteString("const v" + m + " = v" + n + " + v" + n + "; function f" + m + "(a) { return f" + n + "(v" + m + ").concat(f" + n + "(a)); } function e" + m + "() { if (v0) e" + n + "(); else e" + n + "(); }\n")
	}
	sh.WriteString("f45\necho $v45\n")
	js.WriteString("e45(); f45(v45).push(v45); if (v45) process.exit(0);\n")
	same(t, []byte(sh.String()), Shell)
	same(t, []byte(js.String()), JavaScript)
	same(t, []byte("x = "+strings.Repeat("(", 900)+"1"+strings.Repeat(")", 900)+"\n"), JavaScript)
	same(t, []byte(strings.Repeat("$(", 900)+"x"+strings.Repeat(")", 900)+"\n"), Shell)
	same(t, []byte("x = "+strings.Repeat("-", 5000)+"1\n"), Python)
}
