package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// TestInstallOnOddDisks installs on file systems that are full, read-only,
// or mounted over the file itself.
// They are mounted in a namespace of their own, which ends with the process.
func TestInstallOnOddDisks(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const small = `mount -t tmpfs -o size=64k none "$D" && printf old > "$D/SKILL.md" && `
	for name, c := range map[string]struct {
		mount string
		size  string
		says  string // in the error; "" for success
	}{
		"full":         {small, "200000", "no space left on device"},
		"nearly full":  {small + `head -c 57344 /dev/zero > "$D/../filler" && cp "$D/../filler" "$D/.filler" && `, "6000", "no space left on device"},
		"fits":         {small, "3000", ""},
		"read-only":    {small + `mount -o remount,ro "$D" && `, "10", "read-only file system"},
		"mounted file": {`mkdir -p "$D" && printf old > "$D/SKILL.md" && printf old > "$D/../under" && mount --bind "$D/../under" "$D/SKILL.md" && `, "10", "busy"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "tagger")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			run := func(script string) (string, error) {
				sh := exec.Command("sh", "-c", script)
				sh.Env = append(os.Environ(), "D="+dir, "EXE="+exe, installPath+"="+filepath.Join(dir, skill.FileName), installSize+"="+c.size)
				sh.SysProcAttr = &syscall.SysProcAttr{
					Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
					UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
					GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
				}
				out, err := sh.CombinedOutput()
				return string(out), err
			}
			if out, err := run(`mount -t tmpfs none "$D"`); err != nil {
				t.Skipf("no mounts in a namespace here: %v %s", err, out)
			}
			out, err := run(c.mount + `{ "$EXE"; echo "code $?"; echo "text $(head -c 3 "$D/SKILL.md") of $(wc -c < "$D/SKILL.md")"; rm -f "$D/.filler"; echo "files" $(ls -A "$D"); }`)
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want := []string{"code 1", c.says, "text old of 3"}
			if c.says == "" {
				want = []string{"code 0", "text new of"}
			}
			for _, w := range append(want, "files SKILL.md\n") {
				if !strings.Contains(out, w) {
					t.Errorf("%q is missing in:\n%s", w, out)
				}
			}
		})
	}
}
