package docs

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A container is what both kinds of manifests have of one.
type container struct {
	Name    string
	Args    []string       // Kubernetes
	Command []string       // compose
	Drop    []string       `yaml:"cap_drop"`
	Ready   map[string]any `yaml:"readinessProbe"`
	Check   map[string]any `yaml:"healthcheck"`
	Secure  map[string]any `yaml:"securityContext"`
	Options []string       `yaml:"security_opt"`
}

// documents are those of a file of YAML.
func documents[T any](t *testing.T, path string) (out []T) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var v T
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(path, err)
		}
		out = append(out, v)
	}
}

// manual is the part of docs/cli.md about a command, "" if there is none.
func manual(t *testing.T, command string) string {
	t.Helper()
	text, err := os.ReadFile("cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(text), "# evolve "+command+"\n")
	part, _, _ = strings.Cut(part, "\n```\n\n")
	return part
}

var flag = regexp.MustCompile(`^--[a-z][a-z-]*$`)

// typed fails if a command line of evolve has a command or a flag that there is not.
func typed(t *testing.T, where string, args []string) {
	t.Helper()
	command := args[0]
	if command == "fleet" {
		command += " " + args[1]
	}
	part := manual(t, command)
	if part == "" {
		t.Errorf("%s: there is no evolve %s", where, command)
	}
	for _, a := range args {
		if flag.MatchString(a) && !regexp.MustCompile(`(^|\s)`+a+`(\s|$)`).MatchString(part) {
			t.Errorf("%s: evolve %s has no %s", where, command, a)
		}
	}
}

// after is what follows a flag.
func after(args []string, flag string) string {
	if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

// TestKubernetes: the manifest parses, its command is one, the probe looks at the file that
// the command writes, each pod has an invitation of its own, and nothing runs as root.
func TestKubernetes(t *testing.T) {
	type doc struct {
		Kind string
		Spec struct {
			PolicyTypes []string `yaml:"policyTypes"`
			Ingress     []any
			Template    struct {
				Spec struct {
					HostUsers  *bool          `yaml:"hostUsers"`
					Secure     map[string]any `yaml:"securityContext"`
					Containers []container
					Volumes    []struct {
						Name   string
						Secret *struct {
							DefaultMode int `yaml:"defaultMode"`
						}
					}
				}
			}
		}
	}
	var kinds []string
	for _, d := range documents[doc](t, "fleet/kubernetes.yaml") {
		switch kinds = append(kinds, d.Kind); d.Kind {
		case "NetworkPolicy":
			if !slices.Equal(d.Spec.PolicyTypes, []string{"Ingress", "Egress"}) || d.Spec.Ingress != nil {
				t.Errorf("the policy lets somebody in: %+v", d.Spec)
			}
		case "StatefulSet":
			s := d.Spec.Template.Spec
			if len(s.Containers) != 1 {
				t.Fatalf("%d containers", len(s.Containers))
			}
			c := s.Containers[0]
			typed(t, "kubernetes.yaml", c.Args)
			if !strings.Contains(after(c.Args, "--join"), "$(POD_NAME)") {
				t.Error("the pods share an invitation, and so an identity")
			}
			ready := after(c.Args, "--ready")
			if probe, err := yaml.Marshal(c.Ready); err != nil || ready == "" || !strings.Contains(string(probe), ready) {
				t.Errorf("the probe does not look at %q: %s", ready, probe)
			}
			if s.Secure["runAsNonRoot"] != true || c.Secure["allowPrivilegeEscalation"] != false || s.HostUsers == nil || *s.HostUsers {
				t.Errorf("it may be root: %+v, %+v", s.Secure, c.Secure)
			}
			for _, v := range s.Volumes {
				if v.Secret != nil && v.Secret.DefaultMode&0o027 != 0 {
					t.Errorf("evolve refuses the invitation: its mode is %#o", v.Secret.DefaultMode)
				}
			}
		}
	}
	if !slices.Equal(kinds, []string{"StatefulSet", "NetworkPolicy", "PodDisruptionBudget"}) {
		t.Errorf("it has %v", kinds)
	}
}

// TestCompose is the same of compose.yaml.
func TestCompose(t *testing.T) {
	all := documents[struct{ Services map[string]container }](t, "fleet/compose.yaml")
	if len(all) != 1 || len(all[0].Services) != 3 {
		t.Fatalf("%+v", all)
	}
	invitations := map[string]bool{}
	for name, c := range all[0].Services {
		typed(t, "compose.yaml", c.Command)
		if !slices.Contains(c.Drop, "ALL") || !slices.Contains(c.Options, "no-new-privileges:true") {
			t.Errorf("%s may gain privileges: %+v", name, c)
		}
		if c.Command[0] != "worker" {
			continue
		}
		invitations[after(c.Command, "--join")] = true
		ready := after(c.Command, "--ready")
		if probe, err := yaml.Marshal(c.Check); err != nil || ready == "" || !strings.Contains(string(probe), ready) {
			t.Errorf("the probe of %s does not look at %q: %s", name, ready, probe)
		}
	}
	if len(invitations) != 2 {
		t.Errorf("two workers share an invitation: %v", invitations)
	}
}

// TestFleetNamesCommands: each command line of docs/fleet.md and of the comments in the
// manifests is one.
func TestFleetNamesCommands(t *testing.T) {
	line := regexp.MustCompile("(?m)(?:^ {4}|`|exec server |; do )(evolve (?:fleet|worker|run|sessions|serve|privacy)[^`#;\n]*)")
	seen := 0
	for _, path := range []string{"fleet.md", "fleet/compose.yaml", "fleet/kubernetes.yaml"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range line.FindAllStringSubmatch(string(text), -1) {
			seen++
			typed(t, path, strings.Fields(m[1])[1:])
		}
	}
	if seen < 12 {
		t.Errorf("only %d commands were found", seen)
	}
}
