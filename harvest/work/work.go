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

const (
	MaxLine = 2 << 10  // bytes of a command line
	MaxTurn = 16 << 10 // bytes of all added and removed lines of a turn
)

// An Act is one thing that the agent did, redacted. Which fields it has depends on Kind.
type Act struct {
	Kind Kind `json:"kind"`

	Line  string `json:"line,omitempty"`  // Ran, or a refused command: the command line
	Exit  *int   `json:"exit,omitempty"`  // Ran: the exit status; nil if the transcript does not tell
	Tests string `json:"tests,omitempty"` // Ran: what it tests with: "go test", "pytest"

	File    string `json:"file,omitempty"`    // Changed: below the session's folder, with slashes
	Added   string `json:"added,omitempty"`   // Changed: lines, without a mark before them
	Removed string `json:"removed,omitempty"` // Changed

	Tool string `json:"tool,omitempty"` // Refused: the tool's name
	Said string `json:"said,omitempty"` // Refused: what the user said to it, if anything

	Cut bool `json:"cut,omitempty"` // a limit was reached: something is missing
}
