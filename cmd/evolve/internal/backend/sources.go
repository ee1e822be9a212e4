package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/codex"
	"github.com/skill-evolve/evolve/harvest/copilot"
	"github.com/skill-evolve/evolve/harvest/cursor"
	"github.com/skill-evolve/evolve/harvest/entire"
	"github.com/skill-evolve/evolve/harvest/gemini"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/harvest/pi"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// SourceOptions select the sessions that are read.
type SourceOptions struct {
	Name string // one of SourceNames; "" is auto
	Repo string // the git repository whose Entire checkpoints are read; "" is the current one
	// Transcript is the only one that is read, with those of its subagents; "" for all.
	Transcript string
	Known      claude.Known                // what is stored already; nil: nothing
	Since      time.Time                   // sessions that are older are passed over; zero: none
	Allowed    func(folders []string) bool // see harvest.Options
	MayRead    func(folders []string) bool
	Moments    work.Level // see harvest.Options
	Earlier    func(*harvest.Session) error
	Exclude    []string // patterns of folders whose sessions are never read
	Demo       bool     // only the demo's own sessions are read
	Within     string   // the folder of the demo
	Layout     *skill.Layout
	Redactor   redact.Redactor
	// LeftOut is called with the number of checkpoints of the current repository that
	// are left out: those that other people recorded, and those whose commit is not here.
	LeftOut func(others, lost int)
}

// kinds are the agents whose sessions are read; the first one even if its
// folder does not exist.
var kinds = []harvest.Kind{
	claude.Kind,
	codex.Kind,
	pi.Kind,
	copilot.Kind,
	gemini.Kind,
	cursor.Kind,
}

func init() {
	for _, k := range kinds {
		skill.Register(agentOf(k))
	}
}

// agentOf describes an agent's skills folder.
func agentOf(k harvest.Kind) skill.Agent {
	return skill.Agent{Name: k.Name, Agent: k.Agent, HomeEnv: k.HomeEnv, HomeDefault: k.HomeDefault, UserEnv: k.UserEnv, Shared: k.Shared}
}

// A Home is the folder of an agent that is found here.
type Home struct {
	harvest.Kind
	Dir string
}

// Homes lists the agents whose folder exists.
func Homes(l *skill.Layout) (out []Home, err error) {
	for _, k := range kinds {
		dir, err := l.Home(agentOf(k))
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(dir); err == nil {
			out = append(out, Home{k, dir})
		}
	}
	return out, nil
}

// skillNames reports whether a skill has the name, even a broken one.
func skillNames(l *skill.Layout) (func(name string) bool, error) {
	reg, err := l.Registry()
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, e := range reg.Entries {
		names[e.Name] = true
	}
	for _, e := range reg.Broken {
		names[e.Name] = true
	}
	for _, e := range reg.Aliases {
		names[e.Name] = true
	}
	return func(name string) bool { return names[name] }, nil
}

// SourceNames are the names that --source takes.
func SourceNames() []string {
	names := []string{"auto"}
	for _, s := range kinds {
		names = append(names, s.Name)
	}
	return append(names, "entire")
}

// Sources opens the session readers that o selects. With auto, these are the
// agents whose folder exists, and the checkpoints of the current repository,
// if there are any, that the user recorded.
func Sources(ctx context.Context, o SourceOptions) (out []ingest.Source, err error) {
	read := harvest.Options{Redactor: o.Redactor, Since: o.Since, Exclude: o.Exclude, Allowed: o.Allowed, MayRead: o.MayRead, Moments: o.Moments, Earlier: o.Earlier}
	if read.Exists, err = skillNames(o.Layout); err != nil {
		return nil, err
	}
	auto := o.Name == "" || o.Name == "auto"
	known := auto
	var late []ingest.Source // checkpoints may have a session whose transcript is gone
	for i, k := range kinds {
		if !auto && o.Name != k.Name || auto && i > 0 && o.Demo {
			continue
		}
		known = true
		home, err := o.Layout.Home(agentOf(k))
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(home); auto && err != nil && i > 0 {
			continue
		}
		if o.Transcript != "" {
			k.Files = only(k.Files, o.Transcript)
		}
		out = append(out, ingest.Source{Source: k.Source(home, read), Where: home})
		history := filepath.Join(home, claude.HistoryFile)
		if _, err := os.Stat(history); i == 0 && err == nil && !o.Demo && o.Transcript == "" {
			late = append(late, ingest.Source{Source: claude.History(home, read, o.Known), Where: history})
		}
	}
	repo := o.Repo
	if repo == "" {
		repo = "."
	}
	asked := o.Name == "entire" || auto && o.Repo != ""
	if asked || auto && !o.Demo {
		known = true
		if repo, err = filepath.Abs(repo); err != nil {
			return nil, fmt.Errorf("find the repository: %w", err)
		}
		eo := entire.Options{Options: read, Readers: kinds}
		if asked {
			out = append(out, ingest.Source{Source: entire.New(repo, eo), Where: repo})
		} else if entire.New(repo, eo).Holds(ctx) { // a cloned repository holds the sessions of strangers
			eo.Authors, eo.LeftOut = append([]string{}, git.Identities(ctx)...), o.LeftOut
			out = append(out, ingest.Source{Source: entire.New(repo, eo), Where: repo})
		}
	} else if o.Repo != "" {
		return nil, problem.Inputf("add --source entire", "--repo is for Entire checkpoints, not for --source %s", o.Name)
	}
	if !known {
		names := SourceNames()
		hint := "the sources are " + strings.Join(names, ", ")
		if near := skill.Nearest(o.Name, names); near != "" {
			hint = "did you mean " + near + "? " + hint
		}
		return nil, problem.Inputf(hint, "unknown source %q", o.Name)
	}
	out = append(out, late...)
	for _, s := range out {
		if o.Demo && !holds(o.Within, s.Where) {
			return nil, problem.Inputf("unset EVOLVE_HOME to read your own sessions", "%s is not in the demo's folder, and a demo reads only its own sessions", s.Where)
		}
	}
	return out, nil
}

// only lists, of the transcripts of an agent, one and those of its subagents: they are in
// a folder of its name. Folders above may be named through links.
func only(files func(context.Context, string) ([]string, []harvest.Problem, error), transcript string) func(context.Context, string) ([]string, []harvest.Problem, error) {
	named := func(path string) string {
		return filepath.Join(filepath.Base(filepath.Dir(path)), strings.TrimSuffix(filepath.Base(path), ".jsonl"))
	}
	return func(ctx context.Context, home string) ([]string, []harvest.Problem, error) {
		all, _, err := files(ctx, home)
		return slices.DeleteFunc(all, func(path string) bool {
			return named(path) != named(transcript) && named(filepath.Dir(filepath.Dir(path))) != named(transcript)
		}), nil, err
	}
}

// holds reports whether a folder, with all that links in it lead to, is in the demo's.
func holds(demo, folder string) bool {
	if demo == "" || !skill.Within(folder, []string{demo}) {
		return false
	}
	return filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type()&fs.ModeSymlink != 0 && !skill.Within(path, []string{demo}) {
			return fs.ErrPermission
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}) == nil
}

// Recorder is the vendor that got a session's text while it was recorded, "" if that is
// not known: what its transcript says, else the agent's own.
func Recorder(s *harvest.Session) string {
	if s.Vendor == harvest.UnknownVendor {
		return ""
	}
	for _, k := range kinds {
		if s.Vendor == "" && k.Agent == s.Agent {
			return k.Vendor
		}
	}
	return s.Vendor
}

// SayLeftOut is a SourceOptions.LeftOut that says how to read the checkpoints that are
// left out.
func SayLeftOut(say func(format string, args ...any)) func(others, lost int) {
	tell := func(n int, why string) {
		are := "are"
		if n == 1 {
			are = "is"
		}
		if n > 0 {
			say("harvest: %s of this repository %s left out: %s; `evolve harvest --source entire` reads all", plain.Counted(n, "checkpoint"), are, why)
		}
	}
	return func(others, lost int) {
		tell(others, "recorded under no address in your own git configuration")
		tell(lost, "the recording commit is not here, as in a shallow clone")
	}
}

// ParseAge reads a Go duration or a number of days ("30d").
func ParseAge(s string) (time.Duration, error) {
	var days int
	if n, err := fmt.Sscanf(s, "%dd", &days); err == nil && n == 1 && fmt.Sprintf("%dd", days) == s && days >= 0 {
		return time.Duration(days) * 24 * time.Hour, nil
	}
	age, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is no age", s)
	}
	return age, nil
}
