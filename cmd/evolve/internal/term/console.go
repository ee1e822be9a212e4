package term

import (
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// A console is stderr on a terminal. Below the text that is written to it, it
// can show a footer: a few lines that are overwritten in place. All other
// output appears above the footer, and the footer is removed in the end.
//
// While there is a footer, the cursor waits at its first column. To remove
// the footer, everything from the cursor on is erased, even if a terminal
// that was made narrower has folded it. The terminal cuts off lines that are
// too long instead of folding them.
type console struct {
	io.Writer         // the terminal
	fd        uintptr // of it

	mu     sync.Mutex
	footer []string
	drawn  bool
	held   int  // the footer is not drawn meanwhile
	within bool // the last line that was written has no end yet
}

// The control sequences of a console. All have been understood by terminals since
// the VT220.
const (
	eraseDown = "\r\x1b[J"
	eraseLine = "\x1b[K"
	noWrap    = "\x1b[?7l"
	wrapAgain = "\x1b[?7h"
)

// onConsole is w as a console, as a plain terminal if it cannot draw, or w
// itself if it is no terminal.
func onConsole(w io.Writer, getenv func(string) string) io.Writer {
	f, ok := w.(*os.File)
	if !ok || !IsTerminal(f) {
		return w
	}
	if dumb(getenv) {
		return plainly(w)
	}
	return &console{Writer: f, fd: f.Fd()}
}

// besides is w as another stream of the console, if it is a terminal too.
func (c *console) besides(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok && IsTerminal(f) {
		return &beside{c, f}
	}
	return w
}

// A beside is another stream to the same terminal: what is written to it comes
// above the footer too.
type beside struct {
	*console
	w *os.File
}

func (b *beside) Write(p []byte) (int, error) { return b.say(b.w, p) }
func (b *beside) Fd() uintptr                 { return b.w.Fd() }

// Fd is the terminal's file descriptor.
func (c *console) Fd() uintptr { return c.fd }

// Write writes above the footer.
func (c *console) Write(p []byte) (int, error) { return c.say(c.Writer, p) }

func (c *console) say(w io.Writer, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.erase()
	n, err := writePlain(w, p)
	c.within = p[len(p)-1] != '\n'
	c.redraw()
	return n, err
}

// size is the terminal's size in columns and lines.
func (c *console) size() (columns, lines int) {
	columns, lines, err := term.GetSize(int(c.fd))
	if err != nil || columns <= 0 || lines <= 0 {
		return 80, 24
	}
	return columns, lines
}

// draw makes lines the footer; nil removes it. Each line must fit the terminal.
func (c *console) draw(lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.footer = lines
	if len(lines) == 0 {
		c.erase()
		return
	}
	c.redraw()
}

// hold removes the footer for a question, until the returned function is
// called.
func (c *console) hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held++
	c.erase()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.held--
		c.within = false // the answer has ended the line
		c.redraw()
	}
}

// erase removes the footer; c.mu is held. A failed write to the terminal does
// not end a run.
func (c *console) erase() {
	if c.drawn {
		io.WriteString(c.Writer, eraseDown)
	}
	c.drawn = false
}

// redraw writes the footer at the cursor, in one write, over the old one; c.mu is held.
func (c *console) redraw() {
	if len(c.footer) == 0 || c.held > 0 || c.within {
		return
	}
	var b strings.Builder
	b.WriteString(noWrap + "\r")
	for i, line := range c.footer {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(line + eraseLine)
	}
	b.WriteString("\x1b[J")
	for range len(c.footer) - 1 {
		b.WriteString("\x1b[A")
	}
	b.WriteString("\r" + wrapAgain)
	io.WriteString(c.Writer, b.String())
	c.drawn = true
}
