package simulated

import (
	_ "embed"
	"time"
)

//go:embed demo.md
var demoSkill string

// Demo is the world of `evolve demo`: a skill that draws charts, whose users
// keep correcting it in the same twelve ways. The seed skill knows three of
// them. The bundled sessions under cmd/evolve/demodata were made in it.
func Demo() World {
	return World{
		Name: "dataviz-demo", Skill: "dataviz", Seeding: demoSkill, Opening: "I drew the chart.",
		Lessons: []Lesson{
			{ID: "units", Topic: []string{"temperature", "latency", "energy", "rainfall"},
				Phrase: "label both axes and give their units", Outcome: "Both axes carry their units.",
				Says: "label both axes and give their units"},
			{ID: "svg", Topic: []string{"wiki", "handbook", "repository"},
				Phrase: "save the chart as SVG next to the data", Outcome: "Saved as SVG next to the data.",
				Says: "save the chart as SVG next to the data"},
			{ID: "zero", Topic: []string{"bars", "bar chart", "columns"},
				Phrase: "start the value axis of bars at zero", Outcome: "The bars start at zero.",
				Says: "the value axis of bars must start at zero"},
			{ID: "log", Topic: []string{"revenue", "turnover", "downloads"},
				Phrase: "use a log scale for revenue and anything else that grows by factors", Outcome: "The value axis has a log scale.",
				Says: "use a log scale, it grows by factors"},
			{ID: "palette", Topic: []string{"by region", "by team", "by country", "by department"},
				Phrase: "take the colours from a colour-blind safe palette", Outcome: "The palette is Okabe-Ito.",
				Says: "the colours must come from a colour-blind safe palette"},
			{ID: "title", Topic: []string{"board", "slides", "management", "investors"},
				Phrase: "let the title state the takeaway in one sentence", Outcome: "The title states the takeaway.",
				Says: "the title has to state the takeaway"},
			{ID: "sort", Topic: []string{"top ten", "ranking", "biggest", "which of them"},
				Phrase: "sort categories by value, largest first", Outcome: "Sorted by value, largest first.",
				Says: "sort it by value, largest first"},
			{ID: "source", Topic: []string{"census", "survey", "published", "open data"},
				Phrase: "cite the data source below the chart", Outcome: "The data source is cited below.",
				Says: "you forgot to cite the data source below the chart"},
			{ID: "slices", Topic: []string{"share", "breakdown", "proportions"},
				Phrase: "draw shares as a stacked bar, never as a pie with more than five slices", Outcome: "Drawn as one stacked bar.",
				Says: "never a pie with more than five slices, make it a stacked bar"},
			{ID: "direct", Topic: []string{"several lines", "against each other", "versus", "side by side"},
				Phrase: "label each line directly instead of using a legend", Outcome: "Each line is labelled directly.",
				Says: "label each line directly instead of the legend"},
			{ID: "gaps", Topic: []string{"sensor", "missing weeks", "meter readings"},
				Phrase: "show missing values as gaps, do not interpolate", Outcome: "Missing values are left as gaps.",
				Says: "do not interpolate missing values, show gaps"},
			{ID: "events", Topic: []string{"outage", "launch", "incident", "migration"},
				Phrase: "mark each event with a thin vertical line and its name", Outcome: "Events are marked with a thin line.",
				Says: "mark the event with a thin vertical line"},
		},
		Harmful: []Harm{
			{Line: "People like pie charts, so prefer them for parts of a whole.", Breaks: []string{"slices"}},
			{Line: "Keep the order of the file.", Breaks: []string{"sort"}},
			{Line: "Connect the points with a smooth curve.", Breaks: []string{"gaps"}},
			{Line: "Put a legend in the upper right corner.", Breaks: []string{"direct"}},
		},
		Bloat: []string{
			"Charts have a long history, from Playfair to Tukey.",
			"A good chart is worth a thousand words.",
			"Think about what a reader might want to know.",
			"Remember that data can be noisy.",
			"Be creative, but stay professional.",
			"There are many kinds of charts.",
		},
		Noise: 0.04, PerBloat: 0.02, PerToken: 0.0002, FreeTokens: 700, Break: 0.85, Hesitation: 220,
		Mutator: Mutator{Defect: 0.20, Adds: 3, Misbehave: 0.03},
		Task: Rates{Overhead: 3000, InputUSD: 1e-6, OutputUSD: 5e-6, Base: 3 * time.Second,
			PerInput: 200 * time.Microsecond, PerOutput: 15 * time.Millisecond, Jitter: 0.15},
		Text: Rates{InputUSD: 3e-6, OutputUSD: 15e-6, Base: 2500 * time.Millisecond,
			PerInput: 200 * time.Microsecond, PerOutput: 15 * time.Millisecond, Jitter: 0.15},
		Families: []Family{{Lessons: []string{"units", "svg", "zero", "log", "palette", "title", "sort", "source",
			"slices", "direct", "gaps", "events"}, Max: 2}},
		Asks: []string{"Make chart %d of %s.", "Please plot number %d: %s."},
	}
}
