package fleet_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"

	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/fleettest"
)

func key(t *testing.T) *fleet.Key {
	t.Helper()
	k, err := fleet.NewKey(fleettest.Seed())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestSealFor: the one that a message is for can tell who has sent it, and nobody can send it
// in another's name, elsewhere, or with another body.
func TestSealFor(t *testing.T) {
	writer, reader, other := key(t), key(t), key(t)
	for _, large := range []bool{false, true} {
		text, stored := "a result", ""
		if large {
			text = strings.Repeat("a", fleet.Inline)
		}
		m, err := fleet.SealFor(writer, reader.ID, "evolve.result.x", text, func(b []byte) (string, error) {
			stored = string(b)
			return fleet.NameOf(b), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var read string
		blob, err := fleet.OpenFrom(reader, writer.ID, m.Subject, m.Header, m.Data, &read)
		switch {
		case err != nil:
			t.Fatal(err)
		case large && (blob != fleet.NameOf([]byte(stored)) || fleet.Decode([]byte(stored), &read) != nil || read != text):
			t.Errorf("the blob is %q", blob)
		case !large && (blob != "" || read != text || stored != ""):
			t.Errorf("read %q, blob %q", read, blob)
		}
		for what, try := range map[string]func() (string, error){
			"another sender": func() (string, error) { return fleet.OpenFrom(reader, other.ID, m.Subject, m.Header, m.Data, &read) },
			"another reader": func() (string, error) { return fleet.OpenFrom(other, writer.ID, m.Subject, m.Header, m.Data, &read) },
			"another subject": func() (string, error) {
				return fleet.OpenFrom(reader, writer.ID, "evolve.job.x", m.Header, m.Data, &read)
			},
			"another body": func() (string, error) {
				return fleet.OpenFrom(reader, writer.ID, m.Subject, m.Header, append([]byte(" "), m.Data...), &read)
			},
			"no proof":  func() (string, error) { return fleet.OpenFrom(reader, writer.ID, m.Subject, nil, m.Data, &read) },
			"no member": func() (string, error) { return fleet.OpenFrom(reader, "U1", m.Subject, m.Header, m.Data, &read) },
		} {
			if _, err := try(); !errors.Is(err, fleet.ErrSignature) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

// TestNewKey: the public half is what nkeys says, and other keys than members' are refused.
func TestNewKey(t *testing.T) {
	seed := fleettest.Seed()
	pair, err := nkeys.FromSeed([]byte(seed))
	if err != nil {
		t.Fatal(err)
	}
	id, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	k, err := fleet.NewKey(seed)
	if err != nil || k.ID != id {
		t.Errorf("%s, %v; nkeys has %s", k.ID, err, id)
	}
	m, err := fleet.Seal(k, "s", 1)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := fleet.Open(id, "s", m.Header, m.Data, &n); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	account, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := account.Seed()
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range []string{"", "SUAB", string(theirs)} {
		if _, err := fleet.NewKey(seed); err == nil {
			t.Errorf("%q is taken", seed)
		}
	}
}
