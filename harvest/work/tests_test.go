package work

import (
	"fmt"
	"strings"
	"testing"
)

func TestTestRuns(t *testing.T) {
	zero, one := 0, 1
	for _, c := range []struct {
		line string
		exit *int
		want string
	}{
		{"go test ./...", &zero, "go test ./...: passed"},
		{"go test ./... 2>&1", &one, "go test ./...: failed"},
		{"go test ./...", nil, "go test ./...: unknown"},
		{"go vet ./... && CGO_ENABLED=0 go test -race ./... && git commit -m x", &zero, "CGO_ENABLED=0 go test -race ./...: passed"},
		{"go vet ./... && go test ./...", &one, "go test ./...: failed"}, // or go vet did: it is not known to have passed
		{"go test ./... && git push", &one, "go test ./...: unknown"},
		{"go test ./... | tail -5", &zero, "go test ./...: unknown"},
		{"go test ./... || true", &zero, "go test ./...: unknown"},
		{"go test ./...; echo done", &zero, "go test ./...: unknown"},
		{"! go test ./...", &zero, "go test ./...: unknown"},
		{"go test ./... &", &zero, "go test ./...: unknown"},
		{"cd /home/dev/shop && go test ./...", &zero, "go test ./...: passed"},
		{"cd api && go test ./...", &zero, ""},
		{"cd /home/dev && go test ./...", &zero, ""},
		{"go test $PKG", &zero, ""},
		{"go test ./... < input", &zero, ""},
		{"pytest -k 'a or b' && npm run test:ci", &zero, "pytest -k 'a or b': passed\nnpm run test:ci: passed"},
		{"A='b c' go test", &zero, "A='b c' go test: passed"},
		{"go build ./...", &zero, ""},
		{"go 'test", &zero, ""},
	} {
		a := Act{Kind: Ran, Line: c.line, Exit: c.exit, Tests: "go test"}
		var got []string
		for _, r := range a.TestRuns("/home/dev/shop") {
			how := "unknown"
			switch {
			case r.Passed:
				how = "passed"
			case r.Failed:
				how = "failed"
			}
			got = append(got, fmt.Sprintf("%s: %s", r.Command, how))
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.line, strings.Join(got, "\n"), c.want)
		}
	}
	if runs := (Act{Kind: Ran, Line: "go test", Tests: "go test", Cut: true}).TestRuns(""); runs != nil {
		t.Errorf("%+v of a line of which only names are kept", runs)
	}
}
