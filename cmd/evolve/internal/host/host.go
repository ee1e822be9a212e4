// Package host asks the machine what a night has to know of it: which of its processes
// are alive, and whether it runs on its battery.
package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/skill-evolve/evolve/tournament/record"
)

// Owner names this process, as the owner of a lease. The host tells apart processes of one number
// in two containers, the rest those of one number at different times.
func Owner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), record.NewID(time.Now()))
}

// Gone reports whether another owner's process has certainly ended.
func Gone(of string) bool {
	part := strings.Split(of, "/")
	host, err := os.Hostname()
	if err != nil || len(part) != 3 || part[0] != host {
		return false
	}
	pid, err := strconv.Atoi(part[1])
	if err != nil {
		return false
	}
	if pid == os.Getpid() {
		return true // the number came round
	}
	return processGone(pid)
}

// PowerSupplies is the folder in which Linux lists them.
const PowerSupplies = "/sys/class/power_supply"

// OnBattery reports whether the machine runs on its battery: there is a mains
// supply, and none is online. It is false if the system does not report its
// supplies.
func OnBattery(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	mains := false
	for _, e := range entries {
		kind, err := os.ReadFile(filepath.Join(dir, e.Name(), "type"))
		if err != nil || strings.TrimSpace(string(kind)) != "Mains" {
			continue
		}
		mains = true
		if on, err := os.ReadFile(filepath.Join(dir, e.Name(), "online")); err == nil && strings.TrimSpace(string(on)) == "1" {
			return false
		}
	}
	return mains
}

// processGone reports whether no process has this pid.
func processGone(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	defer p.Release()
	err = p.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}
