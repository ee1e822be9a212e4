package skill

import (
	"bytes"

	"github.com/skill-evolve/evolve/mutate/script"
)

// parseScript reads the script of a hook: all of it is text before an empty body, so nothing
// that reads Markdown finds any in it.
func (d *Document) parseScript() *SyntaxError {
	d.body = len(d.raw)
	d.md, _ = readOutline(nil, 0)
	if d.Language() == "" {
		return &SyntaxError{Line: 1, Msg: "it is no script in sh, Python or JavaScript, and no rule file: neither its first line nor its name says so"}
	}
	spans, err := script.Kernel(d.raw, d.Language())
	if err != nil {
		return &SyntaxError{Line: 1, Msg: err.Error()}
	}
	for _, s := range spans {
		d.spans = append(d.spans, Span{Start: s.Start, End: s.End, Line: 1 + bytes.Count(d.raw[:s.Start], []byte("\n"))})
	}
	return nil
}

// Language is that of a hook's script.
func (d *Document) Language() script.Language { return script.Of(d.raw, d.opts.Script) }
