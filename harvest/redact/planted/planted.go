// Package planted has texts for tests in which secrets, or look-alikes of secrets, are at
// known places.
package planted

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A Text holds planted secrets, or look-alikes that have to stay. Secrets are made when
// a test runs: a specification is "prefix|alphabet:count|suffix", and {{1}} is the place
// of the first.
type Text struct {
	ID       string    `json:"id"`
	Row      string    `json:"row"`
	Kind     string    `json:"kind"`
	Class    string    `json:"class"` // typed, tool or answer
	Text     string    `json:"text"`
	Messages []Message `json:"messages"` // in the place of Class and Text
	Secrets  []string  `json:"secrets"`
	Keep     []string  `json:"keep"`

	Values, Bodies []string // the secrets, and what of each is made up
}

// A Message is one of several texts of a session.
type Message struct {
	Class string `json:"class"`
	Text  string `json:"text"`
}

var (
	specification = regexp.MustCompile(`^([^|]*)\|([a-z0-9]+):([1-9]\d*)\|([^|]*)$`)
	slot          = regexp.MustCompile(`\{\{(\d+)\}\}`)
)

// Read returns the texts in the file name of dir, with secrets made from seed: none if
// there is no such file.
func Read(dir, name string, seed uint64) (out []*Text, err error) {
	f, err := os.Open(filepath.Join(dir, name))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		t := new(Text)
		if err = json.Unmarshal(lines.Bytes(), t); err == nil {
			err = t.make(seed)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		out = append(out, t)
	}
	return out, lines.Err()
}

// make makes the secrets of a text.
func (t *Text) make(seed uint64) error {
	id := fnv.New64a()
	id.Write([]byte(t.ID))
	r := rand.New(rand.NewPCG(id.Sum64(), seed))
	for _, s := range t.Secrets {
		m := specification.FindStringSubmatch(s)
		if m == nil || alphabets[m[2]] == "" {
			return fmt.Errorf("%s: specification %q", t.ID, s)
		}
		n, err := strconv.Atoi(m[3])
		if err != nil {
			return fmt.Errorf("%s: specification %q", t.ID, s)
		}
		body := madeUp(r, m[2], n)
		t.Bodies = append(t.Bodies, body)
		t.Values = append(t.Values, m[1]+body+m[4])
	}
	if len(t.Messages) == 0 {
		t.Messages = []Message{{t.Class, t.Text}}
	}
	for i := range t.Messages {
		t.Messages[i].Text = slot.ReplaceAllStringFunc(t.Messages[i].Text, func(m string) string {
			n, _ := strconv.Atoi(strings.Trim(m, "{}"))
			return t.Values[n-1]
		})
	}
	return nil
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

var alphabets = map[string]string{"hex": "0123456789abcdef", "digits": "0123456789", "pin": "0123456789", "lower": letters[:26], "upper": letters[26:],
	"alnum": letters + "0123456789", "base64": letters + "0123456789+/", "base64url": letters + "0123456789-_", "base32": letters[26:] + "234567",
	"words": " ", "password": " "}

func madeUp(r *rand.Rand, alphabet string, n int) string {
	const digits = "0123456789"
	for {
		var b strings.Builder
		switch alphabet {
		case "words":
			words := strings.Fields("amber anchor basket beetle candle canyon copper cradle dragon ember falcon feather galaxy garden hammer harbor island jacket kettle lantern lizard magnet meadow needle nutmeg orchid oyster paddle pepper quartz rabbit ribbon saddle shadow silver tunnel turtle velvet violet walnut whistle window winter yellow zipper")
			for i := range n {
				if i > 0 {
					b.WriteByte('-')
				}
				b.WriteString(words[r.IntN(len(words))])
			}
			return b.String()
		case "password":
			ends, all := letters+digits, letters+digits+letters+digits+strings.Repeat("!#%*_", 4)
			b.WriteByte(ends[r.IntN(len(ends))])
			for range n - 2 {
				b.WriteByte(all[r.IntN(len(all))])
			}
			b.WriteByte(ends[r.IntN(len(ends))])
			if v := b.String(); strings.ContainsAny(v, digits) && strings.ContainsAny(v, letters) && strings.ContainsAny(v, "!#%*_") {
				return v
			}
		default:
			abc := alphabets[alphabet]
			for range n {
				b.WriteByte(abc[r.IntN(len(abc))])
			}
			if v := b.String(); n < 4 || alphabet != "alnum" && alphabet != "hex" && alphabet != "base32" || strings.ContainsAny(v, digits) && strings.ContainsAny(v, letters) {
				return v
			}
		}
	}
}

// Leaks are the secrets that a text holds, whole or what is made up of them.
func (t *Text) Leaks(text string) (out []string) {
	for i, v := range t.Values {
		if strings.Contains(text, v) || len(t.Bodies[i]) >= 8 && strings.Contains(text, t.Bodies[i]) {
			out = append(out, v)
		}
	}
	return out
}
