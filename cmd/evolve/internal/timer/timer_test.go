package timer

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hard are words that something on the way could take for its own.
var hard = []string{"a b", " lead", "100%", "%h/x%%", "it's", `say "hi"`, "$HOME", "${A}", "$$", "`id`", "*", "~", ";", "#x", "äöü ☾", "<&>", "--x=y z", ""}

func hardTimer(kind, program string) *Timer {
	return &Timer{Kind: kind, Hour: 3, Minute: 7, Program: program, Args: append([]string{"sleep", "run", "--quiet"}, hard...),
		Env: []string{"A=" + strings.Join(hard, "|"), "EMPTY=", "PATH=/usr/bin:/bin"}}
}

// systemdWords splits a line by systemd.syntax(7): quotes, escapes of C, %%
// for a percent sign.
func systemdWords(t *testing.T, line string) (words []string) {
	t.Helper()
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		if line[0] != '"' {
			t.Fatalf("no quote before %s", line)
		}
		var b strings.Builder
		i := 1
		for ; line[i] != '"'; i++ {
			switch two := line[i : i+2]; {
			case two == `\\` || two == `\"` || two == "%%":
				b.WriteByte(two[1])
				i++
			case line[i] == '\\' || line[i] == '%':
				t.Fatalf("%s means something else", two)
			default:
				b.WriteByte(line[i])
			}
		}
		words, line = append(words, b.String()), line[i+1:]
	}
	return words
}

func TestTimerOfSystemd(t *testing.T) {
	program := filepath.Join(t.TempDir(), `a b 5% $HOME ü`, "evolve")
	u := hardTimer(Systemd, program)
	unit := u.fill(serviceUnit)
	var exec, env []string
	for line := range strings.Lines(unit) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "ExecStart="); ok {
			exec = systemdWords(t, rest)
		}
		if rest, ok := strings.CutPrefix(line, "Environment="); ok {
			env = append(env, systemdWords(t, rest)...)
		}
	}
	for i := range exec[1:] { // ${A} and $A are put in, but not into the program's path
		if strings.Contains(strings.ReplaceAll(exec[i+1], "$$", ""), "$") {
			t.Errorf("a variable is left in %q", exec[i+1])
		}
		exec[i+1] = strings.ReplaceAll(exec[i+1], "$$", "$")
	}
	if want := append([]string{program}, u.Args...); !slices.Equal(exec, want) {
		t.Errorf("starts %q, want %q", exec, want)
	}
	if !slices.Equal(env, u.Env) {
		t.Errorf("environment %q, want %q", env, u.Env)
	}
	verifyUnit(t, program, unit)
}

// verifyUnit lets systemd itself read a unit: it reports what it does not
// understand, and missing programs.
func verifyUnit(t *testing.T, program, unit string) {
	t.Helper()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return
	}
	file := filepath.Join(t.TempDir(), unitName+".service")
	if err := os.WriteFile(file, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	verify := func() string {
		c := exec.Command(analyze, "verify", "--user", "--man=no", "--recursive-errors=no", file)
		c.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		out, err := c.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out)
	}
	if out := verify(); !strings.Contains(out, "is not executable") {
		t.Logf("systemd-analyze does not look at units here: %s", out)
		return
	}
	if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out := verify(); strings.Contains(out, unitName) {
		t.Errorf("systemd: %s", out)
	}
}

func TestTimerOfLaunchd(t *testing.T) {
	u := hardTimer(Launchd, "/a & b/<evolve>")
	d := xml.NewDecoder(strings.NewReader(u.fill(launchAgent)))
	var got []string
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := tok.(xml.StartElement); ok && (s.Name.Local == "string" || s.Name.Local == "key") {
			var text string
			if err := d.DecodeElement(&text, &s); err != nil {
				t.Fatal(err)
			}
			got = append(got, text)
		}
	}
	want := slices.Concat([]string{"Label", agentName, "ProgramArguments", u.Program}, u.Args, []string{"EnvironmentVariables"})
	for _, e := range u.Env {
		name, value, _ := strings.Cut(e, "=")
		want = append(want, name, value)
	}
	if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
		t.Errorf("says %q, want %q", got, want)
	}
}

// cronCommand is what Vixie's cron hands to the shell (do_command.c): all up to
// the first % without a backslash before it.
func cronCommand(line string) string {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' && i+1 < len(line) && line[i+1] == '%' {
			i++
		} else if line[i] == '%' {
			break
		}
		b.WriteByte(line[i])
	}
	return b.String()
}

func TestTimerOfCron(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	program := filepath.Join(t.TempDir(), "it's 5% \"ü\"", "evolve")
	if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '%s\\0' \"$@\" \"$A\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	u := hardTimer(Cron, program)
	if err := u.Check(); err != nil {
		t.Fatal(err)
	}
	line, ok := strings.CutPrefix(u.cronLine(), "7 3 * * * ")
	if !ok {
		t.Fatalf("line %s", line)
	}
	c := exec.Command(sh, "-c", cronCommand(line))
	c.Env = []string{"PATH=/usr/bin:/bin"}
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := append(slices.Clone(u.Args), strings.TrimPrefix(u.Env[0], "A="))
	if got := strings.Split(string(bytes.TrimSuffix(out, []byte{0})), "\x00"); !slices.Equal(got, want) {
		t.Errorf("started with %q, want %q", got, want)
	}
}

func TestTimerRefuses(t *testing.T) {
	for _, c := range []struct{ kind, word, want string }{
		{Systemd, "a\nb", "line break"}, {Launchd, "a\x01", "line break"}, {Launchd, "\xff", "line break"},
		{Cron, `a\b`, "backslash"}, {Cron, strings.Repeat("long", 300), "too long for cron"},
	} {
		u := &Timer{Kind: c.kind, Program: "/evolve", Args: []string{c.word}}
		if err := u.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v", c.kind, c.word, err)
		}
	}
	if err := (&Timer{Kind: Systemd, Program: "/evolve", Args: []string{`a\b"'`}}).Check(); err != nil {
		t.Error(err)
	}
	for _, p := range []string{`/a\b`, `/a"b`, "/it's"} {
		if err := (&Timer{Kind: Systemd, Program: p}).Check(); err == nil || !strings.Contains(err.Error(), "systemd starts no program") {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// A crontab is given back as it was, whatever its owner did to our two lines.
func TestWithoutMark(t *testing.T) {
	line := hardTimer(Cron, "/usr/bin/evolve").cronLine() + "\n"
	for _, c := range []struct{ name, tab, want string }{
		{"ours alone", cronMark + "\n" + line, ""},
		{"between others", "MAILTO=me\n" + cronMark + "\n" + line + "0 5 * * * backup\n", "MAILTO=me\n0 5 * * * backup\n"},
		{"the owner has taken the second line", cronMark + "\n0 5 * * * backup\n", "0 5 * * * backup\n"},
		{"and nothing follows", "0 5 * * * backup\n" + cronMark, "0 5 * * * backup\n"},
		{"twice", cronMark + "\n" + line + cronMark + "\n" + line, ""},
		{"a night of the owner's own", "0 5 * * * evolve sleep run --quiet\n", "0 5 * * * evolve sleep run --quiet\n"},
	} {
		if got := withoutMark(c.tab); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// What a program that hangs has started ends with it.
func TestCallLeavesNothing(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { // reads until nobody can write any more
		f, err := os.Open(pipe)
		if err == nil {
			defer f.Close()
			_, err = io.ReadFull(f, make([]byte, 1))
			cancel()
		}
		if err == nil {
			_, err = io.ReadAll(f)
		}
		ended <- err
	}()
	if err := call(ctx, time.Minute, sh, "-c", `exec 3>"$1"; sleep 600 & echo >&3; wait`, "sh", pipe); err == nil {
		t.Error("it ended by itself")
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("what it started still runs")
	}
}

// A system that hangs must not hang us.
func TestCallEnds(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	if err := call(t.Context(), 10*time.Millisecond, sh, "-c", "sleep 600"); err == nil || !strings.Contains(err.Error(), "no answer in 10ms") {
		t.Error(err)
	}
	if err := call(t.Context(), time.Minute, sh, "-c", "echo no >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "exit status 3: no") {
		t.Error(err)
	}
	if err := call(t.Context(), time.Minute, sh, "-c", "echo no; exit 3"); err == nil || !strings.Contains(err.Error(), "exit status 3: no") {
		t.Error(err)
	}
}
