// Package claude reads the sessions of Claude Code:
// projects/<folder>/<session>.jsonl below its home, and those of subagents in
// <session>/subagents. Only human turns, final answers, tool names, skill
// invocations and, if asked for, the agent's work are kept; everything kept is redacted.
package claude

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
)

// Agent is the name of Claude Code in sessions and skill events.
const Agent = "claude-code"

// Kind declares the sessions of Claude Code.
var Kind = harvest.Kind{Name: "claude", Agent: Agent, Vendor: "anthropic", HomeEnv: "CLAUDE_CONFIG_DIR", HomeDefault: ".claude", Files: files, Family: family, Read: readSession, Keeps: keeps}

func readSession(ctx context.Context, r io.Reader, file string, o harvest.Options) (*harvest.Session, []harvest.Problem, error) {
	t := newTranscript(file, o)
	return harvest.Scan(ctx, r, file, t.wants, t.line, t.finish)
}

// files lists the transcripts in path order.
func files(_ context.Context, home string) ([]string, []harvest.Problem, error) {
	var files []string
	var problems []harvest.Problem
	list := func(dir string) []fs.DirEntry {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, harvest.Problem{Path: dir, Reason: jsonl.Reason(err)})
		}
		return entries
	}
	projects := filepath.Join(home, "projects")
	for _, project := range list(projects) {
		dir := filepath.Join(projects, project.Name())
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		for _, e := range list(dir) {
			name := filepath.Join(dir, e.Name())
			switch {
			case strings.HasSuffix(e.Name(), ".jsonl"):
				files = append(files, name)
			case e.IsDir():
				sub := filepath.Join(name, "subagents")
				// Errors of the walk itself come from folders that were removed
				// meanwhile.
				_ = filepath.WalkDir(sub, func(p string, d fs.DirEntry, err error) error {
					if err == nil && !d.IsDir() && strings.HasSuffix(p, ".jsonl") {
						files = append(files, p)
					}
					return nil
				})
			}
		}
	}
	slices.Sort(files)
	return files, problems, nil
}

// family is the session that a transcript is of, by its name, and that whose subagent it
// is: by its folder, <project>/<session>/subagents, or, in older versions, by what
// agent-*.jsonl beside the session says.
func family(file string, first func() []byte) (id, parent string) {
	for dir := filepath.Dir(file); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		session := filepath.Dir(dir)
		if filepath.Base(dir) == "subagents" && filepath.Base(filepath.Dir(filepath.Dir(session))) == "projects" {
			return file, filepath.Base(session)
		}
	}
	id = strings.TrimSuffix(filepath.Base(file), ".jsonl")
	if strings.HasPrefix(id, "agent-") {
		parent = gjson.GetBytes(first(), "sessionId").Str
	}
	return id, parent
}
