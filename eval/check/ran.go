package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval/shell/sought"
)

// LastEdit is the one value of Check.After.
const LastEdit = "last_edit"

// ran is ran or not_ran: whether a command line of the agent has the command Value. What a
// script runs is not seen. A command counts if it failed, too, and if an earlier one of the
// same line did.
type ran struct{ spec Spec }

var (
	didRun = ran{Spec{Name: Ran, Fields: value, Optional: []string{"after"}, Work: true, Text: "command",
		Example: `"value":"go test ./..."`, Means: `the agent ran the command, with whatever flags and further words; with "after":"last_edit" it did so after its last edit`}}
	didNotRun = ran{Spec{Name: NotRan, Fields: value, Optional: []string{"after"}, Work: true, Text: "command",
		Example: `"value":"git push"`, Means: "it did not"}}
)

func (t ran) Spec() Spec { return t.spec }

func (t ran) Validate(k *Check) error {
	if k.After != "" && k.After != LastEdit {
		return fmt.Errorf("after %q, want %s or nothing", k.After, LastEdit)
	}
	_, err := sought.Parse(k.Value)
	return err
}

func (t ran) Grade(_ context.Context, k *Check, s *Subject) (Result, error) {
	want, err := sought.Parse(k.Value)
	if err != nil {
		return Result{}, err
	}
	if s.Work == nil {
		return unrecorded, nil
	}
	found, evidence := no, ""
	edits := s.Work.lastEdit()
	for i, step := range s.Work.Steps {
		if step.Line == "" {
			continue
		}
		is := want.In(step.Line)
		if k.After == LastEdit {
			is = min(is, edits.before(i))
		}
		if is > found {
			found, evidence = is, step.Line
		}
	}
	switch {
	case s.Work.Cut && k.After != "":
		found = maybe // there may have been another edit, or another run
	case s.Work.Cut:
		found = max(found, maybe)
	}
	return k.decide(found, t.spec.Name == Ran, evidence), nil
}

func (t ran) Explain(k *Check) string {
	when := ""
	if k.After == LastEdit {
		when = " after the last edit"
	}
	if t.spec.Name == Ran {
		return fmt.Sprintf("`%s` was not run%s.", k.Value, when)
	}
	return fmt.Sprintf("`%s` was run%s, and must not be.", k.Value, when)
}

// An answer is whether something happened, as far as is known.
type answer = sought.Answer

const (
	no    = sought.No
	maybe = sought.Maybe
	yes   = sought.Yes
)

// decide is the result of a check that wants something to have happened, or not to. evidence
// is what did, or what may have.
func (k *Check) decide(is answer, want bool, evidence string) Result {
	if is == maybe {
		return Result{Missing: true, Evidence: strings.TrimSpace("what was recorded of the agent's work does not tell\n" + sentence(evidence))}
	}
	r := k.pass((is == yes) == want)
	if r.Score == 0 {
		r.Evidence = sentence(evidence)
	}
	return r
}

// unrecorded is the result of a check of work if there is no record of the work.
var unrecorded = Result{Missing: true, Evidence: "nobody recorded what the agent did"}

// An edge is where the edits of some work end, as indexes of its steps.
type edge struct {
	sure     int // the last step that edited, -1 for none
	possible int // the last step that may have
}

// lastEdit finds the last edit: by a tool, or by a command that evidently writes a file that
// differs. If there is neither and files differ, any command may have written them. What
// programs leave as they run (caches, reports) is no edit that way.
func (w *Work) lastEdit() edge {
	e, last := edge{-1, -1}, -1
	for i, s := range w.Steps {
		switch {
		case s.Line == "" && s.Failed:
		case s.Line == "" || w.writes(s.Line):
			e.sure = i
		default:
			last = i
		}
	}
	e.possible = e.sure
	if e.sure < 0 && len(w.Files) > 0 {
		e.possible = last
	}
	return e
}

// before reports whether all edits were made before step i ended: a line that makes the last
// edit may go on to other commands, as `gofmt -w x.go && go vet` does.
func (e edge) before(i int) answer {
	switch {
	case i >= e.possible:
		return yes
	case i >= e.sure:
		return maybe
	}
	return no
}
