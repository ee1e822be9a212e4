// Package claude reads the sessions of Claude Code:
// projects/<folder>/<session>.jsonl below its home, and those of subagents in
// <session>/subagents. Only human turns, final answers, tool names and skill
// invocations are kept; everything kept is redacted.
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

	"github.com/skill-evolve/evolve/harvest"
)

// Agent is the name of Claude Code in sessions and skill events.
const Agent = "claude-code"

// Kind declares the sessions of Claude Code.
var Kind = harvest.Kind{Name: "claude", Agent: Agent, Vendor: "anthropic", HomeEnv: "CLAUDE_CONFIG_DIR", HomeDefault: ".claude", Files: files, Read: readSession, Keeps: keeps}

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
			problems = append(problems, harvest.Problem{Path: dir, Reason: harvest.Reason(err)})
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
