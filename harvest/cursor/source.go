// Package cursor reads the sessions of Cursor's agent:
// projects/<folder>/agent-transcripts/<id>/<id>.jsonl below its home.
package cursor

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
)

// Cursor does not document the format. It was learned from open programs that read it, and
// from what people report of their own files (Cursor of 2026, JSON lines): receptron/
// mulmoterminal#2072, microsoft/AI-Engineering-Coach#264, caura-ai/caura#612,
// Dicklesworthstone/coding_agent_session_search#306, xiufengsun/TokenTracker#90. No file of
// the real program was at hand. Such a file has no results of tools, so none is known to
// have failed, and no usage, model or folder. Unverified are the list of blocks in
// messages.go, that an abort is a turn_ended whose error speaks of one, and the times.
//
// Transcripts in text (.txt, of 2025) are not read, nor is state.vscdb.

// Agent is the name of Cursor in sessions and skill events.
const Agent = "cursor"

// Kind declares the sessions of Cursor.
var Kind = harvest.Kind{Name: "cursor", Agent: Agent, HomeDefault: ".cursor", Shared: true,
	Files: files, Read: read, Family: parent, Complete: complete}

const transcripts = "agent-transcripts"

func files(_ context.Context, home string) ([]string, []harvest.Problem, error) {
	all, problems := jsonl.Find(filepath.Join(home, "projects"), 4, func(name string) bool { return strings.HasSuffix(name, ".jsonl") })
	return slices.DeleteFunc(all, func(file string) bool { return project(file) == "" }), problems, nil
}

// project is the name of the folder of a transcript's project, "" if the file is no
// transcript.
func project(file string) string {
	dir := filepath.Dir(file)
	for range 3 {
		if filepath.Base(dir) == transcripts {
			return filepath.Base(filepath.Dir(dir))
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

func sessionID(file string) string { return strings.TrimSuffix(filepath.Base(file), ".jsonl") }

func parent(file string, _ func() []byte) (id, parent string) {
	if dir := filepath.Dir(file); filepath.Base(dir) == "subagents" {
		parent = filepath.Base(filepath.Dir(dir))
	}
	return sessionID(file), parent
}

// complete adds the times that older files lack: the file's own.
func complete(s *harvest.Session, file string) {
	if info, err := os.Stat(file); err == nil && s.Ended.IsZero() {
		s.Started, s.Ended = info.ModTime().UTC(), info.ModTime().UTC()
	}
}

func read(ctx context.Context, r io.Reader, file string, o harvest.Options) (*harvest.Session, []harvest.Problem, error) {
	t := transcript{s: harvest.NewDraft(Agent, sessionID(file), file, o)}
	if _, parent := parent(file, nil); parent != "" {
		t.s.Subagent, t.s.Headless = t.s.ID, true
	}
	if name := project(file); name != "" && filepath.IsAbs(file) {
		t.s.CWD = folder(name)
	}
	return harvest.Scan(ctx, r, file, func([]byte) bool { return true }, t.take, t.finish)
}

// maxListed is how many folders are listed to find one.
const maxListed = 1000

// folder is the one folder that exists of which Cursor made the name: it writes a hyphen
// for what is no letter or digit. "" if there is none, or several.
func folder(name string) string {
	root, rest := "/", slug(name)
	if volume := filepath.VolumeName(os.TempDir()); volume != "" {
		drive, after, _ := strings.Cut(rest, "-")
		root, rest = drive+`:\`, after
	}
	var found []string
	listed := 0
	var search func(dir, rest string)
	search = func(dir, rest string) {
		if listed++; listed > maxListed || rest == "" {
			return
		}
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			part, path := slug(e.Name()), filepath.Join(dir, e.Name())
			after, ok := strings.CutPrefix(rest, part)
			if part == "" || !ok || after != "" && after[0] != '-' {
				continue
			}
			if info, err := os.Stat(path); err != nil || !info.IsDir() {
				continue
			}
			if after == "" {
				found = append(found, path)
			} else {
				search(path, after[1:])
			}
		}
	}
	search(root, rest)
	if len(found) != 1 || listed > maxListed {
		return ""
	}
	return found[0]
}

// slug is a path with one hyphen for all that is no letter or digit, and none at its ends.
func slug(path string) string {
	return strings.Join(strings.FieldsFunc(path, func(r rune) bool {
		return r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z'
	}), "-")
}
