package reading

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
)

const (
	maxRequest = 600  // characters of the request
	maxAnswer  = 1000 // of the end of the answer
	maxReply   = 600  // of each reply
	maxBetween = 250  // of the end of an answer between two replies
	maxName    = 64   // of a tool's name
)

// A moment is a turn, and what its user said next.
type moment struct {
	s       *harvest.Session
	turn    int
	replies []int    // turns
	own     []string // what the person wrote in each of them, as shown
	seen    shown
	id      string // in the prompt
}

// A shown moment is what a model sees of it.
type shown struct {
	Skills  []string `json:"skills,omitempty"` // in play
	Request string   `json:"request"`
	Pasted  []string `json:"pasted,omitempty"` // marked in the request
	Tools   string   `json:"tools,omitempty"`
	Answer  string   `json:"answer"`
	Stopped bool     `json:"stopped,omitempty"` // by the user
	Replies []reply  `json:"replies"`
}

type reply struct {
	Before string   `json:"answer_before,omitempty"` // the end of the answer that it follows; not of the first, which follows Answer
	Said   string   `json:"said"`
	Pasted []string `json:"pasted,omitempty"`
}

// moments are those of s that a model can read: turns behind which the user wrote
// something.
func moments(s *harvest.Session) (out []*moment) {
	if s.Subagent != "" || harvest.OwnReplay(s) {
		return nil
	}
	for t := range s.Turns {
		if m := at(s, t); m != nil {
			out = append(out, m)
		}
	}
	return out
}

func at(s *harvest.Session, t int) *moment {
	m := &moment{s: s, turn: t}
	used := &s.Turns[t]
	for r := t + 1; r < len(s.Turns) && r <= t+harvest.Horizon; r++ {
		said, pasted := harvest.Unpasted(s.Turns[r].Prompt, maxReply)
		own := s.Own(r)
		if strings.TrimSpace(own) == "" && !strings.HasPrefix(said, "[pasted") { // written too fast to be typed
			said, pasted = "[pasted 1]", append([]string{said}, pasted...)
		}
		one := reply{Said: said, Pasted: pasted}
		if r > t+1 {
			one.Before = harvest.Tail(s.Turns[r-1].Answer, maxBetween)
		}
		m.replies, m.own = append(m.replies, r), append(m.own, own)
		m.seen.Replies = append(m.seen.Replies, one)
	}
	if used.Prompt == "" || !slices.ContainsFunc(m.own, func(own string) bool { return strings.TrimSpace(own) != "" }) {
		return nil
	}
	m.seen.Request, m.seen.Pasted = harvest.Unpasted(used.Prompt, maxRequest)
	m.seen.Answer, m.seen.Stopped, m.seen.Tools = harvest.Tail(used.Answer, maxAnswer), used.Interrupted, tools(used.Tools)
	for _, v := range s.Invocations {
		if v.Used() && v.Turn <= t && v.Turn >= t-harvest.Horizon && !slices.Contains(m.seen.Skills, v.Skill) {
			m.seen.Skills = append(m.seen.Skills, v.Skill)
		}
	}
	// The id depends on all that is shown, so no text in it can know it.
	m.id = m.key()[:8]
	return m
}

// key identifies what is shown and asked, so that it is not paid for twice.
func (m *moment) key() string {
	data, err := json.Marshal([]any{"reading/1", system, m.s.Agent, m.s.ID, m.turn, m.seen})
	if err != nil {
		panic(err) // strings can be marshalled
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// tools counts calls by their names: "Bash 3 (1 failed), Edit 2".
func tools(calls []harvest.Tool) string {
	n, failed := map[string]int{}, map[string]int{}
	var names []string
	for _, c := range calls {
		if n[c.Name]++; n[c.Name] == 1 {
			names = append(names, c.Name)
		}
		if c.Failed {
			failed[c.Name]++
		}
	}
	var out []string
	for _, name := range names[:min(len(names), 12)] {
		one := fmt.Sprintf("%s %d", plain.Runes(name, maxName), n[name])
		if failed[name] > 0 {
			one += fmt.Sprintf(" (%d failed)", failed[name])
		}
		out = append(out, one)
	}
	return strings.Join(out, ", ")
}
