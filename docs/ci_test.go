package docs

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

type workflow struct {
	On          any
	Permissions map[string]string
	Jobs        map[string]struct {
		If          string
		Permissions map[string]string
		Environment string
		Steps       []step
	}
}

type step struct {
	Uses, Run string
	With      map[string]string
}

// TestWorkflows: of the workflows in docs/ci.md no job has both a key and a right to write,
// none runs on pull_request_target, and what others wrote is in no script. With
// EVOLVE_ACTIONLINT, the path of actionlint, that validates them.
func TestWorkflows(t *testing.T) {
	page, err := os.ReadFile("ci.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(texts) != 2 {
		t.Fatalf("docs/ci.md has %d workflows, want 2", len(texts))
	}
	rights := map[string]map[string]string{
		"check":  nil, // the workflow's
		"pick":   {"contents": "read", "pull-requests": "read", "issues": "read"},
		"replay": {"contents": "read"},
		"report": {"pull-requests": "write", "statuses": "write"},
	}
	dir := t.TempDir()
	seen := 0
	for i, m := range texts {
		if strings.Contains(m[1], "pull_request_target") {
			t.Error("pull_request_target gives a fork's pull request the keys")
		}
		var w workflow
		if err := yaml.Unmarshal([]byte(m[1]), &w); err != nil {
			t.Fatal(err)
		}
		if w.Permissions == nil {
			t.Error("a workflow without permissions has those of the repository")
		}
		for right, level := range w.Permissions {
			if right != "contents" || level != "read" {
				t.Errorf("every job may %s %s", level, right)
			}
		}
		for name, job := range w.Jobs {
			want, known := rights[name]
			if !known || !maps.Equal(job.Permissions, want) {
				t.Errorf("job %s has the rights %v, want %v", name, job.Permissions, want)
			}
			seen++
			for _, s := range job.Steps {
				unscripted(t, name, s)
				key := false
				for _, v := range s.With {
					key = key || strings.Contains(v, "secrets.")
				}
				if key && (name != "replay" || job.Environment == "") {
					t.Errorf("job %s gets a key", name)
				}
				if strings.HasPrefix(s.Uses, "actions/checkout") && s.With["persist-credentials"] != "false" {
					t.Errorf("job %s leaves its token in the checkout", name)
				}
				if name == "replay" && strings.HasPrefix(s.Uses, "actions/checkout") && s.With["ref"] != "${{ matrix.item.base }}" {
					t.Errorf("the job with the key checks out %q", s.With["ref"])
				}
				if name == "replay" && strings.Contains(s.Uses, "actions/replay@") && s.With["max-cost-usd"] == "" {
					t.Error("no cap")
				}
			}
		}
		file := filepath.Join(dir, []string{"check.yml", "replays.yml"}[i])
		if err := os.WriteFile(file, []byte(m[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		if lint := os.Getenv("EVOLVE_ACTIONLINT"); lint != "" {
			if out, err := exec.Command(lint, "-no-color", file).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", file, err, out)
			}
		}
	}
	if seen != len(rights) {
		t.Errorf("there are %d jobs, want %d", seen, len(rights))
	}
	// The job with the key runs after one that only a maintainer's comment or a night starts.
	for _, want := range []string{"github.event_name == 'schedule' ||", "github.event.issue.pull_request &&", "github.event.comment.body == '/evolve check' &&", `contains(fromJSON('["OWNER", "MEMBER", "COLLABORATOR"]'), github.event.comment.author_association))`} {
		if !strings.Contains(texts[1][1], want) {
			t.Errorf("the condition of pick lacks %s", want)
		}
	}
}

// TestActions: no script of an action has an expression in it, and each that an action names
// is there.
func TestActions(t *testing.T) {
	files, err := filepath.Glob("../.github/actions/*/action.yml")
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var action struct {
			Inputs map[string]struct{ Description string }
			Runs   struct{ Steps []step }
		}
		if err := yaml.Unmarshal(text, &action); err != nil {
			t.Fatal(file, err)
		}
		for _, s := range action.Runs.Steps {
			unscripted(t, file, s)
		}
		for _, m := range regexp.MustCompile(`GITHUB_ACTION_PATH/([a-z.]+)`).FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
				t.Error(err)
			}
		}
		for _, m := range regexp.MustCompile(`inputs\.([a-z-]+)`).FindAllStringSubmatch(string(text), -1) {
			if action.Inputs[m[1]].Description == "" {
				t.Errorf("%s: there is no input %s", file, m[1])
			}
		}
	}
}

// unscripted demands that a script gets what others wrote by its environment.
func unscripted(t *testing.T, where string, s step) {
	t.Helper()
	if strings.Contains(s.Run, "${{") {
		t.Errorf("%s: an expression in a script: %s", where, s.Run)
	}
}
