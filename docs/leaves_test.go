package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// leaves are the files from which text can leave the process, to somebody else than the
// person at the terminal and the owner's own files, and the rule that holds there. Of
// text of sessions the rule is always harvest/outgoing.Control, which wraps each agent and
// model where they are opened (cmd/evolve/internal/backend/opener.go): what is not
// cleared, or not agreed to, reaches none of these files.
var leaves = map[string]string{
	"eval/agent/recipient.go":                "behind Control: the transport of openai and codex, which follows no redirect and reaches this machine without a proxy",
	"eval/agent/openai/client.go":            "behind Control; Ping asks for the list of models and sends no text",
	"eval/agent/claude/run.go":               "behind Control: a child program gets the request",
	"eval/agent/codex/agent.go":              "behind Control: a child program gets the request",
	"eval/agent/codex/model.go":              "behind Control: a child program gets the request; the list of models is asked for without text",
	"eval/agent/pi/agent.go":                 "behind Control: a child program gets the request",
	"eval/agent/copilot/child.go":            "behind Control: a child program gets the request",
	"eval/agent/copilot/bridge.go":           "loopback, between evolve and the library that drives the program",
	"eval/agent/command/child.go":            "behind Control: a child program gets the request; without a sandbox it is a vendor of its own name",
	"eval/agent/openai/":                     "behind Control: the library's types for requests and failures",
	"eval/agent/copilot/":                    "behind Control: the library that talks to the child program",
	"eval/agent/process/launch.go":           "starts what the backends above prepared, and checks that their owner trusts",
	"eval/agent/process/sandbox_linux.go":    "the same, in bwrap",
	"eval/agent/process/sandbox_darwin.go":   "the same, in sandbox-exec",
	"eval/agent/process/probe.go":            "listens on loopback, to see that a sandbox reaches it or does not; sends nothing",
	"eval/agent/process/filter_linux.go":     "forbids system calls; sends nothing",
	"eval/agent/process/hello_linux.go":      "reads what the relay passes on; sends nothing",
	"eval/agent/process/scope_linux.go":      "the child's environment, to the bwrap that starts it",
	"eval/agent/process/inside_linux.go":     "within the sandbox: sockets for the hosts that the agent may ask",
	"eval/agent/process/relay_linux.go":      "the other end of these sockets",
	"eval/deps/deps.go":                      "the owner's own command, in a sandbox with a recorded tree and the hosts that the owner names, none by default",
	"eval/fleet/invitation.go":               "how a member connects to the server in its invitation; sends nothing by itself",
	"eval/fleet/conn.go":                     "connects to that server, encrypted unless it is on this machine; sends nothing by itself",
	"eval/fleet/names.go":                    "makes the streams, the bucket and the workers' consumers: names and limits, no text",
	"eval/fleet/sign.go":                     "signs a message; sends nothing by itself",
	"eval/fleet/blobs.go":                    "stores what coordinator and worker, below, give to it",
	"eval/fleet/coordinator/":                "jobs go to the members of the fleet: each task only if coordinator.Options.Clear agrees, which is Control with the fleet's host as one more vendor of replays (cmd/evolve/internal/backend/fleet.go), and only to workers whose agents ask vendors that the run may ask",
	"eval/fleet/worker/":                     "results go to the coordinator that gave the job, without this machine's keys; the agent's own requests leave by its backend, on this machine",
	"eval/fleet/fleettest/":                  "for tests: a server on loopback",
	"eval/fleet/server/serve.go":             "the fleet's server: passes on what members send, to members with a right to it; by itself it tells them its version",
	"eval/fleet/server/certificate.go":       "makes certificates; sends nothing",
	"eval/guard/guard.go":                    "evolve itself, in a sandbox without a network, which gets recorded events",
	"eval/guard/serve.go":                    "within that sandbox: the owner's own hook",
	"eval/git/repository.go":                 "git, with no protocol allowed: it reaches no remote",
	"cmd/evolve/cmd_cases_edit.go":           "the owner's editor gets the owner's case",
	"eval/fleet/watch/":                      "orders to delete go to the members of a fleet, and questions to its server: no text",
	"cmd/evolve/internal/browser/browser.go": "the owner's browser gets an address of loopback",
	"cmd/evolve/cmd_serve.go":                "listens on loopback",
	"eval/agent/process/dial.go":             "a relay between a sandbox and the hosts that its agent asks",
	"eval/agent/replay/home.go":              "asks an agent's program for its version, without text",
	"cmd/evolve/internal/timer/system.go":    "systemctl, launchctl and crontab get the times of nights",
	"cmd/evolve/internal/timer/ping.go":      "evolve itself, with the arguments and the environment of a night and --ping",
	"eval/agent/replay/reach.go":             "connects to see whether a server is there, and sends nothing",
	"eval/agent/handoff/box.go":              "requests for a person, as files of the owner's own machine",
	"cmd/evolve/internal/doctor/doctor.go":   "asks a server for its list of models, without text",
	"tournament/report/serve/serve.go":       "pages on loopback, for a browser that knows the token",
	"mutate/script/python.go":                "python3 parses a hook: it loads nothing but its own library and runs nothing of the text",
	"harvest/hook/note.go":                   "a note for the agent of the session that runs a hook: names of skills and their state, no text of sessions",
}

// harmless is what can be used of packages that can send: types, constants and functions
// that make no connection and start nothing. Everything else of them is a place from which
// text can leave, whatever a file calls the package.
var harmless = map[string]*regexp.Regexp{
	"net":                           lazy(`Conn|Listener|ErrClosed|JoinHostPort|SplitHostPort|ParseIP|TCPAddr|TCPConn|UnixConn`),
	"net/http":                      lazy(`(Status|Method|Err)\w+|Handler|HandlerFunc|Header|ResponseWriter|Request|Error|MaxBytes(Error|Reader)|(New)?CrossOriginProtection|(New)?ServeMux|Redirect|SameSiteStrictMode|SetCookie|Cookie|ConnState|StateNew|ParseTime|NewResponseController`),
	"net/http/httptrace":            lazy(`\w+`),
	"net/netip":                     lazy(`\w+`),
	"net/url":                       lazy(`\w+`),
	"os":                            lazy(`[^S]\w*|S[^t]\w*|Stat|Stdin|Stdout|Stderr`), // all but StartProcess
	"os/exec":                       lazy(`LookPath|ErrNotFound|Error|ExitError|Cmd`),
	"syscall":                       lazy(`[A-Z][A-Z0-9]*(_\w+)?|CloseOnExec|CmsgSpace|Errno|Getpgrp|Kill|Mkfifo|Parse\w+|RawConn|Read|Set\w+|Signal|Stat\w*|SysProc\w+|WaitStatus`),
	"golang.org/x/sys/unix":         lazy(`[A-Z][A-Z0-9]*(_\w+)?|ByteSliceToString|CloseRange|Close|Fstatfs|Prlimit|Rlimit|Statfs_t|SysctlKinfoProc|Waitid`),
	"golang.org/x/net/bpf":          lazy(`\w+`),
	"golang.org/x/net/idna":         lazy(`\w+`),
	"golang.org/x/net/publicsuffix": lazy(`\w+`),
	module + "eval/agent":           lazy(`[^H]\w*|H[^T]\w*`), // all but HTTP
	module + "eval/agent/process":   lazy(`Available|Command|Held|KillAll|LimitError|Limits|Loopback|Programs|Result|Sandbox|SetLimits`),
	// The rest are libraries that only compute, or work on files and terminals.
	"github.com/aymanbagabas/go-udiff": nil, "github.com/cenkalti/backoff/v5": nil, "github.com/gofrs/flock": nil, "github.com/google/renameio/v2": nil,
	"github.com/klauspost/compress": nil, "github.com/mattn/go-runewidth": nil, "github.com/mattn/go-sqlite3": nil, "github.com/santhosh-tekuri/jsonschema/v6": nil,
	"github.com/sourcegraph/conc": nil, "github.com/spf13": nil, "github.com/tidwall/gjson": nil, "github.com/yuin/goldmark": nil, "go.yaml.in/yaml/v3": nil,
	"golang.org/x/term": nil, "golang.org/x/text": nil, "golang.org/x/time": nil, "gonum.org/v1/gonum": nil, "mvdan.cc/sh/v3": nil,
	"github.com/pelletier/go-toml/v2": nil, "github.com/tdewolff/parse/v2": nil,
	"filippo.io/edwards25519": nil, "github.com/nats-io/jwt/v2": nil, "github.com/nats-io/nkeys": nil,
}

func lazy(names string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + names + `)$`) }

// sending returns how text can leave the process from a file, "" if it cannot.
func sending(f *ast.File) (how string) {
	judged := map[string]*regexp.Regexp{} // by the name of the package in the file
	for _, im := range f.Imports {
		path, err := strconv.Unquote(im.Path.Value)
		if err != nil {
			return err.Error()
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if im.Name != nil {
			name = im.Name.Name
		}
		allowed, known := harmless[path]
		for lib, any := range harmless {
			known = known || any == nil && strings.HasPrefix(path, lib+"/")
		}
		std, ours := !strings.Contains(strings.SplitN(path, "/", 2)[0], "."), strings.HasPrefix(path, module)
		switch {
		case allowed != nil && name == ".":
			return "names of " + path + " without the package"
		case allowed != nil:
			judged[name] = allowed
		case known, ours:
		case path == "C", path == "plugin", path == "log/syslog", strings.HasPrefix(path, "net/"), path == "crypto/tls", !std:
			return path
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok && judged[pkg.Name] != nil && !judged[pkg.Name].MatchString(s.Sel.Name) {
				how = pkg.Name + "." + s.Sel.Name
			}
		}
		return true
	})
	for _, g := range f.Comments {
		for _, c := range g.List {
			if strings.HasPrefix(c.Text, "//go:linkname") {
				how = "go:linkname"
			}
		}
	}
	return how
}

// TestLeaves: a file from which text can leave the process is in the list above.
func TestLeaves(t *testing.T) {
	// These have no text to send: what they dial or start is listed where it is used.
	tools := []string{"eval/agent/agenttest/", "tournament/report/browsertest/"}
	found := map[string]bool{}
	eachSource(t, func(name, _ string, f *ast.File) {
		if slices.ContainsFunc(tools, func(tool string) bool { return strings.HasPrefix(name, tool) }) {
			return
		}
		how := sending(f)
		if how == "" {
			return
		}
		folder := name[:strings.LastIndexByte(name, '/')+1]
		if found[name], found[folder] = true, true; leaves[name] == "" && leaves[folder] == "" {
			t.Errorf("text can leave the process from %s (%s): say here to whom, and which rule holds", name, how)
		}
	})
	for name := range leaves {
		if !found[name] && !strings.Contains(name, "handoff") && !strings.Contains(name, "hook") {
			t.Errorf("no text leaves the process from %s any more", name)
		}
	}
}

// TestLeavesAreNoticed: ways to send that no file has today are found.
func TestLeavesAreNoticed(t *testing.T) {
	for how, text := range map[string]string{
		"another name":      `import h "net/http"; var _, _ = h.Get("x")`,
		"no name":           `import . "net/http"; var _, _ = Get("x")`,
		"the default":       `import "net/http"; var _ = http.DefaultClient`,
		"a value":           `import "net/http"; var post = http.Post`,
		"a name looked up":  `import "net"; var _, _ = net.LookupHost("text.example")`,
		"a datagram":        `import "net"; var _, _ = net.DialUDP("udp", nil, nil)`,
		"a socket":          `import "syscall"; var _, _ = syscall.Socket(1, 1, 1)`,
		"a raw call":        `import "syscall"; var _, _, _ = syscall.RawSyscall(1, 1, 1, 1)`,
		"mail":              `import "net/smtp"; var _ = smtp.SendMail`,
		"the system's log":  `import "log/syslog"; var _, _ = syslog.New(0, "")`,
		"a program":         `import "os/exec"; var _ = exec.Command("notify-send", "text")`,
		"a program's start": `import "os"; var _, _ = os.StartProcess("git", []string{"push"}, nil)`,
		"our runner":        `import "github.com/skill-evolve/evolve/eval/agent/process"; var run = process.Run`,
		"our client":        `import "github.com/skill-evolve/evolve/eval/agent"; var _ = agent.HTTP("")`,
		"a client":          `import "github.com/sashabaranov/go-openai"; var _ = openai.NewClient("")`,
		"a new library":     `import "github.com/modelcontextprotocol/go-sdk/mcp"; var _ = mcp.NewServer`,
		"C":                 `import "C"`,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+text, parser.ParseComments)
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		if sending(f) == "" {
			t.Errorf("%s: not noticed", how)
		}
	}
	for _, text := range []string{`import "net/http"; var _ = http.StatusOK`, `import "os"; var _, _ = os.ReadFile("x")`, `import ("os"; "os/exec"); var _, _ = exec.LookPath(os.Args[0])`} {
		if f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+text, 0); err != nil || sending(f) != "" {
			t.Errorf("%s: %v, %s", text, err, sending(f))
		}
	}
}

// TestBackendsAreHeld: backends are opened in one place, which wraps them in
// outgoing.Control, and by the doctor, which asks no model, the ping, which sends a
// sentence that is nobody's, and a worker: its jobs are cleared where they come from, for the
// vendors that it names.
func TestBackendsAreHeld(t *testing.T) {
	may := map[string]bool{"cmd/evolve/internal/backend/opener.go": true, "cmd/evolve/internal/doctor/doctor.go": true, "cmd/evolve/internal/backend/ping.go": true,
		"cmd/evolve/internal/backend/worker.go": true}
	seen := 0
	eachSource(t, func(name, _ string, f *ast.File) {
		if !slices.ContainsFunc(f.Imports, func(im *ast.ImportSpec) bool { return strings.Trim(im.Path.Value, "\"`") == module+"eval/agent" }) {
			return // another Make: only agent has Kinds
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Make" {
				if seen++; !may[name] {
					t.Errorf("%s opens a backend: go through backend.Opener, which holds its requests to what was cleared", name)
				}
			}
			return true
		})
	})
	if seen < 2 {
		t.Errorf("%d places open backends: was the tree walked?", seen)
	}
}
