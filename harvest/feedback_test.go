package harvest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/ownwords"
)

// replies are what people write after an answer, with the label of each.
var replies = []struct {
	text string
	want Label
}{
	// corrected
	{"no, use a log scale", Corrected},
	{"No - use a log scale instead", Corrected},
	{"no, write the plan", Corrected},
	{"nope, that's the wrong column", Corrected},
	{"no", Corrected},
	{"No tests were run, run them", Corrected},
	{"that's not what I asked for", Corrected},
	{"That’s wrong, the axis starts at zero", Corrected},
	{"this is still broken", Corrected},
	{"it doesn't compile", Corrected},
	{"the tests still fail", Corrected},
	{"I said bars, not lines", Corrected},
	{"I asked for a log scale", Corrected},
	{"I meant the weekly numbers", Corrected},
	{"you forgot the unit on the y axis", Corrected},
	{"you didn't update the changelog", Corrected},
	{"the labels should be in USD", Corrected},
	{"it should not touch the config", Corrected},
	{"use a log scale instead", Corrected},
	{"use tabs rather than spaces", Corrected},
	{"please use British spelling", Corrected},
	{"don't add comments", Corrected},
	{"stop adding emojis", Corrected},
	{"hmm, the legend overlaps the bars", Corrected},
	{"wait, that deletes the old rows", Corrected},
	{"actually I want it as a table", Corrected},
	{"but the first column is a date", Corrected},
	{"too long, cut it in half", Corrected},
	{"the title is too small", Corrected},
	{"make it shorter", Corrected},
	{"make the bars bigger", Corrected},
	{"change the colours to blue", Corrected},
	{"rename it to revenue.svg", Corrected},
	{"fix the typo in the title", Corrected},
	{"why did you delete the tests?", Corrected},
	{"did we fix the logger.go comment?", Corrected},
	{"thanks, but use a log scale", Corrected},
	{"great, but the axis has no unit", Corrected},
	{"looks good except the title is missing", Corrected},
	{"perfect, only the legend is in the wrong corner", Corrected},
	{"nice. but you forgot the unit", Corrected},
	{"not quite, the scale has to be logarithmic", Corrected},
	{"wrong file", Corrected},
	{"the chart is missing its legend", Corrected},
	{"that's not right", Corrected},
	{"there's still a linear axis, as I said use log", Corrected},
	{"it crashes on empty input", Corrected},
	{"nothing is rendered, the svg is empty", Corrected},

	{"hm that's not it, the dates are off by one", Corrected},
	{"Could you keep the header? You dropped it", Corrected},
	{"the colors are awful", Corrected},
	{"I'd rather have a bar chart", Corrected},
	{"You're using the wrong branch", Corrected},
	{"shorter please", Corrected},
	{"can you make it log scale?", Corrected},
	{"still the same error", Corrected},
	{"it's failing with a TypeError", Corrected},
	{"oh no, the build is red now", Corrected},
	{"I see an error: undefined is not a function", Corrected},
	{"that looks weird", Corrected},
	{"the output still contains the header", Corrected},
	{"I don't like the colors", Corrected},
	{"ok but use a log scale", Corrected},
	{"use a log scale please, thanks", Corrected},
	{"great, thanks. The axis should be logarithmic", Corrected},
	{"nothing happens when I open it", Corrected},
	{"it's too dark", Corrected},
	{"the y axis isn't labelled", Corrected},
	{"why didn't you run the tests?", Corrected},

	// accepted
	{"thanks, perfect", Accepted},
	{"thanks", Accepted},
	{"thank you!", Accepted},
	{"no problem, thanks", Accepted},
	{"no worries", Accepted},
	{"no, that's perfect", Accepted},
	{"perfect", Accepted},
	{"Great!", Accepted},
	{"great work", Accepted},
	{"awesome, thanks a lot", Accepted},
	{"ok great", Accepted},
	{"yes, exactly", Accepted},
	{"looks good", Accepted},
	{"looks good to me, merge it", Accepted},
	{"lgtm", Accepted},
	{"LGTM, ship it", Accepted},
	{"that works", Accepted},
	{"it works now", Accepted},
	{"works great", Accepted},
	{"nice one", Accepted},
	{"not bad at all", Accepted},
	{"love it", Accepted},
	{"exactly what I wanted", Accepted},
	{"commit", Accepted},
	{"commit and push", Accepted},
	{"commit this please", Accepted},
	{"ok, commit", Accepted},
	{"push and draft PR please", Accepted},
	{"push it", Accepted},
	{"open a PR", Accepted},
	{"create a draft pull request", Accepted},
	{"ok now push and open a PR", Accepted},
	{"great, now do the same for costs", Accepted},
	{"perfect, next let's look at the costs", Accepted},
	{"super, danke schön, looks great", Accepted},
	{"wow, that is beautiful", Accepted},
	{"that's it, thanks", Accepted},
	{"all good", Accepted},
	{"ship it", Accepted},
	{"merge", Accepted},

	{"great, thanks. Now write a parser, it should be fast", Accepted},
	{"perfect. One more thing: plot the costs", Accepted},
	{"the chart looks great", Accepted},
	{"good", Accepted},
	{"now it works", Accepted},

	{"yay it works", Accepted},
	{"go ahead and open a pull request", Accepted},
	{"yep that fixed it", Accepted},
	{"it's working now, thanks", Accepted},
	{"tests pass, great", Accepted},
	{"beautiful, commit it", Accepted},

	// rejected
	{"undo that", Rejected},
	{"revert this", Rejected},
	{"please revert the last commit", Rejected},
	{"no, roll back everything", Rejected},
	{"never mind, I'll do it myself", Rejected},
	{"forget it", Rejected},
	{"scrap that and start over", Rejected},
	{"stop", Rejected},
	{"discard all changes", Rejected},

	// unknown: going on, or another subject
	{"", Unknown},
	{"ok", Unknown},
	{"yes", Unknown},
	{"1", Unknown},
	{"continue", Unknown},
	{"go ahead", Unknown},
	{"now do the same for costs", Unknown},
	{"also add a legend", Unknown},
	{"and the costs?", Unknown},
	{"next, plot data/costs.csv", Unknown},
	{"Write a parser for the config file", Unknown},
	{"how does the scheduler work?", Unknown},
	{"explain the retry logic", Unknown},
	{"what is the capital of France", Unknown},
	{"Make a chart of data/costs.csv", Unknown},
	{"add a test for the empty file", Unknown},
	{"run the linter", Unknown},
	{"can you summarise the design document", Unknown},
	{"/review", Unknown},
	{"option b", Unknown},
	{"let's move on to the release notes", Unknown},
	{"```\nno, wrong\n```", Unknown},
	{"> that's wrong\nsummarise this thread", Unknown},
	{"Notes on commit messages: write a guide", Unknown},
	{"write a parser that should be fast", Unknown},
	{"implement the cache with a heap instead of a map", Unknown},
	{"add a page that doesn't include the sidebar", Unknown},
	{"can you make a table? thanks", Unknown},
	{"how do I make it look nice", Unknown},
	{"the release notes", Unknown},
	{"what does it cost", Unknown},
	{"No idea, what do you think?", Unknown},
	{"No, leave it as it is", Unknown},
	{"no preference", Unknown},
	{"not sure", Unknown},
	{"wait for the CI to finish", Unknown},
	{"actually, how does git bisect work?", Unknown},
	{"there is a bug in the login page, please fix", Unknown},
	{"list the issues with label wontfix", Unknown},
	{"implement a push notification service", Unknown},
	{"write a function that reverts a linked list", Unknown},
	{"translate the readme to German", Unknown},
}

func TestClassify(t *testing.T) {
	for _, c := range replies {
		got := Classify(ownwords.Of(c.text))
		if got.Label != c.want {
			t.Errorf("%q: %s (%.2f), want %s", c.text, got.Label, got.Confidence, c.want)
		}
		if (got.Label == Unknown) != (got.Confidence == 0 && got.Evidence == "") || got.Confidence < 0 || got.Confidence > 1 {
			t.Errorf("%q: confidence %v, evidence %q", c.text, got.Confidence, got.Evidence)
		}
	}
	if len(replies) < 80 {
		t.Errorf("only %d replies", len(replies))
	}
}

// A question may be a correction; it is not one for sure.
func TestDoubt(t *testing.T) {
	sure, perhaps := Classify(ownwords.Of("no, use a log scale")), Classify(ownwords.Of("did we fix the logger.go comment?"))
	if sure.Confidence < .8 || perhaps.Confidence >= .5 {
		t.Errorf("confidence %.2f and %.2f", sure.Confidence, perhaps.Confidence)
	}
	if sure.Evidence != "no, use a log scale" {
		t.Errorf("evidence %q", sure.Evidence)
	}
}

// session is a conversation in which the turns marked with "!" used the skill
// and those with "^" were interrupted. Each turn is "prompt => answer".
func session(turns ...string) *Session {
	s := &Session{ID: "s", Agent: "claude-code"}
	for i, line := range turns {
		var flags string
		for strings.HasPrefix(line, "!") || strings.HasPrefix(line, "^") {
			flags, line = flags+line[:1], line[1:]
		}
		prompt, answer, _ := strings.Cut(line, " => ")
		s.Turns = append(s.Turns, Turn{ID: fmt.Sprint("t", i), Prompt: prompt, Answer: answer, Interrupted: strings.Contains(flags, "^")})
		if strings.Contains(flags, "!") {
			s.Invocations = append(s.Invocations, Invocation{ID: fmt.Sprint("i", i), Skill: "dataviz", Turn: i, Signal: SkillToolUse, Explicit: true})
		}
	}
	return s
}

func TestAssess(t *testing.T) {
	for name, c := range map[string]struct {
		want  string // label of each use, and the turn that says so
		turns []string
	}{
		"nothing after":          {"unknown 0", []string{"!chart it => done"}},
		"corrected":              {"corrected 1", []string{"!chart it => done", "no, use a log scale => redrawn", "thanks, perfect => welcome"}},
		"accepted":               {"accepted 1", []string{"!chart it => done", "thanks, perfect"}},
		"accepted later":         {"accepted 2", []string{"!chart it => done", "ok => go on?", "great, thanks"}},
		"corrected later":        {"corrected 2", []string{"!chart it => done", "show it to me => here", "no, use a log scale"}},
		"too late":               {"unknown 0", []string{"!chart it => done", "ok => a", "yes => b", "1 => c", "thanks, perfect"}},
		"new subject":            {"unknown 0", []string{"!Make a chart of revenue => done", "Write a parser for the configuration format => written", "thanks, perfect"}},
		"another order":          {"unknown 0", []string{"!Make a chart of revenue => done", "use postgres for the new service we planned"}},
		"an order":               {"unknown 0", []string{"!Make a chart of revenue => a linear scale", "use a logarithmic scale for everything please"}},
		"repeated":               {"repeated 1", []string{"!Make a chart of revenue => done", "Make a chart of revenue => done"}},
		"skill again":            {"repeated 1,unknown 0", []string{"!Make a chart of revenue => done", "!/dataviz Make a chart of revenue => done"}},
		"skill, said again":      {"unknown 0,unknown 0", []string{"!Make a chart of revenue => done", "!/dataviz again please => done"}},
		"no to a question":       {"unknown 0", []string{"!chart it => done. Shall I use a log scale?", "no, in USD", "thanks, perfect"}},
		"perhaps corrected":      {"unknown 0", []string{"!chart it => done", "hmm, the legend overlaps the bars => moved", "thanks, perfect"}},
		"corrected, perhaps not": {"corrected 1", []string{"!chart it => done", "no, use a log scale => redrawn", "did we fix the title? => yes", "thanks, perfect"}},
		"skill on new data":      {"unknown 0,accepted 2", []string{"!Make a chart of revenue => done", "!Make a chart of all of the costs of last year => done", "perfect"}},
		"corrected by use":       {"corrected 1,accepted 2", []string{"!/dataviz data/revenue.csv => done", "!/dataviz no, use a log scale => done", "perfect"}},
		"interrupted":            {"rejected 0", []string{"!^chart it => dra", "Write a parser"}},
		"interrupted, then told": {"corrected 1", []string{"!^chart it => dra", "no, use a log scale => done"}},
		"interrupted, thanks":    {"rejected 0", []string{"!^chart it => dra", "thanks"}},
		"thrown away":            {"rejected 1", []string{"!chart it => done", "undo that"}},
		"next use ends it":       {"unknown 0,accepted 2", []string{"!chart revenue of last week => done", "!chart costs of the year before => done", "thanks"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := session(c.turns...)
			Assess(s)
			var got []string
			for _, v := range s.Invocations {
				got = append(got, fmt.Sprintf("%s %d", v.Feedback.Label, v.Feedback.Turn))
			}
			if strings.Join(got, ",") != c.want {
				t.Errorf("%s, want %s", strings.Join(got, ","), c.want)
			}
			before := fmt.Sprint(s.Invocations)
			if Assess(s); fmt.Sprint(s.Invocations) != before {
				t.Error("assessed twice, it says something else")
			}
		})
	}
}

// A use is unread while the user wrote something after it that no model has read.
func TestUnread(t *testing.T) {
	for name, c := range map[string]struct {
		turns   []string
		reading *Reading
		want    bool
	}{
		"no reply":     {[]string{"!chart it => done"}, nil, false},
		"only pasted":  {[]string{"!chart it => done", "```\nx\n```"}, nil, false},
		"a reply":      {[]string{"!chart it => done", "the title is bigger than the plot"}, nil, true},
		"a sure reply": {[]string{"!chart it => done", "thanks, perfect"}, nil, true},
		"interrupted":  {[]string{"!^chart it => dra", "the costs"}, nil, true},
		"read":         {[]string{"!chart it => done", "the title is bigger than the plot"}, &Reading{Label: Unknown, By: "model"}, false},
		"misread":      {[]string{"!chart it => done", "thanks"}, &Reading{Label: Corrected, Words: "no", Reply: 1, By: "model"}, true},
	} {
		s := session(c.turns...)
		s.Turns[0].Reading = c.reading
		if Assess(s); s.Invocations[0].Feedback.Unread != c.want {
			t.Errorf("%s: %+v, want unread %v", name, s.Invocations[0].Feedback, c.want)
		}
	}
}

// A tool error is no feedback, and neither is anything in a subagent.
func TestNoFeedback(t *testing.T) {
	s := session("!chart it => done", "Write a parser for the configuration format")
	s.Turns[0].Tools = []Tool{{Name: "Bash", Failed: true}, {Name: "Read", Failed: true}}
	s.Turns[0].APIErrors = 3
	sub := session("!chart it => done", "no, use a log scale")
	sub.Subagent = "a1"
	for _, s := range []*Session{s, sub} {
		if Assess(s); s.Invocations[0].Feedback.Label != Unknown {
			t.Errorf("%+v", s.Invocations[0].Feedback)
		}
	}
}

func FuzzClassify(f *testing.F) {
	for _, c := range replies {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Classify(ownwords.Of(s))
		if got.Label == Unknown && got.Confidence != 0 || got.Confidence > 1 {
			t.Errorf("%q: %+v", s, got)
		}
	})
}
