// Package work is what an agent did in a turn, as far as checks need it: commands, changed
// lines, tests, and what its user refused.
package work

// A Kind says what an act is.
type Kind string

const (
	Ran     Kind = "ran"     // a command line in a shell
	Changed Kind = "changed" // one file
	Refused Kind = "refused" // a tool call that the user did not allow
)

// Memory begins the File of an act that changed what the agent remembers of the project:
// its memory is outside of the repository.
const Memory = "~memory/"

const (
	MaxLine = 2 << 10  // bytes of a command line
	MaxTurn = 16 << 10 // bytes of all added and removed lines of a turn
)

// An Act is one thing that the agent did, redacted. Which fields it has depends on Kind.
type Act struct {
	Kind Kind `json:"kind"`

	// Line is the command line of Ran, or of a refused command; behind "cd DIR && " if it
	// ran in another folder than the session's. Of one that prints or sets many variables,
	// or that writes text to a file of which nothing is kept, it is the programs' names.
	Line  string `json:"line,omitempty"`
	Exit  *int   `json:"exit,omitempty"`  // Ran: the exit status, Unknown if it failed; nil if the transcript does not tell
	Tests string `json:"tests,omitempty"` // Ran: what it tests with: "go test", "pytest"

	// File is the changed file, or that of a refused change: from the session's folder, with
	// slashes, "../" before it if it is elsewhere in the repository; behind Memory it is in
	// the agent's memory of the project.
	File    string `json:"file,omitempty"`
	Added   string `json:"added,omitempty"`   // Changed: lines, without a mark before them
	Removed string `json:"removed,omitempty"` // Changed

	Tool string `json:"tool,omitempty"` // Refused: the tool's name
	Said string `json:"said,omitempty"` // Refused: what the user said to it, if anything

	Cut bool `json:"cut,omitempty"` // something is missing: a limit was reached, or Line is but names
}
