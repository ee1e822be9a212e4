package agenttest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
)

var (
	recording = flag.Bool("agenttest.record", false, "with EVOLVE_REAL_AGENTS=1: record the streams of the real programs")
	updating  = flag.Bool("agenttest.update", false, "write the golden rollouts")
)

// An Agent is a backend that can replay and complete.
type Agent interface {
	eval.Agent
	eval.Model
}

// A Program is a backend that drives a program, as the suite uses it.
type Program struct {
	// Name names the program: EVOLVE_REAL_NAME is the real one's path.
	Name string
	// New returns an agent that runs s.Path against s.Server. It is called once per
	// scenario; it passes what has to be closed to t.Cleanup.
	New func(t *testing.T, s Setup) Agent
	// Denied returns an agent whose program refuses to write files and to run
	// commands, by our own configuration. nil: the program refuses nothing.
	Denied func(t *testing.T, s Setup) Agent
	// Calls is how many requests one attempt may make at most if all of them fail: one
	// and the program's own retries. 0 means 12.
	Calls int
	// TextTools are tools that the program declares even for a text-only call; all must
	// be harmless.
	TextTools []string
	// Keeps are further files that the agent reads after the run: patterns (path.Match)
	// of slash-separated paths below the private folder, or folders with all their
	// content. They are recorded, and written before the player ends.
	Keeps []string
	// Loads are those of ownTexts that the program loads of its owner by itself, beside the
	// files of instructions that the table of package standing has.
	Loads []string
	// RPC: the program is called by messages on stdin and stdout; the player answers
	// the recorded ones.
	RPC bool
	// Unsupported names the scenarios that make no sense for the program, with the
	// reason for each.
	Unsupported map[Scenario]string
}

// A Setup holds what New needs to make an agent.
type Setup struct {
	Path    string // the program: the real one, or this test binary
	Server  *Server
	Key     string
	Env     []string // variables that the child needs, KEY=VALUE
	Sandbox bool
	Owner   *setup.Set // what the program loads of its owner; nil: nothing
}

// RunProgram runs every scenario as a subtest, against the real program or
// against a player of its recorded streams. See the package's comment.
func RunProgram(t *testing.T, p Program) {
	t.Helper()
	if p.Calls == 0 {
		p.Calls = 12
	}
	for s, reason := range p.Unsupported {
		if scenes[s].run == nil {
			t.Errorf("unknown scenario %q is declared unsupported", s)
		}
		if reason == "" {
			t.Errorf("scenario %q is declared unsupported without a reason", s)
		}
	}
	real := ""
	if os.Getenv("EVOLVE_REAL_AGENTS") == "1" {
		name := "EVOLVE_REAL_" + strings.ToUpper(p.Name)
		if real = os.Getenv(name); real == "" {
			t.Fatalf("EVOLVE_REAL_AGENTS=1 needs %s: see .ci/agents", name)
		}
	} else if *recording {
		t.Fatal("-agenttest.record needs EVOLVE_REAL_AGENTS=1")
	}
	person := newPerson(t)
	before := person.look(t)
	for _, s := range order {
		t.Run(string(s), func(t *testing.T) {
			if reason, no := p.Unsupported[s]; no {
				t.Skip(reason)
			}
			newStage(t, &p, s, real, person).play()
		})
	}
	t.Run("home-untouched", func(t *testing.T) { person.same(t, before) })
}

// A stage is one scenario being run.
type stage struct {
	*testing.T
	p      *Program
	name   Scenario
	scene  scene
	real   string // the real program; "" if it is played
	person *person
	server *Server
	setup  Setup
	agent  Agent
	dir    string            // of recorder and player
	temp   string            // the folder for temporary files
	mark   string            // in the environment of every child
	names  map[string]string // placeholders of recordings
	golden []any
}

func newStage(t *testing.T, p *Program, name Scenario, real string, who *person) *stage {
	t.Helper()
	st := &stage{T: t, p: p, name: name, scene: scenes[name], real: real, person: who,
		dir: t.TempDir(), temp: t.TempDir(), mark: fmt.Sprintf("evolve-mark-%d-%d", os.Getpid(), time.Now().UnixNano())}
	if st.scene.live && !st.live() {
		t.Skip("only a real program can show this: EVOLVE_REAL_AGENTS=1")
	}
	if name == Denied && p.Denied == nil {
		t.Skip("the program refuses nothing")
	}
	t.Cleanup(func() { endAll(st.mark) })
	t.Setenv("TMPDIR", st.temp)
	who.live(t)
	return st
}

// live reports whether a real program runs, so that the server sees its requests.
func (st *stage) live() bool { return st.real != "" }

func (st *stage) play() {
	st.Helper()
	config := st.scene.config
	if config.Side == "" && !st.scene.model {
		config.Side = "Stones"
	}
	config.Names = map[string]string{"{person}": st.person.home, "{mark}": st.mark}
	if st.scene.stage != nil {
		st.scene.stage(st, &config)
	}
	st.server = Start(st.T, config)
	if st.name == Unreachable {
		st.server.Root, st.server.URL = "http://127.0.0.1:1", "http://127.0.0.1:1/v1" // nothing listens on port 1
	}
	st.setup = Setup{Path: st.real, Server: st.server, Key: Key, Sandbox: st.scene.sandbox}
	if st.scene.key != "" {
		st.setup.Key = st.scene.key
	}
	if st.name == Owner {
		st.setup.Owner = ownSet(st, filepath.Join(st.dir, "owner"))
	}
	st.cast()
	made := st.p.New
	if st.name == Denied {
		made = st.p.Denied
	}
	st.agent = made(st.T, st.setup)
	st.scene.run(st)
	if st.Failed() {
		return
	}
	st.nothingRuns(st.mark)
	st.nothingIsLeft()
	st.keep()
}

// cast decides whether the real program or a player runs.
func (st *stage) cast() {
	st.Helper()
	st.setup.Env = []string{"EVOLVE_AGENTTEST_MARK=" + st.mark}
	st.names = map[string]string{"{server}": st.server.Root, "{address}": strings.TrimPrefix(st.server.Root, "http://"),
		"{key}": st.setup.Key, "{person}": st.person.home, "{mark}": st.mark, "{temp}": st.temp, "{stage}": st.dir}
	if st.live() {
		root := filepath.Dir(st.real)
		if i := strings.Index(root, "/node_modules/"); i >= 0 {
			root = root[:i]
		}
		st.names["{program}"] = root
		st.names["{cache}"] = os.Getenv("EVOLVE_REAL_" + strings.ToUpper(st.p.Name) + "_CACHE")
	}
	if st.live() && (!*recording || st.scene.live) {
		return
	}
	role := part{Dir: st.dir, Real: st.real, RPC: st.p.RPC, Keeps: st.p.Keeps, Server: st.server.Root, Scene: st.scene.player, Names: st.names}
	if !st.live() {
		role.Recording = st.file(".json")
		if _, err := os.Stat(role.Recording); err != nil {
			st.Fatalf("%v: nothing is recorded for this scenario; see the comment of package agenttest", err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		st.Fatal(err)
	}
	path := filepath.Join(st.dir, "part.json")
	writeFile(st.T, path, compact(role))
	st.setup.Path = self
	// Under the race detector a child would take a second to exit.
	st.setup.Env = append(st.setup.Env, stageDoor+"="+path, "GORACE=atexit_sleep_ms=0")
}

// file is the path of a scenario's recordings.
func (st *stage) file(ext string) string {
	abs, err := filepath.Abs(filepath.Join("testdata", "agent", string(st.name)+ext))
	if err != nil {
		st.Fatal(err)
	}
	return abs
}
