package sleep

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/eval/splits"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
	"github.com/skill-evolve/evolve/tournament/search"
)

// A month is a person who uses one skill every day, and the nights in between: a
// simulated world, real search, real gate, real store of the nights.
type month struct {
	t       *testing.T
	world   simulated.World
	mutator eval.Model
	pool    []eval.Case // of things to ask for, in order
	now     time.Time
	rng     *rand.Rand

	journal  *recordtest.Memory
	nights   *Cycle
	cases    []eval.Case
	uses     []Use
	versions []live
	trial    string          // SHA-256 of the undecided challenger
	read     map[string]bool // cases that the last search had
	texts    map[string][]byte
	runs     map[string]*eval.Budget
	drift    float64 // by which real sessions fail more often, for a reason that no case shows
	hookless bool    // nobody notes which text a session loads
	imported bool    // cases are split by quota, and searches wait for none
}

// live is a text that was in place from a moment on.
type live struct {
	text  []byte
	sha   string
	since time.Time
}

const (
	perDay  = 12
	monthly = 30
)

func newMonth(t *testing.T, seed int64) *month {
	w := worldstest.Additive(seed, 16, 0.05)
	// What is found is a skill that knows half of what it is asked for; the agent's
	// own words weigh more than the skill's.
	w.Task.Overhead, w.Hesitation = 4000, 60
	for _, l := range w.Lessons[:8] {
		w.Seeding += "- " + l.Phrase + "\n"
	}
	m := &month{t: t, world: w, mutator: w.Model(), pool: w.Cases(perDay*monthly*2, 0, 0), now: evening, rng: rand.New(rand.NewPCG(uint64(seed), 30)),
		journal: &recordtest.Memory{}, texts: map[string][]byte{}, runs: map[string]*eval.Budget{}}
	m.place([]byte(w.Seed()))
	n := 0
	m.nights = &Cycle{Journal: Stored(openStore(t)), Now: func() time.Time { return m.now }, Owner: "month", Demo: true,
		RunID: func() string { n++; return fmt.Sprintf("run%03d", n) },
		Parts: Parts{
			Skills:  func(context.Context) ([]string, error) { return []string{w.Skill}, nil },
			Harvest: func(context.Context) (int, string, error) { return perDay, "", nil },
			Look:    m.look, Try: m.try, Install: m.install, Watch: m.watch,
		}}
	return m
}

func (m *month) place(text []byte) {
	doc := m.parse(text)
	m.versions = append(m.versions, live{text, doc.Hash(), m.now})
	m.texts[doc.Hash()] = text
}

func (m *month) parse(text []byte) *skill.Document {
	doc, err := skill.Parse(text, skill.Options{})
	if err != nil {
		m.t.Fatal(err)
	}
	return doc
}

func (m *month) installed() live { return m.versions[len(m.versions)-1] }

// day is one day's sessions, after the night before it: each asks for one thing, and
// is corrected as often as the installed text gets it wrong.
func (m *month) day() {
	wrong := m.wrong(m.pool[len(m.cases):][:perDay])
	for i := range perDay {
		c := m.pool[len(m.cases)]
		c.Split = eval.Unassigned
		if !m.imported {
			c.Source = &eval.Source{Origin: "mined", Outcome: "corrected", Stratum: "corrected", Time: m.now.Add(time.Duration(8+i) * time.Hour)}
		} else if m.trial != "" {
			c.Split = eval.Test // the challenger's search has never seen it
		}
		noted := m.installed().sha
		if m.hookless {
			noted = ""
		}
		m.uses = append(m.uses, Use{Session: c.ID, At: m.now.Add(time.Duration(8+i) * time.Hour), Version: noted,
			Failed: m.rng.Float64() < wrong[i]})
		m.cases = append(m.cases, c)
	}
	m.split().Assign(m.cases)
}

// split is what the splits depend on.
func (m *month) split() splits.State {
	if m.imported {
		return splits.State{}
	}
	s := splits.State{Read: m.read, Heard: map[string]bool{}, OnTrial: m.trial != ""}
	spent, err := m.journal.SpentCases(m.t.Context(), m.world.Skill)
	if err != nil {
		m.t.Fatal(err)
	}
	for id, who := range spent.By {
		s.Heard[id] = who != m.trial
	}
	return s
}

// wrong is how often the installed text gets each of these things wrong today, the
// truth.
func (m *month) wrong(cases []eval.Case) []float64 {
	each := m.world.Oracles(string(m.installed().text), cases)
	for i, right := range each {
		each[i] = min(1, 1-right+m.drift)
	}
	return each
}

// rate is the mean of wrong.
func (m *month) rate(cases []eval.Case) (mean float64) {
	for _, w := range m.wrong(cases) {
		mean += w / float64(len(cases))
	}
	return mean
}

func (m *month) look(ctx context.Context, name string) (Outlook, error) {
	o := Outlook{Skill: name, Incumbent: m.installed().sha, Since: m.installed().since, Challenger: m.trial, Uses: m.uses}
	if len(m.versions) == 1 {
		o.Since = time.Time{}
	}
	var test []eval.Case
	for _, c := range m.cases {
		switch c.Split {
		case eval.Train:
			o.Train++
		case eval.Test:
			test = append(test, c)
		}
	}
	if m.trial == "" {
		m.split().Assign(m.cases)
		if !m.imported {
			o.Lack = m.split().Lack(m.cases)
		}
		return o, nil
	}
	rec, err := m.journal.Trial(ctx, name, o.Incumbent, m.trial)
	if err != nil || rec == nil {
		return o, err
	}
	spent, err := m.journal.SpentCases(ctx, name)
	if err != nil {
		return o, err
	}
	if o.Round, err = rec.Rounds(); err != nil {
		return o, err
	}
	o.Fresh, err = rec.Fresh(test, spent, nil)
	o.Rollouts = int64(4 * gate.Replays * o.Fresh)
	return o, err
}

func (m *month) try(ctx context.Context, k Task) (Result, error) {
	budget := eval.NewBudget(k.Caps, m.nights.Now)
	m.runs[k.Run] = budget
	inc := eval.Variant{Name: k.Skill, Doc: m.parse(m.installed().text)}
	p := search.Plan{Run: &record.Run{ID: k.Run, Skill: k.Skill, Seed: int64(len(m.runs))}, Incumbent: inc, Cases: slices.Clone(m.cases),
		Agent: m.world.Agent(), Grader: &eval.Checks{}, Mutator: m.mutator, Journal: m.journal, Budget: budget, Caps: k.Caps,
		Gate: pareto.DefaultConfig().Within(k.Level), MaxRetries: 1, Concurrency: 8, Now: m.nights.Now,
		Objectives: []string{"quality", "cost", "retries"}}
	spent, err := m.journal.SpentCases(ctx, k.Skill)
	if err != nil {
		return Result{}, err
	}
	for _, c := range m.cases {
		if who := spent.On(&c); c.Split == eval.Test && (who == "" || who == m.trial) {
			p.HeldOut++
		}
	}
	if k.Kind == Search {
		m.read = map[string]bool{}
		for _, c := range m.cases {
			m.read[c.ID] = c.Split != eval.Test
		}
	}
	if k.Kind == Continue {
		v := inc
		v.Doc = m.parse(m.texts[m.trial])
		p.Carried = &v
	}
	out, err := search.Improve(ctx, p)
	if err != nil {
		return Result{Spent: budget.Spent()}, err
	}
	r := Result{Spent: out.Spent, Incumbent: inc.SHA(), Simulated: true, Kernel: true}
	m.trial = ""
	if out.Challenger != nil {
		r.Challenger = out.Challenger.SHA
		m.texts[r.Challenger] = out.Challenger.Text
	} else if p.Carried != nil {
		r.Challenger = p.Carried.SHA()
	}
	if v := out.Verdict; v != nil {
		r.Decision, r.Reason, r.EValue, r.Alpha, r.Round = v.Verdict, v.Reason, v.EValue, v.Alpha, v.Round
		for _, o := range v.PerObjective {
			r.Total += o.Alpha
		}
		if v.Verdict.IsOpen() {
			m.trial = r.Challenger
		}
	}
	return r, nil
}

func (m *month) install(_ context.Context, _ Task, r Result) (Placed, error) {
	m.place(m.texts[r.Challenger])
	return Placed{Done: true, Note: "installed"}, nil
}

// history is what was in place when; what was found had been there before.
func (m *month) history() (h Timeline) {
	for _, v := range m.versions {
		h = append(h, Stay{v.sha, v.since})
	}
	return h
}

// watch holds what is installed against all that it took the place of, the newest
// first, but for what an alarm was about.
func (m *month) watch(ctx context.Context, _ string) (*Alarm, error) {
	if len(m.versions) < 2 {
		return nil, nil
	}
	st, err := m.nights.Journal.State(ctx, m.world.Skill)
	if err != nil {
		return nil, err
	}
	var before []Predecessor
	for n, v := range slices.Backward(m.versions[:len(m.versions)-1]) {
		before = append(before, Predecessor{SHA: v.sha, Name: fmt.Sprint("v", n), Suspect: slices.Contains(st.Alarmed, v.sha)})
	}
	return DefaultRule.Look(m.installed().sha, before, m.history(), m.uses), nil
}

// night runs one night; it returns its spending, and its alarm.
func (m *month) night(caps Caps) (spent int64, alarm *Alarm) {
	n, err := m.nights.Run(m.t.Context(), Plan{Policy: Auto, Caps: caps})
	if err != nil {
		m.t.Fatal(err)
	}
	for _, s := range n.Steps {
		if s.Kind == Watch && len(s.Note) > 5 && s.Note[:5] == "alarm" {
			alarm = s.Alarm
		}
	}
	return n.Spent().Rollouts, alarm
}

// A told is the result of a month.
type told struct {
	Quality    []float64 // of the installed text after each night, the simulated truth
	Spent      []int64   // rollouts
	Promotions int
	Alarm      *Alarm
	AlarmAfter int // sessions after the regression
	Forecast   int
}

const nightCap = 240

// live through the month; regress is the day from whose sessions on what is
// installed fails more often, 0 for never.
func (m *month) live(regress int) (r told) {
	exam := m.world.Cases(0, 0, 400)
	at := 0
	for day := 1; day <= monthly; day++ {
		if day == regress && len(m.versions) > 1 {
			m.drift, at = 0.8, len(m.uses)
			now, _ := m.watch(m.t.Context(), "")
			_, r.Forecast = now.Forecast(DefaultRule, m.rate(exam))
		}
		m.day()
		m.now = m.now.Add(24 * time.Hour)
		spent, alarm := m.night(Caps{Rollouts: nightCap})
		if alarm != nil && r.Alarm == nil {
			r.Alarm, r.AlarmAfter = alarm, len(m.uses)-at
			if at > 0 { // the session that raised it, not the night that told of it
				r.AlarmAfter -= alarm.NewSessions - alarm.At
			}
		}
		r.Quality = append(r.Quality, m.world.Oracle(string(m.installed().text), exam))
		r.Spent = append(r.Spent, spent)
	}
	r.Promotions = len(m.versions) - 1
	return r
}

// TestAMonth: thirty nights. What is installed is never worse than v0 by more
// than the gate's margin, no night exceeds its budget, and the same month is the
// same month again.
func TestAMonth(t *testing.T) {
	first := newMonth(t, 1)
	v0 := first.world.Oracle(first.world.Seed(), first.world.Cases(0, 0, 400))
	r := first.live(0)
	t.Logf("v0 %.3f, %d promotions, quality %.2f, rollouts a night %d", v0, r.Promotions, r.Quality, r.Spent)
	for i, q := range r.Quality {
		if q < v0-0.05 {
			t.Errorf("night %d: quality %.3f, v0 has %.3f", i+1, q, v0)
		}
		if r.Spent[i] > nightCap {
			t.Errorf("night %d spent %d rollouts of %d", i+1, r.Spent[i], nightCap)
		}
	}
	if r.Promotions == 0 || r.Quality[monthly-1] < v0+0.1 {
		t.Errorf("%d promotions to quality %.3f from %.3f: want it to have learned", r.Promotions, r.Quality[monthly-1], v0)
	}
	if r.Alarm != nil {
		t.Errorf("an alarm without a regression: %v", r.Alarm)
	}
	if again := newMonth(t, 1).live(0); !reflect.DeepEqual(r, again) {
		t.Errorf("the same month again is another one:\n%+v\n%+v", r, again)
	}
	if bare := without(newMonth(t, 1)).live(0); !reflect.DeepEqual(bare, r) {
		t.Errorf("without hooks it is another month:\n%+v\n%+v", bare, r)
	}
}

// imported brings a search its cases whatever a trial is at: versions come early.
func imported(m *month) *month {
	m.imported = true
	return m
}

// without leaves out the records of which text a session loads.
func without(m *month) *month {
	m.hookless = true
	return m
}

// TestAMonthOfNullMutators: a mutator that betters nothing never has anything
// installed.
func TestAMonthOfNullMutators(t *testing.T) {
	for _, seed := range []int64{1, 2} {
		m := newMonth(t, seed)
		m.mutator = null{}
		r := m.live(0)
		t.Logf("seed %d: %d promotions, rollouts a night %d", seed, r.Promotions, r.Spent)
		if r.Promotions != 0 {
			t.Errorf("seed %d: %d promotions, want none", seed, r.Promotions)
		}
	}
}

// TestAMonthWithARegression: real sessions turn bad for a reason that no case
// shows. The alarm comes within the sessions forecast for 80 % of cases. It
// makes no difference whether hooks record the text of a session or the
// installations show it.
func TestAMonthWithARegression(t *testing.T) {
	const months, left = 8, (monthly - 20 + 1) * perDay
	due, within := 0, 0
	for seed := range int64(months) {
		r := imported(newMonth(t, seed+1)).live(20)
		if seed < 3 { // each takes a third of a second
			if bare := without(imported(newMonth(t, seed+1))).live(20); !reflect.DeepEqual(bare, r) {
				t.Errorf("seed %d: without hooks it is another month:\n%+v\n%+v", seed+1, bare, r)
			}
		}
		t.Logf("seed %d: alarm after %d sessions, forecast %d: %v", seed+1, r.AlarmAfter, r.Forecast, r.Alarm)
		if r.Forecast == 0 || r.Forecast > left {
			continue // the month is over before it is due
		}
		due++
		if r.Alarm != nil && 0 < r.AlarmAfter && r.AlarmAfter <= r.Forecast {
			within++
		}
	}
	if due < months*3/4 || within < due*4/5 {
		t.Errorf("%d of %d alarms that were due came within the forecast of 80 %%", within, due)
	}
}
