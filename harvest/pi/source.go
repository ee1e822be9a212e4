// Package pi reads the sessions of pi: sessions/<folder>/<time>_<id>.jsonl below its
// home. Only human turns, final answers, tool names, skill invocations and, as far as
// Options.Moments allows, the agent's work are kept; everything kept is redacted.
//
// A session is a tree; its current branch is the one that ends in its last entry. pi
// does not record whether a person or a program drove it, so none of its sessions is
// marked headless.
//
// Of the agent's work, bash with its exit status was seen in sessions of pi 0.87.1. These
// are known only from public code, and not verified: edit, write, and the results of
// commands that were aborted or timed out. pi has no permission prompts, so it records no
// refusals; a call that an extension blocked counts as failed.
package pi

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
)

// Agent is the name of pi in sessions and skill events.
const Agent = "pi"

// Kind declares the sessions of pi.
var Kind = harvest.Kind{Name: "pi", Agent: Agent, HomeEnv: "PI_CODING_AGENT_DIR", HomeDefault: ".pi/agent", Shared: true, Start: "session", StartID: "id",
	Files: harvest.Below("sessions", 1, func(name string) bool { return strings.HasSuffix(name, ".jsonl") }), Read: readSession}

// readSession also refuses a session whose entries are no tree, with the reason. It
// holds in memory what may be kept of each entry: a session of a million entries, or of
// 64 MiB of messages, is refused.
func readSession(ctx context.Context, r io.Reader, file string, o harvest.Options) (*harvest.Session, []harvest.Problem, error) {
	t := tree{level: o.Moments}
	problems, err := jsonl.Scan(ctx, r, file, t.want, t.take)
	if err != nil {
		return nil, problems, err
	}
	if len(t.entries) == 0 && t.refused == "" {
		return nil, problems, nil
	}
	branch, why := t.branch(len(problems) > 0)
	if why != "" {
		if len(problems) != 1 || problems[0].Line != 0 { // else the problems give the reason already
			problems = append(problems, harvest.Problem{Path: file, Reason: why})
		}
		return nil, problems, nil
	}
	f := newFold(file, t, o)
	for _, i := range branch {
		f.entry(t.entries[i])
	}
	return f.finish(problems), problems, nil
}

// sessionID is the id in the name of a session's file: <time>_<id>.jsonl.
func sessionID(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
	if _, id, ok := strings.Cut(name, "_"); ok {
		return id
	}
	return name
}
