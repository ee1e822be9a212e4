package entire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

const (
	maxMetadata = 1 << 20 // bytes of a metadata.json; Entire writes some 10 KB
	maxPrompt   = 1 << 20 // and of a prompt.txt
	maxEvents   = 1000    // skill events of one metadata.json
)

// A ref is one branch or reference that holds checkpoints.
type ref struct {
	name, commit string
	checkpoint   string // the one that it holds; "" for a branch of many
}

var (
	oneCheckpoint = lazyregexp.New(`^refs/entire/checkpoints/(\w{2})/(\w{12,64})$`)
	branchOfMany  = lazyregexp.New(`^refs/(heads|remotes/.+)/entire/checkpoints/v1$`)
)

// refs lists the refs of repo that hold checkpoints, in both layouts. If there is an
// error, it returns those found before.
func refs(ctx context.Context, repo *git.Repository) ([]ref, error) {
	out, err := repo.Output(ctx, "for-each-ref", "--format=%(objectname) %(refname)",
		"refs/heads/entire/checkpoints/v1", "refs/remotes", "refs/entire/checkpoints")
	var all []ref
	branches := map[string]bool{} // commits: a remote's branch mostly has the same as the local one
	for line := range strings.Lines(string(out)) {
		if !strings.HasSuffix(line, "\n") {
			break // cut off
		}
		commit, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if m := oneCheckpoint.FindStringSubmatch(name); m != nil && strings.HasSuffix(m[2], m[1]) {
			all = append(all, ref{name, commit, m[2]})
		} else if branchOfMany.MatchString(name) && !branches[commit] {
			branches[commit] = true
			all = append(all, ref{name, commit, ""})
		}
	}
	return all, err
}

// A record is one session as one checkpoint holds it: the folder of a number,
// or, in the oldest checkpoints, the root itself.
type record struct {
	checkpoint, number string
	files              map[string]string // object id by name within the folder
	description

	author   string // address, "" if it is unknown
	unwanted bool   // recorded by another person
	lost     bool   // or its author is unknown
}

// A description is a session's data in a metadata.json, without its events.
type description struct {
	session, agent, model, branch, turn string
	created                             time.Time
}

// String names a record in a Problem.
func (r *record) String() string { return path.Join(r.checkpoint, r.number) }

// key is a hash of some of the record's files, "" for no files.
func (r *record) key(names []string) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintln(&b, name, r.files[name])
	}
	return b.String()
}

// state identifies the content of the record.
func (r *record) state() string { return r.key(slices.Sorted(maps.Keys(r.files))) }

// identity is the same for the copies of a record in several refs.
func (r *record) identity() string { return r.String() + "\n" + r.state() }

// group is the same for the records of one session.
func (r *record) group() string {
	if m := dated.FindStringSubmatch(r.session); m != nil {
		return m[1]
	}
	return cmp.Or(r.session, r.checkpoint+"/"+r.number)
}

var number = lazyregexp.New(`^\d+$`)

// maxDepth is how deep a branch's folders go: aa/bb…/0/tasks/ID/file.
const maxDepth = 5

// records lists the sessions of a ref's checkpoints. Their numbers may have gaps. If
// there is an error, it returns those found before.
func records(o *objects, from ref, left *int64) ([]*record, error) {
	byFolder := map[string]*record{}
	err := o.walk(from.commit+"^{tree}", "", maxDepth, left, func(file, oid string) {
		id := from.checkpoint
		if id == "" {
			parts := strings.SplitN(file, "/", 3)
			if len(parts) != 3 || len(parts[0]) != 2 {
				return
			}
			id, file = parts[0]+parts[1], parts[2]
		}
		n, rest, inFolder := strings.Cut(file, "/")
		if !inFolder || !number.MatchString(n) {
			n, rest = "", file
		}
		r := byFolder[id+"/"+n]
		if r == nil {
			r = &record{checkpoint: id, number: n, files: map[string]string{}}
			byFolder[id+"/"+n] = r
		}
		r.files[rest] = oid
	})
	var all []*record
	for _, k := range slices.Sorted(maps.Keys(byFolder)) {
		// A root with numbered folders only holds a summary.
		if r := byFolder[k]; r.number != "" || len(r.transcripts()) > 0 {
			all = append(all, r)
		}
	}
	return all, err
}

var transcriptName = lazyregexp.New(`^full\.(jsonl|jsonl\.zst|log)(?:\.(\d+))?$`)

// transcripts lists the files that hold the agent's own transcript, in order:
// full.jsonl, full.jsonl.001, …, or those of full.jsonl.zst, which is compressed and
// then cut, or else the older full.log. Both compressed and plain versions may exist,
// and either may have less than the other.
func (r *record) transcripts() [][]string {
	kinds := map[string][]string{}
	for name := range r.files {
		if m := transcriptName.FindStringSubmatch(name); m != nil {
			kinds[m[1]] = append(kinds[m[1]], name)
		}
	}
	var all [][]string
	for _, kind := range []string{"jsonl.zst", "jsonl", "log"} {
		names := kinds[kind]
		if names == nil || kind == "log" && all != nil {
			continue
		}
		// The first chunk has no number, and numbers may outgrow their three digits.
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) })
		all = append(all, names)
	}
	return all
}

// packed reports whether a transcript's file is compressed.
func packed(name string) bool {
	m := transcriptName.FindStringSubmatch(name)
	return m != nil && m[1] == "jsonl.zst"
}

// tasks lists the transcripts of the session's subagents.
func (r *record) tasks() []string {
	var names []string
	for name := range r.files {
		if strings.HasPrefix(name, "tasks/") && strings.HasSuffix(name, ".jsonl") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// metadata reads the record's metadata.json, which must exist. size is the number of
// bytes read.
func (r *record) metadata(o *objects) (m gjson.Result, size int64, err error) {
	data, err := o.all(r.files["metadata.json"], maxMetadata)
	if err == nil && !json.Valid(data) { // gjson's own check overflows the stack on a file of brackets
		err = errors.New("not JSON")
	}
	if err != nil {
		return m, int64(len(data)), fmt.Errorf("metadata.json: %w", err)
	}
	return gjson.ParseBytes(data), int64(len(data)), nil
}

// describe reads the session's data in metadata. If an older version wrote some of it
// differently, or not at all, that is no error.
func (r *record) describe(o *objects) (size int64, err error) {
	m, size, err := r.metadata(o)
	if err != nil {
		return size, err
	}
	text := func(key string) string { // a copy, as a substring would keep the whole file in memory
		if v := m.Get(key); v.Type == gjson.String && len(v.Str) <= maxText {
			return strings.Clone(v.Str)
		}
		return ""
	}
	r.description = description{session: text("session_id"), model: text("model"), branch: text("branch"), turn: text("turn_id")}
	r.created = harvest.When(text("created_at"))
	for _, key := range []string{"agent", "agents", "agents.0"} {
		if v := text(key); v != "" {
			r.agent = agentName(v)
			break
		}
	}
	return size, nil
}

// maxText is the longest value that is taken from a metadata.json, in bytes.
const maxText = 4 << 10

// agentNames are the agents whose name in sessions and events differs from Entire's, in
// lower case with hyphens. For an unknown agent Entire writes "Agent".
var agentNames = map[string]string{"claude": "claude-code", "codex-cli": "codex", "gemini-cli": "gemini", "pi-cli": "pi", "copilot": "copilot-cli", "unknown": "", "agent": ""}

// agentName converts Entire's name of an agent to that in sessions and events.
func agentName(s string) string {
	s = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), " ", "-")
	if name, ok := agentNames[s]; ok {
		return name
	}
	return s
}

// authors finds who recorded the checkpoints of a branch: the author of the latest
// commit whose message names the checkpoint. If there is an error, it returns those
// found before.
func authors(ctx context.Context, repo *git.Repository, from ref) (map[string]string, error) {
	out, err := repo.Output(ctx, "log", "--no-color", "--no-show-signature", "--format=%ae%x00%s%x00", from.commit)
	found := map[string]string{}
	for rest := string(out); ; {
		author, after, _ := strings.Cut(rest, "\x00")
		subject, after, whole := strings.Cut(after, "\x00")
		if !whole {
			return found, err
		}
		rest = after
		if id, ok := strings.CutPrefix(subject, "Checkpoint: "); ok && found[id] == "" {
			found[strings.Clone(id)] = git.Address(strings.Clone(author))
		}
	}
}

// A commit is one of the user's that names a checkpoint.
type commit struct{ id, parent string }

// commits finds the commits of the user's branches with the trailer Entire-Checkpoint,
// by checkpoint: of several (a rebase, a cherry-pick) the latest. Checkpoints that are
// not in wanted are skipped. If there is an error, it returns those found before.
func commits(ctx context.Context, repo *git.Repository, wanted map[string]bool) (map[string]commit, error) {
	out, err := repo.Output(ctx, "log", "--no-color", "--no-show-signature", "--grep=^Entire-Checkpoint:",
		"--exclude=entire/*", "--branches", "--exclude=*/entire/*", "--remotes", "--tags",
		"--format=%H%x00%P%x00%(trailers:key=Entire-Checkpoint,valueonly,separator=%x20)%x00")
	found := map[string]commit{}
	for fields := string(out); ; {
		id, rest, _ := strings.Cut(fields, "\x00")
		parents, rest, _ := strings.Cut(rest, "\x00")
		checkpoints, rest, whole := strings.Cut(rest, "\x00")
		if !whole {
			return found, err
		}
		fields = rest
		parent, _, _ := strings.Cut(parents, " ")
		for checkpoint := range strings.FieldsSeq(checkpoints) {
			if _, ok := found[checkpoint]; !ok && wanted[checkpoint] {
				found[strings.Clone(checkpoint)] = commit{strings.Clone(strings.TrimSpace(id)), strings.Clone(parent)}
			}
		}
	}
}
