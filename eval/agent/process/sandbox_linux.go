package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// insidePath is the path of this program in a sandbox that has hosts.
const insidePath = "/run/evolve"

// sandboxTool finds bwrap.
var sandboxTool = sync.OnceValues(func() (string, error) { return exec.LookPath("bwrap") })

// A box is a sandbox that is prepared for one child.
type box struct {
	relay  *relay // nil without hosts
	theirs []*os.File
	limits Limits
	scope  string // the unit of systemd that bounds it; "" for none

	mu      sync.Mutex
	status  *os.File // bwrap's reports on the child, as JSON documents
	told    []byte   // read from status so far
	group   string   // the folder of the unit's cgroup, once it is known
	ended   string   // the limit that ended it
	watcher sync.WaitGroup
}

// openBox makes cmd the command that runs c in its sandbox.
func openBox(c *Command) (cmd *exec.Cmd, b *box, err error) {
	if err := c.Sandbox.check(); err != nil {
		return nil, nil, err
	}
	bwrap, err := sandboxTool()
	if err != nil {
		return nil, nil, trySandbox()
	}
	b = &box{limits: c.Sandbox.limits()}
	defer func() {
		if err != nil {
			b.started()
			b.close()
		}
	}()
	// pass gives the child a file, and returns its number there.
	pass := func(f *os.File) string {
		b.theirs = append(b.theirs, f)
		return strconv.Itoa(2 + len(b.theirs))
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	b.status = r
	rs, err := routes(c.Sandbox.Hosts)
	if err != nil {
		return nil, nil, err
	}
	uid, gid := identity()
	args := append(namespaces(), "--json-status-fd", pass(w))
	args = append(append(args, systemFolders()...), temporary(b.limits)...)
	for _, file := range etc(rs, uid, gid, c.Env) {
		f, err := contents(file.text)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, "--file", pass(f), file.name)
	}
	args = append(args, binds(c.Sandbox)...)
	env, run := c.Env, append([]string{c.Path}, c.Args...)
	if env == nil {
		env = []string{} // nil would inherit ours
	}
	if len(rs) > 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, nil, err
		}
		theirs, err := b.listen(rs, c.Sandbox.Dial)
		if err != nil {
			return nil, nil, err
		}
		e, caps := newErrand(rs)
		e.Path, e.UID, e.GID = c.Path, uid, gid
		if e.Socket, err = strconv.Atoi(pass(theirs)); err != nil {
			return nil, nil, err
		}
		args = append(append(args, "--ro-bind", self, insidePath), caps...)
		env, run[0] = append(slices.Clip(env), e.env()), insidePath
		uid, gid = 0, 0
	} else {
		filter, err := filterFile()
		if err != nil {
			return nil, nil, err
		}
		args = append(args, "--seccomp", pass(filter))
	}
	dir := c.Dir
	if dir == "" {
		dir = "/"
	}
	// Last, or the mount points above could not be made.
	args = append(args, "--uid", strconv.Itoa(uid), "--gid", strconv.Itoa(gid), "--remount-ro", "/", "--chdir", dir, "--")
	start := append(append([]string{bwrap}, args...), run...)
	if b.scope = newScope(); b.scope != "" {
		given, err := environment(env)
		if err != nil {
			return nil, nil, err
		}
		start = slices.Insert(start, 1, "--args", pass(given))
		env = busEnv()
	}
	start = append(b.bounds(), start...)
	cmd = exec.Command(start[0], start[1:]...)
	cmd.Env, cmd.ExtraFiles = env, b.theirs
	// A session of its own, or the child could write into our terminal's input.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, b, nil
}

// namespaces are the namespaces that every child gets.
func namespaces() []string {
	return []string{"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net",
		"--unshare-cgroup-try", "--hostname", "sandbox", "--die-with-parent", "--cap-drop", "ALL"}
}

// identity is the child's user and group inside. Root of a user namespace could regain
// privileges in it by executing a program.
func identity() (uid, gid int) {
	if uid, gid = os.Getuid(), os.Getgid(); uid == 0 {
		return 1000, 1000
	}
	return uid, gid
}

// systemDirs hold the programs that every child sees.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"}

// systemFolders are the parts of the file system that are the same for every
// child.
var systemFolders = sync.OnceValue(func() (args []string) {
	for _, dir := range systemDirs {
		args = append(args, mirror(dir)...)
	}
	args = append(append(args, "--proc", "/proc"), hiddenKeys()...)
	args = append(args, "--dev", "/dev", "--dir", "/run", "--dir", "/var", "--symlink", "../tmp", "/var/tmp", "--dir", "/etc")
	for _, name := range etcShown {
		args = append(args, mirror("/etc/"+name)...)
	}
	for _, dir := range []string{"/etc/ssl/private", "/etc/pki/tls/private", "/etc/pki/private"} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			args = append(args, "--tmpfs", dir, "--remount-ro", dir)
		}
	}
	return args
})

// temporary are the folders in memory that a child may write.
func temporary(l Limits) (args []string) {
	if !knows("--size") {
		return []string{"--tmpfs", "/tmp"}
	}
	size := strconv.FormatInt(inBytes(l.TmpGB), 10)
	return []string{"--size", size, "--tmpfs", "/tmp", "--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"}
}

// bwrapHelp lists the options of this bwrap.
var bwrapHelp = sync.OnceValue(func() string {
	bwrap, err := sandboxTool()
	if err != nil {
		return ""
	}
	out, _ := exec.Command(bwrap, "--help").CombinedOutput()
	return string(out)
})

// knows reports whether bwrap has an option.
func knows(option string) bool { return strings.Contains(bwrapHelp(), " "+option+" ") }

// etcShown are the entries of /etc that programs need to run and to verify
// certificates. The rest (accounts, keys of this machine, names of its networks) is
// hidden.
var etcShown = []string{"alternatives", "bash.bashrc", "bashrc", "ca-certificates", "ca-certificates.conf",
	"crypto-policies", "debian_version", "fonts", "inputrc", "ld.so.cache", "ld.so.conf", "ld.so.conf.d",
	"locale.alias", "locale.conf", "localtime", "lsb-release", "magic", "mime.types", "os-release", "perl", "pki",
	"protocols", "python3", "services", "ssl", "static", "terminfo", "timezone"}

// mirror shows a file or folder of the system read-only, and a link as a link if its
// target is shown as well.
func mirror(path string) []string {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		if err != nil {
			return nil
		}
		full := target
		if !filepath.IsAbs(full) {
			full = filepath.Join(filepath.Dir(path), target)
		}
		if within("/usr", full) {
			return []string{"--symlink", target, path}
		}
	}
	return []string{"--ro-bind-try", path, path}
}

type etcFile struct{ name, text string }

// etc are the files of /etc that are the sandbox's own.
func etc(rs []route, uid, gid int, env []string) []etcFile {
	home := "/"
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "HOME="); ok && !strings.ContainsAny(v, ":\n") {
			home = v
		}
	}
	var hosts strings.Builder
	hosts.WriteString("127.0.0.1 localhost\n::1 localhost\n127.0.0.1 sandbox\n")
	for _, r := range rs {
		if r.name != "" {
			fmt.Fprintf(&hosts, "%s %s\n", r.addr, r.name)
		}
	}
	return []etcFile{
		{"/etc/hosts", hosts.String()},
		{"/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n"},
		{"/etc/passwd", fmt.Sprintf("user:x:%d:%d::%s:/bin/sh\n", uid, gid, home)},
		{"/etc/group", fmt.Sprintf("user:x:%d:\n", gid)},
		// A connection there fails at once.
		{"/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"},
	}
}

// contents is an open file that reads as text. It is a pipe, so text must be shorter
// than the smallest pipe buffer of any kernel.
func contents(text string) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if _, err := w.WriteString(text); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// binds shows what the command needs, outer folders first, because later mounts cover
// earlier ones.
func binds(s *Sandbox) (args []string) {
	type bind struct{ how, path string }
	var all []bind
	for _, p := range s.Readable {
		all = append(all, bind{"--ro-bind", p})
	}
	for _, p := range s.Writable {
		all = append(all, bind{"--bind", p})
	}
	slices.SortStableFunc(all, func(a, b bind) int { return len(a.path) - len(b.path) })
	for _, b := range all {
		args = append(args, b.how, b.path, b.path)
	}
	return args
}

// started closes the child's ends in this process.
func (b *box) started() {
	for _, f := range b.theirs {
		_ = f.Close()
	}
	b.theirs = nil
}

// close frees everything.
func (b *box) close() {
	b.watcher.Wait()
	if b.status != nil {
		_ = b.status.Close()
	}
	if b.relay != nil {
		b.relay.close()
	}
}

// state is what bwrap has reported so far.
func (b *box) state() (s struct {
	Init int  `json:"child-pid"` // the sandbox's first process, by its number outside
	Exit *int `json:"exit-code"`
}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	drain(b.status, make([]byte, 512), func(p []byte) { b.told = append(b.told, p...) })
	for d := json.NewDecoder(bytes.NewReader(b.told)); d.Decode(&s) == nil; {
	}
	return s
}

// terminate sends SIGTERM to the program, which is the child of the sandbox's first
// process: if bwrap itself ended, it would kill everything at once.
func (b *box) terminate(group int) {
	found := false
	if first := b.state().Init; first > 0 {
		list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", first))
		for _, field := range strings.Fields(string(list)) {
			if pid, err := strconv.Atoi(field); err == nil {
				found = syscall.Kill(pid, syscall.SIGTERM) == nil || found
			}
		}
	}
	if !found {
		killGroup(group)
	}
}

// failure distinguishes a sandbox that could not be made from a program that failed, and
// tells which limit ended the program.
func (b *box) failure(res *Result) error {
	b.watcher.Wait()
	if res.Limit = b.limit(res.Exit); res.Limit != "" {
		return nil
	}
	if b.state().Exit != nil && !strings.HasPrefix(res.Stderr, "bwrap: execvp ") {
		if b.relay != nil {
			res.Stderr += b.relay.said()
			return b.relay.failure()
		}
		return nil
	}
	why := strings.TrimSpace(res.Stderr)
	if i := strings.LastIndexByte(why, '\n'); i >= 0 {
		why = why[i+1:]
	}
	if why == "" {
		why = "bwrap ended without a word"
	}
	return fmt.Errorf("sandbox: %s", why)
}

// trySandbox makes one.
func trySandbox() error {
	path, err := sandboxTool()
	if err != nil {
		return errors.New("no bwrap on PATH: install bubblewrap (apt install bubblewrap)")
	}
	filter, err := filterFile()
	if err != nil {
		return err
	}
	defer filter.Close()
	uid, gid := identity()
	args := append(namespaces(), "--seccomp", "3", "--uid", strconv.Itoa(uid), "--gid", strconv.Itoa(gid))
	args = append(append(args, systemFolders()...), temporary(new(Sandbox).limits())...)
	args = append(args, "--remount-ro", "/", "--", "true")
	cmd := exec.Command(path, args...)
	cmd.ExtraFiles = []*os.File{filter}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	said, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	for _, word := range []string{"user namespace", "uid map", "Operation not permitted", "Permission denied"} {
		if strings.Contains(said, word) {
			return fmt.Errorf("bwrap may not make a user namespace (%s): allow it (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces>0; in a container, run it with its seccomp profile relaxed)", said)
		}
	}
	return fmt.Errorf("bwrap does not work: %w: %s", err, said)
}
