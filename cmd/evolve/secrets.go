package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/tournament/report"
)

// secretName matches the names of variables that hold secrets by custom.
var secretName = regexp.MustCompile(`(?i)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?$`)

// redactor finds secrets by what they look like, and those that this process was
// given in its environment by their values: a key of no known form is repeated
// by servers and programs like any other.
func (a *app) redactor() redact.Redactor {
	values := append([]string(nil), a.keys...)
	for _, entry := range os.Environ() {
		name, v, _ := strings.Cut(entry, "=")
		// What is short or a path is a setting with such a name.
		if secretName.MatchString(name) && len(v) >= 12 && !strings.ContainsAny(v, "/\\ ") {
			values = append(values, v)
		}
	}
	return redact.Known(values...)
}

// clean is text for the owner to read, without secrets.
func (a *app) clean(text string) string {
	text, _ = a.redactor().Redact(text)
	return text
}

// panicked ends the command after a panic that came up to here; one in a
// goroutine comes as an *eval.PanicError (see eval.Shielded).
func (a *app) panicked(v any, stack []byte) int {
	a.tellBug(v, stack)
	if err := a.close(); err != nil {
		fmt.Fprintf(a.stderr, "evolve: %s\n", a.clean(err.Error()))
	}
	return exitFailed
}

// tellBug tells of a bug in evolve with the place where it is, and without the
// secrets that a panic's value may hold.
func (a *app) tellBug(v any, stack []byte) {
	text := a.clean(fmt.Sprintf("%v\n\n%s", v, stack))
	fmt.Fprintf(a.stderr, "evolve: panic: %s\n", report.Plain(text))
	fmt.Fprintln(a.stderr, "hint: this is a bug in evolve; what was measured is saved. Please report the lines above: "+issuesURL)
}

// issuesURL is where bugs are reported.
const issuesURL = "https://github.com/skill-evolve/evolve/issues"
