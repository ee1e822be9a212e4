package fleet

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// MaxBlob is the largest blob, in bytes.
const MaxBlob = 1 << 30

// Blobs are contents under the names of their SHA-256. It is safe for concurrent use.
type Blobs struct {
	store jetstream.ObjectStore

	mu    sync.Mutex
	put   map[string]*upload // by name
	gone  map[string]bool    // names that a worker could not read: what is there is of no use
	small map[string][]byte  // contents that are short enough to go along with a job
	kept  int                // bytes of small
}

// Small is the largest content that goes along with the first job of a worker that names it,
// in bytes, so that the job does not wait for it.
const (
	Small   = 16 << 10
	maxKept = 32 << 20
)

// Short returns a content that was put and is at most Small.
func (b *Blobs) Short(name string) ([]byte, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	content, ok := b.small[name]
	return content, ok
}

// An upload stores one content. Callers that put it meanwhile wait for the same upload.
type upload struct {
	done chan struct{}
	at   time.Time
	err  error
}

// OpenBlobs finds the bucket.
func OpenBlobs(ctx context.Context, js jetstream.JetStream) (*Blobs, error) {
	store, err := js.ObjectStore(ctx, Bucket)
	if err != nil {
		return nil, fmt.Errorf("find the bucket %s: %w", Bucket, err)
	}
	return &Blobs{store: store, put: map[string]*upload{}, gone: map[string]bool{}}, nil
}

// NameOf is the name of a content.
func NameOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Put stores a content, unless it is there and stays for as long as a job may take.
func (b *Blobs) Put(ctx context.Context, content []byte) (name string, err error) {
	name = NameOf(content)
	if len(content) <= Small {
		b.mu.Lock()
		if _, ok := b.small[name]; !ok {
			if b.kept += len(content); b.kept > maxKept || b.small == nil {
				b.small, b.kept = map[string][]byte{}, len(content)
			}
			b.small[name] = content
		}
		b.mu.Unlock()
	}
	return name, b.PutFrom(ctx, name, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil })
}

// PutFrom is Put of what open reads, whose name is known.
func (b *Blobs) PutFrom(ctx context.Context, name string, open func() (io.ReadCloser, error)) error {
	b.mu.Lock()
	u := b.put[name]
	if u == nil || closed(u.done) && (u.err != nil || time.Since(u.at) > BlobsExpire/4) {
		u = &upload{done: make(chan struct{})}
		b.put[name] = u
		b.mu.Unlock()
		u.err = b.upload(ctx, name, open)
		u.at = time.Now()
		close(u.done)
		return u.err
	}
	b.mu.Unlock()
	select {
	case <-u.done:
		return u.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (b *Blobs) upload(ctx context.Context, name string, open func() (io.ReadCloser, error)) error {
	b.mu.Lock()
	gone := b.gone[name]
	b.mu.Unlock()
	at, hidden, err := hide(name)
	if err != nil {
		return err
	}
	if info, err := b.store.GetInfo(ctx, at); err == nil && !gone && time.Since(info.ModTime) < BlobsExpire/2 {
		return nil
	}
	in, err := open()
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := b.store.Put(ctx, jetstream.ObjectMeta{Name: at}, cipher.StreamReader{S: hidden, R: in}); err != nil {
		return fmt.Errorf("store what a job needs: %w", errors.Join(ErrAway, err))
	}
	b.mu.Lock()
	delete(b.gone, name)
	b.mu.Unlock()
	return nil
}

// hide is where a content is stored, and what encrypts it and decrypts it there. Members who
// may read one object of the bucket may read all, so nothing in it tells those anything who do
// not know the name. The name is the hash of the content: no key is used for two contents, so
// the counter may begin with zero, and a change is found when the content is read.
func hide(name string) (at string, hidden cipher.Stream, err error) {
	key := sha256.Sum256([]byte("evolve blob key\n" + name))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return "", nil, err
	}
	return NameOf([]byte("evolve blob\n" + name)), cipher.NewCTR(block, make([]byte, aes.BlockSize)), nil
}

// Forget has Put store a name again, and look for all others: after a purge they are gone, too,
// and a job would fail once for each.
func (b *Blobs) Forget(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.put[name] == nil {
		return
	}
	b.gone[name] = true
	for _, u := range b.put {
		if closed(u.done) {
			u.at = time.Time{}
		}
	}
}

// ErrAway means that the server could not be asked, or cannot store anything.
var ErrAway = errors.New("the fleet's server does not answer")

// ErrNoBlob means that there is no such content, or another one under its name.
var ErrNoBlob = errors.New("it is not stored")

// Copy writes a content to w. What was written is of no use if there is an error.
func (b *Blobs) Copy(ctx context.Context, w io.Writer, name string) error {
	at, hidden, err := hide(name)
	if err != nil {
		return err
	}
	in, err := b.store.Get(ctx, at)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return fmt.Errorf("%.12s: %w", name, ErrNoBlob)
	}
	if err != nil {
		return fmt.Errorf("read what a job needs: %w", err)
	}
	defer in.Close()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, h), cipher.StreamReader{S: hidden, R: io.LimitReader(in, MaxBlob+1)})
	if err != nil {
		return fmt.Errorf("read what a job needs: %w", err)
	}
	if n > MaxBlob || hex.EncodeToString(h.Sum(nil)) != name {
		return fmt.Errorf("%.12s is another content: %w", name, ErrNoBlob)
	}
	return nil
}

// Get returns a content.
func (b *Blobs) Get(ctx context.Context, name string) ([]byte, error) {
	var out bytes.Buffer
	if err := b.Copy(ctx, &out, name); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Fetch writes a content to a new file that only this user can read.
func (b *Blobs) Fetch(ctx context.Context, name, file string) (err error) {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(b.Copy(ctx, out, name), out.Close())
	if err != nil {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// Clear deletes all contents, and returns how many there were.
func (b *Blobs) Clear(ctx context.Context) (n int, err error) {
	list, err := b.store.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	b.mu.Lock()
	clear(b.put)
	b.mu.Unlock()
	for _, o := range list {
		if err := b.store.Delete(ctx, o.Name); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
