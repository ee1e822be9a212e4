package help

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/spf13/cobra"
)

// topics are what `evolve help TOPIC` explains beside the commands.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "What the exit codes mean", Long: exitCodes},
		{Use: "environment", Short: "Which environment variables count", Long: Environment()},
		{Use: "files", Short: "Where evolve reads and writes", Long: files},
	}
}

const exitCodes = `Every command ends with one of these:

    0  done; also where the verdict is undecided, or nothing better was found
    1  failed: an agent, a server, a disk
    2  bad usage or input: an unknown name, a flag that makes no sense, a
       SKILL.md that cannot be read
    3  stopped by a cap or a usage limit before a verdict, or waiting for an
       answer; nothing is lost, the same command or --resume goes on
    4  refused for safety: the kernel, the firewall, a file that was edited
       meanwhile
  130  interrupted by Ctrl-C, SIGTERM or SIGHUP. The first one ends calls in
       flight and saves what was measured, a second one stops at once; both
       leave a store that goes on from there

Errors are one line on stderr, mostly with a hint below that says what to type
next. Results are on stdout, with --json as data.
`

const files = `evolve's own data is in $EVOLVE_HOME, by default $XDG_DATA_HOME/evolve or
~/.local/share/evolve. Files are readable for you alone.

  evolve.db      cases, sessions (redacted), runs, rollouts, versions: SQLite.
                 Beside it -wal and -shm while it is in use
  config.yaml    what flags would say each time; evolve never writes it
  reports/       one page of HTML for each run
  staged/        texts that were found, by skill, to look at
  handoff/       requests of --agent handoff, and their answers
  bus.jsonl      what hooks have noted in live sessions
  notes/         what the next session is told
  hooks/         what 'evolve hooks install' has put where
  backups/       settings as they were before it
  running/       locks of runs that are under way

It reads the session files of the agents in their own folders, and writes a
SKILL.md only by promote, rollback, run --promote and sleep run --policy auto:
in ~/.claude/skills, or where --to says. Agents' settings are written by
'evolve hooks install' alone, a timer by 'evolve sleep install', each shown
before. Replays work in temporary folders below $TMPDIR.
`

// Environment tells of the variables that count; those of the backends come from
// where they are read.
func Environment() string {
	var b strings.Builder
	b.WriteString(`  EVOLVE_HOME            folder of evolve's own data
  XDG_DATA_HOME          its parent, where EVOLVE_HOME is not set
  XDG_CONFIG_HOME        where 'evolve sleep install' puts a systemd timer
  CLAUDE_CONFIG_DIR      Claude Code's folder (default ~/.claude)
  CODEX_HOME             Codex' (default ~/.codex)
  PI_CODING_AGENT_DIR    pi's (default ~/.pi/agent)
  COPILOT_HOME           Copilot's (default ~/.copilot)
  VISUAL, EDITOR         for 'evolve cases edit'
  BROWSER                for 'evolve serve'
  PATH                   where agents are; a timer of nights keeps it
  COLUMNS                how wide a page is that goes to no terminal
  NO_COLOR               no colours, whatever the terminal can
  TERM=dumb, CI          progress as plain lines, also on a terminal
  TMPDIR                 where replays work

Keys and servers of the backends; a key is given to nobody else:

`)
	for _, k := range backend.Kinds {
		names := slices.Clone(k.Credentials)
		if k.BaseEnv != "" {
			names = append(names, k.BaseEnv)
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, "  %-9s", k.Name)
			used := 11
			for i, n := range names {
				if i < len(names)-1 {
					n += ","
				}
				if used+1+len(n) > width {
					b.WriteString("\n" + strings.Repeat(" ", 11))
					used = 11
				}
				b.WriteString(" " + n)
				used += 1 + len(n)
			}
			b.WriteString("\n")
		}
	}
	b.WriteString(`
--api-key-env and --pass-env name others. Flags count before config.yaml, that
before the environment.
`)
	return b.String()
}
