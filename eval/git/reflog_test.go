package git

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReflog(t *testing.T) {
	dir, commit := repository(t)
	first := given(t, dir, "rev-parse", "HEAD~1")
	r, err := Open(t.Context(), filepath.Join(dir, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, ref := range []string{"HEAD", "refs/heads/main"} {
		moves, err := r.Reflog(ref)
		if err != nil || len(moves) != 2 || moves[0].From != strings.Repeat("0", 40) || moves[0].To != first || moves[1].From != first || moves[1].To != commit {
			t.Errorf("%s: %+v, %v", ref, moves, err)
		}
	}
	if _, err := r.Reflog("refs/heads/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no branch: %v", err)
	}
	for _, ref := range []string{"refs/../../config", "/etc/passwd", "config", ""} {
		if moves, err := r.Reflog(ref); err == nil {
			t.Errorf("%q: %v", ref, moves)
		}
	}
	history, err := r.History(t.Context(), "refs/heads/main")
	if err != nil || len(history) != 2 || history[0].ID != commit || history[1].ID != first || history[0].At.IsZero() {
		t.Errorf("%+v, %v", history, err)
	}
	for _, rev := range []string{"--all", "main", "refs/heads/none"} {
		if got, err := r.History(t.Context(), rev); err == nil {
			t.Errorf("%q: %v", rev, got)
		}
	}
	o := r.Objects(t.Context())
	defer o.Close()
	c, err := o.Header(commit[:10])
	if err != nil || c.ID != commit || !slices.Equal(c.Parents, []string{first}) || c.Committer.Email != "a@b" || !c.Committer.At.Equal(history[0].At) || c.Author != c.Committer {
		t.Errorf("%+v, %v", c, err)
	}
}

func FuzzMove(f *testing.F) {
	zero, one := strings.Repeat("0", 40), strings.Repeat("ab", 20)
	f.Add(zero + " " + one + " A B <a@b> 1795197857 +0100\tcommit: x > y <z> 1 +0000")
	f.Add(zero + " " + one + " <> 99999999999999 +0000\t")
	f.Add(one + " " + one)
	f.Fuzz(func(t *testing.T, line string) {
		m, ok := parseMove(line)
		if ok != (m.To != "") || ok && (!strings.HasPrefix(line, m.From+" "+m.To) || m.At.Year() > 9999 || m.At.Before(time.Unix(0, 0))) {
			t.Errorf("%q: %+v, %v", line, m, ok)
		}
	})
}
