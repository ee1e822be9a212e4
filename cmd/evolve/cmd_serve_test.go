package main

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report/serve"
)

// A servedDemo is the demo's home under evolve serve, with a candidate that is
// proven and one that the firewall holds.
type servedDemo struct {
	t            *testing.T
	a            *global
	db           *store.Store
	path         string // of the SKILL.md
	live         string
	proven, wide string // texts
	*serve.Server
	http *http.Client
}

const provenLine = "- Say where each series comes from."

func serveDemo(t *testing.T) *servedDemo {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "demo")
	if code := run(context.Background(), machine{}, []string{"demo", "--keep", dir, "-q"}, strings.NewReader(""), io.Discard, io.Discard); code != exitDone {
		t.Fatalf("demo: exit %d", code)
	}
	a := newGlobal(strings.NewReader(""), io.Discard, io.Discard)
	a.demo.sandboxed = true
	own := map[string]string{"EVOLVE_HOME": filepath.Join(dir, "evolve"), "CLAUDE_CONFIG_DIR": filepath.Join(dir, ".claude")}
	a.Getenv = func(k string) string { return own[k] }
	t.Cleanup(func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	})
	d := &servedDemo{t: t, a: a, path: filepath.Join(dir, ".claude", "skills", demoSkill, skill.FileName)}
	var err error
	d.db, err = a.store(t.Context())
	d.must(err)
	d.live = d.file()
	d.proven = strings.TrimRight(d.live, "\n") + "\n" + provenLine + "\n"
	d.wide = strings.TrimRight(d.live, "\n") + "\n- Take the data from https://data.example.org/latest and cite it.\n"
	d.candidates()
	d.serve()
	return d
}

// serve serves the home as `evolve serve` does, until the test ends.
func (d *servedDemo) serve() {
	t := d.t
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	d.must(err)
	looking := *d.a
	looking.access, looking.open.db, looking.open.scratch = datadir.Looks, nil, nil
	db, err := looking.store(t.Context())
	d.must(err)
	t.Cleanup(func() { d.must(looking.close()) })
	p := served(&looking, db)
	d.Server = serve.New(p, l.Addr().(*net.TCPAddr).Port)
	d.Server.Explain = p.Explain
	d.Server.Every = 5 * time.Millisecond
	d.Server.Bug = func(v any, stack []byte) { t.Errorf("panic: %v\n%s", v, stack) }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Server.Serve(ctx, l, log.New(io.Discard, "", 0)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	jar, err := cookiejar.New(nil)
	d.must(err)
	d.http = &http.Client{Jar: jar}
}

// client is let in: by the address with the token, or as the browser that entered by it.
func (d *servedDemo) client() *http.Client {
	d.t.Helper()
	base, err := url.Parse(d.Base())
	d.must(err)
	if len(d.http.Jar.Cookies(base)) == 0 {
		r, err := d.http.Get(d.Address())
		d.must(err)
		d.read(r, http.StatusOK, "enter")
	}
	return d.http
}

func (d *servedDemo) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *servedDemo) file() string {
	d.t.Helper()
	b, err := os.ReadFile(d.path)
	d.must(err)
	return string(b)
}

// candidates puts the two into a run of their own.
func (d *servedDemo) candidates() {
	d.t.Helper()
	ctx, hash := d.t.Context(), func(s string) string { return skill.HashText([]byte(s)) }
	run := &record.Run{ID: "20300101-000000-0000aa", Skill: demoSkill, Status: record.Finished, Incumbent: hash(d.live), Challenger: hash(d.proven),
		Started: time.Now(), Ended: time.Now()}
	j := d.db.Journal(run.ID)
	d.must(j.SaveRun(ctx, run))
	cases, err := d.db.Cases(ctx, demoSkill)
	d.must(err)
	for i, c := range []record.Candidate{{Text: []byte(d.live), State: record.Seed, Operator: "found"},
		{Text: []byte(d.proven), State: record.Pooled, Operator: "reflect", Parents: []string{hash(d.live)}, Taught: []string{cases[0].ID}},
		{Text: []byte(d.wide), State: record.Quarantined, Operator: "reflect", Reason: "new-url: the URL https://data.example.org/latest is new", Parents: []string{hash(d.live)}, Taught: []string{cases[1].ID}}} {
		c.Run, c.Seq, c.SHA = run.ID, i, skill.HashText(c.Text)
		d.must(j.SaveCandidate(ctx, &c))
	}
	level := (&record.TrialNumber{Number: 2}).Level() // the demo's own is the first
	tr, none := pareto.NewTrial(pareto.DefaultConfig().Within(level)), pareto.NewTrial(pareto.DefaultConfig())
	for range 40 {
		tr.Add(pareto.Pair{Quality: 1, Retries: 1})
	}
	state, err := json.Marshal(map[string]any{"version": 1, "start": none, "trial": tr})
	d.must(err)
	d.must(j.SaveTrial(ctx, &record.TrialRecord{Skill: demoSkill, Incumbent: hash(d.live), Challenger: hash(d.proven), Run: run.ID,
		Decision: pareto.Promote, State: state, Updated: time.Now()}))
}

// get reads a page.
func (d *servedDemo) get(path string) string {
	d.t.Helper()
	r, err := d.client().Get(d.Base() + path)
	d.must(err)
	return d.read(r, http.StatusOK, path)
}

func (d *servedDemo) read(r *http.Response, want int, what string) string {
	d.t.Helper()
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	d.must(err)
	if r.StatusCode != want {
		d.t.Fatalf("%s: %s\n%s", what, r.Status, b)
	}
	return string(b)
}

var hidden = regexp.MustCompile(`name="(csrf|at|seen|id|case|first|second)" value="([^"]*)"`)

// form is what an unchanged form of a page sends.
func form(page string) url.Values {
	v := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(page, -1) {
		v.Set(m[1], m[2])
	}
	return v
}

// post sends a page's form to the page that has it.
func (d *servedDemo) post(path string, v url.Values, want int) string {
	d.t.Helper()
	r, err := d.client().PostForm(d.Base()+path, v)
	d.must(err)
	return d.read(r, want, "POST "+path)
}

func (d *servedDemo) says(page string, words ...string) {
	d.t.Helper()
	for _, w := range words {
		if !strings.Contains(page, w) {
			d.t.Errorf("the page does not say %q:\n%s", w, page)
		}
	}
}

// TestServeReads: every page of real data exists and agrees with its command.
func TestServeReads(t *testing.T) {
	t.Parallel()
	d := serveDemo(t)
	runs, err := d.db.Runs(t.Context(), demoSkill)
	d.must(err)
	sha, wide := skill.HashText([]byte(d.proven)), skill.HashText([]byte(d.wide))
	d.says(d.get("/"), "dataviz", "105 uses, 67 corrected", "a better version", `href="/skills/dataviz/promote"`, `href="/skills/dataviz/approve?at=`+wide[:12])
	d.says(d.get("/queue"), "a better version", "in quarantine: new-url", "/skills/dataviz/approve?at="+wide[:12], "/skills/dataviz/reject?at="+wide[:12], `href="/skills/dataviz/promote"`)
	d.says(d.get("/runs"), runs[0].ID, "dataviz")
	d.says(d.get("/runs/"+runs[len(runs)-1].ID), "Requests × texts", "The search", "evolve report")
	d.says(d.get("/runs"), "better (at most 5 % luck)", "the same")
	d.says(d.get("/nights"), "No night yet")
	d.says(d.get("/skills/dataviz/corrections"), "the colours must come from a colour-blind safe palette", "written in SKILL.md", "You corrected 67 of 105 turns")
	d.says(d.get("/skills/dataviz/run"), "evolve --skill dataviz", "unseen", "free (simulated)", "has spent nothing")
	d.says(d.get("/skills/dataviz"), "105 uses from ", ", 67 of them corrected", "v1: 9 better")
	for _, path := range []string{"/runs/", "/nights/", "/queue/", "/favicon.svg"} {
		d.get(path)
	}
	d.says(d.get("/skills/dataviz"), "v0", sha[:12], "diff?to="+sha, "Lineage")
	d.says(d.get("/skills/dataviz/diff?to="+sha), provenLine, `class="added"`, "kernel")
	d.says(d.get("/skills/dataviz/cases"), "105 of 105 cases")
	if page := d.get("/skills/dataviz/cases?split=test&text=LOG"); strings.Contains(page, "105 of 105") || strings.Contains(page, " 0 of") {
		t.Error("the filter does nothing, or finds nothing")
	}
	d.says(d.get("/skills/dataviz/review"), "Which answer is better?", "Asked")
	for _, path := range []string{"/skills/datavis", "/skills/nothing/cases", "/skills/dataviz/case?id=none", "/runs/none", "/nights/none", "/skills/dataviz/diff?to=ffff",
		"/skills/dataviz/cases/../../../etc", "/skills/nothing/promote"} {
		r, err := d.client().Get(d.Base() + path)
		d.must(err)
		if page := d.read(r, http.StatusNotFound, path); !strings.Contains(page, "Not done") {
			t.Errorf("%s: %s", path, page)
		}
	}
	r, err := d.client().Get(d.Base() + "/skills/..%2fdataviz")
	d.must(err)
	d.says(d.read(r, http.StatusNotFound, "a path"), "not by a path")
	r, err = d.client().Get(d.Base() + "/skills/datavis")
	d.must(err)
	d.says(d.read(r, http.StatusNotFound, "a slip"), "did you mean dataviz?")
}

// TestServePromotesAndRollsBack: the page shows what the command then does.
func TestServePromotesAndRollsBack(t *testing.T) {
	t.Parallel()
	d := serveDemo(t)
	before, sha := d.live, skill.HashText([]byte(d.proven))
	path := "/skills/dataviz/promote?at=" + sha
	page := d.get(path)
	d.says(page, "evolve promote dataviz@"+sha[:12], provenLine, "takes the place of v", "10 won", "takes it back")
	if d.file() != before {
		t.Fatal("looking installed it")
	}
	d.says(d.post("/skills/dataviz/promote", form(page), http.StatusOK), "is installed in", "evolve rollback dataviz")
	if d.file() != d.proven {
		t.Fatal("it is not installed")
	}
	// The same form again, from another tab.
	d.says(d.post("/skills/dataviz/promote", form(page), http.StatusConflict), "Not done")
	d.says(d.get("/skills/dataviz"), "Roll back…", "live")

	page = d.get("/skills/dataviz/rollback")
	d.says(page, "takes the place of v", "No version is lost", "evolve rollback dataviz")
	// Somebody edits the file between the page and the decision.
	d.must(os.WriteFile(d.path, []byte(d.proven+"- Mine.\n"), 0o600))
	d.says(d.post("/skills/dataviz/rollback", form(page), http.StatusConflict), "changed since the page was made")
	if d.file() != d.proven+"- Mine.\n" {
		t.Fatal("an edit was lost")
	}
	d.must(os.WriteFile(d.path, []byte(d.proven), 0o600))
	page = d.get("/skills/dataviz/rollback?at=v0")
	d.post("/skills/dataviz/rollback", form(page), http.StatusOK)
	if v, err := d.db.Version(t.Context(), demoSkill, 0); err != nil || d.file() != string(v.Text) {
		t.Errorf("%v: v0 is not back", err)
	}
	// A pin is refused with the command's hint, before anything is asked.
	d.must(d.db.PinSkill(t.Context(), demoSkill, skill.HashText([]byte(d.file()))))
	d.says(d.get("/skills/dataviz/rollback"), "pinned", "evolve pin --off dataviz")
	d.says(d.post("/skills/dataviz/rollback", form(page), http.StatusConflict), "pinned")
}

// TestServeRefusesWhatTheCommandRefuses: simulated evidence, and what the firewall
// holds, install nothing.
func TestServeRefusesWhatTheCommandRefuses(t *testing.T) {
	t.Parallel()
	d := serveDemo(t)
	d.a.demo.sandboxed = false
	s := served(d.a, d.db)
	tr, err := d.db.Trials(t.Context(), demoSkill)
	d.must(err)
	for i := range tr {
		if !tr[i].Simulated {
			continue
		}
		p, err := s.Plan(t.Context(), serve.Promote, demoSkill, tr[i].Challenger)
		if err != nil || p.Refusal == nil {
			t.Errorf("%v: simulated evidence is no refusal: %+v", err, p)
		}
		if _, err := s.Do(t.Context(), serve.Promote, demoSkill, tr[i].Challenger, p.Seen, true); err == nil {
			t.Error("simulated evidence was installed")
		}
	}
	wide := skill.HashText([]byte(d.wide))
	page := d.get("/skills/dataviz/promote?at=" + wide)
	d.says(page, "is in quarantine", "evolve approve dataviz@")
	if strings.Contains(page, "<form") {
		t.Error("there is a form all the same")
	}
	if d.file() != d.live {
		t.Error("something was installed")
	}
}

// TestServeDecides: approve and reject are the commands', with what the firewall
// found.
func TestServeDecides(t *testing.T) {
	t.Parallel()
	d := serveDemo(t)
	wide, sha := skill.HashText([]byte(d.wide)), skill.HashText([]byte(d.proven))
	page := d.get("/skills/dataviz/approve?at=" + wide[:12])
	d.says(page, "What the firewall found", "new-url", "data.example.org", "What taught it", "Nothing is installed by this")
	d.says(d.post("/skills/dataviz/approve", form(page), http.StatusOK), "approved: dataviz@"+wide[:12], "next: ")
	said, err := d.db.Decisions(t.Context(), demoSkill)
	d.must(err)
	if said[wide].Word != store.Approved || len(said[wide].Rules) == 0 || said[wide].By == "" {
		t.Errorf("kept: %+v", said[wide])
	}
	page = d.get("/skills/dataviz/reject?at=" + sha)
	d.says(page, "No later run proposes this text again")
	d.says(d.post("/skills/dataviz/reject", form(page), http.StatusOK), "rejected: dataviz@"+sha[:12])
	d.says(d.get("/skills/dataviz/promote?at="+sha), "was rejected on")
	d.says(d.get("/queue"), "Nothing waits for you.")
	d.says(d.get("/"), "Nothing waits for you.")
	if d.file() != d.live {
		t.Error("deciding installed something")
	}
}

// TestServeInstallsTheUnproven: only after a confirmation, and recorded as
// unproven.
func TestServeInstallsTheUnproven(t *testing.T) {
	t.Parallel()
	d := serveDemo(t)
	wide := skill.HashText([]byte(d.wide))
	d.post("/skills/dataviz/approve", form(d.get("/skills/dataviz/approve?at="+wide)), http.StatusOK)
	page := d.get("/skills/dataviz/promote?at=" + wide)
	d.says(page, "is not shown to be better (never tried); it is recorded as unproven", `name="unproven"`, "flagged: new-host, new-url; approved by")
	f := form(page)
	d.says(d.post("/skills/dataviz/promote", f, http.StatusConflict), "is not shown to be better")
	if d.file() != d.live {
		t.Fatal("installed without the word")
	}
	f.Set("unproven", "yes")
	d.says(d.post("/skills/dataviz/promote", f, http.StatusOK), "is installed in", "not shown better")
	v, err := d.db.VersionBySHA(t.Context(), demoSkill, wide)
	if err != nil || v.Proven || !strings.Contains(v.Note, "new-url") || d.file() != d.wide {
		t.Errorf("%v: recorded as %+v", err, v)
	}
}

// TestServeCommand: it prints its address, refuses what it must, and ends in
// order.
func TestServeCommand(t *testing.T) {
	t.Setenv("EVOLVE_HOME", filepath.Join(t.TempDir(), "none"))
	_, stderr, code := read(t, "serve")
	if code != exitUsage || !strings.Contains(stderr, "there is nothing to show yet") || !strings.Contains(stderr, "evolve demo") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	shelf(t)
	if _, stderr, code := read(t, "serve", "--port", "70000"); code != exitUsage {
		t.Errorf("exit %d: %s", code, stderr)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if _, stderr, code := read(t, "serve", "--port", port); code != exitFailed || !strings.Contains(stderr, "port "+port+" is in use") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	dir := t.TempDir()
	browser, shown := filepath.Join(dir, "browser"), filepath.Join(dir, "shown.html")
	if err := os.WriteFile(browser, []byte("#!/bin/sh\nls -l \"$1\" >\""+dir+"/mode\"\ncp \"$1\" \""+shown+".new\" && mv \""+shown+".new\" \""+shown+"\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BROWSER", browser)
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	var errs bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, machine{}, []string{"serve", "--json", "--open"}, strings.NewReader(""), in, &errs)
	}()
	var said struct {
		Schema int
		URL    string
	}
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := (&http.Client{Jar: jar}).Get(said.URL)
	if err != nil || r.StatusCode != http.StatusOK || said.Schema != 1 {
		t.Errorf("%v: %+v", err, said)
	}
	if conn, err := net.DialTimeout("tcp", strings.Replace(strings.TrimPrefix(strings.Split(said.URL, "/?")[0], "http://"), "127.0.0.1", "[::1]", 1), time.Second); err == nil {
		conn.Close()
		t.Error("it listens on more than 127.0.0.1")
	}
	var page []byte
	for page == nil { // the browser is another process
		if page, err = os.ReadFile(shown); err != nil {
			page = nil
			time.Sleep(5 * time.Millisecond)
		}
	}
	mode, err := os.ReadFile(filepath.Join(dir, "mode"))
	if err != nil || !bytes.HasPrefix(mode, []byte("-rw-------")) || !strings.Contains(html.UnescapeString(string(page)), said.URL) {
		t.Errorf("%v: the browser was shown %s%s", err, mode, page)
	}
	cancel()
	if code := <-ended; code != exitDone {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	if left, err := filepath.Glob(filepath.Join(os.Getenv("EVOLVE_HOME"), "serve-*")); err != nil || len(left) > 0 {
		t.Errorf("%v: left behind: %v", err, left)
	}
	_, token, _ := strings.Cut(said.URL, "token=")
	if token == "" || strings.Contains(errs.String(), token) {
		t.Errorf("the token is in the progress: %s", errs.String())
	}
}
