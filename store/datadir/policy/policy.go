// Package policy reads what the administrator of a machine has fixed for everybody on it.
package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"go.yaml.in/yaml/v3"
)

// Path is where the administrator writes it.
const Path = "/etc/evolve/policy.yaml"

// A Policy limits what users may choose. A field that is left out limits nothing; an
// empty list allows nothing. nil is no policy.
type Policy struct {
	// Vendors get text, and nobody else; a program or server on this machine always may.
	Vendors *[]string `yaml:"vendors,omitempty"`
	// Hosts may be asked for answers, as host or host:port.
	Hosts    *[]string `yaml:"hosts,omitempty"`
	Projects struct {
		Allow *[]string `yaml:"allow,omitempty"` // folders: no session of another one is read
		Deny  []string  `yaml:"deny,omitempty"`  // folders whose sessions are never read
	} `yaml:"projects,omitempty"`
	Nights  *bool     `yaml:"nights,omitempty"`  // false: none run
	Targets *[]string `yaml:"targets,omitempty"` // as --to names them: texts are installed there alone
	Caps    Caps      `yaml:"caps,omitempty"`    // of one run, comparison or night
	// KeepDays is after how many days session text that no case uses expires at the latest.
	KeepDays int `yaml:"keep_days,omitempty"`
	// Moments is how much may be kept of what agents do at the most.
	Moments *work.Level `yaml:"moments,omitempty"`
}

// Caps are the highest caps that a user may choose; 0 is no limit.
type Caps struct {
	Rollouts int64         `yaml:"max_rollouts,omitempty"`
	CostUSD  float64       `yaml:"max_cost_usd,omitempty"`
	Tokens   int64         `yaml:"max_tokens,omitempty"`
	Duration time.Duration `yaml:"max_duration,omitempty"`
}

// maxSize is the largest policy that is read, in bytes.
const maxSize = 1 << 20

// Read reads the policy of this machine; without a file there is none. A file that
// somebody else than root can write is no policy, and an error: a user must notice that
// theirs is not followed. So is an unknown key.
func Read() (*Policy, error) { return read(Path, byRoot) }

func read(path string, trusted func(fs.FileInfo) error) (*Policy, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var text []byte
	if err == nil {
		folder, e := os.Stat(filepath.Dir(path)) // who can write it can replace the file
		if err = errors.Join(e, trusted(info)); err == nil {
			if err = trusted(folder); err != nil {
				err = fmt.Errorf("its folder: %w", err)
			}
		}
		if err == nil {
			text, err = bounded.ReadFile(path, maxSize)
		}
	}
	p := new(Policy)
	if err == nil {
		d := yaml.NewDecoder(bytes.NewReader(text))
		d.KnownFields(true)
		if err = d.Decode(p); errors.Is(err, io.EOF) {
			err = nil // empty
		} else if err == nil && !errors.Is(d.Decode(new(yaml.Node)), io.EOF) {
			err = errors.New("there is more than one document")
		}
		var doc yaml.Node
		if err == nil && yaml.Unmarshal(text, &doc) == nil {
			err = complete(&doc)
		}
	}
	if err == nil {
		err = p.check()
	}
	if err != nil {
		return nil, &problem.Error{Kind: problem.Refused, Err: fmt.Errorf("the policy of this machine, %s: %w", path, err), Hint: "its administrator has to mend it; until then evolve only looks, denies, purges and rolls back here"}
	}
	return p, nil
}

// complete refuses a key without a value: a list whose entries are all commented out
// would limit nothing.
func complete(n *yaml.Node) error {
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && c.Tag == "!!null" {
			return fmt.Errorf("%s has no value: [] allows nothing, and without the key nothing is limited", n.Content[i-1].Value)
		}
		if err := complete(c); err != nil {
			return err
		}
	}
	return nil
}

func (p *Policy) check() error {
	for _, list := range []*[]string{p.Projects.Allow, &p.Projects.Deny} {
		if list == nil {
			continue
		}
		for _, dir := range *list {
			if !filepath.IsAbs(dir) {
				return fmt.Errorf("projects: %q is no absolute folder", dir)
			}
		}
	}
	c := p.Caps
	if c.Rollouts < 0 || !(c.CostUSD >= 0) || c.Tokens < 0 || c.Duration < 0 || p.KeepDays < 0 {
		return errors.New("a cap and keep_days cannot be negative")
	}
	return nil
}

// listed reports whether a list that may be left out holds s.
func listed(list *[]string, s string) bool { return list == nil || slices.Contains(*list, s) }

// Vendor reports whether a vendor may get text; "" is this machine.
func (p *Policy) Vendor(name string) bool { return p == nil || name == "" || listed(p.Vendors, name) }

// Host reports whether a host may be asked, by its name alone or with its port.
func (p *Policy) Host(host, port string) bool {
	return p == nil || listed(p.Hosts, host) || listed(p.Hosts, host+":"+port)
}

// Night refuses a night if none may run.
func (p *Policy) Night() error {
	if p == nil || p.Nights == nil || *p.Nights {
		return nil
	}
	return Refuse("it allows no nights")
}

// Cap limits a cap that a user has chosen, or none: 0. A choice above the limit is
// refused, so that nobody believes that it holds.
func Cap[T int64 | float64 | time.Duration](flag string, chosen, limit T) (T, error) {
	if limit == 0 || chosen > 0 && chosen <= limit {
		return chosen, nil
	}
	if chosen > limit {
		return limit, Refuse("it allows --%s %v at most", flag, limit)
	}
	return limit, nil
}

// Refuse is the error for what a policy does not allow.
func Refuse(format string, args ...any) error {
	return problem.Refusef(Path+" is your administrator's; `evolve doctor` shows it", "the policy of this machine: "+format, args...)
}
