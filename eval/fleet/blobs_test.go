package fleet_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/fleettest"
)

// TestBlobsAreHidden: whoever reads the bucket, as each member can, finds neither contents nor
// their names.
func TestBlobsAreHidden(t *testing.T) {
	s := fleettest.Serve(t)
	c := s.Join("a")
	b, err := fleet.OpenBlobs(t.Context(), c.JS)
	if err != nil {
		t.Fatal(err)
	}
	content := []byte(strings.Repeat("qzcanary", 1<<16)) // several chunks
	name, err := b.Put(t.Context(), content)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.Get(t.Context(), name); err != nil || !bytes.Equal(got, content) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	store, err := c.JS.ObjectStore(t.Context(), fleet.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	list, err := store.List(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	stored, err := store.GetBytes(t.Context(), list[0].Name)
	if err != nil || len(stored) != len(content) || bytes.Contains(stored, []byte("qzcanary")) || list[0].Name == name {
		t.Errorf("%d bytes are stored as %s, %.8q…, %v", len(stored), list[0].Name, stored, err)
	}
	if _, err := store.PutString(t.Context(), list[0].Name, "another"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Get(t.Context(), name); !errors.Is(err, fleet.ErrNoBlob) {
		t.Errorf("another content under its name: %v", err)
	}
}

// TestForget: after a purge, or a content that was spoilt, one report has all of a task's
// contents stored again.
func TestForget(t *testing.T) {
	s := fleettest.Serve(t)
	c := s.Join("a")
	b, err := fleet.OpenBlobs(t.Context(), c.JS)
	if err != nil {
		t.Fatal(err)
	}
	store, err := c.JS.ObjectStore(t.Context(), fleet.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"one", "two", "three"}
	var names []string
	put := func() {
		t.Helper()
		names = nil
		for _, text := range texts {
			name, err := b.Put(t.Context(), []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
	}
	whole := func() {
		t.Helper()
		for i, name := range names {
			if got, err := b.Get(t.Context(), name); err != nil || string(got) != texts[i] {
				t.Errorf("%s is %q, %v", texts[i], got, err)
			}
		}
	}
	list := func() []*jetstream.ObjectInfo {
		t.Helper()
		all, err := store.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	put()
	for _, o := range list() {
		if err := store.Delete(t.Context(), o.Name); err != nil {
			t.Fatal(err)
		}
	}
	b.Forget(names[1])
	put()
	whole()
	for _, o := range list() {
		if _, err := store.PutString(t.Context(), o.Name, "spoilt"); err != nil {
			t.Fatal(err)
		}
	}
	for range names {
		for _, name := range names {
			b.Forget(name)
		}
		put()
	}
	whole()
}
