package replay

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// systemPath are the folders of PATH that belong to the system, in order.
var systemPath = []string{"/opt/homebrew/bin", "/usr/local/bin", "/usr/local/sbin", "/usr/bin", "/usr/sbin", "/bin", "/sbin"}

// Env is all of the child's environment; only the language and the time zone are
// inherited: PATH (what the program needs, then the system's folders), HOME and TMPDIR
// of the stage, what was prepared for the workspace, then Credentials and Env of c, then extra. Of two values for one name
// only the later is returned.
func (s *Stage) Env(c Config, extra ...string) []string {
	path := slices.Clone(s.layout.Program.Dirs)
	for _, dir := range systemPath {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			path = append(path, dir)
		}
	}
	env := []string{
		"PATH=" + strings.Join(path, string(filepath.ListSeparator)),
		"HOME=" + s.Home,
		"TMPDIR=" + s.Temp,
		"USER=evolve", "LOGNAME=evolve",
		"SHELL=/bin/sh",
		"TERM=dumb",
	}
	if _, err := os.Stat("/bin/bash"); err == nil {
		env[5] = "SHELL=/bin/bash"
	}
	for _, name := range []string{"LANG", "LC_ALL", "TZ"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	if s.task.Prepared != nil {
		env = append(env, s.task.Prepared.Env...)
	}
	return last(slices.Concat(env, c.Credentials, c.Env, extra))
}

// last keeps, of several values for one name, the last one, in the place of the
// first.
func last(env []string) []string {
	at := make(map[string]int, len(env))
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if i, twice := at[name]; twice {
			out[i] = kv
			continue
		}
		at[name] = len(out)
		out = append(out, kv)
	}
	return out
}
