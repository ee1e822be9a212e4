package check

import (
	"context"
	"fmt"
	"strings"
)

// A diff type checks the files that differ: that Path names one (changed, not_changed), or
// that one of them has an added line that Value matches (added, not_added).
type diff struct{ spec Spec }

var (
	changed = diff{Spec{Name: Changed, Fields: path1, Work: true,
		Example: `"path":"docs/**/*.md"`, Means: "a file whose path matches was made, changed or removed; without a / it is the file's name in any folder"}}
	notChanged = diff{Spec{Name: NotChanged, Fields: path1, Work: true,
		Example: `"path":"go.sum"`, Means: "no such file was"}}
	added = diff{Spec{Name: Added, Fields: value, Optional: path1, Work: true, Text: "pattern (RE2)",
		Example: `"value":"pattern","path":"*_test.go"`, Means: "a line that the RE2 pattern matches was added, if path is there to a file that it matches"}}
	notAdded = diff{Spec{Name: NotAdded, Fields: value, Optional: path1, Work: true, Text: "pattern (RE2)",
		Example: `"value":"pattern"`, Means: "no such line was"}}

	path1 = []string{"path"}
)

func (t diff) Spec() Spec { return t.spec }

func (t diff) lines() bool { return t.spec.Name == Added || t.spec.Name == NotAdded }

func (t diff) Validate(k *Check) error {
	if k.Path != "" {
		if err := validGlob(k.Path); err != nil {
			return err
		}
	}
	if t.lines() {
		return validPattern(k)
	}
	return nil
}

func (t diff) Grade(_ context.Context, k *Check, s *Subject) (Result, error) {
	if s.Work == nil {
		return unrecorded, nil
	}
	found, evidence := no, ""
	for _, c := range s.Work.Files {
		if k.Path != "" && !glob(k.Path, c.Path) {
			continue
		}
		if !t.lines() {
			found, evidence = yes, c.Path
			break
		}
		if line, ok := matching(k, c.Added); ok {
			found, evidence = yes, c.Path+": "+line
			break
		}
	}
	if s.Work.Cut {
		found = max(found, maybe)
	}
	return k.decide(found, t.spec.Name == Changed || t.spec.Name == Added, evidence), nil
}

// matching is the first of some lines that the check's pattern matches.
func matching(k *Check, lines string) (string, bool) {
	if lines == "" {
		return "", false
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(lines, "\n"), "\n") {
		if line = strings.TrimSuffix(line, "\r"); matches(k, line) {
			return line, true
		}
	}
	return "", false
}

func (t diff) Explain(k *Check) string {
	where := ""
	if t.lines() && k.Path != "" {
		where = " to " + k.Path
	}
	switch t.spec.Name {
	case Changed:
		return fmt.Sprintf("No file %s was changed.", k.Path)
	case NotChanged:
		return fmt.Sprintf("The file %s was changed, and must not be.", k.Path)
	case Added:
		return fmt.Sprintf("No line that matches the pattern %s was added%s.", k.Value, where)
	}
	return fmt.Sprintf("A line that matches the pattern %s was added%s, and must not be.", k.Value, where)
}
