// Package codex reads the sessions of Codex: sessions/YYYY/MM/DD/rollout-*.jsonl below
// its home, and archived ones; Codex compresses old ones to rollout-*.jsonl.zst. Only
// human turns, final answers, tool names, skill invocations and, as far as Options.Moments
// allows, the agent's work are kept; everything kept is redacted.
//
// Codex does not record failed requests to the model that were repeated: only the
// failure that ended a turn counts as an API error.
//
// Of the agent's work, these were seen in sessions of Codex 0.169.0: exec_command with its
// exit status, apply_patch as a custom tool, records of commands and of changed files.
// These are known only from public code, and not verified: shell, shell_command and
// local_shell_call, patches in function calls and in command lines, commands that go on
// (write_stdin), calls made by a program that the agent wrote, the events exec_command_end
// and patch_apply_end, and what a call returns that the user refused. If the user answers a
// question for permission by ending the turn, that cannot be told from an interruption: it
// is no refusal, and the command counts as failed.
package codex

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
)

// Agent is the name of Codex in sessions and skill events.
const Agent = "codex"

// Kind declares the sessions of Codex.
var Kind = harvest.Kind{Name: "codex", Agent: Agent, Vendor: "openai", HomeEnv: "CODEX_HOME", HomeDefault: ".codex", Shared: true,
	Start: "session_meta", StartID: "payload.id", Files: files, Family: family, Read: readSession}

func readSession(ctx context.Context, r io.Reader, file string, o harvest.Options) (*harvest.Session, []harvest.Problem, error) {
	t := newTranscript(file, o)
	return harvest.Scan(ctx, r, file, t.want, t.take, t.finish)
}

// family is the id of a session, and that of the session that spawned it.
func family(file string, first func() []byte) (id, parent string) {
	line := first()
	meta := gjson.ParseBytes(line).Get("payload")
	if bytes.Contains(line, []byte(`"subagent"`)) {
		parent = cmp.Or(meta.Get("source.subagent.thread_spawn.parent_thread_id").Str, meta.Get("parent_thread_id").Str)
	}
	return cmp.Or(meta.Get("id").Str, file), parent
}

// depth is how far below sessions a file may lie: YYYY/MM/DD.
const depth = 3

func files(ctx context.Context, home string) ([]string, []harvest.Problem, error) {
	live, problems := jsonl.Find(filepath.Join(home, "sessions"), depth, rollout)
	archived, more := jsonl.Find(filepath.Join(home, "archived_sessions"), depth, rollout)
	files, err := once(ctx, append(archived, live...))
	return files, append(problems, more...), err
}

func rollout(name string) bool {
	return strings.HasPrefix(name, "rollout-") && strings.HasSuffix(jsonl.Unpacked(name), ".jsonl")
}

// once returns files in their order. Of the files of one rollout, compressed and not,
// it keeps the one with the most entries: Codex unpacks a resumed session and appends
// to that file, and if it was killed meanwhile, the unpacked file is incomplete.
func once(ctx context.Context, files []string) ([]string, error) {
	copies := map[string][]string{}
	for _, f := range files {
		name := filepath.Base(jsonl.Unpacked(f))
		copies[name] = append(copies[name], f)
	}
	surplus := map[string]bool{}
	for _, list := range copies {
		if len(list) == 1 || !slices.ContainsFunc(list, jsonl.Packed) {
			continue
		}
		slices.SortFunc(list, func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) }) // if equal, the unpacked one
		best, most := "", -1
		for _, f := range list {
			n, err := jsonl.Entries(ctx, f)
			if err != nil {
				return nil, err
			}
			surplus[f] = n <= most
			if n > most {
				surplus[best] = true
				best, most = f, n
			}
		}
	}
	files = slices.DeleteFunc(files, func(f string) bool { return surplus[f] })
	slices.Sort(files)
	return files, nil
}

// sessionID is the id in the name of a rollout: rollout-<time>-<id>.jsonl.
func sessionID(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
	const uuid = len("01a1fa18-22a5-7620-b50f-1706fdc35dea")
	if i := len(name) - uuid; i > 0 && strings.HasPrefix(name, "rollout-") && name[i-1] == '-' {
		return name[i:]
	}
	return name
}
