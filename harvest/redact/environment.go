package redact

import (
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/skill-evolve/evolve/harvest/redact/personal"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// Keys is a Redactor that finds secrets by what they look like, and those that this
// process was given by their values: a key of no known form is repeated by servers and
// programs like any other. A nil Keys and the zero value know no values. It is safe for
// concurrent use.
type Keys struct {
	mu     sync.Mutex
	values []string
	known  *byValue // of values; nil before they are first needed

	personal []string // kinds of personal data
}

// NewKeys knows the secrets in an environment, as os.Environ returns it.
func NewKeys(environ []string) *Keys {
	k := new(Keys)
	for _, entry := range environ {
		name, v, _ := strings.Cut(entry, "=")
		if v = strings.TrimSpace(v); secretVariable.MatchString(name) && len(v) >= 12 && !setting(v) {
			k.Add(v)
		}
	}
	return k
}

// Add adds secrets by their values, such as the key that an agent is given.
func (k *Keys) Add(values ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, v := range values {
		if !slices.Contains(k.values, v) {
			k.values, k.known = append(k.values, v), nil
		}
	}
}

// Redactor is k, which knows what is added later too.
func (k *Keys) Redactor() Redactor { return k }

// Redact implements Redactor.
func (k *Keys) Redact(s string) (clean string, n int) { return k.redact(s, inAnything, nil) }

// ByValue replaces the secrets that k knows by their values, and nothing that only looks like
// one.
func (k *Keys) ByValue(s string) string {
	if k == nil {
		return s
	}
	k.mu.Lock()
	known := k.index()
	k.mu.Unlock()
	clean, _ := known.replace(s)
	return clean
}

// index is made of what k knows now. Its caller has the lock.
func (k *Keys) index() *byValue {
	if k.known == nil {
		k.known = newByValue(k.values...)
	}
	return k.known
}

// redact implements finder.
func (k *Keys) redact(s string, look lookFor, learn func(value, kind string)) (clean string, n int) {
	if k == nil {
		return Detector{}.redact(s, look, learn)
	}
	k.mu.Lock()
	known, kinds := k.index(), k.personal
	k.mu.Unlock()
	clean, n = known.redact(s, look, learn)
	clean, more := redactPersonal(clean, kinds)
	return clean, n + more
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

// Personal makes k redact these kinds of personal data too, see personal.Kinds.
func (k *Keys) Personal(kinds ...string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.personal = slices.DeleteFunc(slices.Clone(personal.Kinds), func(kind string) bool { return !slices.Contains(kinds, kind) })
}

// redactPersonal replaces personal data of these kinds.
func redactPersonal(s string, kinds []string) (string, int) {
	var found []span
	personal.Each(s, kinds, func(start, end int, kind string) {
		if placeholderAround(s, start, end) < 0 {
			found = append(found, span{start, end, kind, false})
		}
	})
	if len(found) == 0 {
		return s, 0
	}
	if found = settle(s, found); len(found) == 0 {
		return s, 0
	}
	return replace(s, found), len(found)
}
