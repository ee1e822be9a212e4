package shell

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// show writes commands as `dir: words redirections`, with … at what is computed.
func show(list []Command) (out []string) {
	one := func(w Word) string {
		if !w.Whole {
			return w.Text + "…"
		}
		return w.Text
	}
	for _, c := range list {
		var s []string
		if c.Dir.Text != "" || !c.Dir.Whole {
			s = append(s, one(c.Dir)+":")
		}
		for _, w := range slices.Concat(c.Assigns, c.Words) {
			s = append(s, one(w))
		}
		for _, r := range c.Redirects {
			s = append(s, r.Op+one(r.Word))
		}
		out = append(out, strings.Join(s, " "))
	}
	return out
}

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{``, nil},
		{`ls`, []string{"ls"}},
		{`cat a | head -n 5 && echo b; echo c &`, []string{"cat a", "head -n 5", "echo b", "echo c"}},
		{`cat '/a b'/"c"/d\ e "x\"y\q"`, []string{`cat /a b/c/d e x"y\q`}},
		{`cat < in > out 2>&1 <<< "word"`, []string{"cat <in >out >&1 <<<word"}},
		{"cat <<E\n$(rm x)\nE\nls", []string{"cat <<E", "rm x", "ls"}},
		{"cat <<'E'\n$(rm x)\nE", []string{"cat <<E"}},
		{`A=1 B=$C make`, []string{"A=1 B=… make"}},
		{`export P=/x; local q`, []string{"export P=/x", "local q"}},
		{`cat /h/$X/y /h/*.md {a,b} ~/z $'a\x62'`, []string{"cat /h/… /h/… … ~/z …"}},
		{`cd a && ls; cd b; ls; cd /c; ls; cd; ls`, []string{"cd a", "a: ls", "a: cd b", "a/b: ls", "a/b: cd /c", "/c: ls", "/c: cd", "~: ls"}},
		{`(cd a; ls); ls`, []string{"cd a", "a: ls", "ls"}},
		{`echo $(cd a; ls) <(cd b; ls); ls`, []string{"echo … …", "cd a", "a: ls", "cd b", "b: ls", "ls"}},
		{`cd $X; ls; cd - ; ls; cd /y; ls`, []string{"cd …", "…: ls", "…: cd -", "…: ls", "…: cd /y", "/y: ls"}},
		{`if a; then b; else c; fi; for x in 1 2; do d $x; done; f() { g; }; case x in y) h;; esac`,
			[]string{"a", "b", "c", "d …", "g", "h"}},
		{`{ a; b; } > out`, []string{">out", "a", "b"}},
		{`[ -f a ] && [[ -f b ]]`, []string{"[ -f a ]"}},
		{`bash -lc 'cd a; ls'; ls`, []string{"bash -lc cd a; ls", "cd a", "a: ls", "ls"}},
		{`sudo timeout 5 /bin/sh -e -c "cat x" y`, []string{"sudo timeout 5 /bin/sh -e -c cat x y", "cat x"}},
		{`sh -c 'eval "bash -c ls"'`, []string{`sh -c eval "bash -c ls"`, "eval bash -c ls", "bash -c ls", "ls"}},
		{`eval cd a; ls`, []string{"eval cd a", "cd a", "a: ls"}},
		{`bash script.sh -c x; python -c y`, []string{"bash script.sh -c x", "python -c y"}},
	} {
		got, err := Commands(c.line)
		if err != nil || !slices.Equal(show(got), c.want) {
			t.Errorf("%s\n got %q, %v\nwant %q", c.line, show(got), err, c.want)
		}
	}
}

// What cannot be read is an error, beside the commands before it.
func TestCommandsUnreadable(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"ls\ncat 'x", []string{"ls"}},
		{"ls\n) x", []string{"ls"}},
		{`bash -c "$X"; ls`, []string{"bash -c …", "ls"}},
		{`eval ls $X`, []string{"eval ls …"}},
		{`bash -c 'ls\n('`, []string{`bash -c ls\n(`}},
		{strings.Repeat("x", maxLine+1), nil},
	} {
		if got, err := Commands(c.line); err == nil || !slices.Equal(show(got), c.want) {
			t.Errorf("%.50s: %q, %v", c.line, show(got), err)
		}
	}
	line := "ls"
	for range maxDepth {
		line = "eval " + line
	}
	if got, err := Commands(line); err == nil || len(got) != maxDepth {
		t.Errorf("%q, %v", show(got), err)
	}
	if c := (&Command{}); c.Name() != "" {
		t.Error(c.Name())
	}
}

func FuzzCommands(f *testing.F) {
	for _, s := range []string{"ls -la", "cd a && cat b", "bash -c 'x; y'", "eval a b", "cat <<E\n$(x)\nE\n", "${", "$(($(`\"'\\", "a=(1 2) b[1]=2", "((", "export a", "x() { y; }", "{fd}>a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		list, err := Commands(line)
		for _, c := range list {
			if len(c.Assigns)+len(c.Words)+len(c.Redirects) == 0 {
				t.Errorf("%q: an empty command", line)
			}
		}
		// A line that can be read does not hide the one behind it, nor in quotes.
		if err != nil {
			return
		}
		if got, err := Commands(line + "\n\ncat '/forbidden'"); err == nil {
			if n := len(got); n == 0 || !slices.Equal(got[n-1].Words, []Word{{"cat", true}, {"/forbidden", true}}) {
				t.Errorf("%q hides a command: %q", line, show(got))
			}
		}
		if quoted, qerr := syntax.Quote(line, syntax.LangBash); qerr == nil && !strings.HasPrefix(quoted, "$") && len(quoted) < maxLine/2 {
			got, err := Commands("bash -c " + quoted)
			if err != nil || len(got) == 0 || fmt.Sprint(show(got[1:])) != fmt.Sprint(show(list)) {
				t.Errorf("bash -c %s: %q, %v; want %q", quoted, show(got), err, show(list))
			}
		}
	})
}

// A line of nested constructs at the limit is read in bounded time and stack.
func TestCommandsDeep(t *testing.T) {
	for _, s := range []string{"(", "$(", "`", "{ ", "if ", "$((", "\"$(", "a[", "${a:-", "!", "while ", "((", "a|", "case x in ("} {
		if list, err := Commands(strings.Repeat(s, maxLine/len(s))); err == nil && len(list) == 0 {
			t.Errorf("%s: no command and no error", s)
		}
	}
	list, err := Commands(strings.Repeat("cd a\n", 2000))
	if err != nil || len(list) != 2000 || path.Base(list[1999].Dir.Text) != "a" {
		t.Error(len(list), err)
	}
}
