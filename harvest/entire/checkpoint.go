package entire

import (
	"cmp"
	"context"
	"encoding/json"
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
	maxMetadata = 32 << 20 // bytes of a metadata.json that are read
	maxPrompt   = 1 << 20  // and of a prompt.txt
)

// A ref is one place where checkpoints are kept.
type ref struct {
	name, commit string
	checkpoint   string // the one that it holds; "" for a branch of many
}

var (
	oneCheckpoint = lazyregexp.New(`^refs/entire/checkpoints/(\w{2})/(\w{12,64})$`)
	branchOfMany  = lazyregexp.New(`^refs/(heads|remotes/.+)/entire/checkpoints/v1$`)
)

// refs lists where repo keeps checkpoints, in both layouts.
func refs(ctx context.Context, repo *git.Repository) ([]ref, error) {
	out, err := repo.Output(ctx, "for-each-ref", "--format=%(objectname) %(refname)",
		"refs/heads/entire/checkpoints/v1", "refs/remotes", "refs/entire/checkpoints")
	if err != nil {
		return nil, err
	}
	var all []ref
	branches := map[string]bool{} // commits: a remote's branch is mostly where ours is
	for line := range strings.Lines(string(out)) {
		commit, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if m := oneCheckpoint.FindStringSubmatch(name); m != nil && strings.HasSuffix(m[2], m[1]) {
			all = append(all, ref{name, commit, m[2]})
		} else if branchOfMany.MatchString(name) && !branches[commit] {
			branches[commit] = true
			all = append(all, ref{name, commit, ""})
		}
	}
	return all, nil
}

// A record is one session as one checkpoint holds it: the folder of a number,
// or, in the oldest checkpoints, the root itself.
type record struct {
	checkpoint, number string
	files              map[string]string // object id by name within the folder

	// From metadata.json.
	session, agent, model, branch, turn string
	created                             time.Time
	events                              []harvest.Event
}

// String names a record in a Problem.
func (r *record) String() string { return path.Join(r.checkpoint, r.number) }

// key is what the record consists of.
func (r *record) key() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		fmt.Fprintln(&b, name, r.files[name])
	}
	return b.String()
}

var number = lazyregexp.New(`^\d+$`)

// maxDepth is how deep a branch's folders go: aa/bb…/0/tasks/ID/file.
const maxDepth = 5

// records lists the sessions that the checkpoints of a ref hold. Their numbers
// have gaps. With an error, those that were found before it.
func records(o *objects, from ref) ([]*record, error) {
	byFolder := map[string]*record{}
	left := maxEntries
	err := o.walk(from.commit+"^{tree}", "", maxDepth, &left, func(file, oid string) {
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
		// A root with numbered folders holds no more than a summary.
		if r := byFolder[k]; r.number != "" || len(r.transcript()) > 0 {
			all = append(all, r)
		}
	}
	return all, err
}

var transcriptName = lazyregexp.New(`^full\.(jsonl|jsonl\.zst|log)(?:\.(\d+))?$`)

// transcript lists the files that hold the agent's own transcript, in order:
// full.jsonl, full.jsonl.001, …, or else those of full.jsonl.zst, which is
// compressed and then cut, or else the older full.log.
func (r *record) transcript() []string {
	kinds := map[string][]string{}
	for name := range r.files {
		if m := transcriptName.FindStringSubmatch(name); m != nil {
			kinds[m[1]] = append(kinds[m[1]], name)
		}
	}
	names := kinds["jsonl"]
	for _, other := range []string{"jsonl.zst", "log"} {
		if names == nil {
			names = kinds[other]
		}
	}
	// The first chunk has no number, and numbers may outgrow their three digits.
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) })
	return names
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

// describe reads the record's metadata.json. What an older version wrote in
// another way, or not at all, is no error.
func (r *record) describe(o *objects) error {
	oid, ok := r.files["metadata.json"]
	if !ok {
		return nil
	}
	data, err := o.all(oid, maxMetadata)
	if err != nil {
		return fmt.Errorf("metadata.json: %w", err)
	}
	if !json.Valid(data) { // gjson's own check overflows the stack on a file of brackets
		return fmt.Errorf("metadata.json: not JSON")
	}
	m := gjson.ParseBytes(data)
	r.session, r.model, r.branch, r.turn = m.Get("session_id").Str, m.Get("model").Str, m.Get("branch").Str, m.Get("turn_id").Str
	if at, err := time.Parse(time.RFC3339Nano, m.Get("created_at").Str); err == nil {
		r.created = at.UTC()
	}
	for _, key := range []string{"agent", "agents", "agents.0"} {
		if v := m.Get(key); v.Type == gjson.String && v.Str != "" {
			r.agent = agentName(v.Str)
			break
		}
	}
	r.events = events(m.Get("skill_events"))
	return nil
}

// agentNames are Entire's names of agents that have another in sessions and
// events than their own, in lower case with hyphens. "Agent" is what it writes of
// one that it does not know.
var agentNames = map[string]string{"claude": "claude-code", "codex-cli": "codex", "gemini-cli": "gemini", "pi-cli": "pi", "copilot": "copilot-cli", "unknown": "", "agent": ""}

// agentName is the name that sessions and events have for an agent of Entire's.
func agentName(s string) string {
	s = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), " ", "-")
	if name, ok := agentNames[s]; ok {
		return name
	}
	return s
}

// A commit is one of the user's that names a checkpoint.
type commit struct{ id, parent string }

// commits finds the commits of the user's branches that carry the trailer
// Entire-Checkpoint, by checkpoint: of several (a rebase, a cherry-pick) the
// latest.
func commits(ctx context.Context, repo *git.Repository) (map[string]commit, error) {
	out, err := repo.Output(ctx, "log", "--no-color", "--no-show-signature", "--grep=^Entire-Checkpoint:",
		"--exclude=entire/*", "--branches", "--exclude=*/entire/*", "--remotes", "--tags",
		"--format=%H%x00%P%x00%(trailers:key=Entire-Checkpoint,valueonly,separator=%x20)%x00")
	if err != nil {
		return nil, err
	}
	found := map[string]commit{}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		parent, _, _ := strings.Cut(fields[i+1], " ")
		for _, id := range strings.Fields(fields[i+2]) {
			if _, ok := found[id]; !ok {
				found[id] = commit{strings.TrimSpace(fields[i]), parent}
			}
		}
	}
	return found, nil
}
