package tracked

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/proposed"
	"github.com/skill-evolve/evolve/tournament/release"
)

// The script of a hook that git tracks gets into the working tree at its owner's word for the
// bytes that will be there, and no others; a patch puts nothing in place and needs none.
func TestTrackedScript(t *testing.T) {
	const weak, strong = "#!/bin/sh\nexit 0\n", "#!/bin/sh\nexit 2\n"
	s := newShop(t)
	path := filepath.Join(s.dir, "hooks", "guard.sh")
	s.write(path, weak)
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "a hook")
	var err error
	if s.name, err = s.in.Layout.Key(path); err != nil {
		t.Fatal(err)
	}
	s.proved(strong)
	holds := func(want string) {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want || info.Mode().Perm() != 0o755 {
			t.Errorf("%v holds %q, %v", info.Mode(), got, err)
		}
	}
	promote := func(agreed string, kind proposed.Kind) (*Done, error) {
		t.Helper()
		in := *s.in
		in.Word = true
		plan, err := in.Next(t.Context(), s.live(), store.OpPromote, release.Request{})
		if err != nil {
			t.Fatal(err)
		}
		if plan.Runs() != skill.HashText([]byte(strong)) {
			t.Fatalf("it would run %q", plan.Runs())
		}
		plan.Agree(agreed)
		return Promote(t.Context(), &in, plan, Options{Kind: kind, ForEveryone: true})
	}
	for _, of := range []string{"", skill.HashText([]byte(weak))} {
		_, err := promote(of, proposed.Tree)
		s.refused(err, "nothing but your word for its exact bytes")
		holds(weak)
	}
	if d, err := promote("", proposed.Patch); err != nil || !strings.Contains(string(d.Patch), "+exit 2") {
		t.Errorf("%+v, %v", d, err)
	}
	holds(weak)
	crlf := strings.ReplaceAll(weak, "\n", "\r\n")
	if err := os.WriteFile(path, []byte(crlf), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = promote(skill.HashText([]byte(strong)), proposed.Tree)
	s.refused(err, "other line ends")
	holds(crlf)
	if err := os.WriteFile(path, []byte(weak), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := promote(skill.HashText([]byte(strong)), proposed.Tree); err != nil {
		t.Fatal(err)
	}
	holds(strong)
	if _, err := Rollback(t.Context(), s.in, s.live(), false); err != nil {
		t.Fatal(err)
	}
	holds(weak)
}
