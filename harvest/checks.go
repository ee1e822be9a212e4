package harvest

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"text/template"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/harvest/fenced"
)

//go:embed prompts/checks_system.txt
var checksPrompt string

// checksSystem is the prompt by which a model writes checks, of the recorded work too if
// there is some.
func checksSystem(work bool) string {
	var b strings.Builder
	if err := template.Must(template.New("checks").Parse(check.ListTypes(checksPrompt, work))).Execute(&b, work); err != nil {
		panic(err) // a Builder takes everything
	}
	return b.String()
}

// MaxQuote is how much of one recorded text a prompt has, in characters.
const MaxQuote = 4000

const (
	checkTokens   = 1200
	quotedInCheck = 400 // characters of the user's words in a rubric
)

// Why Checks has no checks of the model's.
const (
	NotAsked    = "not asked"     // there is none, or it may not be shown the session
	TriedBefore = "failed before" // on the same input, in an earlier run
	Awaited     = "awaited"       // the reply is still to come
)

// Checks makes the checks of a turn that the user corrected in the turns corrections, in
// order; accepted is the turn whose answer and work the user accepted in the end, -1 if
// none. c is the case that they are for, with Prompt, Context and Reference. If the model
// wrote no usable checks, why is the reason, and the checks are a judge's rubric that quotes
// the user: none at all if the corrections are only a word or two beside a paste ("wrong:"),
// because then the paste holds what is wrong. The error is *eval.BudgetError or ctx's.
func (m *Miner) Checks(ctx context.Context, s *Session, turn int, corrections []int, accepted int, c *eval.Case) (checks []eval.Check, why string, err error) {
	rec, why := recording(s, turn, corrections), NotAsked
	rec.did = workOf(s, turn, corrections, accepted)
	if m.Model != nil && (m.May == nil || m.May(s)) {
		if checks, why, err = m.ask(ctx, rec, c); err != nil || why == "" {
			return checks, why, err
		}
	}
	return s.Quoted(corrections), why, nil
}

// Quoted are the checks of a turn that was corrected in the turns corrections without a
// model's help.
func (s *Session) Quoted(corrections []int) []eval.Check {
	if !slices.ContainsFunc(corrections, func(t int) bool {
		own := s.Own(t)
		return len(strings.Fields(own)) > 2 || own == strings.TrimSpace(s.Turns[t].Prompt)
	}) {
		return nil
	}
	said := s.said(corrections)
	rubric := "The user corrected this: «" + said[0] + "»"
	for _, more := range said[1:] {
		rubric += ", then «" + more + "»"
	}
	rubric += ". The answer must already do so."
	if len(said) > 1 {
		rubric += " Where they differ, the last one counts."
	}
	return []eval.Check{{Type: eval.Judge, Rubric: rubric, Feedback: eval.Saying("", strings.Join(said, " / "))}}
}

// said are the user's own words in each correction.
func (s *Session) said(corrections []int) (said []string) {
	for _, t := range corrections {
		said = append(said, Head(strings.Join(strings.Fields(s.Own(t)), " "), quotedInCheck))
	}
	return said
}

// recording is what was recorded of a turn and its corrections.
func recording(s *Session, turn int, corrections []int) Recording {
	rec := Recording{Answer: s.Turns[turn].Answer, Said: strings.Join(s.said(corrections), " / ")}
	for _, t := range corrections {
		rec.Corrections = append(rec.Corrections, s.Turns[t].Prompt)
	}
	return rec
}

// recorded is what the model sees of a use, see quote.
type recorded struct {
	Request     string         `json:"request"`
	Context     []eval.Message `json:"context,omitempty"`
	Answer      string         `json:"answer"`
	Work        *check.Work    `json:"work,omitempty"`
	Corrections []string       `json:"corrections"`
	Accepted    string         `json:"accepted,omitempty"`
	Mended      *check.Work    `json:"accepted_work,omitempty"`
	Pasted      Pastes         `json:"pasted,omitempty"`
}

// ask has the model write the checks, unless it failed on this input before. If there
// are no checks, why is the reason.
func (m *Miner) ask(ctx context.Context, rec Recording, c *eval.Case) (checks []eval.Check, why string, err error) {
	seen := recorded{Answer: Tail(rec.Answer, MaxQuote), Accepted: Tail(c.Reference, MaxQuote)}
	seen.Request = seen.Pasted.TakeFrom(c.Prompt)
	for _, m := range c.Context {
		if m.Role == "user" {
			m.Text = seen.Pasted.TakeFrom(m.Text)
		}
		seen.Context = append(seen.Context, m)
	}
	for _, text := range rec.Corrections {
		seen.Corrections = append(seen.Corrections, seen.Pasted.TakeFrom(text))
	}
	origins := checksOrigins
	if rec.did != nil {
		origins = workOrigins
		seen.Work = rec.did.corrected.Brief(MaxQuote)
		if rec.did.mended != nil {
			seen.Mended = rec.did.mended.Brief(MaxQuote)
		}
	}
	user, err := Quote(origins, seen, m.redactor())
	if err != nil {
		return nil, "", err
	}
	system := checksSystem(rec.did != nil)
	key := failureKey(m.Model, system, user)
	if m.Memory != nil {
		tried, err := m.Memory.Recall(ctx, key)
		if err != nil {
			return nil, "", err
		}
		if tried != nil {
			if checks, why = fenced.Recalled(tried); why == "" && len(checks) == 0 {
				why = TriedBefore
			}
			return spoken(checks, rec.Said), why, nil
		}
	}
	sum := sha256.Sum256([]byte(c.ID))
	m.asked++
	got, err := m.Model.Complete(ctx, eval.Prompt{System: system, User: user, MaxTokens: checkTokens,
		Seed: int64(binary.BigEndian.Uint64(sum[:]) >> 1)})
	if err != nil {
		if _, spent := errors.AsType[*eval.BudgetError](err); spent {
			return nil, "", err
		}
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		if eval.IsPending(err) {
			return nil, Awaited, nil
		}
		return nil, "model failed", nil
	}
	checks, why = m.fit(got, c, &rec)
	if m.Memory != nil {
		// The call is paid for, so its result is stored even if the run was
		// interrupted.
		err = m.Memory.Remember(context.WithoutCancel(ctx), c.Source.Session, key, fenced.Kept(checks, why))
	}
	return spoken(checks, rec.Said), why, err
}

// spoken adds the user's words to the feedback of checks.
func spoken(checks []eval.Check, said string) []eval.Check {
	for i, k := range checks {
		checks[i].Feedback = eval.Saying(k.Feedback, said)
	}
	return checks
}

// failureKey identifies a request to one model; another model may do better.
func failureKey(model eval.Model, system, user string) string {
	data, err := json.Marshal([]any{"checks/2", model.Identity(), system, user})
	if err != nil {
		panic(err) // strings can be marshalled
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// fit returns the checks of a reply that fail on what the user corrected and pass on what
// they accepted (an answer that may be "", and work that may not be recorded). Of the checks
// of the work, those are left out that pass on the corrected work, or of which it is not
// known whether they do; and checks that hang on words which nobody had used, and rubrics
// that name nothing. If there are none, why is the reason.
func (m *Miner) fit(got eval.Completion, c *eval.Case, rec *Recording) (checks []eval.Check, why string) {
	if got.Finish == "length" {
		return nil, "reply cut off"
	}
	written, why, err := fenced.Checks(m.redact(got.Text), check.Writable(rec.did != nil))
	if err != nil {
		return nil, "reply unusable"
	} else if why != "" {
		return nil, why
	}
	why = "corrected answer passes"
	accepted, tells := c.Reference, false
	words := rec.words(c)
	for _, k := range written {
		if fault := words.Fault(&k); fault != "" {
			why = fault
			continue
		}
		if k.Spec().Work {
			useful, fits := rec.did.try(&k)
			if !fits {
				return nil, "accepted work fails"
			}
			if !useful {
				why = "work does not tell"
				continue
			}
			tells = true
		} else if accepted != "" && !passes(k, accepted) {
			return nil, "accepted answer fails"
		} else {
			tells = tells || k.Asks() || !passes(k, rec.Answer)
		}
		checks = append(checks, k)
	}
	if !tells {
		return nil, why
	}
	return Idle(checks), ""
}

// passes runs a check on a recorded answer. A judge is not called; its check counts as
// passed.
func passes(k eval.Check, answer string) bool {
	if k.Asks() {
		return true
	}
	r, err := k.Grade(context.Background(), &check.Subject{Answer: answer})
	return err == nil && r.Passed()
}
