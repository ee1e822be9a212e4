package sleep

import (
	"context"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// lookAtModel is the drift of what is installed, with its held-out cases.
func (m *month) lookAtModel(test []eval.Case) *Drift {
	now := m.installed()
	from, proved := m.proved[now.sha]
	to := ModelOf(m.world.Agent().Identity(), "")
	if !proved || !to.DriftedFrom(from) {
		return nil
	}
	d := &Drift{Version: now.sha, Previous: m.versions[len(m.versions)-2].sha, From: from, To: to, Clusters: map[string]int{}, Tries: 1}
	for i := range test {
		d.Clusters[ClusterName(&test[i])]++
	}
	return d
}

func (m *month) certify(ctx context.Context, t Task, d Drift, c Certificate) (CertificationResult, error) {
	previous := eval.Variant{Name: t.Skill, Doc: m.parse(m.texts[d.Previous])}
	k := &Certification{On: d.To, Installed: eval.Variant{Name: t.Skill, Doc: m.parse(m.texts[d.Version])}, Previous: &previous, Objectives: []string{"quality", "retries"},
		Evaluator: &eval.Evaluator{Agent: m.world.Agent(), Grader: &eval.Checks{}, Budget: eval.NewBudget(t.Caps.Eval(), m.nights.Now), Recorder: m.journal, Concurrency: 8}}
	for _, kase := range m.cases {
		if kase.Split == eval.Test {
			k.Cases = append(k.Cases, kase)
		}
	}
	got, stop, err := k.Run(ctx, t.Run, c)
	return CertificationResult{Certificate: got, Stop: stop, Spent: k.Evaluator.Budget.Spent()}, err
}

// learn is a new model that follows the lessons untaught with the given chance.
func (m *month) learn(name string, known float64) {
	w := m.world
	w.Name, w.Lessons = name, append(w.Lessons[:0:0], w.Lessons...)
	for i := range w.Lessons {
		w.Lessons[i].Known = known
	}
	m.world = w
}

// A change is what a month came to whose model changed in the middle.
type change struct {
	Certified int   // day on which the installed version was, 0 for never
	Retire    int   // day on which it was proposed for retirement
	Alarms    int   // certifications and sessions
	Steps     int   // certifications
	Spent     int64 // rollouts of certifications
	Versions  int
	Most      int64 // rollouts of a night
}

// change lives a month in which the model is another one from a day on.
func (m *month) change(day int, name string, known float64) (r change) {
	for today := 1; today <= monthly; today++ {
		if today == day {
			m.learn(name, known)
		}
		m.day()
		m.now = m.now.AddDate(0, 0, 1)
		n, err := m.nights.Run(m.t.Context(), Plan{Policy: Auto, Caps: Caps{Rollouts: nightCap}})
		if err != nil {
			m.t.Fatal(err)
		}
		r.Most = max(r.Most, n.Spent().Rollouts)
		for _, s := range n.Steps {
			if len(s.Note) > 5 && s.Note[:5] == "alarm" {
				r.Alarms++
				m.t.Logf("day %d: %s", today, s.Note)
			}
			if s.Kind != Certify {
				continue
			}
			r.Steps++
			r.Spent += s.Spent.Rollouts
			if s.Outcome == Certified && r.Certified == 0 {
				r.Certified = today
			}
			if s.Lift == NoLift && r.Retire == 0 {
				r.Retire = today
				m.t.Logf("day %d: %s", today, s.Note)
			}
		}
	}
	r.Versions = len(m.versions)
	return r
}

// TestAMonthWithANewModel: a new model certifies what is installed. One that
// still needs the skill keeps it; one that has learned all of it makes the nights
// propose that it be retired, and nothing is done; no night exceeds its budget,
// and no alarm is raised. Without a change nothing is ever certified.
func TestAMonthWithANewModel(t *testing.T) {
	for _, c := range []struct {
		name   string
		day    int
		known  float64
		retire bool
	}{{"still needs it", 15, 0, false}, {"has learned it", 12, 1, true}, {"the same all month", 0, 0, false}} {
		m := newMonth(t, 1)
		m.world.Noise = 0 // as far as the text goes: what a useless skill is shown by
		r := m.change(c.day, "next", c.known)
		t.Logf("%s: %+v", c.name, r)
		if r.Most > nightCap || r.Alarms != 0 {
			t.Errorf("%s: a night of %d rollouts, %d alarms", c.name, r.Most, r.Alarms)
		}
		if c.day == 0 {
			if r.Steps != 0 {
				t.Errorf("%s: %d certifications, want none", c.name, r.Steps)
			}
			continue
		}
		if r.Certified < c.day {
			t.Errorf("%s: certified on day %d, want it after day %d", c.name, r.Certified, c.day)
		}
		if (r.Retire >= c.day) != c.retire {
			t.Errorf("%s: proposed for retirement on day %d", c.name, r.Retire)
		}
		again := newMonth(t, 1)
		again.world.Noise = 0
		if got := again.change(c.day, "next", c.known); got != r {
			t.Errorf("%s: the same month again is another one: %+v, %+v", c.name, r, got)
		}
	}
}
