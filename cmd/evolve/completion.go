package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/help"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/spf13/cobra"
)

// completionTime is how long a completion may take: nobody waits for one.
const completionTime = 300 * time.Millisecond

var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print what makes a shell complete skills, versions, runs and flags",
		Long: `completion prints a script for your shell. What it completes is read from disk
and the store at that moment; nothing is written and nobody is asked.`,
		Example: `  source <(evolve completion bash)        # this shell; or in ~/.bashrc
  evolve completion zsh >"${fpath[1]}/_evolve"
  evolve completion fish >~/.config/fish/completions/evolve.fish
  evolve completion powershell | Out-String | Invoke-Expression`,
		Args:      exactArgs(1, "a shell: "+strings.Join(shells, ", ")),
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			root, out := c.Root(), c.OutOrStdout()
			switch args[0] {
			case "bash":
				return bashCompletion(root, out)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			hint := "the shells are " + strings.Join(shells, ", ")
			if near := skill.Nearest(args[0], shells); near != "" {
				hint = "did you mean " + near + "?"
			}
			return problem.Inputf(hint, "unknown shell %q", args[0])
		},
	}
}

// withoutPackage stands in for a function of the bash-completion package, which
// not everybody has.
const withoutPackage = `    if ! declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        local line="${COMP_LINE:0:COMP_POINT}"
        read -ra words <<<"$line"
        [[ $line == *[[:space:]] ]] && words+=("")
        cword=$((${#words[@]} - 1)) prev=""
        cur=${words[cword]}
        ((cword > 0)) && prev=${words[cword - 1]}
        return 0
    fi
`

// afterAt leaves of each completion what bash replaces: from the @ on.
const afterAt = `    if [[ $cur == *@* && $COMP_WORDBREAKS == *@* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${cur%@*}"}")
    fi
`

// bashCompletion writes cobra's script, mended in two places: it works without
// the bash-completion package, and SKILL@VERSION is one word although bash breaks
// words at @.
func bashCompletion(root *cobra.Command, out io.Writer) error {
	var b strings.Builder
	if err := root.GenBashCompletionV2(&b, true); err != nil {
		return fmt.Errorf("write the script: %w", err)
	}
	script := strings.NewReplacer(
		"    _get_comp_words_by_ref \"$@\"", withoutPackage+"    _get_comp_words_by_ref \"$@\"",
		"_completion -n =: ", "_completion -n =:@ ",
		"    __evolve_handle_special_char \"$cur\" =\n", "    __evolve_handle_special_char \"$cur\" =\n"+afterAt,
	).Replace(b.String())
	_, err := io.WriteString(out, script)
	return err
}

// A completer lists what may stand somewhere; before are the arguments that do
// already. What cannot be found out is left out in silence.
type completer func(c *completing, before []string, begun string) []store.Name

// completing is one completion. peek is nil where there is no store.
type completing struct {
	a    *global
	ctx  context.Context
	peek *store.Peek
}

// arguments are what commands take, by position; the last one may come again.
var arguments = map[string][]completer{
	"log":            {skills},
	"show":           {texts},
	"diff":           {texts, otherTexts},
	"compare":        {texts, otherTexts},
	"promote":        {texts},
	"approve":        {texts},
	"reject":         {texts},
	"rollback":       {texts},
	"pin":            {texts},
	"review":         {skills},
	"report":         {reports},
	"cases list":     {skills},
	"cases show":     {skills, cases, none},
	"cases edit":     {skills, cases, none},
	"cases drop":     {skills, cases},
	"cases export":   {skills},
	"cases import":   {someFile},
	"sessions show":  {sessions, none},
	"sessions purge": {sessions},
	"kernel show":    {skills, none},
	"kernel check":   {skillsOrFiles, none},
	"kernel confirm": {skills, none},
}

// values are what flags take, by command and flag, else by flag alone. A flag that
// stands nowhere completes nothing, or files where its name says so.
var values = map[string]completer{
	"skill":            skills,
	"run":              namedRuns,
	"resume":           runs,
	"agent":            agents,
	"reflect-agent":    agents,
	"judge-agent":      agents,
	"source":           words(backend.SourceNames()...),
	"sandbox":          words(agent.SandboxOn, agent.SandboxNone),
	"evolve":           words(skill.Harness, skill.Description, skill.Shorten),
	"objectives":       words("quality", "latency", "cost", "retries"),
	"select":           words(sortedKeys(tournament.Selectors)...),
	"accept":           words(sortedKeys(tournament.Acceptances)...),
	"batch":            words(sortedKeys(tournament.Batches)...),
	"stop":             words(sortedKeys(tournament.Stops)...),
	"profile":          words(string(skill.ClaudeCode), string(skill.Portable)),
	"policy":           words("stage", "auto"),
	"with":             words("systemd", "launchd", "cron"),
	"to":               words(skill.TargetNames()...),
	"split":            words("train", "val", "test"),
	"compare --split":  words("train", "val", "test", "all"),
	"compare --format": words(formats...),
}

// paths are flags that take a file or a folder.
var paths = []string{"claude-home", "skills-dir", "output", "keep", "repo", "sidecar", "plugin", "handoff-dir", "exclude-project", "command"}

// withCompletion lets the commands below root complete their arguments and flags.
func withCompletion(a *global, root *cobra.Command) {
	help.Each(root, func(c *cobra.Command) {
		at := help.PathOf(c)
		if at == "help" {
			return // it has its own
		}
		if list := arguments[at]; list != nil {
			c.ValidArgsFunction = func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
				return completionsFor(a, c, list[min(len(args), len(list)-1)], args, begun)
			}
		} else if !c.HasSubCommands() && c.ValidArgs == nil {
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *flagT) { completeFlag(a, c, at, f) })
	})
	root.PersistentFlags().VisitAll(func(f *flagT) { completeFlag(a, root, "", f) })
}

func completeFlag(a *global, c *cobra.Command, at string, f *flagT) {
	how := values[at+" --"+f.Name]
	if how == nil {
		how = values[f.Name]
	}
	if how == nil && (f.Value.Type() == "bool" || slices.Contains(paths, f.Name)) {
		return
	}
	// The error is of a flag that has one already, which nothing here gives it.
	_ = c.RegisterFlagCompletionFunc(f.Name, func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if how == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, directive := completionsFor(a, c, how, args, begun)
		if i := strings.LastIndexByte(begun, ','); i >= 0 && f.Value.Type() == "stringSlice" {
			before := begun[:i]
			list, directive = completionsFor(a, c, how, args, begun[len(before)+1:])
			for i := range list {
				list[i] = before + "," + list[i]
			}
		}
		return list, directive
	})
}

// completionsFor asks how what may stand there, within completionTime.
func completionsFor(a *global, c *cobra.Command, how completer, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(c.Context(), completionTime)
	defer cancel()
	k := &completing{a: a, ctx: ctx}
	if home, err := a.home(); err == nil {
		if peek, err := store.PeekAt(ctx, home.Database()); err == nil {
			k.peek = peek
			defer peek.Close() // nothing is written
		}
	}
	directive := cobra.ShellCompDirectiveNoFileComp
	var out []string
	for _, n := range how(k, args, begun) {
		switch {
		case n.Name == anyFile:
			directive = cobra.ShellCompDirectiveDefault
		case strings.HasPrefix(n.Name, begun) && oneWord(n.Name):
			if strings.HasSuffix(n.Name, "@") {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
			if n.Note != "" {
				n.Name += "\t" + plain.Excerpt(n.Note, 60)
			}
			out = append(out, n.Name)
		}
	}
	return out, directive
}

// anyFile stands for every file.
const anyFile = "\x00file"

// oneWord reports whether a name can be typed and shown as it is: what harvested
// text and file names hold is nobody's command.
func oneWord(s string) bool {
	return s != "" && plain.Text(s) == s && !strings.ContainsAny(s, " \t\n\"'`$\\;&|<>()*?[]{}!#~")
}

func words(list ...string) completer {
	names := make([]store.Name, len(list))
	for i, w := range list {
		names[i].Name = w
	}
	return func(*completing, []string, string) []store.Name { return names }
}

func none(*completing, []string, string) []store.Name { return nil }

func someFile(*completing, []string, string) []store.Name { return []store.Name{{Name: anyFile}} }

func agents(*completing, []string, string) []store.Name {
	return words(backend.Names()...)(nil, nil, "")
}

// asked are what a question to the store brings; nothing where it has no answer.
func asked(k *completing, ask func(*store.Peek) ([]store.Name, error)) []store.Name {
	if k.peek == nil {
		return nil
	}
	names, err := ask(k.peek)
	if err != nil {
		return nil
	}
	return names
}

// skills are those on disk, and those that only the store knows.
func skills(k *completing, _ []string, _ string) (out []store.Name) {
	if reg, err := k.a.layout().Registry(); err == nil {
		for _, e := range reg.Entries {
			out = append(out, store.Name{Name: e.Name})
		}
		for _, e := range reg.Broken {
			out = append(out, store.Name{Name: e.Name, Note: "cannot be read"})
		}
	}
	for _, n := range asked(k, func(p *store.Peek) ([]store.Name, error) { return p.Skills(k.ctx) }) {
		if !slices.ContainsFunc(out, func(o store.Name) bool { return o.Name == n.Name }) {
			out = append(out, n)
		}
	}
	return out
}

func skillsOrFiles(k *completing, before []string, begun string) []store.Name {
	return append(skills(k, before, begun), store.Name{Name: anyFile})
}

// texts are skills; behind an @ the texts of one.
func texts(k *completing, before []string, begun string) []store.Name {
	name, _, behind := strings.Cut(begun, "@")
	if !behind {
		return skills(k, before, begun)
	}
	var out []store.Name
	for _, n := range textsOf(k, name) {
		out = append(out, store.Name{Name: name + "@" + n.Name, Note: n.Note})
	}
	return out
}

// otherTexts are texts of the skill that was named before.
func otherTexts(k *completing, before []string, _ string) []store.Name {
	if len(before) == 0 || len(before) > 2 {
		return nil
	}
	name, _, _ := strings.Cut(before[0], "@")
	return append(textsOf(k, name), store.Name{Name: "live", Note: "what agents load now"},
		store.Name{Name: "challenger", Note: "on trial"}, store.Name{Name: "none", Note: "no skill at all"})
}

func textsOf(k *completing, name string) []store.Name {
	return append(asked(k, func(p *store.Peek) ([]store.Name, error) { return p.Versions(k.ctx, name) }),
		asked(k, func(p *store.Peek) ([]store.Name, error) { return p.Candidates(k.ctx, name) })...)
}

func runs(k *completing, _ []string, _ string) []store.Name {
	return asked(k, func(p *store.Peek) ([]store.Name, error) { return p.Runs(k.ctx, "") })
}

// namedRuns are runs where "last" is one.
func namedRuns(k *completing, before []string, begun string) []store.Name {
	return append([]store.Name{{Name: "last", Note: "the newest run"}}, runs(k, before, begun)...)
}

// reports are runs, and nights.
func reports(k *completing, before []string, begun string) []store.Name {
	return append(namedRuns(k, before, begun), asked(k, func(p *store.Peek) ([]store.Name, error) { return p.Nights(k.ctx) })...)
}

func cases(k *completing, before []string, _ string) []store.Name {
	if len(before) == 0 {
		return nil
	}
	return asked(k, func(p *store.Peek) ([]store.Name, error) { return p.Cases(k.ctx, before[0]) })
}

func sessions(k *completing, _ []string, _ string) []store.Name {
	return asked(k, func(p *store.Peek) ([]store.Name, error) { return p.Sessions(k.ctx) })
}
