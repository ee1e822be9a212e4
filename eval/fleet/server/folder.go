// Package server runs the NATS server of a fleet, keeps its keys, and invites and revokes
// the members.
package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// The files of a fleet's folder. JetStream has a folder of its own beside them.
const (
	keysFile        = "keys.json"        // seeds of the operator, the account and the system account
	invitationsFile = "invitations.json" // who was invited, without their keys
	authorityFile   = "ca.pem"           // certificate and key that sign the server's
	certificateFile = "server.pem"       // the server's certificate and key
	servedFile      = "serve.json"       // where the server listens, or did last
	editLock        = "edit.lock"        // held while one of the others is made or changed
	serveLock       = "serve.lock"       // held by the running server

	maxFile = 16 << 20 // bytes: 100,000 invitations
)

// A Folder is where a fleet's keys are, and what the server stores. Only its owner may
// read it: it is the fleet's root of trust.
type Folder struct {
	dir                       string
	now                       func() time.Time
	operator, account, system nkeys.KeyPair
}

// seeds is the content of keysFile.
type seeds struct {
	Operator string `json:"operator"`
	Account  string `json:"account"`
	System   string `json:"system"`
}

// Open opens the folder of a fleet. If there is none, it makes one with new keys. now is
// the clock for what is issued.
func Open(dir string, now func() time.Time) (*Folder, error) {
	f := &Folder{dir: dir, now: now}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the fleet's folder: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil { // it may have been made by hand
		return nil, fmt.Errorf("close the fleet's folder to others: %w", err)
	}
	return f, f.locked(f.load)
}

// locked does something while no other process changes the folder's files.
func (f *Folder) locked(do func() error) error {
	l := flock.New(filepath.Join(f.dir, editLock), flock.SetPermissions(0o600))
	if err := l.Lock(); err != nil {
		return fmt.Errorf("lock the fleet's folder: %w", err)
	}
	defer l.Close()
	return do()
}

// load reads the keys, or makes them.
func (f *Folder) load() error {
	var s seeds
	switch err := f.read(keysFile, &s); {
	case errors.Is(err, fs.ErrNotExist):
		if s, err = newSeeds(); err != nil {
			return err
		}
		if err := f.write(keysFile, s); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	for _, k := range []struct {
		seed string
		to   *nkeys.KeyPair
	}{{s.Operator, &f.operator}, {s.Account, &f.account}, {s.System, &f.system}} {
		kp, err := nkeys.FromSeed([]byte(k.seed))
		if err != nil {
			return f.damaged(keysFile, err)
		}
		*k.to = kp
	}
	return nil
}

func newSeeds() (s seeds, err error) {
	for _, k := range []struct {
		prefix nkeys.PrefixByte
		to     *string
	}{{nkeys.PrefixByteOperator, &s.Operator}, {nkeys.PrefixByteAccount, &s.Account}, {nkeys.PrefixByteAccount, &s.System}} {
		kp, err := nkeys.CreatePair(k.prefix)
		if err != nil {
			return s, fmt.Errorf("make the fleet's keys: %w", err)
		}
		seed, err := kp.Seed()
		if err != nil {
			return s, fmt.Errorf("make the fleet's keys: %w", err)
		}
		*k.to = string(seed)
	}
	return s, nil
}

// read reads one of the folder's JSON files. The error is fs.ErrNotExist if there is none.
func (f *Folder) read(name string, into any) error { return read(f.dir, name, into) }

func read(dir, name string, into any) error {
	text, err := bounded.ReadFile(filepath.Join(dir, name), maxFile)
	if err != nil {
		return fmt.Errorf("read the fleet's folder: %w", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return (&Folder{dir: dir}).damaged(name, err)
	}
	return nil
}

func (f *Folder) write(name string, what any) error {
	text, err := json.MarshalIndent(what, "", "  ")
	if err != nil {
		return err
	}
	return f.writeText(name, append(text, '\n'))
}

func (f *Folder) writeText(name string, text []byte) error {
	if err := renameio.WriteFile(filepath.Join(f.dir, name), text, 0o600); err != nil {
		return fmt.Errorf("write the fleet's folder: %w", err)
	}
	return nil
}

func (f *Folder) damaged(name string, err error) error {
	return problem.Hinted(fmt.Errorf("%s is damaged: %w", filepath.Join(f.dir, name), err),
		"restore it from a backup; if you remove the folder, the next `evolve fleet serve` makes a new fleet, and every machine needs a new invitation")
}

// trust is what the server has to trust: the operator, and the system account's claims.
func (f *Folder) trust() (op *jwt.OperatorClaims, systemID, system string, err error) {
	ids := [2]string{}
	for i, kp := range []nkeys.KeyPair{f.operator, f.system} {
		if ids[i], err = kp.PublicKey(); err != nil {
			return nil, "", "", err
		}
	}
	op = jwt.NewOperatorClaims(ids[0])
	op.Name, op.SystemAccount = "evolve", ids[1]
	text, err := op.Encode(f.operator)
	if err != nil {
		return nil, "", "", err
	}
	if op, err = jwt.DecodeOperatorClaims(text); err != nil {
		return nil, "", "", err
	}
	sys := jwt.NewAccountClaims(ids[1])
	sys.Name = "system"
	system, err = sys.Encode(f.operator)
	return op, ids[1], system, err
}

// accountClaims are the claims of the account that all members belong to: they follow from
// the list of invitations. A key is revoked for all that it could have signed, whatever
// the clocks of this machine said.
func (f *Folder) accountClaims(list []Invited) (id, text string, err error) {
	if id, err = f.account.PublicKey(); err != nil {
		return "", "", err
	}
	c := jwt.NewAccountClaims(id)
	c.Name = "evolve"
	c.Limits.DisallowBearer = true
	c.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: 0, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	for _, i := range list {
		if !i.Revoked.IsZero() {
			c.RevokeAt(i.ID, i.Expires)
		}
	}
	text, err = c.Encode(f.operator)
	return id, text, err
}
