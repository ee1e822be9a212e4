package claude

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// HistoryFile is the file in a home that keeps what was typed when transcripts are removed.
const HistoryFile = "history.jsonl"

// HistoryAgent is the Agent of sessions of which only the prompts are left. Claude Code
// keeps these longer than its transcripts.
const HistoryAgent = "claude-history"

const (
	quiet    = 24 * time.Hour // after the last prompt; the transcript of a new session may not be written yet
	maxID    = 128            // bytes of a session's id
	maxTyped = 10_000         // prompts of one session
	maxFile  = 256 << 20      // bytes of the file, whose prompts are held in memory
)

// A Known is what is stored of sessions.
type Known interface {
	// Stored reports whether a session is stored, or was purged.
	Stored(ctx context.Context, id string) (bool, error)
	// Turns are those of an agent's stored sessions that were under way in a period, and
	// may have others.
	Turns(ctx context.Context, agent string, from, to time.Time) ([]harvest.Turn, error)
}

// History reads the prompts of sessions whose transcripts are gone: sessions without
// answers and without uses of skills, of which nothing can be replayed. A prompt that is
// stored with another session is left out: one that is resumed may be copied, and known
// from then on by the id of the copy. known may be nil. Lines that name no session, as
// older versions wrote them, are left out: their transcript may be there.
func History(home string, o harvest.Options, known Known) harvest.Source {
	return &history{home, o, known}
}

type history struct {
	home  string
	opts  harvest.Options
	known Known
}

func (h *history) Name() string { return HistoryAgent }

// typed is what one session's user typed.
type typed struct {
	id      string
	folders []string
	prompts []prompt
}

type prompt struct {
	at   time.Time
	text string
}

func (t *typed) last() time.Time { return t.prompts[len(t.prompts)-1].at }

// Sessions implements harvest.Source. c holds each session as an entry of its own.
func (h *history) Sessions(ctx context.Context, c harvest.Cursor, yield func(*harvest.Session) error) ([]harvest.Problem, error) {
	if err := h.opts.Check(); err != nil {
		return nil, err
	}
	sessions, problems, err := h.gone(ctx)
	if err != nil {
		return problems, err
	}
	file := filepath.Join(h.home, HistoryFile)
	for _, t := range sessions {
		path := file + "#" + t.id
		if t.last().Before(h.opts.Since) || time.Since(t.last()) < quiet || c != nil && c.Seen(path, int64(len(t.prompts)), t.last()) {
			continue
		}
		if h.known != nil {
			if known, err := h.known.Stored(ctx, t.id); err != nil || known {
				if err != nil {
					return problems, err
				}
				continue
			}
		}
		var s *harvest.Session
		err := harvest.InTime(ctx, h.opts, func(_ context.Context, o harvest.Options) error {
			s = t.session(path, o)
			return nil
		})
		if errors.Is(err, harvest.ErrSlow) {
			problems = append(problems, harvest.Problem{Path: path, Reason: err.Error()})
			continue
		}
		if err == nil {
			s, err = h.unknown(ctx, s)
		}
		if err != nil {
			return problems, err
		}
		admitted := s == nil || h.opts.Admits(s)
		if s != nil && admitted {
			harvest.Scrub(s, redact.Detector{})
			if err := yield(s); err != nil {
				return problems, err
			}
		}
		if c != nil {
			c.Mark(path, int64(len(t.prompts)), t.last())
		}
		if !admitted {
			harvest.Refuse(c, path)
		}
	}
	return problems, nil
}

const (
	same  = time.Minute     // between two records of one prompt, which may have waited for the agent
	alike = 2 * time.Second // if their texts cannot be compared
)

// unknown is s without the turns that are stored with another session, nil if it has no
// others.
func (h *history) unknown(ctx context.Context, s *harvest.Session) (*harvest.Session, error) {
	if s == nil || h.known == nil {
		return s, nil
	}
	stored, err := h.known.Turns(ctx, Agent, s.Started.Add(-same), s.Ended.Add(same))
	if err != nil {
		return nil, err
	}
	s.Turns = slices.DeleteFunc(s.Turns, func(is harvest.Turn) bool {
		begin, _, cut := strings.Cut(is.Prompt, paste)
		return slices.ContainsFunc(stored, func(was harvest.Turn) bool {
			apart := was.Time.Sub(is.Time).Abs()
			return apart <= same && was.Prompt == is.Prompt ||
				apart <= alike && (was.Prompt == "" || cut && strings.HasPrefix(was.Prompt, begin)) // the text has expired, or had something pasted
		})
	})
	if len(s.Turns) == 0 {
		return nil, nil
	}
	return s, nil
}

// gone are the sessions in the file that have no transcript in the home, the oldest first.
func (h *history) gone(ctx context.Context) ([]*typed, []harvest.Problem, error) {
	file := filepath.Join(h.home, HistoryFile)
	r, err := bounded.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, []harvest.Problem{{Path: file, Reason: jsonl.Reason(err)}}, nil
	}
	defer r.Close()
	info, err := r.Stat()
	if err == nil && info.Size() > maxFile {
		err = &bounded.TooLargeError{Limit: maxFile}
	}
	if err != nil {
		return nil, []harvest.Problem{{Path: file, Reason: jsonl.Reason(err)}}, nil
	}
	transcripts, problems, err := files(ctx, h.home)
	if err != nil || len(problems) > 0 { // what cannot be listed may be there
		return nil, nil, err
	}
	there := map[string]bool{}
	for _, path := range transcripts {
		there[strings.TrimSuffix(filepath.Base(path), ".jsonl")] = true
	}
	all := map[string]*typed{}
	problems, err = jsonl.Scan(ctx, r, file, func([]byte) bool { return true }, func(_ int, line []byte) bool {
		v := gjson.ParseBytes(line)
		id, display, ms := v.Get("sessionId").Str, v.Get("display").Str, v.Get("timestamp")
		if id == "" || len(id) > maxID || strings.ContainsAny(id, "/\\#\n\r\x00") || there[id] || ms.Type != gjson.Number {
			return true
		}
		t := all[id]
		if t == nil {
			t = &typed{id: strings.Clone(id)}
			all[t.id] = t
		}
		if folder := v.Get("project").Str; folder != "" && !slices.Contains(t.folders, folder) {
			t.folders = append(t.folders, strings.Clone(folder))
		}
		if len(t.prompts) < maxTyped {
			t.prompts = append(t.prompts, prompt{time.UnixMilli(ms.Int()).UTC(), strings.Clone(display)})
		}
		return true
	})
	var sessions []*typed
	for _, t := range all {
		slices.SortStableFunc(t.prompts, func(a, b prompt) int { return a.at.Compare(b.at) })
		t.prompts = slices.Compact(t.prompts)
		sessions = append(sessions, t)
	}
	slices.SortFunc(sessions, func(a, b *typed) int {
		if c := a.prompts[0].at.Compare(b.prompts[0].at); c != 0 {
			return c
		}
		return strings.Compare(a.id, b.id)
	})
	return sessions, problems, err
}

// session is what is kept of t, nil if nothing is.
func (t *typed) session(path string, o harvest.Options) *harvest.Session {
	d := harvest.NewDraft(HistoryAgent, t.id, path, o)
	d.Vendor = harvest.UnknownVendor
	if d.In(t.folders...); len(t.folders) > 0 {
		d.CWD = t.folders[0]
	}
	for _, p := range t.prompts {
		text := words(p.text)
		if text == "" {
			continue
		}
		d.During(p.at)
		d.Turns = append(d.Turns, harvest.Turn{Time: p.at, Prompt: d.Typed(text)})
	}
	return d.Finish(nil, nil)
}

// pasted matches the placeholder that the program shows for pasted text. The text itself is
// not in the file.
var pasted = lazyregexp.New(`\[(?:Pasted text|Image|\.\.\.Truncated text) #\d+[^\]\n]*\]`)

// paste stands where something was pasted.
const paste = "[…]"

// words are those of a prompt that a person typed for the agent, "" if none: a command of
// the program or of the shell is not for the agent.
func words(display string) string {
	text := human(display)
	if strings.HasPrefix(text, "!") {
		return ""
	}
	if name, ok := harvest.SlashCommand(text); ok && builtin(name) {
		return ""
	}
	if strings.TrimSpace(pasted.ReplaceAllString(text, "")) == "" {
		return ""
	}
	return pasted.ReplaceAllString(text, paste)
}
