package script

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, name string
		want       Language
	}{
		{"#!/bin/sh\n", "x.py", Shell},
		{"#!/usr/bin/env bash", "", Shell},
		{"#! /usr/bin/python3.12 -I\n", "", Python},
		{"#!/usr/bin/env -S A=1 python3 -I\n", "", Python},
		{"#!/usr/bin/env -S uv run --script\n", "", Python},
		{"#!/usr/bin/env node\n", "x.sh", JavaScript},
		{"#!/usr/bin/perl\n", "x.py", ""},
		{"#!\n", "x.py", ""},
		{"import os\n", "hooks/Guard.PY", Python},
		{"", "guard.mjs", JavaScript},
		{"", "guard.bash", Shell},
		{"", "guard", ""},
	} {
		if got := Of([]byte(c.text), c.name); got != c.want {
			t.Errorf("Of(%q, %q) = %q, want %q", c.text, c.name, got, c.want)
		}
	}
}

func TestKernel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		lang Language
		want string // the spans' texts, or the error
	}{
		{"#!/bin/sh\na\n# kernel\nb\n# /kernel\nc\n", Shell, "#!/bin/sh\n|# kernel\nb\n# /kernel\n"},
		{"a\n  //kernel\nb\n\t// /Kernel", JavaScript, "  //kernel\nb\n\t// /Kernel"},
		{"# kernel\n", JavaScript, ""},
		{"x = '''\n# kernel\n'''\n# /kernel\n", Python, "# kernel\n'''\n# /kernel\n"},
		{"# kernels\n# my kernel\n", Python, ""},
		{"a\n# kernel\n# kernel\n", Shell, "line 3: a kernel begins inside the kernel of line 2"},
		{"a\n# /kernel\n", Shell, "line 2: a kernel ends that did not begin"},
		{"a\n# kernel\nb", Shell, "line 2: this kernel does not end"},
	} {
		spans, err := Kernel([]byte(c.text), c.lang)
		var got []string
		for _, s := range spans {
			got = append(got, c.text[s.Start:s.End])
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q: %q, want %q", c.text, strings.Join(got, "|"), c.want)
		}
	}
}

// TestUndecided: what cannot be compared is an error, not a text without findings.
func TestUndecided(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Check(t.Context(), []byte("a = 1\n"), []byte("a = 2\n"), Python); err == nil || !strings.Contains(err.Error(), "no python3 on the PATH") {
		t.Errorf("without python3: %v", err)
	}
	for _, parent := range []string{"if", "a\n# kernel\n"} {
		if _, err := Check(t.Context(), []byte(parent), []byte("a\n"), Shell); err == nil || !strings.Contains(err.Error(), "parent") {
			t.Errorf("a parent %q: %v", parent, err)
		}
	}
	if _, err := Check(t.Context(), []byte("a\n"), []byte("b\n"), "perl"); err == nil {
		t.Error("a language that is unknown is checked")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Check(ctx, []byte("a\n"), []byte("b\n"), Shell); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// TestSyntaxLine: a text that cannot be parsed is refused at its line.
func TestSyntaxLine(t *testing.T) {
	t.Parallel()
	for lang, text := range map[Language]string{Shell: "a\nif\n", JavaScript: "a;\nb(;\n", Python: "a = 1\nb = (\n"} {
		found := check(t, "a\n", text, lang)
		if len(found) != 1 || found[0].Rule != "syntax" || found[0].Kind != Refused || found[0].Line < 2 {
			t.Errorf("%s: %+v", lang, found)
		}
	}
	if found := check(t, "a\n", "a\n\necho ${${x}}\n", Shell); len(found) != 1 || found[0].Line != 3 {
		t.Errorf("another shell's syntax: %+v", found)
	}
}

// TestDependencies: some programs install what a comment asks for.
func TestDependencies(t *testing.T) {
	t.Parallel()
	parent := "#!/usr/bin/env -S uv run --script\n# /// script\n# dependencies = [\"requests\"]\n# ///\nx = 1\n"
	found := check(t, parent, strings.Replace(parent, "requests", "requestz", 1), Python)
	if len(found) != 1 || found[0].Rule != "dependencies" || found[0].Kind != Held {
		t.Errorf("%+v", found)
	}
}
