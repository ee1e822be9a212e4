package page

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report/reporttest"
	"golang.org/x/net/html"
)

// pageOf renders a page and reads it as XML: every element is closed, every
// attribute quoted.
func pageOf(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	dec := xml.NewDecoder(&b)
	dec.Entity = xml.HTMLEntity
	for {
		if _, err := dec.Token(); err == io.EOF {
			return page
		} else if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
	}
}

// walk visits the elements of a page as a browser would parse it.
func walk(t *testing.T, page string, visit func(*html.Node)) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			visit(n)
		}
	}
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// TestNothingExecutes: whatever others wrote stays text, in every page.
func TestNothingExecutes(t *testing.T) {
	for name, write := range pageWriters(t) {
		page := pageOf(t, write)
		for _, bad := range []string{"<script", "<img", "\x1b", "\u202e", "http://", "https://", "url(", "@import", "ZgotmplZ", " style="} {
			if strings.Contains(page, bad) {
				t.Errorf("%s holds %q", name, bad)
			}
		}
		if name == "hostile" && strings.Count(page, "alert(1)") < 100 {
			t.Errorf("%s: hostile words do not come as text: %d", name, strings.Count(page, "alert(1)"))
		}
		allowed := strings.Fields("html head meta title style body a header h1 h2 h3 h4 p span ul ol li dl dt dd nav main section table caption thead tbody tr th td figure figcaption div details summary svg desc path text code pre b br footer")
		walk(t, page, func(n *html.Node) {
			if !slices.Contains(allowed, n.Data) {
				t.Errorf("%s has a <%s>", name, n.Data)
			}
			for _, a := range n.Attr {
				switch {
				case strings.HasPrefix(a.Key, "on"), a.Key == "src", a.Key == "srcset", a.Key == "style", a.Key == "action":
					t.Errorf("%s: <%s> has %s=%q", name, n.Data, a.Key, a.Val)
				case a.Key == "href" && !strings.HasPrefix(a.Val, "#") && !nightLink.MatchString(a.Val):
					t.Errorf("%s: a link to %q", name, a.Val)
				}
			}
		})
	}
}

// TestStructure is what a screen reader and a keyboard rely on.
func TestStructure(t *testing.T) {
	for name, write := range pageWriters(t) {
		page := pageOf(t, write)
		ids, targets, seen := map[string]bool{}, []string{}, map[string]int{}
		level := 0
		walk(t, page, func(n *html.Node) {
			seen[n.Data]++
			if id := attr(n, "id"); id != "" {
				if ids[id] {
					t.Errorf("%s: two elements are called %q", name, id)
				}
				ids[id] = true
			}
			for _, ref := range []string{"aria-labelledby", "aria-describedby"} {
				targets = append(targets, strings.Fields(attr(n, ref))...)
			}
			if href := attr(n, "href"); strings.HasPrefix(href, "#") {
				targets = append(targets, href[1:])
			}
			switch n.Data {
			case "h1", "h2", "h3", "h4":
				if l := int(n.Data[1] - '0'); l > level+1 {
					t.Errorf("%s: an %s follows an h%d", name, n.Data, level)
					level = l
				} else {
					level = l
				}
			case "html":
				if attr(n, "lang") != "en" {
					t.Errorf("%s: no language", name)
				}
			case "svg":
				if attr(n, "aria-hidden") != "true" && (attr(n, "role") != "img" || n.FirstChild == nil || n.FirstChild.Data != "title" || n.FirstChild.FirstChild == nil) {
					t.Errorf("%s: drawing %q has no title", name, attr(n, "id"))
				}
			case "th":
				if s := attr(n, "scope"); s != "col" && s != "row" {
					t.Errorf("%s: a heading of a table without a scope", name)
				}
			case "div":
				// What scrolls can be reached by the keyboard.
				if attr(n, "class") == "wide" && attr(n, "tabindex") != "0" {
					t.Errorf("%s: a region that scrolls cannot be focused", name)
				}
			}
		})
		for _, id := range targets {
			if !ids[id] {
				t.Errorf("%s: nothing is called %q", name, id)
			}
		}
		for _, once := range []string{"h1", "main", "header", "footer", "title"} {
			if n := seen[once]; n != 1 && once != "title" || n == 0 {
				t.Errorf("%s has %d <%s>", name, n, once)
			}
		}
	}
}

// TestOrder: the verdict first, what qualifies it next, then the cost and what to
// do, before anything else.
func TestOrder(t *testing.T) {
	page := pageOf(t, Run(reporttest.Model(t, reporttest.HostileRun(t))))
	at := -1
	for _, part := range []string{"SIMULATED</span>", `class="verdict promising"`, `class="warnings"`, "<dt>cost</dt>", "<dt>next</dt>", "<nav ", "<main "} {
		i := strings.Index(page, part)
		if i <= at {
			t.Errorf("%s stands at %d, behind what should follow it at %d", part, i, at)
		}
		at = i
	}
	if strings.Contains(page[strings.Index(page, "<body"):strings.Index(page, "<main ")], "<details") {
		t.Error("something before the content is folded")
	}
}

func TestRunPage(t *testing.T) {
	m := reporttest.Model(t, reporttest.Tournament(t, 30, 60))
	page := pageOf(t, Run(m))
	plots := map[string]bool{}
	walk(t, page, func(n *html.Node) {
		if id := attr(n, "id"); strings.HasPrefix(id, "plot-") {
			plots[id] = true
		}
	})
	for _, id := range []string{"plot-evidence", "plot-forest", "plot-quality", "plot-lineage", "plot-heat", "plot-scatter", "plot-bars"} {
		if !plots[id] {
			t.Errorf("no %s among %v", id, plots)
		}
	}
	for _, want := range []string{`class="rule"`, "1 in 25 decides", "no-skill", `class="row kernel"`, "- Sort them.", "“no, sign it”", `href="#case-`,
		"<h2>How it was decided</h2>", "On 24 unseen requests: ", "Probably better.", "failed: Read CHANGELOG.md", "differs by ±0.20", "name the version", "$41.00", "101M"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page, `<details class="case">`); n != 60 {
		t.Errorf("%d cases, want 60", n)
	}
}

// TestConfirmedQuality: the page tells the quality that had no part
// in choosing the challenger, as the terminal does.
func TestConfirmedQuality(t *testing.T) {
	d := reporttest.Tournament(t, 6, 20)
	find := func() string {
		for _, f := range exact(reporttest.Model(t, d)) {
			if f.Name == "validation" {
				return f.Text
			}
		}
		return ""
	}
	if got := find(); strings.Contains(got, "no part") {
		t.Errorf("%q where nothing was confirmed", got)
	}
	for _, sha := range []string{d.Run.Challenger, d.Candidates[2].SHA} {
		raw := fmt.Sprintf(`{"sha256":%q,"quality":0.1234,"cases":10}`, sha)
		d.Events = append(d.Events, record.Event{Kind: "confirmed", Data: []byte(raw), Rollouts: 200})
	}
	if got := find(); !strings.Contains(got, "0.12 with the new text") || !strings.Contains(got, "no part in choosing it") {
		t.Errorf("%q", got)
	}
}
