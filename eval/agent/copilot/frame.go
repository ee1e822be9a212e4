package copilot

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// errFrame means that a stream does not consist of frames.
var errFrame = errors.New("not a JSON-RPC frame")

// maxHeader bounds the header of a frame, in bytes.
const maxHeader = 4 << 10

// readFrame reads the next message: headers that end with an empty line, one of
// which is Content-Length, and as many bytes of JSON. The error is io.EOF if
// the stream ends between two frames.
func readFrame(r *bufio.Reader, most int64) ([]byte, error) {
	size, seen := int64(-1), 0
	for {
		line, err := r.ReadSlice('\n')
		seen += len(line)
		switch {
		case errors.Is(err, bufio.ErrBufferFull), err == nil && seen > maxHeader:
			return nil, fmt.Errorf("%w: its header is too long", errFrame)
		case errors.Is(err, io.EOF) && seen > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
		text := strings.TrimSpace(string(line))
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, fmt.Errorf("%w: header %q", errFrame, text)
		}
		if strings.EqualFold(name, "Content-Length") {
			if size, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil || size < 0 {
				return nil, fmt.Errorf("%w: header %q", errFrame, text)
			}
		}
	}
	switch {
	case size < 0:
		return nil, fmt.Errorf("%w: no length", errFrame)
	case size > most:
		return nil, fmt.Errorf("%w: %d bytes, at most %d are taken", errFrame, size, most)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return body, nil
}

// writeFrame writes header and body at once.
func writeFrame(w io.Writer, body []byte) error {
	_, err := w.Write(append(fmt.Appendf(make([]byte, 0, len(body)+32), "Content-Length: %d\r\n\r\n", len(body)), body...))
	return err
}

// A message is the part of a frame that is needed to pass it on.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Error  *rpcError       `json:"error"`
}

// rpcError is the error object of JSON-RPC 2.0.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}
