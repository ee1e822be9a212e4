package main

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestPagesChangeNothing: no page of evolve serve changes anything, not even
// one that describes what a decision would do; the forms do, and the pages
// show it.
func TestPagesChangeNothing(t *testing.T) {
	for name, killed := range map[string]bool{"closed": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			h := lived(t, killed)
			before := h.state()
			d := &servedDemo{t: t, a: newGlobal(strings.NewReader(""), io.Discard, io.Discard)}
			d.serve()
			cases, _, _ := read(t, "cases", "export", "dataviz")
			of := "?id=" + regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(cases)[1]
			for _, path := range []string{"/", "/runs", "/runs/last", "/runs/last/report", "/nights", "/nights/20261120-031700-1", "/queue", "/skills/on-trial",
				"/skills/on-trial/diff?from=v0&to=live", "/skills/dataviz/cases", "/skills/dataviz/case" + of, "/skills/dataviz/case/edit" + of, "/skills/dataviz/case/drop" + of,
				"/skills/proved/review", "/skills/dataviz/corrections", "/skills/dataviz/run", "/favicon.svg", "/runs/",
				"/skills/held/approve?at=" + h.approved, "/skills/held/reject?at=" + h.approved, "/skills/proved/promote", "/skills/proved/reject?at=challenger",
				"/skills/on-trial/promote", "/skills/on-trial/rollback", "/skills/alarmed/rollback", "/skills/dataviz/rollback", "/style.css", "/live.js"} {
				d.get(path)
				h.untouched(before, "GET "+path)
			}
			d.says(d.get("/"), "edited by hand since v0: the next run", "before your edit")
			// What the pages have described is done now, and nothing of it is
			// lost.
			back := d.get("/skills/on-trial/rollback")
			d.says(back, "takes the place of v1")
			d.post("/skills/on-trial/rollback", form(back), http.StatusOK)
			now, err := os.ReadFile(h.skillFile("on-trial"))
			h.must(err)
			if string(now) != swap(tablesText, "tables", "on-trial") {
				t.Errorf("rolled back to %s", now)
			}
			d.says(d.get("/skills/on-trial"), "edited by hand")
		})
	}
}
