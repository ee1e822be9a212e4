// Package owner finds the agent in whose session a command was typed.
package owner

import (
	"path/filepath"
	"strings"
)

// An Agent is a program that types commands, and what shows it.
type Agent struct {
	Name string
	Sign string // "variable NAME" or "process NAME"
}

// signs are the variables that agents set for the commands of their sessions. They were
// recorded from Claude Code 2.1.329, Codex 0.169.0, pi 0.87.1 and Copilot 1.0.102; those
// of the other programs are from their documentation.
var signs = []struct{ variable, agent string }{
	{"CLAUDECODE", "Claude Code"},
	{"CLAUDE_CODE_CHILD_SESSION", "Claude Code"},
	{"CLAUDE_CODE_SESSION_ID", "Claude Code"},
	{"CLAUDE_CODE_ENTRYPOINT", "Claude Code"},
	{"CLAUDE_PID", "Claude Code"},
	{"CODEX_THREAD_ID", "Codex"},
	{"CODEX_SESSION_ID", "Codex"},
	{"CODEX_SANDBOX", "Codex"},
	{"CODEX_SANDBOX_NETWORK_DISABLED", "Codex"},
	{"CODEX_TOOL_CALL_ID", "Codex"},
	{"CODEX_CI", "Codex"},
	{"PI_CODING_AGENT", "pi"},
	{"PI_SESSION_ID", "pi"},
	{"COPILOT_CLI", "Copilot"},
	{"COPILOT_AGENT_SESSION_ID", "Copilot"},
	{"GEMINI_CLI", "Gemini CLI"},
	{"CURSOR_AGENT", "Cursor"},
	{"OPENCODE", "OpenCode"},
	{"AI_AGENT", "an agent"},
}

// programs are the names of agents' processes.
var programs = map[string]string{
	"claude": "Claude Code", "codex": "Codex", "pi": "pi", "copilot": "Copilot",
	"codex-exec": "Codex", "pi-coding-agent": "pi",
	"gemini": "Gemini CLI", "cursor-agent": "Cursor", "opencode": "OpenCode", "aider": "aider", "goose": "goose", "crush": "Crush", "qwen": "Qwen Code",
}

// folders are parts of the paths of agents whose file has another name: a version, or
// the script that an interpreter runs.
var folders = []struct{ part, agent string }{
	{"/claude/versions/", "Claude Code"}, {"/@anthropic-ai/claude-code", "Claude Code"}, {"/@openai/codex", "Codex"},
	{"/pi-coding-agent/", "pi"}, {"/@github/copilot", "Copilot"}, {"/@google/gemini-cli/", "Gemini CLI"}, {"/codex-x86_64-", "Codex"}, {"/codex-aarch64-", "Codex"},
}

// interpreters run an agent that is a script.
var interpreters = map[string]bool{"node": true, "bun": true, "deno": true}

// Find returns the agent in whose session a process with these variables and parents
// runs, nil if there is no sign of one. A parent is the arguments of a process.
func Find(getenv func(string) string, parents [][]string) *Agent {
	for _, s := range signs {
		if getenv(s.variable) != "" {
			return &Agent{s.agent, "variable " + s.variable}
		}
	}
	for _, args := range parents {
		for _, path := range started(args) {
			if name := programs[base(path)]; name != "" {
				return &Agent{name, "process " + base(path)}
			}
			for _, f := range folders {
				if strings.Contains(filepath.ToSlash(path), f.part) {
					return &Agent{f.agent, "process " + path}
				}
			}
		}
	}
	return nil
}

// started are the program that arguments start and, if it is an interpreter, what may be
// its script: options of which nothing is known may take a value before it.
func started(args []string) (paths []string) {
	for i, arg := range args {
		if i == 0 || !strings.HasPrefix(arg, "-") {
			paths = append(paths, arg)
		}
		if i == 0 && !interpreters[base(arg)] || len(paths) == 3 {
			break
		}
	}
	return paths
}

func base(path string) string {
	return strings.TrimSuffix(filepath.Base(path), ".exe")
}
