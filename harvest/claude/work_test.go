package claude_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/redact/planted"
	"github.com/skill-evolve/evolve/harvest/work"
)

// kept reads lines with that much of the agent's work.
func kept(t *testing.T, level work.Level, lines ...string) *harvest.Session {
	t.Helper()
	s, problems, err := claude.Kind.Read(context.Background(), strings.NewReader(strings.Join(lines, "\n")+"\n"), "s1.jsonl", harvest.Options{Moments: level})
	if err != nil || s == nil || len(problems) > 0 {
		t.Fatal(s, problems, err)
	}
	return s
}

const refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). "

func object(fields ...string) string {
	m := map[string]string{}
	for i := 0; i < len(fields); i += 2 {
		m[fields[i]] = fields[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestWork(t *testing.T) {
	bash := func(use, line string) string { return called("m"+use, "Bash", use, object("command", line)) }
	elsewhere := func(line string) string {
		return strings.Replace(line, `"cwd":"/home/dev/project"`, `"cwd":"/home/dev/project/web"`, 1)
	}
	lines := []string{
		typed("p1", "u1", "fix it"),
		bash("b1", "go test ./..."), resulted("b1", "Exit code 2\nFAIL", true),
		bash("b2", "make"), resulted("b2", "ok", false),
		bash("b3", "grep x y"), strings.Replace(resulted("b3", "", false), `"toolUseResult":{}`, `"toolUseResult":{"stdout":"","returnCodeInterpretation":"No matches found"}`, 1),
		bash("b4", "serve"), strings.Replace(resulted("b4", "", false), `"toolUseResult":{}`, `"toolUseResult":{"backgroundTaskId":"b_1"}`, 1),
		bash("b5", "sleep 9"), resulted("b5", "Error: it took too long", true),
		bash("b6", "never"), resulted("b6", "<tool_use_error>Sibling tool call errored</tool_use_error>", true),
		bash("b7", "never"), resulted("b7", "Permission to use Bash has been denied because …", true),
		elsewhere(bash("b8", "npm run test:ci")), elsewhere(resulted("b8", "Error: Exit code 1\nbad", true)),
		bash("b9", "rm -rf build"), resulted("b9", refusal+"To tell you how to proceed, the user said:\nkeep the build, please", true),
		bash("b10", "git push"), resulted("b10", refusal+"STOP what you are doing and wait for the user to tell you how to proceed.", true),
		called("m1", "ExitPlanMode", "e1", `{"plan":"x"}`), resulted("e1", refusal+"To tell you how to proceed, the user said:\nThe user wants to clarify these questions.\nx", true),
		typed("p2", "u2", "now the rest"),
		called("m2", "Edit", "c1", object("file_path", "/home/dev/project/a.go", "old_string", "one\ntwo\nthree", "new_string", "one\n2\nthree\nfour")), resulted("c1", "ok", false),
		called("m3", "Edit", "c2", object("file_path", "/home/dev/project/a.go", "old_string", "one", "new_string", "never")), resulted("c2", "<tool_use_error>String to replace not found", true),
		called("m4", "Write", "c3", object("file_path", "/home/dev/project/new/b.txt", "content", "x\ny\n")), resulted("c3", "ok", false),
		called("m5", "MultiEdit", "c4", `{"file_path":"/home/dev/project/c.py","edits":[{"old_string":"a","new_string":"b"},{"old_string":"","new_string":"c\nd"}]}`), resulted("c4", "ok", false),
		called("m6", "NotebookEdit", "c5", object("notebook_path", "/home/dev/project/n.ipynb", "new_source", "print(1)")), resulted("c5", "ok", false),
		called("m7", "Write", "c6", object("file_path", "/home/dev/other/b.txt", "content", "x")), resulted("c6", "ok", false),
		called("m8", "Write", "c7", object("file_path", "/home/dev/project/.env.local", "content", "x")), resulted("c7", "ok", false),
		called("m9", "Edit", "c8", object("file_path", "/home/dev/project/a.go", "old_string", "x", "new_string", "y")), resulted("c8", refusal+"To tell you how to proceed, the user said:\nno", true),
		said("m10", "Done."),
	}
	status := func(n int) *int { return &n }
	commands := []work.Act{
		{Kind: work.Ran, Line: "go test ./...", Exit: status(2), Tests: "go test"},
		{Kind: work.Ran, Line: "make", Exit: status(0)},
		{Kind: work.Ran, Line: "grep x y", Exit: status(1)},
		{Kind: work.Ran, Line: "serve"},
		{Kind: work.Ran, Line: "sleep 9", Exit: status(work.Unknown)},
		{Kind: work.Ran, Line: "cd /home/dev/project/web && npm run test:ci", Exit: status(1), Tests: "npm run test"},
		{Kind: work.Refused, Line: "rm -rf build", Tool: "Bash", Said: "keep the build, please"},
		{Kind: work.Refused, Line: "git push", Tool: "Bash"},
	}
	changes := []work.Act{
		{Kind: work.Changed, File: "a.go", Added: "2\nfour", Removed: "two"},
		{Kind: work.Changed, File: "new/b.txt", Added: "x\ny"},
		{Kind: work.Changed, File: "c.py", Added: "b\nc\nd", Removed: "a"},
		{Kind: work.Changed, File: "n.ipynb", Added: "print(1)"},
		{Kind: work.Refused, File: "a.go", Tool: "Edit", Said: "no"},
	}
	show := func(acts []work.Act) string {
		var b strings.Builder
		for _, a := range acts {
			line, _ := json.Marshal(a)
			fmt.Fprintf(&b, "%s\n", line)
		}
		return b.String()
	}
	for level, want := range map[work.Level][2][]work.Act{
		work.All:      {append(commands[:len(commands):len(commands)], work.Act{Kind: work.Refused, Tool: "ExitPlanMode"}), changes},
		work.Commands: {commands, nil},
		work.Off:      {},
	} {
		s := kept(t, level, lines...)
		for i, acts := range want {
			if got := s.Turns[i].Work; !reflect.DeepEqual(got, acts) {
				t.Errorf("level %d, turn %d:\n%swant\n%s", level, i, show(got), show(acts))
			}
		}
	}
}

// TestAutoMemory: of what is outside the repository the memory of the session's own project is
// kept, Markdown alone, as the redactor leaves it.
func TestAutoMemory(t *testing.T) {
	temp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo := filepath.Join(temp, "shop")
	inner := filepath.Join(repo, "web")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "-C", repo, "init", "-q").CombinedOutput(); err != nil {
		t.Skipf("git: %v: %s", err, out)
	}
	slug := func(dir string) string { return regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(dir, "-") }
	const projects = "/home/dev/.claude/projects/"
	own, top := projects+slug(inner), projects+slug(repo)
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	for file, want := range map[string]string{
		own + "/memory/MEMORY.md": "~memory/MEMORY.md", top + "/memory/feedback_scales.md": "~memory/feedback_scales.md",
		own + "/x/../memory/a.md": "~memory/a.md", filepath.Join(inner, "memory/a.md"): "memory/a.md", filepath.Join(repo, "a.md"): "../a.md",
		own + "/memory/a.txt": "", own + "/memory/sub/a.md": "", own + "/memory/../a.md": "", own + "/memory/credentials.md": "", own + "/s1/memory/a.md": "",
		projects + "-home-dev-other/memory/MEMORY.md": "", projects + slug(filepath.Dir(repo)) + "/memory/a.md": "", "/home/dev/.claude/CLAUDE.md": "",
		"/srv/.claude/projects/" + slug(inner) + "/memory/a.md": "", "~/.claude/projects/" + slug(inner) + "/memory/a.md": "", own + "/memory/" + secret + ".md": "",
	} {
		for _, transcript := range []string{own + "/s1.jsonl", own + "/s1/subagents/agent-a.jsonl"} {
			lines := strings.Join([]string{typed("p1", "u1", "remember it"), called("m1", "Write", "c1", object("file_path", file, "content", "Use a log scale.\nThe key is "+secret)), resulted("c1", "ok", false), said("m2", "Done.")}, "\n")
			s, _, err := claude.Kind.Read(context.Background(), strings.NewReader(strings.ReplaceAll(lines, `"cwd":"/home/dev/project"`, `"cwd":"`+inner+`"`)), transcript, harvest.Options{Moments: work.All})
			if err != nil || s == nil {
				t.Fatal(s, err)
			}
			got, all := "", fmt.Sprintf("%+v", s.Turns[0].Work)
			for _, a := range s.Turns[0].Work {
				got = a.File
			}
			if got != want || strings.Contains(all, secret) || strings.Contains(all, "log scale") != (want != "") {
				t.Errorf("%s in %s is kept as %s, want %q", file, transcript, all, want)
			}
		}
	}
}

// TestNotAllowed: of a session that must not be read, nothing is prepared.
func TestNotAllowed(t *testing.T) {
	lines := []string{typed("p1", "u1", "fix it"), called("m1", "Bash", "b1", object("command", "ls"))}
	s, _, err := claude.Kind.Read(context.Background(), strings.NewReader(strings.Join(lines, "\n")), "s1.jsonl",
		harvest.Options{Moments: work.All, Allowed: func([]string) bool { return false }})
	if err != nil || s == nil || s.Turns[0].Work != nil {
		t.Error(s, err)
	}
}

// TestWorkForgets: what another text of the session shows to be a secret is hidden in what
// the agent did, and of a file with it in its path nothing is kept.
func TestWorkForgets(t *testing.T) {
	secret := "correct" + "horse-9" + "battery"
	lines := []string{called("m1", "Bash", "b1", object("command", "deploy --to "+secret+" now")), resulted("b1", "", false),
		called("m2", "Write", "b2", object("file_path", "/home/dev/project/"+secret+"/a.txt", "content", "x")), resulted("b2", "", false),
		called("m3", "Write", "b3", object("file_path", "/home/dev/project/a.txt", "content", "one\n  "+secret+"\ntwo")), resulted("b3", "", false),
		said("m4", "Done.")}
	before := kept(t, work.All, append([]string{typed("p1", "u1", "deploy it")}, lines...)...)
	if len(before.Turns[0].Work) != 3 || !strings.Contains(before.Turns[0].Work[0].Line, secret) {
		t.Fatalf("without the prompt it is no secret: %+v", before.Turns[0].Work)
	}
	after := kept(t, work.All, append(lines, typed("p1", "u1", "thanks; the password is "+secret))...)
	if all := fmt.Sprintf("%+v", after.Turns[0].Work); len(after.Turns[0].Work) != 2 || strings.Contains(all, secret) || !strings.Contains(all, "deploy --to [") {
		t.Error(all)
	}
}

// TestNoSecretsInWork plants secrets of many kinds in what the agent ran and wrote: none
// is kept.
func TestNoSecretsInWork(t *testing.T) {
	const seed = 18
	forms, err := planted.Read("../ingest/testdata/secrets", "forms.jsonl", seed)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	acts := 0
	for _, p := range forms {
		if p.Class != "tool" {
			continue
		}
		kinds[p.Kind] = true
		text := p.Messages[0].Text
		file := "/home/dev/project/docs/notes.md"
		other := text // another secret is in its place
		for _, body := range p.Bodies {
			other = strings.ReplaceAll(other, body, strings.Repeat("x", len(body)))
		}
		edits, err := json.Marshal(map[string]any{"file_path": file, "edits": []map[string]string{{"old_string": "a", "new_string": "b\n" + text}, {"old_string": text, "new_string": "c"}}})
		if err != nil {
			t.Fatal(err)
		}
		lines := []string{typed("p1", "u1", "do it"),
			called("m1", "Bash", "b1", object("command", "cat > docs/notes.md <<'EOF'\n"+text+"\nEOF")), resulted("b1", "", false),
			called("m2", "Write", "b2", object("file_path", file, "content", text)), resulted("b2", "", false),
			called("m3", "Edit", "b3", object("file_path", file, "old_string", "# Notes\n"+other+"\nend", "new_string", "# Notes\n"+text+"\nend")), resulted("b3", "", false),
			called("m4", "MultiEdit", "b4", string(edits)), resulted("b4", "", false),
			called("m5", "Bash", "b5", object("command", "git commit -m "+quote(text))), resulted("b5", refusal+"To tell you how to proceed, the user said:\n"+text, true),
			said("m6", "Done.")}
		s := kept(t, work.All, lines...)
		all, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		texts := []string{string(all)}
		for _, a := range s.Turns[0].Work {
			acts++
			texts = append(texts, a.Line, a.File, a.Added, a.Removed, a.Said)
		}
		if leaks := p.Leaks(strings.Join(texts, "\n")); len(leaks) > 0 {
			t.Errorf("%s (%s): %d secrets are kept of %q: %q", p.ID, p.Kind, len(leaks), text, texts[1:])
		}
	}
	if len(kinds) < 30 || acts < 4*len(kinds) {
		t.Errorf("%d kinds, %d acts", len(kinds), acts)
	}
}
