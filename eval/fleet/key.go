package fleet

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
	"sync"

	"filippo.io/edwards25519"
	"github.com/nats-io/nkeys"
)

// A Key is a member's. What any member may read is signed with it. What is for one other
// member is authenticated with a secret that both compute, which costs a hundredth of that.
type Key struct {
	ID     string // its public half
	sign   ed25519.PrivateKey
	secret *ecdh.PrivateKey
	shared sync.Map // *authenticator, by the other member
}

// An authenticator computes the HMACs of messages between this member and another one.
type authenticator struct {
	mu   sync.Mutex
	hash hash.Hash // HMAC with their secret
}

// NewKey reads the seed of a member.
func NewKey(seed string) (*Key, error) {
	prefix, raw, err := nkeys.DecodeSeed([]byte(seed))
	if err == nil && prefix != nkeys.PrefixByteUser {
		err = fmt.Errorf("it is not a member's")
	}
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	k := &Key{sign: ed25519.NewKeyFromSeed(raw)}
	id, err := nkeys.Encode(nkeys.PrefixByteUser, k.sign.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	k.ID = string(id)
	scalar := sha512.Sum512(raw) // its first half is the secret scalar: RFC 8032, section 5.1.5
	if k.secret, err = ecdh.X25519().NewPrivateKey(scalar[:32]); err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	return k, nil
}

// secretWith returns the secret that only this member and another one can compute. It is X25519
// between their Ed25519 keys, as age does it with the keys of ssh.
func (k *Key) secretWith(member string) ([]byte, error) {
	raw, err := nkeys.Decode(nkeys.PrefixByteUser, []byte(member))
	if err != nil {
		return nil, fmt.Errorf("%q is no key: %w", member, err)
	}
	point, err := new(edwards25519.Point).SetBytes(raw)
	if err != nil {
		return nil, fmt.Errorf("%q is no key: %w", member, err)
	}
	public, err := ecdh.X25519().NewPublicKey(point.BytesMontgomery())
	if err != nil {
		return nil, fmt.Errorf("%q is no key: %w", member, err)
	}
	secret, err := k.secret.ECDH(public)
	if err != nil {
		return nil, fmt.Errorf("%q is no key: %w", member, err)
	}
	ids := min(k.ID, member) + " " + max(k.ID, member)
	return hkdf.Key(sha256.New, secret, nil, "evolve fleet "+ids, sha256.Size)
}

// mac authenticates a message between this member and another one.
func (k *Key) mac(member, subject string, body []byte) ([]byte, error) {
	known, ok := k.shared.Load(member)
	if !ok {
		secret, err := k.secretWith(member)
		if err != nil {
			return nil, err
		}
		known, _ = k.shared.LoadOrStore(member, &authenticator{hash: hmac.New(sha256.New, secret)})
	}
	with := known.(*authenticator)
	with.mu.Lock()
	defer with.mu.Unlock()
	with.hash.Reset()
	with.hash.Write([]byte(subject + "\n"))
	with.hash.Write(body)
	return with.hash.Sum(nil), nil
}
