// Package completion lists what may be typed at a place of a command line: skills,
// versions, runs and cases as they are on the disk and in the store at that moment.
package completion

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/help"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/peek"
	"github.com/skill-evolve/evolve/tournament/search"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completionTime is the time limit of a completion.
const completionTime = 300 * time.Millisecond

// withoutPackage replaces a function of the bash-completion package, which may not be
// installed.
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

// afterAt keeps the part of each completion that bash replaces: from the @
// on.
const afterAt = `    if [[ $cur == *@* && $COMP_WORDBREAKS == *@* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${cur%@*}"}")
    fi
`

// Bash writes cobra's script with two corrections: it works without
// the bash-completion package, and it completes SKILL@VERSION as one argument
// although bash splits at @.
func Bash(root *cobra.Command, out io.Writer) error {
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

// A completer lists the possible arguments at one position. It silently
// leaves out what it cannot find.
type completer func(*completing) []peek.Name

// completing is one completion.
type completing struct {
	layout func() *skill.Layout
	ctx    context.Context
	names  *peek.Peek // nil if there is no store
	before []string   // the arguments that are there already
	begun  string
}

// arguments are the arguments of commands, by position; the last one may be
// repeated.
var arguments = map[string][]completer{
	"run":     {skills, none},
	"harvest": {skills, none}, "sleep run": {skills},
	"sessions list": {skills, none}, "cases generate": {skills, none},
	"log":      {subjects},
	"show":     {texts},
	"diff":     {texts, otherTexts},
	"compare":  {texts, otherTexts},
	"check":    {skills},
	"runs":     {subjects, none},
	"promote":  {texts},
	"try":      {texts},
	"approve":  {texts},
	"reject":   {texts},
	"rollback": {texts},
	"pin":      {texts},
	"review":   {skills}, "corrections": {skills}, "suggest": {skills},
	"report":         {all(lastRun, subjects, known(peek.KnownRuns), known(peek.KnownNights))},
	"cases list":     {skills},
	"cases show":     {skills, cases, none},
	"cases edit":     {skills, cases, none},
	"cases drop":     {skills, cases},
	"cases export":   {skills},
	"cases import":   {someFile},
	"sessions show":  {known(peek.KnownSessions), none},
	"sessions purge": {known(peek.KnownSessions)},
	"kernel show":    {subjects, none},
	"kernel check":   {all(subjects, someFile), none},
	"kernel confirm": {subjects, none},
	"privacy agree":  {none, words(agent.Requests...)},
}

// values are the values of flags, by command and flag, else by flag alone. A
// flag that is not listed completes nothing, or files if it is one of paths.
var values = map[string]completer{
	"skill":           skills,
	"hook":            hooks,
	"run":             all(lastRun, known(peek.KnownRuns)),
	"resume":          known(peek.KnownRuns),
	"agent":           words(agent.Names()...),
	"reflect-agent":   words(agent.Names()...),
	"judge-agent":     words(agent.Names()...),
	"source":          words(backend.SourceNames()...),
	"sandbox":         words(agent.SandboxOn, agent.SandboxNone),
	"context":         words(agent.ContextOwner, agent.ContextBare),
	"evolve":          words(skill.Harness, skill.Description, skill.Shorten),
	"objectives":      words(pareto.Names()...),
	"select":          words(keys(search.Selectors)...),
	"accept":          words(keys(search.Acceptances)...),
	"batch":           words(keys(search.Batches)...),
	"stop":            words(keys(search.Stops)...),
	"profile":         words(string(check.ClaudeCode), string(check.Portable)),
	"policy":          words("stage", "auto"),
	"with":            words("systemd", "launchd", "cron"),
	"to":              words(skill.TargetNames()...),
	"outcome":         words("corrected", "accepted", "rejected", "repeated", "abandoned", "unknown"),
	"split":           words("train", "val", "test"),
	"compare --split": words("train", "val", "test", "all"),
}

// paths are flags that take a file or a folder.
var paths = []string{"claude-home", "skills-dir", "output", "keep", "repo", "sidecar", "plugin", "handoff-dir", "exclude-project", "command", "patch"}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// A Source is where names are looked up when a completion is asked for. Nothing is
// written.
type Source struct {
	Home   func() (datadir.Dir, error)
	Layout func() *skill.Layout
	// Words are the values of flags that only their commands know, by command and flag.
	Words map[string][]string
}

// Add lets the commands below root complete their arguments and flags.
func (s *Source) Add(root *cobra.Command) {
	help.Each(root, func(c *cobra.Command) {
		at := help.PathOf(c)
		if list := arguments[at]; list != nil {
			c.ValidArgsFunction = func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
				return s.completions(c, list[min(len(args), len(list)-1)], args, begun)
			}
		} else if !c.HasSubCommands() && c.ValidArgs == nil && c.ValidArgsFunction == nil {
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
		flags := c.LocalNonPersistentFlags()
		if c == root {
			flags.AddFlagSet(root.PersistentFlags())
		}
		flags.VisitAll(func(f *pflag.Flag) { s.completeFlag(c, at, f) })
	})
}

func (s *Source) completeFlag(c *cobra.Command, at string, f *pflag.Flag) {
	how := values[at+" --"+f.Name]
	if list := s.Words[at+" --"+f.Name]; list != nil {
		how = words(list...)
	}
	if how == nil {
		how = values[f.Name]
	}
	if how == nil && (f.Value.Type() == "bool" || slices.Contains(paths, f.Name)) {
		return
	}
	// The only error is a flag with two completions, which the table rules
	// out.
	_ = c.RegisterFlagCompletionFunc(f.Name, func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if how == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		head := ""
		if f.Value.Type() == "stringSlice" {
			head = begun[:strings.LastIndexByte(begun, ',')+1]
		}
		list, directive := s.completions(c, how, args, begun[len(head):])
		for i := range list {
			list[i] = head + list[i]
		}
		return list, directive
	})
}

// completions runs the completer how within completionTime.
func (s *Source) completions(c *cobra.Command, how completer, args []string, begun string) (out []string, directive cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(c.Context(), completionTime)
	defer cancel()
	k := &completing{layout: s.Layout, ctx: ctx, before: args, begun: begun}
	if home, err := s.Home(); err == nil {
		if names, err := peek.At(ctx, home.Database()); err == nil {
			k.names = names
			defer names.Close() // nothing is written
		}
	}
	directive = cobra.ShellCompDirectiveNoFileComp
	for _, n := range how(k) {
		switch {
		case n.Name == anyFile:
			directive = cobra.ShellCompDirectiveDefault
		case strings.HasPrefix(n.Name, begun) && oneWord(strings.TrimPrefix(n.Name, "~/")):
			out = append(out, cobra.CompletionWithDesc(n.Name, plain.Excerpt(n.Note, 60)))
		}
	}
	return out, directive
}

// anyFile means that every file is possible.
const anyFile = "\x00file"

// oneWord reports whether a name can be typed and shown unquoted: harvested
// text and file names may hold anything.
func oneWord(s string) bool {
	return s != "" && plain.Text(s) == s && !strings.ContainsAny(s, " \t\n\"'`$\\;&|<>()*?[]{}!#~")
}

func words(list ...string) completer {
	names := make([]peek.Name, len(list))
	for i, w := range list {
		names[i].Name = w
	}
	return func(*completing) []peek.Name { return names }
}

var (
	none     = words()
	someFile = words(anyFile)
)

// all lists what several completers do.
func all(of ...completer) completer {
	return func(k *completing) (out []peek.Name) {
		for _, c := range of {
			out = append(out, c(k)...)
		}
		return out
	}
}

// known lists what the store knows; without an answer there is nothing to complete.
func known(of peek.Known) completer {
	return func(k *completing) []peek.Name { return k.known(of, "") }
}

func (k *completing) known(of peek.Known, skill string) []peek.Name {
	if k.names == nil {
		return nil
	}
	names, err := k.names.Names(k.ctx, of, skill)
	if err != nil {
		return nil
	}
	return names
}

// named are the skills on disk and those that only the store has.
func named(k *completing) (out []peek.Name) {
	if reg, err := k.layout().Registry(); err == nil {
		for _, e := range reg.Entries {
			out = append(out, peek.Name{Name: e.Name})
		}
		for _, e := range reg.Broken {
			out = append(out, peek.Name{Name: e.Name, Note: "cannot be read"})
		}
	}
	for _, n := range k.known(peek.KnownSkills, "") {
		if !subject.Parse(n.Name).IsFile() && !slices.ContainsFunc(out, func(o peek.Name) bool { return o.Name == n.Name }) {
			out = append(out, n)
		}
	}
	return out
}

// files are the files of one kind that the store has, by their paths; and any file for a path
// that was begun.
func files(kind subject.Kind) completer {
	return func(k *completing) (out []peek.Name) {
		for _, n := range k.known(peek.KnownSkills, "") {
			if r := subject.Parse(n.Name); r.Kind == kind {
				n.Name = r.Path()
				out = append(out, n)
			}
		}
		if strings.Contains(k.begun, "/") {
			out = append(out, peek.Name{Name: anyFile})
		}
		return out
	}
}

var (
	hooks    = files(subject.Hook)
	skills   = all(named, files(subject.File))
	subjects = all(skills, hooks)
)

// texts are subjects; behind an @ the texts of one.
func texts(k *completing) []peek.Name {
	name, _, behind := strings.Cut(k.begun, "@")
	if !behind {
		return subjects(k)
	}
	out := k.textsOf(name)
	for i := range out {
		out[i].Name = name + "@" + out[i].Name
	}
	return out
}

// otherTexts are the texts of the skill in the previous argument.
func otherTexts(k *completing) []peek.Name {
	if len(k.before) == 0 || len(k.before) > 2 {
		return nil
	}
	name, _, _ := strings.Cut(k.before[0], "@")
	return append(k.textsOf(name), peek.Name{Name: "live", Note: "what agents load now"},
		peek.Name{Name: "challenger", Note: "on trial"}, peek.Name{Name: "none", Note: "no skill at all"})
}

func (k *completing) textsOf(name string) []peek.Name {
	if skill.IsFile(name) || skill.IsScript(name) {
		if key, err := k.layout().Key(name); err == nil {
			name = key
		}
	}
	return append(k.known(peek.KnownVersions, name), k.known(peek.KnownCandidates, name)...)
}

func lastRun(*completing) []peek.Name {
	return []peek.Name{{Name: "last", Note: "the newest run"}}
}

func cases(k *completing) []peek.Name {
	if len(k.before) == 0 {
		return nil
	}
	return k.known(peek.KnownCases, k.before[0])
}
