package codex

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

func TestConformance(t *testing.T) {
	minute := "the program tells the minute of a reset, and not the second: TestRealFailures and the recorded limit-*.jsonl show what is read"
	k := &keeper{live: os.Getenv("EVOLVE_REAL_AGENTS") == "1", path: filepath.Join("testdata", "records.json"), kept: make(map[string]kept)}
	if f := flag.Lookup("agenttest.record"); f != nil {
		k.recording = f.Value.String() == "true"
	}
	k.load(t)
	made := func(t *testing.T, s agenttest.Setup, env ...string) agenttest.Agent {
		a, err := New(t.Context(), replay.Config{Path: s.Path, Model: "gpt-5.5", BaseURL: s.Server.URL,
			Credentials: []string{"OPENAI_API_KEY=" + s.Key}, Env: append(s.Env, env...), Sandbox: s.Sandbox, Owner: s.Owner})
		if err != nil {
			t.Fatal(err)
		}
		a.models.made = true
		a.records = k.records
		return a
	}
	agenttest.RunProgram(t, agenttest.Program{
		Name:  "codex",
		Loads: []string{".agents/skills/of-agents/SKILL.md"},
		Calls: 1 + streamRetries,
		// Left to it here: what takes it away is a list of models of 750 kB,
		// which is not to be recorded. See TestRealComplete.
		TextTools:   []string{"apply_patch"},
		Unsupported: map[agenttest.Scenario]string{agenttest.UsageLimit: minute, agenttest.TextLimit: minute},
		New:         func(t *testing.T, s agenttest.Setup) agenttest.Agent { return made(t, s) },
		// With its home in the folder for temporary files the program cannot
		// make the helper of its sandbox.
		Denied: func(t *testing.T, s agenttest.Setup) agenttest.Agent {
			return tidy{made(t, s, "TMPDIR="+os.TempDir())}
		},
	})
	k.save(t)
}

// A tidy agent removes what its program leaves in a folder for temporary files
// that is not the stage's.
type tidy struct{ agenttest.Agent }

func (a tidy) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	out, err := a.Agent.Run(ctx, t)
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "codex-bwrap-*"))
	for _, dir := range left {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return out, err
}

// A keeper keeps the program's records of recorded runs, because a player has
// the stream alone.
type keeper struct {
	live, recording bool
	path            string

	mu   sync.Mutex
	kept map[string]kept // by thread
}

// kept is a session as it is written down.
type kept struct {
	Skills []string   `json:"skills,omitempty"`
	Turns  int        `json:"turns"`
	Usage  *usage     `json:"usage,omitempty"`
	Calls  []keptCall `json:"calls,omitempty"`
}

type keptCall struct {
	Items  int    `json:"items,omitempty"`
	Name   string `json:"name,omitempty"` // with what follows only where no item stands for it
	Input  string `json:"input,omitempty"`
	Output string `json:"output,omitempty"`
}

func (k *keeper) records(s *replay.Stage, thread string, secrets replay.Secrets) (*session, error) {
	if k.live {
		ses, err := readSessions(s, thread, secrets)
		if err == nil && ses != nil && k.recording {
			k.keep(s, thread, ses)
		}
		return ses, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	from, ok := k.kept[thread]
	if !ok {
		return nil, nil
	}
	out := &session{skills: from.Skills, turns: from.Turns, usage: from.Usage}
	there := strings.NewReplacer("{workspace}", s.Workspace, "{private}", s.Root)
	for _, c := range from.Calls {
		out.calls = append(out.calls, call{items: c.Items, name: c.Name, input: there.Replace(c.Input), output: there.Replace(c.Output)})
	}
	return out, nil
}

func (k *keeper) keep(s *replay.Stage, thread string, ses *session) {
	to := kept{Skills: ses.skills, Turns: ses.turns, Usage: ses.usage}
	away := strings.NewReplacer(s.Workspace, "{workspace}", s.Root, "{private}")
	for _, c := range ses.calls {
		out := keptCall{Items: c.items}
		if c.items == 0 || bars(c.output, s.Workspace) != "" {
			out.Name, out.Input, out.Output = c.name, away.Replace(c.input), away.Replace(c.output)
		}
		to.Calls = append(to.Calls, out)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept[thread] = to
}

func (k *keeper) load(t *testing.T) {
	if k.live && !k.recording {
		return
	}
	text, err := os.ReadFile(k.path)
	if err == nil {
		err = json.Unmarshal(text, &k.kept)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (k *keeper) save(t *testing.T) {
	if !k.live || !k.recording || t.Failed() {
		return
	}
	for thread := range k.kept { // of two hundred at once, one is recorded
		if !k.recorded(t, thread) {
			delete(k.kept, thread)
		}
	}
	text, err := json.MarshalIndent(k.kept, "", "\t")
	if err == nil {
		err = os.WriteFile(k.path, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

// recorded reports whether a player will print the thread.
func (k *keeper) recorded(t *testing.T, thread string) bool {
	files, err := filepath.Glob(filepath.Join("testdata", "agent", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), thread) {
			return true
		}
	}
	return false
}
