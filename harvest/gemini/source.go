// Package gemini reads the sessions of Gemini CLI: tmp/<project>/chats/session-*.json and
// .jsonl below its home.
package gemini

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// The format is that of Gemini CLI's own source code: chatRecordingService.ts and
// chatRecordingTypes.ts (a document until about version 0.38, lines since), storage.ts and
// projectRegistry.ts (the folder of a project). No file of the real program was at hand.
// Unverified are the words of its notes in the user's name, which tools answer
// "cancelled", and that a subagent's file names its parent by the folder alone.
//
// logs.json, which holds prompts without answers, is not read.

// Agent is the name of Gemini CLI in sessions and skill events.
const Agent = "gemini"

// Kind declares the sessions of Gemini CLI.
var Kind = harvest.Kind{Name: "gemini", Agent: Agent, Vendor: "google", HomeDefault: ".gemini", UserEnv: "GEMINI_CLI_HOME", Shared: true,
	Files: files, Read: read, Family: parent}

// files leaves out what a resumed session was before it became lines.
func files(_ context.Context, home string) ([]string, []harvest.Problem, error) {
	all, problems := jsonl.Find(filepath.Join(home, "tmp"), 3, func(name string) bool {
		return strings.HasSuffix(name, ".jsonl") || strings.HasPrefix(name, "session-") && strings.HasSuffix(name, ".json")
	})
	all = slices.DeleteFunc(all, func(file string) bool {
		dir, sub := project(file)
		return dir == "" || !sub && !strings.HasPrefix(filepath.Base(file), "session-")
	})
	return slices.DeleteFunc(all, func(file string) bool { return slices.Contains(all, file+"l") }), problems, nil
}

// project is the folder that Gemini CLI keeps of the project of a transcript, "" if the
// file is in none. sub is true for a subagent's: it is in a folder of its session.
func project(file string) (dir string, sub bool) {
	chats := filepath.Dir(file)
	if filepath.Base(chats) != "chats" {
		chats, sub = filepath.Dir(chats), true
	}
	if filepath.Base(chats) != "chats" || !filepath.IsAbs(chats) {
		return "", sub
	}
	return filepath.Dir(chats), sub
}

func parent(file string, first func() []byte) (id, parent string) {
	if _, sub := project(file); sub {
		parent = filepath.Base(filepath.Dir(file))
	}
	return strings.Clone(gjson.GetBytes(first(), "sessionId").Str), parent
}

const (
	maxMarker   = 64 << 10
	maxProjects = 16 << 20
)

// folder is the folder of the project of a transcript, as Gemini CLI noted it beside the
// transcript; "" if no folder has the hash that the transcript names.
func folder(file, hash string) string {
	dir, _ := project(file)
	if dir == "" || hash == "" {
		return ""
	}
	if data, err := bounded.ReadFile(filepath.Join(dir, ".project_root"), maxMarker); err == nil {
		if root := strings.TrimSpace(string(data)); harvest.Hash(root) == hash {
			return root
		}
	}
	found := ""
	if data, err := bounded.ReadFile(filepath.Join(dir, "..", "..", "projects.json"), maxProjects); err == nil && jsonl.Valid(data) {
		gjson.GetBytes(data, "projects").ForEach(func(root, _ gjson.Result) bool {
			if harvest.Hash(root.Str) == hash {
				found = root.Str
			}
			return found == ""
		})
	}
	return found
}

// maxDocument is the largest document that is read, in bytes: it is held in memory whole.
const maxDocument = 64 << 20

func read(ctx context.Context, r io.Reader, file string, o harvest.Options) (*harvest.Session, []harvest.Problem, error) {
	l := log{ids: map[string]int{}, tried: map[string]bool{}}
	head := make([]byte, 2)
	n, _ := io.ReadFull(r, head)
	r = io.MultiReader(strings.NewReader(string(head[:n])), r)
	if n < 2 || head[0] != '{' || head[1] == '"' {
		return harvest.Scan(ctx, r, file, want, l.take, func(problems []harvest.Problem) *harvest.Session { return l.session(file, o, problems) })
	}
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	data, err := bounded.ReadAll(r, maxDocument)
	why := ""
	if err != nil {
		why = jsonl.Reason(err)
	} else if !jsonl.Valid(data) {
		why = "not JSON"
	} else {
		l.take(0, data)
	}
	var problems []harvest.Problem
	if why != "" {
		problems = []harvest.Problem{{Path: file, Reason: why}}
	}
	return l.session(file, o, problems), problems, nil
}
