package handoff

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// Names in the folder of a request.
const (
	requestText = "request.md"
	requestData = "request.json"
	workspace   = "workspace"
	skills      = "skills"
	answerText  = "answer.md"
	answerData  = "answer.json"
)

// The kinds of a request.
const (
	kindTask     = "task"
	kindComplete = "complete"
)

// A request is request.json: the same as request.md, for programs.
type request struct {
	Evolve int       `json:"evolve"` // version of this format: 1
	ID     string    `json:"id"`
	Kind   string    `json:"kind"`
	Run    string    `json:"run,omitempty"`
	Asked  time.Time `json:"asked"`
	Title  string    `json:"title"` // the beginning of what is asked, one line

	Case string `json:"case,omitempty"`
	// Skill is to be used. If that is left to the answerer, it is "" and Skills are
	// offered, without showing which of them is under test.
	Skill  string   `json:"skill,omitempty"`
	Skills []string `json:"skills,omitempty"`

	// Instructions is the path of a file of standing instructions that holds for the request.
	Instructions string `json:"instructions,omitempty"`

	System    string `json:"system,omitempty"`
	Prompt    string `json:"prompt"`
	MaxTokens int    `json:"max_tokens,omitempty"`

	text string // of the skill's SKILL.md, or of the instructions
}

//go:embed request.md.tmpl
var requestTemplate string

var requestMD = sync.OnceValue(func() *template.Template {
	return template.Must(template.New(requestText).Funcs(template.FuncMap{"fence": fence}).Parse(requestTemplate))
})

// identify names a request by everything that can change its answer, so that a resumed
// run finds its earlier requests.
func (a *Agent) identify(content ...any) string {
	text, err := json.Marshal([]any{"handoff/1", a.Identity(), content})
	if err != nil {
		panic("handoff: request: " + err.Error()) // strings and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:idLength/2])
}

// idLength is the number of hex digits of a request's name.
const idLength = 12

func (a *Agent) task(t eval.Task) *request {
	c := t.Case
	var others []string
	for _, o := range t.Others {
		others = append(others, o.Name)
	}
	r := &request{Evolve: 1, Kind: kindTask, Run: a.c.Run, Case: c.ID,
		ID: a.identify(kindTask, t.Variant.Name, t.Variant.SHA(), t.Variant.Rest, others, c.ID, c.Prompt, c.Context,
			c.Files, c.Workspace, c.ShouldTrigger, t.Prior, t.Seed)}
	r.Title = title(a.clean(c.Prompt))
	r.Prompt = a.clean(strings.TrimSpace(replay.Prompt(t, "")))
	if t.Variant.Doc != nil && t.Variant.Path != "" {
		r.Instructions, r.text = replay.Path(t), a.clean(string(t.Variant.Doc.Render()))
	}
	if t.Variant.IsSkill() {
		r.Skills = append(r.Skills, t.Variant.Name)
		if c.ShouldTrigger == nil {
			r.Skill, r.text = t.Variant.Name, a.clean(string(t.Variant.Doc.Render()))
		}
	}
	r.Skills = append(r.Skills, others...)
	slices.Sort(r.Skills)
	return r
}

func (a *Agent) prompt(p eval.Prompt) *request {
	r := &request{Evolve: 1, Kind: kindComplete, Run: a.c.Run, ID: a.identify(kindComplete, p.System, p.User, p.MaxTokens, p.Seed),
		System: a.clean(p.System), Prompt: strings.TrimSpace(a.clean(p.User)), MaxTokens: p.MaxTokens}
	// What a prompt asks for stands last; prompts of one kind begin alike.
	r.Title = title(r.Prompt[strings.LastIndex(r.Prompt, "\n")+1:])
	return r
}

func (a *Agent) clean(text string) string {
	if a.c.Redactor == nil || text == "" {
		return text
	}
	text, _ = a.c.Redactor.Redact(text)
	return text
}

// put makes the folder of a request, whole or not at all; if another process has made
// the same request meanwhile, that is kept. t is nil for a prompt.
func (a *Agent) put(r *request, t *eval.Task) (err error) {
	defer func() {
		if err != nil && !isInfra(err) {
			err = fmt.Errorf("put request %s: %w", r.ID, err)
		}
	}()
	dir, err := os.MkdirTemp(a.c.Dir, newPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // gone, if all went well
	r.Asked = time.Now().UTC()
	var offers []offer
	if t != nil {
		s, err := replay.Open(*t, replay.Layout{})
		if err != nil {
			return err
		}
		defer func() { _ = s.Close() }()
		if err := mirror(filepath.Join(dir, workspace), s.Workspace); err != nil {
			return err
		}
		if len(r.Skills) > 0 {
			if err := mirror(filepath.Join(dir, skills), s.Skills); err != nil {
				return err
			}
			if offers, err = a.offers(r.Skills, s.Skills); err != nil {
				return err
			}
		}
	}
	var md strings.Builder
	if err := requestMD().Execute(&md, struct {
		*request
		Text, Quiet string
		Offers      []offer
		Workspace   bool
	}{r, r.text, a.c.Quiet.String(), offers, t != nil}); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{requestText: []byte(md.String()), requestData: append(data, '\n')} {
		if err := writeSynced(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	return a.box.add(r.ID, dir)
}

// An offer is what an agent sees of a skill before it loads it.
type offer struct{ Name, Description string }

func (a *Agent) offers(names []string, dir string) ([]offer, error) {
	var out []offer
	for _, name := range names {
		text, err := skill.ReadFile(filepath.Join(dir, name, skill.FileName))
		if err != nil {
			return nil, err
		}
		o := offer{Name: name}
		if doc, err := skill.Parse(text, skill.Options{}); err == nil {
			o.Description = a.clean(strings.Join(strings.Fields(doc.Description()), " "))
		}
		out = append(out, o)
	}
	return out, nil
}

func writeSynced(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// fence encloses a text in a code fence that none of its own lines can close.
func fence(text string) string {
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + "\n" + strings.TrimSuffix(text, "\n") + "\n" + mark
}
