package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// secretName matches the names of variables that hold secrets by custom.
var secretName = lazyregexp.New(`(?i)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?$`)

// redactor finds secrets by what they look like, and those that this process was
// given in its environment by their values: a key of no known form is repeated
// by servers and programs like any other.
func (a *app) redactor() redact.Redactor {
	values := append([]string(nil), a.keys...)
	for _, entry := range os.Environ() {
		name, v, _ := strings.Cut(entry, "=")
		if v = strings.TrimSpace(v); secretName.MatchString(name) && len(v) >= 12 && !setting(v) {
			values = append(values, v)
		}
	}
	return redact.Known(values...)
}

// setting reports whether the value of a variable that is named like a secret says
// where one is: a path, or an address without credentials. Half of all keys of 40
// digits in base64 hold a slash, and one of 64 begins with it.
func setting(v string) bool {
	for _, p := range []string{"./", "../", "~", `.\`} {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	if strings.HasPrefix(v, "/") && !digits(v) {
		return true
	}
	if u, err := url.Parse(v); err == nil && u.Scheme != "" && u.Host != "" {
		return u.User == nil && u.RawQuery == "" && u.Fragment == ""
	}
	_, err := os.Stat(v)
	return err == nil
}

// base64Key matches what is long, and has no word of a path's.
var base64Key = lazyregexp.New(`^[A-Za-z0-9+/]{32,}=*$`)

// digits reports whether v is rather a key in base64 that begins with a slash than
// a path: it has capitals, small letters and figures, and leads nowhere.
func digits(v string) bool {
	if !base64Key.MatchString(v) || !strings.ContainsAny(v, "0123456789") || strings.ToLower(v) == v || strings.ToUpper(v) == v {
		return false
	}
	first, _, _ := strings.Cut(v[1:], "/")
	_, err := os.Stat("/" + first)
	return err != nil
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
		fmt.Fprintf(a.Stderr, "evolve: %s\n", a.clean(err.Error()))
	}
	return exitFailed
}

// tellBug tells of a bug in evolve with the place where it is, and without the
// secrets that a panic's value may hold.
func (a *app) tellBug(v any, stack []byte) {
	text := a.clean(fmt.Sprintf("%v\n\n%s", v, stack))
	fmt.Fprintf(a.Stderr, "evolve: panic: %s\n", plain.Text(text))
	fmt.Fprintln(a.Stderr, "hint: this is a bug in evolve; what was measured is saved. Please report the lines above: "+issuesURL)
}

// issuesURL is where bugs are reported.
const issuesURL = "https://github.com/skill-evolve/evolve/issues"
