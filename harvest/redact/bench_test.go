package redact

import (
	"fmt"
	"strings"
	"testing"
)

// cleanText is prose, code and JSON as it stands in transcripts.
func cleanText(n int) string {
	const part = `The chart is saved to data/revenue.svg with labelled axes (week, USD). Next I looked at the handler:

func (s *Server) handle(w http.ResponseWriter, r *http.Request) error {
	token := r.Header.Get("X-Request-Id") // set by the proxy
	rows, err := s.db.QueryContext(r.Context(), "SELECT id, name FROM skills WHERE owner = ?", owner)
	if err != nil {
		return fmt.Errorf("list skills: %w", err)
	}
	return json.NewEncoder(w).Encode(rows)
}
{"week":"2026-W40","usd":1200,"commit":"06a8b02c4f1de7a2b9c35d08e6f7a1b2c3d4e5f6","ok":true}
Tests pass; the parser keeps its keywords in a table, and the skill asks for the task's unit first.
`
	return strings.Repeat(part, n/len(part)+1)[:n]
}

func BenchmarkClean(b *testing.B) {
	s := cleanText(1 << 20)
	if clean, n := (Detector{}).Redact(s); n != 0 || clean != s {
		b.Fatalf("%d secrets in clean text", n)
	}
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Detector{}.Redact(s)
	}
}

// BenchmarkDashes is text that makes a regular expression for sk-… go back over
// and over.
func BenchmarkDashes(b *testing.B) {
	s := strings.Repeat("a-a-", 5000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Detector{}.Redact(s)
	}
}

func BenchmarkSecrets(b *testing.B) {
	s := cleanText(64 << 10)
	for i, c := range secrets {
		s += fmt.Sprintf("\n%d: %s\n", i, strings.Replace(c.text, "{}", c.secret, 1))
	}
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Detector{}.Redact(s)
	}
}
