// Package browser opens a page in the owner's browser.
package browser

import (
	"context"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Open opens an address in the owner's browser. It goes through a file
// that only the owner can read, because every user can read the arguments of
// a program. Failures are reported; the address was printed before. shut
// removes the file.
//
// program is the one to start, "" for the system's default; home is evolve's data folder.
func Open(ctx context.Context, home, program, address string, say func(format string, args ...any)) (shut func()) {
	dir, err := os.MkdirTemp(home, "serve-")
	if err == nil {
		shut = func() {
			if err := os.RemoveAll(dir); err != nil {
				say("remove %s yourself: %v", dir, err)
			}
		}
		page := filepath.Join(dir, "open.html")
		text := fmt.Sprintf("<!DOCTYPE html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\"><meta http-equiv=\"refresh\" content=\"0; url=%s\"><title>evolve</title>\n", html.EscapeString(address))
		if err = os.WriteFile(page, []byte(text), 0o600); err == nil {
			err = start(ctx, program, page)
		}
	}
	if err != nil {
		say("no browser was opened (%v): open the address yourself", err)
	}
	if shut == nil {
		shut = func() {}
	}
	return shut
}

// start starts the browser: $BROWSER, or the system's default.
func start(ctx context.Context, browser, page string) error {
	command := []string{"xdg-open", page}
	switch {
	case browser != "":
		command = []string{browser, page}
	case runtime.GOOS == "darwin":
		command = []string{"open", page}
	case runtime.GOOS == "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", page}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), command[0], command[1:]...) // it outlives the server
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
