package copilot

// builtins are commands of the program itself; typing one invokes no skill. A skill may
// have the same name: it was the skill if skill.invoked follows.
var builtins = []string{"add-dir", "agent", "allow-all", "app", "ask", "autopilot", "caption", "changelog", "chronicle", "clear", "compact", "context",
	"copy", "cwd", "cd", "delegate", "diff", "downgrade", "env", "every", "exit", "experimental", "feedback", "fleet", "help", "ide", "init",
	"instructions", "keep-alive", "list-dirs", "login", "logout", "lsp", "mcp", "model", "models", "new", "permissions", "plan", "plugin", "pr",
	"quit", "remote", "rename", "research", "reset-allowed-tools", "restart", "resume", "continue", "review", "rewind", "sandbox", "session",
	"sessions", "share", "sidekicks", "skills", "statusline", "streamer-mode", "tasks", "terminal-setup", "theme", "undo", "update", "upgrade",
	"usage", "user", "version", "voice", "yolo"}
