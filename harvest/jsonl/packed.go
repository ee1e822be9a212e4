package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// packedSuffix ends the name of a transcript that is compressed with zstd.
const packedSuffix = ".zst"

// Packed reports whether a file of that name is compressed.
func Packed(name string) bool { return strings.HasSuffix(name, packedSuffix) }

// Unpacked is the name of a transcript without the suffix of compression. Sessions,
// problems and cursors use this name: an agent replaces its old transcripts by
// compressed ones, and they are the same sessions as before.
func Unpacked(name string) string { return strings.TrimSuffix(name, packedSuffix) }

const (
	// maxWindow is how far back a compressed transcript may refer, in bytes; it is
	// held in memory. Agents compress at levels that need 8 MiB at most.
	maxWindow = 32 << 20
	// maxUnpacked is the longest compressed transcript, in bytes, that is always read;
	// a longer one may be at most maxRatio times as long as its file. A few kilobytes
	// can pretend to any length, and take minutes to read. Real ones of 2 GiB exist,
	// which are a tenth of that compressed.
	maxUnpacked = 128 << 20
	maxRatio    = 100
)

var errUnpacked = fmt.Errorf("it is longer than %d MiB once unpacked, and than %d times its file: the rest is left out", maxUnpacked>>20, maxRatio)

var errCut = errors.New("unpack: the file is cut off: what comes before is read")

// Unpack returns the content of r, which is compressed with zstd. If r is cut off, it
// returns what precedes the cut, and then an error; the next harvest will show whether
// the rest is lost or still to be written. Memory is bounded by the window of 32 MiB
// that a frame may have, the output by 128 MiB, or by 100 times the input.
func Unpack(r io.Reader) io.ReadCloser { return &unpacker{r: r, limit: maxUnpacked} }

type unpacker struct {
	r              io.Reader
	decoder        *zstd.Decoder
	limit, in, out int64 // bytes
	err            error
}

func (u *unpacker) Read(p []byte) (n int, err error) {
	if u.err == nil && u.decoder == nil {
		// One goroutine, and buffers as small as the window allows.
		u.decoder, u.err = zstd.NewReader(packedReader{u}, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	}
	left := max(u.limit, maxRatio*u.in) - u.out
	if u.err == nil && left <= 0 {
		u.err = errUnpacked
	}
	if u.err != nil {
		return 0, u.err
	}
	n, u.err = u.decoder.Read(p[:min(int64(len(p)), left)])
	u.out += int64(n)
	switch {
	case errors.Is(u.err, io.ErrUnexpectedEOF):
		u.err = errCut
	case u.err != nil && u.err != io.EOF:
		u.err = fmt.Errorf("unpack: %w", u.err)
	}
	return n, u.err
}

// packedReader counts the input.
type packedReader struct{ u *unpacker }

func (r packedReader) Read(p []byte) (int, error) {
	n, err := r.u.r.Read(p)
	r.u.in += int64(n)
	return n, err
}

func (u *unpacker) Close() error {
	if u.decoder != nil {
		u.decoder.Close()
	}
	if u.err == nil {
		u.err = io.ErrClosedPipe
	}
	return nil
}

// Entries counts the entries of a transcript, compressed or not, as far as it can be
// read. The error can only be ctx's.
func Entries(ctx context.Context, path string) (int, error) {
	f, err := bounded.Open(path)
	if err != nil {
		return 0, nil // the reader will report the error
	}
	defer f.Close()
	in := io.Reader(f)
	if Packed(path) {
		u := Unpack(f)
		defer u.Close()
		in = u
	}
	n := 0
	_, err = Scan(ctx, in, path, func([]byte) bool { n++; return false }, nil)
	return n, err
}
