package worker

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/parcel"
	"github.com/skill-evolve/evolve/eval/scratch"
	"github.com/skill-evolve/evolve/eval/workspace"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// maxAgents is how many agents are kept open.
const maxAgents = 64

// An opened is an agent that is opened once.
type opened struct {
	once  sync.Once
	agent eval.Agent
	err   error
}

// attempt makes a job's attempt. A panic in it fails this job alone; its value, which may hold a
// secret, stays here.
func (w *worker) attempt(h *held) *fleet.Result {
	r, job := &fleet.Result{}, h.job
	if job.Protocol != fleet.Protocol {
		r.Failed = &fleet.Failure{Kind: fleet.NotMine, Text: fmt.Sprintf("speaks protocol %d, and the job is in %d", fleet.Protocol, job.Protocol)}
		return r
	}
	if why := job.Need.Refuses(w.Offer); why != "" {
		r.Failed = &fleet.Failure{Kind: fleet.NotMine, Text: why}
		return r
	}
	dir, err := scratch.Dir("", "evolve-case-")
	if err != nil {
		r.Failed = w.failure(&cannot{err})
		return r
	}
	defer func() { _ = workspace.Remove(dir) }() // what stays is in the scratch ledger
	r.Failed = w.failure(eval.Shielded(func() error { return w.replay(h, dir, r) }))
	return r
}

// A cannot is what keeps this worker from doing a job, before anything is spent.
type cannot struct{ err error }

func (e *cannot) Error() string { return e.err.Error() }
func (e *cannot) Unwrap() error { return e.err }

// failure is an error as it travels.
func (w *worker) failure(err error) *fleet.Failure {
	var gone *parcel.NoBlobError
	var no *cannot
	switch {
	case errors.As(err, &gone):
		return &fleet.Failure{Kind: fleet.NoBlob, Text: gone.Name}
	case errors.As(err, new(*eval.InfraError)):
	case errors.As(err, &no):
		return &fleet.Failure{Kind: fleet.NotMine, Text: "cannot do it: " + err.Error()}
	}
	return fleet.FailureOf(err)
}

func (w *worker) replay(h *held, dir string, r *fleet.Result) error {
	job := h.job
	task, err := parcel.Unpack(h.ctx, fetcher{w}, job.Task, dir)
	if err != nil {
		return &cannot{err}
	}
	agent, err := w.agent(h.ctx, job.Need, job.Task.Owner, task.Owner)
	if err != nil {
		return &cannot{err}
	}
	id := agent.Identity()
	r.Agent, r.Params, r.Sandbox = id, fleet.WithoutServer(id), job.Need.Sandbox
	if is := fleet.NeedOf(w.Offer.Program, job.Need.Sandbox, id); is != job.Need {
		return &cannot{fmt.Errorf("its agent is %s %s with the model %q (%s), and the job needs %s %s with the model %q (%s)",
			is.Backend, is.Version, is.Model, is.Params, job.Need.Backend, job.Need.Version, job.Need.Model, job.Need.Params)}
	}
	local := &eval.Local{Agent: agent, Workspaces: task, Now: w.Now}
	place, err := local.Begin(h.ctx, task.Task, eval.Work{Key: job.Key, WallClock: time.Duration(job.WallClockMS) * time.Millisecond})
	if err != nil {
		return &cannot{err}
	}
	defer place.Close()
	if r.Attempt, err = place.Attempt(h.ctx, task.Task); err != nil || !job.Task.Folder {
		return err
	}
	folder, err := place.Folder(h.ctx)
	if err == nil {
		r.Changes, err = w.changes(h.ctx, task, folder, filepath.Join(dir, "changes"))
	}
	if errors.Is(err, parcel.ErrLarge) {
		r.Attempt.Failure, err = err.Error(), nil
	}
	return err
}

// changes stores what an attempt did to its folder.
func (w *worker) changes(ctx context.Context, task *parcel.Unpacked, folder, file string) (*fleet.Changes, error) {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	c := new(fleet.Changes)
	c.Gone, err = task.Changes(ctx, folder, out, w.Clean)
	if err = errors.Join(err, out.Close()); err != nil {
		return nil, err
	}
	name, err := nameOf(file)
	if err != nil {
		return nil, err
	}
	c.Made = name
	// The attempt is paid for: a server that is away is waited for.
	w.keep(ctx, "what changed waits for the server", func(ctx context.Context) error {
		return w.Blobs.PutFrom(ctx, name, func() (io.ReadCloser, error) { return bounded.Open(file) })
	})
	return c, ctx.Err()
}

// agent opens an agent, once for the same needs and the same set-up.
func (w *worker) agent(ctx context.Context, need fleet.Need, name string, owner *setup.Set) (eval.Agent, error) {
	key, err := json.Marshal([]any{need, name})
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	a := w.agents[string(key)]
	if a == nil {
		if len(w.agents) >= maxAgents {
			clear(w.agents)
		}
		a = new(opened)
		w.agents[string(key)] = a
	}
	w.mu.Unlock()
	a.once.Do(func() { a.agent, a.err = w.Open(context.WithoutCancel(ctx), need, owner) })
	if a.err != nil { // it is tried again
		w.mu.Lock()
		if w.agents[string(key)] == a {
			delete(w.agents, string(key))
		}
		w.mu.Unlock()
	}
	return a.agent, a.err
}

// send publishes a result, for as long as it takes, and reports whether it is there.
func (w *worker) send(h *held, r *fleet.Result) bool {
	r.Protocol, r.Key, r.Program = fleet.Protocol, h.Key, w.Offer.Program
	subject := fleet.ResultSubject(h.Coordinator, w.Conn.ID, h.Key)
	body, err := w.cleaned(r)
	if err != nil { // JSON has no NaN and no infinity: such a cost counts as unknown
		r.Attempt.CostUSD = nil
		body, err = w.cleaned(r)
	}
	if err != nil {
		w.Log(fmt.Sprintf("a result cannot be sent: %v", err))
		return false
	}
	id := rand.Text() // of all tries: it may be recorded and gone before the next one
	return w.keep(h.ctx, "a result waits for the server", func(ctx context.Context) error {
		m, err := fleet.SealFor(w.Conn.Key, fleet.Sender(h.Coordinator), subject, body, func(b []byte) (string, error) { return w.Blobs.Put(ctx, b) })
		if err == nil {
			m.Header.Set(fleet.Rights, w.Conn.In.JWT)
			short, cancel := context.WithTimeout(ctx, w.Lease/3) // an answer comes at once or never
			defer cancel()
			_, err = w.Conn.JS.PublishMsg(short, m, jetstream.WithMsgID(id))
		}
		if fleet.IsThere(err) {
			err = nil
		}
		return err
	})
}

// a try of keep's may take this long.
const try = 10 * time.Minute

// keep does f until it succeeds or ctx ends, and reports which.
func (w *worker) keep(ctx context.Context, what string, f func(ctx context.Context) error) bool {
	wait := 100 * time.Millisecond
	for told := false; ; {
		short, cancel := context.WithTimeout(ctx, try)
		err := f(short)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err == nil
		}
		if !told {
			w.Log(w.clean(fmt.Sprintf("%s: %v", what, err)))
			told = true
		}
		if eval.Sleep(ctx, wait) != nil {
			return false
		}
		wait = min(2*wait, 2*time.Second)
	}
}

// A fetcher fetches blobs while the server comes and goes.
type fetcher struct{ *worker }

// Fetch implements parcel.Source.
func (f fetcher) Fetch(ctx context.Context, name, file string) error {
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var final error
	if f.keep(short, "a job waits for what it needs", func(ctx context.Context) error {
		err := f.Cache.Fetch(ctx, name, file)
		if errors.Is(err, fleet.ErrNoBlob) || errors.As(err, new(*fs.PathError)) || errors.As(err, new(*os.LinkError)) {
			final, err = err, nil
		}
		return err
	}) {
		return final
	}
	return eval.Infraf(eval.Unreachable, "what the job needs did not arrive within %v", patience)
}

// patience is how long a job waits for what it needs.
const patience = 5 * time.Minute

func (w *worker) clean(s string) string {
	if w.Clean == nil {
		return s
	}
	return w.Clean(s)
}

// cleaned is a result without this machine's keys, wherever they stand in it.
func (w *worker) cleaned(r *fleet.Result) (json.RawMessage, error) {
	text, err := json.Marshal(r)
	if err != nil || w.Clean == nil {
		return text, err
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	var v any
	if err := in.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(w.each(v))
}

// each is v with all texts clean.
func (w *worker) each(v any) any {
	switch v := v.(type) {
	case string:
		return w.Clean(v)
	case []any:
		for i := range v {
			v[i] = w.each(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[w.Clean(k)] = w.each(x)
		}
		return out
	}
	return v
}
