package main

import (
	"fmt"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/harvest/redact/personal"
)

// redactor removes this process's keys by their values, and the kinds of personal data
// that the configuration names; all kinds if it cannot be read.
func (a *global) redactor() redact.Redactor {
	if _, err := a.config(); err != nil {
		a.keys.Personal(personal.Kinds...)
	}
	return a.keys.Redactor()
}

// clean removes secrets from text for the owner.
func (a *global) clean(text string) string {
	text, _ = a.keys.Redact(text)
	return text
}

// panicked ends the command after a panic that reached the top; one in a
// goroutine arrives as an *eval.PanicError (see eval.Shielded).
func (a *global) panicked(v any, stack []byte) int {
	a.tellBug(v, stack)
	if err := a.close(); err != nil {
		fmt.Fprintf(a.Stderr, "evolve: %s\n", a.clean(err.Error()))
	}
	return exitFailed
}

// tellBug reports a bug in evolve with its stack, without the secrets that a
// panic's value may hold.
func (a *global) tellBug(v any, stack []byte) {
	text := a.clean(fmt.Sprintf("%v\n\n%s", v, stack))
	fmt.Fprintf(a.Stderr, "evolve: panic: %s\n", plain.Text(text))
	fmt.Fprintln(a.Stderr, "hint: this is a bug in evolve; what was measured is saved. Please report the lines above: "+issuesURL)
}

// issuesURL takes bug reports.
const issuesURL = "https://github.com/skill-evolve/evolve/issues"
