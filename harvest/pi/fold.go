package pi

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// inputCommand matches what a user types to invoke a skill.
var inputCommand = lazyregexp.New(`^/skill:([a-z0-9][a-z0-9-]{0,63})(?:\s|$)`)

// fold builds a session of the entries of one branch, in their order.
type fold struct {
	s *harvest.Draft

	answer string         // last text of the last turn, raw
	chosen string         // the selected model, until one answers
	tools  map[string]int // calls of the last turn without a result
	reads  map[string]look
}

// look is a reading of a skill's file.
type look struct {
	use   harvest.Invocation
	whole bool
}

func newFold(file string, t tree, o harvest.Options) *fold {
	s := harvest.NewDraft(Agent, cmp.Or(t.id, sessionID(file)), file, o)
	for _, folder := range t.folders {
		s.In(folder)
	}
	s.CWD, s.Started = t.cwd, harvest.When(t.stamp)
	return &fold{s: s, tools: make(map[string]int), reads: make(map[string]look)}
}

func (f *fold) entry(e entry) {
	at := harvest.When(e.stamp)
	if f.s.Started.IsZero() {
		f.s.Started = at
	}
	if at.After(f.s.Ended) {
		f.s.Ended = at
	}
	switch fact := e.fact.(type) {
	case *prompt:
		f.prompt(fact, e.stamp, at)
	case *reply:
		f.reply(fact, e.stamp, at)
	case *result:
		f.result(fact)
	case *spent:
		if len(f.s.Turns) > 0 {
			f.spend(fact.usage)
		}
	case *model:
		f.chosen = cmp.Or(fact.name, f.chosen)
	}
}

// prompt begins a turn.
func (f *fold) prompt(p *prompt, stamp string, at time.Time) {
	text := p.text
	if p.skill != "" {
		text = strings.TrimSpace("/skill:" + p.skill + " " + text)
	}
	if text == "" {
		return // only an image
	}
	f.flush()
	text = f.s.Typed(text)
	f.s.Turns = append(f.s.Turns, harvest.Turn{ID: p.id, Time: at, Prompt: text})
	clear(f.tools)
	clear(f.reads)
	v := harvest.Invocation{Line: p.line, EntryID: p.id, Time: at}
	if p.skill != "" {
		v.Skill, v.Signal, v.Dir, v.BodyHash = f.s.Clean(p.skill), harvest.InputSlashCommand, f.s.Folder(p.dir), p.hash
		v.ID = skillID(v, stamp, 0)
	} else if m := inputCommand.FindStringSubmatch(text); m != nil {
		// The command is unexpanded: pi did not know the skill.
		v.Skill, v.Signal, v.Failed = m[1], harvest.InputSlashCommand, true
		v.ID = skillID(v, stamp, 0)
	} else if name, ok := harvest.SlashCommand(text); ok && !strings.HasPrefix(text, "/skill:") {
		v.Skill, v.Signal = name, harvest.PromptSlashCommand
		v.ID = cmp.Or(harvest.PromptEventID(Agent, name, at), skillID(v, stamp, 0))
	}
	f.s.Invoke(v)
}

// skillID is the id of an invocation in the block-th block of a message. For a message
// without a time it uses the message's own id, or its line.
func skillID(v harvest.Invocation, stamp string, block int) string {
	return fmt.Sprintf("pi-skill-%s-%s-%d", v.Skill, cmp.Or(stamp, v.EntryID, fmt.Sprintf("line-%d", v.Line)), block)
}

// reply adds a message of the model to the turn.
func (f *fold) reply(r *reply, stamp string, at time.Time) {
	turn := f.s.Last()
	if f.s.Model == "" {
		f.s.Model = r.model
	}
	f.s.Answered(r.provider)
	f.spend(r.usage)
	if began := turn.Time; !began.IsZero() && !at.Before(began) {
		ms := at.Sub(began).Milliseconds()
		turn.DurationMS = &ms
	}
	switch r.stop {
	case "error":
		turn.APIErrors++
	case "aborted":
		turn.Interrupted = true
	}
	if r.text != "" {
		f.answer = r.text
	}
	for _, c := range r.calls {
		turn.Tools = append(turn.Tools, harvest.Tool{Name: f.s.Clean(c.name)})
		f.tools[c.id] = len(turn.Tools) - 1
		f.act(c)
		name, dir, ok := harvest.SkillFile(c.file)
		if !ok {
			continue
		}
		v := harvest.Invocation{Skill: f.s.Clean(name), Signal: harvest.SkillFileRead, Dir: f.s.Folder(dir), ToolUseID: c.id,
			Line: r.line, EntryID: r.id, Time: at}
		v.ID = skillID(v, stamp, c.block)
		f.reads[c.id] = look{v, !c.part}
	}
}

// result records how a call ended. A skill counts as read once its text was returned.
func (f *fold) result(r *result) {
	f.s.Acts.Ended(r.call, r.exit, r.failed)
	if i, ok := f.tools[r.call]; ok {
		f.s.Turns[len(f.s.Turns)-1].Tools[i].Failed = r.failed
		delete(f.tools, r.call)
	}
	l, ok := f.reads[r.call]
	delete(f.reads, r.call)
	if !ok || r.failed {
		return
	}
	if l.whole {
		l.use.BodyHash = r.hash
	}
	f.s.Invoke(l.use)
}

func (f *fold) spend(u eval.Usage) {
	if u != (eval.Usage{}) { // else an attempt that failed
		f.s.Last().Spend(u)
	}
}

// flush keeps the last text of the turn.
func (f *fold) flush() {
	if f.answer != "" {
		f.s.Last().Answer = f.s.Said(f.answer)
		f.answer = ""
	}
}

// finish returns the session, or nil if it has no messages.
func (f *fold) finish(problems []harvest.Problem) *harvest.Session {
	f.flush()
	f.s.Model = cmp.Or(f.s.Model, f.chosen)
	return f.s.Finish(problems, nil)
}
