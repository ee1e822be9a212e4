//go:build unix

package envfile

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want Vars
		err  string
	}{
		{"", Vars{}, ""},
		{"# keys\n\nA=1\n  export B = 2\n", nil, "line 4: it is not NAME=value"},
		{"A=1\r\nexport B=two # of them\nA=3", Vars{"A": "3", "B": "two"}, ""},
		{`A="one two" # said` + "\nB='$x \"y\"'\nC=", Vars{"A": "one two", "B": `$x "y"`, "C": ""}, ""},
		{"A=sk-ant-oat01-x_Y-z#1=", Vars{"A": "sk-ant-oat01-x_Y-z#1="}, ""},
		{"A=$HOME", nil, "line 1: the value of A has a character that a shell replaces: put it in single quotes"},
		{`A="$(pass show x)"`, nil, "line 1: the value of A has a character that a shell replaces: put it in single quotes"},
		{"A=one two", nil, "line 1: the value of A has blanks and no quotes"},
		{"A='one", nil, "line 1: the value of A does not end with its quote"},
		{"A='one'two", nil, "line 1: the value of A does not end with its quote"},
		{"sk-ant-secret", nil, "line 1: it is not NAME=value"},
		{"A B=secret", nil, "line 1: it is not NAME=value"},
		{"A=\x01", nil, "line 1: the value of A has a control character"},
	} {
		got, err := parse(c.text)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if said != c.err || !maps.Equal(got, c.want) {
			t.Errorf("%q: %v, %q", c.text, got, said)
		}
	}
}

// TestParseQuoted: what single quotes hold comes back as it is.
func TestParseQuoted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[ -&(-~]*`).Draw(t, "value")
		got, err := parse("KEY='" + value + "'")
		if err != nil || got["KEY"] != value {
			t.Fatalf("%q, %v", got, err)
		}
	})
}

// FuzzParse: nothing that an error says is a value, and a file that is read has no value of
// several lines.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"A=1\nB='2'", "export A=\"x\" # y", "A", "=", "A='", "A=\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parse(text)
		if err != nil && got != nil {
			t.Errorf("both %v and %v", got, err)
		}
		for name, value := range got {
			if strings.ContainsAny(name+value, "\n\r\x00") {
				t.Errorf("%q=%q", name, value)
			}
		}
	})
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "env")
	for _, c := range []struct {
		mode os.FileMode
		says string
	}{{0o600, ""}, {0o400, ""}, {0o640, "is open to others (mode 0640)"}, {0o604, "is open to others (mode 0604)"}} {
		_ = os.Remove(path)
		if err := os.WriteFile(path, []byte("A=1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		vars, err := Read(path)
		if c.says == "" && (err != nil || vars["A"] != "1") || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("mode %o: %v, %v", c.mode, vars, err)
		}
	}
	if _, err := Read(filepath.Dir(path)); err == nil || !strings.Contains(err.Error(), "is no file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Read(path + "x"); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("no file: %v", err)
	}
}

func TestOver(t *testing.T) {
	get := Vars{"A": "file", "C": ""}.Over(func(name string) string { return "shell " + name })
	if got := []string{get("A"), get("B"), get("C")}; got[0] != "file" || got[1] != "shell B" || got[2] != "" {
		t.Errorf("%q", got)
	}
}
