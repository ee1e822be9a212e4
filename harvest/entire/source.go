// Package entire reads the sessions that Entire's CLI keeps as checkpoints in a git
// repository: a transcript of the agent's own with metadata beside it. It runs only the
// git binary, and changes nothing.
package entire

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// Options determine how checkpoints are read. Without Readers only the prompts and the
// skill events are found. Since applies to a session's last checkpoint, Exclude also to
// the repository, Exists also to a typed "/name" that Entire recorded.
type Options struct {
	harvest.Options
	// Authors, if it is not nil, are the addresses of the user: a checkpoint that
	// another person's commit recorded is left out, unless a harvest with the same
	// Cursor but without Authors has read it in this state.
	Authors []string
	// LeftOut is called, if Authors left checkpoints out, with their number: those of
	// other people, and those whose commit is not here.
	LeftOut func(others, lost int)
	// Readers are the agents whose transcripts are read.
	Readers []harvest.Kind
}

// Source reads the checkpoints of one repository.
type Source struct {
	repo  string
	opts  Options
	kinds map[string]harvest.Kind // by the name that their sessions have
}

var _ harvest.Source = (*Source)(nil)

// New returns a Source of the checkpoints in the git repository that repo is or is in.
// A repository without any has no sessions; a folder that is no repository is a
// Problem.
func New(repo string, o Options) *Source {
	if o.Redactor == nil {
		o.Redactor = redact.Detector{}
	}
	if abs, err := filepath.Abs(repo); err == nil {
		repo = abs
	}
	s := &Source{repo: repo, opts: o, kinds: map[string]harvest.Kind{}}
	for _, k := range o.Readers {
		s.kinds[k.Agent] = k
	}
	return s
}

// Holds reports whether the repository has checkpoints and is not excluded.
func (s *Source) Holds(ctx context.Context) bool {
	if s.opts.Check() != nil || s.opts.Excludes(s.repo) {
		return false
	}
	r, err := git.Open(ctx, s.repo)
	if err != nil {
		return false
	}
	defer r.Close() // what it leaves behind is in the scratch ledger
	if s.excludes(r) {
		return false
	}
	where, err := refs(ctx, r)
	return err == nil && len(where) > 0
}

// excludes reports whether the repository must not be read. A link or a worktree leads
// to a repository with another path, which is tested too.
func (s *Source) excludes(r *git.Repository) bool {
	return s.opts.Excludes(r.Dirs...)
}

// Name implements harvest.Source.
func (*Source) Name() string { return "entire" }

// idle is the time, in a Cursor, of what has no time.
var idle = time.Unix(0, 0)

// Sessions implements harvest.Source. Each commit of a session makes a checkpoint, and
// they need not hold the same parts of it: all that can be read are joined. Its Path is
// the repository, "#entire/" and its id, which is the same for every checkpoint. c may
// be nil.
func (s *Source) Sessions(ctx context.Context, c harvest.Cursor, yield func(*harvest.Session) error) ([]harvest.Problem, error) {
	if err := s.opts.Check(); err != nil {
		return nil, err
	}
	if s.opts.Excludes(s.repo) {
		return nil, nil
	}
	h := &harvesting{Source: s, cursor: c, yield: yield, complete: true}
	err := h.run(ctx)
	if err == nil {
		err = ctx.Err() // which may have ended git
	}
	return h.problems, err
}

// harvesting is one pass over a repository.
type harvesting struct {
	*Source
	cursor     harvest.Cursor
	yield      func(*harvest.Session) error
	repository *git.Repository
	objects    objects
	secrets    *redact.Session // of the session that is being read

	described   map[string]*record // by the id of their metadata.json
	checkpoints map[string]bool    // that were read
	commits     map[string]commit  // by checkpoint; nil until they are needed

	problems []harvest.Problem
	complete bool // nothing was left out that another harvest may need
	refused  bool // a session was
}

func (h *harvesting) problem(where, reason string) {
	h.report(harvest.Problem{Path: where, Reason: reason})
}

func (h *harvesting) report(p harvest.Problem) {
	h.problems = append(h.problems, p)
	h.complete = h.complete && p.Remark
}

// place is the path of something in this repository's checkpoints.
func (s *Source) place(parts ...string) string {
	return s.repo + harvest.CheckpointMark + strings.Join(append([]string{""}, parts...), "/")
}

func (h *harvesting) run(ctx context.Context) error {
	repository, err := git.Open(ctx, h.repo)
	if err != nil {
		h.problem(h.repo, err.Error())
		return nil
	}
	defer repository.Close() // what it leaves behind is in the scratch ledger
	if h.excludes(repository) {
		return nil
	}
	h.repository, h.objects = repository, objects{repository.Objects(ctx), ctx}
	defer h.objects.Close()
	where, err := refs(ctx, repository)
	if err != nil {
		h.problem(h.repo, err.Error())
	}
	if len(where) == 0 {
		return nil
	}
	state := fingerprint(reading + fmt.Sprint(where, h.opts.Authors))
	if h.seen(h.place(), state, idle) {
		return nil
	}
	sessions := h.bySession(ctx, where)
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := h.session(ctx, id, sessions[id]); err != nil {
			return err
		}
	}
	if h.complete && ctx.Err() == nil {
		h.mark(h.place(), state, idle)
		if h.refused {
			harvest.Refuse(h.cursor, h.place())
		}
	}
	return nil
}

// bySession reads the metadata of the checkpoints and groups them by session. The
// newest record of each comes first; the oldest gives it its name, which newer ones do
// not change.
func (h *harvesting) bySession(ctx context.Context, where []ref) map[string][]*record {
	sessions := map[string][]*record{} // by their unchanged ids, because two labels may be equal
	known := map[string]bool{}         // a remote's copies
	var unwanted []*record
	h.described, h.checkpoints = map[string]*record{}, map[string]bool{}
	single := func(r ref) bool { return r.checkpoint != "" }
	trees, metadata := map[bool]*budget{}, map[bool]*budget{}
	for _, kind := range []bool{false, true} {
		n := len(where) - len(slices.DeleteFunc(slices.Clone(where), func(r ref) bool { return single(r) == kind }))
		trees[kind], metadata[kind] = newBudget(maxTrees, n), newBudget(maxAllMetadata, n)
	}
	for _, from := range where {
		place := h.place(strings.TrimPrefix(from.name, "refs/"))
		whose, err := h.whose(ctx, from)
		if err != nil {
			h.problem(place, err.Error())
		}
		share := trees[single(from)].share()
		left := share
		all, err := records(&h.objects, from, &left)
		if err != nil {
			h.problem(place, err.Error())
		}
		trees[single(from)].left -= share - max(0, left)
		share = metadata[single(from)].share()
		left = share
		cut := false
		for _, r := range all {
			if ctx.Err() != nil {
				return nil
			}
			if r.author = whose(r.checkpoint); !h.wanted(r, r.author) {
				r.unwanted, r.lost = true, r.author == ""
				unwanted = append(unwanted, r)
				continue
			}
			if known[r.identity()] {
				continue
			}
			known[r.identity()] = true
			if err := h.describe(r, &left); errors.Is(err, errShare) {
				if !cut {
					h.problem(place, err.Error())
				}
				cut = true // its transcript is read nevertheless
			} else if err != nil {
				h.problem(h.place(r.String()), err.Error())
			}
			h.checkpoints[r.checkpoint] = true
			sessions[r.group()] = append(sessions[r.group()], r)
		}
		metadata[single(from)].left -= share - max(0, left)
	}
	h.unwanted(sessions, unwanted, known, metadata[false].left+metadata[true].left)
	named := map[string][]*record{}
	for _, records := range sessions {
		slices.SortStableFunc(records, func(a, b *record) int {
			return cmp.Or(b.created.Compare(a.created), cmp.Compare(b.checkpoint, a.checkpoint), cmp.Compare(len(b.number), len(a.number)), cmp.Compare(b.number, a.number))
		})
		if records = h.readable(records); len(records) > 0 {
			named[nameOf(records)] = records
		}
	}
	return named
}

// describe reads the record's metadata, and subtracts its size from left. Metadata that
// several records share is read once. If nothing is left, it returns errShare and reads
// nothing.
func (h *harvesting) describe(r *record, left *int64) error {
	oid := r.files["metadata.json"]
	if same := h.described[oid]; oid == "" {
		return nil
	} else if same != nil {
		r.description = same.description
		return nil
	}
	if *left <= 0 {
		return errShare
	}
	size, err := r.describe(&h.objects)
	if *left -= size; *left < 0 {
		return errShare
	}
	h.described[oid] = r
	return err
}

// dated matches the session names of older versions of Entire: the day and the agent's
// own id. A session that continued overnight has two such names.
var dated = lazyregexp.New(`^\d{4}-\d{2}-\d{2}-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)

// label makes an id from a foreign file fit for a path: an unfit one is replaced by its
// hash, so that different ids stay different.
func label(id string) string {
	odd := func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar || r == '/' }
	if len(id) > 200 || strings.ContainsFunc(id, odd) || strings.TrimSpace(id) != id {
		sum := sha256.Sum256([]byte(id))
		return fmt.Sprintf("%x", sum[:16])
	}
	return id
}

// session yields one session and those of its subagents, unless the cursor holds them.
func (h *harvesting) session(ctx context.Context, id string, records []*record) error {
	newest := records[0].created
	if newest.Before(h.opts.Since) {
		h.complete = false
		return nil
	}
	place, state := h.place(id), stateOf(records)
	if h.seen(place, state, newest) {
		h.keep(records)
		return nil
	}
	before := len(h.problems)
	all, err := h.read(ctx, id, place, records)
	if errors.Is(err, harvest.ErrSlow) {
		h.report(harvest.Problem{Path: place, Reason: err.Error()})
		return nil
	}
	if err != nil {
		return err
	}
	worked, refused := &harvest.Session{Folders: []string{h.repo}}, false
	for _, s := range all { // a session and its subagents have worked in the folders of all
		worked.In(s.CWD)
		worked.In(s.Folders...)
	}
	for _, s := range all {
		s.In(s.CWD)
		if s.In(worked.Folders...); !h.opts.Admits(s) {
			refused = true
			continue
		}
		harvest.Scrub(s, h.opts.Redactor)
		if err := h.yield(s); err != nil {
			return err
		}
	}
	if len(all) > 0 || !slices.ContainsFunc(h.problems[before:], func(p harvest.Problem) bool { return !p.Remark }) {
		h.mark(place, state, newest)
		h.keep(records)
	}
	if refused {
		harvest.Refuse(h.cursor, place)
		h.refused = true
	}
	return nil
}

func (h *harvesting) seen(place string, state int64, at time.Time) bool {
	return h.cursor != nil && h.cursor.Seen(place, state, moment(at))
}

func (h *harvesting) mark(place string, state int64, at time.Time) {
	if h.cursor != nil {
		h.cursor.Mark(place, state, moment(at))
	}
}

// moment is at, or idle if a Cursor cannot hold so early a time.
func moment(at time.Time) time.Time {
	if at.Before(idle) {
		return idle
	}
	return at
}

// reading is the version of how checkpoints are read. What was harvested with another
// version is read again.
const reading = "2\n"

// fingerprint is what a Cursor stores in place of a file's size.
func fingerprint(s string) int64 {
	sum := sha256.Sum256([]byte(s))
	return int64(binary.BigEndian.Uint64(sum[:]) >> 1)
}
