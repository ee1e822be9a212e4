package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// MaxBlob is the largest blob, in bytes.
const MaxBlob = 1 << 30

// Blobs are contents under the names of their SHA-256. It is safe for concurrent use.
type Blobs struct {
	store jetstream.ObjectStore

	mu  sync.Mutex
	put map[string]*upload // by name
}

// An upload is done once, whoever wants it.
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
	return &Blobs{store: store, put: map[string]*upload{}}, nil
}

// NameOf is the name of a content.
func NameOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Put stores a content, unless it is there and stays for as long as a job may take.
func (b *Blobs) Put(ctx context.Context, content []byte) (name string, err error) {
	name = NameOf(content)
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
	if info, err := b.store.GetInfo(ctx, name); err == nil && time.Since(info.ModTime) < BlobsExpire/2 {
		return nil
	}
	in, err := open()
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := b.store.Put(ctx, jetstream.ObjectMeta{Name: name}, in); err != nil {
		return fmt.Errorf("store what a job needs: %w", err)
	}
	return nil
}

// Forget has Put store a name again.
func (b *Blobs) Forget(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.put, name)
}

// ErrNoBlob means that there is no such content, or another one under its name.
var ErrNoBlob = errors.New("it is not stored")

// Copy writes a content to w. What was written is of no use if there is an error.
func (b *Blobs) Copy(ctx context.Context, w io.Writer, name string) error {
	in, err := b.store.Get(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return fmt.Errorf("%.12s: %w", name, ErrNoBlob)
	}
	if err != nil {
		return fmt.Errorf("read what a job needs: %w", err)
	}
	defer in.Close()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, h), io.LimitReader(in, MaxBlob+1))
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
