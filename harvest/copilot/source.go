// Package copilot reads the sessions of GitHub's Copilot CLI:
// session-state/<uuid>/events.jsonl below its home, beside workspace.yaml. Only
// human turns, final answers, tool names, skill invocations and, as far as
// Options.Moments allows, the agent's work are kept; everything kept is redacted.
//
// Of the agent's work, these were seen in sessions of Copilot CLI 1.0.102: bash with its exit
// status, create, apply_patch, and a call that was denied because no person could be
// asked. These are known only from public code, and not verified: edit,
// str_replace_editor, powershell, the exit status in older versions, and what is recorded
// of a call that the user refused. The exit status of a command in the background is not
// known.
package copilot

import (
	"cmp"
	"context"
	"io"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// Agent is the name of Copilot CLI in sessions and skill events.
const Agent = "copilot-cli"

// maxWorkspace is the largest workspace.yaml that is read, in bytes; real ones have a
// few hundred.
const maxWorkspace = 1 << 20

// Kind declares the sessions of Copilot CLI.
var Kind = harvest.Kind{Name: "copilot", Agent: Agent, Vendor: "github", HomeEnv: "COPILOT_HOME", HomeDefault: ".copilot", Shared: true, Start: "session.start", StartID: "data.sessionId",
	Files: harvest.Below("session-state", 1, func(name string) bool { return name == "events.jsonl" }), Read: readSession, Complete: complete}

func readSession(ctx context.Context, r io.Reader, file string, o harvest.Options) (*harvest.Session, []harvest.Problem, error) {
	t := newTranscript(file, o)
	return harvest.Scan(ctx, r, file, t.want, t.take, t.finish)
}

// complete adds what a session's first event lacks: in an older version, or if the
// beginning of the file is lost.
func complete(session *harvest.Session, file string) {
	if session.CWD != "" && session.Branch != "" {
		return
	}
	data, err := bounded.ReadFile(filepath.Join(filepath.Dir(file), "workspace.yaml"), maxWorkspace)
	if err != nil {
		return
	}
	var w struct{ CWD, Branch string }
	if yaml.Unmarshal(data, &w) != nil {
		return
	}
	session.CWD, session.Branch = cmp.Or(session.CWD, w.CWD), cmp.Or(session.Branch, w.Branch)
}
