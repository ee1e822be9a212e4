package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet"
)

// acknowledges is how long a worker may take to delete what it keeps.
const acknowledges = 10 * time.Second

// A Purged is what a purge has removed.
type Purged struct {
	URL     string `json:"url"`
	Blobs   int    `json:"blobs"` // of all machines: they are a cache
	Jobs    int    `json:"jobs"`
	Results int    `json:"results"`
	// Workers have deleted what they kept, by their ids; Left have not said so.
	Workers []string `json:"workers"`
	Left    []Left   `json:"left"`
}

// A Left is a worker that may still keep something.
type Left struct {
	ID   string `json:"id"`
	Name string `json:"name"` // "" if it is not known
	Why  string `json:"why"`
}

// Purge removes all blobs, the jobs and results of a member's runs, those under the ids that it
// had before included, and has all workers delete what they keep. names are of workers, by id. What it could not remove is in
// Purged.Left, or in the error.
func Purge(ctx context.Context, c *fleet.Conn, names map[string]string, before ...string) (*Purged, error) {
	ids := append(before, c.ID)
	p := &Purged{URL: c.In.URL, Workers: []string{}, Left: []Left{}}
	var err, err1, err2, err3 error
	p.Jobs, err1 = remove(ctx, c, fleet.Jobs, "evolve.job.*.%s.>", 3, ids)
	p.Results, err2 = remove(ctx, c, fleet.Results, "evolve.result.%s.>", 2, ids)
	blobs, err3 := fleet.OpenBlobs(ctx, c.JS)
	if err3 == nil {
		p.Blobs, err3 = blobs.Clear(ctx)
	}
	if err = errors.Join(err1, err2, err3); err != nil {
		return p, fmt.Errorf("remove what is stored: %w", err)
	}
	return p, p.order(ctx, c, names)
}

// remove deletes the messages of the runs of these members; at is where their subject has the
// coordinator, and subject is that of all messages of one.
func remove(ctx context.Context, c *fleet.Conn, stream, subject string, at int, ids []string) (n int, err error) {
	s, err := c.JS.Stream(ctx, stream)
	if err != nil {
		return 0, err
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter("evolve.>"))
	if err != nil {
		return 0, err
	}
	runs := map[string]bool{}
	for name, k := range info.State.Subjects {
		if parts := strings.Split(name, "."); len(parts) == 5 && slices.Contains(ids, fleet.Sender(parts[at])) {
			runs[parts[at]] = true
			n += int(k)
		}
	}
	for run := range runs {
		if err := s.Purge(ctx, jetstream.WithPurgeSubject(fmt.Sprintf(subject, run))); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// order has all workers delete what they keep that had a job within a week: each of those has
// a consumer. A worker deletes older copies within a minute of its start.
func (p *Purged) order(ctx context.Context, c *fleet.Conn, names map[string]string) error {
	stream, err := c.JS.Stream(ctx, fleet.Jobs)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	known := stream.ConsumerNames(ctx)
	for id := range known.Name() {
		all.Go(func() {
			err := eval.Shielded(func() error { return ordered(ctx, c, id) })
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				p.Workers = append(p.Workers, id)
			} else {
				p.Left = append(p.Left, Left{id, names[id], err.Error()})
			}
		})
	}
	all.Wait()
	if err := known.Err(); err != nil {
		return fmt.Errorf("list the workers: %w", err)
	}
	slices.Sort(p.Workers)
	slices.SortFunc(p.Left, func(a, b Left) int { return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID)) })
	return nil
}

// ordered has one worker delete what it keeps.
func ordered(ctx context.Context, c *fleet.Conn, worker string) error {
	subject := fleet.OrderSubject(worker)
	m, err := fleet.Seal(c.Key, subject, fleet.Order{From: c.ID, Rights: c.In.JWT, Purge: true})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, acknowledges)
	defer cancel()
	reply, err := c.Nats.RequestMsgWithContext(ctx, m)
	if err != nil {
		return errors.New("does not answer")
	}
	var ack fleet.Ack
	if err := fleet.Open(worker, reply.Subject, reply.Header, reply.Data, &ack); err != nil {
		return err
	}
	if ack.Error != "" {
		return errors.New(ack.Error)
	}
	return nil
}
