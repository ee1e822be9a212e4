// Package doctor examines the environment that evolve needs, and changes
// nothing.
package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/timer"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/datadir/policy"
	"go.yaml.in/yaml/v3"
)

// The results of a check.
const (
	works   = "ok"
	missing = "missing" // evolve works without it
	Fails   = "fails"   // evolve does not work until it is mended
)

// A Finding is the result of one check.
type Finding struct {
	What   string `json:"what"`
	State  string `json:"state"` // "ok", "missing" or "fails"
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to type
}

// A Doctor examines the environment that evolve needs, and changes nothing.
type Doctor struct {
	Home    func() (datadir.Dir, error)
	Layout  *skill.Layout
	Opener  *backend.Opener
	Getenv  func(string) string
	Policy  func() (*policy.Policy, error) // of the machine; nil: there is none
	Hint    func(error) string             // what to do about an error of the database
	BaseURL string                         // of a server to be asked, "" for none
	KeyEnv  string                         // the variable that holds its key
	Timeout time.Duration
	Now     func() time.Time
	Night   func(context.Context) (*timer.Timer, error) // the timer of nights, nil for none

	shown string // BaseURL without a password
	found []Finding
}

func (d *Doctor) add(what, state, fix, format string, args ...any) {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = plain.Error(err)
		}
	}
	d.found = append(d.found, Finding{what, state, plain.Line(fmt.Sprintf(format, args...)), fix})
}

// Examine makes all checks, and asks the server if one is named.
func (d *Doctor) Examine(ctx context.Context) ([]Finding, error) {
	if d.BaseURL != "" {
		u, err := url.Parse(d.BaseURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, problem.Inputf("for example --base-url http://127.0.0.1:11434/v1", "--base-url %q is no address", d.BaseURL)
		}
		d.shown = u.Redacted()
	}
	home, err := d.Home()
	if err != nil {
		return nil, err
	}
	d.folder(string(home))
	d.database(ctx, home.Database())
	if err := d.sessions(); err != nil {
		return nil, err
	}
	if err := d.kept(ctx); err != nil {
		return nil, err
	}
	if err := d.skills(); err != nil {
		return nil, err
	}
	if err := d.config(); err != nil {
		return nil, err
	}
	d.policy()
	d.backends(ctx)
	return d.found, nil
}

// policy shows what the administrator of the machine has fixed, key by key.
func (d *Doctor) policy() {
	if d.Policy == nil {
		return
	}
	p, err := d.Policy()
	if err != nil {
		d.add("policy", Fails, "its administrator has to mend it; until then evolve only looks, denies, purges and rolls back here", "%v", err)
	}
	if p == nil {
		return
	}
	text, err := yaml.Marshal(p)
	if err != nil {
		d.add("policy", Fails, "", "%v", err)
		return
	}
	d.add("policy", works, "", "%s, of this machine's administrator: %s", policy.Path, strings.Join(strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }), "; "))
}

// config reads the configuration, if there is one.
func (d *Doctor) config() error {
	home, err := d.Home()
	if err != nil {
		return err
	}
	path := home.Config()
	conf, err := d.Opener.Config()
	switch {
	case err != nil:
		hint := "it is read by every command: check that it is a file, and who owns it"
		if f := new(problem.Error); errors.As(err, &f) {
			hint = f.Hint
		}
		d.add("configuration", Fails, hint, "%v", err)
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

// folder checks the data folder, by writing to it.
func (d *Doctor) folder(home string) {
	info, err := os.Stat(home)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.add("data folder", works, "", "%s does not exist yet: the first command that stores something makes it", home)
		return
	case err != nil:
		d.add("data folder", Fails, "check who owns it, or set EVOLVE_HOME", "%v", err)
		return
	case !info.IsDir():
		d.add("data folder", Fails, "set EVOLVE_HOME to a folder", "%s is not a folder", home)
		return
	}
	err = hook.Writable(home)
	switch {
	case err != nil:
		d.add("data folder", Fails, "check who owns it and that the disk has room, or set EVOLVE_HOME", "%s cannot be written: %v", home, err)
	case info.Mode().Perm()&0o077 != 0:
		d.add("data folder", Fails, "chmod 700 "+home, "%s is open to others (mode %04o)", home, info.Mode().Perm())
	default:
		d.add("data folder", works, "", "%s", home)
	}
}

// database reads the whole database. If there is none, SQLite itself is tried
// in a temporary folder.
func (d *Doctor) database(ctx context.Context, path string) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && store.Lost(path) == nil {
		dir, err := os.MkdirTemp("", "evolve-doctor-")
		if err != nil {
			d.add("database", Fails, "check that the disk has room", "%v", err)
			return
		}
		defer os.RemoveAll(dir) // a folder that stays behind in the temporary one does no harm
		db, err := store.Open(ctx, datadir.Dir(dir).Database())
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			d.add("database", Fails, "", "SQLite does not work: %v", err)
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
	switch {
	case err != nil:
		d.add("database", Fails, d.Hint(err), "%v", err)
	case notWritable(path, info) != nil:
		d.add("database", Fails, "chmod 600 "+path+", or check who owns it", "%s can be read and not written (mode %04o): evolve can show what it knows, and save nothing", path, info.Mode().Perm())
	case info.Mode().Perm()&0o077 != 0:
		d.add("database", Fails, "chmod 600 "+path, "%s is open to others (mode %04o)", path, info.Mode().Perm())
	default:
		d.add("database", works, "", "%s, %s", path, plain.Counted(sessions, "session"))
	}
}

// notWritable returns why a file cannot be written, nil if it can. A mode
// without write permission for the owner counts for root too, although root
// may write.
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
func (d *Doctor) sessions() error {
	home, err := d.Layout.Claude()
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
		d.add("Claude Code's sessions", Fails, "check who owns the folders", "%s in %s; %s cannot be read", plain.Counted(n, "file"), projects, plain.Counted(locked, "folder"))
		return nil
	}
	d.add("Claude Code's sessions", works, "", "%s in %s", plain.Counted(n, "file"), projects)
	return nil
}

func (d *Doctor) skills() error {
	dir, err := d.Layout.Skills()
	if err != nil {
		return err
	}
	reg, err := d.Layout.Registry()
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
			d.add("skills", Fails, "check who owns the folder", "%s: %s", b.Path, b.Reason)
			continue
		}
		d.add("skill "+b.Name, Fails, "evolve kernel check "+plain.Arg(b.Name), "%s", b.Reason)
	}
	return nil
}

// Agents are the findings on agents and the sandbox.
func (d *Doctor) Agents(ctx context.Context) []Finding {
	d.found = nil
	d.backends(ctx)
	return d.found
}

// backends looks for programs and for the names of keys, never their values,
// and asks a server if one is named.
func (d *Doctor) backends(ctx context.Context) {
	for _, k := range agent.Kinds() {
		what := "agent " + k.Name
		switch {
		case k.AnyServer && d.BaseURL != "": // which may want no key
			d.ask(ctx)
		case k.AnyServer:
			d.openai(what, k)
		case k.Program != "":
			d.program(ctx, what, k)
		}
	}
	d.add("agent simulated", works, "", "`evolve demo` needs neither key nor network")
	if err := process.Available(); err != nil {
		d.add("sandbox", missing, "or replay without one, with your own rights: --sandbox none", "agents that run tools need one: %v", err)
	} else {
		d.add("sandbox", works, "", "agents that run tools are held by one: %s", process.Held())
	}
}

func (d *Doctor) openai(what string, k *agent.Kind) {
	switch {
	case d.Getenv(d.KeyEnv) != "":
		d.add(what, works, "", "$%s is set", d.KeyEnv)
	case d.Getenv(k.BaseEnv) != "":
		d.add(what, works, "", "$%s is set; $%s is not, which a local server does not mind", k.BaseEnv, d.KeyEnv)
	default:
		d.add(what, missing, fmt.Sprintf("export %s=…, or name a server with --base-url", d.KeyEnv), "$%s is not set", d.KeyEnv)
	}
}

// program checks an agent's command line: whether it is there, whether it
// starts, and whether it has a key.
func (d *Doctor) program(ctx context.Context, what string, k *agent.Kind) {
	path, err := exec.LookPath(k.Program)
	if err != nil {
		d.add(what, missing, k.Install, "%s is not on the PATH", k.Program)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 3*d.Timeout)
	defer cancel()
	m, err := k.Make(ctx, d.Opener.Opening(&agent.Spec{}, agent.Role{}))
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
	if key := k.Credential(d.Getenv); key == "" {
		d.add(what, missing, k.Login, "%s at %s has no key that evolve may use", version, path)
	} else {
		d.add(what, works, "", "%s at %s, $%s is set", version, path, key)
	}
}

// ask requests the list of models from --base-url. It sends the key only if
// one is set, as a run would with its first case.
func (d *Doctor) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	to := map[string][]agent.Recipient{agent.Replay: agent.At(d.BaseURL)}
	if err := (&outgoing.Control{Policy: d.Policy}).Allowed(to); err != nil {
		d.add("server", Fails, "name a server that it allows", "%s was not asked: %v", d.shown, err)
		return
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(d.BaseURL, "/")+"/models", nil)
	if err != nil {
		d.add("server", Fails, "check --base-url", "%v", err)
		return
	}
	if key := d.Getenv(d.KeyEnv); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := agent.HTTP(d.BaseURL).Do(req)
	if err != nil {
		d.add("server", Fails, "is it running? check --base-url", "%v", err)
		return
	}
	defer resp.Body.Close() // it was only read
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		d.add("server", Fails, fmt.Sprintf("set %s, or name another variable with --api-key-env", d.KeyEnv), "%s answers, and wants a key (%s)", d.shown, resp.Status)
	case code >= 200 && code < 300:
		d.add("server", works, "", "%s answers (%s)%s", d.shown, resp.Status, models(resp.Body))
	default:
		d.add("server", Fails, "check --base-url: it often ends in /v1", "%s/models answers %s", strings.TrimRight(d.shown, "/"), resp.Status)
	}
}

// models names the models in a server's list, at most ten; "" if it is none.
func models(list io.Reader) string {
	var l struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.NewDecoder(io.LimitReader(list, 1<<20)).Decode(&l) != nil || len(l.Data) == 0 {
		return ""
	}
	const most = 10
	var names []string
	for _, m := range l.Data[:min(most, len(l.Data))] {
		names = append(names, m.ID)
	}
	more := ""
	if n := len(l.Data) - most; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return "; for --model: " + strings.Join(names, ", ") + more
}
