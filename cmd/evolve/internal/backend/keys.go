package backend

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/pareto"
	"github.com/spf13/pflag"
)

// ConfigHelp is the text of `evolve help config`: a configuration that sets every key.
func ConfigHelp() string {
	var b strings.Builder
	b.WriteString(`What config.yaml may hold

config.yaml is in evolve's data folder ('evolve help files'). It holds defaults of
flags: a flag that is given overrides it. Every key is optional.

`)
	for f := range reflect.TypeFor[Config]().Fields() {
		if help := f.Tag.Get("help"); help != "" { // demo is nobody's to set
			fmt.Fprintf(&b, "  # %s\n  %s: %s\n", help, f.Tag.Get("yaml"), f.Tag.Get("example"))
		}
	}
	return b.String()
}

// Defaults sets the flags that were not given and that the configuration has.
func (c *Config) Defaults(flags *pflag.FlagSet) error {
	for name, value := range map[string]string{"objectives": strings.Join(c.Objectives, ","), "policy": c.Policy} {
		f := flags.Lookup(name)
		if f == nil || f.Changed || value == "" {
			continue
		}
		if err := f.Value.Set(value); err != nil {
			return err
		}
	}
	return nil
}

func checkObjectives(names []string) error {
	for _, name := range names {
		if !slices.Contains(pareto.Names(), name) {
			return fmt.Errorf("objectives: %q is none of %s", name, strings.Join(pareto.Names(), ", "))
		}
	}
	if len(names) > 0 && !slices.Contains(names, pareto.Quality.String()) {
		return errors.New("objectives: quality must be one of them")
	}
	return nil
}
