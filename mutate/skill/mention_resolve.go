package skill

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Callable is a skill as users may call it.
type Callable struct {
	Name     string // canonical; "namespace:name" if it has a namespace
	Aliases  []string
	Disabled bool
}

// MentionStatus is the result of resolving a mention.
type MentionStatus string

const (
	MentionExact     MentionStatus = "exact"     // a skill's name or alias
	MentionDisabled  MentionStatus = "disabled"  // that of a skill which is disabled
	MentionSuggest   MentionStatus = "suggest"   // one skill comes near
	MentionAmbiguous MentionStatus = "ambiguous" // several do
	MentionUnknown   MentionStatus = "unknown"   // none does
	MentionGlob      MentionStatus = "glob"      // $github:* names no one skill
)

// Outcome is the result of resolving a message.
type Outcome string

const (
	OutcomeNone      Outcome = "none"       // it mentions no skill
	OutcomeActivate  Outcome = "activate"   // one skill is used
	OutcomeChooseOne Outcome = "choose_one" // several could be
	OutcomeDiagnose  Outcome = "diagnose"   // mentions need several kinds of decision, or one beside a skill that could be used
	OutcomeUnknown   Outcome = "unknown"
	OutcomeSuggest   Outcome = "suggest"
	OutcomeAmbiguous Outcome = "ambiguous"
	OutcomeDisabled  Outcome = "disabled"
	OutcomeGlob      Outcome = "glob_unsupported"
)

// A Resolution is the result of resolving a message, with its mentions.
type Resolution struct {
	Outcome   Outcome
	Activated string    // canonical name, "" for none
	Messages  []string  // for the user, in the order of the mentions
	Mentions  []Mention // without variables and amounts ($PATH, $5)
	Task      string    // the message, less a mention of the activated skill at its beginning
}

// Resolve finds the one skill that a message mentions among the callable
// ones, given in order of discovery. Only an exact name or alias activates;
// near matches are suggested. It runs nothing.
func Resolve(text string, callable []Callable) Resolution {
	r := Resolution{Outcome: OutcomeNone, Task: text}
	ix := indexCallables(callable)
	seen := map[string]bool{} // ids
	var usable []string
	var decisions, others []MentionStatus
	for _, m := range Mentions(text, func(id string) bool { return ix[id] != nil }) {
		ix.setStatus(&m, callable)
		if m.Status == "" {
			continue
		}
		r.Mentions = append(r.Mentions, m)
		id := m.ID
		if m.Status == MentionExact {
			id = m.Skill
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		switch m.Status {
		case MentionExact:
			usable = append(usable, m.Skill)
		case MentionUnknown:
			others = append(others, m.Status)
		default:
			decisions = append(decisions, m.Status)
		}
		r.Messages = append(r.Messages, m.message())
	}
	switch {
	case len(usable) > 1:
		r.Outcome, r.Messages = OutcomeChooseOne, []string{chooseOne(usable)}
	case len(usable) == 1 && len(decisions) > 0:
		r.Outcome = OutcomeDiagnose
		using := usingSkill(usable[0])
		r.Messages = slices.DeleteFunc(r.Messages, func(m string) bool { return m == using })
	case len(usable) == 1:
		r.Outcome, r.Activated = OutcomeActivate, usable[0]
		r.Task = task(text, r.Mentions[0], usable[0])
	case len(decisions) > 0:
		r.Outcome = OutcomeDiagnose
		if len(slices.Compact(decisions)) == 1 {
			r.Outcome = outcomeOf[decisions[0]]
		}
	case len(others) > 0:
		r.Outcome = OutcomeUnknown
	}
	return r
}

var outcomeOf = map[MentionStatus]Outcome{MentionDisabled: OutcomeDisabled, MentionSuggest: OutcomeSuggest,
	MentionAmbiguous: OutcomeAmbiguous, MentionGlob: OutcomeGlob}

// callables finds a skill by its name or alias, in NFC.
type callables map[string]*Callable

func indexCallables(list []Callable) callables {
	ix := callables{}
	add := func(name string, c *Callable) {
		if name = norm.NFC.String(name); name != "" && ix[name] == nil {
			ix[name] = c
		}
	}
	for i := range list {
		add(list[i].Name, &list[i])
	}
	for i := range list { // a name beats another skill's alias
		for _, a := range list[i].Aliases {
			add(a, &list[i])
		}
	}
	return ix
}

// setStatus fills in the status. It stays empty if m is no mention but a
// variable or an amount of money.
func (ix callables) setStatus(m *Mention, list []Callable) {
	if strings.HasSuffix(m.ID, "*") {
		m.Status = MentionGlob
		return
	}
	if c := ix[m.ID]; c != nil {
		m.Skill, m.Status = c.Name, MentionExact
		if c.Disabled {
			m.Status = MentionDisabled
		}
		return
	}
	first, _ := utf8.DecodeRuneInString(m.ID)
	if unicode.IsDigit(first) || environment[strings.ToUpper(m.ID)] {
		return
	}
	tiers := nearby(m.ID, list)
	capitals := m.ID == strings.ToUpper(m.ID) && m.ID != strings.ToLower(m.ID)
	if capitals { // a shell variable, unless a skill has the same letters
		tiers[1], tiers[2] = nil, nil
	}
	m.Candidates = slices.Concat(tiers[:]...)
	switch {
	case len(m.Candidates) == 1:
		m.Status = MentionSuggest
	case len(m.Candidates) > 1:
		m.Status = MentionAmbiguous
	case !capitals:
		m.Status = MentionUnknown
	}
}

// environment are names that are variables, in any case of their letters.
var environment = map[string]bool{"PATH": true, "HOME": true, "USER": true, "SHELL": true, "PWD": true, "TMPDIR": true,
	"TEMP": true, "TMP": true, "LANG": true, "TERM": true, "XDG_CONFIG_HOME": true}

// nearby returns the enabled skills whose name or alias equals id but for case,
// begins with it, or contains it: three tiers, each in order of discovery.
func nearby(id string, list []Callable) (tiers [3][]string) {
	if utf8.RuneCountInString(id) < 3 {
		return tiers
	}
	id = strings.ToLower(id)
	for _, c := range list {
		if c.Disabled {
			continue
		}
		best := len(tiers)
		for i := -1; i < len(c.Aliases); i++ {
			name := c.Name
			if i >= 0 {
				name = c.Aliases[i]
			}
			switch at := strings.Index(strings.ToLower(norm.NFC.String(name)), id); {
			case at == 0 && len(norm.NFC.String(name)) == len(id):
				best = 0
			case at == 0:
				best = min(best, 1)
			case at > 0:
				best = min(best, 2)
			}
		}
		if best < len(tiers) {
			tiers[best] = append(tiers[best], c.Name)
		}
	}
	return tiers
}

func usingSkill(name string) string { return "Using skill: " + name }

// message is the message to the user about one mention.
func (m *Mention) message() string {
	switch m.Status {
	case MentionExact:
		return usingSkill(m.Skill)
	case MentionDisabled:
		return fmt.Sprintf("Skill '%s' is disabled. Enable it with /skill enable %s.", m.Skill, m.Skill)
	case MentionSuggest:
		return fmt.Sprintf("No exact skill '%s'. Did you mean $%s?", m.ID, m.Candidates[0])
	case MentionAmbiguous:
		use := m.Candidates[0]
		if i := slices.IndexFunc(m.Candidates, func(c string) bool { return strings.Contains(c, ":") }); i >= 0 {
			use = m.Candidates[i]
		}
		return fmt.Sprintf("$%s matched %d skills: %s — use $%s.", m.ID, len(m.Candidates), strings.Join(m.Candidates, ", "), use)
	}
	return fmt.Sprintf("No skill named '%s'. Run /skill list to see available skills.", m.ID)
}

func chooseOne(names []string) string {
	last := len(names) - 1
	return fmt.Sprintf("Choose one skill to lead this turn: $%s or $%s.", strings.Join(names[:last], ", $"), names[last])
}

// task removes the mention of the activated skill from the front.
func task(text string, first Mention, activated string) string {
	if first.Skill != activated || strings.TrimLeft(text[:first.Start], " \t\r\n") != "" {
		return text
	}
	return strings.TrimLeft(text[first.End:], " \t\r\n")
}
