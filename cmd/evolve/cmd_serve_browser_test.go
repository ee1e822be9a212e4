package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report/browsertest"
)

// enter opens the printed address in the browser.
func (d *servedDemo) enter(b *browsertest.Browser) {
	d.t.Helper()
	b.Open(d.Address())
	b.Wait(`location.href === "` + d.Base() + `/" && document.readyState === "complete"`)
	if c := browsertest.Ask[string](b, `document.cookie`); c != "" {
		d.t.Errorf("a script may read %q", c)
	}
	base, err := url.Parse(d.Base())
	d.must(err)
	d.http.Jar.SetCookies(base, b.Cookies())
}

// says demands words of the page.
func says(t *testing.T, b *browsertest.Browser, words ...string) {
	t.Helper()
	text := b.Text()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("the page does not say %q:\n%s", w, text)
		}
	}
}

// TestServeInABrowser goes the whole way with a mouse: approve, promote, roll back,
// edit and drop a case, review.
func TestServeInABrowser(t *testing.T) {
	t.Parallel()
	b := browsertest.New(t)
	d := serveDemo(t)
	b.Shape(1280, 900, "light")
	d.enter(b)
	says(t, b, "dataviz", "a better version", "in quarantine")
	ctx := t.Context()

	b.Click(`a[href="/queue"]`)
	b.Click(`a[href*="/approve?"]`)
	says(t, b, "What the firewall found", "new-url", "+- Take the data from https://data.example.org/latest", "Nothing is installed by this")
	b.Click(`button`)
	says(t, b, "approved: dataviz@")
	said, err := d.db.Decisions(ctx, demoSkill)
	d.must(err)
	if said[skill.HashText([]byte(d.wide))].Word != store.Approved {
		t.Errorf("not approved: %v", said)
	}

	b.Click(`a[href="/queue"]`)
	b.Click(`a[href$="/promote"]`)
	says(t, b, "+"+provenLine, "takes the place of")
	if d.file() != d.live {
		t.Fatal("installed without a word")
	}
	b.Click(`button`)
	says(t, b, "is installed in")
	if d.file() != d.proven {
		t.Fatal("not installed")
	}

	b.Click(`a.go`)
	b.Click(`a[href$="/rollback"]`)
	says(t, b, "-"+provenLine, "No version is lost")
	b.Click(`button`)
	if d.file() != d.live {
		t.Fatal("not rolled back")
	}

	cases, err := d.db.Cases(ctx, demoSkill)
	d.must(err)
	i := slices.IndexFunc(cases, func(c eval.Case) bool { return c.Checks[0].Type == eval.Contains })
	was := cases[i]
	b.Open(d.Base() + "/skills/dataviz/cases")
	b.Click(`a[href$="case?id=` + was.ID + `"]`)
	b.Click(`a[href*="/case/edit"]`)
	browsertest.Ask[bool](b, `(() => { document.querySelector("[name=prompt]").value += "\nIn two colours."; document.querySelector("[name=text0]").value = "two colours"; return true; })()`)
	b.Click(`button[type=submit]`)
	says(t, b, "case "+was.ID+" of dataviz: changed")
	now, err := d.db.Case(ctx, demoSkill, was.ID)
	d.must(err)
	if now.Prompt != was.Prompt+"\nIn two colours." || now.Checks[0].Value != "two colours" || now.Checks[0].Feedback != was.Checks[0].Feedback || len(now.Checks) != len(was.Checks) {
		t.Errorf("the case is %+v", now)
	}
	b.Click(`a.go`)
	b.Click(`a[href*="/case/drop"]`)
	b.Click(`button`)
	says(t, b, "1 case dropped")
	if _, err := d.db.Case(ctx, demoSkill, was.ID); err == nil {
		t.Error("it is there still")
	}

	b.Open(d.Base() + "/skills/dataviz/review")
	first := browsertest.Ask[string](b, `document.querySelector("[name=first]").value`)
	b.Click(`button[value="2"]`)
	labels, err := d.db.Labels(ctx, demoSkill)
	d.must(err)
	if n := len(labels); n != 21 || labels[n-1].Choice != store.SecondBetter || labels[n-1].First != first {
		t.Errorf("labels: %+v", labels)
	}
	says(t, b, "21 labels of yours", "Which answer is better?")
}

// TestServeByKeyboard: everything that can be decided can be without a mouse, and
// without scripts.
func TestServeByKeyboard(t *testing.T) {
	t.Parallel()
	b := browsertest.New(t)
	d := serveDemo(t)
	b.Shape(390, 844, "dark")
	d.enter(b)
	// to moves the focus on until it is on what it should be, and sees that it shows.
	to := func(what string) {
		t.Helper()
		for range 200 {
			b.Press(kb.Tab)
			if browsertest.Ask[bool](b, `document.activeElement.matches(`+"`"+what+"`"+`)`) {
				if browsertest.Ask[string](b, `getComputedStyle(document.activeElement).outlineStyle`) == "none" {
					t.Errorf("the focus on %s does not show", what)
				}
				return
			}
		}
		t.Fatalf("no key leads to %s", what)
	}
	b.Press(kb.Tab)
	if !browsertest.Ask[bool](b, `document.activeElement.matches(".skip")`) {
		t.Error("the first key does not offer the content")
	}
	to(`a[href$="/promote"]`)
	b.Enter()
	to(`button`)
	b.Enter()
	if d.file() != d.proven {
		t.Fatal("not installed")
	}
	to(`a.go`)
	b.Enter()
	to(`a[href$="/rollback"]`)
	b.Enter()
	to(`button`)
	b.Enter()
	if d.file() != d.live {
		t.Error("not rolled back")
	}
}

// TestServeForeigners: a page of another port of this machine has the browser's
// cookies sent, and is refused all the same; a browser without them sees nothing.
func TestServeForeigners(t *testing.T) {
	t.Parallel()
	b := browsertest.New(t)
	d := serveDemo(t)
	d.enter(b)
	b.Open(d.Base() + "/queue")
	b.Click(`a[href$="/promote"]`)
	fields := browsertest.Ask[string](b, `[...document.querySelectorAll("input[type=hidden]")].map(i => i.outerHTML).join("")`) // worse than any attacker: it knows the form

	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<form method="post" action="%s/skills/dataviz/promote">%s<button>win a prize</button></form>`, d.Base(), fields)
	}))
	defer evil.Close()
	for _, host := range []string{evil.URL, strings.Replace(evil.URL, "127.0.0.1", "localhost", 1)} {
		b.Open(host)
		b.Click(`button`)
		text := b.Text()
		if !strings.Contains(text, "another site") && !strings.Contains(text, "another origin") {
			t.Errorf("%s: %s", host, text)
		}
		b.Open(host)
		if got := browsertest.Ask[string](b, `fetch("`+d.Base()+`/", {credentials: "include"}).then(() => "read", () => "refused")`); got != "refused" {
			t.Errorf("%s has %s a page", host, got)
		}
		if got := browsertest.Ask[string](b, `new Promise(done => { const f = document.createElement("iframe"); f.src = "`+d.Base()+`/"; f.onload = () => { let got = "shown"; try { got = f.contentDocument ? "blank" : "refused"; } catch { got = "refused"; } done(got); }; document.body.append(f); })`); got != "refused" {
			t.Errorf("%s: a frame is %s", host, got)
		}
	}
	if d.file() != d.live {
		t.Fatal("another origin has installed something")
	}
	s := b.Stranger()
	for _, path := range []string{"/", "/queue", "/skills/dataviz/cases", "/?token=wrong"} {
		s.Open(d.Base() + path)
		if text := s.Text(); !strings.Contains(text, "for its owner alone") || strings.Contains(text, "dataviz") {
			t.Errorf("without a token, %s: %s", path, text)
		}
	}
	s.Open(d.Address())
	says(t, s, "this address was used")
	// The right cookie is no key to another name of this machine.
	b.Open(strings.Replace(d.Base(), "127.0.0.1", "localhost", 1) + "/")
	says(t, b, "for its owner alone")
	// Who follows the printed address from elsewhere, a chat or a file, is let in.
	d.serve()
	chat := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<a href="%s">look</a>`, d.Address())
	}))
	defer chat.Close()
	s.Open(strings.Replace(chat.URL, "127.0.0.1", "localhost", 1))
	s.Click(`a`)
	s.Wait(`location.href === "` + d.Base() + `/" && document.body.innerText.includes("dataviz")`)
}

// running makes a run that a process is at work on, with a hostile event.
func (d *servedDemo) running() (id string, end func()) {
	d.t.Helper()
	ctx := d.t.Context()
	run := &record.Run{ID: "20300102-000000-0000bb", Skill: demoSkill, Status: record.Running, Incumbent: skill.HashText([]byte(d.live)), Config: []byte(`{"max_rollouts":120}`), Started: d.a.Now()}
	j := d.db.Journal(run.ID)
	d.must(j.SaveRun(ctx, run))
	unlock, err := lockRun(d.a, run.ID)
	d.must(err)
	return run.ID, func() {
		run.Status, run.Ended = record.Finished, d.a.Now()
		d.must(j.SaveRun(ctx, run))
		unlock()
	}
}

func (d *servedDemo) event(run string, seq int, rollouts int64, best float64, text string) {
	d.t.Helper()
	d.must(d.db.Journal(run).AppendEvent(d.t.Context(), record.Event{Run: run, Seq: seq, Time: d.a.Now(), Kind: "unusable", Rollouts: rollouts, Best: &best,
		Data: []byte(fmt.Sprintf(`{"operator":"reflect","reason":%q}`, text))}))
}

// TestServeFollowsARun: what another process records is on the page without
// loading it again, as text; without scripts the page loads itself again; when the
// run ends, its report is there.
func TestServeFollowsARun(t *testing.T) {
	t.Parallel()
	b := browsertest.New(t)
	d := serveDemo(t)
	id, end := d.running()
	d.event(id, 0, 3, 0.5, "first")
	d.enter(b)
	b.Open(d.Base() + "/runs/" + id)
	says(t, b, "at work", "first", "of at most 120")
	browsertest.Ask[bool](b, `window.same = true`)
	d.event(id, 1, 41, 0.75, `<img src=x onerror="window.pwned=1"> second`)
	b.Wait(`document.getElementById("steps").innerText.includes("second")`)
	if got := browsertest.Ask[string](b, `[document.getElementById("rollouts").textContent, document.getElementById("best").textContent, document.getElementById("bar").value, document.querySelectorAll("#steps li").length, document.querySelectorAll("img").length, window.pwned, window.same].join(" ")`); got != "41 0.75 41 2 0  true" {
		t.Errorf("the page has %q", got)
	}
	shots(b, "live")
	// A hidden page requests nothing; once it is visible, it gets everything
	// once.
	browsertest.Ask[bool](b, `(() => { window.seen = true; Object.defineProperty(document, "hidden", {get: () => !window.seen}); window.look = s => { window.seen = s; document.dispatchEvent(new Event("visibilitychange")); }; window.look(false); return true; })()`)
	d.event(id, 2, 42, 0.75, "third")
	browsertest.Ask[bool](b, `(window.look(true), true)`)
	b.Wait(`document.getElementById("steps").innerText.includes("third")`)
	if n := browsertest.Ask[int](b, `document.querySelectorAll("#steps li").length`); n != 3 {
		t.Errorf("%d steps after a pause", n)
	}
	b.Scripts(false)
	b.Open(d.Base() + "/runs/" + id)
	says(t, b, "second", "42")
	if !browsertest.Ask[bool](b, `!!document.querySelector("noscript meta[http-equiv=refresh]")`) {
		t.Error("without scripts nothing loads the page again")
	}
	b.Scripts(true)
	b.Open(d.Base() + "/runs/" + id)
	browsertest.Ask[bool](b, `window.same = true`)
	end()
	b.Wait(`!window.same && document.readyState === "complete" && document.body.innerText.includes("evolve report ` + id + `")`)
	if !browsertest.Ask[bool](b, `document.body.textContent.includes("second")`) {
		t.Error("the report does not have what the run did")
	}
}

// TestServeLooks: no page is wider than a telephone, nothing hostile has
// become markup, and each is photographed if EVOLVE_SHOTS names a folder.
func TestServeLooks(t *testing.T) {
	t.Parallel()
	b := browsertest.New(t)
	d := serveDemo(t)
	const hostile = `</script><img src=x onerror="window.pwned=1"><svg onload="window.pwned=1"> ` + "\u202e" + ` "><script>window.pwned=1</script> ` + "averyveryveryveryveryveryveryveryverylongwordwithoutanyspacethatnobodycanbreakbutabrowser"
	ctx := t.Context()
	_, _, err := d.db.SaveCases(ctx, []eval.Case{{ID: "hostile-1", Skill: demoSkill, Prompt: hostile, Reference: "</textarea>" + hostile, Split: eval.Train, Checks: []eval.Check{{Type: eval.Contains, Value: "</textarea>" + hostile, Feedback: hostile}},
		Source: &eval.Source{Agent: "claude-code", Origin: "mined", Outcome: "corrected"}}})
	d.must(err)
	runs, err := d.db.Runs(ctx, demoSkill)
	d.must(err)
	d.enter(b)
	wide, sha := skill.HashText([]byte(d.wide)), skill.HashText([]byte(d.proven))
	page := form(d.get("/skills/dataviz/promote?at=" + sha))
	d.post("/skills/dataviz/promote", page, http.StatusOK)
	for name, path := range map[string]string{"status": "/", "queue": "/queue", "runs": "/runs", "report": "/runs/" + runs[len(runs)-1].ID, "nights": "/nights", "skill": "/skills/dataviz", "corrections": "/skills/dataviz/corrections", "forecast": "/skills/dataviz/run", "all-cases": "/skills/dataviz/cases",
		"diff": "/skills/dataviz/diff?from=v0&to=live", "cases": "/skills/dataviz/cases?text=hostile", "case": "/skills/dataviz/case?id=hostile-1", "edit": "/skills/dataviz/case/edit?id=hostile-1",
		"json": "/skills/dataviz/case/edit?id=hostile-1&json", "drop": "/skills/dataviz/case/drop?id=hostile-1", "review": "/skills/dataviz/review", "approve": "/skills/dataviz/approve?at=" + wide,
		"rollback": "/skills/dataviz/rollback", "refused": "/skills/dataviz/reject?at=" + sha, "missing": "/nothing"} {
		b.Open(d.Base() + path)
		shots(b, name)
		b.Shape(390, 844, "light")
		for _, s := range browsertest.Ask[[]string](b, browsertest.Sticking) {
			t.Errorf("%s at 390 px: %s", name, s)
		}
		if got := browsertest.Ask[string](b, `[window.pwned, document.querySelectorAll("img, script:not([src]), [onload], [onerror]").length].join(" ")`); got != " 0" {
			t.Errorf("%s: %q", name, got)
		}
		if n := browsertest.Ask[int](b, `[...document.querySelectorAll("input:not([type=hidden]), textarea, select")].filter(e => !e.labels.length && !e.ariaLabel).length`); n > 0 {
			t.Errorf("%s: %d fields without a name", name, n)
		}
	}
	// A hostile case that is saved as it was shown is what it was.
	b.Open(d.Base() + "/skills/dataviz/case/edit?id=hostile-1")
	b.Click(`button[type=submit]`)
	says(t, b, "case hostile-1 of dataviz: as before")
}

// shots photographs a page as it looks on a desk and on a telephone, by day and by
// night.
func shots(b *browsertest.Browser, name string) {
	if os.Getenv("EVOLVE_SHOTS") == "" {
		return
	}
	for _, width := range []int64{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			b.Shape(width, 844, scheme)
			b.Shoot(fmt.Sprintf("serve-%s-%d-%s", name, width, scheme))
		}
	}
}
