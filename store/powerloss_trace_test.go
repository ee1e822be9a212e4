package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A traced operation is one that a process did to the files of its database, in
// the order of the system calls.
type traced struct {
	file string // its base name; "" for the folder
	kind byte   // 'w'rite, 't'runcate, 's'ync, 'c'reate, 'u'nlink, 'a'cknowledge
	at   int    // offset of a write, length of a truncation; bytes
	data []byte // written, or acknowledged
}

var tracedCall = regexp.MustCompile(`^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed>)(.*)$`)

// trace runs the writer of TestKill on the database at path and returns what it
// did to the files in its folder.
func trace(t *testing.T, path string, count int) (ops []traced) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	c := child(t, path, "run", count)
	log := filepath.Join(t.TempDir(), "calls")
	c.Args = []string{strace, "-f", "-y", "-xx", "-s", "1000000", "-o", log, "-e", "signal=none",
		"-e", "trace=openat,write,pwrite64,ftruncate,fsync,fdatasync,unlink,unlinkat,rename,renameat,renameat2,fallocate", "--", c.Path}
	c.Path, c.Stderr = strace, nil
	if out, err := c.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "ptrace") {
			t.Skipf("strace may not trace here: %s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(log)
	must(t, err)
	dir := filepath.Dir(path)
	begun := map[string]string{} // thread → the call that it has not ended
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		thread, _, _ := strings.Cut(line, " ")
		if head, unfinished := strings.CutSuffix(line, " <unfinished ...>"); unfinished {
			begun[thread] = head
			continue
		}
		if _, rest, resumed := strings.Cut(line, " resumed>"); resumed {
			line = begun[thread] + rest
		}
		m := tracedCall.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if op, ok := operation(t, dir, m[1], m[2]); ok {
			ops = append(ops, op)
		}
	}
	return ops
}

var (
	tracedFile   = regexp.MustCompile(`^\d+<([^>]*)>`)
	tracedString = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
	tracedEnd    = regexp.MustCompile(`\) += (-?\d+)`)
)

// operation reads one call; ok is false if it did nothing to a file in dir.
func operation(t *testing.T, dir, call, args string) (op traced, ok bool) {
	t.Helper()
	end := tracedEnd.FindAllStringSubmatch(args, -1)
	if len(end) == 0 || strings.HasPrefix(end[len(end)-1][1], "-") {
		return op, false // it failed
	}
	base := func(path string) (string, bool) {
		if path == dir {
			return "", true
		}
		return filepath.Base(path), filepath.Dir(path) == dir
	}
	var texts [][]byte
	for _, s := range tracedString.FindAllStringSubmatch(args, -1) {
		texts = append(texts, unhex(t, s[1]))
	}
	numbers := strings.Split(strings.TrimSuffix(args[:strings.LastIndex(args, ")")], ")"), ", ")
	last, _ := strconv.Atoi(numbers[len(numbers)-1])
	if f := tracedFile.FindStringSubmatch(args); f != nil {
		path := f[1]
		if strings.Contains(path, `\x`) {
			path = string(unhex(t, path))
		}
		if call == "write" && strings.HasPrefix(args, "1<") {
			return traced{kind: 'a', data: texts[0]}, true
		}
		if op.file, ok = base(path); !ok {
			return op, false
		}
		switch call {
		case "pwrite64":
			op.kind, op.at, op.data = 'w', last, texts[0]
		case "ftruncate":
			op.kind, op.at = 't', last
		case "fsync", "fdatasync":
			op.kind = 's'
		default:
			t.Fatalf("this test does not know what %s does: %.200s", call, args)
		}
		return op, true
	}
	if len(texts) == 0 {
		return op, false
	}
	if op.file, ok = base(string(texts[0])); !ok {
		return op, false
	}
	switch {
	case call == "openat":
		op.kind, ok = 'c', strings.Contains(args, "O_CREAT")
	case strings.HasPrefix(call, "unlink"):
		op.kind = 'u'
	default:
		t.Fatalf("this test does not know what %s does: %.200s", call, args)
	}
	return op, ok
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	out := make([]byte, 0, len(s)/4)
	for i := 0; i+3 < len(s); i += 4 {
		n, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
		must(t, err)
		out = append(out, byte(n))
	}
	return out
}

// A platter is what a folder's files hold: what is sure to survive a power loss,
// and what was done since and may, in any order and by halves.
type platter struct {
	durable map[string][]byte
	pending map[string][]traced // by file, since it was last synced
	entries []traced            // creations and unlinks since the folder was synced
	entered map[string]bool     // files that are in the folder for sure
}

// do carries out one operation.
func (p *platter) do(op traced) {
	switch op.kind {
	case 'w', 't':
		p.pending[op.file] = append(p.pending[op.file], op)
	case 'c', 'u':
		p.entries = append(p.entries, op)
	case 's':
		if op.file == "" {
			for _, e := range p.entries {
				p.enter(e)
			}
			p.entries = nil
			return
		}
		text := p.durable[op.file]
		for _, w := range p.pending[op.file] {
			text = w.on(text)
		}
		p.durable[op.file] = text
		delete(p.pending, op.file)
	}
}

func (p *platter) enter(e traced) {
	p.entered[e.file] = e.kind == 'c'
	if e.kind == 'u' {
		delete(p.durable, e.file)
		delete(p.pending, e.file)
	}
}

// on is what text becomes by a write or a truncation.
func (op traced) on(text []byte) []byte {
	if op.kind == 't' {
		return append(text[:min(len(text), op.at):min(len(text), op.at)], make([]byte, max(0, op.at-len(text)))...)
	}
	out := append(bytes.Clone(text), make([]byte, max(0, op.at+len(op.data)-len(text)))...)
	copy(out[op.at:], op.data)
	return out
}

// lose is a folder after the power went: of every write that was not synced each
// sector is there or not, whatever came after it; a sector may be torn.
func (p *platter) lose(rng *rand.Rand) map[string][]byte {
	kept := []float64{0, 1, .5, .9, .1}[rng.IntN(5)]
	out := maps.Clone(p.durable)
	for _, file := range slices.Sorted(maps.Keys(p.pending)) {
		text := out[file]
		for _, op := range p.pending[file] {
			if op.kind == 't' {
				if rng.Float64() < kept {
					text = op.on(text)
				}
				continue
			}
			for from := 0; from < len(op.data); {
				to := min(len(op.data), from+sector-(op.at+from)%sector)
				if rng.Float64() < kept {
					part := op.data[from:to]
					if rng.IntN(20) == 0 {
						part = part[:rng.IntN(len(part))] // torn
					}
					text = traced{kind: 'w', at: op.at + from, data: part}.on(text)
				}
				from = to
			}
		}
		out[file] = text
	}
	for _, e := range p.entries {
		if e.kind == 'c' && !p.entered[e.file] && rng.Float64() >= kept {
			delete(out, e.file) // with all that was synced in it
		}
		if e.kind == 'u' && rng.Float64() < kept {
			delete(out, e.file)
		}
	}
	return out
}

// TestPowerLossAtEveryCall lets a process open a database of each schema there
// ever was, and a new one, save rollouts and close; and takes the power away
// between any two of its system calls. What was not synced is lost in any part
// and order. The database then opens, is whole and of the newest schema, holds
// what it held before, and every rollout that was acknowledged.
func TestPowerLossAtEveryCall(t *testing.T) {
	t.Parallel()
	points, each := 12, 1
	if os.Getenv("EVOLVE_LONG") == "1" {
		points, each = 1<<20, 6
	}
	want := schema(t, open(t))
	for version := range len(migrations()) {
		name := fmt.Sprintf("v%d", version) // v0: there was none
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "evolve.db")
			p := &platter{durable: map[string][]byte{}, pending: map[string][]traced{}, entered: map[string]bool{}}
			if version > 0 {
				path = unpackFixture(t, version)
				text, err := os.ReadFile(path)
				must(t, err)
				p.durable["evolve.db"], p.entered["evolve.db"] = text, true
			}
			ops := trace(t, path, 5)
			kinds := map[byte]int{}
			for _, op := range ops {
				kinds[op.kind]++
			}
			if kinds['a'] != 20 || kinds['w'] < 60 || kinds['s'] < 5 {
				t.Fatalf("the trace shows %v", kinds)
			}
			rng := rand.New(rand.NewPCG(uint64(version), 5))
			var acknowledged []string
			tried := 0
			every := max(1, len(ops)/points)
			for i, op := range ops {
				if op.kind == 'a' {
					acknowledged = append(acknowledged, strings.Fields(string(op.data))...)
				} else {
					p.do(op)
				}
				if i%every != rng.IntN(every) {
					continue
				}
				for range each {
					tried++
					survivesCrash(t, p.lose(rng), version, acknowledged, want)
					if t.Failed() {
						t.Fatalf("the power went after call %d of %d, %c of %q", i, len(ops), op.kind, op.file)
					}
				}
			}
			t.Logf("%s: %d calls (%d writes, %d syncs), %d disks after a power loss opened", name, len(ops), kinds['w'], kinds['s'], tried)
		})
	}
}

// survivesCrash opens what is left of a database that was of an old schema, 0 for
// none, on which rollouts were acknowledged.
func survivesCrash(t *testing.T, files map[string][]byte, version int, acknowledged []string, want any) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	must(t, err)
	for name, text := range files {
		if !strings.HasSuffix(name, "-shm") { // shared memory: nobody syncs it, SQLite makes it anew
			must(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
		}
	}
	s, err := Open(context.Background(), filepath.Join(dir, "evolve.db"))
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { must(t, errors.Join(s.Close(), os.RemoveAll(dir))) }()
	if got := schema(t, s); !reflect.DeepEqual(any(got), want) {
		t.Errorf("the schema is %q", got)
	}
	must(t, s.Check(t.Context()))
	for _, key := range acknowledged {
		i, err := strconv.Atoi(key[strings.LastIndexByte(key, '-')+1:])
		must(t, err)
		got, _, err := s.Journal("run").Rollout(t.Context(), key)
		if err != nil || got == nil || got.Answer != strings.Repeat("x", i%9000) {
			t.Errorf("rollout %s was acknowledged and is lost: %v, %v", key, got, err)
		}
	}
	if version > 0 {
		if r, _, err := s.Journal("r1").Rollout(t.Context(), "k"); err != nil || !reflect.DeepEqual(r, rollout("k")) {
			t.Errorf("what it held before: %+v, %v", r, err)
		}
		if v, err := s.Versions(t.Context(), "dataviz"); err != nil || len(v) == 0 || string(v[0].Text) != "text" {
			t.Errorf("its versions: %+v, %v", v, err)
		}
	}
	must(t, s.Journal("r").SaveRollout(t.Context(), rollout("after")))
}
