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
