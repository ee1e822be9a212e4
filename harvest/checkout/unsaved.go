package checkout

import (
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/shell"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/work"
)

// unsaved reports whether the session may have changed files before a turn, and after the
// commit came there: a turn that had not ended by then, and that did more than read.
func unsaved(s *harvest.Session, turn int, since time.Time) bool {
	for i, t := range s.Turns[:turn] {
		if ended := endOf(s, i); !ended.IsZero() && !ended.After(since) {
			continue // the commit was made after it
		}
		if changes(t) {
			return true
		}
	}
	return false
}

// endOf is when a turn had ended for sure, zero if that is not known.
func endOf(s *harvest.Session, turn int) time.Time {
	t := s.Turns[turn]
	if t.DurationMS != nil && !t.Time.IsZero() {
		return t.Time.Add(time.Duration(*t.DurationMS) * time.Millisecond)
	}
	if turn+1 < len(s.Turns) {
		return s.Turns[turn+1].Time
	}
	return time.Time{}
}

// changes reports whether a turn may have changed files of its folder. A tool that is not
// known may have.
func changes(t harvest.Turn) bool {
	lines := 0
	for _, a := range t.Work {
		switch {
		case a.Kind == work.Changed && !strings.HasPrefix(a.File, work.Memory):
			return true
		case a.Kind == work.Ran && (a.Cut || !reads(a.Line)):
			return true
		case a.Kind == work.Ran || a.Kind == work.Refused:
			lines++
		}
	}
	for _, tool := range t.Tools {
		switch {
		case tool.Failed && !slices.Contains(shells, tool.Name) || slices.Contains(readers, tool.Name):
		case slices.Contains(shells, tool.Name) && lines > 0: // what it ran is known
			lines--
		default:
			return true
		}
	}
	return false
}

// shells are the tools that run command lines, by the names that agents give them.
var shells = []string{"Bash", "bash", "shell", "shell_command", "exec_command", "local_shell_call", "run_shell_command"}

// readers are the tools that change no file of the folder.
var readers = []string{
	"Read", "Grep", "Glob", "LS", "NotebookRead", "WebFetch", "WebSearch", "TodoWrite", "TodoRead", "Skill", "AskUserQuestion",
	"EnterPlanMode", "ExitPlanMode", "BashOutput", "ToolSearch", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", // Claude Code
	"update_plan", "view_image", "web_search", // Codex
	"view", "grep", "glob", "skill", "report_intent", "ask_user", "update_todo", "web_fetch", "read_bash", // Copilot CLI
	"read", "find", "ls", // pi
	"read_file", "read_many_files", "list_directory", "search_file_content", "google_web_search", // Gemini CLI
}

// reads reports whether a command line only reads: each of its programs is known to, and no
// output goes to a file.
func reads(line string) bool {
	commands, err := shell.Commands(line)
	if err != nil {
		return false
	}
	for _, c := range commands {
		for _, d := range c.Redirects {
			if strings.Contains(d.Op, ">") && d.Op != ">&" && d.Word.Text != "/dev/null" {
				return false
			}
		}
		name := c.Name()
		if name == "git" && len(c.Words) > 1 {
			name += " " + c.Words[1].Text
		}
		if !slices.Contains(programs, name) && (len(c.Words) > 0 || len(c.Assigns) > 0) {
			return false
		}
	}
	return true
}

// programs change no file, as agents use them.
var programs = []string{
	"cat", "cd", "cut", "date", "du", "echo", "false", "file", "grep", "head", "jq", "ls", "nl", "pwd", "stat", "tail", "test", "tr", "true", "uname",
	"wc", "which", "[", "printf", "basename", "dirname", "realpath", "rg", "sleep",
	"git status", "git log", "git show", "git ls-files", "git rev-parse", "git blame", "git grep", "git diff",
}
