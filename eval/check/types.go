package check

// types are all types of checks, in the order in which messages and forms list them.
var types = []Type{
	contains,
	notContains,
	regex,
	notRegex,
	equals,
	jsonSchema{},
	maxChars{},
	toolCalled,
	skillInvoked{SkillInvoked},
	skillInvoked{SkillNotInvoked},
	trigger{},
	fileExists,
	fileContains,
	didRun,
	didNotRun,
	changed,
	notChanged,
	added,
	notAdded,
	judge{},
	tests,
	command{Spec{Name: Command, Fields: []string{"command"}, Runs: true, Files: true}},
	execute{},
}

// The names of the types. All are inert, because they only read what was recorded,
// except Tests, Command and Exec, which run a program.
const (
	Contains        = "contains"          // the answer contains Value, letter case included
	NotContains     = "not_contains"      // it does not
	Regex           = "regex"             // the RE2 pattern Value matches somewhere in the answer
	NotRegex        = "not_regex"         // it matches nowhere
	Equals          = "equals"            // the answer is Value, space around both aside
	JSONSchema      = "json_schema"       // the answer, a code fence aside, is JSON that Schema accepts
	MaxChars        = "max_chars"         // the answer has at most Max runes
	ToolCalled      = "tool_called"       // the trace has a call of the tool Value
	SkillInvoked    = "skill_invoked"     // the agent loaded the skill Value
	SkillNotInvoked = "skill_not_invoked" // it did not
	Trigger         = "trigger"           // it loaded the case's skill or did not, as ShouldTrigger demands, and loaded Neighbour
	FileExists      = "file_exists"       // Path is a file in the workspace
	FileContains    = "file_contains"     // and contains Value, letter case included
	Ran             = "ran"               // the agent ran the command Value, after its last edit if After says so
	NotRan          = "not_ran"           // it did not
	Changed         = "changed"           // a file that Path matches was made, changed or removed
	NotChanged      = "not_changed"       // none was
	Added           = "added"             // a line that the RE2 pattern Value matches was added, in a file that Path matches
	NotAdded        = "not_added"         // none was
	Judge           = "judge"             // a model's opinion of the answer against Rubric
	Tests           = "tests"             // Command, which the owner confirmed under the name Value, exits with 0 in the workspace
	Command         = "command"           // Command, run in the workspace, exits with 0
	Exec            = "exec"              // Command reads {case, rollout} and prints {"score", "feedback"}
)
