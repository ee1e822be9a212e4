package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/skill-evolve/evolve/harvest/redact"
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

// panicked tells of a bug in evolve with the place where it is, and without the
// secrets that a panic's value may hold. Panics of goroutines that nobody waits
// for never come here: the runtime prints them as they are.
func (a *app) panicked(v any, stack []byte) int {
	fmt.Fprintf(a.stderr, "evolve: panic: %s\n\n%s\n", a.clean(fmt.Sprint(v)), a.clean(string(stack)))
	fmt.Fprintln(a.stderr, "hint: this is a bug in evolve; what was measured is saved. Please report the lines above")
	if err := a.close(); err != nil {
		fmt.Fprintf(a.stderr, "evolve: %s\n", a.clean(err.Error()))
	}
	return exitFailed
}
