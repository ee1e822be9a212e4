package handoff

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fields"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// maxAnswer is how long an answer may be, in bytes.
const maxAnswer = 16 << 20

// An answer is the content of answer.json, or of answer.md.
type answer struct {
	ID      string      `json:"id"` // of the request; the answer to another request is refused
	Answer  string      `json:"answer"`
	Failure string      `json:"failure"`
	Skills  *[]string   `json:"skills"`
	Trace   []call      `json:"trace"`
	Turns   int         `json:"turns"`
	Usage   *eval.Usage `json:"usage"`
	CostUSD *float64    `json:"cost_usd"`

	id, dir string
	taken   bool // already put away
}

// A call is an eval.ToolCall.
type call struct {
	Name   string `json:"name"`
	Input  string `json:"input"`
	Failed bool   `json:"failed"`
}

// unusable is a fault of an answer. The answer is not taken, and its author may correct
// it.
type unusable struct{ error }

func (u unusable) Unwrap() error { return u.error }

// A stamp changes when the files of an answer do.
type stamp struct {
	sizes [2]int64 // -1 if there is none
	times [2]int64 // Unix nanoseconds
}

// age is the time since the files changed, by their own times.
func (s stamp) age() time.Duration {
	return time.Since(time.Unix(0, max(s.times[0], s.times[1])))
}

// read reads the answer in the folder of a request; nil if there is none. The error is
// unusable if it is the author's fault.
func read(dir, id string) (*answer, stamp, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, stamp{}, err
	}
	defer root.Close()
	at := stamp{sizes: [2]int64{-1, -1}}
	var texts [2]string
	for i, name := range []string{answerText, answerData} {
		info, err := root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, at, err
		case !info.Mode().IsRegular():
			return nil, at, unusable{fmt.Errorf("%s is no regular file", name)}
		}
		at.sizes[i], at.times[i] = info.Size(), info.ModTime().UnixNano()
		if texts[i], err = readText(root, name); err != nil {
			return nil, at, err
		}
	}
	out := &answer{id: id, dir: dir}
	if strings.TrimSpace(texts[1]) != "" {
		if err := out.decode(texts[1]); err != nil {
			return nil, at, unusable{fmt.Errorf("%s: %w", answerData, err)}
		}
	}
	if out.Answer == "" {
		out.Answer = strings.TrimRight(texts[0], "\r\n") // an editor's last line
	}
	if strings.TrimSpace(out.Answer) == "" && out.Failure == "" {
		if strings.TrimSpace(texts[1]) != "" {
			return nil, at, unusable{fmt.Errorf("%s has no answer and no failure, and there is nothing in %s", answerData, answerText)}
		}
		return nil, at, nil
	}
	return out, at, nil
}

func readText(root *os.Root, name string) (string, error) {
	text, err := bounded.ReadFileIn(root, name, maxAnswer)
	large, ok := errors.AsType[*bounded.TooLargeError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil // renamed meanwhile
	case ok:
		return "", unusable{fmt.Errorf("%s is %w", name, large)}
	case err != nil:
		return "", err
	case !utf8.Valid(text):
		return "", unusable{fmt.Errorf("%s is no UTF-8", name)}
	}
	return strings.TrimPrefix(string(text), "\ufeff"), nil
}

func (a *answer) decode(text string) error {
	if err := fields.Decode([]byte(text), a); err != nil {
		return err
	}
	switch {
	case a.ID != "" && a.ID != a.id:
		return fmt.Errorf("it belongs to request %s", a.ID)
	case a.Turns < 0:
		return errors.New("turns is negative")
	case a.CostUSD != nil && *a.CostUSD < 0:
		return errors.New("cost_usd is negative")
	}
	return a.Usage.Check()
}

func isInfra(err error) bool { return errors.As(err, new(*eval.InfraError)) }
