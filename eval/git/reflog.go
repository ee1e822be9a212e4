package git

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

const (
	maxReflog  = 32 << 20 // bytes: some 200,000 lines
	maxHistory = 200_000  // commits that History lists
)

// A Move is one line of a reflog: a ref named one commit, and names another since then.
type Move struct {
	From, To string    // full ids, of zeros if the ref did not exist
	At       time.Time // in seconds
}

// Reflog reads the log of a ref, oldest line first: of "HEAD", which each worktree has of its
// own, or of "refs/heads/…". It reads a file and starts no program; a log in a reftable is
// not read. Lines that are malformed are left out: From of the next line tells that one is
// missing. The error is fs.ErrNotExist if there is no log.
func (r *Repository) Reflog(ref string) ([]Move, error) {
	dir := r.Dirs[2]
	if ref == "HEAD" {
		dir = r.Dirs[1]
	} else if !strings.HasPrefix(ref, "refs/") || !filepath.IsLocal(ref) {
		return nil, fmt.Errorf("%q is no ref", ref)
	}
	text, err := bounded.ReadFile(filepath.Join(dir, "logs", filepath.FromSlash(ref)), maxReflog)
	if err != nil {
		return nil, err
	}
	var moves []Move
	for line := range bytes.Lines(text) {
		if m, ok := parseMove(string(line)); ok {
			moves = append(moves, m)
		}
	}
	return moves, nil
}

// parseMove parses "FROM TO Name <address> SECONDS ZONE\tmessage".
func parseMove(line string) (m Move, ok bool) {
	line, _, _ = strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
	from, rest, _ := strings.Cut(line, " ")
	to, rest, _ := strings.Cut(rest, " ")
	date := strings.Fields(rest[strings.LastIndexByte(rest, '>')+1:])
	if len(date) == 0 || len(from) != len(to) || !isID(from) || !isID(to) {
		return m, false
	}
	seconds, err := strconv.ParseInt(date[0], 10, 64)
	if err != nil || seconds < 0 || seconds > maxSeconds {
		return m, false
	}
	return Move{from, to, time.Unix(seconds, 0).UTC()}, true
}

// maxSeconds is in the year 9999: a later time cannot be written as JSON.
const maxSeconds = 253402300799

// isID reports whether s is the full id of an object, in either format.
func isID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// A Stamp is a commit and when it was committed.
type Stamp struct {
	ID string
	At time.Time
}

// History lists the commits that a ref or a full id has had as its newest, as far as its
// commits tell: the first parents, newest first. A shallow clone has no others than it
// has.
func (r *Repository) History(ctx context.Context, rev string) ([]Stamp, error) {
	if !isID(rev) && !strings.HasPrefix(rev, "refs/") {
		return nil, fmt.Errorf("%q is neither a ref nor a commit", rev)
	}
	out, err := r.Output(ctx, "rev-list", "--first-parent", "--timestamp", fmt.Sprint("--max-count=", maxHistory), rev, "--")
	if err != nil {
		return nil, err
	}
	var all []Stamp
	for line := range strings.Lines(string(out)) {
		at, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if seconds, err := strconv.ParseInt(at, 10, 64); err == nil && isID(id) {
			all = append(all, Stamp{strings.Clone(id), time.Unix(min(seconds, maxSeconds), 0).UTC()})
		}
	}
	return all, nil
}
