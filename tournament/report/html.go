package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

//go:embed report.html
var page embed.FS

var templates = template.Must(template.New("report.html").Funcs(template.FuncMap{
	"short":    Short,
	"plain":    Plain,
	"quality":  quality,
	"percent":  percent,
	"metric":   metricText,
	"cost":     costText,
	"latency":  latencyText,
	"tokens":   tokensText,
	"count":    countText,
	"usd":      usdText,
	"mark":     func(k LineKind) string { return mark[k] },
	"when":     func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") },
	"duration": func(ms int64) string { return (time.Duration(ms) * time.Millisecond).Round(time.Second / 10).String() },
	"indent":   func(n int) string { return fmt.Sprintf("%.1frem", float64(min(n, 12))*1.1) },
}).ParseFS(page, "report.html"))

// view is what the page shows.
type view struct {
	*Model
	Quality, Evidence *Chart
	Shown             []Candidate // with metrics
	Columns           []column
}

// A column is the head of one of the matrix's.
type column struct{ SHA, Role string }

// HTML writes the report as one self-contained page: no script, no network.
func (m *Model) HTML(w io.Writer) error {
	v := &view{Model: m, Quality: qualityChart(m.Events)}
	alpha := 0.0
	if m.Verdict != nil {
		alpha = m.Verdict.Alpha
	}
	v.Evidence = evidenceChart(m.Evidence, alpha)
	for _, c := range m.Candidates {
		if c.Metrics.N > 0 {
			v.Shown = append(v.Shown, c)
		}
	}
	for _, sha := range m.Matrix.Candidates {
		role := ""
		switch sha {
		case m.Incumbent:
			role = "incumbent"
		case m.Challenger:
			role = "challenger"
		}
		v.Columns = append(v.Columns, column{sha, role})
	}
	if err := templates.ExecuteTemplate(w, "report.html", v); err != nil {
		return fmt.Errorf("render report: %w", err)
	}
	return nil
}

// quality is a matrix cell's text.
func quality(q *float64) string {
	if q == nil {
		return "·"
	}
	return fmt.Sprintf("%.2f", *q)
}

// percent is a matrix cell's shade, 0 to 100 in steps of 10.
func percent(q *float64) int {
	if q == nil || math.IsNaN(*q) {
		return -1
	}
	return int(math.Round(min(max(*q, 0), 1)*10)) * 10
}

func metricText(x float64) string { return fmt.Sprintf("%.2f", x) }

func latencyText(m eval.Metrics) string {
	if m.LatencyMS == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.2f s", *m.LatencyMS/1000)
}

func costText(m eval.Metrics) string {
	if m.CostUSD == nil {
		return "unknown"
	}
	return usdText(m.CostUSD)
}

func tokensText(m eval.Metrics) string {
	if m.Tokens == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.0f", *m.Tokens)
}

func countText(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return fmt.Sprint(*n)
}

// usdText has two digits that count.
func usdText(x *float64) string {
	switch {
	case x == nil:
		return "unknown"
	case *x == 0:
		return "$0"
	case *x < 0.01:
		return fmt.Sprintf("$%.2g", *x)
	}
	return fmt.Sprintf("$%.4f", *x)
}
