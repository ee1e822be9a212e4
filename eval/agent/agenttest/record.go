package agenttest

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// A chunk is a piece of data that passed through a recorder.
type chunk struct {
	Way  string // "in", "out" or "err"
	Data []byte
}

// An ending is recorded when the program has ended by itself.
type ending struct {
	Exit    int
	Files   map[string]string
	Removed []string
	Kept    map[string]string
}

// record runs the real program and writes down all data between it and its parent, at
// once, because the whole group may be killed.
func (p *part) record(dir string, args []string) (int, error) {
	workspace, private := folders(args, "")
	before := contents(workspace)
	if err := os.WriteFile(filepath.Join(dir, "args.json"), []byte(compact(args)), 0o600); err != nil {
		return 0, err
	}
	file, err := os.Create(filepath.Join(dir, "chunks.jsonl"))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	log := &chunkLog{to: json.NewEncoder(file)}

	// The program gets the group's signals itself; this process stays to see its end.
	// Notify, unlike Ignore, is not inherited.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	cmd := exec.Command(p.Real, args...)
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, stageDoor+"=") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(p.Real)+":"+os.Getenv("PATH"))
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	cmd.Stdout, cmd.Stderr = log.tee("out", os.Stdout), log.tee("err", os.Stderr)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() {
		// It is no failure of the recorder if the program stops reading.
		_, _ = io.Copy(log.tee("in", in), os.Stdin)
		_ = in.Close()
	}()
	_ = cmd.Wait() // the exit code is recorded
	end := ending{Exit: cmd.ProcessState.ExitCode(), Files: make(map[string]string)}
	after := contents(workspace)
	for name, text := range after {
		if was, known := before[name]; !known || was != text {
			end.Files[name] = text
		}
	}
	for name := range before {
		if _, still := after[name]; !still {
			end.Removed = append(end.Removed, name)
		}
	}
	slices.Sort(end.Removed)
	if len(p.Keeps) > 0 {
		end.Kept = contents(private)
		maps.DeleteFunc(end.Kept, func(name, _ string) bool { return !keeps(p.Keeps, name) })
	}
	return max(end.Exit, 0), os.WriteFile(filepath.Join(dir, "end.json"), []byte(compact(end)), 0o600)
}

// keeps reports whether a pattern, or a folder, covers the name.
func keeps(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return err == nil && ok || strings.HasPrefix(name, strings.TrimSuffix(p, "/")+"/")
	})
}

type chunkLog struct {
	mu sync.Mutex
	to *json.Encoder
}

func (l *chunkLog) tee(way string, to io.Writer) io.Writer { return &teeWriter{l, way, to} }

type teeWriter struct {
	log *chunkLog
	way string
	to  io.Writer
}

func (w *teeWriter) Write(b []byte) (int, error) {
	w.log.mu.Lock()
	err := w.log.to.Encode(chunk{w.way, b})
	w.log.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return w.to.Write(b)
}

// contents reads all files below dir; none if there is no dir.
func contents(dir string) map[string]string {
	out := make(map[string]string)
	if dir == "" {
		return out
	}
	root := os.DirFS(dir)
	// What cannot be read is not recorded.
	_ = walkFiles(root, func(name string, text []byte) { out[name] = string(text) })
	return out
}

// takes reads what recorders left in dir.
func takes(dir string, rpc bool) ([]take, error) {
	dirs, err := filepath.Glob(filepath.Join(dir, "*-[0-9]*"))
	if err != nil {
		return nil, err
	}
	var out []take
	for _, dir := range dirs {
		k := take{Exit: -1}
		if err := readJSON(filepath.Join(dir, "args.json"), &k.Args); err != nil {
			return nil, err
		}
		var end ending
		if err := readJSON(filepath.Join(dir, "end.json"), &end); err == nil {
			k.Exit, k.Files, k.Removed, k.Kept = end.Exit, end.Files, end.Removed, end.Kept
		} else if !os.IsNotExist(err) {
			return nil, err
		}
		file, err := os.Open(filepath.Join(dir, "chunks.jsonl"))
		if err != nil {
			return nil, err
		}
		defer file.Close()
		var chunks []chunk
		for dec := json.NewDecoder(file); ; {
			var c chunk
			if err := dec.Decode(&c); err != nil {
				break // the end, or a line that was incomplete when the recorder was killed
			}
			chunks = append(chunks, c)
		}
		text := make(map[string]string)
		for _, c := range chunks {
			text[c.Way] += string(c.Data)
		}
		k.Stderr = text["err"]
		if len(k.Stderr) > 4<<10 {
			k.Stderr = k.Stderr[len(k.Stderr)-4<<10:]
		}
		if rpc && !k.version() {
			k.Frames = frames(chunks)
		} else {
			k.Stdin = text["in"]
			k.Stdout = strings.Split(text["out"], "\n")
		}
		out = append(out, k)
	}
	return out, nil
}

func readJSON(path string, to any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}
