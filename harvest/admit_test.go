package harvest

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A pattern excludes what it names by its real path, however a session spelled it.
func TestExcludesByRealPath(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	for _, name := range []string{"client-x/src", "shop"} {
		if err := os.MkdirAll(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// What another spelling of a name is where letter case does not count.
	for from, to := range map[string]string{"work": "client-x", "CLIENT-X": "client-x", "shop/vendor": "client-x/src"} {
		if err := os.Symlink(at(to), at(from)); err != nil {
			t.Fatal(err)
		}
	}
	paths, names := Options{Exclude: []string{at("client-*")}}, Options{Exclude: []string{"client-x"}}
	link, upper := Options{Exclude: []string{at("work")}}, Options{Exclude: []string{at("CLIENT-*")}}
	for _, c := range []struct {
		folders []string
		want    bool
	}{
		{[]string{at("client-x")}, true},
		{[]string{at("client-x", "src", "gone", "deep")}, true},
		{[]string{at("work")}, true},
		{[]string{at("work", "src")}, true},
		{[]string{at("CLIENT-X", "src")}, true},
		{[]string{at("shop", "vendor")}, true},
		{[]string{dir + "/shop/../client-x"}, true},
		{[]string{dir + "/shop/vendor/.."}, true},     // by its real path
		{[]string{at("shop"), at("client-x")}, true},  // moved there later
		{[]string{at("shop"), at("work"), dir}, true}, // and away again
		{nil, true}, {[]string{at("shop"), ""}, true}, // nobody knows where it was
		{[]string{at("shop"), at("client-y-z")}, false}, // see below: the glob matches it
		{[]string{at("shop"), dir, "/"}, false},
	} {
		for name, o := range map[string]Options{"paths": paths, "names": names, "link": link, "upper": upper} {
			want := c.want || name == "paths" && len(c.folders) == 2 && c.folders[1] == at("client-y-z")
			if got := o.Excludes(c.folders...); got != want {
				t.Errorf("%s: %q: %v", name, c.folders, got)
			}
		}
	}
	if (Options{}).Excludes() || (Options{}).Excludes("") || (Options{}).Excludes(at("work")) {
		t.Error("something is excluded without a pattern")
	}
}

// A session is yielded if its owner allows all folders that it worked in.
func TestAllowed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(file, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var asked [][]string
	read := func(s Session, allowed bool) (n int) {
		_, err := ReadFiles(t.Context(), []string{file}, Options{Allowed: func(f []string) bool { asked = append(asked, f); return allowed }}, nil,
			func(context.Context, io.Reader, string) (*Session, []Problem, error) { return &s, nil, nil },
			func(*Session) error { n++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := read(Session{CWD: "/a"}, true); n != 1 {
		t.Errorf("%d sessions that are allowed", n)
	}
	if n := read(Session{CWD: "/a", Folders: []string{"/a", "/b"}}, false); n != 0 {
		t.Errorf("%d sessions that are not", n)
	}
	if n := read(Session{}, false) + read(Session{CWD: "/tmp/evolve-case-1"}, true); n != 0 {
		t.Errorf("%d sessions of no folder, or of evolve's own", n)
	}
	if got := fmt.Sprint(asked); got != "[[/a] [/a /b] []]" {
		t.Errorf("asked for %s", got)
	}
}

// Folders are kept once each, and more than can be kept are no folder that is allowed.
func TestSessionIn(t *testing.T) {
	var s Session
	for i := range MaxFolders + 5 {
		s.In(fmt.Sprint("/", i))
		s.In("/0")
		s.In("")
	}
	if len(s.Folders) != MaxFolders+1 || s.Folders[MaxFolders] != "" {
		t.Errorf("%d folders, the last is %q", len(s.Folders), s.Folders[len(s.Folders)-1])
	}
	if got := (&Session{CWD: "/x"}).WorkedIn(); len(got) != 1 || got[0] != "/x" {
		t.Errorf("an older session worked in %q", got)
	}
}
