package plain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp/syntax"
	"strconv"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"
)

// Error is an error's text for a person. Go and its libraries describe an error by their
// calls and types ("open x: no such file or directory"); these parts are put in plain
// words, and the rest stays as it is.
func Error(err error) string {
	text := err.Error()
	for _, e := range chain(err) {
		if in := inWords(e); in != "" {
			text = strings.ReplaceAll(text, e.Error(), in)
		}
	}
	return strings.ReplaceAll(text, ": yaml: ", ": this is no YAML: ") // a syntax error has no type
}

// chain is err and all that it wraps, the outermost first.
func chain(err error) []error {
	out := []error{err}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			out = append(out, chain(inner)...)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			out = append(out, chain(inner)...)
		}
	}
	return out
}

// inWords is what a library's error means, "" for any other error.
func inWords(err error) string {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Path + ": " + cause(e.Err)
	case *os.LinkError:
		return e.New + ": " + cause(e.Err)
	case *exec.Error:
		if errors.Is(e.Err, exec.ErrNotFound) {
			return "there is no program " + e.Name + " on the PATH"
		}
		return inWords(e.Err)
	case syscall.Errno:
		return cause(e)
	case *strconv.NumError:
		return fmt.Sprintf("%q is no number that fits here", e.Num)
	case *syntax.Error:
		return fmt.Sprintf("no regular expression: %s: `%s`", e.Code, e.Expr)
	case *json.UnmarshalTypeError, *json.SyntaxError:
		return JSON(err).Error()
	case *yaml.TypeError:
		lines := make([]string, len(e.Errors))
		for i, s := range e.Errors {
			lines[i] = ofYAML(s)
		}
		return strings.Join(lines, "; ")
	}
	return ""
}

// cause is why the system did not do something with a path.
func cause(err error) string {
	switch {
	case errors.Is(err, syscall.ENOENT):
		return "there is no such file or folder"
	case errors.Is(err, syscall.ENOTDIR):
		return "a part of the path is no folder"
	case errors.Is(err, syscall.EISDIR):
		return "it is a folder"
	case errors.Is(err, syscall.EEXIST):
		return "it is there already"
	}
	return err.Error()
}

// ofYAML is one of a decoder's errors ("line 3: field x not found in type main.Config").
func ofYAML(s string) string {
	if at, rest, ok := strings.Cut(s, ": field "); ok {
		if field, _, ok := strings.Cut(rest, " not found in type "); ok {
			return fmt.Sprintf("%s: unknown key %q", at, field)
		}
	}
	if at, rest, ok := strings.Cut(s, ": cannot unmarshal !!"); ok {
		if i := strings.LastIndex(rest, " into "); i > 0 {
			_, value, _ := strings.Cut(rest[:i], " ")
			return fmt.Sprintf("%s: %s cannot be a value here", at, value)
		}
	}
	return s
}
