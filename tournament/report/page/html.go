// Package page writes the reports of runs, comparisons and nights as pages of HTML that
// need no network, no script and no other file.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/tournament/report"
)

//go:embed templates
var files embed.FS

// style is the pages' one style sheet.
var style = sync.OnceValue(func() string {
	b, err := files.ReadFile("templates/page.css")
	if err != nil {
		panic(err) // it is part of the program
	}
	return "\n" + string(b)
})

// policy allows a page its own style sheet and nothing else: no script, no
// picture, no font, no request, no other page around it.
var policy = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(style()))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
})

// templates is parsed for the first report: most commands make none.
var templates = sync.OnceValue(parseTemplates)

func parseTemplates() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"css":       func() template.CSS { return template.CSS(style()) },
		"csp":       policy,
		"short":     plain.Short,
		"plain":     func(s string) string { return plain.Text(subject.Readable(s)) },
		"code":      func(s string) []span { return spans(subject.Readable(s)) },
		"excerpt":   func(s string) string { return plain.Excerpt(s, 300) },
		"quality":   quality,
		"metric":    metricText,
		"cost":      costText,
		"latency":   latencyText,
		"tokens":    tokensText,
		"thousands": plain.Grouped,
		"mark":      report.LineKind.Mark,
		"when":      func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") },
		"duration":  plain.Duration,
		"spent":     spentText,
	}).ParseFS(files, "templates/*.html"))
}

// render executes a page's template. A half-rendered page is never written.
func render(name string, v any) func(io.Writer) error {
	return func(w io.Writer) error { return (&Frame{templates()}).Render(w, name, v) }
}

// A span is a piece of a sentence, code if it was in backticks.
type span struct {
	Text string
	Code bool
}

// spans cuts a sentence of ours at its backticks.
func spans(s string) (out []span) {
	for i, part := range strings.Split(plain.Text(s), "`") {
		if part != "" {
			out = append(out, span{part, i%2 == 1})
		}
	}
	return out
}

// A link is an entry of a page's contents.
type link struct{ ID, Name string }

// A fact is a line of a page's head.
type fact struct{ Name, Text string }

// quality is a matrix cell's text.
func quality(q *float64) string {
	if q == nil || math.IsNaN(*q) {
		return "·"
	}
	return fmt.Sprintf("%.2f", *q)
}

func metricText(x float64) string { return fmt.Sprintf("%.2f", x) }

func latencyText(m eval.Metrics) string { return secondsText(m.LatencyMS) }

// secondsText formats milliseconds.
func secondsText(ms *float64) string {
	if ms == nil {
		return "unknown"
	}
	return plain.Duration(int64(math.Round(*ms)))
}

func costText(m eval.Metrics) string { return report.USD(m.CostUSD) }

func tokensText(m eval.Metrics) string {
	if m.Tokens == nil {
		return "unknown"
	}
	return plain.Thousands(int64(math.Round(*m.Tokens)))
}

func countText(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return plain.Thousands(*n)
}

// nightLink is the file name of a run's report beside a night's.
var nightLink = lazyregexp.New(`^[0-9]{8}-[0-9]{6}-[0-9a-f]+\.html$`)
