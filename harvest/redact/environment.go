package redact

import (
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// Keys are the secrets that this process was given: those of its environment, and
// those that were added. The zero value is ready to use, by several goroutines at once.
type Keys struct {
	mu    sync.Mutex
	added []string
}

// Add adds secrets by their values, such as the key that an agent is given.
func (k *Keys) Add(values ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, v := range values {
		if !slices.Contains(k.added, v) {
			k.added = append(k.added, v)
		}
	}
}

// Redactor finds secrets by what they look like, and those that this process was given by
// their values: a key of no known form is repeated by servers and programs like any other.
// It also knows what is added after it was made. A nil Keys knows those of the environment.
func (k *Keys) Redactor() Redactor {
	var values []string
	for _, entry := range os.Environ() {
		name, v, _ := strings.Cut(entry, "=")
		if v = strings.TrimSpace(v); secretVariable.MatchString(name) && len(v) >= 12 && !setting(v) {
			values = append(values, v)
		}
	}
	if k == nil {
		return Known(values...)
	}
	return &knowing{keys: k, environment: values}
}

// A knowing redactor knows all that its keys have at the time of each call.
type knowing struct {
	keys        *Keys
	environment []string

	mu    sync.Mutex
	known Redactor // of the first n that were added; nil before the first call
	n     int
}

// Redact implements Redactor.
func (r *knowing) Redact(s string) (clean string, n int) { return r.current().Redact(s) }

func (r *knowing) current() Redactor {
	r.keys.mu.Lock()
	added := r.keys.added // only ever appended to
	r.keys.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || r.n < len(added) {
		r.known, r.n = Known(slices.Concat(added, r.environment)...), len(added)
	}
	return r.known
}

// secretVariable matches the names of variables that hold secrets by custom.
var secretVariable = lazyregexp.New(`(?i)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?$`)

// setting reports whether the value of a variable that is named like a secret says
// where one is: a path, or an address without credentials. Half of all keys of 40
// digits in base64 hold a slash, and one of 64 begins with it.
func setting(v string) bool {
	for _, p := range []string{"./", "../", "~", `.\`} {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	if strings.HasPrefix(v, "/") && !keyNotPath(v) {
		return true
	}
	if u, err := url.Parse(v); err == nil && u.Scheme != "" && u.Host != "" {
		return u.User == nil && u.RawQuery == "" && u.Fragment == ""
	}
	_, err := os.Stat(v)
	return err == nil
}

// base64Key matches a value that is long and has no word of a path.
var base64Key = lazyregexp.New(`^[A-Za-z0-9+/]{32,}=*$`)

// keyNotPath reports whether v is rather a key in base64 that begins with a slash than
// a path: it has capitals, small letters and figures, and its first folder does not
// exist.
func keyNotPath(v string) bool {
	if !base64Key.MatchString(v) || !strings.ContainsAny(v, "0123456789") || strings.ToLower(v) == v || strings.ToUpper(v) == v {
		return false
	}
	first, _, _ := strings.Cut(v[1:], "/")
	_, err := os.Stat("/" + first)
	return err != nil
}
