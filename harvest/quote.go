package harvest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/ownwords"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// origins names, in every prompt of this package, the origin of what it quotes.
// Sessions keep no text of tools and web pages, but an assistant may repeat them
// anywhere, so all its answers count as such.
const (
	checksOrigins = "Recorded (origin of request and corrections: user; of answer and accepted: assistant, which may repeat tools and web pages; of context: its role; of pasted: unknown, the user copied it or a program put it there):\n"
	workOrigins   = "Recorded (origin of request and corrections: user; of answer and accepted: assistant, which may repeat tools and web pages; of work and accepted_work: the assistant's calls of tools; of context: its role; of pasted: unknown, the user copied it or a program put it there):\n"
)

// jsonString matches a string in JSON made by json.Marshal.
var jsonString = lazyregexp.New(`"(?:[^"\\]|\\.)*"`)

// Quote is v as a model may see it, below our line about its origins: JSON, in which
// text cannot end its own string, with every string inert, every line marked as a
// quotation, and all secrets redacted.
func Quote(origins string, v any, red redact.Redactor) (string, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return "", fmt.Errorf("quote recorded text: %w", err)
	}
	data = jsonString.ReplaceAllFunc(data, func(lit []byte) []byte {
		var s string
		if json.Unmarshal(lit, &s) != nil {
			return lit
		}
		clean, _ := red.Redact(eval.Inert(s)) // also removes what was hidden inside a secret
		out, err := json.Marshal(clean)
		if err != nil {
			return lit
		}
		return bytes.TrimSpace(out)
	})
	text, _ := red.Redact(string(data))
	return origins + eval.Quote(text), nil
}

// Pastes are what a prompt shows apart from a person's own words.
type Pastes []string

// TakeFrom returns a message with a mark, "[pasted 1]", in place of each part that is
// not the person's own. It keeps at most MaxQuote characters of the message.
func (p *Pastes) TakeFrom(text string) string {
	var b strings.Builder
	left := MaxQuote
	for _, part := range ownwords.Parts(text) {
		shown := Head(part.Text, left)
		left -= utf8.RuneCountInString(shown)
		switch {
		case part.Own:
			b.WriteString(shown)
		case strings.TrimSpace(shown) != "":
			*p = append(*p, shown)
			fmt.Fprintf(&b, "[pasted %d]\n", len(*p))
		}
	}
	return strings.TrimSpace(b.String())
}

// Unpasted separates a message. own is the person's text, at most most characters, with
// "[pasted N]" in place of each other part; pasted are the beginnings of these parts.
func Unpasted(text string, most int) (own string, pasted []string) {
	var p Pastes
	own = Head(p.TakeFrom(text), most)
	for i := range p {
		p[i] = Head(p[i], most/2)
	}
	return own, p
}
