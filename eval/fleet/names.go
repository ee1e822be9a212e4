// Package fleet is the protocol between a run that coordinates and workers on other machines
// that replay for it, over NATS JetStream: names, messages, signatures, blobs.
//
// A coordinator assigns each job to one worker. Jobs and results are stored by JetStream, so
// that a job goes on, and its result waits, while the coordinator is away.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Protocol changes with the form of the messages. Who speaks another one is refused.
const Protocol = 2

// The streams, and the bucket of what is too large for a message.
const (
	Jobs    = "EVOLVE_JOBS"
	Results = "EVOLVE_RESULTS"
	Bucket  = "evolve-blobs"
)

// How long what is stored stays, unless it is deleted before.
const (
	JobsExpire    = 24 * time.Hour
	ResultsExpire = 7 * 24 * time.Hour
	BlobsExpire   = ResultsExpire // what a result names
)

// Lease is after how long a job that its worker no longer extends is delivered to it again,
// and Beat how often a worker says what it does. One that has not said anything for Lost is
// lost, and its jobs go to others.
const (
	Lease = 30 * time.Second
	Beat  = 2 * time.Second
	Lost  = 12 * time.Second
)

// duplicates is for how long a message is not stored twice. Somebody whose server is away does
// not know whether the last one was, and by the time it is back that one may be done and gone.
const duplicates = time.Hour

// CoordinatorID is that of a member that coordinates a run. Who continues it has the same.
func CoordinatorID(member, run string) string { return member + "_" + run }

// Sender is the member behind a coordinator's id, by whom its jobs are signed.
func Sender(coordinator string) string {
	member, _, _ := strings.Cut(coordinator, "_")
	return member
}

// The subjects. worker and coordinator are ids, key names an attempt.

// JobSubject is where a job is published.
func JobSubject(worker, coordinator, key string) string {
	return "evolve.job." + worker + "." + coordinator + "." + key
}

// ResultSubject is where its result is.
func ResultSubject(coordinator, worker, key string) string {
	return "evolve.result." + coordinator + "." + worker + "." + key
}

// HelloSubject is where a worker says what it has and does, "*" for all of them.
func HelloSubject(worker string) string { return "evolve.hello." + worker }

// Who is where a coordinator asks all workers to say hello at once.
const Who = "evolve.who"

// OrderSubject is where a worker takes orders, see Order.
func OrderSubject(worker string) string { return "evolve.order." + worker }

// InboxPrefix is that of a member's replies: nobody else may read them.
func InboxPrefix(id string) string { return "_INBOX_" + id }

// Prepare makes the streams and the bucket, or brings them up to date.
func Prepare(ctx context.Context, js jetstream.JetStream) error {
	for _, c := range []jetstream.StreamConfig{{
		Name: Jobs, Subjects: []string{"evolve.job.>"}, Retention: jetstream.WorkQueuePolicy,
		MaxAge: JobsExpire, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		Duplicates: duplicates, Description: "what workers have to do",
	}, {
		Name: Results, Subjects: []string{"evolve.result.>"}, Retention: jetstream.LimitsPolicy,
		MaxAge: ResultsExpire, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		AllowDirect: true, Duplicates: duplicates, Description: "what they have done, until it is recorded",
	}} {
		if _, err := js.CreateOrUpdateStream(ctx, c); err != nil {
			return fmt.Errorf("make the stream %s: %w", c.Name, err)
		}
	}
	if _, err := js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: Bucket, TTL: BlobsExpire}); err != nil {
		return fmt.Errorf("make the bucket %s: %w", Bucket, err)
	}
	return nil
}

// Consumer makes the consumer through which a worker takes its jobs, if there is none.
func Consumer(ctx context.Context, js jetstream.JetStream, worker string) error {
	_, err := js.CreateConsumer(ctx, Jobs, jetstream.ConsumerConfig{
		Durable: worker, FilterSubject: "evolve.job." + worker + ".>", AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: Lease, MaxAckPending: 4096, InactiveThreshold: 7 * 24 * time.Hour,
	})
	if errors.Is(err, jetstream.ErrConsumerExists) {
		return nil
	}
	return err
}

// IsThere reports whether a message was refused because its subject has one already.
func IsThere(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && strings.Contains(api.Description, "maximum messages per subject")
}
