package page

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
)

// A Frame makes pages that look like the reports but are not single files:
// from its own templates, which may use the parts and the functions of the
// reports' ("said", "diff", "warnings", "svg"; plain, short, when …), and
// from a report's body.
type Frame struct{ t *template.Template }

// NewFrame reads templates and adds functions to the reports' own.
func NewFrame(files fs.FS, more template.FuncMap, patterns ...string) (*Frame, error) {
	t, err := parseTemplates().Funcs(more).ParseFS(files, patterns...)
	if err != nil {
		return nil, fmt.Errorf("read templates: %w", err)
	}
	return &Frame{t}, nil
}

// Render executes one of the frame's templates. A half-rendered page is never
// written.
func (f *Frame) Render(w io.Writer, name string, v any) error {
	var b bytes.Buffer
	if err := f.t.ExecuteTemplate(&b, name, v); err != nil {
		return fmt.Errorf("render page: %w", err)
	}
	if _, err := b.WriteTo(w); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// Style is the reports' style sheet.
func Style() string { return style() }

// Body is the content of a report, for a frame that has its own head:
// everything between the link that skips to the content and the footer.
func Body(write func(io.Writer) error) (template.HTML, error) {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return "", err
	}
	_, body, ok := bytes.Cut(b.Bytes(), []byte(`<a class="skip" href="#main">Skip to the content</a>`))
	end := bytes.LastIndex(body, []byte("<footer>"))
	if !ok || end < 0 {
		return "", errors.New("render page: the report has no body")
	}
	return template.HTML(body[:end]), nil //nolint:gosec // html/template has written it
}
