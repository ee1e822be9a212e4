package agenttest

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// play repeats the actions of the nth recorded child; the last is repeated for ever.
func (p *part) play(dir string, nth int, args []string) (int, error) {
	var all []take
	if err := readJSON(p.Recording, &all); err != nil {
		return 0, err
	}
	version := asksVersion(args)
	all = slices.DeleteFunc(all, func(k take) bool { return k.version() != version })
	if len(all) == 0 {
		return 0, fmt.Errorf("nothing is recorded for %q", args)
	}
	k := &all[min(nth, len(all)-1)]
	stdin := ""
	if len(k.Frames) == 0 {
		b, err := io.ReadAll(os.Stdin)
		if err != nil {
			return 0, err
		}
		stdin = string(b)
	}
	workspace, private := folders(args, stdin)
	p.Names["{workspace}"], p.Names["{private}"] = workspace, private
	if note := differences(p.asked(k.Args, k.Stdin), p.asked(args, stdin)); note != "" {
		// The test reports the difference; whatever is played may not be what the
		// program would print now.
		if err := os.WriteFile(filepath.Join(dir, "differs.txt"), []byte(note), 0o600); err != nil {
			return 0, err
		}
	}
	if err := p.change(workspace, k.Files, k.Removed); err != nil {
		return 0, err
	}
	if err := p.change(private, k.Kept, nil); err != nil {
		return 0, err
	}
	if version {
		p.Scene = acting{}
	}
	if p.Scene.Deaf {
		signal.Ignore(syscall.SIGTERM)
	}
	if p.Scene.Run != "" {
		tool := exec.Command("sh", "-c", p.fill(p.Scene.Run))
		if err := tool.Start(); err != nil {
			return 0, err
		}
	}
	// If the parent is gone, SIGPIPE ends this process, as it would the real one.
	fmt.Fprint(os.Stderr, p.fill(k.Stderr))
	if len(k.Frames) > 0 {
		return k.Exit, p.converse(k)
	}
	out := bufio.NewWriter(os.Stdout)
	for i, line := range k.Stdout {
		if i > 0 {
			out.WriteByte('\n')
		}
		if i == 1 && p.Scene.Flood > 0 {
			flood(out, p.Scene.Flood)
		}
		out.WriteString(p.fill(line))
	}
	if err := out.Flush(); err != nil {
		return 0, err
	}
	if p.Scene.Hang || k.Exit < 0 {
		p.hang()
	}
	return k.Exit, nil
}

func flood(w io.Writer, n int) {
	z := []byte(strings.Repeat("z", 1<<16))
	for ; n > 0; n -= len(z) {
		_, _ = w.Write(z[:min(n, len(z))])
	}
	_, _ = w.Write([]byte("\n"))
}

// hang waits to be killed.
func (p *part) hang() {
	if p.Scene.Hang {
		// The server answers when the test is over, if ever.
		res, err := http.Get(p.Server + playerHangs)
		if err == nil {
			_ = res.Body.Close()
		}
	}
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // or all would be asleep
	select {}
}

// change does to a folder what the recorded child did.
func (p *part) change(dir string, files map[string]string, removed []string) error {
	if dir == "" || len(files)+len(removed) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, text := range files {
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := root.WriteFile(name, []byte(p.fill(text)), 0o600); err != nil {
			return err
		}
	}
	for _, name := range removed {
		if err := root.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// asked is how a child was called, in a form that is the same on all machines.
func (p *part) asked(args []string, stdin string) string {
	return anyID.ReplaceAllString(p.blank(strings.Join(args, "\n")+"\n--\n"+stdin), "{id}")
}

// differences lists the lines that occur in one text only.
func differences(then, now string) string {
	var b strings.Builder
	tell := func(sign, in, other string) {
		known := strings.Split(other, "\n")
		for line := range strings.SplitSeq(in, "\n") {
			if !slices.Contains(known, line) {
				fmt.Fprintf(&b, "%s %s\n", sign, line)
			}
		}
	}
	if tell("-", then, now); then != now {
		tell("+", now, then)
		if b.Len() == 0 {
			b.WriteString("the same lines in another order\n")
		}
	}
	return b.String()
}

var (
	anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	// A path that a program flattened into one word.
	flatFolder = regexp.MustCompile(`[-_0-9A-Za-z]*evolve-(case|replay)-[0-9A-Za-z]+`)
)

// blank replaces what is specific to this machine by placeholders.
func (p *part) blank(s string) string {
	s = privateFolder.ReplaceAllString(caseFolder.ReplaceAllString(s, "{workspace}"), "{private}")
	s = flatFolder.ReplaceAllString(s, "{$1}")
	for _, name := range longestFirst(p.Names) {
		if value := p.Names[name]; value != "" {
			s = strings.ReplaceAll(s, value, name)
		}
	}
	return s
}

// fill is the reverse of blank.
func (p *part) fill(s string) string {
	for name, value := range p.Names {
		s = strings.ReplaceAll(s, name, value)
	}
	return s
}

// longestFirst sorts the names by the length of their values.
func longestFirst(names map[string]string) []string {
	var out []string
	for name := range names {
		out = append(out, name)
	}
	slices.SortFunc(out, func(a, b string) int {
		if d := len(names[b]) - len(names[a]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return out
}

// walkFiles calls f with every regular file below root.
func walkFiles(root fs.FS, f func(name string, text []byte)) error {
	return fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		f(name, text)
		return nil
	})
}
