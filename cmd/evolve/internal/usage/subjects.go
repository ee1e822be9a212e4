package usage

import (
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/help"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Subjects lets the commands below root take their subject in each of the ways in which
// people name it, and gives it to them in one: behind the command or by --skill, a version
// behind an @ or as a word of its own, a file of standing instructions by its path or by its
// key, and the script of a hook likewise, unless the command says nothing of hooks. A command
// whose usage line has SKILL and which has --skill itself gets the flag; another gets the
// argument.
func Subjects(root *cobra.Command, layout func() *skill.Layout) {
	help.Each(root, func(c *cobra.Command) {
		if c.RunE == nil {
			return
		}
		s := form(c)
		if s.takes && !s.flag {
			c.Flags().StringVar(&s.named, "skill", "", "the skill, where no argument names it")
			_ = c.Flags().MarkHidden("skill") // it was just added
		}
		check, do := c.Args, c.RunE
		var whole []string
		c.Args = func(c *cobra.Command, args []string) (err error) {
			if whole, err = s.read(c, layout(), args); err != nil || check == nil {
				return err
			}
			return check(c, whole)
		}
		c.RunE = func(c *cobra.Command, _ []string) error { return do(c, whole) }
	})
}

// A shape is where a command takes its subject.
type shape struct {
	takes   bool   // an argument is a subject
	flag    bool   // the command has --skill itself, and no such argument
	several bool   // it takes any number of subjects
	rest    int    // arguments besides the subject that it needs
	version bool   // a version or candidate is behind the subject, and nothing else
	files   bool   // arguments may be files of standing instructions
	named   string // the value of --skill, where the command has none of its own
}

func form(c *cobra.Command) *shape {
	words := strings.Fields(c.Use)[1:]
	s := &shape{flag: c.Flags().Lookup("skill") != nil}
	at := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, "SKILL") })
	// Both may also be a path, which the command reads itself.
	s.files = at >= 0 && words[at] != "SKILL|FILE" || strings.Contains(c.Use, "INSTRUCTIONS")
	if at != 0 {
		return s
	}
	s.takes = true
	s.several = strings.HasSuffix(words[0], "...]")
	s.version = len(words) == 1 && strings.Contains(words[0], "@")
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "[") {
			s.rest++
		}
	}
	return s
}

// read returns the arguments as the command takes them.
func (s *shape) read(c *cobra.Command, l *skill.Layout, args []string) ([]string, error) {
	args = slices.Clone(args)
	flag := c.Flags().Lookup("skill")
	switch {
	case s.takes && s.flag:
		n := min(max(0, len(args)-s.rest), 1)
		if s.several {
			n = len(args)
		}
		if err := toFlag(flag, args[:n]); err != nil {
			return nil, err
		}
		args = args[n:]
	case s.takes && s.named != "":
		if len(args) == 0 {
			args = []string{s.named}
		} else if name, _ := subject.Cut(args[0]); name != s.named {
			args = append([]string{s.named}, args...)
		}
	}
	if s.version && len(args) == 2 && args[1] != "" {
		if _, at := subject.Cut(args[0]); at == "" {
			args = []string{args[0] + "@" + strings.TrimPrefix(args[1], "@")}
		}
	}
	if err := s.keys(c, l, args); err != nil {
		return nil, err
	}
	return args, skillsOnly(c, args)
}

// toFlag sets --skill to what was named behind the command.
func toFlag(f *pflag.Flag, names []string) error {
	for _, name := range names {
		if f.Changed && f.Value.Type() == "string" && f.Value.String() != name {
			return problem.Inputf("drop one of them", "%s and --skill %s name two skills", name, f.Value)
		}
		if err := f.Value.Set(name); err != nil {
			return err
		}
		f.Changed = true
	}
	return nil
}

// keys puts the keys of files of standing instructions in the place of their paths.
func (s *shape) keys(c *cobra.Command, l *skill.Layout, args []string) error {
	key := func(typed string) (string, error) {
		name, at := subject.Cut(typed)
		if !skill.IsFile(name) && !skill.IsScript(name) {
			return typed, nil
		}
		key, err := l.Key(name)
		if at != "" {
			key += "@" + at
		}
		return key, err
	}
	var err error
	if s.files && !s.flag {
		for i := range args {
			if args[i], err = key(args[i]); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{"file", "skill"} {
		f := c.Flags().Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		if several, ok := f.Value.(pflag.SliceValue); ok {
			names := several.GetSlice()
			for i := range names {
				if names[i], err = key(names[i]); err != nil {
					return err
				}
			}
			if err := several.Replace(names); err != nil {
				return err
			}
			continue
		}
		v := f.Value.String()
		if name == "file" { // whatever it is called
			v, err = l.Key(v)
		} else {
			v, err = key(v)
		}
		if err == nil {
			err = f.Value.Set(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
