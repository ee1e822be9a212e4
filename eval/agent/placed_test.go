package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/workspace"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// committed makes what script leaves in dir a commit, and returns it.
func committed(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-ec", "mkdir -p "+dir+"; cd "+dir+"; [ -e .git ] || git init -q .\n"+script+
		"\ngit add -A . && git -c user.name=a -c user.email=a@example.org commit -qm x && git rev-parse HEAD")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// A file of instructions is tried only where a replay finds it: not in a tree that lacks it,
// or has it as a link, and never in the place of another file.
func TestUsableByPlace(t *testing.T) {
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	shop := filepath.Join(work, "shop")
	before := committed(t, shop, "echo old > CLAUDE.md")
	linked := committed(t, shop, "mv CLAUDE.md other.md; ln -s other.md AGENTS.md")
	now := committed(t, shop, "rm AGENTS.md; mv other.md AGENTS.md; mkdir -p web/js api; echo web > web/AGENTS.md; echo js > web/js/a.js; echo api > api/a.go")
	inner := committed(t, filepath.Join(shop, "inner"), "echo mine > AGENTS.md")

	const lacks, over = " left out: their recorded tree has no file ", " would be written over another file: that of their own repository or folder"
	for name, k := range map[string]struct {
		key, repo, commit string
		note              string // "": the case is kept
	}{
		"the file":                     {"file:" + shop + ":AGENTS.md", shop, now, ""},
		"before it was renamed":        {"file:" + shop + ":AGENTS.md", shop, before, "1 case" + lacks + "AGENTS.md"},
		"as a link":                    {"file:" + shop + ":AGENTS.md", shop, linked, "1 case" + lacks + "AGENTS.md"},
		"a folder's, from the top":     {"file:" + shop + ":web/AGENTS.md", shop, now, ""},
		"a folder's, in it":            {"file:" + shop + ":web/AGENTS.md", shop + "/web", now, ""},
		"the top's, in a folder":       {"file:" + shop + ":AGENTS.md", shop + "/api", now, ""},
		"over the folder's":            {"file:" + shop + ":AGENTS.md", shop + "/web", now, "1 case left out: AGENTS.md" + over},
		"over one between":             {"file:" + shop + ":AGENTS.md", shop + "/web/js", now, "1 case left out: AGENTS.md" + over},
		"the folder's, below it":       {"file:" + shop + ":web/AGENTS.md", shop + "/web/js", now, ""},
		"above the repository":         {"file:" + work + ":AGENTS.md", shop, now, "1 case left out: AGENTS.md" + over},
		"above, in another repository": {"file:" + shop + ":AGENTS.md", shop + "/inner", inner, "1 case left out: AGENTS.md" + over},
		"never committed":              {"file:" + shop + ":CLAUDE.local.md", shop, now, ""},
		"a person's":                   {"file:~:.claude/CLAUDE.md", shop, before, ""},
		"a skill":                      {"dataviz", shop, before, ""},
	} {
		b := &Backends{Spaces: &workspace.Recorded{Parent: t.TempDir()}}
		t.Cleanup(func() { b.Spaces.Close() })
		c := eval.Case{ID: "1", Skill: subject.Parse(k.key).Key(), Prompt: "p", Workspace: &eval.Workspace{Repo: k.repo, Commit: k.commit}}
		kept, notes, err := b.Usable(t.Context(), &Spec{Sandbox: SandboxNone}, []eval.Case{c})
		want := []string{k.note}
		if k.note == "" {
			want = nil
		}
		if err != nil || len(kept) != 1-len(want) || !slices.Equal(notes, want) {
			t.Errorf("%s: %d kept, notes %q, %v; want %q", name, len(kept), notes, err, want)
		}
	}
}

// A tree in which the agent loads another file in the subject's place would be tried without
// it in both arms.
func TestUsableByRivals(t *testing.T) {
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	shop := filepath.Join(work, "shop")
	plain := committed(t, shop, "echo all > AGENTS.md; mkdir web; echo web > web/AGENTS.md; echo a > web/a.go")
	override := committed(t, shop, "echo mine > AGENTS.override.md")
	linked := committed(t, shop, "rm AGENTS.override.md; ln -s AGENTS.md CLAUDE.md")
	imports := committed(t, shop, "rm CLAUDE.md; echo '@AGENTS.md' > CLAUDE.md")
	claude := committed(t, shop, "echo 'Be brief.' > CLAUDE.md")
	for name, k := range map[string]struct {
		agent, path, folder, commit string
		replaced                    bool
	}{
		"alone":                        {"codex", "AGENTS.md", "", plain, false},
		"beside":                       {"codex", "AGENTS.md", "", override, true},
		"beside, pi":                   {"pi", "AGENTS.md", "", override, true},
		"beside, but not for it":       {"copilot-cli", "AGENTS.md", "", override, false},
		"beside another one":           {"codex", "web/AGENTS.md", "", override, false},
		"put beside it in a folder":    {"codex", "AGENTS.md", "web", override, true},
		"the folder's":                 {"codex", "web/AGENTS.md", "web", override, false},
		"the file itself":              {"codex", "AGENTS.override.md", "", override, false},
		"a link to it":                 {"claude-code", "AGENTS.md", "", linked, false},
		"a file that imports it":       {"claude-code", "AGENTS.md", "", imports, false},
		"above":                        {"claude-code", "AGENTS.md", "", claude, true},
		"above, from a folder":         {"claude-code", "web/AGENTS.md", "web", claude, true},
		"loaded whatever is beside it": {"claude-code", "CLAUDE.md", "", claude, false},
		"of no known agent":            {"openai", "AGENTS.md", "", claude, false},
	} {
		p := &placed{root: shop, path: k.path, blobs: map[[3]string]blob{}}
		c := &eval.Case{Workspace: &eval.Workspace{Repo: filepath.Join(shop, k.folder), Commit: k.commit}}
		if got := p.replaced(t.Context(), k.agent, c); got != k.replaced {
			t.Errorf("%s: replaced %v, want %v", name, got, k.replaced)
		}
	}
	if (&placed{root: shop, path: "AGENTS.md"}).replaced(t.Context(), "codex", &eval.Case{}) {
		t.Error("a case without a tree")
	}
}
