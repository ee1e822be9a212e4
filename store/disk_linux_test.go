package store

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// inNamespace runs a shell script if it may mount what it likes, until it
// ends.
func inNamespace(t *testing.T, script string, env ...string) (stdout, stderr string, err error) {
	t.Helper()
	sh := exec.Command("sh", "-c", script)
	sh.Env = append(os.Environ(), env...)
	sh.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	var out, errs strings.Builder
	sh.Stdout, sh.Stderr = &out, &errs
	err = sh.Run()
	return out.String(), errs.String(), err
}

// TestRealDiskFull writes on a disk of 400 kB until it is full: the error reports that,
// and everything that was acknowledged is there.
func TestRealDiskFull(t *testing.T) {
	disk, saved := t.TempDir(), t.TempDir()
	exe, err := os.Executable()
	must(t, err)
	if _, said, err := inNamespace(t, `mount -t tmpfs none "$D"`, "D="+disk); err != nil {
		t.Skipf("no mounts in a namespace here: %v %s", err, said)
	}
	out, said, err := inNamespace(t, `mount -t tmpfs -o size=400k none "$D" && { "$EXE"; echo "code $?"; cp "$D"/evolve.db* "$SAVED"; }`,
		"D="+disk, "SAVED="+saved, "EXE="+exe, childPath+"="+filepath.Join(disk, "evolve.db"), childName+"=full", childCount+"=0")
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if !strings.Contains(out, "code 1") || !strings.Contains(said, "no room left for "+disk) {
		t.Errorf("the writer said %q", said)
	}
	s := openAt(t, filepath.Join(saved, "evolve.db"))
	n := 0
	for key := range strings.Lines(out) {
		key = strings.TrimSpace(key)
		if strings.HasPrefix(key, "code") {
			continue
		}
		n++
		if r, _, err := s.Journal("full").Rollout(t.Context(), key); r == nil || err != nil {
			t.Errorf("%s was acknowledged and is lost: %v", key, err)
		}
	}
	if n == 0 {
		t.Error("nothing was written before the disk was full")
	}
	must(t, s.Check(t.Context()))
}

// TestReadOnlyDisk: on a read-only disk the error names the file and the cause.
func TestReadOnlyDisk(t *testing.T) {
	s := open(t)
	must(t, s.Journal("r").SaveRollout(t.Context(), rollout("k")))
	must(t, s.Close())
	before, err := os.ReadFile(s.Path())
	must(t, err)
	exe, err := os.Executable()
	must(t, err)
	dir := filepath.Dir(s.Path())
	const readOnly = `mount --bind "$D" "$D" && mount -o remount,bind,ro "$D" && `
	if _, said, err := inNamespace(t, readOnly+"true", "D="+dir); err != nil {
		t.Skipf("no mounts in a namespace here: %v %s", err, said)
	}
	for path, says := range map[string]string{s.Path(): "read-only file system", filepath.Join(dir, "sub", "evolve.db"): "read-only file system"} {
		out, said, err := inNamespace(t, readOnly+`{ "$EXE"; echo "code $?"; }`, "D="+dir, "EXE="+exe, childPath+"="+path, childName+"=ro", childCount+"=1")
		if err != nil || out != "code 1\n" || !strings.Contains(said, says) || !strings.Contains(said, dir) {
			t.Errorf("%s: %v %q %q", path, err, out, said)
		}
	}
	after, err := os.ReadFile(s.Path())
	must(t, err)
	if string(after) != string(before) {
		t.Error("the file was changed")
	}
}

// TestLookAtReadOnlyDisk: on a disk that is read-only, all that was committed is read,
// whatever a killed process has left there.
func TestLookAtReadOnlyDisk(t *testing.T) {
	s := open(t)
	must(t, s.Journal("r").SaveRollout(t.Context(), rollout("k")))
	killed, copied := killedAt(t, s, "-wal", "-shm"), killedAt(t, s, "-wal")
	must(t, s.Close())
	exe, err := os.Executable()
	must(t, err)
	const readOnly = `mount --bind "$D" "$D" && mount -o remount,bind,ro "$D" && `
	for name, path := range map[string]string{"closed": s.Path(), "killed": killed, "copied": copied} {
		dir := filepath.Dir(path)
		if _, said, err := inNamespace(t, readOnly+"true", "D="+dir); err != nil {
			t.Skipf("no mounts in a namespace here: %v %s", err, said)
		}
		out, said, err := inNamespace(t, readOnly+`"$EXE"`, "D="+dir, "EXE="+exe, childPath+"="+path, childName+"=r", childCount+"=-1")
		if err != nil || out != "k\n" {
			t.Errorf("%s: %v %q %q", name, err, out, said)
		}
	}
}
