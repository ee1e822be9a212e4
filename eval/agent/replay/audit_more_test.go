package replay

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/shell"
)

// In a sandbox there is nothing to find, except a tool that read what does not exist in
// it.
func TestAuditHeld(t *testing.T) {
	for _, r := range table(t) {
		for i := range r.accesses {
			r.accesses[i].Failed = true
		}
		if got, reason := testBounds().audit(true, r.accesses); got != eval.Clean {
			t.Errorf("testdata/audit.txt:%d: %s: %s (%s) in a sandbox", r.line, r.text, got, reason)
		}
	}
	hole := Access{Tool: "Read", Path: "/home/dev/.claude/skills/stones/SKILL.md"}
	if got, reason := testBounds().audit(true, []Access{hole}); got != eval.Tainted || !strings.Contains(reason, "the owner's agent") {
		t.Errorf("a hole in the sandbox: %s (%s)", got, reason)
	}
}

func TestAuditWorst(t *testing.T) {
	list := []Access{{Tool: "Bash", Command: "ls"}, {Tool: "Bash", Command: "./run.sh"}, {Tool: "Bash", Command: "cat /home/dev/shop/a"}, {Tool: "Bash", Command: "cat /home/dev/shop/b"}}
	got, reason := testBounds().audit(false, list)
	if got != eval.Tainted || reason != "read /home/dev/shop/a: the recorded repository" {
		t.Errorf("%s (%s)", got, reason)
	}
	if got, _ := testBounds().audit(false, []Access{{Tool: "Read", Path: "/root/a", Failed: true}}); got != eval.Clean {
		t.Errorf("a file that was not read: %s", got)
	}
	if got, _ := testBounds().audit(false, []Access{{Tool: "Bash", Command: "cat /data/evolve/a; false", Failed: true}}); got != eval.Tainted {
		t.Errorf("a command that failed in the end: %s", got)
	}
	if got, reason := testBounds().audit(false, nil); got != eval.Clean || reason != "" {
		t.Errorf("no access: %s (%s)", got, reason)
	}
}

// The bounds of a real stage: its own skill is clean, the original is not.
func TestStageAudit(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("EVOLVE_HOME", filepath.Join(home, "store"))
	original := tree(t, map[string]string{"SKILL.md": stonesMD, "ref/a.md": "a"})
	secret := t.TempDir()
	repo := t.TempDir()
	ws := tree(t, map[string]string{"a": "a"})
	s := open(t, eval.Task{Variant: stones(t, original), Workspace: ws, Case: &eval.Case{Workspace: &eval.Workspace{Repo: repo}}},
		Layout{Config: ".claude", Forbidden: []string{secret}})
	s.Env(Config{}, "CLAUDE_CONFIG_DIR="+s.Config)
	for _, c := range []struct {
		line string
		want eval.Audit
	}{
		{"cat " + s.Skill + "/SKILL.md", eval.Inconclusive},
		{"cat ~/.claude/skills/stones/ref/a.md $CLAUDE_CONFIG_DIR/skills/stones/SKILL.md", eval.Inconclusive},
		{"cat " + ws + "/a a", eval.Inconclusive},
		{"cat " + original + "/SKILL.md", eval.Tainted},
		{"cat " + home + "/.codex/auth.json", eval.Tainted},
		{"ls " + home + "/store", eval.Tainted},
		{"cat " + secret + "/x", eval.Tainted},
		{"git -C " + repo + " log", eval.Tainted},
	} {
		if got, reason := s.Audit(false, Access{Tool: "Bash", Command: c.line}); got != c.want {
			t.Errorf("%s: %s (%s), want %s", c.line, got, reason, c.want)
		}
	}
}

func TestAccesses(t *testing.T) {
	for _, c := range []struct {
		tool, input string
		want        []Access
	}{
		{"Read", `{"file_path":"a.go","offset":3}`, []Access{{Path: "a.go"}}},
		{"bash", `{"command":"ls","timeout":5}`, []Access{{Command: "ls"}}},
		{"shell", `{"command":["bash","-lc","echo 'x'"],"workdir":"sub"}`, []Access{{Command: `'bash' '-lc' 'echo '\''x'\'''`, Dir: "sub"}}},
		{"Grep", `{"pattern":"/x","path":"src"}`, []Access{{Path: "src", Deep: true}}},
		{"Glob", `{"pattern":"*.go","path":"src/"}`, []Access{{Path: "src/", Deep: true}, {Path: "src/*.go", Glob: true}}},
		{"Grep", `{"pattern":"x"}`, []Access{{Path: "."}}},
		{"view", `{"path":"a","paths":["b","c"]}`, []Access{{Path: "a"}, {Path: "b"}, {Path: "c"}}},
		{"WebSearch", `{"query":"q"}`, []Access{{URL: "q"}}},
		{"file_change", `{"changes":{"b":{},"a":{}}}`, []Access{{Path: "a"}, {Path: "b"}}},
		{"apply_patch", "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch", []Access{{Path: "a"}, {Path: "b"}}},
		{"odd", `{"x":1}`, []Access{{Text: `{"x":1}`}}},
		{"odd", `no JSON`, []Access{{Text: `no JSON`}}},
	} {
		for i := range c.want {
			c.want[i].Tool, c.want[i].Failed = c.tool, true
		}
		if got := Accesses(c.tool, []byte(c.input), true); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s:\n got %+v\nwant %+v", c.tool, c.input, got, c.want)
		}
	}
}

func FuzzCommand(f *testing.F) {
	for _, r := range table(f) {
		if r.accesses[0].Command != "" {
			f.Add(r.accesses[0].Command)
		}
	}
	f.Add("${")
	f.Add("$(($(`\"'\\")
	f.Fuzz(func(t *testing.T, line string) {
		b := testBounds()
		got := b.command(line, b.workspace)
		if got.verdict != eval.Clean && got.reason == "" {
			t.Errorf("%q: %s without a reason", line, got.verdict)
		}
		// A read of what is forbidden is seen behind any line.
		for _, read := range []string{"cat /home/dev/.claude/x", "cat '/home/dev'/.claude/x"} {
			if _, err := shell.Commands(line + "\n\n" + read); err != nil && strings.Contains(read, "'") {
				continue
			}
			if got := b.command(line+"\n\n"+read, b.workspace); got.verdict != eval.Tainted {
				t.Errorf("%q hides a read: %s", line, got.verdict)
			}
		}
	})
}

func FuzzAccesses(f *testing.F) {
	f.Add("Read", []byte(`{"file_path":"a"}`))
	f.Add("x", []byte(`{"changes":[{"path":"a"}],"command":["a",1]}`))
	f.Fuzz(func(t *testing.T, tool string, input []byte) {
		if len(Accesses(tool, input, false)) == 0 {
			t.Errorf("%s %q: no access", tool, input)
		}
	})
}

func BenchmarkAudit(b *testing.B) {
	var all []Access
	for _, r := range table(b) {
		all = append(all, r.accesses...)
	}
	for b.Loop() {
		testBounds().audit(false, all)
	}
}

// What a tool wrote outside of the workspace is gone with the sandbox.
func TestAuditHeldOutside(t *testing.T) {
	for _, a := range Accesses("Write", []byte(`{"file_path":"/app/notes.txt","content":"x"}`), false) {
		if got, reason := testBounds().audit(true, []Access{a}); got != eval.Clean {
			t.Errorf("%s (%s)", got, reason)
		}
		if got, _ := testBounds().audit(false, []Access{a}); got != eval.Tainted {
			t.Errorf("without a sandbox: %s", got)
		}
	}
}
