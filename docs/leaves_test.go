package docs

import (
	"go/ast"
	"strings"
	"testing"
)

// leaves are the files from which text can leave the process, to somebody else than the
// person at the terminal and the owner's own files, and the rule that holds there. Of
// text of sessions the rule is always harvest/outgoing.Control, which wraps each agent and
// model where they are opened (cmd/evolve/internal/backend/opener.go): what is not
// cleared, or not agreed to, reaches none of these files.
var leaves = map[string]string{
	"eval/agent/recipient.go":              "behind Control: the transport of openai and codex, which follows no redirect and reaches this machine without a proxy",
	"eval/agent/openai/client.go":          "behind Control; Ping asks for the list of models and sends no text",
	"eval/agent/claude/run.go":             "behind Control: a child program gets the request",
	"eval/agent/codex/agent.go":            "behind Control: a child program gets the request",
	"eval/agent/codex/model.go":            "behind Control: a child program gets the request; the list of models is asked for without text",
	"eval/agent/pi/agent.go":               "behind Control: a child program gets the request",
	"eval/agent/copilot/child.go":          "behind Control: a child program gets the request",
	"eval/agent/copilot/bridge.go":         "loopback, between evolve and the library that drives the program",
	"eval/agent/command/child.go":          "behind Control: a child program gets the request; without a sandbox it is a vendor of its own name",
	"eval/agent/process/dial.go":           "a relay between a sandbox and the hosts that its agent asks",
	"eval/agent/replay/home.go":            "asks an agent's program for its version, without text",
	"cmd/evolve/internal/timer/system.go":  "systemctl, launchctl and crontab get the times of nights",
	"eval/agent/replay/reach.go":           "connects to see whether a server is there, and sends nothing",
	"eval/agent/handoff/box.go":            "requests for a person, as files of the owner's own machine",
	"cmd/evolve/internal/doctor/doctor.go": "asks a server for its list of models, without text",
	"tournament/report/serve/serve.go":     "pages on loopback, for a browser that knows the token",
	"harvest/hook/note.go":                 "a note for the agent of the session that runs a hook: names of skills and their state, no text of sessions",
}

// TestLeaves: a file from which text can leave the process is in the list above.
func TestLeaves(t *testing.T) {
	calls := map[string]bool{
		"http.NewRequest": true, "http.NewRequestWithContext": true, "http.Get": true, "http.Post": true, "http.PostForm": true, "http.Client": true,
		"net.Dial": true, "net.DialTimeout": true, "net.Dialer": true, "net.Listen": true, "http.Serve": true, "http.ListenAndServe": true, "http.Server": true, "tls.Dial": true,
		"process.Run": true, "process.Wrap": true, "process.Start": true, "smtp.SendMail": true,
	}
	// These have no text to send: what they dial or start is listed where it is used.
	tools := []string{"eval/agent/agenttest/", "tournament/report/browsertest/", "eval/agent/replay/version.go"}
	found := map[string]bool{}
	eachSource(t, func(name, _ string, f *ast.File) {
		for _, tool := range tools {
			if strings.HasPrefix(name, tool) {
				return
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := s.X.(*ast.Ident); ok && calls[pkg.Name+"."+s.Sel.Name] {
				found[name] = true
			}
			return true
		})
		if found[name] && leaves[name] == "" {
			t.Errorf("text can leave the process from %s: say here to whom, and which rule holds", name)
		}
	})
	for name := range leaves {
		if !found[name] && !strings.Contains(name, "handoff") && !strings.Contains(name, "hook") {
			t.Errorf("no text leaves the process from %s any more", name)
		}
	}
}

// TestBackendsAreHeld: backends are opened in one place, which wraps them in
// outgoing.Control, and the doctor, which asks no model.
func TestBackendsAreHeld(t *testing.T) {
	may := map[string]bool{"cmd/evolve/internal/backend/opener.go": true, "cmd/evolve/internal/doctor/doctor.go": true}
	seen := 0
	eachSource(t, func(name, _ string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if s, ok := c.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Make" {
				if _, of := s.X.(*ast.CallExpr); !of && !strings.HasPrefix(name, "cmd/") {
					return true // another Make: a Kind's is called on what KindOf returns, or on a kind in a list
				}
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
