package plain

// Agent is what people call an agent. Its name is the one that a flag takes, "claude", or
// the one that sessions and cases are stored with, "claude-code".
func Agent(name string) string {
	switch name {
	case "claude", "claude-code":
		return "Claude Code"
	case "codex":
		return "Codex"
	case "copilot", "copilot-cli":
		return "Copilot"
	case "gemini":
		return "Gemini CLI"
	case "cursor":
		return "Cursor"
	}
	return Text(name)
}
