package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/search"
)

// Build makes the model of a run. It is a function of d alone.
func Build(d *Data) (*Model, error) {
	r := &d.Run
	m := &Model{Schema: Schema, Warnings: []string{}, Run: r.ID, Skill: r.Skill, Status: string(r.Status), Note: r.Note, Seed: r.Seed,
		Simulated: r.Simulated, Started: r.Started, Ended: r.Ended, Incumbent: r.Incumbent, Challenger: r.Challenger,
		Version: d.Version, Installed: d.Installed, Candidates: []Candidate{}, Front: []string{}, Events: Timeline(d.Events), Evidence: []Evidence{},
		Spent: r.Spent, Lessons: append([]Lesson{}, d.Lessons...), Cases: []Case{}}
	if len(r.Verdict) > 0 {
		m.Verdict = &gate.Verdict{}
		if err := json.Unmarshal(r.Verdict, m.Verdict); err != nil {
			return nil, fmt.Errorf("read verdict of run %s: %w", r.ID, err)
		}
	}
	if m.Verdict != nil && d.Trial != nil && d.Trial.Cases() == m.Verdict.Cases {
		m.Heard = d.Heard
	}
	scores := newScores(d)
	m.Agent = scores.agent
	m.candidates(d, scores)
	m.Shorter = shorter(d)
	m.Sentence = sentence(m)
	if v := m.Verdict; v != nil && v.Measured() != "" {
		m.Sentence += " It was " + v.Measured() + "."
	}
	if v := m.Verdict; v != nil {
		if why := record.Against(v.Beside); why != "" {
			m.Sentence += " It is held back: " + why + "."
		}
	}
	if m.Shorter != nil {
		m.Sentence = "The new text is " + m.Shorter.String() + ". " + m.Sentence
	}
	s := m.standing()
	s.Promote = d.Promote
	m.Next = s.Next()
	if c := m.Untried(); c != nil {
		m.Sentence, m.Next = m.untried(c)
	}
	evidence(m, d)
	if n := noiseOf(d.Events); n.Pairs > 0 {
		m.Noise = &n
	}
	m.Worth = scores.worth(r.Incumbent)
	m.Matrix = matrix(m, scores)
	m.Cases = cases(m, scores)
	m.Spending = spending(d)
	if err := m.diff(d); err != nil {
		return nil, err
	}
	m.warn(scores)
	return m, nil
}

// shorter returns what the challenger lacks if it differs by deletions only;
// else nil.
func shorter(d *Data) *search.Shorter {
	if d.Incumbent == nil || d.Challenger == nil || subject.Parse(d.Run.Skill).Kind == subject.Hook { // a program is not measured by its length
		return nil
	}
	old, err := skill.Parse(d.Incumbent, skill.OptionsOf(d.Run.Skill))
	if err != nil {
		return nil
	}
	new, err := skill.Parse(d.Challenger, skill.OptionsOf(d.Run.Skill))
	if err != nil {
		return nil
	}
	return search.ShorterThan(old, new, d.Cases)
}

// standing is what the run left behind.
func (m *Model) standing() Standing {
	s := Standing{Skill: m.Skill, Challenger: m.Challenger, Stopped: m.Status == string(record.Stopped), Installed: m.Installed != nil, Shorter: m.Shorter != nil}
	if m.Status == string(record.Killed) || m.Status == string(record.Interrupted) {
		s.Resume = m.Run
	}
	if v := m.Verdict; v != nil {
		s.Decision, s.Doubted = v.Verdict, v.Judge != nil && !v.Judge.Trusted()
	}
	return s
}

// sentence is the verdict in one sentence.
func sentence(m *Model) string {
	switch v := m.Verdict; {
	case v != nil && v.Verdict == pareto.Promote && v.Single:
		return "Better as a single trial: " + v.Reason + "."
	case v != nil:
		return Capital(pareto.Answer(v.Verdict, v.Route)) + ": " + v.Reason + "."
	case m.Status == string(record.Running):
		return "The run is still under way."
	case m.Status == string(record.Killed):
		return "The run was killed before a verdict."
	case m.Status != string(record.Finished):
		return fmt.Sprintf("The run was %s before a verdict: %s.", m.Status, m.Note)
	case m.Challenger != "":
		return "No verdict: there was no trial."
	}
	return "No verdict: nothing beat your text on validation."
}

// candidates fills in the measurements of each text, and the front.
func (m *Model) candidates(d *Data, s *scores) {
	depth := map[string]int{}
	for _, c := range d.Candidates {
		k := Candidate{SHA: c.SHA, Seq: c.Seq, Operator: c.Operator, State: string(c.State), Reason: c.Reason,
			Parents: append([]string{}, c.Parents...), Metrics: eval.Summarise(s.validation(c.SHA))}
		if q := m.Confirmed(); q != nil && c.SHA == m.Challenger { // as the run has reported it
			k.Metrics = eval.Summarise(lastTrial(s.validation(c.SHA)))
			k.Metrics.Quality = *q
		}
		for _, p := range c.Parents {
			k.Depth = max(k.Depth, depth[p]+1)
		}
		depth[c.SHA] = k.Depth
		if doc, err := skill.Parse(c.Text, skill.OptionsOf(d.Run.Skill)); err == nil {
			k.Tokens = skill.Tokens(string(doc.Body()))
		}
		switch c.SHA {
		case m.Incumbent:
			k.Role = "incumbent"
		case m.Challenger:
			k.Role = "challenger"
		}
		// A cap may end a search a few cases before its winner's last one;
		// the winner stays on the front all the same.
		k.Full = k.Metrics.N > 0 && 10*s.cases(c.SHA, eval.Val) >= 9*s.cases(m.Incumbent, eval.Val)
		m.Candidates = append(m.Candidates, k)
	}
	var metrics []eval.Metrics
	var at []int
	for i, c := range m.Candidates {
		if c.Full && (c.State == string(record.Seed) || c.State == string(record.Pooled)) {
			metrics, at = append(metrics, c.Metrics), append(at, i)
		}
	}
	for _, i := range search.Front(metrics, noiseOf(d.Events)) {
		m.Candidates[at[i]].OnFront = true
		m.Front = append(m.Front, m.Candidates[at[i]].SHA)
	}
}

// noiseOf is the noise that the search measured at its end, none if it did not.
func noiseOf(events []record.Event) search.Noise {
	for _, e := range slices.Backward(events) {
		if e.Kind == "noise" {
			return factsOf(e.Data).Noise
		}
	}
	return search.Noise{}
}

// matrix lays out the mean qualities.
func matrix(m *Model, s *scores) Matrix {
	out := Matrix{Candidates: []string{}, Rows: []Row{}}
	for _, c := range m.Candidates {
		if c.State == string(record.Seed) || c.State == string(record.Pooled) || c.Role != "" {
			out.Candidates = append(out.Candidates, c.SHA)
		}
	}
	for _, sha := range []string{m.Incumbent, m.Challenger} { // a carried challenger was found by another run
		if sha != "" && !slices.Contains(out.Candidates, sha) {
			out.Candidates = append(out.Candidates, sha)
		}
	}
	for id := range s.byCase {
		row := Row{Case: id, Split: string(s.split[id])}
		if c := s.known[id]; c != nil {
			row.Prompt = plain.Excerpt(c.Prompt, 120)
		}
		any := false
		for _, sha := range out.Candidates {
			q := s.mean(id, sha)
			any = any || q != nil
			row.Cells = append(row.Cells, q)
		}
		if any {
			out.Rows = append(out.Rows, row)
		}
	}
	// Validation first, because the search decided on it. The hardest case
	// first, so that the cases that no text solves, and those that all solve,
	// stand out.
	rank := map[string]int{"val": 0, "test": 1, "train": 2}
	easy := map[string]float64{}
	for _, r := range out.Rows {
		easy[r.Case] = r.Mean()
	}
	sort.Slice(out.Rows, func(i, j int) bool {
		a, b := out.Rows[i], out.Rows[j]
		if ra, rb := rank[a.Split], rank[b.Split]; ra != rb {
			return ra < rb
		}
		if ea, eb := easy[a.Case], easy[b.Case]; ea != eb {
			return ea < eb
		}
		return a.Case < b.Case
	})
	return out
}

// Mean is over the cells that were measured; there is one.
func (r *Row) Mean() float64 {
	sum, n := 0.0, 0
	for _, c := range r.Cells {
		if c != nil {
			sum, n = sum+*c, n+1
		}
	}
	return sum / float64(n)
}

func (m *Model) diff(d *Data) error {
	if d.Incumbent == nil || d.Challenger == nil {
		return nil
	}
	// A text that does not parse is all kernel, and shown as such.
	old, _ := skill.Parse(d.Incumbent, skill.OptionsOf(d.Run.Skill))
	new, _ := skill.Parse(d.Challenger, skill.OptionsOf(d.Run.Skill))
	var err error
	m.Diff, err = Between("your text "+plain.Short(m.Incumbent), "new text "+plain.Short(m.Challenger), old, new)
	return err
}

// warn lists the qualifications of the report.
func (m *Model) warn(s *scores) {
	add := func(format string, args ...any) { m.Warnings = append(m.Warnings, fmt.Sprintf(format, args...)) }
	if m.Simulated {
		add("SIMULATED: nothing here was measured on a real model; it says nothing about one")
	}
	switch record.RunStatus(m.Status) {
	case record.Finished:
	case record.Running:
		add("the run is still under way: this page shows what is saved so far")
	case record.Failed:
		add("the run failed: this page shows what was saved")
	default:
		add("the run was %s: this page shows what was saved", m.Status)
	}
	if m.Verdict != nil {
		m.Warnings = append(m.Warnings, m.Verdict.Warnings...)
	}
	if s.missing > 0 {
		add("missing: %s (the infrastructure failed, or a judge's reply could not be read); they count nowhere", plain.Counted(s.missing, "rollout"))
	}
	if s.void > 0 {
		add("void: %s (the agent read what it must not); they count nowhere", plain.Counted(s.void, "rollout"))
	}
	if words := s.unmeasured.String(); words != "" {
		m.Warnings = append(m.Warnings, words)
	}
	if m.Spent.Rollouts > 0 && !m.Spent.CostKnown {
		add("the cost is a lower bound: some calls reported none and have no price; tokens are compared instead")
	}
	if m.Diff != nil && m.Diff.KernelChanged {
		add("THE LOCKED LINES DIFFER between your text and the new one: this must never happen, please report it")
	}
	for i, w := range m.Warnings {
		m.Warnings[i] = strings.TrimSpace(plain.Text(w))
	}
}
