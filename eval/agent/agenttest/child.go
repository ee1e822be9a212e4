package agenttest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// stageDoor is the variable that names a part file, which makes a test binary play a
// program or record one.
const stageDoor = "EVOLVE_AGENTTEST"

// A part holds a child's instructions. They come from a file, because the environment
// that it inherits belongs to the agent under test.
type part struct {
	Dir       string // one folder for each child's files
	Real      string // record this program
	Recording string // or play this file
	RPC       bool   // messages on stdin and stdout
	Keeps     []string
	Server    string
	Scene     acting
	Names     map[string]string // placeholder → its value here
}

// A take is one recorded child.
type take struct {
	Args    []string          `json:"args"`
	Stdin   string            `json:"stdin,omitempty"`
	Stdout  []string          `json:"stdout,omitempty"` // lines
	Stderr  string            `json:"stderr,omitempty"`
	Exit    int               `json:"exit"`              // -1: it had to be killed
	Files   map[string]string `json:"files,omitempty"`   // made or changed in the workspace
	Removed []string          `json:"removed,omitempty"` // from the workspace
	Kept    map[string]string `json:"kept,omitempty"`    // in the private folder, see Program.Keeps
	Frames  []frame           `json:"frames,omitempty"`  // in place of stdin and stdout
}

// version reports whether the child was only asked for its version.
func (k *take) version() bool { return asksVersion(k.Args) }

func asksVersion(args []string) bool {
	for _, a := range args {
		if a == "--version" || a == "version" || a == "-V" {
			return true
		}
	}
	return false
}

func init() {
	path := os.Getenv(stageDoor)
	if path == "" {
		return
	}
	code, err := child(path, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "agenttest:", err)
		code = 125
	}
	os.Exit(code)
}

func child(path string, args []string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	var p part
	if err := json.Unmarshal(text, &p); err != nil {
		return 0, err
	}
	dir, nth, err := p.claim(asksVersion(args))
	if err != nil {
		return 0, err
	}
	if p.Real != "" {
		return p.record(dir, args)
	}
	return p.play(dir, nth, args)
}

// claim takes the next free number of the scenario's children.
func (p *part) claim(version bool) (dir string, nth int, err error) {
	kind := "run"
	if version {
		kind = "ask" // sorted before run
	}
	for n := 0; ; n++ {
		dir = filepath.Join(p.Dir, fmt.Sprintf("%s-%04d", kind, n))
		if err = os.Mkdir(dir, 0o700); !os.IsExist(err) {
			return dir, n, err
		}
	}
}

// folders finds the workspace and the private folder that the child was given: its
// working folder, in its arguments or in its environment.
func folders(args []string, extra string) (workspace, private string) {
	// If a child cannot determine its own folder, it fails later.
	here, _ := os.Getwd()
	text := here + "\n" + strings.Join(args, "\n") + "\n" + strings.Join(os.Environ(), "\n") + "\n" + extra
	return caseFolder.FindString(text), privateFolder.FindString(text)
}
