package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/spf13/cobra"
)

func newDoctorCommand(a *global) *cobra.Command {
	d := &doctor{app: a, timeout: 5 * time.Second}
	c := &cobra.Command{
		Use:   "doctor",
		Short: "What works here, what is missing, and how to get it",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return d.run(c.Context()) },
	}
	c.Flags().StringVar(&d.baseURL, "base-url", "", "also ask this OpenAI-compatible server for its models")
	c.Flags().StringVar(&d.keyEnv, "api-key-env", "OPENAI_API_KEY", "environment variable that holds the key")
	return c
}

// How a doctor's finding stands.
const (
	works   = "ok"
	missing = "missing" // evolve works without it
	fails   = "fails"   // evolve does not work until it is mended
)

// A finding is one thing that the doctor looked at.
type finding struct {
	What   string `json:"what"`
	State  string `json:"state"` // "ok", "missing" or "fails"
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to type
}

// A doctor looks at what evolve needs, and mends nothing.
type doctor struct {
	app     *global
	baseURL string
	shown   string // baseURL without a password
	keyEnv  string
	timeout time.Duration
	found   []finding
}

func (d *doctor) add(what, state, fix, format string, args ...any) {
	d.found = append(d.found, finding{what, state, oneLine(fmt.Sprintf(format, args...)), fix})
}

func (d *doctor) run(ctx context.Context) error {
	if d.baseURL != "" {
		u, err := url.Parse(d.baseURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return problem.Inputf("for example --base-url http://127.0.0.1:11434/v1", "--base-url %q is no address", d.baseURL)
		}
		d.shown = u.Redacted()
	}
	home, err := d.app.home()
	if err != nil {
		return err
	}
	d.folder(string(home))
	d.database(ctx, home.Database())
	if err := d.sessions(); err != nil {
		return err
	}
	if err := d.skills(); err != nil {
		return err
	}
	if err := d.config(); err != nil {
		return err
	}
	d.backends(ctx)
	return d.report()
}

// config reads the configuration, where there is one.
func (d *doctor) config() error {
	home, err := d.app.home()
	if err != nil {
		return err
	}
	path := home.Config()
	conf, err := d.app.config()
	switch {
	case err != nil:
		hint := "it is read by every command: check that it is a file, and who owns it"
		if f := new(problem.Error); errors.As(err, &f) {
			hint = f.Hint
		}
		d.add("configuration", fails, hint, "%v", err)
		return nil
	case !exists(path):
		d.add("configuration", works, "", "all defaults; prices of %s for %d models", conf.Prices.Date, len(conf.Prices.Models))
	default:
		d.add("configuration", works, "", "%s; prices of %s for %d models", path, conf.Prices.Date, len(conf.Prices.Models))
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// folder looks at the data folder. Whether it can be written is tried out.
func (d *doctor) folder(home string) {
	info, err := os.Stat(home)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.add("data folder", works, "", "%s does not exist yet: the first command that stores something makes it", home)
		return
	case err != nil:
		d.add("data folder", fails, "check who owns it, or set EVOLVE_HOME", "%v", err)
		return
	case !info.IsDir():
		d.add("data folder", fails, "set EVOLVE_HOME to a folder", "%s is not a folder", home)
		return
	}
	err = hook.Writable(home)
	switch {
	case err != nil:
		d.add("data folder", fails, "check who owns it and that the disk has room, or set EVOLVE_HOME", "%s cannot be written: %v", home, err)
	case info.Mode().Perm()&0o077 != 0:
		d.add("data folder", fails, "chmod 700 "+home, "%s is open to others (mode %04o)", home, info.Mode().Perm())
	default:
		d.add("data folder", works, "", "%s", home)
	}
}

// database reads the whole database. SQLite itself is tried in
// a temporary folder where there is none.
func (d *doctor) database(ctx context.Context, path string) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && store.Lost(path) == nil {
		dir, err := os.MkdirTemp("", "evolve-doctor-")
		if err != nil {
			d.add("database", fails, "check that the disk has room", "%v", err)
			return
		}
		defer os.RemoveAll(dir) // a folder that stays behind in the temporary one does no harm
		db, err := store.Open(ctx, datadir.Dir(dir).Database())
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			d.add("database", fails, "", "SQLite does not work: %v", err)
			return
		}
		d.add("database", works, "", "SQLite works; there is no database yet")
		return
	}
	sessions := 0
	db, err := store.OpenReadOnly(ctx, path)
	if err == nil {
		list, e := db.Sessions(ctx, store.SessionFilter{Bare: true})
		sessions = len(list)
		if e == nil {
			e = db.Check(ctx)
		}
		err = errors.Join(e, db.Close())
	}
	_, hint := classify(err)
	switch {
	case err != nil:
		d.add("database", fails, hint, "%v", err)
	case notWritable(path, info) != nil:
		d.add("database", fails, "chmod 600 "+path+", or check who owns it", "%s can be read and not written (mode %04o): evolve can show what it knows, and save nothing", path, info.Mode().Perm())
	case info.Mode().Perm()&0o077 != 0:
		d.add("database", fails, "chmod 600 "+path, "%s is open to others (mode %04o)", path, info.Mode().Perm())
	default:
		d.add("database", works, "", "%s, %s", path, plain.Counted(sessions, "session"))
	}
}

// notWritable says why a file cannot be written, nil where it can. A mode without the
// owner's right to write counts for root as well, who may write all the same.
func notWritable(path string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o200 == 0 {
		return fs.ErrPermission
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// sessions counts the transcripts of Claude Code.
func (d *doctor) sessions() error {
	home, err := d.app.layout().Claude()
	if err != nil {
		return err
	}
	projects := filepath.Join(home, "projects")
	if _, err := os.Stat(projects); err != nil {
		d.add("Claude Code's sessions", missing, "use Claude Code, or name its folder with --claude-home", "there are none in %s", projects)
		return nil
	}
	n, locked := 0, 0
	err = filepath.WalkDir(projects, func(_ string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			locked++
		case !e.IsDir() && strings.HasSuffix(e.Name(), ".jsonl"):
			n++
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look at %s: %w", projects, err)
	}
	if locked > 0 {
		d.add("Claude Code's sessions", fails, "check who owns the folders", "%s in %s; %s cannot be read", plain.Counted(n, "file"), projects, plain.Counted(locked, "folder"))
		return nil
	}
	d.add("Claude Code's sessions", works, "", "%s in %s", plain.Counted(n, "file"), projects)
	return nil
}

func (d *doctor) skills() error {
	dir, err := d.app.layout().Skills()
	if err != nil {
		return err
	}
	reg, err := d.app.layout().Registry()
	if err != nil {
		return err
	}
	if len(reg.Entries) == 0 {
		d.add("skills", missing, "a skill is a folder with a SKILL.md; --skills-dir names another place", "there are none in %s", dir)
	} else {
		also := ""
		for _, k := range reg.Aliases {
			also += fmt.Sprintf("; %s is %s", k.Name, k.Of)
		}
		d.add("skills", works, "", "%d in %s%s", len(reg.Entries), dir, also)
	}
	for _, b := range reg.Broken {
		if b.Name == "" {
			d.add("skills", fails, "check who owns the folder", "%s: %s", b.Path, b.Reason)
			continue
		}
		d.add("skill "+b.Name, fails, "evolve kernel check "+b.Name, "%s", b.Reason)
	}
	return nil
}

// backends looks for programs and keys, by name and never by value, and asks a
// server where one is named.
func (d *doctor) backends(ctx context.Context) {
	for _, k := range backend.Kinds {
		what := "agent " + k.Name
		switch {
		case k.Name == "openai":
			d.openai(what, k)
		case k.Program != "":
			d.program(ctx, what, k)
		}
	}
	d.add("agent simulated", works, "", "`evolve demo` needs neither key nor network")
	if err := process.Available(); err != nil {
		d.add("sandbox", missing, "or replay without one, with your own rights: --sandbox none", "agents that run tools need one: %v", err)
	} else {
		d.add("sandbox", works, "", "agents that run tools are held by one")
	}
	if d.baseURL != "" {
		d.ask(ctx)
	}
}

func (d *doctor) openai(what string, k *backend.Kind) {
	switch {
	case d.app.Getenv(d.keyEnv) != "":
		d.add(what, works, "", "$%s is set", d.keyEnv)
	case d.app.Getenv(k.BaseEnv) != "":
		d.add(what, works, "", "$%s is set; $%s is not, which a local server does not mind", k.BaseEnv, d.keyEnv)
	default:
		d.add(what, missing, fmt.Sprintf("export %s=…, or name a server with --base-url", d.keyEnv), "$%s is not set", d.keyEnv)
	}
}

// program looks for an agent's own command line: whether it is there, whether it
// starts, and whether it has a key.
func (d *doctor) program(ctx context.Context, what string, k *backend.Kind) {
	path, err := exec.LookPath(k.Program)
	if err != nil {
		d.add(what, missing, k.Install, "%s is not on the PATH", k.Program)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 3*d.timeout)
	defer cancel()
	m, err := k.Make(ctx, d.app.opener(false), &agent.Spec{}, backend.Settings{})
	var infra *eval.InfraError
	if errors.As(err, &infra) && infra.Kind == eval.Auth {
		d.add(what, missing, k.Login, "%s has no key that evolve may use: %v", path, infra.Err)
		return
	}
	if err != nil {
		d.add(what, missing, k.Install, "%s does not work: %v", path, err)
		return
	}
	version := strings.TrimSpace(m.Agent.Identity().Version)
	if key := k.Credential(d.app.Getenv); key == "" {
		d.add(what, missing, k.Login, "%s at %s has no key that evolve may use", version, path)
	} else {
		d.add(what, works, "", "%s at %s, $%s is set", version, path, key)
	}
}

// ask requests the list of models from --base-url. The key goes there only
// where it is set, as it would with the first case.
func (d *doctor) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(d.baseURL, "/")+"/models", nil)
	if err != nil {
		d.add("server", fails, "check --base-url", "%v", err)
		return
	}
	if key := d.app.Getenv(d.keyEnv); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.add("server", fails, "is it running? check --base-url", "%v", err)
		return
	}
	resp.Body.Close() // only the status matters
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		d.add("server", fails, fmt.Sprintf("set %s, or name another variable with --api-key-env", d.keyEnv), "%s answers, and wants a key (%s)", d.shown, resp.Status)
	case code >= 200 && code < 300:
		d.add("server", works, "", "%s answers (%s)", d.shown, resp.Status)
	default:
		d.add("server", fails, "check --base-url: it often ends in /v1", "%s/models answers %s", strings.TrimRight(d.shown, "/"), resp.Status)
	}
}

// report prints the findings. What fails makes the exit code 1.
func (d *doctor) report() error {
	bad := 0
	for _, f := range d.found {
		if f.State == fails {
			bad++
		}
	}
	if d.app.JSON {
		if err := d.app.PrintJSON(struct {
			Schema   int       `json:"schema"`
			OK       bool      `json:"ok"`
			Findings []finding `json:"findings"`
		}{1, bad == 0, d.found}); err != nil {
			return err
		}
	} else {
		var b strings.Builder
		t := plain.NewTable(&b) // what is to be typed is not cut
		for _, f := range d.found {
			fmt.Fprintf(t, "%s\t%s\t%s\n", f.State, f.What, f.Detail)
			if f.Fix != "" {
				fmt.Fprintf(t, "\t\t→ %s\n", f.Fix)
			}
		}
		if err := t.Flush(); err != nil {
			return err
		}
		if _, err := fmt.Fprint(d.app.Stdout, d.app.Folded(trimLines(b.String()))); err != nil {
			return err
		}
	}
	if bad > 0 {
		return problem.Hinted(fmt.Errorf("doctor: %s above", plain.Counted(bad, "failure")), "the lines that begin with \"fails\" say what to type")
	}
	return nil
}
