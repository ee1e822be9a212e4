package docs

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/casefile"
	"github.com/skill-evolve/evolve/eval/check"
)

// docs/cases.md has every field of a case, and of every type of check an example that is
// valid.
func TestCases(t *testing.T) {
	text, err := os.ReadFile("cases.md")
	if err != nil {
		t.Fatal(err)
	}
	var fields, want []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		fields = append(fields, m[1])
	}
	for f := range reflect.TypeFor[eval.Case]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		want = append(want, name)
	}
	slices.Sort(fields)
	if slices.Sort(want); !slices.Equal(fields, want) {
		t.Errorf("cases.md has the fields %q, a case has %q", fields, want)
	}
	help, err := os.ReadFile("../cmd/evolve/internal/help/topics/cases-format.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(.*?)` \\| (.*) \\|$").FindAllStringSubmatch(string(text), -1) {
		for _, part := range m[1:] {
			if !strings.Contains(string(help), strings.ReplaceAll(part, "`", "")) && !strings.Contains(part, "DIR") {
				t.Errorf("evolve help cases-format lacks %q", part)
			}
		}
	}
	var types []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\{.*?\\})` \\|").FindAllStringSubmatch(string(text), -1) {
		line := `{"id":"x","skill":"s","prompt":"p","checks":[` + m[1] + `]}`
		if strings.Contains(m[1], `"trigger"`) {
			line = strings.TrimSuffix(line, "}") + `,"should_trigger":true}`
		}
		c, err := eval.DecodeCase([]byte(line))
		if err != nil {
			t.Errorf("%s: %v", m[1], err)
			continue
		}
		types = append(types, c.Checks[0].Type)
	}
	if all := check.Names(nil); !slices.Equal(types, all) {
		t.Errorf("cases.md has the checks %q, there are %q", types, all)
	}
	example, _, _ := strings.Cut(string(text[strings.Index(string(text), "```json\n")+8:]), "```")
	if cases, err := casefile.ReadLines(strings.NewReader(example), "cases.md"); err != nil || len(cases) != 1 {
		t.Errorf("the example: %d cases, %v", len(cases), err)
	}
}
