package plain

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp/syntax"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestError(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, noFile := os.Open(filepath.Join(dir, "x"))
	_, noFolder := os.Open(filepath.Join(file, "x"))
	_, folder := os.ReadFile(dir)
	_, regex := syntax.Parse("a(b", syntax.Perl)
	_, number := strconv.ParseFloat("abc", 64)
	_, program := exec.LookPath("no-such-program")
	var v struct{ N int }
	dec := yaml.NewDecoder(strings.NewReader("m: 1\nn: much\n"))
	dec.KnownFields(true)
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("full"), "full"},
		{fmt.Errorf("read cases: %w", noFile), "read cases: " + dir + "/x: there is no such file or folder"},
		{fmt.Errorf("read: %w", noFolder), "read: " + file + "/x: a part of the path is no folder"},
		{folder, dir + ": it is a folder"},
		{os.Mkdir(dir, 0o700), dir + ": it is there already"},
		{os.Link(file, file), file + ": it is there already"},
		{fmt.Errorf("checks[1]: regex: %w", regex), "checks[1]: regex: no regular expression: missing closing ): `a(b`"},
		{errors.Join(number, noFile), "\"abc\" is no number that fits here\n" + dir + "/x: there is no such file or folder"},
		{fmt.Errorf("x cannot be read: %w", syscall.ENOENT), "x cannot be read: there is no such file or folder"},
		{program, "there is no program no-such-program on the PATH"},
		{json.Unmarshal([]byte(`{"N":"much"}`), &v), "N takes a whole number, not string"},
		{fmt.Errorf("f.yaml: %w", dec.Decode(&v)), `f.yaml: line 1: unknown key "m"; line 2: ` + "`much` cannot be a value here"},
		{fmt.Errorf("f.yaml: %w", yaml.Unmarshal([]byte("a: b: c\n"), &v)), "f.yaml: this is no YAML: mapping values are not allowed in this context"},
	} {
		if c.err == nil {
			t.Fatalf("no error for %q", c.want)
		}
		if got := Error(c.err); got != c.want {
			t.Errorf("%v\ngot  %s\nwant %s", c.err, got, c.want)
		}
	}
}
