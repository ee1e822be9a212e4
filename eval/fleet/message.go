package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// Inline is the largest body of a message, in bytes. A larger one is a blob, which the
// message names.
const Inline = 256 << 10

// A Job is one attempt that a worker makes. It has what the replay needs and nothing of what
// is expected: checks and references stay with the coordinator.
type Job struct {
	Protocol    int    `json:"protocol"`
	Key         string `json:"key"`
	Coordinator string `json:"coordinator"`
	Worker      string `json:"worker"`
	Rights      string `json:"rights,omitempty"` // the coordinator's JWT
	Need        Need   `json:"need"`
	WallClockMS int64  `json:"wall_clock_ms,omitempty"` // of the attempt; 0 is no limit
	Task        Task   `json:"task"`
	// Short are contents of blobs that the worker has not had in a job before.
	Short map[string][]byte `json:"short,omitempty"`
}

// Blobs are the names of all blobs that a task needs.
func (t *Task) Blobs() (names []string) {
	for _, o := range t.Others {
		names = append(names, o.Dir, o.Text)
	}
	names = append(names, t.Text, t.Dir, t.Owner, t.Files, t.Tree)
	if t.Changes != nil {
		names = append(names, t.Changes.Made)
	}
	return slices.DeleteFunc(names, func(n string) bool { return n == "" })
}

// A Need is what a worker must have for a job.
type Need struct {
	Program string `json:"program"` // evolve's version
	Backend string `json:"backend"`
	Version string `json:"version,omitempty"` // of the agent's program
	Model   string `json:"model,omitempty"`
	Sandbox string `json:"sandbox"` // as agent.Spec has it
	// Params are those of the agent's identity, without the address of its server.
	Params string `json:"params,omitempty"`
}

// NeedOf is what a job needs whose answers count as those of an agent of this identity.
func NeedOf(program, sandbox string, id eval.Identity) Need {
	return Need{Program: program, Backend: id.Backend, Version: id.Version, Model: id.Model, Sandbox: sandbox, Params: WithoutServer(id)}
}

var server = regexp.MustCompile(`(^| )(base|server|address)=\S*`)

// WithoutServer are the parameters of an identity without the address of its server: which
// one a worker asks is its own business, as long as it is of a vendor that may be asked.
func WithoutServer(id eval.Identity) string {
	if id.Draw != "" {
		return id.Draw
	}
	return strings.TrimSpace(server.ReplaceAllString(id.Params, ""))
}

// Refuses says why an offer does not fit, "" if it does.
func (n Need) Refuses(o Offer) string {
	switch {
	case o.Protocol != Protocol:
		return fmt.Sprintf("speaks protocol %d, and this evolve %d", o.Protocol, Protocol)
	case o.Program != n.Program:
		return fmt.Sprintf("has evolve %s, and this is %s", o.Program, n.Program)
	}
	var versions []string
	for _, a := range o.Agents {
		if a.Backend != n.Backend {
			continue
		}
		if a.Version == n.Version && a.Sandbox == n.Sandbox {
			return ""
		}
		if a.Version != n.Version {
			versions = append(versions, fmt.Sprintf("has %s %s, and this run needs %s", a.Backend, a.Version, n.Version))
		} else {
			versions = append(versions, fmt.Sprintf("has the sandbox %s, and this run needs %s", a.Sandbox, n.Sandbox))
		}
	}
	if len(versions) == 0 {
		return "has no " + n.Backend
	}
	return strings.Join(versions, "; ")
}

// A Task is eval.Task as it travels. Blobs are named by the SHA-256 of their content, in hex.
type Task struct {
	Case    string         `json:"case"` // its id, for logs
	Prompt  string         `json:"prompt"`
	Context []eval.Message `json:"context,omitempty"`
	Trigger bool           `json:"trigger,omitempty"` // the skill is offered, not called
	Seed    int64          `json:"seed"`

	Name string `json:"name"`           // of the variant
	Text string `json:"text,omitempty"` // blob: its text; "" for the arm without one
	Dir  string `json:"dir,omitempty"`  // blob: the rest of its folder, a tar
	Path string `json:"path,omitempty"` // of a file of instructions

	Others []Other `json:"others,omitempty"`
	Owner  string  `json:"owner,omitempty"` // blob: what loads of the owner, a setup.Set

	Files string `json:"files,omitempty"` // blob: the case's files, a JSON object
	Tree  string `json:"tree,omitempty"`  // blob: the recorded tree, a tar
	// Changes is what earlier attempts of this rollout did to the folder.
	Changes *Changes    `json:"changes,omitempty"`
	Prior   *eval.Prior `json:"prior,omitempty"`
	// Folder: the coordinator has to look into the folder, so what changed is wanted.
	Folder bool `json:"folder,omitempty"`
}

// An Other is an eval.Offer.
type Other struct {
	Name string `json:"name"`
	SHA  string `json:"sha"`
	Dir  string `json:"dir"`            // blob: its folder, a tar
	Text string `json:"text,omitempty"` // blob: its SKILL.md instead of that
}

// Changes are those of a folder against its beginning.
type Changes struct {
	Made string   `json:"made,omitempty"` // blob: files that are new or differ, a tar
	Gone []string `json:"gone,omitempty"` // slash-separated
}

// A Result is what became of a job.
type Result struct {
	Protocol int           `json:"protocol"`
	Key      string        `json:"key"`
	Program  string        `json:"program"`
	Sandbox  string        `json:"sandbox"`
	Agent    eval.Identity `json:"agent"`
	Params   string        `json:"params,omitempty"` // WithoutServer of it
	Attempt  eval.Attempt  `json:"attempt"`
	Changes  *Changes      `json:"changes,omitempty"`
	Failed   *Failure      `json:"failed,omitempty"`
}

// A Failure is an eval.InfraError. Without a kind it is another error.
type Failure struct {
	Kind         eval.FailureKind `json:"kind,omitempty"`
	RetryAfterMS int64            `json:"retry_after_ms,omitempty"`
	ResetAt      time.Time        `json:"reset_at,omitzero"`
	Text         string           `json:"text"`
}

// Kinds of failures that only fleets have.
const (
	// NoBlob: a blob that the job names is gone; Text is its name.
	NoBlob eval.FailureKind = "fleet_no_blob"
	// NotMine: the worker cannot do such a job; Text says why.
	NotMine eval.FailureKind = "fleet_not_mine"
)

// FailureOf is err as it travels; nil for none.
func FailureOf(err error) *Failure {
	if err == nil {
		return nil
	}
	f := &Failure{Text: err.Error()}
	var infra *eval.InfraError
	if errors.As(err, &infra) {
		f = &Failure{Kind: infra.Kind, RetryAfterMS: infra.RetryAfter.Milliseconds(), ResetAt: infra.ResetAt, Text: infra.Err.Error()}
	}
	return f
}

// Err is the failure of a worker's as an error.
func (f *Failure) Err(worker string) error {
	if f == nil {
		return nil
	}
	err := fmt.Errorf("worker %s: %s", worker, f.Text)
	if f.Kind == "" {
		return err
	}
	return &eval.InfraError{Kind: f.Kind, RetryAfter: time.Duration(f.RetryAfterMS) * time.Millisecond, ResetAt: f.ResetAt, Err: err}
}

// An Offer is what a worker has.
type Offer struct {
	Protocol int     `json:"protocol"`
	Program  string  `json:"program"` // evolve's version
	Agents   []Agent `json:"agents"`
	Slots    int     `json:"slots"`
	Cores    int     `json:"cores"`
	OS       string  `json:"os"` // and architecture
}

// An Agent is one that a worker can drive.
type Agent struct {
	Backend string   `json:"backend"`
	Version string   `json:"version,omitempty"`
	Sandbox string   `json:"sandbox"`
	Vendors []string `json:"vendors,omitempty"` // who gets the text of its requests
}

// A Hello is what a worker says every Beat.
type Hello struct {
	Worker   string    `json:"worker"`           // its id
	Rights   string    `json:"rights,omitempty"` // its JWT
	Name     string    `json:"name"`
	Instance string    `json:"instance"` // of its process
	Offer    Offer     `json:"offer"`
	Running  []Held    `json:"running,omitempty"`
	Queued   []Held    `json:"queued,omitempty"`
	Done     int64     `json:"done"`   // jobs of this process
	Failed   int64     `json:"failed"` // of them in the infrastructure
	Draining bool      `json:"draining,omitempty"`
	Parked   time.Time `json:"parked,omitzero"` // until when a plan is used up
	Why      string    `json:"why,omitempty"`   // it is parked
}

// Refuses is why a worker that says this gets no job of a run, "" if it may. vendors are those
// that the run may ask.
func (h *Hello) Refuses(n Need, vendors []string, now time.Time) string {
	if why := cmp.Or(n.Refuses(h.Offer), h.Away(now)); why != "" {
		return why
	}
	for _, a := range h.Offer.Agents {
		for _, v := range a.Vendors {
			if a.Backend == n.Backend && !slices.Contains(vendors, v) {
				return fmt.Sprintf("its %s asks %s, which this run may not", a.Backend, v)
			}
		}
	}
	return ""
}

// Away is why a worker takes no job of any run, "" if it does.
func (h *Hello) Away(now time.Time) string {
	switch {
	case h.Draining:
		return "is about to stop"
	case now.Before(h.Parked):
		return cmp.Or(h.Why, "its plan is used up")
	}
	return ""
}

// A Held is a job that a worker has.
type Held struct {
	Coordinator string `json:"coordinator"`
	Key         string `json:"key"`
}

// An Order is what a coordinator asks a worker to do at once. The reply is an Ack.
type Order struct {
	// From is the member who asks and has signed it; "": who coordinates the jobs of Cancel.
	From   string `json:"from,omitempty"`
	Rights string `json:"rights,omitempty"` // of From, its JWT; for Purge
	Cancel []Held `json:"cancel,omitempty"` // give these jobs up
	// Purge deletes all blobs that the worker keeps.
	Purge bool `json:"purge,omitempty"`
}

// An Ack is the reply to an order.
type Ack struct {
	Purged int    `json:"purged,omitempty"` // blobs
	Error  string `json:"error,omitempty"`
}
