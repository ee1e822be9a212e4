package agenttest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A frame is one message of a JSON-RPC conversation, as it was written after a
// Content-Length header.
type frame struct {
	In   bool   `json:"in,omitempty"` // to the program
	Body string `json:"body"`
}

// frames splits a recording into messages, in the order in which they were completed. A
// header has to come first: "Content-Length: 12\r\n\r\n".
func frames(chunks []chunk) []frame {
	var out []frame
	rest := map[string][]byte{}
	for _, c := range chunks {
		b := append(rest[c.Way], c.Data...)
		for c.Way != "err" {
			head, tail, ok := bytes.Cut(b, []byte("\r\n\r\n"))
			if !ok {
				break
			}
			n, err := contentLength(string(head))
			if err != nil || len(tail) < n {
				break
			}
			out = append(out, frame{In: c.Way == "in", Body: string(tail[:n])})
			b = bytes.Clone(tail[n:])
		}
		rest[c.Way] = b
	}
	return out
}

// maxFrame is the longest message, in bytes.
const maxFrame = 256 << 20

// thin drops most of the many messages that need no answer, such as progress.
func thin(all []frame) []frame {
	const kept = 200
	n := 0
	return slices.DeleteFunc(all, func(f frame) bool {
		v, err := decode([]byte(f.Body))
		m, _ := v.(map[string]any)
		if err != nil || f.In || m["id"] != nil {
			return false
		}
		n++
		return n > kept && n < len(all)-kept
	})
}

func contentLength(head string) (int, error) {
	for line := range strings.Lines(head) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if strings.EqualFold(name, "Content-Length") {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err == nil && (n < 0 || n > maxFrame) {
				err = fmt.Errorf("read message: length %d", n)
			}
			return n, err
		}
	}
	return 0, fmt.Errorf("read message: no length in %q", head)
}

// readFrame reads one message.
func readFrame(r *bufio.Reader) ([]byte, error) {
	var head strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(line) == "" {
			break
		}
		head.WriteString(line)
	}
	n, err := contentLength(head.String())
	if err != nil {
		return nil, err
	}
	// The buffer grows with the data, because the length may be wrong.
	body, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err == nil && len(body) < n {
		err = io.ErrUnexpectedEOF
	}
	return body, err
}

// converse plays a recorded conversation: it sends a message of the program once all
// messages that preceded it in the recording have arrived, in whatever order. Ids and
// other strings that the client chose anew are replaced.
func (p *part) converse(k *take) error {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	var waiting []map[string]any
	ids := make(map[string]any) // of the client's requests: recorded → now
	send := func(v any) error {
		body := compact(v)
		if _, err := fmt.Fprintf(out, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			return err
		}
		return out.Flush()
	}
	next := func() (map[string]any, error) {
		body, err := readFrame(in)
		if err != nil {
			return nil, err
		}
		v, err := decode(body)
		if err != nil {
			return nil, err
		}
		m, _ := v.(map[string]any)
		return m, nil
	}
	take := func(want map[string]any) (map[string]any, error) {
		for {
			for i, m := range waiting {
				if alike(want, m) {
					waiting = append(waiting[:i:i], waiting[i+1:]...)
					return m, nil
				}
			}
			m, err := next()
			if err != nil {
				return nil, err
			}
			waiting = append(waiting, m)
		}
	}
	for _, f := range k.Frames {
		v, err := decode([]byte(p.fill(f.Body)))
		if err != nil {
			return fmt.Errorf("read recorded message: %w", err)
		}
		m, _ := v.(map[string]any)
		if f.In {
			now, err := take(m)
			if errors.Is(err, io.EOF) {
				return nil // the client has left earlier than in the recording
			} else if err != nil {
				return err
			}
			if id, asked := m["id"]; asked && m["method"] != nil {
				ids[compact(id)] = now["id"]
			}
			p.follow(m, now)
			continue
		}
		if id, is := ids[compact(m["id"])]; is && m["method"] == nil {
			m["id"] = id
		}
		if err := send(mapStrings(m, p.fill)); err != nil {
			return err
		}
		// Real programs send a tool's output in many small messages.
		for z := strings.Repeat("z", 1<<16); p.Scene.Flood > 0; p.Scene.Flood -= len(z) {
			if err := send(object{"jsonrpc": "2.0", "method": "flood", "params": object{"text": z}}); err != nil {
				return err
			}
		}
	}
	if p.Scene.Hang {
		p.hang()
	}
	for { // requests that are not in the recording get an empty answer
		var m map[string]any
		if len(waiting) > 0 {
			m, waiting = waiting[0], waiting[1:]
		} else {
			var err error
			if m, err = next(); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
		if m["id"] != nil && m["method"] != nil {
			if err := send(object{"jsonrpc": "2.0", "id": m["id"], "result": object{}}); err != nil {
				return err
			}
		}
	}
}

// alike reports whether a and b are a call of the same method, or the answer to the
// same call.
func alike(a, b map[string]any) bool {
	if a["method"] != nil || b["method"] != nil {
		return a["method"] == b["method"]
	}
	return compact(a["id"]) == compact(b["id"])
}

// follow records which strings the client has chosen anew.
func (p *part) follow(then, now any) {
	switch then := then.(type) {
	case string:
		if now, ok := now.(string); ok && now != then && len(then) >= 8 {
			p.Names[then] = now
		}
	case []any:
		if now, ok := now.([]any); ok {
			for i := range min(len(then), len(now)) {
				p.follow(then[i], now[i])
			}
		}
	case map[string]any:
		if now, ok := now.(map[string]any); ok {
			for key := range then {
				p.follow(then[key], now[key])
			}
		}
	}
}
